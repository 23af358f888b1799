// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include <bankwise/cluster/communicator.hpp>

namespace bankwise::cluster {

/// Runs `step`, which must not communicate, on every rank. If it throws gpu::Unsupported on some, all ranks throw it,
/// with the sentence of the lowest of these ranks: "rank 1: ...". Other exceptions are for Communicator::end().
void agree(Communicator& communicator, const std::function<void()>& step);

}  // namespace bankwise::cluster
