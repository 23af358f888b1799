// SPDX-License-Identifier: MIT
//
// Runs a program under `bankcheck opencl`, as a user does, and reads its report.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bankcheck/bankcheck_program.hpp"

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
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& line : kernel.at("lines")) {
    if (line.at("source").get<std::string>().find(part) != std::string::npos && line.at("operation") == operation) {
      found.push_back(line);
    }
  }
  return found;
}

/// `command` is the program with its arguments, as a shell command; `options` are bankcheck's.
inline Checked check(const std::string& command, const std::string& options = "", const std::string& before = "") {
  const ScratchDirectory scratch;
  const auto json = scratch.path() / "report.json";
  Checked checked{bankcheck("opencl " + options + " --json " + json.string() + " -- " + command, before), {}};
  if (std::filesystem::exists(json)) checked.json = nlohmann::json::parse(text_of(json));
  return checked;
}

/// A program of tests/bankcheck/opencl/programs.
inline std::string program(const std::string& name) {
  return "'" PROGRAMS "/" + name + "'";
}
