// Instructions whose meaning is in their machine code, and those without addresses of lanes.
#include <fstream>
#include <map>

#include "tests/bankcheck/cuda/cubin/made_cubin.hpp"
#include "tests/bankcheck/cuda/resolved.hpp"
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace resolved;
using cuda::Kind;
using made::u64;

namespace {

/// A kernel "k" of these instructions, which has not been watched yet. `others`: what the cubin has besides.
struct MadeKernel {
  explicit MadeKernel(const std::string& code, std::vector<made::Section> others = {}) {
    const auto path = scratch.path() / "made.cubin";
    const std::string symbols = made::symbol(0, 0, 0, 0, 0) + made::symbol(1, 2, 4, 0, code.size());
    others.insert(others.begin(), {".text.k", code});
    std::ofstream(path, std::ios::binary) << made::elf(others, symbols, '\0' + made::text("k"));
    record.modules[0].cubin = path;
    record.kernels[0].name = "k";
  }

  ScratchDirectory scratch;
  cuda::ProcessRecord record = record_of({});
};

}  // namespace

TEST_CASE("cuda/resolve/engines") {
  cuda::ProcessRecord record = record_of({});
  const std::uint32_t tile = 0x90, two_rows = 1;  // rank 2, 2-byte elements; 32 of them
  record.kernels[0].bulk = {{store_pc, 8, "wgmma", {2048, 256, 0, 0, 0, 0}},
                            {store_pc, 3, "tma_load", {0, 2, tile, 31U << 24, two_rows, 0}},
                            {store_pc, 4, "tma_load", {4, 1, tile, 31U << 24, two_rows, 0}},
                            {store_pc, 2, "tma_store", {0, 0, 0, 0, 0, 0}},
                            {store_pc, 6, "bulk_global_to_shared", {1040, 16, 2, 0, 0, 0}},
                            {store_pc, 7, "bulk_shared_to_shared", {64, 0, 1, 0, 0, 0}},
                            {store_pc, 5, "tcgen05", {0, 0, 0, 0, 0, 0}}};
  record.memory = {true, true};
  const auto resolved = resolved_from({record});
  const trace::KernelTrace& kernel = resolved.trace.kernels.at(0);
  using banks::Engine, banks::EngineWork;
  std::map<EngineWork, std::uint64_t> counts;
  for (const trace::EngineAccesses& accesses : kernel.engines) {
    CHECK(kernel.sites.at(accesses.site).line == 25);
    counts[accesses.work] += accesses.count;
  }
  CHECK(counts == std::map<EngineWork, std::uint64_t>{{{Engine::wgmma, 2304, 0}, 2},  // warpgroups
                                                      {{Engine::tensor_load, 2 * 2 * 64, 64}, 3},
                                                      {{Engine::bulk_load, 2 * 1040, 0}, 6},
                                                      {{Engine::bulk_copy, 64, 0}, 7}});
  CHECK(kernel.left_out == trace::LeftOut{{"TMA loads", 4}, {"TMA stores", 2}, {"tcgen05", 5}});
  CHECK(kernel.global_left_out == 3 + 4 + 2);
  CHECK(kernel.global_excess_accesses == 6);
  const trace::Report report = report_of(resolved);
  CHECK(report.global.sectors == 6 * 33);
  CHECK(report.global.lines == 6 * 9);
  CHECK(report.global.ideal == 6 * 33);
  CHECK(report.global.bytes == 6 * 1040);
}

TEST_CASE("cuda/resolve/dynamic_shared_memory") {
  const std::string end(1, '\0');
  const std::string ptx = ".extern .shared .align 16 .b8 all[];" + end + ".entry k(" + end +
                          ".shared .align 4 .b8 a[16];" + end + "mov.u32 %r1, all;" + end + "}" + end;
  MadeKernel made(std::string(16, '\0'), {{".nv.shared.k", std::string(1040, '\0')}, {".nv_debug_ptx_txt", ptx}});
  cuda::RecordedKernel& kernel = made.record.kernels[0];
  kernel.patterns = {{.mask = 1, .count = 1, .addresses = {1036}}, {.mask = 1, .count = 1, .addresses = {1040}}};
  const auto arrays_with = [&](std::vector<std::uint64_t> dynamic_bytes) {
    kernel.shapes.clear();
    for (const std::uint64_t bytes : dynamic_bytes) kernel.shapes.push_back({{4, 1, 1}, {32, 1, 1}, bytes, 1, 4});
    return resolved_from({made.record}).trace.kernels.at(0).arrays;
  };
  const trace::Array own{"a", 1024, 16};
  CHECK(arrays_with({512}) == std::vector<trace::Array>{own, {"dynamic shared memory", 1040, 512}});
  CHECK(arrays_with({512, 2048, 64}) == std::vector<trace::Array>{own, {"dynamic shared memory", 1040, 2048}});
  // Nodes of graphs do not tell their bytes.
  CHECK(arrays_with({0}) == std::vector<trace::Array>{own, {"shared memory", 0, 0}});
}

TEST_CASE("cuda/resolve/wgmma_of_no_bytes") {
  const std::string code = u64(0x81879F3) + u64(0xFE60008000818);  // QGMMA.64x8x32
  MadeKernel with_code(code);
  cuda::ProcessRecord& record = with_code.record;
  record.kernels[0].bulk = {{0, 8, "wgmma", {0, 0, 0, 0, 0, 0}}};
  using banks::Engine, banks::EngineWork;
  const auto decoded = resolved_from({record});
  const trace::KernelTrace& kernel = decoded.trace.kernels.at(0);
  REQUIRE(kernel.engines.size() == 1);
  CHECK(kernel.engines[0].work == EngineWork{Engine::wgmma, 2048 + 256});
  CHECK(kernel.engines[0].count == 2);
  CHECK(kernel.left_out.empty());
  record.modules.clear();  // and so without machine code
  const auto unknown = resolved_from({record});
  CHECK(unknown.trace.kernels.at(0).engines.empty());
  CHECK(unknown.trace.kernels.at(0).left_out == trace::LeftOut{{"wgmma", 2}});
}

TEST_CASE("cuda/resolve/tensor_copies_nobody_sees") {
  const std::string code = u64(0x18040073B5) + u64(0x3E40008008000) +  // UTMASTG.2D
                           u64(0x06040073B6) + u64(0x3D8000B800000) +  // UTMAREDG.1D.XOR
                           u64(0x08120073B4) + u64(0x1EA000805800E) +  // UTMALDG.4D.IM2COL
                           std::string(16, '\0');
  MadeKernel with_code(code);
  cuda::ProcessRecord& record = with_code.record;
  record.kernels[0].bytes = ~std::uint64_t{0};  // which is not believed
  record.memory = {true, true};
  const auto unseen = resolved_from({record});
  const trace::KernelTrace& kernel = unseen.trace.kernels.at(0);
  CHECK(kernel.left_out == trace::LeftOut{{"TMA stores", 0}, {"TMA loads", 0}});
  REQUIRE(unseen.remarks.size() == 1);
  CHECK(unseen.remarks[0].starts_with("the code has TMA loads, and none was seen: they did not run, or"));
  CHECK(kernel.global_left_out == 3);
  // A library that sees them, in another kernel.
  record.kernels[1] = record.kernels[0];
  record.kernels[1].name = "other";
  record.kernels[1].bulk = {{0, 5, "tma_store", {}}, {0, 6, "tma_load", {}}};
  const auto seen = resolved_from({record});
  CHECK(seen.trace.kernels.at(0).left_out.empty());
  CHECK(seen.remarks.empty());
  CHECK(seen.trace.kernels.at(1).left_out == trace::LeftOut{{"TMA stores", 5}, {"TMA loads", 6}});
}

// Of one warp, as the library reported them on an H200: a sum of halves, for which the counter of atomics had six
// passes, and a sum of integers in one word, for which it had 21.
TEST_CASE("cuda/resolve/atomics_through_generic_addresses") {
  const std::string code = u64(0x80204738b) + u64(0x16200001ee109) +  // ATOM.E.CAS
                           u64(0x902ff798a) + u64(0x1e400081ee1c6) +  // ATOM.E.ADD
                           u64(0xff02ff79a2) + u64(0x3e2000810e1c4);  // ATOM.E.ADD.F16x2
  MadeKernel with_code(code);
  cuda::ProcessRecord& record = with_code.record;
  // Each lane adds to the half of its number. Where two add to a word, one of them has to try again.
  cuda::RecordedPattern first{.kind = Kind::atomic, .width = 2, .mask = 0x0f0fff37, .count = 1};
  cuda::RecordedPattern second{.kind = Kind::atomic, .width = 2, .mask = 0x0a0aaa22, .count = 1};
  for (std::uint32_t lane = 0; lane < 28; ++lane) {
    for (cuda::RecordedPattern* turn : {&first, &second}) {
      turn->addresses.push_back((turn->mask >> lane & 1) != 0 ? 0x400 + 2 * lane : 0);
    }
  }
  record.kernels[0].patterns = {first, second};
  const auto resolved = resolved_from({record});
  CHECK(resolved.trace.kernels.at(0).left_out.empty());
  CHECK(report_of(resolved).atomics.passes == 6);
  cuda::RecordedPattern integers{.pc = 16, .kind = Kind::atomic, .width = 4, .mask = 0x0f0fff37, .count = 1};
  integers.addresses.assign(28, 0x400);
  cuda::RecordedPattern floats = integers;  // shared memory does nothing; a loop follows
  floats.pc = 32;
  record.kernels[0].patterns = {integers, floats};
  const auto sums = resolved_from({record});
  CHECK(report_of(sums).atomics.passes == 21);
  CHECK(sums.trace.kernels.at(0).left_out == trace::LeftOut{{"atomics of unknown opcode", 1}});
  record.kernels[0].patterns.clear();
  record.kernels[0].costs = {
      {.kind = Kind::atomic, .width = 2, .lanes = 21, .ideal = 1, .passes = 1, .lane_passes = 2, .count = 10}};
  CHECK(report_of(resolved_from({record})).atomics.passes == 10 * 4);
}
