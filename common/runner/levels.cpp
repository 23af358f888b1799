// SPDX-License-Identifier: MIT
#include "bankwise/runner/levels.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "bankwise/emulator/kernel.hpp"

namespace bankwise {
namespace {

/// What block 0 reads of an input begins with it. The rest reads as zeros, and a kernel whose addresses in shared
/// memory depend on data would have to be content with that.
constexpr std::uint64_t filled_words = 1 << 16;

constexpr std::uint64_t most_groups = std::numeric_limits<std::int32_t>::max();  // of a CUDA grid, in x

struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const { munmap(memory, bytes); }
};
using Memory = std::unique_ptr<void, Unmap>;

/// Addresses that read as zeros. Memory comes behind them page by page, where somebody writes, so that a buffer may be
/// larger than the machine.
Memory reserve(std::uint64_t bytes) {
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error(fmt::format("the emulator cannot reserve {} bytes of addresses: {}", bytes,
                                         std::generic_category().message(errno)));
  }
  return Memory(memory, Unmap{size});
}

std::uint64_t bytes_of(std::uint64_t words) {
  return words * sizeof(std::uint32_t);
}

/// The memory that a plan's launches refer to.
class Buffers {
 public:
  Buffers(const CaseStudy& study, Extent extent, const Plan& plan) {
    memory_.push_back(reserve(bytes_of(study.input_words(extent))));
    memory_.push_back(reserve(bytes_of(study.output_words(extent))));
    for (const std::uint64_t bytes : plan.scratch_bytes) memory_.push_back(reserve(bytes));
    state_ = reserve(plan.state_bytes);
    auto* const input = static_cast<std::uint32_t*>(memory_[input_slot.index].get());
    const std::uint64_t words = std::min(filled_words, study.input_words(extent));
    for (std::uint64_t i = 0; i < words; ++i) input[i] = study.input_word(i);
  }

  std::vector<emulator::Argument> arguments_of(const Launch& launch) const {
    std::vector<emulator::Argument> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* slot = std::get_if<Slot>(&argument)) {
        arguments.emplace_back(slot->index == state_slot.index ? state_.get() : memory_.at(slot->index).get());
      } else {
        arguments.emplace_back(std::get<std::uint64_t>(argument));
      }
    }
    return arguments;
  }

 private:
  std::vector<Memory> memory_;
  Memory state_;
};

const emulator::Kernel& emulated_kernel(const CaseStudy& study, std::string_view name) {
  if (study.emulated != nullptr) {
    for (const emulator::Kernel* kernel : study.emulated->kernels) {
      if (kernel->name != name) continue;
      if (kernel->run == nullptr) throw std::runtime_error(std::string(kernel->why_not));
      return *kernel;
    }
  }
  throw std::runtime_error(fmt::format("there is no kernel {} for the emulator", name));
}

emulator::Trace trace_of(const CaseStudy& study, const Launch& launch, const Buffers& buffers, unsigned warp) {
  const emulator::Kernel& kernel = emulated_kernel(study, launch.kernel);
  if (launch.groups > most_groups) {
    throw std::runtime_error(fmt::format("no CUDA grid has {} blocks; at most {}", launch.groups, most_groups));
  }
  emulator::Launch shape;
  shape.grid = unsigned(launch.groups);
  shape.block = {launch.group.x, launch.group.y};
  shape.dynamic_shared = launch.group.dynamic_shared;
  shape.warp = warp;
  shape.run_traced_only = true;
  shape.threads = 1;
  shape.source_lines = false;
  return kernel.run(shape, buffers.arguments_of(launch));
}

/// The names that the problem has for a kernel's levels, or their numbers where it has none.
std::vector<std::string> level_names(const CaseStudy& study, const Variant& variant, std::string_view kernel,
                                     std::size_t count) {
  std::vector<std::string> names;
  if (study.level_names != nullptr) names = study.level_names(variant, kernel);
  if (names.size() == count) return names;
  names.clear();
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("level {}", i));
  return names;
}

std::optional<double> utilization(std::uint64_t lanes, std::uint64_t issued, unsigned warp) {
  if (issued == 0) return std::nullopt;
  return double(lanes) / (double(issued) * warp);
}

/// Error: whatever the emulator finds wrong, as an exception with a sentence.
void emulate(const CaseStudy& study, const Variant& variant, Extent extent, VariantLevels& levels) {
  if (variant.library) throw std::runtime_error("a library has no kernel here to emulate");
  // So many units that block 0 has one tile, as in every other variant.
  const Plan plan = study.plan(variant, extent, ~0U);
  const Buffers buffers(study, extent, plan);
  const unsigned warp = levels.architecture->warp;
  std::vector<std::string_view> seen;
  emulator::Costs all;
  std::uint64_t lanes = 0, issued = 0;  // of all instructions
  for (const Launch& launch : plan.launches) {
    if (std::find(seen.begin(), seen.end(), launch.kernel) != seen.end()) continue;
    seen.push_back(launch.kernel);
    emulator::Trace trace = trace_of(study, launch, buffers, warp);
    for (const auto& block : trace.basic_blocks) {
      lanes += block.lanes;
      issued += block.issued;
    }
    if (trace.accesses.empty()) continue;
    emulator::Report report = emulator::report(trace, *levels.architecture);
    all.add(report.all);
    if (!report.unknown.empty() && levels.reason.empty()) levels.reason = report.unknown.front();
    auto names = level_names(study, variant, launch.kernel, report.levels.size());
    levels.kernels.push_back({launch.kernel, std::move(trace), std::move(report), std::move(names)});
  }
  levels.alu_utilization = utilization(all.lanes, all.accesses, warp);
  levels.simt_efficiency = utilization(lanes, issued, warp);
  levels.costs = known(all);
}

}  // namespace

const banks::Architecture& model_architecture(const banks::Architecture* wanted, std::string_view own) {
  if (wanted != nullptr) return *wanted;
  const banks::Architecture* found = banks::find_architecture(own);
  return found != nullptr ? *found : *banks::find_architecture("sm_90");
}

std::vector<VariantLevels> levels_of(const CaseStudy& study, std::span<const Variant* const> variants, Extent extent,
                                     const banks::Architecture& architecture) {
  if (study.access != nullptr) extent = {1, std::min<std::uint64_t>(extent.width, 2)};
  std::vector<VariantLevels> all;
  for (const Variant* variant : variants) {
    VariantLevels& levels = all.emplace_back();
    levels.variant = variant->name;
    levels.architecture = &architecture;
    levels.group = variant->group;
    try {
      emulate(study, *variant, extent, levels);
    } catch (const std::exception& why) {
      levels.kernels.clear();
      levels.reason = why.what();
    }
  }
  return all;
}

std::optional<emulator::Costs> known(const emulator::Costs& costs) {
  if (costs.unknown > 0) return std::nullopt;
  return costs;
}

}  // namespace bankwise
