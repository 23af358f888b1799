// SPDX-License-Identifier: MIT
//
// Traces as files: JSON Lines, described in docs/trace_format.md.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/trace/builder.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

inline constexpr unsigned format_version = 1;

/// Errors that a process tells; a kernel may make millions.
inline constexpr unsigned max_errors = 100;

/// The first line of a file.
std::string header_line(const Trace& trace);
/// Where a process begins; several may append to one file. Its numbers of kernels and sources are its own.
std::string process_line(std::uint64_t process);
std::string error_line(std::string_view sentence);

/// Writes the launches of one process, one after another: what defines sites, arrays and patterns once, and counts for
/// each launch. A program that dies leaves what it has appended until then. Lines end with a newline.
class Writer {
 public:
  /// `max_patterns` of a kernel, or those of one launch if they are more, are remembered: about 500 bytes each.
  explicit Writer(std::uint64_t process = 0, std::size_t max_patterns = std::size_t{1} << 18)
      : process_(process), max_patterns_(max_patterns) {}

  /// Lines for what launches of a kernel did, and for what of it is new. `source`: the text of its program, if any.
  std::string lines_of(const KernelTrace& launches, std::string_view source);

 private:
  struct Kernel {
    std::uint32_t number;
    Builder known;
    std::string last;  ///< its last launch
  };
  using Key = std::tuple<std::string, std::string, std::uint32_t, unsigned, bool, bool>;

  std::uint32_t define_source(std::string_view text, std::string& lines);
  Kernel& kernel_for(const Key& key, const KernelTrace& launches, std::string& lines);

  std::uint64_t process_;
  std::size_t max_patterns_;
  std::uint32_t next_kernel_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> sources_;
  std::map<Key, Kernel> kernels_;
};

/// The whole file.
std::string to_json_lines(const Trace& trace);

/// A line that no writer can have written.
struct BadLine : UsageError {
  BadLine(std::uint64_t line_, const std::string& what) : UsageError(what), line(line_) {}
  std::uint64_t line;
};

/// A file as it was read.
struct TraceFile {
  Trace trace;
  std::uint64_t processes = 0;  ///< that began
  bool closed = false;          ///< it has its last line
  std::uint64_t cut_line = 0;   ///< the number of a last line that lacks its end, which is left out; 0: none does
};

/// Reads a file; `name` is for the sentences. Launches of one kernel, of whatever process, become one KernelTrace.
/// Errors: BadLine for the first line that is wrong.
TraceFile read_json_lines(std::istream& file, std::string_view name);

}  // namespace bankwise::trace
