// Skipped if the environment variable BANKWISE_TEST_API is set and there is no OpenCL device.
#include "rank_main.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include <bankwise/support/exit_code.hpp>

namespace {

std::optional<bankwise::cluster::Communicator> all_ranks;
std::unique_ptr<bankwise::gpu::Session> session;

void open_device() {
  for (const auto& device : bankwise::gpu::devices().list) {
    if (device.api == bankwise::gpu::Api::opencl) {
      session = bankwise::gpu::open(device);
      return;
    }
  }
}

}  // namespace

bankwise::cluster::Communicator& communicator() { return *all_ranks; }

bankwise::gpu::Session& opencl_device() { return *session; }

// Around Catch2's main(), as in tests/skipping_main.cpp.
extern "C" {
int __real_main(int argc, char** argv);
int __wrap_main(int argc, char** argv);

int __wrap_main(int argc, char** argv) {
  setenv("BANKWISE_DEADLINE_S", "30", 0);  // a rank that fails in a test case leaves the others waiting
  if (std::getenv("BANKWISE_TEST_API") != nullptr) {
    open_device();
    if (session == nullptr) {
      std::cerr << "no OpenCL device; skipped\n";
      return bankwise::support::exit_nothing;
    }
  }
  all_ranks.emplace("rank_tests");
  const int code = __real_main(argc, argv);
  all_ranks.reset();
  session.reset();
  return code;
}
}
