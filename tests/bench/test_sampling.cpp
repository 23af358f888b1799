// SPDX-License-Identifier: MIT
#include <vector>

#include <bankwise/bench/sampling.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;
using gpu::Enqueueing;

TEST_CASE("bench/sampling/length") {
  CHECK(runs_per_sample(1e-6, 1e-6) == 100);
  CHECK(runs_per_sample(30e-6, 1e-6) == 4);
  CHECK(runs_per_sample(100e-6, 1e-6) == 1);
  CHECK(runs_per_sample(1, 1e-6) == 1);
  CHECK(runs_per_sample(0, 1e-6) == 100);
  CHECK(runs_per_sample(1e-3, 0) == 1);
}

TEST_CASE("bench/sampling/mean") {
  Timing timing;
  timing.batch = 4;
  Enqueueing how = Enqueueing::held_back;
  const auto time = [](Enqueueing) { return gpu::Timed{.seconds = 8}; };
  CHECK(take_sample(timing, how, time) == 2);
  CHECK(how == Enqueueing::held_back);
  CHECK(timing.launch_overhead.empty());
}

TEST_CASE("bench/sampling/held_back_in_part") {
  Timing timing;
  Enqueueing how = Enqueueing::held_back;
  std::vector<Enqueueing> asked;
  const auto time = [&](Enqueueing one) {
    asked.push_back(one);
    const bool held = one == Enqueueing::held_back;
    return gpu::Timed{.seconds = held ? 9.0 : 5.0, .launch_overhead = held ? "it waits" : ""};
  };
  CHECK(take_sample(timing, how, time) == 5);
  CHECK(take_sample(timing, how, time) == 5);
  CHECK(asked == std::vector{Enqueueing::held_back, Enqueueing::immediate, Enqueueing::immediate});
  CHECK(timing.launch_overhead == "it waits");
}

TEST_CASE("bench/sampling/timing") {
  StopRule rule({.min_samples = 4, .max_samples = 1024, .min_time = 1, .max_noise = 0.1, .timeout = 10});
  double now = 0;
  for (const double sample : {3.0, 1.0, 2.0}) rule.add(sample, now += 0.5);
  rule.drop(now += 0.5);
  Timing failed;
  summarise(rule, Status::error, failed);
  CHECK(failed.dropped == 1);
  CHECK(failed.samples.empty());
  CHECK_FALSE(failed.median);

  Timing few;
  summarise(rule, Status::ok, few);
  CHECK(few.samples == std::vector<double>{3, 1, 2});
  CHECK(few.median == 2);
  CHECK(few.min == 1);
  CHECK_FALSE(few.noise);

  for (int i = 0; i < 2; ++i) rule.add(2, now += 0.5);
  Timing enough;
  summarise(rule, Status::ok, enough);
  CHECK(enough.noise);

  Timing none;
  summarise(StopRule({}), Status::ok, none);
  CHECK_FALSE(none.median);
  CHECK_FALSE(none.min);
}
