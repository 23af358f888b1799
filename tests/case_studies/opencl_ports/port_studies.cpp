// SPDX-License-Identifier: MIT
#include "port_studies.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "doubling.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;

namespace bankwise::gpu {
extern const KernelSet common_gpu_kernels;
}
namespace bankwise::emulator {
extern const KernelSet common_gpu_emulated, doubling_emulated;
}

namespace {

/// The kernel that flushes caches. Its output is one poisoned word that it never writes.
const CaseStudy& flush() {
  static constexpr Variant variants[]{{"read_all", {256, 1}, "reads every 32 bytes"}};
  static constexpr Operand inputs[]{{"input", [](Extent extent) { return extent.count(); }}};
  static constexpr Operand outputs[]{{"output", [](Extent) { return std::uint64_t{1}; }}};
  static const CaseStudy study{
      .name = "flush",
      .element = "words",
      .variants = variants,
      .kernels = &gpu::common_gpu_kernels,
      .emulated = &emulator::common_gpu_emulated,
      .inputs = inputs,
      .outputs = outputs,
      .reference = [](Extent, std::span<const Words>, const Variant&) { return std::vector<Words>{{0xCDCDCDCD}}; },
      .plan =
          [](const Variant& variant, Extent extent, unsigned) {
            return Plan{{}, {KernelLaunch{"read_all", 2, variant.group, {input_slot, output_slot, extent.count()}}}};
          },
  };
  return study;
}

/// The case study of the tests of the installed package.
const CaseStudy& doubling_emulated() {
  static const CaseStudy study = [] {
    CaseStudy emulated = doubling::case_study();
    emulated.emulated = &emulator::doubling_emulated;
    return emulated;
  }();
  return study;
}

}  // namespace

const std::vector<const CaseStudy*>& port_studies() {
  static const std::vector<const CaseStudy*> all = [] {
    std::vector<const CaseStudy*> studies(std::begin(all_case_studies), std::end(all_case_studies));
    studies.push_back(&flush());
    studies.push_back(&doubling_emulated());
    return studies;
  }();
  return all;
}

const CaseStudy& ported_study(std::string_view name) {
  for (const CaseStudy* study : port_studies()) {
    if (study->name == name) return *study;
  }
  throw std::runtime_error("no case study " + std::string(name));
}

std::vector<Variant> variants_of_all_kernels(const CaseStudy& study, Extent extent, unsigned compute_units) {
  std::vector<Variant> chosen;
  std::map<std::vector<std::string>, std::pair<unsigned, std::size_t>>
      found;  // keyed by kernels: how many, and the index of the last
  for (const Variant& variant : study.variants) {
    if (variant.library) continue;
    std::vector<std::string> kernels;
    for (const KernelLaunch& launch : study.plan(variant, extent, compute_units).launches())
      kernels.push_back(launch.kernel);
    auto& [count, place] = found[kernels];
    if (++count > 2) {
      chosen[place] = variant;
      continue;
    }
    place = chosen.size();
    chosen.push_back(variant);
  }
  return chosen;
}
