// SPDX-License-Identifier: MIT
#include <bankwise/bench/rank_measure.hpp>

#include <algorithm>
#include <chrono>
#include <list>
#include <thread>

#include <bankwise/bench/program.hpp>
#include <bankwise/bench/sampling.hpp>
#include <bankwise/bench/throttle_watch.hpp>
#include <bankwise/cluster/agreement.hpp>
#include <bankwise/cluster/deadline.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/statistics.hpp>

namespace bankwise {
namespace {

constexpr std::size_t samples_of_part = 11;

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A row whose samples are interleaved with those of the others.
struct RankCandidate {
  RankResult result;
  PreparedRankPlan prepared;      // empty for the copies
  std::function<void()> enqueue;  // the timed part
  StopRule rule;
  gpu::Enqueueing enqueueing = gpu::Enqueueing::held_back;
  bool is_variant = false, running = false;
  double spent_s = 0;
};

class RankMeasurement {
 public:
  RankMeasurement(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session, Cluster cluster,
                  gpu::Throttle* throttle)
      : study_(study),
        options_(options),
        extent_(extent),
        session_(session),
        cluster_(cluster),
        bench_(study, extent, session, cluster),
        throttle_(throttle) {}

  std::vector<RankResult> run() {
    add_copies();
    add_alone();
    for (const Variant& variant : study_.ranks->variants) {
      const auto& names = options_.variants;
      if (names.empty() || std::find(names.begin(), names.end(), variant.name) != names.end()) add(variant);
    }
    for (auto& candidate : candidates_) warm_up(candidate);
    take_turns();
    for (auto& candidate : candidates_) {
      if (candidate.result.status != Status::ok || !candidate.is_variant) continue;
      time_exchanges(candidate);
      check(candidate, false);  // with the scratch memory that measuring left
      if (candidate.result.status == Status::wrong) candidate.result.reason += ", but only after measuring";
    }
    derive_ratios();
    std::vector<RankResult> results;
    for (auto& candidate : candidates_) results.push_back(std::move(candidate.result));
    return results;
  }

 private:
  RankCandidate& append(std::string_view name) {
    RankCandidate& candidate = candidates_.emplace_back(RankCandidate{{}, {}, {}, StopRule(options_.limits)});
    candidate.result.variant = name;
    return candidate;
  }

  /// What all ranks refuse becomes the row's reason.
  template <class Step>
  static void attempt(RankResult& result, const Step& step) {
    try {
      step();
    } catch (const cluster::Refused& why) {
      result.status = Status::unsupported;
      result.reason = why.what();
    }
  }

  void add_copies() {
    RankCandidate& copy = append(copy_row);
    copy.enqueue = [this] { bench_.enqueue_copy(); };
    copy.result.memory_bytes = 2 * bench_.copied_bytes();
    copy.running = true;
    RankCandidate& peers = append(peer_copy_row);
    if (cluster_.rank().ranks == 1) {
      peers.result.reason = "there is one rank";
      return;
    }
    peers.enqueue = [this] { bench_.enqueue_peer_copy(); };
    peers.result.link_bytes = bench_.copied_bytes();
    attempt(peers.result, [&] {
      bench_.prepare_peer_copy();
      peers.running = true;
    });
  }

  /// The first supported single-device variant of RankStudy::alone, on each rank's share. Runs on one device verify it.
  void add_alone() {
    RankCandidate& candidate = append(alone_row);
    const Extent extent = study_.ranks->alone_extent(extent_, cluster_.rank());
    candidate.result.memory_bytes = study_.compulsory_bytes(extent);
    candidate.enqueue = [this, &prepared = candidate.prepared] { bench_.enqueue(prepared); };
    for (const std::string_view name : study_.ranks->alone) {
      const auto variant = std::find_if(study_.variants.begin(), study_.variants.end(),
                                        [&](const Variant& each) { return each.name == name; });
      attempt(candidate.result, [&] {
        candidate.prepared = bench_.prepare(with_ranks(study_.plan(*variant, extent, session_.info().compute_units)));
        candidate.result.alone = name;
        candidate.result.reason.clear();  // of names before
        candidate.running = true;
      });
      if (candidate.running) return;
    }
  }

  void add(const Variant& variant) {
    RankCandidate& candidate = append(variant.name);
    const Rank rank = cluster_.rank();
    candidate.is_variant = true;
    candidate.result.memory_bytes = study_.ranks->memory_bytes(variant, extent_, {0, rank.ranks});
    for (unsigned r = 0; r < rank.ranks; ++r) {
      candidate.result.link_bytes =
          std::max(candidate.result.link_bytes, study_.ranks->link_bytes(extent_, {r, rank.ranks}));
    }
    candidate.enqueue = [this, &prepared = candidate.prepared] { bench_.enqueue(prepared); };
    attempt(candidate.result, [&] {
      candidate.prepared = bench_.prepare(variant);
      check(candidate, true);
    });
  }

  void check(RankCandidate& candidate, bool poison_scratch) {
    candidate.result.reason = bench_.verify(candidate.prepared, poison_scratch);
    candidate.running = candidate.result.reason.empty();
    candidate.result.status = candidate.running ? Status::ok : Status::wrong;
  }

  /// The time of so many runs of `work`, from a common start to the end on the slowest rank. Exchanges on the device:
  /// the device's timer, and every rank enqueues all before the first begins. Otherwise the host's clock.
  gpu::Timed time_on_all(const std::function<void()>& before, const std::function<void()>& work, unsigned batch,
                         gpu::Enqueueing how) {
    const auto all = [&] {
      for (unsigned i = 0; i < batch; ++i) work();
    };
    const cluster::Deadline limit(cluster_.communicator.name(), "a measurement");
    gpu::Timed timed;
    if (!cluster_.engine.on_device()) {
      before();
      session_.wait();
      cluster_.communicator.barrier();
      const auto begin = Clock::now();
      all();
      session_.wait();
      timed.seconds = since(begin);
    } else if (how == gpu::Enqueueing::held_back) {
      timed = session_.time(
          before,
          [&] {
            all();
            cluster_.communicator.barrier();
          },
          how);
    } else {
      const auto first = [&] {
        before();
        session_.wait();
        cluster_.communicator.barrier();
      };
      timed = session_.time(first, all, how);
    }
    const bool early = cluster_.communicator.max(timed.launch_overhead.empty() ? 0 : 1) > 0;
    if (early && timed.launch_overhead.empty()) timed.launch_overhead = "another rank began early";
    timed.seconds = cluster_.communicator.max(timed.seconds);
    return timed;
  }

  double sample(RankCandidate& candidate) {
    const auto prepare_cache = [&] { options_.cache == Cache::cold ? session_.flush_caches() : candidate.enqueue(); };
    Timing& timing = candidate.result.timing;
    return take_sample(timing, candidate.enqueueing, [&](gpu::Enqueueing how) {
      return time_on_all(prepare_cache, candidate.enqueue, timing.batch, how);
    });
  }

  void warm_up(RankCandidate& candidate) {
    if (!candidate.running) return;
    candidate.enqueueing = gpu::Enqueueing::immediate;
    sample(candidate);
    candidate.enqueueing = gpu::Enqueueing::held_back;
    const double once = sample(candidate);
    candidate.result.status = Status::ok;
    if (options_.cache == Cache::hot) {
      const unsigned runs = runs_per_sample(once, session_.info().timer_resolution_s);
      candidate.result.timing.batch = unsigned(cluster_.communicator.max(runs));
    }
  }

  /// One sample of each row per round. Every decision follows from numbers that all ranks agree on.
  void take_turns() {
    for (bool any = true; any;) {
      any = false;
      for (auto& candidate : candidates_) {
        if (!candidate.running) continue;
        const auto begin = Clock::now();
        const double seconds = sample(candidate);
        const bool throttled = cluster_.communicator.max(throttle_.throttled() != 0 ? 1 : 0) > 0;
        if (throttled) {
          std::this_thread::sleep_for(throttle_rest);
          throttle_.look();
        }
        candidate.spent_s += cluster_.communicator.max(since(begin));
        candidate.running =
            !(throttled ? candidate.rule.drop(candidate.spent_s) : candidate.rule.add(seconds, candidate.spent_s));
        any = any || candidate.running;
      }
    }
    for (auto& candidate : candidates_) summarise(candidate.rule, candidate.result.status, candidate.result.timing);
  }

  /// The median time of the plan's exchanges alone, or of its launches alone, which may then read old data.
  double time_of_part(RankCandidate& candidate, bool exchanges) {
    const std::function<void()> whole = candidate.enqueue;
    const std::string of_whole = candidate.result.timing.launch_overhead;  // which a sample of the part may overwrite
    candidate.enqueue = [this, &candidate, exchanges] {
      const auto& steps = candidate.prepared.plan.steps;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (is_exchange(steps[i]) == exchanges) bench_.enqueue(candidate.prepared, i, i + 1);
      }
    };
    std::vector<double> samples;
    for (std::size_t i = 0; i < samples_of_part; ++i) samples.push_back(sample(candidate));
    candidate.enqueue = whole;
    candidate.result.timing.launch_overhead = of_whole;
    return median(samples);
  }

  void time_exchanges(RankCandidate& candidate) {
    RankResult& result = candidate.result;
    const auto& steps = candidate.prepared.plan.steps;
    if (std::none_of(steps.begin(), steps.end(), is_exchange)) return;
    result.exchanges_s = time_of_part(candidate, true);
    result.launches_s = time_of_part(candidate, false);
    if (result.timing.median.value_or(0) > 0)
      result.exchanging = std::max(0.0, 1 - *result.launches_s / *result.timing.median);
  }

  const RankResult* measured(std::string_view name) const {
    for (const auto& candidate : candidates_) {
      const RankResult& result = candidate.result;
      if (result.variant == name && result.timing.median.value_or(0) > 0) return &result;
    }
    return nullptr;
  }

  void derive_ratios() {
    const RankResult *copy = measured(copy_row), *peers = measured(peer_copy_row), *alone = measured(alone_row);
    for (auto& candidate : candidates_) {
      RankResult& result = candidate.result;
      if (!candidate.is_variant || result.timing.median.value_or(0) <= 0 || copy == nullptr) continue;
      if (alone != nullptr) result.weak = *alone->timing.median / *result.timing.median;
      if (result.link_bytes > 0 && peers == nullptr) continue;  // the link's rate is unknown
      const double memory = double(result.memory_bytes) / double(copy->memory_bytes) * *copy->timing.median;
      const double link =
          peers == nullptr ? 0 : double(result.link_bytes) / double(peers->link_bytes) * *peers->timing.median;
      result.floor_s = std::max(memory, link);
      result.of_floor = *result.floor_s / *result.timing.median;
    }
  }

  const CaseStudy& study_;
  const Options& options_;
  Extent extent_;
  gpu::Session& session_;
  Cluster cluster_;
  RankBench bench_;
  ThrottleWatch throttle_;
  std::list<RankCandidate> candidates_;  // a list: the closures above hold references into it
};

}  // namespace

std::vector<RankResult> measure_ranks(const CaseStudy& study, const Options& options, Extent extent,
                                      gpu::Session& session, Cluster cluster, gpu::Throttle* throttle) {
  RankMeasurement measurement(study, options, extent, session, cluster, throttle);
  try {
    return measurement.run();
  } catch (const cluster::Refused&) {
    throw;
  } catch (const std::exception& error) {
    // Now, because destructors wait for kernels, and these may wait for other ranks.
    report_failure(cluster.communicator.name(), sentence_of(error));
    cluster::Communicator::end(exit_device);
  }
}

}  // namespace bankwise
