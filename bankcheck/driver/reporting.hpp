// The steps of every checker after it has a trace: report it, check it against limits, write the outputs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <bankwise/support/files.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/baseline.hpp"
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/driver/sinks.hpp"

namespace CLI {
class App;
}

namespace bankwise::driver {

struct ReportOptions {
  std::vector<std::string> architectures{"sm_90"}, kernels;
  Limits max;  ///< --max-conflicts and --max-sectors
  std::string baseline, update_baseline, sources = ".";
  std::vector<report::Output> outputs = report::outputs_of(sinks());
  FitOptions fit;
  Detail detail = Detail::usual;
  std::string colour = "auto";
  std::vector<EmittedLine> emitted;  ///< no option: what the command has read from machine code
  bool own_run = true;               ///< no option: false for the trace of somebody else's run
  WatchLimits limits;                ///< no option: those of a recorder
  std::string next_after_fit;        ///< no option: what to type once there is a fit that can be applied
  bool patch_waits = false;          ///< no option: finish() leaves the file of --patch to write_patch()
};

/// Adds --arch, --max-conflicts, --max-sectors and so on to a command.
void declare_report_options(CLI::App& command, ReportOptions& options);

/// The instructions on shared memory of each source line, from a cubin that was compiled with -lineinfo. Nothing for an
/// empty path. Error: UsageError for a file that is no cubin, or has no lines unless it `may_be_empty`.
std::vector<EmittedLine> emitted_lines(const std::string& path, bool may_be_empty = false);

/// Validators of options: CLI11 itself would accept -1 as a large number, and an unset shell variable must not disable
/// a check.
std::string not_a_number(const std::string& text);
std::string not_a_text(const std::string& text);

/// Prints a message to stderr, perhaps in red.
void tell(const std::string& sentence, bool red = false);

/// The constructor validates all options, before the checked program runs for minutes. Errors: UsageError.
class Reporting {
 public:
  explicit Reporting(const ReportOptions& options);

  /// Error: UsageError if a trace would be written to the file of another output.
  void require_apart_from(const support::OutputFile& trace) const;

  /// Whether one of the outputs is stdout; then no report is printed.
  bool quiet() const { return quiet_; }
  /// The architectures of --arch without duplicates.
  const std::vector<const banks::Architecture*>& architectures() const { return architectures_; }
  /// Replaces them, for commands whose default is known only after the run.
  void report_on(std::vector<const banks::Architecture*> architectures) {
    architectures_ = std::move(architectures);
    gpus_.clear();
  }

  /// The kernels of the report that finish() has printed, and what --fit found for them.
  const std::vector<KernelReport>& kernels() const { return report_.kernels; }
  const std::vector<KernelFitReport>& fits() const { return fits_; }

  /// After finish(): adds what --measure has found, one element for each kernel, to the fits, and writes the file of
  /// --json again; not stdout, which has the report already. Error: std::runtime_error.
  void add_measured(const std::vector<std::optional<MeasuredKernel>>& measured);

  /// Prints the report and writes the requested outputs. `incomplete` lists why kernels may have done more than the
  /// trace contains. Returns exit_ok, or exit_wrong if a limit is exceeded or cannot be checked against an incomplete
  /// trace. Errors: UsageError for architectures and kernels that the trace lacks, std::runtime_error for an output
  /// that cannot be written.
  int finish(const trace::Trace& trace, std::vector<std::string> incomplete);

  /// Writes the file of --patch after finish(), if one is asked for: empty if a run has disproved the changes. Error:
  /// std::runtime_error.
  void write_patch(const trace::Trace& trace, bool is_disproved) const;

  /// As finish(), for a run that failed: `failure` says why and stands on top of the report of what ran before. The
  /// outputs are only written if the run was `interrupted` by a signal or the time limit, and never the baseline.
  /// Returns exit_device.
  int finish_failed(const trace::Trace& trace, const std::string& failure, bool interrupted,
                    std::vector<std::string> incomplete);

 private:
  /// The kernels of --kernel, all of which must be in the trace unless the run `failed`.
  RunReport report_of(const trace::Trace& trace, std::vector<std::string> incomplete, bool failed);
  void add_incompleteness(RunReport& report) const;
  TextOptions text_options() const;
  bool wants_fit() const { return options_.fit.fit || !report::path_of(options_.outputs, "--patch").empty(); }
  bool has_colour(int file) const;
  Verdict verdict_of(const Baseline& now) const;
  Verdict limited_verdict(const RunReport& report, const Baseline& now) const;
  /// Writes the formats with these numbers in sinks().
  void write(std::size_t begin, std::size_t end, const RunReport& report, const trace::Trace& trace) const;

  const ReportOptions& options_;
  bool quiet_;
  std::vector<support::OutputFile> files_;  ///< those of sinks(), then the new baseline
  std::vector<const banks::Architecture*> architectures_;
  std::vector<const banks::GpuModel*> gpus_;  ///< those that --arch names, for each architecture; null: none
  std::optional<Baseline> allowed_;           ///< --baseline
  SourceFinder finder_;
  RunReport report_;  ///< that finish() has printed
  std::vector<KernelFitReport> fits_;
};

}  // namespace bankwise::driver
