// Skipped if there is no device to test, or no GPU with a buffer of BANKWISE_TEST_MEMORY bytes and
// BANKWISE_TEST_MEMORY_IN_ALL bytes of memory (environment variables), or fewer devices than BANKWISE_TEST_DEVICES, or
// no program BANKWISE_TEST_PROGRAM on the PATH.
#include <cstdlib>
#include <iostream>
#include <vector>

#include "devices_under_test.hpp"
#include "tests/skipping_main.hpp"

namespace {

std::vector<bankwise::gpu::DeviceInfo> chosen;

std::uint64_t number_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
}

void choose(const std::string& api) {
  const std::uint64_t memory = number_in("BANKWISE_TEST_MEMORY"), in_all = number_in("BANKWISE_TEST_MEMORY_IN_ALL");
  const auto found = bankwise::gpu::devices();
  for (const auto& device : found.list) {
    if (!api.empty() && to_string(device.api) != api) continue;
    if (memory + in_all > 0 && !device.is_gpu) continue;
    if (device.max_allocation < memory || device.global_memory < in_all) continue;
    chosen.push_back(device);
  }
  for (const auto& sentence : found.missing) std::cerr << sentence << '\n';
}

}  // namespace

std::span<const bankwise::gpu::DeviceInfo> devices_under_test() { return chosen; }

std::string reason_to_skip() {
  const char* api = std::getenv("BANKWISE_TEST_API");
  choose(api == nullptr ? "" : api);
  for (const auto& device : chosen) std::cout << to_string(device.api) << ": " << device.name << '\n';
  if (chosen.empty()) return "no device to test";
  if (chosen.size() < number_in("BANKWISE_TEST_DEVICES")) return "too few devices to test";
  const char* program = std::getenv("BANKWISE_TEST_PROGRAM");
  if (program == nullptr) return "";
  const std::string look_up = "command -v '" + std::string(program) + "' >/dev/null";
  return std::system(look_up.c_str()) == 0 ? "" : "no " + std::string(program) + " on the PATH";
}
