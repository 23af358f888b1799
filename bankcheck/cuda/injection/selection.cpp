#include "bankcheck/cuda/injection/selection.hpp"

#include <cxxabi.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bankcheck/cuda/injection/device_table.hpp"

namespace bankwise::cuda {
namespace {

std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : mangled;
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
  constexpr std::string_view nameless = "(anonymous namespace)";  // no parameters
  std::size_t begin = 0, end = demangled.size(), arguments = 0;
  int depth = 0;
  for (std::size_t i = 0; i < end; ++i) {
    if (demangled.compare(i, nameless.size(), nameless) == 0) i += nameless.size();
    const char c = demangled[i];
    if (depth == 0 && c == ' ') begin = i + 1;
    if (depth == 0 && c == '<') arguments = i;
    if (depth == 0 && c == '(') end = i;
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
  }
  if (end > 0 && demangled[end - 1] == '>') end = arguments;  // the function's own
  return demangled.substr(begin, end - begin);
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
