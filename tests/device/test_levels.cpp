// The programs' flags for levels, together with a device's measurements.
#include <nlohmann/json.hpp>

#include "tests/bankcheck/predict/well_formed.hpp"
#include "tests/programs.hpp"

using nlohmann::json;

TEST_CASE("device/levels/busy_and_bound", "[command_line]") {
  const std::string job = "--variant naive --n 100000 --min-time 0 --timeout 0.1 --json -";
  for (const std::string scope : {"memory --cache hot", "l2", "block"}) {
    const auto report = json::parse(run("prefix_sum", job + " --scope " + scope).out);
    for (const json& row : report.at("results")) {
      INFO(row.dump());
      const bool known = row.at("api") == "cuda" && row.at("variant") == "naive";
      if (!known && row.at("variant") == "naive" && !row.at("shared_busy").is_null()) continue;  // an NVIDIA GPU
      REQUIRE(row.at("shared_busy").is_number() == known);
      if (!known) continue;
      CHECK(row.at("shared_busy") > 0.0);
      CHECK(row.at("shared_busy") < 1.2);  // the compiler may merge accesses
      CHECK(row.at("bound") > 1.0);
      CHECK(row.at("least_time_s") < row.at("time_median_s"));
    }
    for (const json& device : report.at("devices")) CHECK((device.at("clock_hz") > 1e8 || device.at("api") != "cuda"));
  }
  const auto other = json::parse(run("prefix_sum", job + " --cache hot --arch gfx90a").out);
  for (const json& row : other.at("results")) CHECK(row.at("shared_busy").is_null());
}

TEST_CASE("device/levels/flags", "[command_line]") {
  const ScratchDirectory scratch;
  const auto svg = scratch.path() / "levels.svg";
  const std::string two = "--variant naive,padded --n 5000 --cache hot --min-time 0 --timeout 0.01";
  const Outcome with = ended(0, run("prefix_sum", two + " --arch gfx90a --levels-svg " + svg.string()));
  CHECK(count(with.out, "4.20 x") >= 1);
  CHECK_THAT(with.out, has("on gfx90a"));
  CHECK(what_is_malformed(text_of(svg)) == "");
  CHECK(count(text_of(svg), "class=\"panel\"") == 2);

  const Outcome without = ended(0, run("prefix_sum", two + " --no-levels"));
  CHECK_THAT(without.out, !has("ALU"));
  CHECK_THAT(without.out, !has("barrier"));
  CHECK(json::parse(run("prefix_sum", two + " --no-levels --json -").out).at("totals").empty());
  const auto parsed = json::parse(run("prefix_sum", two + " --json -").out);
  CHECK(parsed.at("totals").size() == 2);
  CHECK(parsed.at("levels").size() == 40);
  CHECK(run("prefix_sum", two + " --levels-svg -").out.starts_with("<svg"));
}
