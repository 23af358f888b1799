// Instructions that access shared memory without addresses of lanes: what the record says of them, in the bank model's
// terms.
#pragma once

#include <optional>
#include <string_view>

#include <bankwise/banks/engines.hpp>
#include <bankwise/banks/sectors.hpp>
#include "bankcheck/cuda/record.hpp"

namespace bankwise::cuda {

/// What one of the instructions does. Nothing if the record does not tell, as of TMA stores, or if the tensor map of a
/// TMA load makes no sense in the format of compute capability 9.0, which NVIDIA does not document.
std::optional<banks::EngineWork> work_of(const BulkCopies& copies);

/// An instruction between shared and global memory.
bool is_global(const BulkCopies& copies);

/// The sectors of global memory that all of them move; nothing for TMA, whose addresses are not recorded.
struct BulkSectors {
  banks::Operation operation = banks::Operation::load;
  banks::SectorTally tally;
};
std::optional<BulkSectors> sectors_of(const BulkCopies& copies);

}  // namespace bankwise::cuda
