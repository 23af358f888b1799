// What tests share that are compiled for the emulator.
#pragma once

#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <bankwise/emulator/core/launch.hpp>
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>

// As bankcheck rewrites asm statements.
#define PTX(text, ...) ::bankwise::emulator::device::ptx([] { return text; } __VA_OPT__(, ) __VA_ARGS__)
#define OUT(x) ::bankwise::emulator::device::ptx_out(x)
#define BOTH(x) ::bankwise::emulator::device::ptx_in_out(x)
#define IN(x) ::bankwise::emulator::device::ptx_in(x)

/// Numbers without a pattern.
__device__ inline constexpr unsigned scramble(unsigned i) {
  i = (i ^ i >> 16) * 0x7FEB352D;
  i = (i ^ i >> 15) * 0x846CA68B;
  return i ^ i >> 16;
}

/// 1, 2, 3 ...
inline std::vector<float> numbers(unsigned count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

/// Accesses of an operation; of one width, unless that is 0.
inline std::uint64_t count_of(const bankwise::trace::KernelTrace& trace, bankwise::banks::Operation operation,
                              unsigned width = 0) {
  std::uint64_t count = 0;
  for (const auto& pattern : trace.patterns) {
    if (pattern.operation == operation && (width == 0 || pattern.width == width)) count += pattern.count;
  }
  return count;
}

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
