// SPDX-License-Identifier: MIT
#include <bankwise/trace/trace.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace bankwise::trace {
namespace {

constexpr std::uint64_t saturated = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? saturated : product;
}

/// In the order of Maker.
constexpr std::string_view makers[]{"", "bankcheck opencl", "bankcheck emulate", "bankcheck cuda"};

}  // namespace

std::string_view to_string(Maker maker) { return makers[std::size_t(maker)]; }

Maker maker_named(std::string_view name) {
  const auto* const maker = std::find(std::begin(makers), std::end(makers), name);
  return maker == std::end(makers) ? Maker::other : Maker(maker - std::begin(makers));
}

std::uint64_t blocks_of(const LaunchShape& shape) {
  std::uint64_t blocks = 1;
  for (std::size_t i = 0; i < shape.threads.size(); ++i) {
    const std::uint64_t size = std::max<std::uint64_t>(1, shape.block[i]), threads = shape.threads[i];
    blocks = times(blocks, threads / size + (threads % size != 0 ? 1 : 0));
  }
  return blocks;
}

std::uint64_t launches_of(const KernelTrace& kernel) {
  std::uint64_t launches = 0;
  for (const LaunchShape& shape : kernel.shapes) launches += shape.launches;
  return launches;
}

std::uint64_t launched_blocks(const KernelTrace& kernel) {
  std::uint64_t blocks = 0;
  for (const LaunchShape& shape : kernel.shapes) {
    if (__builtin_add_overflow(blocks, times(blocks_of(shape), shape.launches), &blocks)) return saturated;
  }
  return blocks;
}

std::uint64_t accesses_of(const KernelTrace& kernel) {
  std::uint64_t accesses = kernel.excess_accesses;
  for (const Pattern& pattern : kernel.patterns) accesses += pattern.count;
  return accesses;
}

KernelTrace merged(const KernelTrace& kernel) {
  KernelTrace second = kernel;
  if (second.merged) second.patterns = *std::exchange(second.merged, std::nullopt);
  second.order.clear();
  return second;
}

// Without {fmt}: a plugin of Oclgrind contains this.
std::string sentence_of(const DiagnosisRecord& diagnosis) {
  const FaultRow& row = row_of(diagnosis.fault);
  std::string text = row.is_remark ? "remark: " : "";
  text.append(row.name).append(": ").append(diagnosis.text);
  if (diagnosis.count > 1) text += "; " + std::to_string(diagnosis.count) + " times";
  if (diagnosis.ended) text += "; this ended the launch";
  return text;
}

std::string placed_sentence_of(const DiagnosisRecord& diagnosis, const KernelTrace& kernel) {
  const Site& site = kernel.sites[diagnosis.site];
  const std::string place = site.line == 0 ? "?" : site.file + ":" + std::to_string(site.line);
  return place + ": " + sentence_of(diagnosis);
}

bool is_sampled(std::uint64_t block, std::uint64_t blocks, std::uint64_t max_blocks) {
  if (max_blocks == 0 || max_blocks >= blocks) return true;
  const auto before = [&](std::uint64_t number) {
    return std::uint64_t(static_cast<__uint128_t>(number) * max_blocks / blocks);
  };
  return before(block + 1) > before(block);
}

}  // namespace bankwise::trace
