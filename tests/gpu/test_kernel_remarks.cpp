#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/kernel_remarks.hpp>
#include <bankwise/gpu/session.hpp>
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

using namespace bankwise::gpu;

namespace {

const std::string cuda =
    "//\n// Contract\n//   launch  ceil(n / TILE) blocks of exactly\n//           LANES x WARPS threads\n\n"
    "__global__ void __launch_bounds__(32 * 16) k() {\n"
    "  constexpr unsigned TILE = 64;\n  constexpr unsigned LANES = 32;\n  constexpr unsigned WARPS = TILE / 4;  // "
    "rows\n}\n";
const std::string opencl =
    "//\n// Contract\n//   launch  1 work-group of LANES x WARPS work-items\n\n"
    "#define LANES 32u          // columns\n#define WARPS (2 * LANES / 4)  // rows\n"
    "__kernel __attribute__((reqd_work_group_size(LANES, WARPS, 1)))\nvoid k() {}\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE_THAT(text, has(from));
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("gpu/kernel_remarks/block_of_contract") {
  CHECK(block_of_contract(cuda) == GroupShape{32, 16});
  CHECK(block_of_contract(opencl) == GroupShape{32, 16});
  CHECK(block_of_contract(replaced(replaced(cuda, "LANES x WARPS threads", "one thread"), "32 * 16", "1")) ==
        GroupShape{1, 1});
  CHECK_FALSE(block_of_contract(replaced(cuda, "// Contract", "// No such word")));
}

TEST_CASE("gpu/kernel_remarks/other_attribute") {
  CHECK_THROWS_AS(block_of_contract(replaced(cuda, "32 * 16", "32 * 8")), std::invalid_argument);
  CHECK_THROWS_AS(block_of_contract(replaced(cuda, "WARPS = TILE / 4", "WARPS = TILE / 8")), std::invalid_argument);
  CHECK_THROWS_AS(block_of_contract(replaced(opencl, "(LANES, WARPS, 1)", "(WARPS, LANES, 1)")), std::invalid_argument);
  CHECK_THROWS_AS(block_of_contract(replaced(cuda, "x WARPS", "x ROWS")), std::invalid_argument);
}

TEST_CASE("gpu/kernel_remarks/named_kernels") {
  CHECK(kernel_stems(cuda, "k") == std::vector<std::string>{"k"});
  CHECK(kernel_stems("//\n// Kernels: load_1, load_2\n", "load") == std::vector<std::string>{"load_1", "load_2"});
}

TEST_CASE("gpu/kernel_remarks/build_refuses") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const auto embed = [&](const std::string& arguments) {
    const int status = std::system((EMBED_KERNELS + arguments + " 2>" + folder + "/err").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const auto code_of = [&](const std::string& cuh, const std::string& cl) {
    std::ofstream(scratch.path() / "k.cuh") << cuh;
    std::ofstream(scratch.path() / "k.cl") << cl;
    return embed(" k '' " + folder + "/out 0 0 0 " + folder + "/k.cuh " + folder + "/k.cl");
  };
  const auto error = [&] { return text_of(scratch.path() / "err"); };
  CHECK(code_of(cuda, opencl) == 0);
  CHECK_THAT(text_of(scratch.path() / "out" / "k_shapes.hpp"), has("GroupShape k{32, 16};"));
  CHECK(code_of(replaced(cuda, "32 * 16", "256"), opencl) == 2);
  CHECK_THAT(error(), has("k.cuh: the Contract states blocks of 32 x 16"));
  CHECK(code_of(cuda, replaced(opencl, "LANES 32u", "LANES 64u")) == 2);
  CHECK_THAT(error(), has("k.cl and .cuh have different blocks"));
  CHECK(code_of(cuda, replaced(opencl, "// Contract", "// Kernels: a, b\n// Contract")) == 2);
  CHECK_THAT(error(), has("k.cl and .cuh have different kernels"));
  CHECK(embed("") == 2);
  CHECK(error().find("bankwise_embed_kernels: usage: ") == 0);
}

namespace {

CallSite called_from(CallSite where = CallSite::here()) { return where; }

}  // namespace

TEST_CASE("gpu/error/place") {
  const CallSite place = called_from();
  CHECK(place.line == __LINE__ - 1);
  CHECK(std::strcmp(place.file, __FILE__) == 0);
}

TEST_CASE("gpu/error/text") {
  const Error error("cudaMalloc(&p, 5)", "cudaErrorMemoryAllocation (out of memory)", {"a/b/session.cpp", 17});
  CHECK(std::string(error.what()) == "cudaMalloc(&p, 5): cudaErrorMemoryAllocation (out of memory) (session.cpp:17)");
}

TEST_CASE("gpu/error/nvidia_only") {
  DeviceInfo device;
  device.name = "a GPU";
  for (const auto& [architecture, capability] : std::map<std::string, std::optional<unsigned>>{
           {"", {}}, {"gfx942", {}}, {"sm_", {}}, {"sm_x", {}}, {"sm_75", 75}, {"sm_100", 100}}) {
    device.architecture = architecture;
    INFO(architecture);
    CHECK(compute_capability(device) == capability);
    CHECK_NOTHROW(require_capability(device, "transpose_persisting", capability.value_or(80)));
    CHECK_NOTHROW(require_capability(device, "transpose_persisting", 0));
  }
  device.architecture = "sm_75";
  CHECK_THROWS_WITH(require_capability(device, "transpose_persisting", 80),
                    "transpose_persisting needs compute capability 8.0; a GPU has 7.5");
}

TEST_CASE("gpu/error/other_form") {
  const int once = 0, repeated = 0;
  KernelImage image;
  image.name = "reduce_naive";
  image.has_section = true;
  const auto why_not = [&](Form form) {
    try {
      (void)cuda_handle(image, form);
    } catch (const Unsupported& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(why_not(Form::once) == "reduce_naive was not built for CUDA");
  CHECK(why_not(Form::repeated) == "reduce_naive was not built for CUDA");
  image.cuda = &once;
  CHECK(cuda_handle(image, Form::once) == &once);
  CHECK(
      why_not(Form::repeated) ==
      "reduce_naive was built without the form that repeats its section; configure with -D BANKWISE_CUDA_REPEATED=ON");
  image.cuda_repeated = &repeated;
  CHECK(cuda_handle(image, Form::repeated) == &repeated);
}
