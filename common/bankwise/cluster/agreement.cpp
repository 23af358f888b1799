// SPDX-License-Identifier: MIT
#include <bankwise/cluster/agreement.hpp>

#include <fmt/format.h>

namespace bankwise::cluster {

void agree(Communicator& communicator, const std::function<void()>& step) {
  std::string reason;
  try {
    step();
  } catch (const gpu::Unsupported& why) {
    reason = why.what();
  }
  const std::vector<std::string> reasons = communicator.gather(reason);
  for (std::size_t rank = 0; rank < reasons.size(); ++rank) {
    if (!reasons[rank].empty()) throw Refused(fmt::format("rank {}: {}", rank, reasons[rank]));
  }
}

}  // namespace bankwise::cluster
