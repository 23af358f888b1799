#include <bankwise/trace/codec_records.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::trace {
namespace {

std::set<std::string, std::less<>> words(const char* text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

void wrong(std::string sentence) { throw BadRecord{std::move(sentence)}; }

json record_in(const std::string& line) {
  constexpr int deepest_list = 3, deepest = 100;
  static const auto known_keys = words(
      "record process kernel source site array pattern text name options warp splits knows_code file line "
      "column function pc offset bytes element lengths operation width level mask addresses address step lane_arrays "
      "sources is_loop shapes blocks levels patterns merged excess left_out diagnoses basic_blocks maker "
      "participants copied_bytes lines revision command excess_accesses bankwise_trace time global_pattern "
      "global_patterns global_excess global_excess_accesses global_left_out local_accesses sectors_read "
      "sectors_written watches_shared engines left_out_causes remote_pattern remote_patterns remote_excess "
      "remote_excess_accesses");
  std::set<std::string, std::less<>> keys;
  bool is_known = true, is_list = false;
  const auto keep = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.insert(key).second) wrong(fmt::format("it has the key {} twice", support::in_quotes(key)));
      return is_known = known_keys.contains(key);
    }
    const bool list = event == json::parse_event_t::array_start;
    is_list |= list && depth == 0;
    if (is_list) return false;
    const int limit = !is_known ? deepest : list ? deepest_list : 0;
    if ((list || event == json::parse_event_t::object_start) && depth > limit) wrong("it is nested too deep");
    return true;
  };
  try {
    json record = json::parse(line, keep);
    if (is_list) wrong("it is not an object");
    return record;
  } catch (const json::exception&) {
    return json::value_t::discarded;
  }
}

std::string name_of(const json& value, const std::string& key) {
  constexpr std::size_t longest = 1000, shown = 200;
  std::string name = text_of(value, key);
  for (std::size_t at = name.find('\n'); at != std::string::npos; at = name.find('\n', at)) name[at] = ' ';
  if (name.size() <= longest) return name;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  std::size_t end = shown;
  while (support::is_inside_character(name, end)) --end;
  return fmt::format("{}... ({} bytes, {:016x})", name.substr(0, end), name.size(), hash);
}

std::uint64_t number_of(const json& value, const std::string& name, std::uint64_t max) {
  if (!value.is_number_unsigned()) wrong(name + " is not a whole number");
  const auto number = value.get<std::uint64_t>();
  if (number > max) wrong(fmt::format("{} is {}, more than {}", name, number, max));
  return number;
}

std::string text_of(const json& value, const std::string& name) {
  if (!value.is_string()) wrong(name + " is not a string");
  return value.get<std::string>();
}

std::uint32_t known(const json& value, const char* kind, std::size_t defined) {
  const std::uint64_t number = number_of(value, kind);
  if (number >= defined) wrong(fmt::format("there is no {} {} of its kernel before it", kind, number));
  return std::uint32_t(number);
}

std::uint64_t mask_of(const json& value, unsigned lanes) {
  const std::string text = text_of(value, "mask");
  std::uint64_t mask = 0;
  if (text.size() > 16 || text.find_first_not_of("0123456789abcdef") != std::string::npos ||
      !support::parse_number(text, mask, 16)) {
    wrong("mask is not a hexadecimal number of at most 64 bits");
  }
  if (mask == 0) wrong("mask has no lane");
  if (lanes < banks::max_lanes && mask >> lanes != 0) {
    wrong(fmt::format("mask has lanes beyond the {} of a warp", lanes));
  }
  return mask;
}

banks::Operation operation_of(const json& value) {
  const auto operation = banks::operation_named(text_of(value, "operation"));
  if (!operation) wrong("operation is unknown to the bank model");
  return *operation;
}

unsigned width_of(const json& value) {
  const auto width = unsigned(number_of(value, "width", 16));
  constexpr unsigned widths = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 12 | 1 << 16;
  if ((widths >> width & 1) == 0) wrong("width is not one of 1, 2, 4, 8, 12, 16");
  return width;
}

std::string architecture_of(const json& value) {
  const auto* architecture = banks::find_architecture(text_of(value, "architecture"));
  if (architecture == nullptr) wrong("excess has an architecture that the bank model does not know");
  return std::string(architecture->name);
}

std::uint32_t level_of(const json& value) { return std::uint32_t(number_of(value, "level", max_levels - 1)); }

std::vector<std::uint32_t> addresses_of(const Record& record, std::uint64_t mask) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
  if (!record.has("step")) {
    return of_lanes(record.list("addresses"), "addresses", mask,
                    [](const json& address) { return std::uint32_t(number_of(address, "address", max)); });
  }
  const json& step = record.at("step");
  if (!step.is_number_integer() || step > std::int64_t(max) || step < -std::int64_t(max)) {
    wrong("step is not a 32-bit integer");
  }
  std::vector<std::uint32_t> addresses(banks::max_lanes - unsigned(std::countl_zero(mask)));
  auto address = std::int64_t(record.number("address", max));
  banks::for_each_lane(mask, [&](unsigned lane) {
    if (address < 0 || address > std::int64_t(max)) wrong("step leaves the 32-bit address range");
    addresses[lane] = std::uint32_t(address);
    address += step.get<std::int64_t>();
  });
  return addresses;
}

Occurrence first_of(const json& row, std::uint64_t launches) {
  const std::uint64_t launch = number_of(row[2], "launch", max_count);
  if (launch >= launches) wrong("a pattern's first launch is not one of these");
  return {number_of(row[3], "block"), std::uint32_t(number_of(row[4], "warp", max_warp)), launch,
          number_of(row[5], "number")};
}

PatternPlaces take_patterns(const json& list, const std::vector<Pattern>& defined, std::uint64_t launches,
                            std::vector<Pattern>& counted) {
  PatternPlaces places;
  for (const json& row : list) {
    const std::uint32_t number = known(row[0], "pattern", defined.size());
    if (!places.try_emplace(number, counted.size()).second) wrong(fmt::format("pattern {} is counted twice", number));
    Pattern& pattern = counted.emplace_back(defined[number]);
    pattern.count = number_of(row[1], "count", max_count);
    if (pattern.count == 0) wrong("a pattern's count is 0");
    pattern.first = first_of(row, launches);
  }
  return places;
}

}  // namespace bankwise::trace
