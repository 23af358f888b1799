// The parts of resolve(): what the record of a kernel adds to its trace, by memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/engines.hpp>
#include <bankwise/banks/sectors.hpp>
#include <bankwise/trace/builder.hpp>
#include "bankcheck/cuda/cubin/cubin.hpp"
#include "bankcheck/cuda/record.hpp"

namespace bankwise::cuda {

/// TMA copies in the code of a kernel for which NVIDIA's Sanitizer library does not call the patch, so that it is not
/// known how often they ran: how many instructions. That of CUDA 13.0 sees none of them, that of version 2026.2 sees
/// loads.
struct UnseenCopies {
  std::uint64_t loads = 0, stores = 0;
};

/// A kernel's code, where its cubin could be read.
struct Code {
  const Cubin* cubin = nullptr;
  std::string function;  ///< mangled
  std::vector<Cubin::SharedArray> arrays;
  const banks::Architecture* architecture = nullptr;  ///< that of the GPU that ran it, if the bank model knows it
  UnseenCopies unseen;

  std::optional<std::string> opcode_at(std::uint64_t pc) const {
    return cubin == nullptr ? std::nullopt : cubin->opcode_at(function, pc);
  }
};

/// `sees_loads`, `sees_stores`: the library has seen some.
UnseenCopies unseen_copies(const RecordedKernel& kernel, const Code& code, bool sees_loads, bool sees_stores);

/// The innermost line that is not in a header of the CUDA Toolkit, and, if there is one, not in an installed Python
/// package either; null if there is none.
const SourceFrame* reported_frame(const std::vector<SourceFrame>& frames);

/// Where an instruction comes from: reported_frame() of its lines.
trace::Site site_of(const Code& code, std::uint64_t pc);

/// Adds what costs sectors: accesses to the memories that `memory` names (other blocks' shared memory is shared
/// memory), and copies between them; and accesses to local memory.
void add_sectors(const RecordedKernel& kernel, const Code& code, support::MemorySpaces memory,
                 const std::vector<const banks::Architecture*>& architectures, trace::Builder& builder);

/// Adds what accesses shared memory without addresses of lanes.
void add_engines(const RecordedKernel& kernel, const Code& code, trace::Builder& builder);

// Instructions that access shared memory without addresses of lanes: what the record says of them, in the bank model's
// terms.

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
