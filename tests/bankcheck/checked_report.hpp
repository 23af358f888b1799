// The JSON report of a checker, as the tests read it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/json_members.hpp"

using Numbers = std::vector<std::uint64_t>;  ///< accesses, lanes, passes, ideal passes, conflicts

struct Checked {
  Outcome outcome;
  nlohmann::json json;  ///< null if bankcheck wrote none

  const nlohmann::json& kernel(const std::string& name) const {
    for (const auto& kernel : json.at("kernels")) {
      if (kernel.at("kernel") == name) return kernel;
    }
    throw std::runtime_error("no kernel " + name);
  }

  /// The numbers of a kernel on an architecture, by its index in --arch.
  const nlohmann::json& on(const std::string& name, std::size_t architecture = 0) const {
    return kernel(name).at("architectures").at(architecture);
  }
};

/// The rows of the line that contains `part`.
inline std::vector<nlohmann::json> rows(const nlohmann::json& kernel, const std::string& part,
                                        const std::string& operation) {
  std::vector<nlohmann::json> lines;
  for (const nlohmann::json& line : kernel.at("lines")) {
    if (line.at("source").get<std::string>().find(part) != std::string::npos && line.at("operation") == operation) {
      lines.push_back(line);
    }
  }
  return lines;
}

inline Numbers numbers(const nlohmann::json& tally) {
  Numbers values;
  for (const char* key : {"accesses", "lanes", "passes", "ideal_passes", "conflicts"}) values.push_back(tally.at(key));
  return values;
}

/// The sum over all rows of a line.
inline Numbers numbers(const nlohmann::json& kernel, const std::string& part, const std::string& operation) {
  Numbers sum(5, 0);
  for (const nlohmann::json& row : rows(kernel, part, operation)) {
    const Numbers row_numbers = numbers(row);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += row_numbers[i];
  }
  return sum;
}

/// `checker` is "opencl" or "cuda"; `command` is the program with its arguments, as a shell command; `options` are
/// bankcheck's; `before` as in bankcheck().
inline Checked check_with(const std::string& checker, const std::string& command, const std::string& options,
                          const std::string& before) {
  const ScratchDirectory scratch;
  const auto json = scratch.path() / "report.json";
  Checked checked{bankcheck(checker + " " + options + " --json " + json.string() + " -- " + command, before), {}};
  if (std::filesystem::exists(json)) checked.json = nlohmann::json::parse(text_of(json));
  return checked;
}
