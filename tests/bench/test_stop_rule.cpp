#include <random>
#include <vector>

#include <bankwise/bench/sampling.hpp>
#include <bankwise/support/numbers.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;
using gpu::Enqueueing;

namespace {

/// Feeds the rule samples of `mean` with relative noise `spread`. Each takes its length on a clock that only this loop
/// advances. Returns the reason.
std::string_view feed(StopRule& rule, double mean, double spread, double overhead = 0) {
  std::mt19937 random(1);
  std::normal_distribution<double> deviation(0, 1);
  for (double now = 0; rule.reason().empty();) {
    const double sample = mean * (1 + spread * deviation(random));
    now += sample + overhead;
    rule.add(sample, now);
    if (rule.samples().size() > 1000000) return "never";
  }
  return rule.reason();
}

}  // namespace

TEST_CASE("bench/stop_rule/median_and_noise") {
  CHECK(support::median(std::vector<double>{}) == 0);
  CHECK(support::median(std::vector<double>{3}) == 3);
  CHECK(support::median(std::vector<double>{4, 1, 3}) == 3);
  CHECK(support::median(std::vector<double>{4, 1, 3, 2}) == 2.5);
  CHECK(support::noise(std::vector<double>{}) == 0);
  CHECK(support::noise(std::vector<double>{2, 2, 2}) == 0);
  CHECK(support::noise(std::vector<double>{1, 2, 3}) > 0.74);
  CHECK(support::noise(std::vector<double>{1, 2, 3}) < 0.75);
  CHECK(support::noise(std::vector<double>{2, 2, 2, 2, 900}) == 0);  // one outlier does not move it
}

TEST_CASE("bench/stop_rule/reasons") {
  struct Row {
    const char* name;
    StopLimits limits;
    double mean, spread, overhead;
    const char* reason;
    std::size_t least, most;  ///< samples
  };
  const StopLimits usual{.min_samples = 10, .min_time = 0.2, .max_noise = 0.01, .timeout = 2};
  const StopLimits patient{.min_samples = 10, .min_time = 0.2, .max_noise = 0.01, .timeout = 100};
  const StopLimits few{.min_samples = 10, .max_samples = 100, .min_time = 1000, .max_noise = 0, .timeout = 2000};
  for (const Row& row : {Row{"minimum time", usual, 1e-3, 0, 0, "quiet", 200, 200},
                         {"minimum number", patient, 1, 0.001, 0, "quiet", 10, 10},
                         {"stable noise", usual, 1e-3, 0.05, 0, "stable", 0, 1999},
                         {"timeout", usual, 1.5, 0, 0, "timeout", 2, 2},
                         {"time between samples", usual, 1e-6, 0.05, 0.1, "timeout", 20, 20},
                         {"maximum", few, 1e-9, 0.5, 0, "enough", 100, 100}}) {
    INFO(row.name);
    StopRule rule(row.limits);
    CHECK(feed(rule, row.mean, row.spread, row.overhead) == row.reason);
    CHECK(rule.samples().size() >= row.least);
    CHECK(rule.samples().size() <= row.most);
  }
}

TEST_CASE("bench/stop_rule/thirty_percent") {
  StopRule rule({.min_samples = 10, .min_time = 0.2, .max_noise = 0.01, .timeout = 2});
  const auto reason = feed(rule, 1e-3, 0.3);
  CHECK((reason == "stable" || reason == "timeout"));
}

TEST_CASE("bench/stop_rule/dropped") {
  StopRule rule({.min_samples = 10, .min_time = 0.2, .max_noise = 0.01, .timeout = 2});
  CHECK(!rule.drop(0.1));
  CHECK(!rule.drop(0.2));
  CHECK(feed(rule, 1e-3, 0) == "quiet");
  CHECK(rule.dropped() == 2);
  CHECK(rule.samples().size() == 200);
}

TEST_CASE("bench/stop_rule/always_throttled") {
  StopRule rule({.min_samples = 10, .min_time = 0.2, .max_noise = 0.01, .timeout = 2});
  std::size_t drops = 1;
  while (!rule.drop(0.1 * double(drops))) ++drops;
  CHECK(drops == 20);
  CHECK(rule.samples().empty());
  CHECK(rule.reason() == "throttled");
}

TEST_CASE("bench/stop_rule/half_dropped") {
  const StopLimits limits{.min_samples = 10, .min_time = 0.2, .max_noise = 0.01, .timeout = 2};
  StopRule half(limits), third(limits);
  half.drop(0.5);
  CHECK(half.add(1, 2));
  CHECK(half.reason() == "throttled");
  third.add(1, 0.5);
  third.add(1, 1);
  CHECK(third.drop(2));
  CHECK(third.reason() == "timeout");
}

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

TEST_CASE("bench/limits/shared_memory_and_dram") {
  gpu::DeviceInfo device{.name = "NVIDIA H200", .architecture = "sm_90", .is_gpu = true};
  device.compute_units = 10;
  device.clock_hz = 1e9;
  const banks::Architecture* hopper = banks::find_architecture("sm_90");
  Result row{.device = &device, .scope = Scope::block, .repeats = 961};
  row.timing.median = 1e-6;
  // Of 11 blocks of 32 warps one multiprocessor executes two: 1000 cycles of 1000 ns in 10 blocks are 5000 passes.
  JobModel model{.architecture = hopper};
  model.work = report::Work{.passes = 1100, .path_passes = 110, .grids = {{.blocks = 11, .threads = 1024}}};
  model.conflict_free = report::Work{.passes = 550, .path_passes = 55, .grids = model.work->grids};
  const auto limits = limits_of(row, model);
  REQUIRE(limits);
  CHECK(limits->shared_busy == Approx(0.2));
  CHECK(limits->speedup == Approx(1000 / (1000 - 100.0 - 10)));
  CHECK(limits->least_s == Approx(110e-9));

  // The whole job moves 9.3 MB, which the H200's row has DRAM move in 2 us.
  row.repeats = 1;
  row.bytes = std::uint64_t(2000 * *banks::find_gpu("H200")->dram_bandwidth.fact);
  row.timing.median = 2.1e-6;
  CHECK(limits_of(row, model)->speedup == Approx(1.05).margin(1e-3));
  CHECK(limits_of(row, model)->least_s == Approx(2e-6).margin(1e-9));
  device.cache = row.bytes;
  // What the L2 cache holds comes from there.
  CHECK(limits_of(row, model)->least_s ==
        Approx(double(row.bytes) / *banks::find_gpu("H200")->l2_bandwidth.fact * 1e-9));
}

TEST_CASE("bench/limits/not_known") {
  gpu::DeviceInfo device{.name = "NVIDIA H200", .architecture = "sm_90", .is_gpu = true};
  device.clock_hz = 1e9;
  Result row{.device = &device};
  row.timing.median = 1e-6;
  JobModel model{.architecture = banks::find_architecture("sm_90")};
  CHECK_FALSE(limits_of(row, model));
  model.work = model.conflict_free = report::Work{};
  CHECK(limits_of(row, model)->shared_busy == 0);
  CHECK(limits_of(row, model)->speedup == 1.0);
  model.architecture = banks::find_architecture("sm_80");  // --arch: another GPU than the one that was measured
  CHECK_FALSE(limits_of(row, model));
  device.architecture = "gfx90a";
  model.architecture = banks::find_architecture("gfx90a");
  CHECK_FALSE(limits_of(row, model));
  device.architecture = "sm_90";
  model.architecture = banks::find_architecture("sm_90");
  device.clock_hz = 0;
  CHECK_FALSE(limits_of(row, model));
}

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
