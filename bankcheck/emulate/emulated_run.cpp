#include "bankcheck/emulate/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/library.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/report.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/source_finder.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;
using support::grouped;

/// The deepest folder that contains both.
fs::path common_folder(const fs::path& a, const fs::path& b) {
  fs::path common;
  for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end() && *i == *k; ++i, ++k) common /= *i;
  return common;
}

/// Copies the sources and the changed files into the folder, as they lie to each other, and returns the program there.
/// Headers that do not change are found where they are.
Program changed_program(const Program& program, const driver::FixedSources& fixed, const fs::path& folder) {
  std::map<fs::path, std::string> texts;  // empty: copied as it is
  for (const std::string& source : program.sources) texts[fs::weakly_canonical(source)];
  for (const auto& [path, text] : fixed.files) texts[fs::weakly_canonical(path)] = text;
  fs::path root = texts.begin()->first.parent_path();
  for (const auto& file : texts) root = common_folder(root, file.first.parent_path());
  Program changed = program;
  for (const auto& [path, text] : texts) {
    const fs::path copy = folder / path.lexically_relative(root);
    fs::create_directories(copy.parent_path());
    if (text.empty()) {
      fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    } else {
      support::OutputFile("--fixed", copy.string()).write(text);
    }
  }
  for (std::string& source : changed.sources) {
    const fs::path path = fs::weakly_canonical(source);
    source = (folder / path.lexically_relative(root)).string();
    changed.include.push_back(path.parent_path().string());
  }
  return changed;
}

/// Has the programs that start load our library (preloaded.cpp). `folder` has the link that names it: the dynamic
/// linker separates names by spaces and colons.
void preload(const driver::TemporaryFolder& folder) {
  const fs::path library = driver::find_next_to_bankcheck("emulate/bankcheck_emulate_preload.so");
  const std::string link = folder / "preload.so";
  if (library.empty() || link.find_first_of(" :") != std::string::npos) return;
  fs::create_symlink(library, link);
  support::put_first("LD_PRELOAD", link);
}

struct ComparedResults {
  std::string sentence;
  bool wrong = false;
};

/// Whether a type is a floating-point number; the argument of a template stands in the kernel's name: "sum<float>".
bool is_float(const std::string& type, const std::string& kernel) {
  const bool is_known = predict::bytes_of_type(type.substr(0, type.find(' '))) > 0;
  const std::string names = is_known ? type : type + kernel.substr(std::min(kernel.find('<'), kernel.size()));
  return std::ranges::any_of(std::array{"float", "double", "half"},
                             [&](const char* name) { return names.find(name) != std::string::npos; });
}

/// The kernels that get sequential addressing, which rounds sums of floats otherwise.
std::set<std::string> otherwise_rounded(const driver::Reporting& reporting, const std::vector<std::size_t>& changed) {
  std::set<std::string> kernels;
  for (const std::size_t k : changed) {
    const driver::KernelFitReport& fit = reporting.fits()[k];
    for (std::size_t i = 0; i < fit.sources.size(); ++i) {
      if (fit.fit.arrays[i].chosen == 0 || !fit.fit.arrays[i].after().option.change.sequential) continue;
      const std::string& kernel = reporting.kernels()[k].trace.kernel;
      if (is_float(fit.sources[i]->declaration.type, kernel)) kernels.insert(kernel);
    }
  }
  return kernels;
}

/// What the changed program left in device memory, compared with the original. If the original does not repeat itself,
/// a difference says nothing; nor does one that begins with a kernel of `rounded`.
ComparedResults compared_results(EmulatedRun original, const EmulatedRun& changed,
                                 const std::set<std::string>& rounded) {
  const auto read = [](const EmulatedRun& run) { return support::read_file(run.request.results).value_or(""); };
  const std::string before = read(original), after = read(changed);
  if (before == after) {
    const auto launches = std::uint64_t(std::ranges::count(before, '\n'));
    if (launches == 0) return {"results not compared"};
    return {"same results: device memory is equal after " +
            (launches == 1 ? "the launch" : fmt::format("each of {} launches", grouped(launches)))};
  }
  const auto difference = std::ranges::mismatch(before, after).in1;
  const auto launch = std::count(before.begin(), difference, '\n');
  const std::size_t line = before.rfind('\n', std::size_t(difference - before.begin())) + 1;  // of a digest, and a name
  const std::size_t name = before.find(' ', line) + 1;
  const std::string kernel = before.substr(name, before.find('\n', name) - name);
  if (rounded.contains(kernel)) {
    return {fmt::format("results not compared from launch {} on, where {} adds floats in another order", launch + 1,
                        kernel)};
  }
  original.own_stdout = false;
  driver::tell("output of the original program, which runs again because device memory differs:");
  constexpr int most_runs = 3;  // one may repeat the first by chance
  for (int again = 0; again < most_runs; ++again) {
    original.request.results += ".again";
    (void)run_emulated(original);
    if (read(original) != before) return {"results not compared: they differ from run to run"};
  }
  return {fmt::format("device memory differs after launch {}", launch + 1), true};
}

/// The faults of the changed program that the original lacks, or has less often in that kernel: a sentence each.
std::vector<std::string> new_faults(const trace::Trace& before, const trace::Trace& after) {
  std::map<std::pair<std::string, trace::Fault>, std::uint64_t> known;
  for (const trace::KernelTrace& kernel : before.kernels) {
    for (const trace::DiagnosisRecord& diagnosis : kernel.diagnoses) {
      known[{kernel.kernel, diagnosis.fault}] += diagnosis.count;
    }
  }
  std::vector<std::string> sentences;
  for (const trace::KernelTrace& kernel : after.kernels) {
    for (const trace::DiagnosisRecord& diagnosis : kernel.diagnoses) {
      std::uint64_t& left = known[{kernel.kernel, diagnosis.fault}];
      const bool is_new = diagnosis.count > left && !trace::row_of(diagnosis.fault).is_remark;
      left -= std::min(left, diagnosis.count);
      if (is_new) sentences.push_back(placed_sentence_of(diagnosis, kernel));
    }
  }
  return sentences;
}

/// What blocks that did not run leave open, as the program has noted it (emulator/runtime/skipped.hpp): sentences for
/// the top of the report. Empty if all blocks ran. `exit_code`: the program's.
std::vector<std::string> skipped_blocks(const std::vector<std::string>& notes, int exit_code) {
  std::vector<std::string> kernels;
  std::string host;
  bool skipped = false;
  for (const std::string& line : notes) {
    if (line == "skipped") skipped = true;
    if (line.starts_with("kernel ")) kernels.push_back(line.substr(7));
    if (line.starts_with("host ") && host.empty()) host = line.substr(5);
  }
  if (!skipped) return {};
  const bool is_one = kernels.size() == 1;
  std::vector<std::string> sentences{
      fmt::format("only watched blocks ran (--only-watched), so the program's results are wrong{}",
                  exit_code == 0 ? "" : fmt::format(", and its exit code {} says nothing", exit_code)),
      kernels.empty() ? "as far as the blocks that ran show, no kernel reads what the others would have written"
                      : fmt::format("{} {} memory that blocks which did not run would have written: {} addresses, "
                                    "branches and faults may depend on it",
                                    fmt::join(kernels, ", "), is_one ? "reads" : "read", is_one ? "its" : "their")};
  if (!host.empty()) {
    sentences.push_back(fmt::format("the host reads such memory at {}: later launches may depend on it, too", host));
  }
  return sentences;
}

/// A row for each number of passes that was predicted, and how many of them were observed.
struct ComparedPasses {
  std::vector<std::vector<std::string>> table{{"kernel", "on", "before", "predicted", "observed", ""}};
  std::size_t held = 0;

  /// `number`: of the architecture in the prediction. `after`: the kernel of the changed program; null: it did not run.
  void add(const driver::KernelReport& kernel, const trace::Report& before, const fit::Prediction& predicted,
           std::size_t number, const trace::KernelTrace* after) {
    std::optional<std::uint64_t> observed;
    if (after != nullptr) observed = trace::report(*after, *before.architecture).all.passes;
    const std::optional<bool> equal = observed ? holds(predicted, number, *observed) : false;
    held += equal.value_or(true) ? 1 : 0;
    table.push_back({kernel.name, std::string(before.architecture->name), grouped(before.all.passes),
                     equal ? driver::passes_text(predicted, number) : "not known",
                     observed ? grouped(*observed) : "did not run",
                     !equal   ? "some accesses were not recorded"
                     : *equal ? "equal"
                              : "different"});
  }
};

ComparedPasses compared_passes(const driver::Reporting& reporting, const trace::Trace& after) {
  ComparedPasses all;
  for (std::size_t k = 0; k < reporting.fits().size(); ++k) {
    const driver::KernelFitReport& fit = reporting.fits()[k];
    const driver::KernelReport& kernel = reporting.kernels()[k];
    if (!fit.patched) continue;
    const auto changed = std::ranges::find_if(after.kernels, [&](const trace::KernelTrace& trace) {
      return trace.kernel == kernel.trace.kernel && trace.options == kernel.trace.options;
    });
    for (std::size_t a = 0; a < fit.fit.before.size(); ++a) {
      all.add(kernel, fit.fit.before[a], fit.patched->passes, a, changed == after.kernels.end() ? nullptr : &*changed);
    }
  }
  return all;
}

/// No proposed change could be applied, or none is proposed. Returns the exit code.
int verify_nothing(const driver::Reporting& reporting, std::string text, const std::string& folder) {
  const bool is_proposed = !text.empty();
  text += is_proposed ? "make the proposed change by hand, and run bankcheck emulate again to see its passes\n"
                      : "nothing to verify: no change is proposed\n";
  if (!reporting.quiet()) support::OutputFile("stdout", "-").write(text);
  if (is_proposed) driver::tell("--verify: nothing was verified, because no proposed change could be applied");
  if (!folder.empty()) driver::tell(fmt::format("--fixed: nothing is written to {}", folder));
  return is_proposed ? support::exit_wrong : support::exit_ok;
}

}  // namespace

driver::Outcome run_emulated(EmulatedRun run) {
  const driver::KeptEnvironment kept;
  const driver::TemporaryFolder folder;
  const trace::Trace header{
      .maker = trace::Maker::emulate, .revision = std::string(support::revision()), .command = run.command};
  run.request.record = begin_record(folder, header);
  run.request.unwatched = folder / "unwatched";
  run.request.skipped = folder / "skipped";
  write_request(run.request);
  driver::Progress progress(folder / "progress", "blocks");
  preload(folder);
  const driver::Ended ended =
      driver::start_and_wait(run.program, run.command,
                             {.own_stdout = run.own_stdout,
                              .progress = &progress,
                              .time_limit = run.time_limit,
                              .hint = driver::hint_to_watch_less(run.request.max_blocks, "blocks")});

  driver::Outcome outcome;
  std::ifstream lines(run.request.record, std::ios::binary);
  try {
    trace::TraceFile file = trace::read_json_lines(lines, "record");
    outcome.trace = std::move(file.trace);
    outcome.faults = outcome.trace.errors;
    outcome.failure = failure_of(ended);
    const bool exited = WIFEXITED(ended.status) && !ended.out_of_time;
    const std::vector<std::string> notes = driver::lines_of(support::read_file(run.request.skipped).value_or(""));
    outcome.incomplete = skipped_blocks(notes, exited ? WEXITSTATUS(ended.status) : 0);
    if (exited && !outcome.incomplete.empty()) outcome.failure.reset();  // its check of the results, most likely
    if (!outcome.failure && outcome.trace.kernels.empty() && std::ranges::find(notes, "library") != notes.end()) {
      outcome.incomplete.emplace_back("only functions of libraries ran, which are not recorded");
    } else if (!outcome.failure && outcome.trace.kernels.empty() && outcome.faults.empty()) {
      outcome.failure = fmt::format("the program {} ran no kernel", support::in_quotes(ended.program));
    }
    if (file.cut_line > 0) outcome.incomplete.emplace_back("the program ended while a launch was being recorded");
  } catch (const trace::BadLine& bad) {
    outcome.trace = header;
    outcome.failure = fmt::format("line {} of the program's record is damaged: {}", bad.line, bad.what());
  }
  add_end(outcome, ended, folder);
  return outcome;
}

int verify(const driver::Reporting& reporting, const trace::Trace& before, const Program& program, EmulatedRun run,
           const fs::path& cache, const std::string& folder) {
  const driver::FixedSources fixed = driver::fixed_sources(reporting.fits());
  std::string text;
  for (const std::string& sentence : fixed.left_out) text += fmt::format("not verified: {}\n", sentence);
  if (fixed.files.empty()) return verify_nothing(reporting, text, folder);
  std::optional<driver::TemporaryFolder> temporary;
  if (folder.empty()) temporary.emplace();
  const fs::path place = folder.empty() ? fs::path(*temporary / "fixed") : fs::path(folder);
  const Program changed = changed_program(program, fixed, place);
  const EmulatedRun original = run;
  run.program = build(changed, find_toolchain(), cache);
  run.request.results += ".changed";
  run.own_stdout = false;
  driver::tell("output of the changed program:");
  driver::Outcome outcome = run_emulated(run);
  for (std::string& fault : new_faults(before, outcome.trace)) outcome.faults.push_back(std::move(fault));
  const auto [table, held] = compared_passes(reporting, outcome.trace);
  const std::size_t predictions = table.size() - 1;
  const ComparedResults results = compared_results(original, run, otherwise_rounded(reporting, fixed.kernels));
  const bool verified = !outcome.failure && outcome.faults.empty() && held == predictions && !results.wrong;
  if (outcome.failure) text += fmt::format("not verified: the changed program failed: {}\n", *outcome.failure);
  for (const std::string& fault : outcome.faults) text += fmt::format("not verified: the changed program: {}\n", fault);
  if (held < predictions) {
    text += fmt::format("not verified: {} of {} predicted numbers of passes were observed\n", held, predictions);
  } else if (results.wrong && !outcome.failure) {
    text += fmt::format("not verified: {}\n", results.sentence);
  } else if (verified) {
    const auto& only = table.back();
    text += fmt::format("verified by a run: {}, {}\n",
                        predictions == 1 ? fmt::format("{} {} -> {} passes on {}", only[0], only[2], only[3], only[1])
                                         : fmt::format("all {} predictions of passes hold", predictions),
                        results.sentence);
  }
  if (predictions > 1 || held < predictions) text += support::format_table(table, 2, true);
  if (!folder.empty()) text += fmt::format("the changed sources are in {}\n", folder);
  if (!reporting.quiet()) support::OutputFile("stdout", "-").write(text);
  if (!verified) driver::tell("--verify: the changed program does not do what was predicted");
  return verified ? support::exit_ok : support::exit_wrong;
}

}  // namespace bankwise::emulate
