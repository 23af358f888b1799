// Runs bankcheck as a user does.
#pragma once

#include <string>
#include <vector>

#include "tests/programs.hpp"

/// Runs in the shell: `before` may set variables and limits or feed a pipe; redirections in `arguments` work.
inline Outcome bankcheck(const std::string& arguments, const std::string& before = "") {
  return in_shell(before + " '" SAMPLES_DIRECTORY "/bankcheck'", arguments);
}

/// The lines on stderr that bankcheck itself wrote, without its name in front.
inline std::vector<std::string> sentences_in(const std::string& err) {
  const std::string name = "bankcheck: ";
  std::vector<std::string> sentences;
  for (const std::string& line : lines_in(err)) {
    if (line.starts_with(name)) sentences.push_back(line.substr(name.size()));
  }
  return sentences;
}

/// Requires this exit code, and one line on stderr that contains `words`.
inline Outcome check_fails(const std::string& arguments, int code, const std::string& words,
                           const std::string& before = "") {
  Outcome outcome = bankcheck(arguments, before);
  INFO(before << " bankcheck " << arguments);
  INFO(outcome.err);
  CHECK(outcome.code == code);
  CHECK_THAT(outcome.err, has(words));
  CHECK(outcome.err.rfind("bankcheck: ", 0) == 0);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  return outcome;
}
