// SPDX-License-Identifier: MIT
#include <bankwise/study/emulated_launch.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace bankwise::study {
namespace {

constexpr std::uint64_t filled_words = 1 << 16;                                 // words at the beginning of each input
constexpr std::uint64_t max_groups = std::numeric_limits<std::int32_t>::max();  // the limit of a CUDA grid in x

const emulator::NamedKernel& emulated_kernel(const CaseStudy& study, std::string_view name) {
  if (study.emulated != nullptr) {
    for (const emulator::NamedKernel* kernel : study.emulated->kernels) {
      if (kernel->name != name) continue;
      if (kernel->run == nullptr) throw std::runtime_error(std::string(kernel->why_not));
      return *kernel;
    }
  }
  throw std::runtime_error(fmt::format("there is no kernel {} for the emulator", name));
}

}  // namespace

void EmulatedMemory::Unmap::operator()(void* memory) const { munmap(memory, bytes); }

/// Reserves addresses that read as zeros. The system provides memory page by page, on the first write.
EmulatedMemory::Memory EmulatedMemory::reserve(std::uint64_t bytes) {
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error(fmt::format("the emulator cannot reserve {} bytes of addresses: {}", bytes,
                                         std::generic_category().message(errno)));
  }
  return Memory(memory, Unmap{size});
}

EmulatedMemory::EmulatedMemory(const CaseStudy& study, Extent extent, const Plan& plan) {
  for (std::size_t i = 0; i < study.inputs.size(); ++i) {
    const std::uint64_t words = study.inputs[i].words(extent);
    Memory& input = memory_[input_slot_at(i)] = reserve(words * sizeof(std::uint32_t));
    input_words(study.inputs[i], 0, {static_cast<std::uint32_t*>(input.get()), std::min(filled_words, words)});
  }
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    memory_[output_slot_at(i)] = reserve(study.outputs[i].words(extent) * sizeof(std::uint32_t));
  }
  for (std::size_t i = 0; i < plan.scratch_bytes.size(); ++i) memory_[scratch_slot(i)] = reserve(plan.scratch_bytes[i]);
  memory_[state_slot] = reserve(plan.state_bytes);
}

std::vector<emulator::Argument> EmulatedMemory::arguments_of(const KernelLaunch& launch) const {
  std::vector<emulator::Argument> arguments;
  for (const auto& argument : launch.arguments) {
    if (const auto* slot = std::get_if<Slot>(&argument)) {
      arguments.emplace_back(memory_.at(*slot).get());
    } else {
      arguments.emplace_back(std::get<std::uint64_t>(argument));
    }
  }
  return arguments;
}

Plan plan_to_emulate(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units) {
  if (variant.library) throw std::runtime_error("a library has no kernel here to emulate");
  return study.plan(variant, extent, units);
}

trace::KernelTrace trace_of(const CaseStudy& study, const KernelLaunch& launch, const EmulatedMemory& memory,
                            unsigned warp, bool record_order) {
  const emulator::NamedKernel& kernel = emulated_kernel(study, launch.kernel);
  if (launch.groups > max_groups) {
    throw std::runtime_error(fmt::format("no CUDA grid has {} blocks; at most {}", launch.groups, max_groups));
  }
  emulator::Launch shape;
  shape.grid = unsigned(launch.groups);
  shape.block = {launch.group.x, launch.group.y};
  shape.dynamic_shared = launch.group.dynamic_shared;
  shape.warp = warp;
  shape.run_traced_only = true;
  shape.threads = 1;
  shape.record_order = record_order;
  shape.source_lines = false;
  return kernel.run(shape, memory.arguments_of(launch));
}

}  // namespace bankwise::study
