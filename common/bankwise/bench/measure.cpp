// SPDX-License-Identifier: MIT
#include <bankwise/bench/measure.hpp>

#include <algorithm>
#include <chrono>
#include <list>
#include <thread>

#include <bankwise/bench/sampling.hpp>
#include <bankwise/bench/throttle_watch.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise {
namespace {

/// A variant, or the copy, whose samples are interleaved with those of the others.
struct Candidate {
  Result result;
  PreparedVariant prepared;       // empty for the copy
  std::function<void()> enqueue;  // the timed part
  StopRule rule;
  gpu::Enqueueing enqueueing = gpu::Enqueueing::held_back;
  gpu::ClockReasons throttled = 0;  // throttle reasons of the samples that were dropped
  double spent_s = 0;
  bool running = false;
};

/// Runs `step`; an exception becomes the row's status and reason.
void attempt(Result& result, const std::function<void()>& step) {
  try {
    step();
  } catch (const gpu::Unsupported& why) {
    result.status = Status::unsupported;
    result.reason = why.what();
  } catch (const std::exception& why) {
    result.status = Status::error;
    result.reason = why.what();
  }
}

bool wanted(const Options& options, const gpu::DeviceInfo& device, const Variant& variant) {
  if (!options.variants.empty()) {
    return std::find(options.variants.begin(), options.variants.end(), variant.name) != options.variants.end();
  }
  return !variant.library || device.api == gpu::Api::cuda;
}

class Measurement {
 public:
  Measurement(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session,
              gpu::Throttle* throttle, const Manner& manner)
      : study_(study),
        options_(options),
        extent_(extent),
        session_(session),
        manner_(manner),
        bench_(study, extent, session),
        throttle_(throttle) {}

  std::vector<Result> run(const Progress& progress) {
    if (!options_.profile && manner_.copy) add_copy();
    for (const Variant& variant : study_.variants) {
      if (!wanted(options_, session_.info(), variant)) continue;
      progress(0, variant.name);
      add(variant);
    }
    if (!options_.profile && manner_.timing) {
      for (auto& candidate : candidates_) warm_up(candidate);
      take_turns(progress);
      if (options_.counters) {
        for (auto& candidate : candidates_) count(candidate, progress);
      }
      for (auto& candidate : candidates_) verify_again(candidate);
    }
    std::vector<Result> results;
    for (auto& candidate : candidates_) results.push_back(std::move(candidate.result));
    derive_ratios(results, study_.baseline);
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
    result.bytes = study_.compulsory_bytes(extent_);
    result.architecture = &model_architecture(options_.architecture, session_.info().architecture);
    return candidate;
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

  void add(const Variant& variant) {
    Candidate& candidate = append(variant.name);
    Result& result = candidate.result;
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

  double sample(Candidate& candidate) {
    // Cold: other memory. Hot: the variant's own data, in place of what the previous variant left in the cache.
    const auto prepare_cache = [&] { options_.cache == Cache::cold ? session_.flush_caches() : candidate.enqueue(); };
    Timing& timing = candidate.result.timing;
    const auto batch = [&] {
      for (unsigned i = 0; i < timing.batch; ++i) candidate.enqueue();
    };
    return take_sample(timing, candidate.enqueueing,
                       [&](gpu::Enqueueing how) { return session_.time(prepare_cache, batch, how); });
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
        candidate.result.timing.batch = runs_per_sample(once, session_.info().timer_resolution_s);
      }
    });
    candidate.running = candidate.result.status == Status::ok;
  }

  /// Takes one sample, and asks the candidate's stop rule whether it was the last one.
  void take_turn(Candidate& candidate) {
    using Clock = std::chrono::steady_clock;
    attempt(candidate.result, [&] {
      const auto begin = Clock::now();
      const double seconds = sample(candidate) / candidate.result.repeats;
      const gpu::ClockReasons throttled = throttle_.throttled();
      if (throttled != 0) {
        std::this_thread::sleep_for(throttle_rest);
        throttle_.look();
      }
      candidate.spent_s += std::chrono::duration<double>(Clock::now() - begin).count();
      if (throttled != 0) {
        candidate.throttled |= throttled;
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
  void take_turns(const Progress& progress) {
    for (bool any = true; any;) {
      any = false;
      double done = 0;
      for (auto& candidate : candidates_) {
        if (candidate.running) take_turn(candidate);
        any = any || candidate.running;
        done += candidate.running ? std::min(1.0, candidate.spent_s / options_.limits.timeout) : 1;
      }
      progress(done / double(candidates_.size()), "measuring");
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

  /// Reads the hardware counters of the whole job, without repeated sections, with the cache state of the samples. It
  /// runs after the timing, so a failure here costs the row nothing else.
  void count(Candidate& candidate, const Progress& progress) {
    Result& result = candidate.result;
    if (result.status != Status::ok) return;
    progress(1, "counting");
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
    if (candidate.result.status != Status::ok || candidate.prepared.variant == nullptr) return;
    attempt(candidate.result, [&] { check(candidate, Workbench::Scratch::as_it_is); });
    if (candidate.result.status == Status::wrong) candidate.result.reason += ", but only after measuring";
  }

  static void derive_ratios(std::vector<Result>& results, std::string_view baseline_name) {
    const auto named = [&](std::string_view name) -> const Result* {
      const auto found = std::find_if(results.begin(), results.end(), [&](auto& r) { return r.variant == name; });
      const bool good = found != results.end() && found->status == Status::ok && found->timing.median.value_or(0) > 0;
      return good ? &*found : nullptr;
    };
    const Result* copy = named(copy_row);
    const Result* baseline = named(baseline_name);
    for (Result& result : results) {
      if (copy != nullptr && result.bytes_per_second) {
        result.of_copy = *result.bytes_per_second / *copy->bytes_per_second;
      }
      if (baseline != nullptr && result.timing.median.value_or(0) > 0 && &result != copy) {
        result.speedup = *baseline->timing.median / *result.timing.median;
      }
    }
  }

  const CaseStudy& study_;
  const Options& options_;
  Extent extent_;
  gpu::Session& session_;
  const Manner& manner_;
  Workbench bench_;
  ThrottleWatch throttle_;
  std::list<Candidate> candidates_;  // a list: the closures above hold references into it
};

}  // namespace

std::vector<Result> measure(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session,
                            const Progress& progress, gpu::Throttle* throttle, const Manner& manner) {
  return Measurement(study, options, extent, session, throttle, manner).run(progress);
}

}  // namespace bankwise
