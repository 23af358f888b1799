// SPDX-License-Identifier: MIT
#include "bare_launch.hpp"

#include <algorithm>

namespace bankwise {
namespace {

gpu::Buffer& buffer(const Memory& memory, Slot slot) {
  if (slot.index == input_slot.index) return *memory.in;
  if (slot.index == output_slot.index) return *memory.out;
  if (slot.index == state_slot.index) return *memory.state;
  return *memory.scratch.at(slot.index - scratch_slot(0).index);
}

gpu::Form form_of(std::size_t launch, gpu::Form first) {
  return launch == 0 ? first : gpu::Form::once;
}

}  // namespace

Memory memory_for(gpu::Session& session, const CaseStudy& study, Extent extent, const Plan& plan,
                  std::uint64_t beyond) {
  const auto allocate = [&](std::uint64_t bytes) { return session.allocate(std::max<std::uint64_t>(1, bytes)); };
  Memory memory;
  memory.in = allocate(4 * study.input_words(extent));
  memory.out = allocate(4 * (study.output_words(extent) + beyond));
  for (const std::uint64_t bytes : plan.scratch_bytes) memory.scratch.push_back(allocate(bytes));
  if (plan.state_bytes > 0) {
    const std::vector<std::byte> zeros(plan.state_bytes);
    memory.state = allocate(plan.state_bytes);
    session.write(*memory.state, 0, zeros);
  }
  return memory;
}

void prepare(gpu::Session& session, const CaseStudy& study, const Plan& plan, gpu::Form form) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    session.prepare(*find_image(study, launch.kernel), form_of(i, form), launch.group);
  }
}

void launch(gpu::Session& session, const CaseStudy& study, const Plan& plan, const Memory& memory, gpu::Form form) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    std::vector<gpu::KernelArgument> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* slot = std::get_if<Slot>(&argument)) {
        arguments.emplace_back(&buffer(memory, *slot));
      } else {
        arguments.emplace_back(std::get<std::uint64_t>(argument));
      }
    }
    session.launch(*find_image(study, launch.kernel), form_of(i, form), launch.groups, launch.group, arguments);
  }
}

bool runs_on(const gpu::Session& session, const CaseStudy& study, const Variant& variant) {
  if (variant.library) return false;
  const gpu::KernelImage& image = *find_image(study, study.plan(variant, {1, 1}, 1).launches.front().kernel);
  const bool opencl = session.info().api == gpu::Api::opencl;
  const unsigned needed = opencl ? image.opencl_capability : image.cuda_capability;
  if (gpu::compute_capability(session.info()).value_or(needed) < needed) return false;
  return opencl ? !image.opencl_file.empty() : image.cuda != nullptr;
}

}  // namespace bankwise
