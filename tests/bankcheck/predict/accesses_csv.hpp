// Accesses as CSV, and checks of the results of predict_csv().
#pragma once

#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include "bankcheck/predict/predict.hpp"
#include "tests/catch_any.hpp"

inline std::string csv_header(unsigned lanes = 32) {
  std::string text = "id,op,width,mask";
  for (unsigned lane = 0; lane < lanes; ++lane) text += ",a" + std::to_string(lane);
  return text + "\n";
}

/// A row in which lane l has `address(l)`.
inline std::string csv_row(const std::string& start, const std::function<std::string(unsigned)>& address,
                           unsigned lanes = 32) {
  std::string text = start;
  for (unsigned lane = 0; lane < lanes; ++lane) text += "," + address(lane);
  return text + "\n";
}

/// The same with a stride of `stride` bytes between lanes.
inline std::string csv_row(const std::string& start, unsigned stride, unsigned lanes = 32) {
  return csv_row(
      start, [&](unsigned lane) { return std::to_string(stride * lane); }, lanes);
}

struct Predicted {
  std::optional<bankwise::predict::BadRow> bad;
  std::string out;
};

inline Predicted predict_rows(const std::string& csv, const char* architecture = "sm_90",
                              bankwise::predict::CostFormat format = bankwise::predict::CostFormat::csv) {
  const auto* rules = bankwise::banks::find_architecture(architecture);
  REQUIRE(rules != nullptr);
  std::istringstream in(csv);
  std::ostringstream out;
  const auto bad = bankwise::predict::predict_csv(*rules, in, out, format);
  return {bad, out.str()};
}

/// Checks that all rows are good: the output is this, after the header line.
inline void check_rows(const std::string& csv, const std::string& rows, const char* architecture = "sm_90") {
  const Predicted predicted = predict_rows(csv, architecture);
  INFO(csv.substr(0, 200));
  INFO((predicted.bad ? predicted.bad->sentence : "no bad row"));
  CHECK_FALSE(predicted.bad.has_value());
  CHECK(predicted.out == "id,passes,ideal,conflicts\n" + rows);
}

/// Checks that this line is a bad row, with an error message that contains these words, after these rows.
inline void check_bad(const std::string& csv, std::uint64_t line, const std::string& words,
                      const std::string& rows = "") {
  const Predicted predicted = predict_rows(csv);
  INFO(csv.substr(0, 200));
  REQUIRE(predicted.bad.has_value());
  const auto& bad = *predicted.bad;
  INFO(bad.sentence);
  CHECK(bad.line == line);
  CHECK_THAT(bad.sentence, has(words));
  CHECK_THAT(bad.sentence, !has("\n"));
  CHECK(predicted.out == "id,passes,ideal,conflicts\n" + rows);
}
