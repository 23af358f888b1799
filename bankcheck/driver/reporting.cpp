#include "bankcheck/driver/reporting.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <set>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::driver {
namespace {

/// "global memory of 3 kernels was not watched"; "" if all of it was.
std::string global_not_watched(const std::vector<KernelReport>& kernels) {
  std::vector<std::string_view> names;
  for (const KernelReport& kernel : kernels) {
    if (!kernel.trace.watches_global) names.emplace_back(kernel.name);
  }
  return names.empty() ? "" : fmt::format("global memory of {} was not watched", whose(names));
}

/// Whether `name` is the kernel's distinct name, or a glob that matches its plain name, which several kernels may have.
bool is(const KernelReport& kernel, const std::string& name) {
  return name == kernel.name || fnmatch(name.c_str(), kernel.trace.kernel.c_str(), 0) == 0;
}

/// Keeps the kernels named by `wanted`; all if it is empty. Error: UsageError for a kernel that did not run, unless it
/// `may_lack` some.
void keep_selected(std::vector<KernelReport>& kernels, const std::vector<std::string>& wanted, bool may_lack) {
  if (wanted.empty()) return;
  std::string ran;
  for (const KernelReport& kernel : kernels) ran += (ran.empty() ? "" : ", ") + kernel.name;
  for (const std::string& name : wanted) {
    if (may_lack || std::ranges::any_of(kernels, [&](const KernelReport& kernel) { return is(kernel, name); }))
      continue;
    throw support::UsageError(fmt::format("no kernel {} ran; the kernels that ran: {}", support::in_quotes(name), ran));
  }
  std::erase_if(kernels, [&](const KernelReport& kernel) {
    return std::ranges::none_of(wanted, [&](const std::string& name) { return is(kernel, name); });
  });
}

/// The files of the sinks, then the new baseline.
std::vector<report::Output> all_outputs(const ReportOptions& options) {
  std::vector<report::Output> outputs = options.outputs;
  outputs.push_back({"--update-baseline", nullptr, options.update_baseline});
  return outputs;
}

/// What was typed, with --fit behind the command, and without limits and outputs: "bankcheck emulate --fit k.cu". A
/// long command is cut.
std::string typed_with_fit() {
  constexpr std::size_t longest = 80;
  constexpr std::string_view flags = "--quiet --summary --verbose";
  constexpr std::string_view with_value =
      "--baseline --color --html --json --sarif --trace --max-conflicts --max-sectors --update-baseline";
  const std::string words = support::read_file("/proc/self/cmdline").value_or("");
  std::string text = "bankcheck";
  bool is_own = true, is_value = false;  // not the program's
  for (std::size_t at = words.find('\0') + 1, number = 1; at < words.size(); at = words.find('\0', at) + 1, ++number) {
    const std::string word = words.substr(at, words.find('\0', at) - at);
    is_own = is_own && word != "--";
    const bool is_flag = support::has_word(flags, word);
    const std::size_t sign = word.find('=');  // --json=FILE
    const bool has_value = support::has_word(with_value, word.substr(0, sign));
    const bool is_left_out = is_own && (is_value || is_flag || has_value);
    is_value = is_own && !is_value && has_value && sign == std::string::npos;
    if (is_left_out) continue;
    if (text.size() + word.size() > longest) return text + " ...";
    text += ' ' + shell_word(word);
    if (number == 1) text += " --fit";
  }
  return text;
}

/// The number of --patch in sinks(), the last one.
std::size_t number_of_patch() { return sinks().size() - 1; }

/// A sentence for each kernel with faults: the program is wrong, whatever its conflicts.
void add_diagnoses(const RunReport& report, std::vector<std::string>& sentences) {
  for (const KernelReport& kernel : report.kernels) {
    const auto& diagnoses = kernel.trace.diagnoses;
    const std::size_t faults = kernel.faults_by_cause().size();
    if (faults == 0) continue;
    const bool ended = std::any_of(diagnoses.begin(), diagnoses.end(), [](auto& diagnosis) { return diagnosis.ended; });
    sentences.push_back(fmt::format("{} has {}{}", kernel.name, support::plural(faults, "fault", "faults"),
                                    ended ? ", and a launch of it ended early" : ""));
  }
}

}  // namespace

std::string not_a_number(const std::string& text) {
  std::uint64_t number = 0;
  return support::parse_number(text, number) ? "" : text + " is not a number from 0 to 2^64-1";
}

std::string not_a_text(const std::string& text) { return text.empty() ? "it needs a value" : ""; }

void tell(const std::string& sentence, bool red) {
  const std::string text = support::visible(sentence);
  std::fputs(fmt::format("bankcheck: {}\n", red ? support::painted(text, "1;31") : text).c_str(), stderr);
}

std::vector<EmittedLine> emitted_lines(const std::string& path, bool may_be_empty) {
  if (path.empty()) return {};
  std::vector<EmittedLine> lines;
  std::string why;
  try {
    const auto bytes = support::read_file(path);
    if (!bytes) throw std::runtime_error("it cannot be read");
    const cuda::Cubin cubin({bytes->begin(), bytes->end()});
    lines = cuda::emitted_in(cubin);
    why = cubin.line_error();
  } catch (const std::runtime_error& error) {
    why = error.what();
  }
  if (why.empty() && lines.empty() && !may_be_empty)
    why = "it has no source lines with accesses to shared memory; compile it with -lineinfo";
  if (!why.empty()) throw support::UsageError(fmt::format("--cubin {}: {}", support::in_quotes(path), why));
  return lines;
}

void declare_report_options(CLI::App& command, ReportOptions& options) {
  const CLI::Validator number(not_a_number, ""), text(not_a_text, "");
  command.option_defaults()->group("Report");
  command
      .add_option("--arch", options.architectures, "Architectures or GPUs, separated by commas; see bankcheck archs")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ARCH,...")
      ->capture_default_str();
  command.option_defaults()->group("Limits");
  const auto add_limit = [&](const char* flag, std::optional<std::uint64_t>& limit, const char* help) {
    return command.add_option(flag, limit, help)->check(number)->type_name("N");
  };
  const auto add_file = [&](const char* flag, std::string& path, const char* help) {
    return command.add_option(flag, path, help)->check(text)->type_name("FILE");
  };
  auto* limit =
      add_limit("--max-conflicts", options.max.max_conflicts,
                "Fail if a kernel has more conflicts than this on any architecture, summed over its launches");
  auto* sectors = add_limit("--max-sectors", options.max.max_sectors,
                            "Fail if a kernel moves more sectors of global memory beyond the ideal than this on any "
                            "architecture, summed over its launches");
  add_file("--baseline", options.baseline,
           "Fail if a kernel has more conflicts or extra sectors than this CSV file allows")
      ->excludes(limit)
      ->excludes(sectors);
  add_file("--update-baseline", options.update_baseline, "Create this baseline file, or update its rows");
  command.option_defaults()->group("Output");
  for (report::Output& output : options.outputs) {
    if (output.option != nullptr) add_file(output.option, output.path, output.help);
  }
  command.option_defaults()->group("Report");
  command
      .add_option("--kernel", options.kernels,
                  "Report only kernels with this name, which may be a glob such as 'scan_*'; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("GLOB");
  const auto detail = [&](const char* flag, Detail value, const char* help) {
    return command.add_flag_callback(
        flag, [&options, value] { options.detail = value; }, help);
  };
  auto* quiet = detail("--quiet", Detail::quiet,
                       "Print only faults, what was not watched, and limits that are exceeded; nothing of --fit");
  auto* summary = detail("--summary", Detail::summary, "Print the answer without tables");
  auto* verbose =
      detail("--verbose", Detail::verbose, "Print everything: all kernels, levels, and what was not watched");
  quiet->excludes(summary)->excludes(verbose);
  summary->excludes(verbose);
  command.add_option("--color", options.colour, "Colours; auto: on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
  command.add_option("--sources", options.sources, "Directory to search for the kernels' source files")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_flag(
      "--fit", options.fit.fit,
      "Propose a padding or swizzle for each array with conflicts, as code to paste, and name other cures");
  command
      .add_option(
          "--max-shared", options.fit.max_shared,
          "Maximum bytes of shared memory per block with a proposed layout (default: the limit of the architectures)")
      ->check(number)
      ->type_name("BYTES");
  command.add_flag("--keep-occupancy", options.fit.keep_occupancy,
                   "Propose no layout that reduces the number of resident blocks per multiprocessor");
}

Reporting::Reporting(const ReportOptions& options)
    : options_(options),
      quiet_(report::take_stdout(all_outputs(options))),
      files_(report::open_files(all_outputs(options))),
      finder_(options.sources, {.elsewhere = options.own_run}) {
  for (const std::string& name : options.architectures) {
    const banks::Architecture* architecture = &architecture_named(name);
    const auto at = std::size_t(std::ranges::find(architectures_, architecture) - architectures_.begin());
    if (at == architectures_.size()) {
      architectures_.push_back(architecture);
      gpus_.push_back(nullptr);
    }
    const bool is_capability = name.size() > 1 && std::tolower(name[0]) == 's' && std::tolower(name[1]) == 'm';
    if (!is_capability && gpus_[at] == nullptr) gpus_[at] = banks::find_gpu(name);
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.sources, ignored)) {
    throw support::UsageError(fmt::format("--sources {} is not a directory", support::in_quotes(options.sources)));
  }
  if (!options.baseline.empty()) allowed_ = read_baseline(options.baseline);
}

void Reporting::require_apart_from(const support::OutputFile& trace) const {
  for (const support::OutputFile& file : files_) trace.require_apart_from(file);
}

Verdict Reporting::verdict_of(const Baseline& now) const {
  return allowed_ ? compare(now, *allowed_, options_.baseline, options_.kernels.empty()) : compare(now, options_.max);
}

/// The verdict, and why a limit cannot be confirmed.
Verdict Reporting::limited_verdict(const RunReport& report, const Baseline& now) const {
  Verdict verdict = verdict_of(now);
  const bool is_new = bool(files_.back());
  const bool limits_sectors = options_.max.max_sectors || (allowed_ && has_sectors(*allowed_));
  const bool limits_conflicts = options_.max.max_conflicts || allowed_;
  const std::string unwatched = limits_sectors ? global_not_watched(report.kernels) : "";
  const bool is_open = ((limits_conflicts || is_new) && report.is_shared_open) ||
                       ((limits_sectors || is_new) && report.is_global_open) || !unwatched.empty();
  if (!is_open) return verdict;
  const bool is_exceeded = !verdict.exceeded.empty();
  for (const std::string& sentence : report.incomplete) verdict.exceeded.push_back("incomplete: " + sentence);
  if (!unwatched.empty()) verdict.exceeded.push_back("incomplete: " + unwatched);
  if (is_exceeded || !(limits_conflicts || limits_sectors)) return verdict;
  const char* limit = allowed_                                              ? "--baseline"
                      : options_.max.max_conflicts && report.is_shared_open ? "--max-conflicts"
                                                                            : "--max-sectors";
  verdict.exceeded.push_back(fmt::format("{} cannot be confirmed: the trace is incomplete", limit));
  return verdict;
}

RunReport Reporting::report_of(const trace::Trace& trace, std::vector<std::string> incomplete, bool failed) {
  RunReport report{kernel_reports(trace, architectures_, finder_, gpus_), trace.command, trace.maker,
                   std::move(incomplete)};
  report.failed = failed;
  report.emitted = options_.emitted;
  keep_selected(report.kernels, options_.kernels, failed);
  add_incompleteness(report);
  return report;
}

/// Adds a sentence for each part that the trace of a kernel lacks.
void Reporting::add_incompleteness(RunReport& report) const {
  std::vector<std::string>& sentences = report.incomplete;
  const std::vector<std::string> told = sentences;
  std::set<std::string> known(sentences.begin(), sentences.end());
  report.cut_short = report.failed || !told.empty();
  const WatchLimits limits = report.failed ? WatchLimits() : options_.limits;
  count_watched_launches(report.kernels, limits);
  report.is_shared_open = report.is_global_open = report.cut_short;
  for (const KernelReport& kernel : report.kernels) {
    if (std::string missing = not_watched({&kernel, 1}, terms_of(report.maker), limits); !missing.empty())
      sentences.push_back(std::move(missing));
    for (const trace::Report& trace_report : kernel.reports) {
      report.is_shared_open |= is_incomplete(report, kernel, trace_report);
      report.is_global_open |= kernel.trace.watches_global && is_global_incomplete(report, kernel, trace_report);
      for (const auto* reasons : {&trace_report.incomplete, &trace_report.global_incomplete}) {
        for (const std::string& sentence : *reasons) {
          if (known.insert(sentence).second) sentences.push_back(sentence);
        }
      }
    }
  }
  report.gaps = gaps_of(report, told, limits);
}

TextOptions Reporting::text_options() const {
  const bool has_fit = wants_fit();
  TextOptions text{.detail = options_.detail,
                   .colour = has_colour(STDOUT_FILENO),
                   .after_program = options_.own_run,
                   .fits_only = options_.fit.only};
  if (const unsigned columns = support::terminal_columns(0); columns > 0) text.columns = text.wrap = columns;
  const bool has_page = !report::path_of(options_.outputs, "--html").empty();
  if (!has_fit) text.fit_command = typed_with_fit();
  if (!has_fit) text.next = "--fit looks for a layout without conflicts";
  if (!fixed_sources(fits_).files.empty()) {
    text.next = options_.next_after_fit;
    if (report::path_of(options_.outputs, "--patch").empty()) {
      text.next += fmt::format("{}--patch fix.diff writes the change for git apply", text.next.empty() ? "" : ", ");
    }
  }
  if (!has_page)
    text.next += fmt::format("{}--html report.html shows the source beside its banks", text.next.empty() ? "" : ", ");
  return text;
}

bool Reporting::has_colour(int file) const {
  if (options_.colour != "auto") return options_.colour == "always";
  return support::terminal_has_colour(file);
}

void Reporting::write(std::size_t begin, std::size_t end, const RunReport& report, const trace::Trace& trace) const {
  const auto exceeded = [&](const std::vector<KernelReport>& kernels) {
    return verdict_of(baseline_of(kernels)).exceeded;
  };
  const TextOptions text = text_options();
  const SinkInput input{report, fits_, trace, finder_, options_.sources, options_.kernels, text, exceeded};
  report::write_files(sinks().subspan(begin, end - begin), std::span(files_).subspan(begin), input,
                      [](const std::string& sentence) { tell(sentence); });
}

int Reporting::finish(const trace::Trace& trace, std::vector<std::string> incomplete) {
  RunReport report = report_of(trace, std::move(incomplete), false);
  const Baseline now = baseline_of(report.kernels);
  Verdict verdict = limited_verdict(report, now);
  if (!report.incomplete.empty()) verdict.remarks.clear();  // less was watched: not better, and perhaps it did run
  add_diagnoses(report, verdict.exceeded);
  if (wants_fit()) {
    fits_ = fit_reports(trace, report.kernels, architectures_, options_.fit, finder_, !report.incomplete.empty());
  }
  write(0, number_of_patch() + (options_.patch_waits ? 0 : 1), report, trace);
  const support::OutputFile& new_baseline = files_.back();
  if (new_baseline && report.incomplete.empty()) {
    const std::string& path = options_.update_baseline;
    std::error_code ignored;
    const Baseline old = std::filesystem::is_regular_file(path, ignored) ? read_baseline(path) : Baseline();
    new_baseline.write(to_csv(updated(old, now, options_.kernels.empty())));
  }
  if (new_baseline && !report.incomplete.empty()) tell("--update-baseline is not written: the trace is incomplete");
  for (const std::string& remark : verdict.remarks) tell(remark);
  for (const std::string& sentence : verdict.exceeded) tell(sentence, has_colour(STDERR_FILENO));
  report_ = std::move(report);
  return verdict.exceeded.empty() ? support::exit_ok : support::exit_wrong;
}

void Reporting::add_measured(const std::vector<std::optional<MeasuredKernel>>& measured) {
  for (std::size_t k = 0; k < fits_.size(); ++k) fits_[k].measured = measured[k];
  const std::string path(report::path_of(options_.outputs, "--json"));
  if (path != "-") support::OutputFile("--json", path).write(to_json(report_, fits_));
}

void Reporting::write_patch(const trace::Trace& trace, bool is_disproved) const {
  const std::size_t patch = number_of_patch();
  if (!files_[patch]) return;
  if (!is_disproved || fixed_sources(fits_).files.empty()) return write(patch, patch + 1, report_, trace);
  files_[patch].write("");
  tell("--patch is empty: --verify has disproved the changes");
}

int Reporting::finish_failed(const trace::Trace& trace, const std::string& failure, bool interrupted,
                             std::vector<std::string> incomplete) {
  incomplete.insert(incomplete.begin(), failure);
  const RunReport report = report_of(trace, std::move(incomplete), true);
  if (wants_fit() && interrupted) {
    fits_ = fit_reports(trace, report.kernels, architectures_, options_.fit, finder_, true);
  }
  if (wants_fit() && fits_.empty()) tell("--fit: nothing is fitted, because the run failed");
  write(0, interrupted ? sinks().size() : 1, report, trace);
  tell(failure, has_colour(STDERR_FILENO));
  return support::exit_device;
}

}  // namespace bankwise::driver
