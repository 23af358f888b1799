// SPDX-License-Identifier: MIT
#include "telescoping_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/case_studies.hpp"

namespace bankwise {
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
