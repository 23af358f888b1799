// SPDX-License-Identifier: MIT
#include "emulated_plan.hpp"

#include <numeric>
#include <stdexcept>

using namespace bankwise;

namespace {

const emulator::Kernel& kernel_named(const CaseStudy& study, const std::string& name, const Instead& instead) {
  if (const auto other = instead.find(name); other != instead.end()) return *other->second;
  for (const emulator::Kernel* kernel : study.emulated->kernels) {
    if (kernel->name == name) return *kernel;
  }
  throw std::runtime_error(name + " is not in the list of emulated kernels");
}

}  // namespace

std::string why_not_emulated(const CaseStudy& study, const Variant& variant) {
  for (const auto& launch : study.plan(variant, {1, 1}, emulated_units).launches) {
    const emulator::Kernel* kernel = &kernel_named(study, launch.kernel, {});
    if (kernel->run == nullptr) return std::string(kernel->why_not);
  }
  return {};
}

EmulatedJob emulate_job(const CaseStudy& study, const Variant& variant, Extent extent, const Words& input,
                        emulator::Launch how, const Instead& instead, bool trace_all) {
  const Plan plan = study.plan(variant, extent, emulated_units);
  constexpr std::uint32_t poison = 0xCDCDCDCD;
  std::vector<Words> memory{input, Words(study.output_words(extent), poison)};
  for (const auto bytes : plan.scratch_bytes) memory.emplace_back(bytes / sizeof(std::uint32_t), poison);
  Words state(plan.state_bytes / sizeof(std::uint32_t), 0);
  EmulatedJob job;
  for (const auto& launch : plan.launches) {
    std::vector<emulator::Argument> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* slot = std::get_if<Slot>(&argument)) {
        arguments.emplace_back(slot->index == state_slot.index ? state.data() : memory.at(slot->index).data());
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
  if (memory[0] != input) throw std::runtime_error(std::string(variant.name) + " changes its input");
  job.output = memory[1];
  return job;
}
