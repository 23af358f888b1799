// SPDX-License-Identifier: MIT
#include "bare_launch.hpp"

#include <algorithm>

namespace bankwise {
Memory memory_for(gpu::Session& session, const CaseStudy& study, Extent extent, const Plan& plan,
                  std::uint64_t beyond) {
  const auto allocate = [&](std::uint64_t bytes) { return session.allocate(std::max<std::uint64_t>(1, bytes)); };
  Memory memory;
  for (std::size_t i = 0; i < study.inputs.size(); ++i) {
    memory.buffers[input_slot_at(i)] = allocate(4 * study.inputs[i].words(extent));
  }
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {
    memory.buffers[output_slot_at(i)] = allocate(4 * (study.outputs[i].words(extent) + beyond));
  }
  for (std::size_t i = 0; i < plan.scratch_bytes.size(); ++i) {
    memory.buffers[scratch_slot(i)] = allocate(plan.scratch_bytes[i]);
  }
  if (plan.state_bytes > 0) {
    const std::vector<std::byte> zeros(plan.state_bytes);
    memory.buffers[state_slot] = allocate(plan.state_bytes);
    session.write(memory.at(state_slot), 0, zeros);
  }
  return memory;
}

void prepare(gpu::Session& session, const CaseStudy& study, const Plan& plan, gpu::Form form) {
  for (const KernelLaunch& launch : plan.launches()) {
    session.prepare(*find_image(study, launch.kernel), form, launch.group);
    form = gpu::Form::once;
  }
}

void launch(gpu::Session& session, const CaseStudy& study, const Plan& plan, const Memory& memory, gpu::Form form) {
  for (const KernelLaunch& launch : plan.launches()) {
    std::vector<gpu::KernelArgument> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* slot = std::get_if<Slot>(&argument)) {
        arguments.emplace_back(&memory.at(*slot));
      } else {
        arguments.emplace_back(std::get<std::uint64_t>(argument));
      }
    }
    session.launch(*find_image(study, launch.kernel), form, launch.groups, launch.group, arguments);
    form = gpu::Form::once;
  }
}

bool runs_on(const gpu::Session& session, const CaseStudy& study, const Variant& variant) {
  if (variant.library) return false;
  const gpu::KernelImage& image = *find_image(study, study.plan(variant, {1, 1}, 1).launches().front().kernel);
  const bool opencl = session.info().api == gpu::Api::opencl;
  const unsigned needed = opencl ? image.opencl_capability : image.cuda_capability;
  if (gpu::compute_capability(session.info()).value_or(needed) < needed) return false;
  return opencl ? !image.opencl_file.empty() : image.cuda != nullptr;
}

}  // namespace bankwise
