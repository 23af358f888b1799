// Oclgrind's checks on every OpenCL kernel. The test reads Oclgrind's output, because its exit code is the program's.
#include <bankwise/support/exit_code.hpp>
#include "port_runs.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

const std::string races = "--data-races --uniform-writes", uninitialized = "--uninitialized";

struct Said {
  int code;
  std::string text;
  bool has(const std::string& words) const { return text.find(words) != std::string::npos; }
};

/// The output of the program and of Oclgrind, without optimization, as in bankcheck.
Said said(const std::string& program, const std::string& checks, const std::string& before = "") {
  const ScratchDirectory scratch;
  const auto out = scratch.path() / "out";
  const std::string command = before + " '" OCLGRIND "' --build-options -O0 --local-mem-size 65536 " + checks + ' ' +
                              program + " >'" + out.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out)};
}

Said said(const BrokenPort& broken, Extent extent, const std::string& checks) {
  return said(run_plans(broken.study(), extent, broken.folder()), checks);
}

void check_silent(const CaseStudy& study, Extent extent, const std::string& checks) {
  const Said all = said(run_plans(study, extent), checks);
  INFO(study.name << ' ' << text(extent));
  CHECK(all.code == support::exit_ok);
  CHECK(all.text.substr(0, 2000) == "");
}

/// The extents under this key, and one for the kernel that flushes caches.
void check_all_silent(std::string_view key, const std::string& checks) {
  for (const CaseStudy* study : all_case_studies) {
    for (const Extent extent : extents(*study, key)) check_silent(*study, extent, checks);
  }
  check_silent(flush(), {1, 20000}, checks);
}

}  // namespace

TEST_CASE("case_studies/checks/no_races") { check_all_silent("races", races); }

// One launch per plan: Oclgrind 21.10 considers memory that a kernel writes after clEnqueueFillBuffer uninitialized,
// and the scratch memory between launches is filled. prefix_sum is left out: some of its kernels need several launches,
// and on the shuffled vectors of scan_chunked this check of Oclgrind crashes.
TEST_CASE("case_studies/checks/no_uninitialized_reads") { check_all_silent("uninitialized", uninitialized); }

TEST_CASE("case_studies/checks/example") {
  const Said all = said(program("example_matmul"), races + ' ' + uninitialized, in_example_folder());
  CHECK(all.code == support::exit_ok);
  CHECK(all.text.substr(0, 2000) == "the product is right\n");
}

TEST_CASE("case_studies/checks/missing_barrier") {
  const BrokenPort broken(
      {"barrier_removed",
       "reduction/sequential.cl",
       {{"    barrier(CLK_LOCAL_MEM_FENCE);  // outside the branch: every work-item must arrive\n", "\n"}}});
  const Said all = said(broken, {1, 200}, races);
  INFO(all.text.substr(0, 2000));
  CHECK(all.has("Read-write data race at local memory"));
  CHECK(all.has("Kernel: reduce_sequential"));
  CHECK(all.has("sequential.cl:"));
  CHECK_FALSE(all.has("Kernel: reduce_naive"));
}

TEST_CASE("case_studies/checks/same_word_stores") {
  const BrokenPort broken({"all_lanes_write", "reduction/sequential.cl", {{"if (tid == 0) out[", "out["}}});
  const Said all = said(broken, {1, 200}, races);
  CHECK(all.code == support::exit_ok);
  CHECK(all.has("Write-write data race at global memory"));
  CHECK(all.has("Kernel: reduce_sequential"));
}

TEST_CASE("case_studies/checks/out_of_bounds") {
  Mutation port = mutation("transpose", "stores_out_of_bounds");
  port.file = "transpose/tile32_padded.cl";
  const Said all = said(BrokenPort(port), {33, 31}, races);
  CHECK(all.has("Invalid write of size 4 at local memory"));
  CHECK(all.has("Kernel: transpose_tile32_padded"));
}

TEST_CASE("case_studies/checks/unfilled_tile") {
  const BrokenPort broken({"tile_unwritten", "transpose/naive.cl", {{"tile[y][x] = word;", ""}}});
  const Said all = said(broken, {33, 31}, uninitialized);
  CHECK(all.has("Uninitialized value written to global memory"));
  CHECK(all.has("Kernel: transpose_naive"));
}
