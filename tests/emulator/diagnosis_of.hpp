// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <bankwise/emulator/core/diagnosis.hpp>

/// The diagnosis of what `launch` emulates; empty if there is none.
inline std::optional<bankwise::emulator::Diagnosis> diagnosis_of(const std::function<void()>& launch) {
  try {
    launch();
    return std::nullopt;
  } catch (const bankwise::emulator::Diagnosis& diagnosis) {
    return diagnosis;
  }
}

/// The first line of a file that contains a text.
inline unsigned line_with(const std::string& file, const std::string& text) {
  std::ifstream stream(file);
  unsigned number = 1;
  for (std::string line; std::getline(stream, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  throw std::runtime_error(file + " has no line with: " + text);
}
