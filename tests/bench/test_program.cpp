#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>

#include <bankwise/bench/program.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/support/exit_code.hpp>
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;

// One device after another: a failure on one does not stop the others.

TEST_CASE("bench/program/failing_device") {
  gpu::DeviceInfo devices[3];
  std::vector<DeviceJob> jobs;
  for (int i = 0; i < 3; ++i) {
    devices[i].index = i;
    jobs.push_back({&devices[i], {1, 1}, {}});
  }
  for (const int failing : {0, 1, 2}) {
    std::vector<int> done;
    const auto run = [&](const DeviceJob& job) {
      if (job.device->index == failing && failing == 1) throw std::bad_alloc();
      if (job.device->index == failing) throw std::runtime_error("it is broken");
      done.push_back(job.device->index);
    };
    CHECK_FALSE(run_each("test", jobs, run));
    CHECK(done.size() == 2);
  }
  CHECK(run_each("test", jobs, [](const DeviceJob&) {}));
}

TEST_CASE("bench/program/shortage") {
  // A buffer of 4 MiB and its guard for the input, the output and the copy, and on a CPU the host's copies.
  constexpr std::uint64_t mebibyte = 1 << 20, buffer = 4 * mebibyte + 256, on_gpu = 3 * buffer;
  constexpr std::uint64_t on_cpu = on_gpu + 8 * mebibyte;
  const auto sentence = [](bool is_gpu, std::uint64_t memory, std::uint64_t allocation) {
    gpu::DeviceInfo device{.name = "It"};
    device.is_gpu = is_gpu;
    device.global_memory = memory;
    device.max_allocation = allocation;
    return shortage(transpose::case_study(), {1024, 1024}, device);
  };
  CHECK(sentence(true, on_gpu, buffer) == "");
  CHECK(sentence(false, on_cpu, buffer) == "");
  const std::string advice = "; choose a smaller --width and --height";
  CHECK(sentence(true, on_gpu - 1, buffer) == "It has 12.6 MB and this needs 12.6 MB" + advice);
  CHECK(sentence(false, on_cpu - 1, buffer) == "It (CPU) has 21.0 MB and this needs 21.0 MB" + advice);
  CHECK(sentence(true, on_gpu, buffer - 1) ==
        "It allocates at most 4.19 MB per buffer and this needs 4.19 MB" + advice);
}

// Bad input that a program refuses before it looks for a device: one clear sentence, exit code 2.

TEST_CASE("bench/bad_input/values") {
  check_refused("reduction", "--no-such-flag", 2, "--no-such-flag");
  check_refused("reduction", "surplus", 2, "surplus");
  check_refused("reduction", "--n 12Q", 2, "--n 12Q is not a count");
  check_refused("reduction", "--n ''", 2, "is not a count");
  check_refused("reduction", "--n -3", 2, "is not a count");
  check_refused("reduction", "--n 99999999999999999999", 2, "is too large");
  check_refused("reduction", "--width 5", 2, "--width");
  check_refused("transpose", "--width 0 --height 5", 2, "--width must be at least 1");
  check_refused("transpose", "--width 1Ti --height 1Ti", 2, "is too large");
  check_refused("transpose", "--n 5", 2, "--n");
  check_refused("reduction", "--api metal", 2, "metal");
  check_refused("reduction", "--variant pakced", 2, "did you mean 'packed'?");
  check_refused("transpose", "--variant naive,tile33", 2, "did you mean 'tile32'?");
  check_refused("prefix_sum", "--scope l2 --cache cold", 2, "--cache cold");
  check_refused("prefix_sum", "--scope disk", 2, "disk");
  check_refused("prefix_sum", "--arch sm_91", 2, "did you mean 'sm_90'?");
  check_refused("access_patterns", "--arch sm_91", 2, "did you mean 'sm_90'?");
  check_refused("access_patterns", "--scope l2", 2, "--scope");
  check_refused("prefix_sum", "--timeout soon", 2, "soon");
  check_refused("prefix_sum", "--timeout nan", 2, "must be numbers");
  check_refused("prefix_sum", "--min-time 3", 2, "more than --timeout");
  check_refused("prefix_sum", "--json - --csv -", 2, "stdout");
  check_refused("prefix_sum", "--json a --csv a", 2, "name the same file a");
  check_refused("prefix_sum", "--json ''", 2, "--json needs a value");
  check_refused("prefix_sum", "--levels-svg ''", 2, "--levels-svg needs a value");
  check_refused("prefix_sum", "--json - --levels-svg -", 2, "stdout");
  check_refused("prefix_sum", "--csv a --levels-svg a", 2, "name the same file a");
  check_refused("prefix_sum", "--no-levels --levels-svg a", 2, "leave out --no-levels");
  check_refused("prefix_sum", "--profile --levels", 2, "leave out --profile");
  check_refused("prefix_sum", "--kernel-dir / --levels-svg a", 2, "leave out --kernel-dir");
  check_refused("prefix_sum", "--device ''", 2, "--device needs a value");
}

TEST_CASE("bench/program/help") {
  for (const char* program : {"reduction", "prefix_sum", "transpose", "access_patterns"}) {
    const std::string help = ended(0, run(program, "--help")).out;
    INFO(program << '\n' << help);
    check_fits(help);
    for (const char* word : {"Options:", "TEXT", "UINT", "FLOAT"}) CHECK_THAT(help, !has(word));
  }
}

TEST_CASE("bench/bad_input/command_line") {
  check_refused("transpose", "--varian naive", 2, "no option '--varian'; did you mean '--variant'? transpose --help");
  check_refused("transpose", "--n 1024", 2, "there is no option '--n'; transpose --help shows all");
  check_refused("reduction", "a b", 2, "'a' 'b' are not expected; see reduction --help");
  check_refused("reduction", "--scope blok", 2, "did you mean 'block'? see reduction --help");
}

// CUDA's own sentence for a missing driver is about versions.
TEST_CASE("bench/program/no_gpu") {
  const Outcome outcome = ended(77, run("transpose", "--api cuda", "CUDA_VISIBLE_DEVICES= "));
  INFO(outcome.err);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("transpose: no "));
  CHECK_THAT(outcome.err, !has("insufficient"));
}

TEST_CASE("bench/bad_input/kernel_directory") {
  const ScratchDirectory scratch;
  check_refused("reduction", "--kernel-dir /no/such/directory", 2, "no such directory");
  check_refused("reduction", "--kernel-dir " + std::string(300, 'x'), 2, "no such directory");
  check_refused("reduction", "--kernel-dir " + scratch.path().string(), 2, "there is no");
  check_refused("reduction", "--api cuda --kernel-dir /", 2, "leave out --api cuda");
}

// Kernels from a directory: the requirements in their files apply as for kernels in the program.

namespace fs = std::filesystem;

namespace {

/// The .cl files of a case study in a separate directory.
struct Copies {
  explicit Copies(const CaseStudy& study) {
    for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIRECTORY) / folder_of(study))) {
      if (entry.path().extension() == ".cl") fs::copy(entry, scratch.path());
    }
  }
  void prepend(const std::string& file, const std::string& line) const {
    const std::string text = text_of(scratch.path() / file);
    std::ofstream(scratch.path() / file) << "//\n" << line << '\n' << text;
  }
  ScratchDirectory scratch;
};

}  // namespace

TEST_CASE("bench/kernel_directory/requirements") {
  const CaseStudy& study = reduction::case_study();
  const Copies copies(study);
  copies.prepend("packed.cl", "// Needs: compute capability 8.6");
  copies.prepend("shuffle.cl", "// No CUDA counterpart: it is new");
  const KernelDirectory directory(study, copies.scratch.path().string());
  CHECK(find_image(directory.study(), "reduce_packed")->opencl_capability == 86);
  CHECK(find_image(directory.study(), "reduce_modulo")->opencl_capability == 0);
  CHECK(find_image(directory.study(), "reduce_shuffle")->why_not_ported == "it is new");
  CHECK(find_image(directory.study(), "reduce_modulo")->why_not_ported.empty());
}

TEST_CASE("bench/kernel_directory/yields_kernels") {
  for (const CaseStudy* study : all_case_studies) {
    const Copies copies(*study);
    const KernelDirectory directory(*study, copies.scratch.path().string());
    for (const gpu::KernelImage& image : study->kernels->images) {
      INFO(image.name);
      const gpu::KernelImage* read = find_image(directory.study(), image.name);
      REQUIRE(read != nullptr);
      CHECK(read->opencl_source == image.opencl_source);
      CHECK(read->opencl_capability == image.opencl_capability);
      CHECK(read->why_not_ported == image.why_not_ported);
      CHECK(read->opencl_file.empty() == image.opencl_file.empty());
    }
  }
}

TEST_CASE("bench/kernel_directory/bad_compute_capability") {
  const Copies copies(reduction::case_study());
  copies.prepend("packed.cl", "// Needs: compute capability many");
  CHECK_THROWS_AS(KernelDirectory(reduction::case_study(), copies.scratch.path().string()), support::UsageError);
  check_refused("reduction", "--kernel-dir " + copies.scratch.path().string(), 2, "'many' is not a compute capability");
}
