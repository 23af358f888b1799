// Internal to common/bankwise/trace: the records of a trace file. Each value is checked, because the input is
// untrusted.
#pragma once

#include <fmt/format.h>

#include <cstdint>
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
  /// A text of one line that reports repeat in each row: cut if it is too long to be read, but still distinct.
  std::string name(const char* key) const;
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

 private:
  const json& object_;
};

// Sums over all records of a file stay below these, so no later addition can overflow.
inline constexpr std::uint64_t max_count = std::uint64_t{1} << 48;   ///< the limit of every count
inline constexpr std::uint64_t max_passes = std::uint64_t{1} << 58;  ///< accesses cost at most 64 * 16 passes

/// What a launch may refer to: the parts of its kernel that earlier records have defined.
struct KnownParts {
  std::size_t sites = 0, arrays = 0;
  const std::vector<Pattern>&patterns, &global_patterns;
  unsigned warp = 32;  ///< lanes
};

/// A pattern or a launch with the file's numbers of sites and arrays. All call wrong().
Pattern read_pattern(const Record& record, const KnownParts& kernel);
Pattern read_global_pattern(const Record& record, const KnownParts& kernel);
KernelTrace read_launch(const Record& record, const KnownParts& kernel);

}  // namespace bankwise::trace
