// Candidates of `fit`, measured: versions of the user's program, which run in turn without being watched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/stop_rule.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/recorder.hpp"

namespace bankwise::driver {

struct MeasureOptions {
  bool measure = false;
  unsigned candidates = 3;  ///< at most, of each kernel
  double seconds = 60;      ///< spent on the runs in turn
};

/// Adds --measure, --candidates and --measure-time to a command.
void declare_measure(CLI::App& command, MeasureOptions& options);

/// All launches of a kernel in one run.
struct LaunchTimes {
  std::uint64_t launches = 0, nanoseconds = 0;
};

/// One run of a version.
struct TimedRun {
  std::optional<std::string> failure;          ///< why it does not count: a sentence
  bool interrupted = false;                    ///< a signal to bankcheck ended it
  std::string output;                          ///< what it wrote to stdout, or its beginning
  std::map<std::string, LaunchTimes> kernels;  ///< by trace::KernelTrace::kernel
  std::string device;                          ///< that ran the kernels: "NVIDIA H200"
};

/// What a recorder can do with versions of its program. Version 0 is the program as it is, and is made first.
struct ProgramVersions {
  /// Makes a version with these sources, with a new time, in place of the user's. Returns why it cannot be made: a
  /// sentence.
  std::function<std::optional<std::string>(std::size_t version, const FixedSources& sources)> make;
  /// Runs a version without watching it, with nothing to read; its output is not shown.
  std::function<TimedRun(std::size_t version)> time;
  /// Runs a version as the program was watched.
  std::function<Outcome(std::size_t version)> watch;
  /// What is changed: false: files; true: the texts that the program gives to its OpenCL driver.
  bool by_text = false;
};

/// Makes a version of the program for each of the best candidates, runs all of them in turn until the noise allows a
/// verdict, compares their stdout, watches the fastest, and prints which candidates pay. Returns exit_ok; or exit_wrong
/// if something is proposed and no candidate has a verdict, or if the version that is watched fails or lacks the
/// changes. The verdicts become a part of the report. Errors: CommandFailed if the program as it is cannot be made or
/// fails; those of `program`; std::runtime_error if the report cannot be written.
int measure(Reporting& reporting, const trace::Trace& trace, const MeasureOptions& options,
            const ProgramVersions& program);

// --- Which versions ---

/// A version of the program. `kernels` has one element for each kernel of the report: the fit with the version's
/// layouts chosen, or nothing if the version leaves the kernel as it is.
struct ProgramVersion {
  std::string name;  ///< "A"
  std::vector<std::optional<KernelFitReport>> kernels;
  FixedSources sources;
  std::optional<std::string> rejected;  ///< why its times do not count: a sentence
};

struct PlannedVersions {
  std::vector<ProgramVersion> versions;  ///< the first is the program as it is; the second has the proposals of fit
  /// Kernels that no version changes although fit proposes it, and why: sentences, by the number of the kernel.
  std::map<std::size_t, std::string> left_out;
};

/// The n-th version after the first has the n-th best candidate of each kernel, so that a run measures all kernels.
PlannedVersions plan_versions(const std::vector<KernelReport>& kernels, const std::vector<KernelFitReport>& fits,
                              const trace::Trace& trace, unsigned candidates, bool by_text);

/// A version from the candidates of others: for each kernel one, or nothing to leave it as it is.
ProgramVersion combined(const std::vector<KernelFitReport>& fits,
                        std::vector<std::optional<KernelFitReport>> candidates, bool by_text);

/// What the chosen layouts change, in one line for each array.
std::string changes_text(const KernelFitReport& fit);

// --- What the versions write ---

/// What differs between texts of one line; each includes those before it.
enum class Variation { none, times, numbers, words };

/// The stdout of several runs of one version, line by line.
struct RepeatedOutput {
  void add(std::string_view output);

  std::size_t runs = 0;
  std::vector<std::string> lines;     ///< of the first run
  std::vector<Variation> variations;  ///< what differs in each of them from run to run
  bool has_equal_lengths = true;      ///< all runs had equally many lines
};

/// Whether a line has a number that is a time or a rate: such numbers differ between versions that do the same.
bool has_time(std::string_view line);

struct ComparedOutput {
  std::size_t equal = 0, not_compared = 0;  ///< lines
  std::optional<std::string> difference;    ///< the first: a sentence
};
ComparedOutput compare(const RepeatedOutput& original, const RepeatedOutput& changed);

// --- The times ---

enum class Gain { faster, slower, none, unknown };  // the order of texts in measure_text.cpp

/// The samples of one kernel in one version: nanoseconds of a launch, mean over a run.
struct KernelSamples {
  explicit KernelSamples(const support::StopLimits& limits) : rule(limits) {}
  support::StopRule rule;
  std::uint64_t launches = 0;          ///< of the first run
  Gain gain = Gain::unknown;           ///< of a candidate, after the last runs in turn
  std::size_t equal_gains = 0;         ///< after how many of the last runs in turn the gain was this
  std::optional<std::string> problem;  ///< why there are no samples, or why they do not count: a sentence
};

/// A version, and what its runs have shown: one element for each kernel of the report.
struct MeasuredVersion {
  ProgramVersion version;
  RepeatedOutput output;
  std::vector<KernelSamples> kernels;
};
using MeasuredVersions = std::vector<MeasuredVersion>;  // the first is the program as it is

/// Null if the version leaves the kernel as it is, or if its times do not count.
const KernelSamples* samples_of(const MeasuredVersions& versions, std::size_t version, std::size_t kernel);

/// How a candidate compares with the kernel as it is. `none`: within the noise, or by less than 0.5 %; `unknown`: too
/// few samples.
Gain gain_of(const KernelSamples& original, const KernelSamples& candidate);

/// What follows for a kernel.
struct KernelVerdict {
  /// The version with the fastest candidate, or with one that is ranked higher and as fast within the noise. 0: no
  /// candidate was measured.
  std::size_t fastest = 0;
  Gain gain = Gain::unknown;  ///< of that candidate
  std::string slows;          ///< the name of a kernel that shares the changed code, and is slower with it
  bool pays() const { return gain == Gain::faster && slows.empty(); }
};
KernelVerdict verdict_on(const MeasuredVersions& versions, std::size_t kernel);

/// Names the kernels that a faster candidate of another kernel slows. `fits`: where the arrays are declared.
void name_slowed(const MeasuredVersions& versions, const std::vector<KernelReport>& kernels,
                 const std::vector<KernelFitReport>& fits, std::vector<KernelVerdict>& verdicts);

// --- The text ---

/// The verdict in one sentence, and the code if it is not the one that fit has `proposed`.
std::string verdict_text(const MeasuredVersions& versions, const KernelReport& kernel, std::size_t number,
                         const KernelFitReport& proposed, const KernelVerdict& verdict);

/// Whether the results are equal, and what was compared.
std::string results_text(const MeasuredVersions& versions);

/// The versions that change a kernel, beside the one that does not. Nothing if none does.
std::optional<MeasuredKernel> measured_kernel(const MeasuredVersions& versions, const KernelReport& kernel,
                                              std::size_t number, const KernelVerdict& verdict);

/// One row for each kernel and version.
std::string times_table(const std::vector<std::optional<MeasuredKernel>>& measured,
                        const std::vector<KernelReport>& kernels);

/// The passes of a version that was watched, beside those that fit has predicted.
struct ObservedPasses {
  std::string text;
  std::optional<std::string> problem;           ///< why the version is not confirmed: a sentence
  std::map<std::size_t, std::uint64_t> passes;  ///< of the changed kernels, by their numbers
};
ObservedPasses observed_passes(const std::vector<KernelReport>& kernels, const ProgramVersion& version,
                               const Outcome& outcome);

}  // namespace bankwise::driver
