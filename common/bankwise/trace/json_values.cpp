// SPDX-License-Identifier: MIT
#include <bankwise/trace/json_values.hpp>

#include <algorithm>

#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

void wrong(std::string sentence) {
  throw Wrong{std::move(sentence)};
}

std::uint64_t number_of(const json& value, const std::string& what, std::uint64_t max) {
  if (!value.is_number_unsigned()) wrong(what + " is not a whole number");
  const auto number = value.get<std::uint64_t>();
  if (number > max) wrong(fmt::format("{} is {}, more than {}", what, number, max));
  return number;
}

std::string text_of(const json& value, const std::string& what) {
  if (!value.is_string()) wrong(what + " is not a string");
  return value.get<std::string>();
}

std::uint64_t mask_of(const json& value, unsigned lanes) {
  const std::string text = text_of(value, "mask");
  std::uint64_t mask = 0;
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.empty() || text.size() > 16 || !std::all_of(text.begin(), text.end(), is_digit)) {
    wrong("mask is not a hexadecimal number of at most 64 bits");
  }
  for (const char c : text) mask = mask << 4 | unsigned(c <= '9' ? c - '0' : c - 'a' + 10);
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

Fault fault_of(const json& value) {
  const auto fault = fault_named(text_of(value, "fault"));
  if (!fault) wrong("fault is unknown");
  return *fault;
}

unsigned width_of(const json& value) {
  const auto width = unsigned(number_of(value, "width", 16));
  constexpr unsigned widths = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 12 | 1 << 16;
  if ((widths >> width & 1) == 0) wrong("width is not one of 1, 2, 4, 8, 12, 16");
  return width;
}

std::uint32_t level_of(const json& value) {
  return std::uint32_t(number_of(value, "level", max_levels - 1));
}

std::uint32_t known(const json& value, const char* what, std::size_t defined) {
  const std::uint64_t number = number_of(value, what, std::numeric_limits<std::uint64_t>::max());
  if (number >= defined) wrong(fmt::format("there is no {} {} of its kernel before it", what, number));
  return std::uint32_t(number);
}

void check_next(const Object& record, const char* key, std::size_t next) {
  const std::uint64_t number = record.number(key, std::numeric_limits<std::uint64_t>::max());
  if (number != next) wrong(fmt::format("it is {} {}, but {} is next", key, number, next));
}

std::vector<std::uint32_t> addresses_of(const Object& record, std::uint64_t mask) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
  if (!record.has("step")) {
    return of_lanes(record.list("addresses"), "addresses", mask,
                    [](const json& address) { return std::uint32_t(number_of(address, "address", max)); });
  }
  const json& step = record.at("step");
  if (!step.is_number_integer() || step > std::int64_t(max) || step < -std::int64_t(max)) {
    wrong("step is not a 32-bit integer");
  }
  std::vector<std::uint32_t> all(banks::max_lanes - unsigned(std::countl_zero(mask)));
  auto address = std::int64_t(record.number("address", max));
  banks::for_each_lane(mask, [&](unsigned lane) {
    if (address < 0 || address > std::int64_t(max)) wrong("step leaves the 32-bit address range");
    all[lane] = std::uint32_t(address);
    address += step.get<std::int64_t>();
  });
  return all;
}

std::vector<std::uint32_t> sources_of(const Object& record, banks::Operation operation, std::uint64_t mask) {
  const json& list = record.list("sources");
  if (!banks::is_copy(operation)) wrong(fmt::format("a {} has no sources", to_string(operation)));
  return of_lanes(list, "sources", mask,
                  [](const json& source) { return std::uint32_t(number_of(source, "source", source_bytes - 1)); });
}

}  // namespace bankwise::trace
