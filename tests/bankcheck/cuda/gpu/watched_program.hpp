// Runs one of the programs of this folder under `bankcheck cuda` on the GPU, as a user does, and reads its report or
// trace.
#pragma once

#include <fstream>

#include <bankwise/trace/codec.hpp>
#include "tests/bankcheck/checked_report.hpp"
#include "tests/device/devices_under_test.hpp"

/// Whether the GPU has this compute capability, times ten, or a later one.
inline bool has_capability(unsigned wanted) {
  return bankwise::gpu::compute_capability(devices_under_test().front()).value_or(0) >= wanted;
}

/// A program of tests/bankcheck/cuda/gpu/programs, with its arguments.
inline std::string program(const std::string& name, const std::string& arguments = "") {
  return "'" PROGRAMS "/" + name + "' " + arguments;
}

/// The PTX of programs/module.cu.
inline std::string module_file() { return "'" MODULE_PTX "'"; }

/// Options of every run. SANITIZER is the directory of the Sanitizer library that belongs to the headers of the build;
/// empty: bankcheck looks for one.
inline std::string usual_options() {
  constexpr std::string_view sanitizer = SANITIZER;
  return (sanitizer.empty() ? "" : "--sanitizer '" + std::string(sanitizer) + "' ") + "--sources '" PROGRAM_SOURCES
                                                                                      "' ";
}

/// With the report on stdout as text; `before` as in bankcheck().
inline Outcome watch(const std::string& command, const std::string& options = "", const std::string& before = "") {
  return bankcheck("cuda " + usual_options() + options + " -- " + command, before);
}

/// With the report as JSON; the program and the watching must succeed.
inline Checked watched(const std::string& command, const std::string& options = "", const std::string& before = "") {
  Checked checked = check_with("cuda", command, usual_options() + options, before);
  INFO(command);
  INFO(checked.outcome.err);
  REQUIRE(checked.outcome.code == 0);
  return checked;
}

/// The same, and the report must be complete.
inline Checked watched_whole(const std::string& command, const std::string& options = "",
                             const std::string& before = "") {
  Checked checked = watched(command, options, before);
  INFO(checked.json.at("incomplete").dump());
  CHECK(checked.json.at("incomplete").empty());
  return checked;
}

/// What one access of a full warp takes, as often as `accesses` says.
inline Numbers times(std::uint64_t accesses, std::uint64_t passes, std::uint64_t ideal = 1, std::uint64_t lanes = 32) {
  return {accesses, lanes * accesses, passes * accesses, ideal * accesses, (passes - ideal) * accesses};
}

/// A kernel ran so often, with so many blocks in all.
inline void check_launches(const Checked& checked, const std::string& kernel, unsigned launches, unsigned blocks) {
  INFO(kernel);
  CHECK(checked.kernel(kernel).at("launches") == launches);
  CHECK(checked.kernel(kernel).at("blocks") == blocks);
}

/// All numbers of ways_32 of programs/common.cuh.
inline void check_ways_32(const Checked& checked, unsigned launches, unsigned blocks) {
  check_launches(checked, "ways_32", launches, blocks);
  CHECK(numbers(checked.on("ways_32"), "32-way store", "store") == times(blocks, 32));
  CHECK(numbers(checked.on("ways_32"), "32-way load", "load") == times(blocks, 32));
  CHECK(numbers(checked.on("ways_32")) == times(std::uint64_t{2} * blocks, 32));
}

/// All numbers of ways_2.
inline void check_ways_2(const Checked& checked, unsigned launches, unsigned blocks) {
  check_launches(checked, "ways_2", launches, blocks);
  CHECK(numbers(checked.on("ways_2"), "2-way store", "store") == times(blocks, 2));
  CHECK(numbers(checked.on("ways_2"), "2-way loads", "load") == times(std::uint64_t{2} * blocks, 2));
  CHECK(numbers(checked.on("ways_2")) == times(std::uint64_t{3} * blocks, 2));
}

/// Only these kernels were reported.
inline void check_kernels(const Checked& checked, const std::vector<std::string>& names) {
  std::vector<std::string> reported;
  for (const auto& kernel : checked.json.at("kernels")) reported.push_back(kernel.at("kernel"));
  std::sort(reported.begin(), reported.end());
  CHECK(reported == names);
}

struct Ran {
  unsigned launches = 0, blocks = 0;
};

/// The program ran ways_32 and, unless it is 0 times, ways_2, and nothing else.
inline Checked check_program(const std::string& command, Ran wide, Ran narrow = {}) {
  Checked c = watched_whole(command);
  check_kernels(
      c, narrow.launches == 0 ? std::vector<std::string>{"ways_32"} : std::vector<std::string>{"ways_2", "ways_32"});
  check_ways_32(c, wide.launches, wide.blocks);
  if (narrow.launches != 0) check_ways_2(c, narrow.launches, narrow.blocks);
  return c;
}

/// Requires exit code 3 and one sentence that contains `words`, and returns the text of the report.
inline std::string check_fails_with(const std::string& command, const std::string& words,
                                    const std::string& options = "") {
  const Outcome outcome = watch(command, options);
  INFO(command);
  INFO(outcome.out);
  INFO(outcome.err);
  CHECK(outcome.code == 3);
  const auto sentences = sentences_in(outcome.err);
  CHECK(sentences.size() == 1);
  CHECK_THAT(outcome.err, has(words));
  return outcome.out;
}

/// What a program did, as `bankcheck cuda --trace` writes it.
struct Traced {
  Outcome outcome;
  bankwise::trace::Trace trace;

  const bankwise::trace::KernelTrace& kernel(const std::string& name) const {
    for (const bankwise::trace::KernelTrace& kernel : trace.kernels) {
      if (kernel.kernel == name) return kernel;
    }
    throw std::runtime_error("no kernel " + name);
  }
};

/// The program must succeed.
inline Traced traced(const std::string& command, const std::string& options = "") {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "trace.jsonl";
  Traced traced{ended(0, watch(command, options + " --trace '" + file.string() + "'")), {}};
  std::ifstream lines(file);
  traced.trace = bankwise::trace::read_json_lines(lines, "trace").trace;
  return traced;
}
