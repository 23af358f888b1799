#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include <bankwise/report/kernel_text.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/sinks.hpp"

namespace bankwise::driver {
namespace {

using nlohmann::ordered_json;

/// The message without its architectures: "4-byte load of tile in transpose_naive: 1024 passes instead of 128".
std::string message(const KernelReport& kernel, const trace::LineReport& line) {
  return fmt::format("{}-byte {} of {} in {}: {} passes instead of {}", line.width, to_string(line.operation),
                     line.array, kernel.name, line.costs.passes, line.costs.ideal);
}

/// A path in SARIF's form: a URI relative to %SRCROOT%.
std::string uri(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-._~/+@,=").find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

ordered_json location(const SourcePlace& place) {
  ordered_json region{{"startLine", place.line}};
  if (place.column > 0) region["startColumn"] = place.column;
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", uri(place.file)}, {"uriBaseId", "%SRCROOT%"}}}, {"region", region}}}};
}

/// Line and column of an offset, from 1, in SARIF's unit: code points.
std::pair<std::size_t, std::size_t> line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::size_t column = 1;
  for (std::size_t at = begin; at < before.size(); ++at) column += support::is_inside_character(before, at) ? 0 : 1;
  return {1 + std::size_t(std::ranges::count(before, '\n')), column};
}

/// The change of an array as SARIF's fix; null if there is none in this file.
ordered_json fix_of(const KernelFitReport& fits, const std::string& array, const std::string& file) {
  for (const auto& [fitted, source, is_opencl] : changed_arrays(fits)) {
    if (fitted.name != array || !source) continue;
    std::error_code error;
    const auto* edits = edits_in(source);
    if (edits == nullptr || !std::filesystem::equivalent(source->path, file, error)) return {};
    ordered_json replacements = ordered_json::array();
    for (const fit::Edit& edit : *edits) {
      const auto [begin_line, begin_column] = line_and_column(source->text, edit.begin);
      const auto [end_line, end_column] = line_and_column(source->text, edit.end);
      replacements.push_back({{"deletedRegion",
                               {{"startLine", begin_line},
                                {"startColumn", begin_column},
                                {"endLine", end_line},
                                {"endColumn", end_column}}},
                              {"insertedContent", {{"text", edit.text}}}});
    }
    const std::string text = fmt::format("{}: {} of {} passes remain", to_text(fitted.after().option.change),
                                         fitted.after().option.passes, fitted.before().option.passes);
    return {
        {"description", {{"text", text}}},
        {"artifactChanges",
         {{{"artifactLocation", {{"uri", uri(file)}, {"uriBaseId", "%SRCROOT%"}}}, {"replacements", replacements}}}}};
  }
  return {};
}

/// The same for a line of global memory: "4-byte load in add: 1,024 sectors ...".
std::string message(const KernelReport& kernel, const trace::Report& on, const trace::GlobalLineReport& line) {
  const std::string looks = report::looks_like(on, line);
  return fmt::format("{}-byte {} of global memory in {}: {} sectors instead of {}{}{}", line.width,
                     to_string(line.operation), kernel.name, line.costs.sectors, line.costs.ideal,
                     looks.empty() ? "" : ", ", looks);
}

/// A line that costs more than it must on an architecture.
struct CostlyLine {
  const KernelReport& kernel;
  const trace::Report& on;
  PlacedLine source;
  std::string message;
  const std::string* array;  ///< in shared memory; null: the line accesses global memory
};

std::vector<CostlyLine> costly_lines(const std::vector<KernelReport>& kernels) {
  std::vector<CostlyLine> costly;
  for (const KernelReport& kernel : kernels) {
    for (const trace::Report& on : kernel.reports) {
      for (const trace::LineReport& line : on.lines) {
        if (line.costs.conflicts > 0)
          costly.push_back({kernel, on, kernel.placed(line.site), message(kernel, line), &line.array});
      }
      for (const trace::GlobalLineReport& line : on.global_lines) {
        if (is_uncoalesced(line.costs))
          costly.push_back({kernel, on, kernel.placed(line.site), message(kernel, on, line), nullptr});
      }
    }
  }
  return costly;
}

ordered_json rule_of(std::string_view id, std::string_view name, std::string_view meaning, std::string_view more,
                     const char* level) {
  ordered_json rule{{"id", id}, {"name", name}, {"shortDescription", {{"text", meaning}}}};
  if (!more.empty()) rule["fullDescription"] = {{"text", more}};
  rule["defaultConfiguration"] = {{"level", level}};
  return rule;
}

ordered_json result_of(std::string_view rule, const char* level, const std::string& text, const SourcePlace& place) {
  return {{"ruleId", rule}, {"level", level}, {"message", {{"text", text}}}, {"locations", {location(place)}}};
}

/// Whether the program ran to its end, and what of it was not watched.
ordered_json invocation_of(const RunReport& report) {
  ordered_json invocation{{"executionSuccessful", !report.failed}};
  std::vector<std::string> sentences = report.incomplete;
  for (const KernelReport& kernel : report.kernels) {
    for (std::string& sentence : unknown_sentences(kernel)) sentences.push_back(std::move(sentence));
  }
  if (std::string remote = remote_sentence(report.kernels); !remote.empty()) sentences.push_back(std::move(remote));
  for (const std::string& sentence : sentences) {
    const bool is_failure = report.failed && !report.gaps.empty() && sentence == report.gaps.front();
    invocation["toolExecutionNotifications"].push_back(
        {{"level", is_failure ? "error" : "warning"}, {"message", {{"text", sentence}}}});
  }
  return invocation;
}

/// The rules of faults that were found, and a result for each diagnosis with a file.
void add_diagnoses(const std::vector<KernelReport>& kernels, ordered_json& rules, ordered_json& results) {
  std::map<trace::Fault, ordered_json> rules_of_faults;
  for (const KernelReport& kernel : kernels) {
    for (const trace::DiagnosisRecord& diagnosis : kernel.trace.diagnoses) {
      const PlacedLine source = kernel.placed(kernel.trace.sites.at(diagnosis.site));
      if (!source.is_file) continue;
      const trace::FaultRow& row = row_of(diagnosis.fault);
      const char* level = row.is_remark ? "note" : "error";
      rules_of_faults[diagnosis.fault] = rule_of(row.id, row.name, row.meaning, "", level);
      results.push_back(result_of(row.id, level, sentence_of(diagnosis) + ".", source.place));
    }
  }
  for (const auto& [fault, rule] : rules_of_faults) rules.push_back(rule);
}

/// The result of a place; architectures with the same numbers share a message.
struct LineResult {
  bool exceeded = false;
  std::map<std::string, std::string> architectures;  ///< by message
  ordered_json fixes = ordered_json::array();
};
using LineResults = std::map<SourcePlace, LineResult>;

void add_results(const LineResults& places, const char* rule, const char* level, ordered_json& results) {
  for (const auto& [place, result] : places) {
    std::string text;
    for (const auto& [message, names] : result.architectures) text += (text.empty() ? "" : "; ") + message + names;
    results.push_back(result_of(rule, result.exceeded ? "error" : level, text + ".", place));
    if (!result.fixes.empty()) results.back()["fixes"] = result.fixes;
  }
}

}  // namespace

std::string to_sarif(const RunReport& report, const std::set<std::string>& exceeded,
                     const std::vector<KernelFitReport>& fits) {
  const std::vector<KernelReport>& kernels = report.kernels;
  LineResults results, global_results;
  for (const CostlyLine& line : costly_lines(kernels)) {
    if (!line.source.is_file) continue;
    LineResult& result = (line.array == nullptr ? global_results : results)[line.source.place];
    result.exceeded |= exceeded.contains(line.kernel.name);
    std::string& names = result.architectures[line.message];
    names += (names.empty() ? " on " : ", ") + std::string(line.on.architecture->name);
    if (fits.empty() || line.array == nullptr) continue;
    const KernelFitReport& fit = fits[std::size_t(&line.kernel - kernels.data())];
    const ordered_json fix = fix_of(fit, *line.array, line.source.place.file);
    if (!fix.is_null() && std::ranges::find(result.fixes, fix) == result.fixes.end()) result.fixes.push_back(fix);
  }
  ordered_json list = ordered_json::array();
  add_results(results, "bank-conflict", "warning", list);
  add_results(global_results, "uncoalesced-access", "note", list);
  ordered_json rules = ordered_json::array({rule_of(
      "bank-conflict", "BankConflict",
      fmt::format("Lanes of one access to {} need different words of one bank.", terms_of(report.maker).memory),
      "The bank serves those words one after another. Padding the rows of the array, or an XOR swizzle of row "
      "and column, spreads them over the banks.",
      "warning")});
  if (!global_results.empty()) {
    rules.push_back(rule_of("uncoalesced-access", "UncoalescedAccess",
                            "An access moves more sectors of global memory than it must.",
                            "Global memory moves whole sectors, 32 bytes on NVIDIA's GPUs. Neighbouring lanes that "
                            "access neighbouring addresses use all bytes of few sectors.",
                            "note"));
  }
  add_diagnoses(kernels, rules, list);
  const ordered_json sarif{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       {{{"tool", {{"driver", {{"name", "bankcheck"}, {"version", support::revision()}, {"rules", rules}}}}},
         {"invocations", {invocation_of(report)}},
         {"columnKind", "unicodeCodePoints"},
         {"results", list}}}}};
  return sarif.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

std::size_t lines_without_file(const std::vector<KernelReport>& kernels) {
  std::size_t lines = 0;
  for (const CostlyLine& line : costly_lines(kernels)) lines += line.source.is_file ? 0 : 1;
  for (const KernelReport& kernel : kernels) {
    for (const trace::DiagnosisRecord& diagnosis : kernel.trace.diagnoses)
      lines += kernel.placed(kernel.trace.sites.at(diagnosis.site)).is_file ? 0 : 1;
  }
  return lines;
}

std::string write_sarif(const SinkInput& input) {
  std::set<std::string> exceeded;
  for (const KernelReport& kernel : input.report.kernels) {
    if (!input.exceeded({kernel}).empty()) exceeded.insert(kernel.name);
  }
  return to_sarif(input.report, exceeded, input.fits);
}

std::string remark_on_sarif(const SinkInput& input) {
  const auto lines = lines_without_file(input.report.kernels);
  if (lines == 0) return "";
  return fmt::format(
      "--sarif omits {} line{} with conflicts, extra sectors, faults or notes that {} in no file below {}, or in "
      "several; see --sources",
      lines, lines == 1 ? "" : "s", lines == 1 ? "is" : "are", input.sources);
}

}  // namespace bankwise::driver
