// SPDX-License-Identifier: MIT
//
// Ends with 77, which CTest counts as skipped, where there is no device to test, or no GPU with a buffer as
// large as the environment variable BANKWISE_TEST_MEMORY (bytes) asks for.
#define CATCH_CONFIG_RUNNER
#include <cstdlib>
#include <iostream>
#include <vector>

#include "bankwise/console/exit_code.hpp"
#include "catch_any.hpp"
#include "devices_under_test.hpp"

namespace {

std::vector<bankwise::gpu::DeviceInfo> chosen;

void choose(const std::string& api, std::uint64_t memory) {
  const auto found = bankwise::gpu::devices();
  for (const auto& device : found.list) {
    if (!api.empty() && to_string(device.api) != api) continue;
    if (memory > 0 && !(device.is_gpu && device.max_allocation >= memory)) continue;
    chosen.push_back(device);
  }
  for (const auto& sentence : found.missing) std::cerr << sentence << '\n';
}

}  // namespace

std::span<const bankwise::gpu::DeviceInfo> devices_under_test() {
  return chosen;
}

int main(int argc, char** argv) {
  const char* api = std::getenv("BANKWISE_TEST_API");
  const char* memory = std::getenv("BANKWISE_TEST_MEMORY");
  choose(api == nullptr ? "" : api, memory == nullptr ? 0 : std::strtoull(memory, nullptr, 10));
  if (chosen.empty()) {
    std::cerr << "no device to test; skipped\n";
    return bankwise::exit_nothing;
  }
  for (const auto& device : chosen) std::cout << to_string(device.api) << ": " << device.name << '\n';
  return Catch::Session().run(argc, argv);
}
