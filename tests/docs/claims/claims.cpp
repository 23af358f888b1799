// SPDX-License-Identifier: MIT
#include "claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bankwise::claims {
namespace {

bool contains(const Range& outer, const Range& inner) {
  return outer.least <= inner.least && inner.most <= outer.most;
}

std::string wrong_verdict(const Claim& claim) {
  const auto agreeing = [](const Point& point) { return agrees(point); };
  const auto met = [](const Point& point) { return point.met; };
  const bool all_agree = std::ranges::all_of(claim.points, agreeing);
  const bool all_met = std::ranges::all_of(claim.points, met);
  switch (claim.verdict) {
    case Verdict::holds:
      if (!all_agree) return "a number differs, so the claim does not hold";
      return all_met ? "" : "a point misses a condition that the verdict does not have";
    case Verdict::holds_with_a_condition:
      if (claim.condition.empty()) return "the condition is empty";
      if (all_met || std::ranges::none_of(claim.points, met))
        return "needs points that meet the condition and points that do not";
      return std::ranges::all_of(claim.points, [](const Point& point) { return agrees(point) == point.met; })
                 ? ""
                 : "the condition does not separate equal numbers from different ones";
    case Verdict::fails:
      if (all_agree) return "no number differs, so the claim does not fail";
      if (claim.why.empty()) return "a failing claim needs a reason";
      return all_met ? "" : "a point misses a condition that the verdict does not have";
    case Verdict::not_checkable:
      break;
  }
  return "unknown verdict";
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::string_view names[verdict_count]{"holds", "holds with a condition", "fails", "not checkable"};
  return names[int(verdict)];
}

std::string to_string(Range range) {
  if (range.least == range.most) return fmt::format("{:.5g}", range.least);
  if (std::isinf(range.most)) return fmt::format("at least {:.5g}", range.least);
  return fmt::format("{:.5g} to {:.5g}", range.least, range.most);
}

bool agrees(const Point& point) {
  return contains(point.article, point.model);
}

std::string contradiction(const Claim& claim) {
  if (claim.key.empty() || claim.subject.empty() || claim.says.empty()) return claim.key + ": a text is missing";
  if (claim.verdict == Verdict::not_checkable) {
    if (claim.points.empty() && !claim.why.empty()) return "";
    return claim.key + ": a claim that is not checkable needs a reason and no numbers";
  }
  if (claim.points.empty()) return claim.key + ": no numbers";
  for (const Point& point : claim.points) {
    if (!(point.model == point.by_hand)) {
      return fmt::format("{}, {}: {} by the model, {} by hand", claim.key, point.at, to_string(point.model),
                         to_string(point.by_hand));
    }
  }
  const std::string wrong = wrong_verdict(claim);
  return wrong.empty() ? "" : claim.key + ": " + wrong;
}

std::vector<Claim> all_claims() {
  std::vector<Claim> claims;
  for (auto* of_article : {claims_a1, claims_a2, claims_a3, claims_a4}) {
    const std::vector<Claim> more = of_article();
    claims.insert(claims.end(), more.begin(), more.end());
  }
  return claims;
}

}  // namespace bankwise::claims
