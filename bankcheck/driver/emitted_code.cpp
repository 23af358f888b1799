#include "bankcheck/driver/kernel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace bankwise::driver {
namespace {

using banks::Operation;

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// What the widths say. A line without instructions was dropped or merged into another line.
AgreeingCount column_of(const trace::LineReport& line, const EmittedEvidence& evidence) {
  if (line.costs == line.merged) return AgreeingCount::both;
  const bool is_gone = line.merged.accesses == 0;
  if (evidence.opcodes.empty()) return is_gone ? AgreeingCount::merged : AgreeingCount::neither;
  if (is_gone) return AgreeingCount::source;
  unsigned widest = 0;
  for (const auto& [opcode, count] : evidence.opcodes) widest = std::max(widest, width_of_opcode(opcode));
  const unsigned widest_merged = std::max(line.width, line.widest);
  if (widest == line.width) return widest_merged == line.width ? AgreeingCount::both : AgreeingCount::source;
  return widest == widest_merged ? AgreeingCount::merged : AgreeingCount::neither;
}

}  // namespace

std::string_view to_string(AgreeingCount column) {
  constexpr std::string_view names[]{"source", "merged", "both", "neither"};
  return names[int(column)];
}

unsigned width_of_opcode(std::string_view opcode) {
  constexpr std::pair<std::string_view, unsigned> widths[]{{".128", 16}, {".64", 8}, {"16", 2}, {"8", 1}};
  for (const auto& [ending, width] : widths) {
    if (opcode.ends_with(ending)) return width;
  }
  return 4;
}

std::optional<EmittedEvidence> evidence_for(const trace::LineReport& line, const std::vector<EmittedLine>& emitted) {
  if (line.operation != Operation::load && line.operation != Operation::store) return std::nullopt;
  const std::string_view kind = line.operation == Operation::load ? "LDS" : "STS";
  const std::string name = name_of(line.site.file);
  EmittedEvidence evidence;
  bool has_file = false;
  for (const EmittedLine& emitted_line : emitted) {
    if (name_of(emitted_line.file) != name) continue;
    has_file = true;
    if (emitted_line.line != line.site.line) continue;
    for (const auto& [opcode, count] : emitted_line.opcodes) {
      if (opcode.substr(0, opcode.find('.')) == kind) evidence.opcodes[opcode] += count;
    }
  }
  if (!has_file) return std::nullopt;
  evidence.column = column_of(line, evidence);
  return evidence;
}

std::string to_text(const EmittedEvidence& evidence) {
  std::string text;
  for (const auto& [opcode, count] : evidence.opcodes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, opcode);
  }
  return fmt::format("{}: {}", text.empty() ? "no instruction" : text, to_string(evidence.column));
}

}  // namespace bankwise::driver
