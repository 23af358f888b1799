// The functions that docs/explorer calls, compiled to WebAssembly: the page asks in JSON and gets JSON. It imports
// nothing that reads or writes, and has no other state than the two texts.
//
//   question  {"architecture", "operation", "width", "mask"?} with "index" and, if there are any, "declaration",
//             "block" and "variables", or with "addresses", a byte offset for each lane, and "sources" for copies; with
//             "space": "global", an access to global memory; with "fit", what bankcheck fit proposes; or {} for the
//             list of architectures and operations
//   answer    what `bankcheck predict --json` prints, with "page", an object of what only the page shows; or
//             {"error": one sentence, "field"}
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>
#include "bankcheck/explorer/typed_access.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::explorer {
namespace {

using nlohmann::ordered_json;

std::string question, answer;

predict::Space space_of(const ordered_json& asked) {
  return asked.value("space", "") == "global" ? predict::Space::global : predict::Space::shared;
}

/// The access that a question gives by addresses; `sources` keeps those of a copy.
predict::Prediction predict_addresses(const banks::Architecture& architecture, banks::Operation operation,
                                      unsigned width, std::uint64_t mask, const ordered_json& asked) {
  predict::Prediction result{&architecture, "", operation, width, mask, asked.at("addresses"), {}};
  if (result.addresses.size() > banks::max_lanes) throw support::UsageError("there are more than 64 addresses");
  const std::vector<std::uint32_t> sources = asked.value("sources", std::vector<std::uint32_t>());
  find_cost(result, space_of(asked), sources);
  return result;
}

ordered_json pictures_of(const predict::Prediction& prediction) {
  const predict::BankPicture banks = predict::picture(*prediction.architecture, prediction.access(), prediction.cost);
  ordered_json pictures = ordered_json::array();
  for (const predict::LaneGroupPicture& lane_group : banks.lane_groups) {
    ordered_json rows = ordered_json::array();
    for (std::size_t turn = 0; turn < lane_group.turns.size(); ++turn) {
      rows.push_back({{"label", pass_label(lane_group, turn)}, {"lanes", lane_group.turns[turn]}});
    }
    ordered_json collisions = ordered_json::array();
    for (unsigned bank = 0; bank < banks.banks && !lane_group.turns.empty(); ++bank) {
      if (collides(lane_group, bank)) collisions.push_back(bank);
    }
    pictures.push_back({{"title", lane_group.title}, {"banks", banks.banks}, {"collides", collisions}, {"rows", rows}});
  }
  return pictures;
}

/// Rows of four sectors, each with the lanes that touch it.
ordered_json sectors_of(const predict::Prediction& prediction) {
  ordered_json rows = ordered_json::array();
  for (const predict::SectorRow& row : predict::sector_rows(*prediction.architecture, prediction.access())) {
    ordered_json lanes = ordered_json::array();
    for (const std::uint64_t mask : row.lanes) {
      lanes.push_back(ordered_json::array());
      banks::for_each_lane(mask, [&](unsigned lane) { lanes.back().push_back(lane); });
    }
    rows.push_back({{"first_byte", row.first_byte}, {"bytes", row.bytes}, {"lanes", lanes}});
  }
  return rows;
}

ordered_json selectable_names() {
  ordered_json names{{"architectures", ordered_json::array()}, {"operations", ordered_json::array()}};
  for (const banks::Architecture& architecture : banks::architectures()) {
    names["architectures"].push_back(
        {{"name", architecture.name}, {"gpus", architecture.gpus}, {"warp", architecture.warp}});
  }
  for (int i = 0; i < banks::operation_count; ++i) names["operations"].push_back(to_string(banks::Operation(i)));
  return names;
}

/// The array as a table of elements, each with its byte offset: the rows that lanes access, and those around them. A
/// program's own table if it is not too wide, otherwise memory as the banks see it, in rows of all banks.
ordered_json table_of(const predict::Prediction& prediction, const TypedAccess* typed) {
  constexpr std::uint64_t max_rows = 64, max_columns = 72;
  const banks::Rule& rule = *banks::find_rule(*prediction.architecture, prediction.operation, prediction.width);
  std::uint64_t columns = rule.banks.count, rows = ~std::uint64_t{0}, element = rule.banks.bytes;
  const predict::CuteLayout* layout = nullptr;
  if (typed != nullptr && typed->is_declared()) {
    const auto& lengths = typed->layout ? typed->layout->sizes() : typed->lengths;
    const bool by_modes = typed->layout.has_value();  // a row for each element of the first mode
    std::uint64_t all = 1;
    for (const std::uint64_t length : lengths) all *= length;
    const std::uint64_t wide = by_modes ? all / lengths.front() : lengths.back();
    if (lengths.size() > 1 && wide <= max_columns) {
      columns = wide;
      rows = all / wide;
      element = typed->element;
      layout = by_modes ? &*typed->layout : nullptr;
    }
  }
  std::vector<std::uint64_t> shown;
  const std::uint64_t row_bytes = columns * element;
  banks::for_each_lane(prediction.mask, [&](unsigned lane) {
    for (std::uint64_t byte = 0; byte < prediction.width && layout == nullptr; byte += element) {
      shown.push_back((prediction.addresses[lane] + byte) / row_bytes);
    }
  });
  if (rows <= max_rows) {
    shown.clear();
    for (std::uint64_t row = 0; row < rows; ++row) shown.push_back(row);
  }
  std::sort(shown.begin(), shown.end());
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  if (shown.size() > max_rows) shown.resize(max_rows);
  ordered_json offsets = ordered_json::array();
  for (const std::uint64_t row : shown) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      const std::uint64_t number = layout == nullptr ? row * columns + column : row + column * rows;
      offsets.push_back((layout == nullptr ? number : (*layout)({&number, 1})) * element);
    }
  }
  const bool is_array = rows != ~std::uint64_t{0};
  return {{"is_array", is_array},           {"columns", columns},        {"rows", shown},     {"bytes", element},
          {"bank_bytes", rule.banks.bytes}, {"banks", rule.banks.count}, {"offsets", offsets}};
}

TypedCode code_of(const ordered_json& asked) {
  TypedCode code{asked.at("index"), asked.value("declaration", ""), {}, {}};
  code.block = asked.value("block", TypedCode{}.block);
  for (const unsigned size : code.block) {
    if (size < 1 || size > 1024) throw FieldError("block", "a block has 1 to 1,024 threads in each dimension");
  }
  const auto [x, y, z] = code.block;
  if (const std::uint64_t threads = std::uint64_t{x} * y * z; threads > 1024)
    throw FieldError("block",
                     fmt::format("a block has at most 1,024 threads, and this one {}", support::grouped(threads)));
  code.variables = asked.value("variables", code.variables);
  return code;
}

ordered_json answer_to(const ordered_json& asked) {
  if (asked.empty()) return selectable_names();
  const std::string name = asked.at("architecture");
  const banks::Architecture* architecture = banks::find_architecture(name);
  const auto operation = banks::operation_named(asked.at("operation").get<std::string>());
  if (architecture == nullptr || !operation) throw support::UsageError("there is no such architecture or operation");
  unsigned width = asked.at("width");
  const std::uint64_t whole_warp = ~std::uint64_t{0} >> (banks::max_lanes - architecture->warp);
  const std::string mask_text = asked.value("mask", "");
  std::uint64_t mask = mask_text.empty() ? whole_warp : std::stoull(mask_text, nullptr, 16);
  std::optional<TypedAccess> typed;
  TypedCode code;
  predict::Prediction prediction;
  if (asked.contains("addresses")) {
    prediction = predict_addresses(*architecture, *operation, width, mask, asked);
  } else {
    code = code_of(asked);
    typed = typed_access(code, width, mask);
    prediction = {architecture, code.index, *operation, typed->width, typed->mask, typed->addresses, {}};
    find_cost(prediction, space_of(asked));
  }
  if (asked.contains("fit") && !prediction.sectors) return fix_of(prediction, typed ? &*typed : nullptr, code);
  ordered_json json = ordered_json::parse(json_of(prediction));
  json["page"] = {{"addresses", prediction.addresses}};
  if (prediction.sectors) {
    json["page"]["pictures"] = ordered_json::array();
    json["page"]["sectors"] = sectors_of(prediction);
  } else {
    json["page"]["pictures"] = pictures_of(prediction);
    json["page"]["table"] = table_of(prediction, typed ? &*typed : nullptr);
  }
  if (typed) {
    json["page"].update({{"name", typed->name},
                         {"type", typed->type},
                         {"values", typed->values},
                         {"lane_name", typed->lane_name},
                         {"lane_is_element", typed->lane_is_element},
                         {"outside", typed->outside},
                         {"block_hint", typed->block_hint}});
  }
  if (asked.contains("svg") && !prediction.sectors) json["page"]["svg"] = svg_of(prediction);
  return json;
}

std::string error_text(const std::string& sentence, const std::string& field = "") {
  return ordered_json{{"error", sentence}, {"field", field}}.dump(-1, ' ', false,
                                                                  ordered_json::error_handler_t::replace);
}

}  // namespace
}  // namespace bankwise::explorer

extern "C" {

/// Room for a question of this many bytes, which the page writes there.
__attribute__((export_name("room_for"))) char* room_for(unsigned bytes) {
  bankwise::explorer::question.resize(bytes);
  return bankwise::explorer::question.data();
}

/// The answer to that question: bytes that end with a 0.
__attribute__((export_name("ask"))) const char* ask() {
  using bankwise::explorer::answer, bankwise::explorer::question;
  try {
    using Json = nlohmann::ordered_json;
    answer = bankwise::explorer::answer_to(Json::parse(question)).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const bankwise::explorer::FieldError& error) {
    answer = bankwise::explorer::error_text(error.what(), error.field);
  } catch (const bankwise::support::UsageError& error) {
    answer = bankwise::explorer::error_text(error.what());
  } catch (const std::exception& error) {
    answer = bankwise::explorer::error_text(fmt::format("the question cannot be read: {}", error.what()));
  }
  return answer.c_str();
}
}
