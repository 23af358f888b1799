// Runs a program that fails, or nearly so, under `bankcheck opencl`, and reads the messages of bankcheck.
#pragma once

#include <filesystem>
#include <string>

#include "checked_program.hpp"
#include "tests/catch_any.hpp"

/// The line of the report of a program that launched the kernel `good` once.
inline const std::string report = "\ngood: 1 launch, 1 work-group of 64 work-items";

/// Whether the program has written nothing, and bankcheck's report has the line.
inline bool is_report(const std::string& text, const std::string& line = report) {
  return text.starts_with("-- bankcheck opencl: ") && text.find(line) != std::string::npos;
}

/// Runs the command with its own directory for temporary files, which must be empty at the end.
inline Outcome run_cleanly(const std::string& command, const std::string& options = "") {
  const ScratchDirectory scratch;
  Outcome outcome = bankcheck("opencl " + options + " -- " + command, "TMPDIR=" + scratch.path().string());
  CHECK(std::filesystem::is_empty(scratch.path()));
  return outcome;
}

/// Checks for exit code 3, that stderr ends with one message that contains `words`, and that the message stands on top
/// of the report, if there is one.
inline void check_blamed(const Outcome& outcome, const std::string& words) {
  INFO(outcome.err);
  CHECK(outcome.code == 3);
  const auto sentences = sentences_in(outcome.err);
  REQUIRE(sentences.size() == 1);
  CHECK_THAT(sentences[0], has(words));
  CHECK(outcome.err.ends_with("bankcheck: " + sentences[0] + "\n"));
  const auto kernels = outcome.out.find(" work-group");
  if (kernels != std::string::npos) CHECK(outcome.out.find("incomplete: " + sentences[0] + "\n") < kernels);
}

inline Outcome check_blames(const std::string& command, const std::string& words) {
  INFO(command);
  Outcome outcome = run_cleanly(command);
  check_blamed(outcome, words);
  return outcome;
}
