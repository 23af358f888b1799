// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/selection.hpp"

#include <cxxabi.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "bankcheck/cuda/injection/device_table.hpp"

namespace bankwise::cuda {
namespace {

std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : mangled;
}

/// Where the parameters begin. "(anonymous namespace)::" also has parentheses: parameters start at the last "(" outside
/// template arguments that does not open a name.
std::size_t begin_of_parameters(const std::string& demangled) {
  int depth = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c == '(' && depth == 0 && demangled.compare(i, 11, "(anonymous ") != 0) return i;
  }
  return demangled.size();
}

/// Removes the template arguments that the name ends with.
void remove_arguments(std::string& name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == '>' ? 1 : name[i] == '<' ? -1 : 0;
    if (depth == 0) {
      name.erase(i);
      return;
    }
  }
}

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t PERIOD = std::uint64_t(1) << 32;  // a block's number is 32 bits in the patch

/// The sum of floor((factor * i + offset) / divisor) for i from 0 to terms - 1: Euclid's algorithm on the area under
/// the line.
Wide sum_of_floors(Wide terms, Wide divisor, Wide factor, Wide offset) {
  Wide sum = 0;
  while (terms > 0) {
    sum += (terms - 1) * terms / 2 * (factor / divisor) + terms * (offset / divisor);
    factor %= divisor;
    offset %= divisor;
    const Wide top = factor * terms + offset;
    if (top < divisor) break;
    terms = top / divisor;
    offset = top % divisor;
    std::swap(divisor, factor);
  }
  return sum;
}

}  // namespace

std::string bare_name(const std::string& demangled) {
  std::string name = demangled.substr(0, begin_of_parameters(demangled));
  if (name.ends_with('>')) remove_arguments(name);  // the function's own
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == '>' || name[i] == ')' ? 1 : name[i] == '<' || name[i] == '(' ? -1 : 0;
    if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

bool KernelFilter::accepts(const std::string& mangled) const {
  if (globs_.empty()) return true;
  const std::string whole = demangled(mangled), bare = bare_name(whole);
  return std::any_of(globs_.begin(), globs_.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), mangled.c_str(), 0) == 0 || fnmatch(glob.c_str(), whole.c_str(), 0) == 0 ||
           fnmatch(glob.c_str(), bare.c_str(), 0) == 0;
  });
}

bool KernelFilter::accepts_some_kernel(std::string_view cubin) const {
  if (globs_.empty()) return true;
  // The code of each function is in its own section, ".text.<name>"; the names are in the table of section names.
  constexpr std::string_view PREFIX = ".text.";
  bool any = false;
  for (auto at = cubin.find(PREFIX); at != std::string_view::npos; at = cubin.find(PREFIX, at + 1)) {
    const auto start = at + PREFIX.size(), end = cubin.find('\0', start);
    if (end == std::string_view::npos) break;
    any = true;
    if (accepts(std::string(cubin.substr(start, end - start)))) return true;
  }
  return !any;
}

std::uint64_t count_watched_blocks(std::uint64_t blocks, std::uint32_t threshold) {
  if (threshold == ALL_BLOCKS) return blocks;
  // The multiplier is odd, so each period contains every product once.
  const std::uint64_t whole = blocks / PERIOD * threshold, rest = blocks % PERIOD;
  // x mod m < t exactly if floor((x + m) / m) - floor((x + m - t) / m) is 1.
  const Wide below = sum_of_floors(rest, PERIOD, BLOCK_MULTIPLIER, PERIOD) -
                     sum_of_floors(rest, PERIOD, BLOCK_MULTIPLIER, PERIOD - threshold);
  return whole + std::uint64_t(below);
}

BlockSample sample_blocks(std::uint64_t blocks, std::uint64_t max_blocks) {
  if (max_blocks == 0 || blocks <= max_blocks) return {.threshold = ALL_BLOCKS, .blocks = blocks};
  // Block 0 has product 0, so a threshold of 1 watches at least that one.
  auto threshold = std::uint32_t(std::clamp<Wide>(Wide(max_blocks) * PERIOD / blocks, 1, ALL_BLOCKS - 1));
  std::uint64_t watched = count_watched_blocks(blocks, threshold);
  while (watched > max_blocks && threshold > 1) {
    threshold = std::uint32_t(std::max<std::uint64_t>(std::uint64_t(threshold) * max_blocks / watched, 1));
    watched = count_watched_blocks(blocks, threshold);
  }
  return {.threshold = threshold, .blocks = watched};
}

}  // namespace bankwise::cuda
