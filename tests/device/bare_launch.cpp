#include "bare_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/case_studies.hpp"

namespace bankwise {

using namespace study;

namespace gpu {
extern const KernelSet telescoping_sum_kernels;  // generated from the folder telescoping_sum
}
namespace {

constexpr std::uint8_t poison_byte = 0xCD;
constexpr gpu::GroupShape block{256, 1};
constexpr std::uint64_t report_words = 6;

const gpu::KernelImage& image(std::string_view name) {
  const auto images = gpu::telescoping_sum_kernels.images;
  return *std::find_if(images.begin(), images.end(), [&](const gpu::KernelImage& image) { return image.name == name; });
}

}  // namespace

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

Law law_of(const CaseStudy& study) {
  const auto& formula = facts(study).at("formula");
  return {&study, formula.at("stride"), formula.at("total")};
}

std::vector<Law> laws() {
  std::vector<Law> laws;
  for (const CaseStudy* study : all_case_studies) {
    if (facts(*study).contains("formula")) laws.push_back(law_of(*study));
  }
  return laws;
}

TelescopingSum::TelescopingSum(gpu::Session& session) : session_(session), report_(session.allocate(4 * report_words)) {
  for (const auto& image : gpu::telescoping_sum_kernels.images) session.prepare(image, gpu::Form::once, block);
  session.fill(*report_, 0, report_->bytes(), 0);
}

void TelescopingSum::fill(const Law& law, const Memory& memory, Extent extent, std::uint64_t seed) {
  launch("telescoping_sum_fill", {&memory.at(input_slot), law.study->inputs[0].words(extent), law.stride, seed});
}

void TelescopingSum::check(const Law& law, const Memory& memory, Extent extent, std::uint64_t seed,
                           std::uint64_t beyond, std::uint64_t run) {
  const std::uint64_t base = law.total ? law.study->inputs[0].words(extent) : 0;
  launch("telescoping_sum_check",
         {&memory.at(output_slot), report_.get(), law.study->outputs[0].words(extent), beyond,
          std::max<std::uint64_t>(1, extent.height), extent.width, base, law.stride, seed, run});
}

void TelescopingSum::poison(const Memory& memory) {
  const std::uint64_t bytes = memory.at(output_slot).bytes() / 4 * 4;
  if (bytes > 0) session_.fill(memory.at(output_slot), 0, bytes, poison_byte);
}

std::string TelescopingSum::verdict() {
  std::array<std::uint32_t, report_words> report{};
  session_.read(*report_, 0, std::as_writable_bytes(std::span(report)));
  const auto [count, run, low, high, got, right] = report;
  if (count == 0) return {};
  return fmt::format("{} words wrong; first in run {}: word {} is 0x{:08x}, not 0x{:08x}", count, run,
                     std::uint64_t{high} << 32 | low, got, right);
}

void TelescopingSum::launch(std::string_view kernel, std::vector<gpu::KernelArgument> arguments) {
  session_.launch(image(kernel), gpu::Form::once, session_.info().compute_units * std::uint64_t{8}, block, arguments);
}

}  // namespace bankwise
