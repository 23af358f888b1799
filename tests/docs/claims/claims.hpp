// SPDX-License-Identifier: MIT
//
// The numbers that four articles about bank conflicts state, and those that the bank model computes for the same
// accesses. A test asserts this table, and write_claims prints docs/claims.md from it.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::claims {

enum class Verdict { holds, holds_with_a_condition, fails, not_checkable };
inline constexpr int verdict_count = 4;
std::string_view to_string(Verdict verdict);

/// The numbers from `least` to `most`, both included; usually a single number. The model gives a range if the hardware
/// may choose. An article gives a range if it states a conflict without its degree.
struct Range {
  double least = 0, most = 0;

  constexpr Range(double number) : least(number), most(number) {}
  constexpr Range(double from, double to) : least(from), most(to) {}
  bool operator==(const Range&) const = default;
};
constexpr Range at_least(double number) {
  return {number, std::numeric_limits<double>::infinity()};
}

/// "4", "61.418", "1 to 2", "at least 2".
std::string to_string(Range range);

/// One number of a claim.
struct Point {
  std::string at;   ///< the case, for example "stride 4"; empty if the claim has only one
  Range article;    ///< by the article
  Range by_hand;    ///< computed by hand from the published rules
  Range model;      ///< computed by banks::cost
  bool met = true;  ///< whether this case meets the claim's condition
};

/// The article and our computation by hand agree.
inline Point same(std::string at, double number, Range model) {
  return {std::move(at), number, number, model};
}
/// The article states no exact number, or a different one.
inline Point point(std::string at, Range article, Range by_hand, Range model) {
  return {std::move(at), article, by_hand, model};
}
/// A case that does not meet the claim's condition.
inline Point beyond(std::string at, Range article, Range by_hand, Range model) {
  return {std::move(at), article, by_hand, model, false};
}

/// One point per number in from..to.
template <typename PointAt>
std::vector<Point> sweep(unsigned from, unsigned to, unsigned step, PointAt point_at) {
  std::vector<Point> points;
  for (unsigned number = from; number <= to; number += step) points.push_back(point_at(number));
  return points;
}
inline std::vector<Point> operator+(std::vector<Point> points, const std::vector<Point>& more) {
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

struct Claim {
  std::string key;      ///< for example "a2.stride"; stable, independent of the order
  std::string subject;  ///< the access or the memory that the claim is about
  std::string says;     ///< the claim of the article, in our words
  std::string unit;     ///< with {} for the number: "{} steps", "bank {}"; empty: `at` of the points contains the unit
  Verdict verdict = Verdict::not_checkable;
  std::vector<Point> points;
  std::string condition;  ///< for holds_with_a_condition: the condition
  std::string why;
  bool listed = false;  ///< the page lists all points below the table
};

/// One list per article, in the order of its text.
std::vector<Claim> claims_a1();
std::vector<Claim> claims_a2();
std::vector<Claim> claims_a3();
std::vector<Claim> claims_a4();
std::vector<Claim> all_claims();

/// Whether the numbers of the article and of the model agree.
bool agrees(const Point& point);

/// The inconsistency in a claim: a number of the model that differs from the one by hand, or a verdict that does not
/// follow from the points. Empty if there is none.
std::string contradiction(const Claim& claim);

/// docs/claims.md.
std::string page();

/// Conflicts per step of the prefix sum in article a4, as a Markdown table.
std::string scan_table();

}  // namespace bankwise::claims
