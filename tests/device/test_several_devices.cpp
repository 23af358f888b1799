// SPDX-License-Identifier: MIT
//
// More than one device: PoCL has several if POCL_DEVICES names several.
#include <nlohmann/json.hpp>

#include <bankwise/bench/program.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/run.hpp>
#include "tests/case_studies.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::bench;

TEST_CASE("device/several_devices/one_fails", "[.several_devices]") {
  std::vector<gpu::DeviceInfo> devices = gpu::devices().list;
  std::erase_if(devices, [](const auto& device) { return device.api != gpu::Api::opencl || device.is_gpu; });
  REQUIRE(devices.size() >= 2);
  const ScratchDirectory scratch;
  const std::string json = (scratch.path() / "results.json").string(), name = devices.back().name;
  const char* const arguments[]{"reduction", "--n",        "1000",   "--api",      "opencl",
                                "--device",  name.c_str(), "--json", json.c_str(), "--variant",
                                "packed",    "--min-time", "0",      "--timeout",  "0.1"};
  for (const std::size_t failing : {std::size_t{0}, std::size_t{1}}) {
    std::size_t opened = 0;
    MainProgram program = case_study_program();
    program.open = [&](const gpu::DeviceInfo& device) {
      if (opened++ == failing) throw std::runtime_error("it fell off the bus");
      return gpu::open(device);
    };
    CHECK(run_program(reduction::case_study(), int(std::size(arguments)), arguments, program) == 3);
    CHECK(opened > 1);
    const auto results = nlohmann::json::parse(text_of(json)).at("results");
    CHECK(results.size() == 2 * (opened - 1));  // copy and packed on each of the others
    for (const auto& row : results) CHECK(row.at("status") == "ok");
  }
}
