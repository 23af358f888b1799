// The files of tests/data.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/// A row of a file in tests/data, by the names of its columns.
class Fields {
 public:
  Fields(const std::vector<std::string>& names, const std::vector<std::string>& values) {
    for (std::size_t i = 0; i < names.size(); ++i) fields_[names[i]] = values.at(i);
  }
  bool has(const std::string& column) const { return fields_.contains(column); }
  const std::string& text(const std::string& column) const { return fields_.at(column); }
  std::uint64_t number(const std::string& column) const { return std::stoull(fields_.at(column), nullptr, 0); }
  std::uint64_t number_or(const std::string& column, std::uint64_t otherwise) const {
    return has(column) ? number(column) : otherwise;
  }
  /// One number for each lane.
  std::array<std::uint32_t, 32> lanes(const std::string& letter) const {
    std::array<std::uint32_t, 32> numbers{};
    for (std::size_t lane = 0; lane < 32; ++lane) numbers[lane] = std::uint32_t(number(letter + std::to_string(lane)));
    return numbers;
  }

 private:
  std::map<std::string, std::string> fields_;
};

inline std::vector<Fields> rows_in(const std::string& name) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (line.ends_with(',')) fields.emplace_back();
    return fields;
  };
  std::ifstream file(SOURCE_DIRECTORY "/tests/data/" + name);
  std::string line;
  std::getline(file, line);
  const auto names = split(line);
  std::vector<Fields> rows;
  while (std::getline(file, line)) rows.emplace_back(names, split(line));
  return rows;
}
