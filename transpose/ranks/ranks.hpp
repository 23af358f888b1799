// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/study/rank_study.hpp>

namespace bankwise::transpose {

/// The case study on several ranks: docs/several_gpus.md.
extern const RankStudy ranks;

}  // namespace bankwise::transpose
