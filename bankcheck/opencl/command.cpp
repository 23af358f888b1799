// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/support/terminal.hpp>
#include <bankwise/support/whole_number.hpp>
#include <bankwise/trace/architecture_named.hpp>
#include "bankcheck/check/baseline.hpp"
#include "bankcheck/check/kernel_report.hpp"
#include "bankcheck/check/sarif.hpp"
#include "bankcheck/opencl/oclgrind_run.hpp"

namespace bankwise::opencl {
namespace {

void tell(const std::string& sentence) {
  std::fputs(fmt::format("bankcheck: {}\n", sentence).c_str(), stderr);
}

/// By the model's own names, each once.
std::vector<std::string> architecture_names(const CheckOptions& options) {
  std::vector<std::string> names;
  for (const std::string& given : options.architectures) {
    std::string name(architecture_named(given).name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// By what tells it apart from others of its name, or by that name, which may be several's.
bool is(const KernelReport& kernel, const std::string& name) {
  return name == kernel.name || name == kernel.sum.kernel;
}

/// The wanted ones. Error: UsageError for one that did not run.
std::vector<KernelReport> selected(std::vector<KernelReport> kernels, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return kernels;
  std::string ran;
  for (const KernelReport& kernel : kernels) ran += (ran.empty() ? "" : ", ") + kernel.name;
  for (const std::string& name : wanted) {
    if (std::none_of(kernels.begin(), kernels.end(), [&](const KernelReport& kernel) { return is(kernel, name); })) {
      throw UsageError(fmt::format("no kernel {} ran; these did: {}", in_quotes(name), ran));
    }
  }
  std::erase_if(kernels, [&](const KernelReport& kernel) {
    return std::none_of(wanted.begin(), wanted.end(), [&](const std::string& name) { return is(kernel, name); });
  });
  return kernels;
}

/// Whether one of the outputs is stdout: then nothing else is. Error: UsageError if several are.
bool takes_stdout(const CheckOptions& options) {
  const int outputs = int(options.json == "-") + int(options.sarif == "-") + int(options.update_baseline == "-");
  if (outputs > 1) throw UsageError("only one of --json, --sarif and --update-baseline can be stdout");
  return outputs == 1;
}

/// What a number lacks to be one: CLI11 takes -1 for a large one.
std::string not_a_number(const std::string& text) {
  std::uint64_t number = 0;
  return parse_number(text, number) ? "" : text + " is no number from 0 to 2^64-1";
}

/// An unset variable must not switch a check off.
std::string not_a_text(const std::string& text) {
  return text.empty() ? "it needs a value" : "";
}

Verdict verdict_of(const CheckOptions& options, const Baseline& now) {
  const bool all_kernels = options.kernels.empty();
  if (options.max_conflicts) return compare(now, *options.max_conflicts);
  if (options.baseline.empty()) return {};
  return compare(now, read_baseline(options.baseline), options.baseline, all_kernels);
}

}  // namespace

CLI::App* declare_check(CLI::App& app, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "opencl",
      "Bank conflicts of the kernels of an OpenCL program, by source line; it runs under Oclgrind, on the CPU");
  command->footer(
      "The program and its arguments stand behind --.\n"
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage, 3 the program or Oclgrind failed.\n"
      "Example: bankcheck opencl --arch sm_90,gfx942 --max-conflicts 0 -- ./my_program --size 256");
  const CLI::Validator number(not_a_number, ""), text(not_a_text, "");
  command->add_option("--arch", options.architectures, "Architectures, with commas; see bankcheck archs")
      ->delimiter(',')
      ->capture_default_str();
  auto* limit = command
                    ->add_option("--max-conflicts", options.max_conflicts,
                                 "Fail if a kernel has more conflicts on any of them, over all its launches")
                    ->check(number);
  command->add_option("--baseline", options.baseline, "Fail if a kernel has more conflicts than this CSV file says")
      ->check(text)
      ->excludes(limit);
  command->add_option("--update-baseline", options.update_baseline, "Write that file, or the changed rows of it")
      ->check(text);
  command->add_option("--json", options.json, "Write all numbers to this file; - is stdout, and then nothing else is")
      ->check(text);
  command->add_option("--sarif", options.sarif, "Write the lines with conflicts to this file, for code review")
      ->check(text);
  command->add_option("--kernel", options.kernels, "Report kernels of this name and no others; may be given again")
      ->take_all();
  command->add_option("--sources", options.sources, "Folder to look for the kernels' files in")->capture_default_str();
  command->add_option("--local-memory", options.local_memory, "Bytes of local memory that the device claims to have")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
      ->capture_default_str();
  return command;
}

int check(const CheckOptions& options) {
  if (options.command.empty()) throw UsageError("which program? It stands behind --; see bankcheck opencl --help");
  const bool quiet = takes_stdout(options);
  const OutputFile json("--json", options.json), sarif("--sarif", options.sarif);
  const OutputFile baseline("--update-baseline", options.update_baseline);
  if (!std::filesystem::is_directory(options.sources)) {
    throw UsageError(fmt::format("--sources {} is no folder", in_quotes(options.sources)));
  }
  if (!options.baseline.empty()) (void)read_baseline(options.baseline);  // before minutes are spent
  const auto outcome = run_under_oclgrind({options.command, architecture_names(options), options.local_memory, !quiet});

  SourceFinder finder(options.sources);
  std::vector<KernelReport> kernels = kernel_reports(outcome.record, finder);
  if (outcome.failure) {
    if (!quiet) OutputFile("stdout", "-").write(to_text(kernels, terminal_columns(), terminal_has_colour()));
    tell(*outcome.failure);
    return exit_device;
  }
  kernels = selected(std::move(kernels), options.kernels);
  const Baseline now = baseline_of(kernels);
  const Verdict verdict = verdict_of(options, now);
  if (!quiet) OutputFile("stdout", "-").write(to_text(kernels, terminal_columns(), terminal_has_colour()));
  json.write(to_json(kernels, options.command));
  if (sarif) {
    std::set<std::string> exceeded;
    for (const KernelReport& kernel : kernels) {
      if (!verdict_of(options, baseline_of({kernel})).exceeded.empty()) exceeded.insert(kernel.name);
    }
    sarif.write(to_sarif(kernels, exceeded));
    if (const auto lines = lines_without_file(kernels); lines > 0) {
      tell(fmt::format("--sarif leaves out {} line{} with conflicts: no file below {} has them; see --sources", lines,
                       lines == 1 ? "" : "s", options.sources));
    }
  }
  if (baseline) {
    const std::string& path = options.update_baseline;
    const Baseline old = path != "-" && std::filesystem::exists(path) ? read_baseline(path) : Baseline();
    baseline.write(to_csv(updated(old, now, options.kernels.empty())));
  }
  for (const std::string& remark : verdict.remarks) tell(remark);
  for (const std::string& sentence : verdict.exceeded) tell(sentence);
  return verdict.exceeded.empty() ? exit_ok : exit_wrong;
}

}  // namespace bankwise::opencl
