// A recorder watches a program: options in, a trace out. What follows is the same for all of them: report, limits,
// outputs, exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/driver/reporting.hpp"

namespace bankwise::driver {

/// The options that all recorders have.
struct CheckOptions {
  ReportOptions report;
  std::string trace;
  std::uint64_t max_launches = 0, max_groups = 0;  ///< 0: all
  support::MemorySpaces memory;
  double time_limit = 0;             ///< seconds; 0: none
  std::vector<std::string> program;  ///< what follows --
};

/// What was recorded, and how the run ended.
struct Outcome {
  trace::Trace trace;
  std::vector<std::string> faults;      ///< errors in the program: a sentence each
  std::optional<std::string> failure;   ///< one sentence that names the cause; the trace then ends at the failure
  bool interrupted = false;             ///< a signal or the time limit ended the run; `failure` says so
  std::vector<std::string> incomplete;  ///< what the trace lacks although the run did not fail: a sentence each
  std::vector<std::string> remarks;     ///< what was unusual, although nothing is missing: a sentence each
  /// After the report of a run that did not fail, of which it gets the trace; returns an exit code.
  std::function<int(Reporting&, const trace::Trace&)> verify;
};

/// Ends the command with an exit code. `details`, the messages of a tool, are printed before the sentence.
struct CommandFailed : std::runtime_error {
  CommandFailed(int exit_code_, const std::string& sentence, std::string details_ = "")
      : std::runtime_error(sentence), exit_code(exit_code_), details(std::move(details_)) {}
  int exit_code;
  std::string details;
};

class ProgramRecorder : NotCopied {
 public:
  explicit ProgramRecorder(const char* word_for_blocks) : blocks(word_for_blocks) {}
  virtual ~ProgramRecorder() = default;

  /// Adds the recorder's own options to a command that has the common ones.
  virtual void declare(CLI::App& command) = 0;
  /// Runs the program to its end. Nothing if the options ask for something else than a run. Errors: UsageError;
  /// CommandFailed; std::runtime_error if the program cannot be started.
  virtual std::optional<Outcome> run(Reporting& reporting) = 0;

  const char* const blocks;  ///< the word for them
  CheckOptions options;
};

/// Adds all options of a recorder to its command.
void declare_check(CLI::App& command, ProgramRecorder& recorder);

/// Runs the command. Returns exit_ok, exit_wrong if a limit is exceeded or the program has a fault, or exit_device if
/// it failed. Errors: as Reporting and ProgramRecorder::run().
int check(ProgramRecorder& recorder);

/// Begins a record in a folder, to which the parts append that bankcheck loads into the program (support/append.hpp).
/// Returns its file. Error: std::runtime_error.
std::filesystem::path begin_record(const TemporaryFolder& folder, const trace::Trace& header);

/// Fills in what follows from how the program ended, and from files in the folder: the run failed if something could
/// not be recorded, and the trace is incomplete if programs were not watched (support/watched_exec.hpp). A process that
/// it left in the background makes the trace incomplete if the run failed, or if it has loaded `library`, the part that
/// watches it; "": in any case.
void add_end(Outcome& outcome, const Ended& ended, const TemporaryFolder& folder, std::string_view library = "");

// --- The trace of an earlier run, in a file ---

struct ReportCommand {
  ReportOptions report;
  std::string trace;  ///< a file, or - for stdin
  std::string cubin;  ///< machine code
};

/// The options of `bankcheck report`, and those of `bankcheck fit`, which fits the kernels of a trace.
void declare_report(CLI::App& command, ReportCommand& options);
void declare_fit(CLI::App& command, ReportCommand& options);

/// Runs both. Returns exit_ok or exit_wrong. Errors: those of Reporting, and UsageError for a file that is
/// not a trace.
int report_file(ReportCommand& options);

}  // namespace bankwise::driver
