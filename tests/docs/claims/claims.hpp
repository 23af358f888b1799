// SPDX-License-Identifier: MIT
//
// What four articles about bank conflicts say in numbers, beside what the bank model makes of the same accesses. The
// test asserts this table, and docs/claims.md is printed from it.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::claims {

enum class Verdict { holds, holds_with_a_condition, fails, not_checkable };
inline constexpr int verdict_count = 4;
std::string_view to_string(Verdict verdict);

/// The numbers from `least` to `most`, both included. Most are a single one; the model gives a range where the hardware
/// may choose, an article where it speaks of a conflict and not of how large it is.
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
  std::string at;   ///< where, "stride 4"; empty if the claim has a single one
  Range article;    ///< what the article says
  Range by_hand;    ///< what we get from the published rules without the program
  Range model;      ///< computed by banks::cost
  bool met = true;  ///< whether the claim's condition is met here
};

/// The article and we expect the same number.
inline Point same(std::string at, double number, Range model) {
  return {std::move(at), number, number, model};
}
/// The article leaves the number open, or has another one than we.
inline Point point(std::string at, Range article, Range by_hand, Range model) {
  return {std::move(at), article, by_hand, model};
}
/// Where the claim's condition is not met.
inline Point beyond(std::string at, Range article, Range by_hand, Range model) {
  return {std::move(at), article, by_hand, model, false};
}

/// A point for each number from..to.
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
  std::string key;      ///< "a2.stride": stays the same, whatever the order
  std::string subject;  ///< of what access or memory
  std::string says;     ///< the article, in our words
  std::string unit;  ///< of the points, with {} for the number: "{} steps", "bank {}"; empty: "at" names what it is of
  Verdict verdict = Verdict::not_checkable;
  std::vector<Point> points;
  std::string condition;  ///< for holds_with_a_condition: when it holds
  std::string why;
  bool listed = false;  ///< the page lists all points below the table
};

/// Article by article, in the order of the text.
std::vector<Claim> claims_a1();
std::vector<Claim> claims_a2();
std::vector<Claim> claims_a3();
std::vector<Claim> claims_a4();
std::vector<Claim> all_claims();

/// Whether the article's number is the model's.
bool agrees(const Point& point);

/// What does not fit together in a claim: a number of the model that is not the one by hand, or a verdict that does not
/// follow from the points. Empty if all fits.
std::string contradiction(const Claim& claim);

/// docs/claims.md.
std::string page();

/// Conflicts of article a4's prefix sum, step by step, as a Markdown table.
std::string scan_table();

}  // namespace bankwise::claims
