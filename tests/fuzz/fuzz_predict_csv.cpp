// The first byte selects the architecture, and whether a header (of 32 or 64 lanes) is prepended; the rest is the CSV.
// Both output formats are written, and must agree.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include <bankwise/support/csv.hpp>
#include "bankcheck/predict/predict.hpp"
#include "fuzz.hpp"

using namespace bankwise;
using namespace bankwise::predict;

namespace {

std::string header(unsigned lanes) {
  std::string text = "id,op,width,mask";
  for (unsigned lane = 0; lane < lanes; ++lane) text += ",a" + std::to_string(lane);
  return text + '\n';
}

/// The number of rows before line `end`: the lines that are not blank, minus the header.
std::size_t rows_before(const std::string& text, std::uint64_t end) {
  std::size_t rows = 0;
  std::uint64_t number = 1;
  for (std::size_t begin = 0; begin < text.size() && number < end; ++number) {
    const auto line_end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, line_end - begin);
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    rows += line.empty() || line == "\r" ? 0 : 1;
    begin = line_end + 1;
  }
  return rows == 0 ? 0 : rows - 1;
}

void check_csv(const std::string& out, std::size_t rows, bool has_choice) {
  fuzz::require(std::size_t(std::count(out.begin(), out.end(), '\n')) == rows + 1, "a line for each good row", out);
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    fuzz::require(support::split_csv(line, fields, unquoted), "the output is CSV", line);
    fuzz::require(fields.size() == (has_choice ? 6 : 4), "four fields, or six", line);
  }
}

void check_json(const std::string& out, std::size_t rows, const std::optional<BadRow>& bad) {
  const auto json = nlohmann::json::parse(out, nullptr, false);
  fuzz::require(!json.is_discarded(), "the output is JSON", out);
  fuzz::require(json["results"].size() == rows, "a result for each good row", out);
  for (const auto& result : json["results"]) {
    const unsigned passes = result["passes"], ideal = result["ideal"];
    fuzz::require(passes >= ideal, "passes are at least ideal", result.dump());
    fuzz::require(!result.contains("passes_max") || result["passes_max"] >= passes,
                  "the worst case is not below the best case");
  }
  fuzz::require(json.contains("error") == bad.has_value(), "a bad row is in the output", out);
  if (bad) fuzz::require(json["error"]["line"] == bad->line, "the error has its line number", out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const unsigned choice = bytes.next();
  const auto& architecture = fuzz::architecture(choice);
  constexpr unsigned lanes[]{0, 32, 64};
  const unsigned ready = lanes[choice / banks::architectures().size() % 3];
  const std::string text = (ready == 0 ? "" : header(ready)) + bytes.rest();

  std::istringstream once(text), twice(text);
  std::ostringstream csv, json;
  const auto bad = predict_csv(architecture, once, csv, CostFormat::csv);
  const auto same = predict_csv(architecture, twice, json, CostFormat::json);
  fuzz::require(bad.has_value() == same.has_value(), "both formats end the same way");
  if (bad) {
    fuzz::require(bad->line == same->line && bad->sentence == same->sentence, "both formats report the same");
    fuzz::require(fuzz::is_sentence(bad->sentence), "one sentence", bad->sentence);
  }
  const std::size_t rows = rows_before(text, bad ? bad->line : UINT64_MAX);
  check_csv(csv.str(), rows, architecture.name == "sm_13");
  check_json(json.str(), rows, bad);
  return 0;
}
