// SPDX-License-Identifier: MIT
#include <bankwise/report/json.hpp>
#include <bankwise/report/rank_report.hpp>
#include <bankwise/support/revision.hpp>

namespace bankwise {
namespace {

Json json_of(const RankResult& result) {
  Json row{{"variant", result.variant},           {"alone", result.alone.empty() ? Json(nullptr) : Json(result.alone)},
           {"status", to_string(result.status)},  {"reason", result.reason},
           {"memory_bytes", result.memory_bytes}, {"link_bytes", result.link_bytes}};
  row.update(json_of(result.timing));
  row.update({{"floor_s", or_null(result.floor_s)},
              {"of_floor", or_null(result.of_floor)},
              {"weak_scaling", or_null(result.weak)},
              {"exchanges_s", or_null(result.exchanges_s)},
              {"launches_s", or_null(result.launches_s)},
              {"exchange_share", or_null(result.exchanging)}});
  return row;
}

}  // namespace

std::string rank_json_report(const RankReport& report) {
  Json ranks = Json::array(), results = Json::array();
  for (const RankInfo& rank : report.ranks) {
    ranks.push_back({{"host", rank.host}, {"device", rank.device}, {"input_words", rank.input_words}});
  }
  for (const RankResult& result : report.results) results.push_back(json_of(result));
  Json document{
      {"schema_version", 1}, {"case", report.study->name}, {"command", report.command}, {"revision", revision()}};
  for (const Side& side : report.study->sides) document[std::string(side.name)] = report.extent.*side.length;
  document.update({{"api", to_string(report.device.api)},
                   {"cache", to_string(report.cache)},
                   {"engine", report.engine},
                   {"mpi", report.mpi},
                   {"topology", report.topology},
                   {"ranks", ranks},
                   {"results", results}});
  return text_of(document);
}

}  // namespace bankwise
