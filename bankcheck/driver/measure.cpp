#include "bankcheck/driver/measure.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <utility>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

using Clock = std::chrono::steady_clock;

/// Makes the versions and runs them.
class Measurement {
 public:
  Measurement(const std::vector<KernelReport>& kernels, const MeasureOptions& options, const ProgramVersions& program)
      : kernels_(kernels),
        limits_{.min_samples = 10, .max_samples = 40, .min_time = 0, .max_noise = 0.005, .timeout = options.seconds},
        program_(program) {}

  /// Makes a version. Returns its number. Error: CommandFailed if it is the program as it is, and cannot be made.
  std::size_t add(ProgramVersion version) {
    const std::size_t number = versions.size();
    version.rejected = program_.make(number, version.sources);
    if (number == 0 && version.rejected) fail(*version.rejected);
    versions.push_back({std::move(version), {}, std::vector(kernels_.size(), KernelSamples(limits_))});
    return number;
  }

  /// Runs all versions in turn. The first two runs are not timed: they show what a version always
  /// writes. Error: CommandFailed if it fails.
  void run() {
    for (int untimed = 0; untimed < 2; ++untimed) {
      for (std::size_t v = 0; v < versions.size(); ++v) run(v, false);
    }
    start_ = Clock::now();
    for (; !is_enough(); ++rounds) {
      for (std::size_t v = 0; v < versions.size(); ++v) run(v, true);
      for (std::size_t v = 1; v < versions.size(); ++v) note_gains(v);
    }
    for (std::size_t v = 1; v < versions.size(); ++v) compare_output(v);
  }

  /// Runs a version for its output alone.
  void check(std::size_t number) {
    run(number, false);
    compare_output(number);
  }

  MeasuredVersions versions;
  std::size_t rounds = 0;
  std::string device;

 private:
  [[noreturn]] static void fail(const std::string& why) {
    throw CommandFailed(support::exit_device, "--measure: the program as it is: " + why);
  }

  void run(std::size_t number, bool is_timed) {
    MeasuredVersion& measured = versions[number];
    if (measured.version.rejected) return;
    const TimedRun run = program_.time(number);
    if (run.interrupted) throw CommandFailed(support::exit_device, "--measure: a signal ended it before a verdict");
    if (run.failure && number == 0) fail(*run.failure);
    measured.version.rejected = run.failure;
    if (run.failure) return;
    measured.output.add(run.output);
    if (device.empty()) device = run.device;
    for (std::size_t k = 0; k < kernels_.size(); ++k) add_sample(run, number, k, is_timed);
  }

  void add_sample(const TimedRun& run, std::size_t number, std::size_t kernel, bool is_timed) {
    KernelSamples& samples = versions[number].kernels[kernel];
    const auto times = run.kernels.find(kernels_[kernel].trace.kernel);
    if (times == run.kernels.end() || times->second.launches == 0) {
      samples.problem = "the run has no time of it";
      return;
    }
    const auto [launches, nanoseconds] = times->second;
    if (samples.launches == 0) samples.launches = launches;
    const std::uint64_t original = versions.front().kernels[kernel].launches;
    if (launches != original) samples.problem = fmt::format("{} launches instead of {}", launches, original);
    if (is_timed) {
      const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
      samples.rule.add(double(nanoseconds) / double(launches), seconds);
    }
  }

  void note_gains(std::size_t number) {
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      KernelSamples& samples = versions[number].kernels[k];
      const Gain gain = gain_of(versions.front().kernels[k], samples);
      samples.equal_gains = gain == samples.gain ? samples.equal_gains + 1 : 1;
      samples.gain = gain;
    }
  }

  /// Whether each candidate of each kernel has a verdict, or more runs would not give one.
  bool is_enough() const {
    for (std::size_t v = 1; v < versions.size(); ++v) {
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (needs_runs(v, k)) return false;
      }
    }
    return true;
  }

  bool needs_runs(std::size_t version, std::size_t kernel) const {
    const ProgramVersion& planned = versions[version].version;
    const KernelSamples &original = versions.front().kernels[kernel], &candidate = versions[version].kernels[kernel];
    if (planned.rejected || !planned.kernels[kernel] || original.problem || candidate.problem) return false;
    if (!original.rule.reason().empty() && !candidate.rule.reason().empty()) return false;
    if (candidate.rule.samples().size() < limits_.min_samples || candidate.equal_gains < 3) return true;
    return candidate.gain == Gain::none || candidate.gain == Gain::unknown;
  }

  void compare_output(std::size_t number) {
    ProgramVersion& version = versions[number].version;
    if (version.rejected) return;
    const ComparedOutput compared = compare(versions.front().output, versions[number].output);
    if (compared.difference) version.rejected = "other results: " + *compared.difference;
  }

  const std::vector<KernelReport>& kernels_;
  const support::StopLimits limits_;  // of the runs in turn; a sample is a whole run of the program
  const ProgramVersions& program_;
  Clock::time_point start_;
};

/// The program as it is gets the files that versions change as its sources, too: what is built from them is then built
/// again, also if it was out of date.
void rebuild_original(std::vector<ProgramVersion>& versions) {
  for (const ProgramVersion& version : versions) {
    for (const auto& [path, changed] : version.sources.files) {
      if (auto text = support::read_file(path)) versions.front().sources.files.emplace(path, std::move(*text));
    }
  }
}

/// The version that has the fastest candidate of each kernel, or, if one is faster, those alone that are: one of those
/// that were measured if it has no others, or a new one.
std::size_t with_fastest(Measurement& measurement, const std::vector<KernelVerdict>& verdicts,
                         const Reporting& reporting, bool by_text) {
  std::vector<std::size_t> chosen;
  const bool is_any_faster = std::ranges::any_of(verdicts, &KernelVerdict::pays);
  for (const KernelVerdict& verdict : verdicts) {
    chosen.push_back(is_any_faster && !verdict.pays() ? 0 : verdict.fastest);
  }
  for (std::size_t v = 1; v < measurement.versions.size(); ++v) {
    const auto& kernels = measurement.versions[v].version.kernels;
    bool is_same = true;
    for (std::size_t k = 0; k < chosen.size(); ++k) is_same = is_same && chosen[k] == (kernels[k] ? v : 0);
    if (is_same) return v;
  }
  std::vector<std::optional<KernelFitReport>> candidates;
  for (std::size_t k = 0; k < chosen.size(); ++k)
    candidates.push_back(measurement.versions[chosen[k]].version.kernels[k]);
  const std::size_t number = measurement.add(combined(reporting.fits(), std::move(candidates), by_text));
  measurement.check(number);
  return number;
}

/// Watches the version with the fastest candidates, and adds its passes to `measured` and what is to say to `text`.
/// Returns why it is not what was proposed, or "".
std::string watch_fastest(Measurement& measurement, const std::vector<KernelVerdict>& verdicts,
                          const Reporting& reporting, const ProgramVersions& program,
                          std::vector<std::optional<MeasuredKernel>>& measured, std::string& text) {
  const std::size_t number = with_fastest(measurement, verdicts, reporting, program.by_text);
  const ProgramVersion& version = measurement.versions[number].version;
  text += results_text(measurement.versions);
  for (const std::string& sentence : version.sources.left_out) {
    text += fmt::format("not together with the others: {}\n", sentence);
  }
  if (version.rejected) return fmt::format("the changes of all kernels together: {}", *version.rejected);
  const ObservedPasses observed = observed_passes(reporting.kernels(), version, program.watch(number));
  text += observed.text;
  for (const auto& [k, passes] : observed.passes) {
    if (measured[k]) measured[k]->passes_again = passes;
  }
  return observed.problem.value_or("");
}

/// Adds what was measured to the report, and prints the text.
int conclude(Reporting& reporting, const std::vector<std::optional<MeasuredKernel>>& measured, const std::string& text,
             bool is_right) {
  reporting.add_measured(measured);
  if (!reporting.quiet()) support::OutputFile("stdout", "-").write(text);
  return is_right ? support::exit_ok : support::exit_wrong;
}

}  // namespace

void declare_measure(CLI::App& command, MeasureOptions& options) {
  command.option_defaults()->group("Measure");
  command
      .add_flag("--measure", options.measure,
                "Make a version of the program for each of the best layouts, run them in turn without watching them, "
                "and propose the fastest, or none; implies --fit, and excludes --patch, which has proposals that are "
                "not measured")
      ->excludes(command.get_option("--patch"));
  command.add_option("--candidates", options.candidates, "Measure at most this many layouts of each kernel")
      ->check(CLI::Range(1U, 26U))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--measure-time", options.seconds, "Spend at most about this long on the runs in turn")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("SECONDS")
      ->capture_default_str();
}

int measure(Reporting& reporting, const trace::Trace& trace, const MeasureOptions& options,
            const ProgramVersions& program) {
  const auto& kernels = reporting.kernels();
  const auto& fits = reporting.fits();
  PlannedVersions planned = plan_versions(kernels, fits, trace, options.candidates, program.by_text);
  std::string text;
  std::vector<std::optional<MeasuredKernel>> measured(kernels.size());
  for (const auto& [k, sentence] : planned.left_out) {
    text += fmt::format("not measured: {}\n", sentence);
    measured[k] = MeasuredKernel{.not_measured = sentence};
  }
  if (planned.versions.size() == 1) {
    const bool is_proposed = !planned.left_out.empty();
    if (is_proposed) tell("--measure: nothing was measured, because no proposed change could be applied");
    return conclude(reporting, measured, text + (is_proposed ? "" : "nothing to measure: no change is proposed\n"),
                    !is_proposed);
  }
  if (!program.by_text) rebuild_original(planned.versions);
  Measurement measurement(kernels, options, program);
  for (ProgramVersion& version : planned.versions) {
    const std::size_t number = measurement.versions.size();
    if (number > 0) tell(fmt::format("--measure: version {} of {}", version.name, planned.versions.size() - 1));
    measurement.add(std::move(version));
  }
  measurement.run();
  std::vector<KernelVerdict> verdicts;
  for (std::size_t k = 0; k < kernels.size(); ++k) verdicts.push_back(verdict_on(measurement.versions, k));
  name_slowed(measurement.versions, kernels, fits, verdicts);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    auto row = measured_kernel(measurement.versions, kernels[k], k, verdicts[k]);
    if (!row) continue;
    measured[k] = std::move(row);
    text += verdict_text(measurement.versions, kernels[k], k, fits[k], verdicts[k]);
  }
  const std::string table = times_table(measured, kernels);
  const bool is_measured = std::ranges::any_of(verdicts, [](const auto& verdict) { return verdict.fastest > 0; });
  std::string failure = is_measured ? "" : "no candidate could be measured";
  if (is_measured) {
    failure = watch_fastest(measurement, verdicts, reporting, program, measured, text);
    text += fmt::format("times of a launch on {}: mean over a run, median of {} in turn\n", measurement.device,
                        support::plural(measurement.rounds, "run", "runs"));
  }
  const bool has_verdict =
      std::ranges::any_of(verdicts, [](const auto& verdict) { return verdict.gain != Gain::unknown; });
  if (failure.empty() && !has_verdict) failure = "too few runs to know the noise";
  if (!failure.empty()) tell("--measure: " + failure);
  return conclude(reporting, measured, text + table, failure.empty());
}

}  // namespace bankwise::driver
