#include <bankwise/bench/program.hpp>

#include <algorithm>
#include <chrono>
#include <list>
#include <thread>

#include <bankwise/bench/sampling.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>

namespace bankwise::bench {

using namespace study;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// A row whose samples are interleaved with those of the others.
struct Candidate {
  Result result;
  PreparedVariant prepared;       // empty for the copies
  std::function<void()> enqueue;  // the timed part
  StopRule rule;
  gpu::Enqueueing enqueueing = gpu::Enqueueing::held_back;
  gpu::ClockReasons throttled = 0;  // throttle reasons of the samples that were dropped
  double spent_s = 0;
  bool running = false;
};

bool wanted(const Options& options, const gpu::DeviceInfo& device, const Variant& variant) {
  if (options.variants.empty()) return !variant.library || device.api == gpu::Api::cuda;
  return std::ranges::find(options.variants, variant.name) != options.variants.end();
}

class Measurement {
 public:
  Measurement(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session,
              const Manner& manner)
      : study_(study),
        options_(options),
        extent_(extent),
        session_(session),
        manner_(manner),
        cluster_(manner.cluster),
        bench_(study, extent, session, manner.cluster),
        throttle_(manner.throttle) {}

  std::vector<Result> run() {
    if (!options_.profile && manner_.copy) add_copy();
    if (!cluster_.alone()) {
      add_peer_copy();
      add_alone();
    }
    for (const Variant& variant : cluster_.alone() ? study_.variants : study_.ranks->variants) {
      if (!wanted(options_, session_.info(), variant)) continue;
      manner_.on_progress(0, variant.name);
      add(variant);
    }
    if (!options_.profile && manner_.timing) {
      for (auto& candidate : candidates_) warm_up(candidate);
      take_turns();
      if (options_.levels && cluster_.alone()) {
        for (auto& candidate : candidates_) set_limits(candidate);
      }
      if (options_.counters) {
        for (auto& candidate : candidates_) count(candidate);
      }
      for (auto& candidate : candidates_) {
        if (candidate.result.status != Status::ok || candidate.prepared.variant == nullptr) continue;
        if (!cluster_.alone()) time_exchanges(candidate);
        verify_again(candidate);
      }
    }
    std::vector<Result> results;
    for (auto& candidate : candidates_) results.push_back(std::move(candidate.result));
    cluster_.alone() ? derive_ratios(results, study_.baseline) : derive_scaling(results);
    return results;
  }

 private:
  Candidate& append(std::string_view name) {
    Candidate& candidate = candidates_.emplace_back(Candidate{{}, {}, {}, StopRule(options_.limits)});
    Result& result = candidate.result;
    result.device = &session_.info();
    result.variant = name;
    result.scope = options_.scope;
    result.cache = options_.cache;
    result.extent = extent_;
    result.bytes = cluster_.alone() ? compulsory_bytes(study_, extent_) : 0;
    result.architecture = &model_architecture(options_.architecture, session_.info().architecture);
    return candidate;
  }

  /// Runs `step`; an exception becomes the row's status and reason. On several ranks only what all of them refuse.
  void attempt(Result& result, const std::function<void()>& step) const {
    try {
      step();
    } catch (const gpu::Unsupported& why) {
      if (!cluster_.alone() && dynamic_cast<const cluster::Refused*>(&why) == nullptr) throw;
      result.status = Status::unsupported;
      result.reason = why.what();
    } catch (const std::exception& why) {
      if (!cluster_.alone()) throw;
      result.status = Status::error;
      result.reason = why.what();
    }
  }

  void add_copy() {
    Candidate& copy = append(copy_row);
    copy.enqueue = [this] { bench_.enqueue_copy(); };
    copy.result.bytes = 2 * bench_.copied_bytes();
    copy.result.launches = 1;
    if (options_.scope == Scope::block) {
      copy.result.reason = "the block scope moves no memory";
    } else if (bench_.copied_bytes() == 0) {
      copy.result.reason = "there is nothing to copy";
    } else {
      copy.running = true;
    }
  }

  void add_peer_copy() {
    Candidate& peers = append(peer_copy_row);
    if (cluster_.rank().ranks == 1) {
      peers.result.reason = "there is one rank";
      return;
    }
    peers.enqueue = [this] { bench_.enqueue_peer_copy(); };
    peers.result.scaling.link_bytes = bench_.copied_bytes();
    attempt(peers.result, [&] {
      bench_.prepare_peer_copy();
      peers.running = true;
    });
  }

  /// The first supported single-device variant of RankStudy::alone, on each rank's share. Runs on one device verify it.
  void add_alone() {
    Candidate& candidate = append(alone_row);
    const Extent extent = study_.ranks->alone_extent(extent_, cluster_.rank());
    candidate.result.bytes = compulsory_bytes(study_, extent);
    candidate.enqueue = [this, &prepared = candidate.prepared] { bench_.enqueue(prepared); };
    for (const std::string_view name : study_.ranks->alone) {
      const auto variant = std::ranges::find(study_.variants, name, &Variant::name);
      attempt(candidate.result, [&] {
        candidate.prepared = bench_.prepare(study_.plan(*variant, extent, session_.info().compute_units));
        candidate.result.scaling.alone = name;
        candidate.result.reason.clear();  // the reason that a name before this one left
        candidate.running = true;
      });
      if (candidate.running) return;
    }
  }

  void add(const Variant& variant) {
    Candidate& candidate = append(variant.name);
    Result& result = candidate.result;
    if (!cluster_.alone()) {
      const unsigned ranks = cluster_.rank().ranks;
      result.bytes = study_.ranks->memory_bytes(variant, extent_, {0, ranks});
      for (unsigned rank = 0; rank < ranks; ++rank) {
        result.scaling.link_bytes =
            std::max(result.scaling.link_bytes, study_.ranks->link_bytes(extent_, {rank, ranks}));
      }
    }
    attempt(result, [&] {
      candidate.prepared = bench_.prepare(variant, options_.scope);
      if (variant.library) result.library = study_.kernels->library->name();
      const bool repeated = candidate.prepared.first_form == gpu::Form::repeated;
      result.repeats = repeated ? gpu::block_scope_repeats : 1;
      // In the block scope only the first launch repeats its section, so only that one is timed.
      const std::size_t timed = repeated ? 1 : bench_.launches(candidate.prepared);
      result.launches = timed;
      candidate.enqueue = [this, &prepared = candidate.prepared, timed] { bench_.enqueue(prepared, 0, timed); };
      if (options_.profile) {
        bench_.enqueue(candidate.prepared);
        session_.wait();
        result.reason = "--profile launches without checking or timing";
        return;
      }
      check(candidate, Workbench::Scratch::poisoned);
    });
  }

  void check(Candidate& candidate, Workbench::Scratch scratch) {
    const std::string wrong = bench_.verify(candidate.prepared, scratch);
    candidate.running = wrong.empty();
    candidate.result.status = wrong.empty() ? Status::ok : Status::wrong;
    candidate.result.reason = wrong;
  }

  /// The time of `work`; on several ranks from a common start to the end on the slowest rank. Exchanges on the device:
  /// the device's timer, and every rank enqueues all before the first begins. Otherwise the host's clock.
  gpu::Timed time(const std::function<void()>& before, const std::function<void()>& work, gpu::Enqueueing how) {
    if (cluster_.alone()) return session_.time(before, work, how);
    const auto start_together = [&] {
      before();
      session_.wait();
      cluster_.barrier();
    };
    gpu::Timed timed;
    cluster_.wait_in("a measurement", [&] {
      if (!cluster_.engine->on_device()) {
        start_together();
        const auto begin = Clock::now();
        work();
        session_.wait();
        timed.seconds = since(begin);
      } else if (how == gpu::Enqueueing::held_back) {
        const auto work_and_barrier = [&] {
          work();
          cluster_.barrier();
        };
        timed = session_.time(before, work_and_barrier, how);
      } else {
        timed = session_.time(start_together, work, how);
      }
      const bool early = cluster_.max(timed.launch_overhead.empty() ? 0 : 1) > 0;
      if (early && timed.launch_overhead.empty()) timed.launch_overhead = "another rank began early";
      timed.seconds = cluster_.max(timed.seconds);
    });
    return timed;
  }

  double sample(Candidate& candidate) {
    // Cold: other memory. Hot: the variant's own data, in place of what the previous variant left in the cache.
    const auto prepare_cache = [&] { options_.cache == Cache::cold ? session_.flush_caches() : candidate.enqueue(); };
    Timing& timing = candidate.result.timing;
    const auto batch = [&] {
      for (unsigned i = 0; i < timing.batch; ++i) candidate.enqueue();
    };
    return take_sample(timing, candidate.enqueueing,
                       [&](gpu::Enqueueing how) { return time(prepare_cache, batch, how); });
  }

  /// Runs the measured path twice; the second run shows how many runs fit between two ticks of the timer. Nothing is
  /// held back in the first run: CUDA may wait for the device when it loads code and allocates the memory of a flush.
  void warm_up(Candidate& candidate) {
    if (!candidate.running) return;
    attempt(candidate.result, [&] {
      candidate.enqueueing = gpu::Enqueueing::immediate;
      sample(candidate);
      candidate.enqueueing = gpu::Enqueueing::held_back;
      const double once = sample(candidate);
      candidate.result.status = Status::ok;
      if (options_.cache == Cache::hot) {
        candidate.result.timing.batch =
            unsigned(cluster_.max(runs_per_sample(once, session_.info().timer_resolution_s)));
      }
    });
    candidate.running = candidate.result.status == Status::ok;
  }

  /// Takes a sample, and asks the stop rule for more. Decisions follow from numbers that all ranks agree on.
  void take_turn(Candidate& candidate) {
    attempt(candidate.result, [&] {
      const auto begin = Clock::now();
      const double seconds = sample(candidate) / candidate.result.repeats;
      const gpu::ClockReasons throttled = throttle_.throttled();
      const bool dropped = cluster_.max(throttled != 0 ? 1 : 0) > 0;
      if (dropped) {
        std::this_thread::sleep_for(throttle_rest);
        throttle_.look();
      }
      candidate.spent_s += cluster_.max(since(begin));
      candidate.throttled |= throttled;
      if (dropped) {
        candidate.running = !candidate.rule.drop(candidate.spent_s);
        return;
      }
      if (manner_.after_sample) manner_.after_sample(bench_, candidate.prepared);
      candidate.running = !candidate.rule.add(seconds, candidate.spent_s);
    });
    candidate.running = candidate.running && candidate.result.status == Status::ok;
  }

  /// Takes one sample of each candidate per round, so clock drift affects all of them equally; each until its own stop
  /// rule is satisfied.
  void take_turns() {
    for (bool any = true; any;) {
      any = false;
      double done = 0;
      for (auto& candidate : candidates_) {
        if (candidate.running) take_turn(candidate);
        any = any || candidate.running;
        done += candidate.running ? std::min(1.0, candidate.spent_s / options_.limits.timeout) : 1;
      }
      manner_.on_progress(done / double(candidates_.size()), "measuring");
    }
    for (auto& candidate : candidates_) finish(candidate);
  }

  static void finish(Candidate& candidate) {
    Result& result = candidate.result;
    summarise(candidate.rule, result.status, result.timing);
    result.dropped_because = gpu::throttling_in(candidate.throttled);
    if (result.repeats == 1 && result.timing.median.value_or(0) > 0) {
      result.bytes_per_second = double(result.bytes) / *result.timing.median;
    }
  }

  void set_limits(Candidate& candidate) {
    Result& result = candidate.result;
    if (result.status != Status::ok || candidate.prepared.variant == nullptr || !result.device->is_gpu) return;
    result.limits = limits_of(result, job_model(study_, *candidate.prepared.variant, extent_,
                                                result.device->compute_units, *result.architecture, result.launches));
  }

  /// Reads the hardware counters of the whole job, without repeated sections, with the cache state of the samples. It
  /// runs after the timing, so a failure here costs the row nothing else.
  void count(Candidate& candidate) {
    Result& result = candidate.result;
    if (result.status != Status::ok) return;
    manner_.on_progress(1, "counting");
    CounterResult& counters = result.counters.emplace();
    try {
      PreparedVariant whole;
      std::function<void()> run = candidate.enqueue;
      if (result.repeats > 1) {
        whole = bench_.prepare(*candidate.prepared.variant, Scope::memory);
        run = [&] { bench_.enqueue(whole); };
      }
      const auto prepare_cache = [&] { options_.cache == Cache::cold ? session_.flush_caches() : run(); };
      counters.counted = session_.count(prepare_cache, run);
      if (!options_.levels || candidate.prepared.variant == nullptr) return;
      counters.model =
          job_model(study_, *candidate.prepared.variant, extent_, session_.info().compute_units, *result.architecture);
    } catch (const std::exception& why) {
      counters.reason = why.what();
    }
  }

  /// Runs with the scratch memory that measuring left, and so finds variants that rely on fresh memory.
  void verify_again(Candidate& candidate) {
    attempt(candidate.result, [&] { check(candidate, Workbench::Scratch::as_it_is); });
    if (candidate.result.status == Status::wrong) candidate.result.reason += ", but only after measuring";
  }

  /// The median time of the plan's exchanges alone, or of its launches alone, which may then read old data.
  double time_of_part(Candidate& candidate, bool exchanges) {
    constexpr std::size_t samples_of_part = 11;
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
    return support::median(samples);
  }

  void time_exchanges(Candidate& candidate) {
    Result& result = candidate.result;
    if (std::ranges::none_of(candidate.prepared.plan.steps, is_exchange)) return;
    result.scaling.exchanges_s = time_of_part(candidate, true);
    result.scaling.launches_s = time_of_part(candidate, false);
    if (result.timing.median.value_or(0) > 0)
      result.scaling.exchanging = std::max(0.0, 1 - *result.scaling.launches_s / *result.timing.median);
  }

  const CaseStudy& study_;
  const Options& options_;
  Extent extent_;
  gpu::Session& session_;
  const Manner& manner_;
  Cluster cluster_;
  Workbench bench_;
  ThrottleWatch throttle_;
  std::list<Candidate> candidates_;  // a list: the closures above hold references into it
};

}  // namespace

std::vector<Result> measure(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session,
                            const Manner& manner) {
  Measurement measurement(study, options, extent, session, manner);
  try {
    return measurement.run();
  } catch (const cluster::Refused&) {
    throw;
  } catch (const std::exception& error) {
    if (manner.cluster.alone()) throw;
    // Now, because destructors wait for kernels, and these may wait for other ranks.
    report_failure(manner.cluster.communicator->name(), sentence_of(error));
    cluster::Communicator::end(support::exit_device);
  }
}

}  // namespace bankwise::bench
