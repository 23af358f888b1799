// The programs' flags for levels, together with a device's measurements.
#include <nlohmann/json.hpp>

#include "tests/bankcheck/predict/well_formed.hpp"
#include "tests/programs.hpp"

using nlohmann::json;

TEST_CASE("device/levels/flags", "[command_line]") {
  const ScratchDirectory scratch;
  const auto svg = scratch.path() / "levels.svg";
  const std::string two = "--variant naive,padded --n 5000 --cache hot --min-time 0 --timeout 0.01";
  const Outcome with = ended(0, run("prefix_sum", two + " --arch gfx90a --levels-svg " + svg.string()));
  CHECK(count(with.out, "4.20 x") >= 1);
  CHECK(with.out.find("on gfx90a") != std::string::npos);
  CHECK(what_is_malformed(text_of(svg)) == "");
  CHECK(count(text_of(svg), "class=\"panel\"") == 2);

  const Outcome without = ended(0, run("prefix_sum", two + " --no-levels"));
  CHECK(without.out.find("ALU") == std::string::npos);
  CHECK(without.out.find("barrier") == std::string::npos);
  const Outcome json_alone = run("prefix_sum", two + " --no-levels --json -");
  CHECK(json::parse(json_alone.out).at("totals").empty());
  const auto parsed = json::parse(run("prefix_sum", two + " --json -").out);
  CHECK(parsed.at("totals").size() == 2);
  CHECK(parsed.at("levels").size() == 40);
  CHECK(run("prefix_sum", two + " --levels-svg -").out.starts_with("<svg"));
}
