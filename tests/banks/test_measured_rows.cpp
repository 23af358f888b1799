// SPDX-License-Identifier: MIT
//
// The model's cost of every access measured on an H200 equals the hardware counters, without exception.
#include <fstream>
#include <sstream>

#include "tests/bank_patterns.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

struct MeasuredRow {
  std::string id;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 0, passes = 0, conflicts = 0;
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses;
};

MeasuredRow parse(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  if (fields.size() != 4 + 32 + 2) throw std::runtime_error("not a row: " + line);
  const auto number = [&](std::size_t field) { return std::stoull(fields[field], nullptr, 0); };
  MeasuredRow row{fields[0],
                  banks::operation_named(fields[1]).value(),
                  unsigned(number(2)),
                  unsigned(number(36)),
                  unsigned(number(37)),
                  number(3),
                  {}};
  for (std::size_t lane = 0; lane < 32; ++lane) row.addresses.push_back(std::uint32_t(number(4 + lane)));
  return row;
}

std::vector<MeasuredRow> measured_rows() {
  std::ifstream file(SOURCE_DIRECTORY "/tests/data/h200_wavefronts.csv");
  std::vector<MeasuredRow> rows;
  std::string line;
  std::getline(file, line);  // the columns' names
  while (std::getline(file, line)) rows.push_back(parse(line));
  return rows;
}

/// Empty if the model agrees.
std::string difference(const banks::Architecture& architecture, const MeasuredRow& row) {
  const banks::Access access{row.operation, row.width, row.mask, row.addresses};
  const auto outcome = banks::cost(architecture, access);
  std::ostringstream text;
  if (const auto* refusal = std::get_if<banks::Refusal>(&outcome)) {
    text << "row " << row.id << ": " << sentence(architecture, access, *refusal) << '\n';
    return text.str();
  }
  const auto& cost = std::get<banks::Cost>(outcome);
  if (cost.passes == row.passes && cost.conflicts == row.conflicts) return {};
  text << "row " << row.id << ": measured " << row.passes << " passes, " << row.conflicts << " conflicts; model "
       << cost.passes << ", " << cost.conflicts << '\n';
  return text.str();
}

}  // namespace

TEST_CASE("banks/measured_rows/sm_90") {
  const auto rows = measured_rows();
  REQUIRE(rows.size() == 2480);
  const banks::Architecture* architecture = banks::find_architecture("sm_90");
  REQUIRE(architecture != nullptr);
  unsigned wrong = 0;
  std::string first_few;
  for (const MeasuredRow& row : rows) {
    const std::string text = difference(*architecture, row);
    if (!text.empty() && ++wrong <= 5) first_few += text;
  }
  INFO(first_few);
  CHECK(wrong == 0);
}

TEST_CASE("banks/measured_rows/others_disagree") {
  // The negative control of the test above: it distinguishes architectures.
  for (const char* name : {"sm_13", "sm_20", "sm_30", "gfx942", "gfx1100", "intel_xe"}) {
    const banks::Architecture* architecture = banks::find_architecture(name);
    INFO(name);
    REQUIRE(architecture != nullptr);
    unsigned wrong = 0;
    for (const MeasuredRow& row : measured_rows()) wrong += difference(*architecture, row).empty() ? 0 : 1;
    CHECK(wrong > 100);
  }
}
