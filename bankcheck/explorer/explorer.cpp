// The functions that docs/explorer calls, compiled to WebAssembly: the page asks in JSON and gets JSON. It imports
// nothing that reads or writes, and has no other state than the two texts.
//
//   question  {"architecture", "operation", "width", "mask"?} with "index", an IndexExpression, or with "addresses", a
//             byte offset for each lane, and "sources" for copies; or {} for the list of architectures and operations
//   answer    what `bankcheck predict --json` prints, with "addresses" and "pictures"; or {"error": one sentence}
#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/predict/predict.hpp"

namespace bankwise::explorer {
namespace {

using nlohmann::ordered_json;

std::string question, answer;

/// The access that a question gives by addresses; `sources` keeps those of a copy.
predict::Prediction predict_addresses(const banks::Architecture& architecture, banks::Operation operation,
                                      unsigned width, std::uint64_t mask, const ordered_json& asked) {
  predict::Prediction result{&architecture, "", operation, width, mask, asked.at("addresses"), {}};
  if (result.addresses.size() > banks::max_lanes) throw support::UsageError("there are more than 64 addresses");
  const std::vector<std::uint32_t> sources = asked.value("sources", std::vector<std::uint32_t>());
  result.cost = predict::cost_or_refuse(architecture, {operation, width, mask, result.addresses, sources});
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

ordered_json selectable_names() {
  ordered_json names{{"architectures", ordered_json::array()}, {"operations", ordered_json::array()}};
  for (const banks::Architecture& architecture : banks::architectures()) {
    names["architectures"].push_back(
        {{"name", architecture.name}, {"gpus", architecture.gpus}, {"warp", architecture.warp}});
  }
  for (int i = 0; i < banks::operation_count; ++i) names["operations"].push_back(to_string(banks::Operation(i)));
  return names;
}

ordered_json answer_to(const ordered_json& asked) {
  if (asked.empty()) return selectable_names();
  const std::string name = asked.at("architecture");
  const banks::Architecture* architecture = banks::find_architecture(name);
  const auto operation = banks::operation_named(asked.at("operation").get<std::string>());
  if (architecture == nullptr || !operation) throw support::UsageError("there is no such architecture or operation");
  const unsigned width = asked.at("width");
  const std::uint64_t whole_warp = ~std::uint64_t{0} >> (banks::max_lanes - architecture->warp);
  const std::string mask_text = asked.value("mask", "");
  const std::uint64_t mask = mask_text.empty() ? whole_warp : std::stoull(mask_text, nullptr, 16);
  const predict::Prediction prediction =
      asked.contains("addresses") ? predict_addresses(*architecture, *operation, width, mask, asked)
                                  : predict::predict_index(*architecture, *operation, width, mask, asked.at("index"));
  ordered_json json = ordered_json::parse(json_of(prediction));
  json["addresses"] = prediction.addresses;
  json["pictures"] = pictures_of(prediction);
  return json;
}

std::string error_text(const std::string& sentence) {
  return ordered_json{{"error", sentence}}.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
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
    answer = bankwise::explorer::answer_to(nlohmann::ordered_json::parse(question)).dump();
  } catch (const bankwise::support::UsageError& error) {
    answer = bankwise::explorer::error_text(error.what());
  } catch (const std::exception& error) {
    answer = bankwise::explorer::error_text(fmt::format("the question cannot be read: {}", error.what()));
  }
  return answer.c_str();
}
}
