// OpenCL only: a plain build of each file, build logs, and kernels from a directory.
#include <bankwise/gpu/opencl_api.hpp>
#include <bankwise/gpu/session.hpp>
#include "devices_under_test.hpp"
#include "tests/case_studies.hpp"
#include "tests/shared_accesses.hpp"

using namespace bankwise;
using namespace bankwise::study;

TEST_CASE("device/sources/opencl_builds", "[sources]") {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const auto& platform : platforms) {
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    for (const auto& device : devices) {
      const cl::Context context(device);
      for (const CaseStudy* study : all_case_studies) {
        for (const auto& image : study->kernels->images) {
          if (image.opencl_file.empty()) continue;
          INFO(image.opencl_file);
          cl::Program program(context, std::string(image.opencl_source));
          CHECK_NOTHROW(program.build());
          CHECK_NOTHROW(cl::Kernel(program, std::string(image.name).c_str()));
        }
      }
    }
  }
}

// NVIDIA's compiler returns PTX as the program's binary, so its accesses can be compared with nvcc's.
TEST_CASE("device/sources/opencl_widths", "[sources]") {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const auto& platform : platforms) {
    if (platform.getInfo<CL_PLATFORM_NAME>().find("NVIDIA") == std::string::npos) continue;
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    const cl::Context context(devices);
    for (const CaseStudy* study : all_case_studies) {
      for (const auto& image : study->kernels->images) {
        if (image.opencl_file.empty()) continue;
        cl::Program program(context, std::string(image.opencl_source));
        program.build("-cl-std=CL1.2");
        const auto binary = program.getInfo<CL_PROGRAM_BINARIES>().front();
        const std::string ptx(binary.begin(), binary.end());
        const std::size_t entry = ptx.find(".entry " + std::string(image.name) + '(');
        REQUIRE(entry != std::string::npos);
        AccessCounts counts = shared_accesses(ptx.substr(entry, ptx.find(".entry ", entry + 1) - entry));
        // The result is read from the first record, which happens to be aligned to 16, so one 16-byte access is right.
        if (image.name == "reduce_packed" && counts["ld.shared.v4.u32"] == 1) counts.erase("ld.shared.v4.u32");
        INFO(image.name);
        for (const auto& [access, count] : counts) UNSCOPED_INFO(access << " " << count);
        const auto pinned = kernel_facts(*study, image.name);
        if (pinned.contains("ptx")) CHECK(widths(counts) == widths(pinned.at("ptx")));
      }
    }
  }
}

TEST_CASE("device/sources/build_log", "[sources]") {
  const CaseStudy& study = reduction::case_study();
  gpu::KernelImage image = *find_image(study, "reduce_naive");
  image.opencl_source = "__kernel void reduce_naive() {\n  no such thing;\n}\n";
  on_each_device([&](gpu::Session& session) {
    std::string message;
    try {
      session.prepare(image, gpu::Form::once, {256, 1});
    } catch (const gpu::BuildError& error) {
      message = error.what();
    }
    CHECK(message.find("reduction/naive.cl does not compile") == 0);
    CHECK_THAT(message, has("naive.cl:2:"));
  });
}
