// Traces as files: JSON Lines, described in docs/trace_format.md.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/trace/builder.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

inline constexpr unsigned format_version = 2;        ///< that is written
inline constexpr unsigned first_format_version = 1;  ///< without global memory; still read

/// Limit on the errors that a process writes; a kernel may have millions.
inline constexpr unsigned max_errors = 100;

/// The first line of a file.
std::string header_line(const Trace& trace);
/// The line where a process begins; several may append to one file. Each numbers its kernels and sources separately.
std::string process_line(std::uint64_t process);
std::string error_line(std::string_view sentence);

/// Writes the launches of one process, one after another: the definitions of sites, arrays and patterns once, and
/// counts for each launch. If the program dies, the lines appended so far remain. Lines end with a newline.
class TraceWriter {
 public:
  /// Remembers `max_patterns` patterns of a kernel, or those of one launch if they are more: about 500 bytes each.
  explicit TraceWriter(std::uint64_t process = 0, std::size_t max_patterns = std::size_t{1} << 18)
      : process_(process), max_patterns_(max_patterns) {}

  /// Lines for the work of launches of a kernel, and for new definitions. `source`: the text of its program, if any.
  std::string lines_of(const KernelTrace& launches, std::string_view source);

 private:
  struct WrittenKernel {
    std::uint32_t number;
    Builder known;
    std::string last;  ///< its last launch
  };
  using Key = std::tuple<std::string, std::string, std::uint32_t, unsigned, bool, bool>;

  std::uint32_t define_source(std::string_view text, std::string& lines);
  WrittenKernel& kernel_for(const Key& key, const KernelTrace& launches, std::string& lines);

  std::uint64_t process_;
  std::size_t max_patterns_;
  std::uint32_t next_kernel_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> sources_;
  std::map<Key, WrittenKernel> kernels_;
};

/// The whole file.
std::string to_json_lines(const Trace& trace);

/// A line that no writer produces.
struct BadLine : support::UsageError {
  BadLine(std::uint64_t line_, const std::string& sentence) : support::UsageError(sentence), line(line_) {}
  std::uint64_t line;
};

/// The contents of a file.
struct TraceFile {
  Trace trace;
  std::uint64_t processes = 0;  ///< processes that the file has
  bool closed = false;          ///< the file has its last line
  std::uint64_t cut_line = 0;   ///< number of a last line that is incomplete and therefore ignored; 0: none is
};

/// Reads a file; `name` appears in error messages. Launches of one kernel become one KernelTrace, whichever process
/// they belong to. Errors: BadLine for the first line that is wrong.
TraceFile read_json_lines(std::istream& file, std::string_view name);

}  // namespace bankwise::trace
