// SPDX-License-Identifier: MIT
#include <bankwise/study/rank_study.hpp>

#include <algorithm>

namespace bankwise {

std::uint64_t first_item(std::uint64_t n, unsigned rank, unsigned ranks) {
  return n / ranks * rank + std::min<std::uint64_t>(rank, n % ranks);
}

RankPlan with_ranks(const Plan& plan) {
  RankPlan ranks{plan.scratch_bytes, plan.state_bytes, {}};
  for (const Launch& launch : plan.launches) {
    auto& step =
        std::get<RankLaunch>(ranks.steps.emplace_back(RankLaunch{launch.kernel, launch.groups, launch.group, {}}));
    for (const auto& argument : launch.arguments) {
      std::visit([&](const auto& value) { step.arguments.emplace_back(value); }, argument);
    }
  }
  return ranks;
}

const gpu::KernelImage* find_rank_image(const CaseStudy& study, std::string_view name) {
  const auto& images = study.ranks->kernels->images;
  const auto found = std::find_if(images.begin(), images.end(), [&](const auto& image) { return image.name == name; });
  return found == images.end() ? find_image(study, name) : &*found;
}

}  // namespace bankwise
