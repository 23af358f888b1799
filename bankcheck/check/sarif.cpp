// SPDX-License-Identifier: MIT
#include "bankcheck/check/sarif.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include <bankwise/support/revision.hpp>
#include <bankwise/trace/diagnosis_text.hpp>

namespace bankwise::opencl {
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

ordered_json location(const Place& place) {
  ordered_json region{{"startLine", place.line}};
  if (place.column > 0) region["startColumn"] = place.column;
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", uri(place.file)}, {"uriBaseId", "%SRCROOT%"}}}, {"region", region}}}};
}

/// Calls `visit(kernel, report, line, source)` for each line with conflicts.
template <class Visit>
void for_each_conflict(const std::vector<KernelReport>& kernels, Visit visit) {
  for (const KernelReport& kernel : kernels) {
    for (std::size_t i = 0; i < kernel.reports.size(); ++i) {
      const trace::Report& report = kernel.reports[i];
      for (std::size_t j = 0; j < report.lines.size(); ++j) {
        if (report.lines[j].costs.conflicts > 0) visit(kernel, report, report.lines[j], kernel.lines[i][j]);
      }
    }
  }
}

/// The rules of faults that were found, and a result for each diagnosis with a file.
void add_diagnoses(const std::vector<KernelReport>& kernels, ordered_json& rules, ordered_json& results) {
  std::set<trace::Fault> found;
  for (const KernelReport& kernel : kernels) {
    for (std::size_t i = 0; i < kernel.trace.diagnoses.size(); ++i) {
      const trace::Diagnosis& diagnosis = kernel.trace.diagnoses[i];
      const SourceLine& source = kernel.diagnoses.at(i);
      if (!source.is_file) continue;
      found.insert(diagnosis.fault);
      const trace::FaultRow& row = row_of(diagnosis.fault);
      results.push_back({{"ruleId", row.id},
                         {"level", row.is_remark ? "note" : "error"},
                         {"message", {{"text", sentence_of(diagnosis) + "."}}},
                         {"locations", {location(source.place)}}});
    }
  }
  for (const trace::Fault fault : found) {
    const trace::FaultRow& row = trace::row_of(fault);
    rules.push_back({{"id", row.id},
                     {"name", row.name},
                     {"shortDescription", {{"text", row.meaning}}},
                     {"defaultConfiguration", {{"level", row.is_remark ? "note" : "error"}}}});
  }
}

}  // namespace

std::string to_sarif(const std::vector<KernelReport>& kernels, const std::set<std::string>& exceeded) {
  // One result per place; architectures with the same numbers share a message.
  struct Result {
    bool exceeded = false;
    std::map<std::string, std::string> architectures;  // by message
  };
  std::map<Place, Result> results;
  for_each_conflict(kernels, [&](auto& kernel, auto& report, auto& line, auto& source) {
    if (!source.is_file) return;
    Result& result = results[source.place];
    result.exceeded |= exceeded.contains(kernel.name);
    std::string& names = result.architectures[message(kernel, line)];
    names += (names.empty() ? " on " : ", ") + std::string(report.architecture->name);
  });
  ordered_json list = ordered_json::array();
  for (const auto& [place, result] : results) {
    std::string text;
    for (const auto& [message, names] : result.architectures) text += (text.empty() ? "" : "; ") + message + names;
    list.push_back({{"ruleId", "bank-conflict"},
                    {"level", result.exceeded ? "error" : "warning"},
                    {"message", {{"text", text + "."}}},
                    {"locations", {location(place)}}});
  }
  const ordered_json rule{
      {"id", "bank-conflict"},
      {"name", "BankConflict"},
      {"shortDescription", {{"text", "Lanes of one access to local memory need different words of one bank."}}},
      {"fullDescription",
       {{"text",
         "The bank serves those words one after another. Padding the rows of the array, or an XOR swizzle of row and "
         "column, spreads them over the banks."}}},
      {"defaultConfiguration", {{"level", "warning"}}}};
  ordered_json rules = ordered_json::array({rule});
  add_diagnoses(kernels, rules, list);
  const ordered_json sarif{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       {{{"tool", {{"driver", {{"name", "bankcheck"}, {"version", revision()}, {"rules", rules}}}}},
         {"columnKind", "unicodeCodePoints"},
         {"results", list}}}}};
  return sarif.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

std::size_t lines_without_file(const std::vector<KernelReport>& kernels) {
  std::size_t lines = 0;
  for_each_conflict(kernels, [&](auto&, auto&, auto&, auto& source) { lines += source.is_file ? 0 : 1; });
  for (const KernelReport& kernel : kernels) {
    for (const SourceLine& source : kernel.diagnoses) lines += source.is_file ? 0 : 1;
  }
  return lines;
}

}  // namespace bankwise::opencl
