// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::cluster {

/// Something that all ranks refuse alike, so they stay in step. After any other exception, Communicator::end() must
/// follow.
class Refused : public gpu::Unsupported {
 public:
  using gpu::Unsupported::Unsupported;
};

/// Runs `step`, which must not communicate, on every rank. If it throws gpu::Unsupported on some, all ranks throw
/// Refused, with the sentence of the lowest of these ranks: "rank 1: ...".
void agree(Communicator& communicator, const std::function<void()>& step);

}  // namespace bankwise::cluster
