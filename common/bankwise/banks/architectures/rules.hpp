// Internal to common/bankwise/banks: the words in which the rows of architectures are written.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/engines.hpp>

namespace bankwise::banks::rows {

using enum Operation;

template <class Member>
constexpr unsigned set_of(std::initializer_list<Member> members) {
  unsigned set = 0;
  for (const Member member : members) set |= 1U << int(member);
  return set;
}
constexpr WidthSet bytes(std::initializer_list<unsigned> widths) { return set_of(widths); }

inline constexpr OperationSet loads = set_of({load}), stores = set_of({store}), both = loads | stores;
inline constexpr OperationSet queuing_atomics = set_of({atomic, atomic_inc});
inline constexpr OperationSet all_atomics = queuing_atomics | set_of({atomic_cas});
inline constexpr WidthSet word = bytes({1, 2, 4}), any_width = bytes({1, 2, 4, 8, 12, 16});
inline constexpr Banks banks16{.count = 16, .bytes = 4, .row_bytes = 64};
inline constexpr Banks banks64{.count = 64, .bytes = 4, .row_bytes = 256};
inline constexpr std::uint32_t KiB = 1024;

/// Where a rule comes from.
struct Citation {
  Evidence evidence;
  std::string_view source;
};
constexpr Citation by_measurement(std::string_view source) { return {Evidence::measured, source}; }
constexpr Citation by_others(std::string_view source) { return {Evidence::measured_by_others, source}; }
constexpr Citation by_vendor(std::string_view source) { return {Evidence::vendor, source}; }
constexpr Citation by_inference(std::string_view source) { return {Evidence::inferred, source}; }

/// How these operations at these widths are served: lane group after lane group, in 32 banks of 4 bytes. Rule has
/// functions for what differs.
constexpr Rule rule(OperationSet operations, WidthSet widths, LaneGroups lane_groups, Citation citation) {
  return {.operations = operations,
          .widths = widths,
          .lane_groups = lane_groups,
          .evidence = citation.evidence,
          .source = citation.source};
}

/// There is no number to give, for this reason.
constexpr Rule refused(OperationSet operations, WidthSet widths, std::string_view reason) {
  return {.operations = operations, .widths = widths, .refusal = reason};
}

/// The rules, followed by more.
template <std::size_t n, class... More>
constexpr auto extended(const std::array<Rule, n>& rules, More... more) {
  std::array<Rule, n + sizeof...(more)> extended{};
  std::copy(rules.begin(), rules.end(), extended.begin());
  const Rule added[]{more...};
  std::copy(std::begin(added), std::end(added), extended.begin() + n);
  return extended;
}

}  // namespace bankwise::banks::rows
