// Runs the case-study programs as a user does.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch_any.hpp"
#include "scratch_directory.hpp"

struct Outcome {
  int code;
  std::string out, err;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::size_t files_in(const std::filesystem::path& directory) {
  return std::size_t(std::distance(std::filesystem::directory_iterator(directory), {}));
}

/// Runs a shell command. `arguments` stand behind the redirections of its output, so they may redirect it again.
inline Outcome in_shell(const std::string& program, const std::string& arguments) {
  const ScratchDirectory scratch;
  const auto out = scratch.path() / "out", err = scratch.path() / "err";
  const int status = std::system((program + " >" + out.string() + " 2>" + err.string() + " " + arguments).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

/// Runs a program in the shell, with variables set in front. Programs that measure get flags for a short run;
/// redirections in `arguments` work.
inline Outcome run(const std::string& sample, const std::string& arguments, const std::string& environment = "") {
  const bool own_times = arguments.find("-time") != std::string::npos;
  const std::string short_run = own_times ? "" : " --min-time 0 --timeout 0.02";
  return in_shell(environment + "'" SAMPLES_DIRECTORY "/" + sample + "'" + short_run, arguments);
}

/// An outcome with this exit code.
inline Outcome ended(int code, Outcome outcome) {
  INFO(outcome.err << outcome.out);
  CHECK(outcome.code == code);
  return outcome;
}

/// Bad input gives this exit code, nothing on stdout, and one line on stderr that contains `words`.
inline void check_refused(const std::string& sample, const std::string& arguments, int code, const std::string& words) {
  INFO(sample << " " << arguments);
  const Outcome outcome = run(sample, arguments);
  INFO(outcome.err);
  CHECK(outcome.code == code);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, has(words));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

/// How often a part occurs in a text.
inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

inline std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// No line is too long for a terminal of 100 columns.
inline void check_fits(const std::string& text) {
  for (const std::string& line : lines_in(text)) CHECK(line.size() <= 100);
}
