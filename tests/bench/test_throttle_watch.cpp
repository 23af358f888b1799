// SPDX-License-Identifier: MIT
#include <vector>

#include <bankwise/bench/throttle_watch.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

constexpr gpu::ClockReasons idle = 0x1, power_cap = 0x4, hot = 0x20;

/// Gives these answers in turn.
struct Script : gpu::Throttle {
  explicit Script(std::vector<gpu::ClockReasons> answers) : answers_(std::move(answers)) {}
  gpu::ClockReasons reasons() override { return answers_.at(next_++); }

 private:
  std::vector<gpu::ClockReasons> answers_;
  std::size_t next_ = 0;
};

}  // namespace

TEST_CASE("without a source every sample counts") {
  ThrottleWatch watch(nullptr);
  CHECK(watch.throttled() == 0);
}

TEST_CASE("an idle GPU has good samples") {
  Script source({idle, idle, 0});
  ThrottleWatch watch(&source);
  CHECK(watch.throttled() == 0);
  CHECK(watch.throttled() == 0);
}

TEST_CASE("a sample is spoilt by throttling before it and after it, with all reasons") {
  Script source({0, power_cap, hot, 0, 0});
  ThrottleWatch watch(&source);
  CHECK(watch.throttled() == power_cap);          // began in it
  CHECK(watch.throttled() == (power_cap | hot));  // all the time
  CHECK(watch.throttled() == hot);                // ended in it
  CHECK(watch.throttled() == 0);
}

TEST_CASE("a rest in which the GPU recovers saves the next sample") {
  Script source({0, power_cap, 0, 0});
  ThrottleWatch watch(&source);
  CHECK(watch.throttled() == power_cap);
  watch.look();
  CHECK(watch.throttled() == 0);
}
