#include "port_studies.hpp"

#include <map>
#include <string>
#include <utility>

#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace bankwise::gpu {
extern const KernelSet common_gpu_kernels;
}
namespace bankwise::emulator {
extern const NamedKernels common_gpu_emulated;
}

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
            return Plan{
                {},
                {KernelLaunch{
                    "read_all", 2, variant.group, {input_slot, output_slot, extent.count(), std::uint64_t{1}}}}};
          },
  };
  return study;
}

const CaseStudy& ported_study(std::string_view name) { return name == flush().name ? flush() : case_study_named(name); }

std::vector<Variant> variants_of_all_kernels(const CaseStudy& study, Extent extent, unsigned compute_units) {
  std::vector<Variant> chosen;
  std::map<std::vector<std::string>, std::pair<unsigned, std::size_t>>
      found;  // keyed by kernels: how many, and the index of the last
  for (const Variant& variant : study.variants) {
    if (variant.library) continue;
    std::vector<std::string> kernels;
    for (const KernelLaunch& launch : study.plan(variant, extent, compute_units).launches())
      kernels.push_back(launch.kernel);
    if (!kernels.empty() && !find_image(study, kernels.front())->why_not_ported.empty()) continue;  // for one API only
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
