#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/report.hpp>
#include "bankcheck/driver/measure.hpp"

namespace bankwise::driver {
namespace {

using support::grouped;

double median_of(const KernelSamples& samples) { return support::median(samples.rule.samples()); }

std::string time_text(const KernelSamples& samples) { return support::format_time(median_of(samples) * 1e-9); }

std::string noise_text(const support::MedianAndNoise& times) {
  return times.noise ? fmt::format("{:.1f} %", 100 * *times.noise) : "?";
}

double speedup(const KernelSamples& original, const KernelSamples& samples) {
  return median_of(original) / median_of(samples);
}

std::string speedup_text(double factor) { return fmt::format("{:.2f} x", factor); }

std::string_view to_string(Gain gain) {
  constexpr std::string_view names[]{"faster", "slower", "none", "unknown"};
  return names[int(gain)];
}

/// The first of those that are as fast as the fastest within the noise, and compare alike with the kernel as it is.
std::size_t fastest_of(const std::vector<const KernelSamples*>& samples) {
  std::size_t fastest = 0;
  for (std::size_t v = 1; v < samples.size(); ++v) {
    if (samples[v] == nullptr) continue;
    if (fastest == 0 || median_of(*samples[v]) < median_of(*samples[fastest])) fastest = v;
  }
  for (std::size_t v = 1; v < fastest; ++v) {
    if (samples[v] == nullptr || gain_of(*samples[fastest], *samples[v]) != Gain::none) continue;
    if (gain_of(*samples.front(), *samples[v]) == gain_of(*samples.front(), *samples[fastest])) return v;
  }
  return fastest;
}

bool have_equal_changes(const KernelFitReport& a, const KernelFitReport& b) {
  return std::ranges::equal(a.fit.arrays, b.fit.arrays, [](const fit::ArrayFit& one, const fit::ArrayFit& other) {
    return one.after().option.change == other.after().option.change;
  });
}

/// The passes of a kernel as it is, on the first architecture.
fit::Prediction counted(const KernelReport& kernel) {
  const std::vector<std::uint64_t> passes{kernel.reports.front().all.passes};
  return {passes, passes};
}

std::string note_of(const MeasuredLayouts& layouts, const MeasuredKernel& kernel) {
  std::string note = layouts.changes;
  if (layouts.problem) note += (note.empty() ? "" : "; ") + ("not measured: " + *layouts.problem);
  const bool is_proposed =
      layouts.version == kernel.fastest && kernel.verdict == to_string(Gain::faster) && kernel.slows.empty();
  return (is_proposed ? "<- " : "") + note;
}

}  // namespace

const KernelSamples* samples_of(const MeasuredVersions& versions, std::size_t version, std::size_t kernel) {
  const MeasuredVersion& measured = versions[version];
  const bool takes_part = version == 0 || measured.version.kernels[kernel].has_value();
  const KernelSamples& samples = measured.kernels[kernel];
  const bool counts = !measured.version.rejected && !samples.problem && !samples.rule.samples().empty();
  return takes_part && counts ? &samples : nullptr;
}

Gain gain_of(const KernelSamples& original, const KernelSamples& candidate) {
  const auto before = support::median_and_noise(original.rule.samples());
  const auto now = support::median_and_noise(candidate.rule.samples());
  const auto apart = support::differ(before, now);
  if (!apart) return Gain::unknown;
  constexpr double smallest = 0.005;  // of the time
  if (!*apart || std::abs(now.median - before.median) < smallest * before.median) return Gain::none;
  return now.median < before.median ? Gain::faster : Gain::slower;
}

KernelVerdict verdict_on(const MeasuredVersions& versions, std::size_t kernel) {
  std::vector<const KernelSamples*> samples;
  for (std::size_t v = 0; v < versions.size(); ++v) samples.push_back(samples_of(versions, v, kernel));
  KernelVerdict verdict{.fastest = samples.front() == nullptr ? 0 : fastest_of(samples)};
  if (verdict.fastest > 0) verdict.gain = gain_of(*samples.front(), *samples[verdict.fastest]);
  return verdict;
}

void name_slowed(const MeasuredVersions& versions, const std::vector<KernelReport>& kernels,
                 const std::vector<KernelFitReport>& fits, std::vector<KernelVerdict>& verdicts) {
  const auto arrays = arrays_by_place(fits);
  const auto is_slower = [&](std::size_t kernel, std::size_t version) {
    // Also if the version has no change of its own for the kernel.
    const KernelSamples &before = versions.front().kernels[kernel], &now = versions[version].kernels[kernel];
    const bool counts = !before.problem && !now.problem;
    return counts && !before.rule.samples().empty() && !now.rule.samples().empty() &&
           gain_of(before, now) == Gain::slower;
  };
  for (std::size_t k = 0; k < verdicts.size(); ++k) {
    if (verdicts[k].gain != Gain::faster) continue;
    for (const auto& [changed, source, is_opencl] : changed_arrays(*versions[verdicts[k].fastest].version.kernels[k])) {
      const auto sharing = source ? arrays.find(place_of(*source)) : arrays.end();
      if (sharing == arrays.end()) continue;
      for (const auto& [other, array] : sharing->second) {
        if (other != k && is_slower(other, verdicts[k].fastest)) verdicts[k].slows = kernels[other].name;
      }
    }
  }
}

std::string verdict_text(const MeasuredVersions& versions, const KernelReport& kernel, std::size_t number,
                         const KernelFitReport& proposed, const KernelVerdict& verdict) {
  const std::string about = fmt::format("measured: {}: ", kernel.name);
  if (verdict.fastest == 0) return about + "no candidate could be measured\n";
  if (verdict.gain != Gain::faster) {
    constexpr const char* advice[]{"", "the fastest candidate is slower: keep the code",
                                   "no candidate is faster beyond the noise: keep the code",
                                   "too few runs to know the noise; --measure-time measures longer"};
    return fmt::format("{}{}\n", about, advice[int(verdict.gain)]);
  }
  const ProgramVersion& version = versions[verdict.fastest].version;
  const KernelSamples &original = *samples_of(versions, 0, number),
                      &fastest = *samples_of(versions, verdict.fastest, number);
  std::string text = fmt::format("{}{} is {} faster, {} instead of {}: {}\n", about, version.name,
                                 speedup_text(speedup(original, fastest)), time_text(fastest), time_text(original),
                                 changes_text(*version.kernels[number]));
  if (!verdict.slows.empty()) {
    return text + fmt::format("  but {} shares this code, and is slower: keep the code, or write a copy of it first\n",
                              verdict.slows);
  }
  if (!have_equal_changes(*version.kernels[number], proposed)) text += diffs_text(*version.kernels[number]);
  return text;
}

std::string results_text(const MeasuredVersions& versions) {
  std::size_t equal = versions.front().output.lines.size(), left_out = 0;
  for (std::size_t v = 1; v < versions.size(); ++v) {
    if (versions[v].version.rejected) continue;
    const ComparedOutput compared = compare(versions.front().output, versions[v].output);
    equal = std::min(equal, compared.equal);
    left_out = std::max(left_out, compared.not_compared);
  }
  if (equal == 0) return "results: not compared, because no line of stdout repeats from run to run\n";
  std::string text =
      fmt::format("results: the exit code and {} of stdout are equal", support::plural(equal, "line", "lines"));
  if (left_out > 0)
    text += fmt::format("; {} with times, or different from run to run, {} not compared", left_out,
                        left_out == 1 ? "was" : "were");
  return text + "\n";
}

std::optional<MeasuredKernel> measured_kernel(const MeasuredVersions& versions, const KernelReport& kernel,
                                              std::size_t number, const KernelVerdict& verdict) {
  MeasuredKernel measured{.verdict = std::string(to_string(verdict.gain)), .slows = verdict.slows};
  if (verdict.fastest > 0) measured.fastest = versions[verdict.fastest].version.name;
  const KernelSamples* original = samples_of(versions, 0, number);
  for (std::size_t v = 0; v < versions.size(); ++v) {
    const ProgramVersion& version = versions[v].version;
    const auto& changed = version.kernels[number];
    if (v > 0 && !changed) continue;
    MeasuredLayouts layouts{.version = version.name,
                            .passes = changed ? prediction_of(changed->fit) : counted(kernel),
                            .problem = version.rejected ? version.rejected : versions[v].kernels[number].problem};
    if (changed) layouts.changes = changes_text(*changed);
    if (const KernelSamples* samples = samples_of(versions, v, number)) {
      layouts.times = support::median_and_noise(samples->rule.samples());
      if (changed && original != nullptr) layouts.speedup = speedup(*original, *samples);
    }
    measured.versions.push_back(std::move(layouts));
  }
  if (measured.versions.size() == 1) return std::nullopt;
  return measured;
}

std::string times_table(const std::vector<std::optional<MeasuredKernel>>& measured,
                        const std::vector<KernelReport>& kernels) {
  std::vector<std::vector<std::string>> table{{"kernel", "version", "time", "noise", "speedup", "passes", ""}};
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (!measured[k]) continue;
    std::string name = kernels[k].name;  // beside the first version, the original
    for (const MeasuredLayouts& layouts : measured[k]->versions) {
      table.push_back({std::exchange(name, ""), layouts.version,
                       layouts.times ? support::format_time(layouts.times->median * 1e-9) : "-",
                       layouts.times ? noise_text(*layouts.times) : "",
                       layouts.speedup ? speedup_text(*layouts.speedup) : "", passes_text(layouts.passes, 0),
                       note_of(layouts, *measured[k])});
    }
  }
  return support::format_table(table, 2, true);
}

ObservedPasses observed_passes(const std::vector<KernelReport>& kernels, const ProgramVersion& version,
                               const Outcome& outcome) {
  if (outcome.failure) {
    const std::string failed = fmt::format("the changed program, which is watched, failed: {}", *outcome.failure);
    return {.text = "watched again: " + failed + "\n", .problem = failed};
  }
  ObservedPasses result;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (!version.kernels[k]) continue;
    const banks::Architecture& architecture = *kernels[k].reports.front().architecture;
    const std::uint64_t before = kernels[k].reports.front().all.passes;
    const fit::Prediction predicted = prediction_of(version.kernels[k]->fit);
    const auto trace = std::ranges::find(outcome.trace.kernels, kernels[k].trace.kernel, &trace::KernelTrace::kernel);
    const std::string about = fmt::format("watched again: {}: ", kernels[k].name);
    if (trace == outcome.trace.kernels.end()) {
      result.text += about + "it did not run\n";
      result.problem = fmt::format("{} did not run in the changed program", kernels[k].name);
      continue;
    }
    const std::uint64_t observed = result.passes[k] = trace::report(*trace, architecture).all.passes;
    const std::string count = fmt::format("{}{} passes on {}", about, grouped(observed), architecture.name);
    if (holds(predicted, 0, observed).value_or(false) && (predicted.is_exact() || observed != before)) {
      const std::string how = predicted.is_exact() ? "" : fmt::format(": {}", passes_text(predicted, 0));
      result.text += fmt::format("{} instead of {}, as predicted{}\n", count, grouped(before), how);
    } else if (observed == before) {
      result.text += fmt::format("{}, as before: the change is not in the program that ran\n", count);
      result.problem = "the program that ran does not have all changes";
    } else {
      const std::uint64_t excess = kernels[k].trace.excess_accesses;
      result.text +=
          fmt::format("{} instead of {}; {} were predicted{}\n", count, grouped(before), passes_text(predicted, 0),
                      excess == 0 ? ""
                                  : fmt::format(", with {} as before that did not fit into the trace",
                                                support::plural(excess, "access", "accesses")));
    }
  }
  return result;
}

}  // namespace bankwise::driver
