// SPDX-License-Identifier: MIT
#include <vector>

#include <bankwise/bench/sampling.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

constexpr gpu::ClockReasons idle = 0x1, power_cap = 0x4, hot = 0x20;

/// Returns these answers one after the other.
struct Script : gpu::Throttle {
  explicit Script(std::vector<gpu::ClockReasons> answers) : answers_(std::move(answers)) {}
  gpu::ClockReasons reasons() override { return answers_.at(next_++); }

 private:
  std::vector<gpu::ClockReasons> answers_;
  std::size_t next_ = 0;
};

}  // namespace

TEST_CASE("bench/throttle_watch/no_source") {
  ThrottleWatch watch(nullptr);
  CHECK(watch.throttled() == 0);
}

TEST_CASE("bench/throttle_watch/idle") {
  Script source({idle, idle, 0});
  ThrottleWatch watch(&source);
  CHECK(watch.throttled() == 0);
  CHECK(watch.throttled() == 0);
}

TEST_CASE("bench/throttle_watch/throttled") {
  Script source({0, power_cap, hot, 0, 0});
  ThrottleWatch watch(&source);
  CHECK(watch.throttled() == power_cap);          // began during the sample
  CHECK(watch.throttled() == (power_cap | hot));  // throughout the sample
  CHECK(watch.throttled() == hot);                // ended during the sample
  CHECK(watch.throttled() == 0);
}

TEST_CASE("bench/throttle_watch/recovered") {
  Script source({0, power_cap, 0, 0});
  ThrottleWatch watch(&source);
  CHECK(watch.throttled() == power_cap);
  watch.look();
  CHECK(watch.throttled() == 0);
}
