// SPDX-License-Identifier: MIT
//
// One device after another: a failure on one does not stop the others.
#include <new>
#include <stdexcept>

#include <bankwise/bench/program.hpp>
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

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
