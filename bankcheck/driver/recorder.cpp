#include "bankcheck/driver/recorder.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include <bankwise/support/append.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/codec.hpp>

namespace bankwise::driver {
namespace {

std::string not_recorded(const TemporaryFolder& folder, int error) {
  return fmt::format(
      "cannot write into {} what the program does: {}; TMPDIR names another directory, and --max-launches and "
      "--max-groups record less",
      support::in_quotes(folder.path().parent_path().string()), std::strerror(error));
}

/// A sentence if the program left processes in the background.
std::optional<std::string> still_running(const Ended& ended) {
  if (ended.left_running.empty()) return std::nullopt;
  const std::size_t others = ended.left_running.size() - 1;
  return fmt::format(
      "the program {} left process {}{} running in the background: what it does from now on is not in the report",
      support::in_quotes(ended.program), ended.left_running.front(),
      others == 0 ? "" : fmt::format(" and {} more", others));
}

std::string not_memory_spaces(const std::string& text) {
  if (support::MemorySpaces::parse(text)) return "";
  return fmt::format("{} is not a list of memory spaces: shared, global, or shared,global", support::in_quotes(text));
}

/// Whether a process has loaded a library, by the end of its path.
bool has_loaded(long process, std::string_view library) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(library)) return true;
  }
  return false;
}

void declare_trace(CLI::App& command, ReportCommand& options) {
  command.option_defaults()->group("Input");
  command.add_option("TRACE", options.trace, "Trace file, written by --trace; - reads stdin")->required();
}

}  // namespace

void declare_check(CLI::App& command, ProgramRecorder& recorder) {
  CheckOptions& options = recorder.options;
  declare_report_options(command, options.report);
  command.option_defaults()->group("Output");
  command
      .add_option("--trace", options.trace,
                  "Write a trace of the kernels to this file, even if the program fails; see bankcheck report")
      ->check(CLI::Validator(not_a_text, ""))
      ->type_name("FILE");
  command.option_defaults()->group("Recorder");
  command
      .add_option_function<std::string>(
          "--memory", [&options](const std::string& list) { options.memory = *support::MemorySpaces::parse(list); },
          "Memory spaces to watch, separated by commas: shared, global")
      ->check(CLI::Validator(not_memory_spaces, ""))
      ->type_name("SPACE,...")
      ->default_str(options.memory.text());
  const auto add_limit = [&](const char* flag, std::uint64_t& limit, const std::string& help) {
    command.add_option(flag, limit, help)
        ->check(CLI::Validator(not_a_number, ""))
        ->type_name("N")
        ->capture_default_str();
  };
  add_limit("--max-launches", options.max_launches,
            "Watch at most this many launches of each kernel, counted separately for each launch size; 0: all");
  add_limit("--max-groups", options.max_groups,
            fmt::format("Watch at most this many {} of each launch, spread over the grid; 0: all", recorder.blocks));
  command
      .add_option("--time-limit", options.time_limit,
                  "End the program after this many seconds, and report what was recorded; 0: never")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
  recorder.declare(command);
}

int check(ProgramRecorder& recorder) {
  start_guard();
  CheckOptions& options = recorder.options;
  for (const auto& [option, most] :
       {std::pair("--max-launches", options.max_launches), {"--max-groups", options.max_groups}}) {
    if (most == 0) continue;
    std::string& typed = options.report.limits.typed;
    typed += fmt::format("{}{} {}", typed.empty() ? "" : ", ", option, most);
  }
  if (options.max_groups == 0) options.report.limits.max_launches = options.max_launches;
  if (options.trace == "-") throw support::UsageError("--trace needs a file: stdout belongs to the program");
  Reporting reporting(options.report);
  const support::OutputFile file("--trace", options.trace);
  reporting.require_apart_from(file);
  std::optional<Outcome> outcome = recorder.run(reporting);
  if (!outcome) return support::exit_ok;

  trace::Trace& trace = outcome->trace;
  trace.errors = outcome->faults;
  if (outcome->failure) trace.errors.push_back(*outcome->failure);
  if (file) file.write(to_json_lines(trace));
  for (const std::string& remark : outcome->remarks) tell(remark);
  const int code = outcome->failure ? reporting.finish_failed(trace, *outcome->failure, outcome->interrupted,
                                                              std::move(outcome->incomplete))
                                    : reporting.finish(trace, std::move(outcome->incomplete));
  const int verified = outcome->verify && !outcome->failure ? outcome->verify(reporting, trace) : support::exit_ok;
  const std::vector<std::string>& faults = outcome->faults;
  if (faults.empty()) return code == support::exit_ok ? verified : code;
  tell(fmt::format("{} in the program, first: {}", support::plural(faults.size(), "fault", "faults"), faults.front()));
  return support::exit_wrong;
}

std::filesystem::path begin_record(const TemporaryFolder& folder, const trace::Trace& header) {
  std::filesystem::path record = folder / "record";
  std::ofstream(folder / support::lost_name) << '\0';
  std::ofstream file(record, std::ios::binary);
  if (!(file << header_line(header)).flush()) throw std::runtime_error(not_recorded(folder, errno));
  return record;
}

void add_end(Outcome& outcome, const Ended& ended, const TemporaryFolder& folder, std::string_view library) {
  const std::string lost = support::read_file(folder / support::lost_name).value_or("");
  if (!lost.empty() && lost.front() != '\0') outcome.failure = not_recorded(folder, lost.front());
  outcome.interrupted = outcome.failure && (ended.interrupted || ended.out_of_time || ended_from_outside(ended));
  std::ifstream list(folder / "unwatched");
  std::set<std::string> programs;
  for (std::string program; std::getline(list, program);) programs.insert(program);
  if (!programs.empty()) {
    const std::string others = programs.size() == 1 ? "" : fmt::format(" and {} more", programs.size() - 1);
    outcome.incomplete.push_back(
        fmt::format("the program {} started {}{} with an environment of its own, in which nothing is watched: what {} "
                    "did is not in the report",
                    support::in_quotes(ended.program), support::in_quotes(*programs.begin()), others,
                    others.empty() ? "it" : "they"));
  }
  const auto left = still_running(ended);
  if (!left) return;
  const bool is_watched = library.empty() || std::ranges::any_of(ended.left_running, [&](long process) {
                            return has_loaded(process, library);
                          });
  (is_watched || outcome.failure ? outcome.incomplete : outcome.remarks).push_back(*left);
}

void declare_report(CLI::App& command, ReportCommand& options) {
  command.footer(
      "Exit codes: 0 ok, 1 more conflicts or sectors than allowed, 2 usage, a file that cannot be opened or is no "
      "trace, 3 an output cannot be written. With --max-conflicts, --max-sectors or --baseline the exit code is 1 for "
      "every trace that is incomplete there.\n"
      "Example: bankcheck report --arch sm_90,gfx942 --max-conflicts 0 trace.jsonl");
  declare_report_options(command, options.report);
  command.add_option("--cubin", options.cubin, cubin_help)->type_name("FILE");
  declare_trace(command, options);
}

void declare_fit(CLI::App& command, ReportCommand& options) {
  command.footer(
      "Exit codes: 0 ok, 1 more conflicts or sectors than allowed, 2 usage, a file that cannot be opened or is no "
      "trace, 3 an output cannot be written. --max-conflicts, --max-sectors and --baseline apply to the kernels before "
      "the change.\n"
      "bankcheck cuda --measure and bankcheck opencl --measure run the program with the best layouts, and time them.\n"
      "Example: bankcheck fit --arch sm_90,gfx942 --kernel 'transpose*' trace.jsonl");
  declare_report_options(command, options.report);
  command.remove_option(command.get_option("--fit"));
  declare_trace(command, options);
  options.report.fit.fit = options.report.fit.only = true;
}

int report_file(ReportCommand& options) {
  options.report.emitted = emitted_lines(options.cubin);
  options.report.own_run = false;
  Reporting reporting(options.report);
  std::ifstream opened;
  std::istream& lines = support::open_input(options.trace, opened);
  const trace::TraceFile file = trace::read_json_lines(lines, options.trace == "-" ? "stdin" : options.trace);
  std::vector<std::string> incomplete = file.trace.errors;
  if (!file.closed) {
    incomplete.push_back(
        fmt::format("{} has no last line: the file was truncated, and the rest is missing", options.trace));
  }
  if (file.trace.kernels.empty() && incomplete.empty()) throw support::UsageError(options.trace + " has no kernel");
  return reporting.finish(file.trace, std::move(incomplete));
}

}  // namespace bankwise::driver
