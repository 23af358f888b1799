// Internal to common/bankwise/trace: the records of a trace file. Each value is checked, because the input is
// untrusted.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

using nlohmann::json;

/// The error in a line: one sentence, without the position.
struct BadRecord {
  std::string sentence;
};
[[noreturn]] void wrong(std::string sentence);

inline constexpr std::uint64_t any_number = ~std::uint64_t{0};  ///< no limit

std::uint64_t number_of(const json& value, const std::string& name, std::uint64_t max = any_number);
std::string text_of(const json& value, const std::string& name);
/// A text of one line that reports repeat in each row: cut if it is too long to be read, but still distinct.
std::string name_of(const json& value, const std::string& key);

/// A line as JSON. What no record has is skipped, so that it takes no memory. Calls wrong() for a key that a record has
/// twice, and for what is nested deeper than any record; the result is discarded if the line is not JSON.
json record_in(const std::string& line);

/// A record, accessed by key.
class Record {
 public:
  explicit Record(const json& object) : object_(object) {
    if (!object.is_object()) wrong("it is not an object");
  }
  bool has(const char* key) const { return object_.contains(key); }
  const json& at(const char* key) const {
    const auto value = object_.find(key);
    if (value == object_.end()) wrong(fmt::format("it has no {}", key));
    return *value;
  }
  std::uint64_t number(const char* key, std::uint64_t max = any_number) const { return number_of(at(key), key, max); }
  std::uint64_t number_or(const char* key, std::uint64_t otherwise, std::uint64_t max = any_number) const {
    return has(key) ? number(key, max) : otherwise;
  }
  std::string text(const char* key) const { return text_of(at(key), key); }
  std::string name(const char* key) const { return name_of(at(key), key); }
  bool flag(const char* key) const {
    if (!at(key).is_boolean()) wrong(fmt::format("{} is neither true nor false", key));
    return at(key).get<bool>();
  }
  /// The elements, each an array of `size`; any number of them with 0.
  const json& list(const char* key, std::size_t size = 0) const {
    const json& list = at(key);
    if (!list.is_array()) wrong(fmt::format("{} is not a list", key));
    for (const json& element : list) {
      if (size > 0 && (!element.is_array() || element.size() != size)) {
        wrong(fmt::format("{} has an element that is not a list of {}", key, size));
      }
    }
    return list;
  }
  const json& list_or_none(const char* key, std::size_t size) const {
    static const json none = json::array();
    return has(key) ? list(key, size) : none;
  }

 private:
  const json& object_;
};

// Sums over all records of a file stay below these, so no later addition can overflow.
inline constexpr std::uint64_t max_count = std::uint64_t{1} << 48;   ///< the limit of every count
inline constexpr std::uint64_t max_passes = std::uint64_t{1} << 58;  ///< accesses cost at most 64 * 16 passes

/// What a launch may refer to: the parts of its kernel that earlier records have defined.
struct KnownParts {
  std::size_t sites = 0, arrays = 0;
  const std::vector<Pattern>& patterns;
  const std::array<std::vector<Pattern>, sector_memory_count>& sector_patterns;
  unsigned warp = 32;  ///< lanes
};

// The values of a pattern or launch. All call wrong().

inline constexpr std::uint64_t max_warp = (1 << 20) - 1;

/// The number of something defined earlier.
std::uint32_t known(const json& value, const char* kind, std::size_t defined);
std::uint64_t mask_of(const json& value, unsigned lanes);
banks::Operation operation_of(const json& value);
unsigned width_of(const json& value);
std::uint32_t level_of(const json& value);
std::string architecture_of(const json& value);

template <std::size_t size>
std::array<std::uint64_t, size> tally_of(const json& sums) {
  if (!sums.is_array() || sums.size() != size) wrong(fmt::format("excess has a tally that is not a list of {}", size));
  std::array<std::uint64_t, size> numbers;
  for (std::size_t i = 0; i < size; ++i) numbers[i] = number_of(sums[i], "tally", max_passes);
  return numbers;
}

/// One number per active lane, stored at the lane's index.
template <class Number>
std::vector<std::uint32_t> of_lanes(const json& list, const char* name, std::uint64_t mask, Number number) {
  if (list.size() != std::size_t(std::popcount(mask))) {
    wrong(fmt::format("{} has {} numbers for {} active lanes", name, list.size(), std::popcount(mask)));
  }
  std::vector<std::uint32_t> numbers(banks::max_lanes - unsigned(std::countl_zero(mask)));
  std::size_t next = 0;
  banks::for_each_lane(mask, [&](unsigned lane) { numbers[lane] = number(list[next++]); });
  return numbers;
}

/// The addresses of all lanes up to the last active one, from a list or from steps.
std::vector<std::uint32_t> addresses_of(const Record& record, std::uint64_t mask);

/// The first occurrence of a pattern, from the last four numbers of its row.
Occurrence first_of(const json& row, std::uint64_t launches);

using PatternPlaces = std::map<std::uint32_t, std::size_t>;  ///< places in a list, by the file's numbers

/// Adds the patterns of a launch, and returns their places in `counted`.
PatternPlaces take_patterns(const json& list, const std::vector<Pattern>& defined, std::uint64_t launches,
                            std::vector<Pattern>& counted);

/// A pattern or a launch with the file's numbers of sites and arrays. All call wrong().
Pattern read_pattern(const Record& record, const KnownParts& kernel);
Pattern read_global_pattern(const Record& record, const KnownParts& kernel);
KernelTrace read_launch(const Record& record, const KnownParts& kernel);

}  // namespace bankwise::trace
