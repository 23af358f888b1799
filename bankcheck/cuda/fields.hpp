// The files of the libraries that run in CUDA programs: one record per line, fields separated by single spaces.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::cuda {

inline constexpr std::uint64_t max_count = std::uint64_t{1} << 62, max_id = ~std::uint32_t{0};

/// What breaks the format.
struct Wrong {
  std::string sentence;
};

/// The fields of a line. Error: Wrong.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  std::string_view word(const char* field) {
    if (rest_.empty()) throw Wrong{fmt::format("it has no {}", field)};
    const auto end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::uint64_t number(const char* field, std::uint64_t max = max_count, int base = 10) {
    const std::string_view text = word(field);
    std::uint64_t value = 0;
    if (!support::parse_number(text, value, base) || value > max) {
      throw Wrong{fmt::format("{} is no {} of at most {}", support::in_quotes(text), field, max)};
    }
    return value;
  }
  std::uint64_t hex(const char* field, std::uint64_t max = max_count) { return number(field, max, 16); }
  std::uint32_t id(const char* field) { return std::uint32_t(number(field, max_id)); }
  std::uint32_t bits(const char* field) { return std::uint32_t(hex(field, max_id)); }
  std::string rest() { return std::string(std::exchange(rest_, {})); }
  bool at_end() const { return rest_.empty(); }
  void check_end() const {
    if (!at_end()) throw Wrong{"it goes on after its last field"};
  }

 private:
  std::string_view rest_;
};

/// Reads the file of a process, which begins with the line `head`, until its last line, one that is cut short, or one
/// that breaks the format, which becomes an error. `take(record, first word, fields)` gets the lines that not all files
/// have, and returns whether there are such lines; or throws Wrong. Limits: 1 GiB per file, 64 KiB per line. Error:
/// std::runtime_error if the file cannot be read or has another first line.
template <class Record, class Take>
Record read_lines(const std::filesystem::path& path, std::string_view head, std::string_view kind, Take take) {
  constexpr std::size_t max_line = 64 << 10;
  constexpr std::uint64_t max_file = std::uint64_t{1} << 30;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", support::in_quotes(path.string())));
  if (std::filesystem::file_size(path) > max_file) {
    throw std::runtime_error(fmt::format("{} is larger than 1 GiB", support::in_quotes(path.string())));
  }
  std::string line;
  if (!std::getline(file, line) || line != head) {
    throw std::runtime_error(fmt::format("{} is no {} of version {}", support::in_quotes(path.string()), kind,
                                         head.substr(head.rfind(' ') + 1)));
  }
  Record record;
  for (std::uint64_t number = 2; !record.ended && std::getline(file, line); ++number) {
    if (file.eof()) break;  // the process ended while it wrote this line
    try {
      if (line.size() > max_line) throw Wrong{"it is too long"};
      Fields fields(line);
      const std::string_view word = fields.word("kind of record");
      if (word == "error") {
        record.errors.push_back(fields.rest());
      } else if (word == "end") {
        record.ended = true;
      } else if (!take(record, word, fields)) {
        throw Wrong{fmt::format("there is no record {}", support::in_quotes(word))};
      }
      fields.check_end();
    } catch (const Wrong& wrong) {
      record.errors.push_back(
          fmt::format("line {} of the {} of process {}: {}", number, kind, record.process, wrong.sentence));
      break;
    }
  }
  return record;
}

}  // namespace bankwise::cuda
