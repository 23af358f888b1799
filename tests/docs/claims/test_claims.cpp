// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "claims.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise::claims;

namespace {

Claim claim_named(const std::string& key) {
  const std::vector<Claim> claims = all_claims();
  const auto found = std::ranges::find(claims, key, &Claim::key);
  INFO(key);
  REQUIRE(found != claims.end());
  REQUIRE(contradiction(*found) == "");
  return *found;
}

/// The result of the check after a change to a claim.
std::string changed(const std::string& key, const std::function<void(Claim&)>& change) {
  Claim claim = claim_named(key);
  change(claim);
  return contradiction(claim);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("claims: the model agrees with the numbers by hand, and each verdict follows from them") {
  std::set<std::string> keys;
  for (const Claim& claim : all_claims()) {
    INFO(claim.key);
    CHECK(contradiction(claim) == "");
    CHECK(keys.insert(claim.key).second);
  }
  CHECK(keys.size() > 60);
}

TEST_CASE("claims: the check detects a falsified claim") {
  // One wrong value each: the article's number, the model's number, the verdict.
  CHECK(changed("a1.stride4", [](Claim& claim) { claim.points[0].article = 3; }) != "");
  CHECK(changed("a1.stride4", [](Claim& claim) { claim.points[0].model = 3; }) != "");
  CHECK(changed("a1.stride4", [](Claim& claim) { claim.verdict = Verdict::fails; }) != "");
  CHECK(changed("a1.stride4", [](Claim& claim) { claim.verdict = Verdict::not_checkable; }) != "");
  CHECK(changed("a1.stride4", [](Claim& claim) { claim.points.clear(); }) != "");
  CHECK(changed("a4.stride10", [](Claim& claim) { claim.verdict = Verdict::holds; }) != "");
  CHECK(changed("a4.stride10", [](Claim& claim) { claim.points[0].article = 2; }) != "");
  CHECK(changed("a4.stride10", [](Claim& claim) { claim.points[0].by_hand = 18; }) != "");
  CHECK(changed("a4.stride10", [](Claim& claim) { claim.why.clear(); }) != "");
  // A model with the same wrong number as the article.
  CHECK(changed("a4.stride10", [](Claim& claim) { claim.points[0].model = 18; }) != "");
  // A condition that does not separate equal numbers from different ones.
  CHECK(changed("a2.stride", [](Claim& claim) { claim.points[0].met = true; }) != "");
  CHECK(changed("a2.stride", [](Claim& claim) { claim.points[1].met = false; }) != "");
  CHECK(changed("a2.stride", [](Claim& claim) { claim.condition.clear(); }) != "");
  CHECK(changed("a2.speed", [](Claim& claim) { claim.why.clear(); }) != "");
}

TEST_CASE("claims: ranges compare as intervals") {
  CHECK(agrees(point("", at_least(2), 16, 16)));
  CHECK(agrees(point("", {1, 2}, 2, 2)));
  CHECK_FALSE(agrees(point("", 1, {1, 2}, {1, 2})));  // the hardware may choose a number that the article excludes
  CHECK_FALSE(agrees(point("", at_least(2), 1, 1)));
  CHECK(to_string(Range(61.418)) == "61.418");
  CHECK(to_string(Range(1, 2)) == "1 to 2");
  CHECK(to_string(at_least(2)) == "at least 2");
}

TEST_CASE("claims: docs/claims.md is what write_claims prints") {
  const bool same_text = text_of(SOURCE_DIRECTORY "/docs/claims.md") == page();
  INFO(
      "To write it again: cmake --build --preset default --target write_claims && "
      "build/default/tests/docs/claims/write_claims > docs/claims.md");
  CHECK(same_text);
}
