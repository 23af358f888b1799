#include "bankcheck/driver/sinks.hpp"

#include <nlohmann/json.hpp>

#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"

using namespace bankwise;
using namespace bankwise::driver;
using nlohmann::json;

namespace {

/// A kernel whose lines are all loads of `tile` with 62 conflicts, or with none.
KernelReport kernel_at(const std::string& name, const std::vector<PlacedLine>& places, bool conflicts = true) {
  KernelReport kernel{
      .name = name, .trace = {.kernel = name}, .reports = {{.architecture = banks::find_architecture("sm_90")}}};
  for (const PlacedLine& source : places) {
    kernel.places[source.place] = source;
    trace::LineReport line{.site = {source.place.file, source.place.line, source.place.column},
                           .array = "tile",
                           .costs = {2, 64, 64, 2, 62, 0}};
    if (!conflicts) line.costs = {2, 64, 2, 2, 0, 0};
    kernel.reports[0].lines.push_back(line);
  }
  return kernel;
}

PlacedLine at(const std::string& file, unsigned line, unsigned column = 7) {
  return {{file, line, column}, "text", true};
}

json sarif(const std::vector<KernelReport>& kernels, const std::set<std::string>& exceeded = {}) {
  return json::parse(to_sarif({.kernels = kernels}, exceeded));
}

json results(const std::vector<KernelReport>& kernels, const std::set<std::string>& exceeded = {}) {
  return sarif(kernels, exceeded).at("runs").at(0).at("results");
}

std::string uri_of(const std::string& file) {
  const json results_of_line = results({kernel_at("k", {at(file, 1)})});
  return results_of_line.at(0).at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri");
}

/// The properties that SARIF 2.1.0 requires of a log, a tool, a rule and a result (sections 3.13, 3.14, 3.18, 3.19,
/// 3.27, 3.30, 3.49).
void check_shape(const json& log) {
  REQUIRE(log.is_object());
  CHECK(log.at("version") == "2.1.0");
  CHECK_THAT(log.at("$schema").get<std::string>(), has("sarif-2.1.0"));
  REQUIRE(log.at("runs").is_array());
  REQUIRE(log["runs"].size() == 1);
  const json& run = log["runs"][0];
  const json& driver = run.at("tool").at("driver");
  CHECK(driver.at("name").is_string());
  CHECK(driver.at("version").is_string());
  REQUIRE(driver.at("rules").is_array());
  REQUIRE(driver["rules"].size() == 1);
  const json& rule = driver["rules"][0];
  CHECK(rule.at("id").is_string());
  CHECK(rule.at("shortDescription").at("text").is_string());
  CHECK(rule.at("fullDescription").at("text").is_string());
  REQUIRE(run.at("results").is_array());
  for (const json& result : run["results"]) {
    CHECK(result.at("ruleId") == rule["id"]);
    CHECK((result.at("level") == "error" || result.at("level") == "warning"));
    CHECK_FALSE(result.at("message").at("text").get<std::string>().empty());
    REQUIRE(result.at("locations").is_array());
    REQUIRE(result["locations"].size() == 1);
    const json& place = result["locations"][0].at("physicalLocation");
    CHECK(place.at("region").at("startLine").get<unsigned>() >= 1);
    if (place["region"].contains("startColumn")) CHECK(place["region"]["startColumn"].get<unsigned>() >= 1);
    CHECK(place.at("artifactLocation").at("uriBaseId") == "%SRCROOT%");
    const std::string uri = place["artifactLocation"].at("uri");
    CHECK_FALSE(uri.empty());
    for (const char c : uri) {
      INFO(uri);
      CHECK(
          (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string("-._~/+@,=%").find(c) != std::string::npos));
    }
  }
}

}  // namespace

TEST_CASE("driver/sarif/no_results") {
  check_shape(sarif({}));
  CHECK(results({}).empty());
  CHECK(results({kernel_at("k", {at("k.cl", 3)}, false)}).empty());
  CHECK(to_sarif({}, {}).back() == '\n');
}

TEST_CASE("driver/sarif/invocations") {
  CHECK(sarif({}).at("runs")[0].at("invocations") == json::parse(R"([{"executionSuccessful": true}])"));
  RunReport report{.kernels = {kernel_at("k", {at("k.cl", 3)})},
                   .maker = trace::Maker::cuda,
                   .incomplete = {"it crashed", "1 of 2 blocks of k were not watched"},
                   .gaps = {"it crashed"},
                   .failed = true};
  const json run = json::parse(to_sarif(report, {})).at("runs")[0];
  CHECK(run.at("invocations") == json::parse(R"([{"executionSuccessful": false, "toolExecutionNotifications": [
      {"level": "error", "message": {"text": "it crashed"}},
      {"level": "warning", "message": {"text": "1 of 2 blocks of k were not watched"}}]}])"));
  CHECK(run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] ==
        "Lanes of one access to shared memory need different words of one bank.");
}

TEST_CASE("driver/sarif/results_of_lines") {
  const std::vector<KernelReport> kernels{kernel_at("k", {at("src/k.cl", 12, 5), at("src/k.cl", 3)})};
  check_shape(sarif(kernels));
  const json sarif_results = results(kernels);
  REQUIRE(sarif_results.size() == 2);
  const json& place = sarif_results[1]["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "src/k.cl");
  CHECK(place["region"] == json{{"startLine", 12}, {"startColumn", 5}});
  CHECK(sarif_results[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 3);
  CHECK(sarif_results[0]["message"]["text"] == "4-byte load of tile in k: 64 passes instead of 2 on sm_90.");
  const json no_column = results({kernel_at("k", {at("k.cl", 3, 0)})});
  CHECK(no_column[0]["locations"][0]["physicalLocation"]["region"] == json{{"startLine", 3}});
}

TEST_CASE("driver/sarif/errors_and_warnings") {
  const std::vector<KernelReport> kernels{kernel_at("bad", {at("k.cl", 3)}), kernel_at("fair", {at("k.cl", 9)})};
  const json sarif_results = results(kernels, {"bad"});
  REQUIRE(sarif_results.size() == 2);
  CHECK(sarif_results[0]["level"] == "error");
  CHECK(sarif_results[1]["level"] == "warning");
  CHECK(results(kernels)[0]["level"] == "warning");
  check_shape(sarif(kernels, {"bad", "fair"}));
}

TEST_CASE("driver/sarif/shared_place") {
  KernelReport kernel = kernel_at("k", {at("k.cl", 3), at("k.cl", 3)});
  kernel.reports[0].lines[1].operation = banks::Operation::store;
  kernel.reports.push_back(kernel.reports[0]);
  kernel.reports[1].architecture = banks::find_architecture("gfx942");
  kernel.reports[1].lines[1].costs.passes = 40;
  const json sarif_results = results({kernel, kernel_at("other", {at("k.cl", 3)})}, {"k"});
  REQUIRE(sarif_results.size() == 1);
  CHECK(sarif_results[0]["level"] == "error");
  CHECK(sarif_results[0]["message"]["text"] ==
        "4-byte load of tile in k: 64 passes instead of 2 on sm_90, gfx942; "
        "4-byte load of tile in other: 64 passes instead of 2 on sm_90; "
        "4-byte store of tile in k: 40 passes instead of 2 on gfx942; "
        "4-byte store of tile in k: 64 passes instead of 2 on sm_90.");
}

TEST_CASE("driver/sarif/uris") {
  CHECK(uri_of("src/a-b_c.1~/k.cl") == "src/a-b_c.1~/k.cl");
  CHECK(uri_of("my kernels/k.cl") == "my%20kernels/k.cl");
  CHECK(uri_of("caf\xC3\xA9.cl") == "caf%C3%A9.cl");
  CHECK(uri_of("100%.cl") == "100%25.cl");
  CHECK(uri_of("a#b?c:d\\e\"f[g].cl") == "a%23b%3Fc%3Ad%5Ce%22f%5Bg%5D.cl");
  CHECK(uri_of("bad\xFF.cl") == "bad%FF.cl");
  check_shape(sarif({kernel_at("k", {at("caf\xC3\xA9 \xFF:#.cl", 1)})}));
  KernelReport kernel = kernel_at("k", {at("k.cl", 3)});
  kernel.reports[0].lines[0].array = "caf\xE9";  // invalid Unicode
  check_shape(sarif({kernel}));
}

TEST_CASE("driver/sarif/lines_without_file") {
  const PlacedLine nowhere{{"kernel source", 4, 1}, "text", false};
  const std::vector<KernelReport> kernels{kernel_at("k", {nowhere, at("k.cl", 3), nowhere})};
  CHECK(results(kernels).size() == 1);
  CHECK(lines_without_file(kernels) == 2);
  CHECK(lines_without_file({kernel_at("k", {nowhere, nowhere}, false)}) == 0);
  CHECK(lines_without_file({kernel_at("k", {at("k.cl", 3)})}) == 0);
  check_shape(sarif({kernel_at("k", {nowhere})}));
}

TEST_CASE("driver/sarif/uncoalesced_access") {
  KernelReport kernel = kernel_at("k", {});
  for (const PlacedLine& source : {at("k.cu", 7), at("k.cu", 8)}) kernel.places[source.place] = source;
  kernel.reports[0].global_lines = {{.site = {"k.cu", 7, 7}, .costs = {2, 64, 64, 8, 64, 256, 0}},
                                    {.site = {"k.cu", 8, 7}, .costs = {2, 64, 8, 8, 2, 256, 0}}};
  const json all = results({kernel});
  REQUIRE(all.size() == 1);
  check_members(all[0], R"({"ruleId": "uncoalesced-access", "level": "note"})");
  CHECK(all[0].at("message").at("text") == "4-byte load of global memory in k: 64 sectors instead of 8 on sm_90.");
  CHECK(all[0].at("locations")[0].at("physicalLocation").at("region").at("startLine") == 7);
  CHECK(results({kernel}, {"k"})[0].at("level") == "error");
  CHECK(sarif({kernel}).at("runs").at(0).at("tool").at("driver").at("rules").at(1).at("id") == "uncoalesced-access");
  CHECK(sarif({}).at("runs").at(0).at("tool").at("driver").at("rules").size() == 1);
}
