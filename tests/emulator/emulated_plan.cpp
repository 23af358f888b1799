#include "emulated_plan.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <stdexcept>

using namespace bankwise;
using namespace bankwise::study;

namespace {

/// Memory begins at multiples of 256 bytes, as on a GPU: the sectors of accesses depend on it.
template <class T>
struct AsOnGpu {
  using value_type = T;
  static constexpr std::align_val_t alignment{256};
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, alignment); }
  bool operator==(const AsOnGpu&) const = default;
};
using GpuWords = std::vector<Words::value_type, AsOnGpu<Words::value_type>>;

const emulator::NamedKernel& kernel_named(const CaseStudy& study, const std::string& name, const Instead& instead) {
  if (const auto other = instead.find(name); other != instead.end()) return *other->second;
  for (const emulator::NamedKernel* kernel : study.emulated->kernels) {
    if (kernel->name == name) return *kernel;
  }
  throw std::runtime_error(name + " is not in the list of emulated kernels");
}

}  // namespace

std::string why_not_emulated(const CaseStudy& study, const Variant& variant) {
  for (const auto& launch : study.plan(variant, {1, 1}, emulated_units).launches()) {
    const emulator::NamedKernel* kernel = &kernel_named(study, launch.kernel, {});
    if (kernel->run == nullptr) return std::string(kernel->why_not);
  }
  return {};
}

EmulatedJob emulate_job(const CaseStudy& study, const Variant& variant, Extent extent, const std::vector<Words>& inputs,
                        emulator::Launch how, const Instead& instead, bool trace_all) {
  const Plan plan = study.plan(variant, extent, emulated_units);
  constexpr std::uint32_t poison = 0xCDCDCDCD;
  std::map<Slot, GpuWords> memory{{state_slot, GpuWords(plan.state_bytes / sizeof(std::uint32_t), 0)}};
  for (std::size_t i = 0; i < inputs.size(); ++i) memory[input_slot_at(i)].assign(inputs[i].begin(), inputs[i].end());
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    memory[output_slot_at(i)] = GpuWords(study.outputs[i].words(extent), poison);
  }
  for (std::size_t i = 0; i < plan.scratch_bytes.size(); ++i) {
    memory[scratch_slot(i)] = GpuWords(plan.scratch_bytes[i] / sizeof(std::uint32_t), poison);
  }
  EmulatedJob job;
  for (const auto& launch : plan.launches()) {
    std::vector<emulator::Argument> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* slot = std::get_if<Slot>(&argument)) {
        arguments.emplace_back(memory.at(*slot).data());
      } else {
        arguments.emplace_back(std::get<std::uint64_t>(argument));
      }
    }
    if (launch.groups == 0) continue;
    how.grid = {unsigned(launch.groups)};
    how.block = {launch.group.x, launch.group.y};
    how.dynamic_shared = launch.group.dynamic_shared;
    if (trace_all) {
      how.trace_blocks.resize(launch.groups);
      std::iota(how.trace_blocks.begin(), how.trace_blocks.end(), 0);
    }
    job.traces.push_back(kernel_named(study, launch.kernel, instead).run(how, arguments));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!std::ranges::equal(memory[input_slot_at(i)], inputs[i]))
      throw std::runtime_error(std::string(variant.name) + " changes its input");
  }
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    const GpuWords& output = memory[output_slot_at(i)];
    job.outputs.emplace_back(output.begin(), output.end());
  }
  return job;
}
