// What bankcheck asks of the parts that it loads into a program, in variables of the program's environment. bankcheck
// writes a request, and the part reads it; one list of variables serves both. The header needs no library: a part may
// be in a program that brings its own C++ library.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bankwise::support {

using Lines = std::vector<std::string>;

/// The memory spaces to watch; as a text "shared,global". Without one of them, what it holds is not known.
struct MemorySpaces {
  bool shared = true, global = true;

  std::string text() const { return !shared ? "global" : !global ? "shared" : "shared,global"; }
  /// Nothing for an empty list and for an unknown name.
  static std::optional<MemorySpaces> parse(std::string_view text) {
    MemorySpaces spaces{false, false};
    for (;;) {
      const std::string_view name = text.substr(0, text.find(','));
      if (name != "shared" && name != "global") return std::nullopt;
      (name == "shared" ? spaces.shared : spaces.global) = true;
      if (name.size() == text.size()) return spaces;
      text.remove_prefix(name.size() + 1);
    }
  }
};

/// The file of support/progress.hpp; not set without a terminal.
inline constexpr const char* progress_variable = "BANKWISE_PROGRESS";
/// The file of support/watched_exec.hpp.
inline constexpr const char* unwatched_variable = "BANKWISE_UNWATCHED";
/// OpenclRequest::launches, for code that needs no more than the C library.
inline constexpr const char* launches_variable = "BANKWISE_LAUNCHES";
/// For tests: trace::Bound::bytes of Oclgrind's plugin.
inline constexpr const char* pattern_bytes_variable = "BANKWISE_PATTERN_BYTES";

/// To Oclgrind's plugin, and to the two libraries that replace functions of OpenCL.
struct OpenclRequest {
  std::string record;              ///< the trace, to append to
  std::string unfinished;          ///< with ".<process>": what is recorded of the launch that has not ended
  std::string launches;            ///< the launch log, to append to
  std::string unwatched;           ///< executed programs that nothing watches, to append to
  Lines kernels;                   ///< globs of the kernels to record, as a shell has them; none: all
  std::uint64_t max_launches = 0;  ///< to record of each kernel with the same sizes; 0: all
  std::uint64_t max_groups = 0;    ///< to record of each launch, spread over the grid; 0: all
  Lines architectures;             ///< accesses whose patterns exceed their bound are costed for these
  MemorySpaces memory;
  Lines device;                 ///< properties of the simulated device: KEY=VALUE; the first line of a key counts
  std::string oclgrind_driver;  ///< path of Oclgrind's driver, for the one that passes all requests on to it
  std::string texts;            ///< folder of texts to exchange (bankcheck/opencl/exchange.hpp); empty: none

  template <class Request, class Visit>
  static void for_each_variable(Request& request, Visit visit) {
    visit("BANKWISE_RECORD", request.record);
    visit("BANKWISE_UNFINISHED", request.unfinished);
    visit(launches_variable, request.launches);
    visit(unwatched_variable, request.unwatched);
    visit("BANKWISE_KERNELS", request.kernels);
    visit("BANKWISE_MAX_LAUNCHES", request.max_launches);
    visit("BANKWISE_MAX_GROUPS", request.max_groups);
    visit("BANKWISE_ARCHITECTURES", request.architectures);
    visit("BANKWISE_MEMORY", request.memory);
    visit("BANKWISE_OPENCL_DEVICE", request.device);
    visit("BANKWISE_OCLGRIND_DRIVER", request.oclgrind_driver);
    visit("BANKWISE_OPENCL_TEXTS", request.texts);
  }
};

/// To the layer that the OpenCL loader puts before the program's driver when the program is timed.
struct OpenclTimeRequest {
  std::string folder;  ///< for the times
  std::string texts;   ///< as OpenclRequest has it

  template <class Request, class Visit>
  static void for_each_variable(Request& request, Visit visit) {
    visit("BANKWISE_OPENCL_TIMES", request.folder, true);
    visit("BANKWISE_OPENCL_TEXTS", request.texts);
  }
};

/// To the run time of a program that was built for the emulator.
struct EmulateRequest {
  std::string record;                              ///< the trace, to append to; empty: none
  std::string unwatched;                           ///< executed programs that nothing watches, to append to
  std::string results;                             ///< digests of device memory, to append to; empty: none
  std::string architecture;                        ///< whose GPU the program sees; empty: the emulator's default
  unsigned warp = 32;                              ///< lanes
  std::uint64_t max_launches = 0, max_blocks = 0;  ///< to record of each kernel, and of each launch; 0: all
  std::uint64_t step_limit = 0;                    ///< for a block; 0: the emulator's default
  bool fatal = false, warp_synchronous = false, returned_lanes_arrive = false;  ///< as emulator::Launch has them
  bool run_repeated = false;                                                    ///< launches whose results are known
  bool only_watched = false;                                                    ///< blocks that are recorded run alone
  std::string skipped;  ///< for only_watched: what the blocks that did not run leave open, to append to
  Lines kernels;        ///< globs: none: all are recorded
  Lines allow;          ///< ids of trace::faults()
  MemorySpaces memory;

  template <class Request, class Visit>
  static void for_each_variable(Request& request, Visit visit) {
    visit("BANKWISE_RECORD", request.record);
    visit(unwatched_variable, request.unwatched);
    visit("BANKWISE_EMULATE_RESULTS", request.results);
    visit("BANKWISE_EMULATE_ARCH", request.architecture);
    visit("BANKWISE_EMULATE_WARP", request.warp);
    visit("BANKWISE_EMULATE_MAX_LAUNCHES", request.max_launches);
    visit("BANKWISE_EMULATE_MAX_BLOCKS", request.max_blocks);
    visit("BANKWISE_EMULATE_STEP_LIMIT", request.step_limit);
    visit("BANKWISE_EMULATE_FATAL", request.fatal);
    visit("BANKWISE_EMULATE_WARP_SYNCHRONOUS", request.warp_synchronous);
    visit("BANKWISE_EMULATE_RETURNED_LANES_ARRIVE", request.returned_lanes_arrive);
    visit("BANKWISE_EMULATE_RUN_REPEATED", request.run_repeated);
    visit("BANKWISE_EMULATE_ONLY_WATCHED", request.only_watched);
    visit("BANKWISE_EMULATE_SKIPPED", request.skipped);
    visit("BANKWISE_EMULATE_KERNELS", request.kernels);
    visit("BANKWISE_EMULATE_ALLOW", request.allow);
    visit("BANKWISE_EMULATE_MEMORY", request.memory);
  }
};

/// To the library that the CUDA driver loads.
struct CudaRequest {
  std::string folder;                                    ///< for records and cubins
  std::string sanitizer;                                 ///< path of libsanitizer-public.so
  Lines kernels;                                         ///< globs of the kernels to watch; none: all
  std::uint64_t max_launches = 0;                        ///< to watch of each kernel and launch shape; 0: all
  std::uint64_t max_blocks = 0;                          ///< to watch in each launch; 0: all
  std::uint64_t table_bytes = std::uint64_t(256) << 20;  ///< device memory for each context
  MemorySpaces memory;

  template <class Request, class Visit>
  static void for_each_variable(Request& request, Visit visit) {
    visit("BANKWISE_CUDA_RECORDS", request.folder, true);
    visit("BANKWISE_SANITIZER_LIBRARY", request.sanitizer, true);
    visit("BANKWISE_CUDA_KERNELS", request.kernels);
    visit("BANKWISE_CUDA_MAX_LAUNCHES", request.max_launches);
    visit("BANKWISE_CUDA_MAX_GROUPS", request.max_blocks);
    visit("BANKWISE_CUDA_TABLE_BYTES", request.table_bytes);
    visit("BANKWISE_CUDA_MEMORY", request.memory);
  }
};

/// To the library that the CUDA driver loads when the program is timed.
struct CudaTimeRequest {
  std::string folder;  ///< for the times
  std::string cupti;   ///< path of libcupti.so

  template <class Request, class Visit>
  static void for_each_variable(Request& request, Visit visit) {
    visit("BANKWISE_CUDA_TIMES", request.folder, true);
    visit("BANKWISE_CUPTI_LIBRARY", request.cupti, true);
  }
};

inline std::string to_variable(const std::string& text) { return text; }
inline std::string to_variable(std::uint64_t number) { return std::to_string(number); }
inline std::string to_variable(const MemorySpaces& spaces) { return spaces.text(); }
inline std::string to_variable(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

inline void from_variable(const char* /*name*/, std::string_view text, std::string& value) { value = text; }
template <class Number>
requires std::is_integral_v<Number>
void from_variable(const char* name, std::string_view text, Number& value) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  if (const auto [stop, error] = std::from_chars(text.data(), end, number); stop != end || error != std::errc()) {
    throw std::runtime_error(std::string(name) + " is not a number: " + std::string(text));
  }
  value = Number(number);
}
inline void from_variable(const char* name, std::string_view text, MemorySpaces& spaces) {
  const auto named = MemorySpaces::parse(text);
  if (!named) throw std::runtime_error(std::string(name) + " names no memory spaces: " + std::string(text));
  spaces = *named;
}
inline void from_variable(const char* /*name*/, std::string_view text, Lines& lines) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(line.size() == text.size() ? text.size() : line.size() + 1);
  }
}

/// Sets the variables of the programs that start from now on.
template <class Request>
void write_request(const Request& request) {
  Request::for_each_variable(request, [](const char* name, const auto& value, bool /*is_required*/ = false) {
    setenv(name, to_variable(value).c_str(), 1);
  });
}

/// A variable that is not set leaves its member as it is by default. Error: std::runtime_error for a number that is
/// none, and for a variable that is required and not set.
template <class Request>
Request read_request() {
  Request request;
  Request::for_each_variable(request, [](const char* name, auto& value, bool is_required = false) {
    const char* const text = std::getenv(name);
    if (text != nullptr && *text != '\0') {
      from_variable(name, text, value);
    } else if (is_required) {
      throw std::runtime_error(std::string(name) + " is not set");
    }
  });
  return request;
}

}  // namespace bankwise::support
