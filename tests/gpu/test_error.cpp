// SPDX-License-Identifier: MIT
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include <bankwise/gpu/backend.hpp>
#include <bankwise/gpu/error.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise::gpu;

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
