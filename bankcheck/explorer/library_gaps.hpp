// What the sources of the explorer use of C++20 and the library of Emscripten 3.1.6 lacks, which Debian 12 and Ubuntu
// 24.04 have: algorithms of std::ranges, and <=> of some containers. Included before every source of the page.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#ifndef __cpp_lib_ranges
// NOLINTBEGIN(cert-dcl58-cpp): they stand in for the library's
namespace std::ranges {

template <class Range, class Predicate, class Projection = identity>
auto find_if(Range&& range, Predicate predicate, Projection projection = {}) {
  return std::find_if(begin(range), end(range),
                      [&](auto& each) -> bool { return invoke(predicate, invoke(projection, each)); });
}
template <class Range, class Predicate, class Projection = identity>
auto find_if_not(Range&& range, Predicate predicate, Projection projection = {}) {
  return ranges::find_if(
      range, [&](auto&& each) { return !invoke(predicate, each); }, projection);
}
template <class Range, class Value, class Projection = identity>
auto find(Range&& range, const Value& value, Projection projection = {}) {
  return ranges::find_if(
      range, [&](auto&& each) { return each == value; }, projection);
}
template <class Range, class Predicate, class Projection = identity>
bool any_of(Range&& range, Predicate predicate, Projection projection = {}) {
  return ranges::find_if(range, predicate, projection) != end(range);
}
template <class Range, class Predicate, class Projection = identity>
bool all_of(Range&& range, Predicate predicate, Projection projection = {}) {
  return ranges::find_if_not(range, predicate, projection) == end(range);
}
template <class Range, class Predicate, class Projection = identity>
bool none_of(Range&& range, Predicate predicate, Projection projection = {}) {
  return !ranges::any_of(range, predicate, projection);
}
template <class Range, class Value, class Projection = identity>
auto count(Range&& range, const Value& value, Projection projection = {}) {
  return std::count_if(begin(range), end(range), [&](auto& each) -> bool { return invoke(projection, each) == value; });
}

template <class Range, class Predicate>
auto count_if(Range&& range, Predicate predicate) {
  return std::count_if(begin(range), end(range), predicate);
}
template <class Range, class Predicate>
auto adjacent_find(Range&& range, Predicate predicate) {
  return std::adjacent_find(begin(range), end(range), predicate);
}
template <class Range, class Value>
bool binary_search(Range&& range, const Value& value) {
  return std::binary_search(begin(range), end(range), value);
}

/// The order of projected elements.
template <class Compare, class Projection>
auto by(Compare& compare, Projection& projection) {
  return [&](auto& a, auto& b) -> bool { return invoke(compare, invoke(projection, a), invoke(projection, b)); };
}
template <class Range, class Compare = std::less<>, class Projection = identity>
void sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::sort(begin(range), end(range), ranges::by(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
void stable_sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::stable_sort(begin(range), end(range), ranges::by(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
auto min_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::min_element(begin(range), end(range), ranges::by(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = identity>
auto max_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::max_element(begin(range), end(range), ranges::by(compare, projection));
}
template <class Range, class Value, class Compare = std::less<>, class Projection = identity>
auto lower_bound(Range&& range, const Value& value, Compare compare = {}, Projection projection = {}) {
  return std::lower_bound(begin(range), end(range), value, [&](auto& each, auto& wanted) -> bool {
    return invoke(compare, invoke(projection, each), wanted);
  });
}

template <class Range>
void reverse(Range&& range) {
  std::reverse(begin(range), end(range));
}
template <class Range, class Value>
void replace(Range&& range, const Value& before, const Value& after) {
  std::replace(begin(range), end(range), before, after);
}
template <class Range, class Out>
void copy(Range&& range, Out out) {
  std::copy(begin(range), end(range), out);
}
template <class Range, class Out, class Predicate>
void copy_if(Range&& range, Out out, Predicate predicate) {
  std::copy_if(begin(range), end(range), out, predicate);
}
template <class Range, class Out>
void move(Range&& range, Out out) {
  std::move(begin(range), end(range), out);
}
template <class Range, class Out, class Function>
void transform(Range&& range, Out out, Function function) {
  std::transform(begin(range), end(range), out, function);
}

}  // namespace std::ranges

namespace std {

template <class T, size_t n>
constexpr auto operator<=>(const array<T, n>& a, const array<T, n>& b) -> decltype(a[0] <=> b[0]) {
  for (size_t i = 0; i < n; ++i) {
    if (const auto order = a[i] <=> b[i]; order != 0) return order;
  }
  return strong_ordering::equal;
}
template <class T>
constexpr auto operator<=>(const vector<T>& a, const vector<T>& b) -> decltype(a[0] <=> b[0]) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (const auto order = a[i] <=> b[i]; order != 0) return order;
  }
  return a.size() <=> b.size();
}
inline strong_ordering operator<=>(string_view a, string_view b) { return a.compare(b) <=> 0; }
template <class T>
constexpr strong_ordering operator<=>(const optional<T>& a, const optional<T>& b) {
  if (a && b) return *a <=> *b;
  return a.has_value() <=> b.has_value();
}

}  // namespace std
// NOLINTEND(cert-dcl58-cpp)
#endif
