#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::support {

/// The fields of one line of comma-separated values (RFC 4180; fields do not span lines). `fields` point into `line`
/// or, if a field holds doubled quotes, into `unquoted`. False if a quote is in the wrong place.
bool split_csv(std::string_view line, std::vector<std::string_view>& fields, std::vector<std::string>& unquoted);

/// The first line of a file without the byte order mark by which some editors mark UTF-8.
std::string_view without_mark(std::string_view first_line);

/// The text as one field, in quotes if it needs them.
std::string csv_field(std::string_view text);

/// Reads lines of any input, and keeps no more than `longest` bytes of one.
class LineReader {
 public:
  LineReader(std::istream& in, std::size_t longest) : bytes_(*in.rdbuf()), longest_(longest) {}

  /// Reads the next line, without its line feed. False at the end of the input, or where it cannot be read.
  bool next();

  std::string line;
  std::uint64_t number = 0;                                   ///< that of the line, from 1
  bool too_long = false, is_whole = true, is_broken = false;  ///< whole: it ends with a line feed

 private:
  std::streambuf& bytes_;
  std::size_t longest_;
};

}  // namespace bankwise::support
