// Engines: instructions that access shared memory without an address of each lane, on compute capability 9.0 and newer.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include <bankwise/banks/architecture.hpp>

namespace bankwise::banks {

/// What accesses shared memory without addresses of lanes: the tensor cores (wgmma), and copies that one thread starts:
/// of consecutive bytes (cp.async.bulk, cp.reduce.async.bulk, st.bulk), or of a box of a tensor (TMA). A load writes
/// shared memory, a store or a reduction reads it.
enum class Engine {
  wgmma,
  bulk_load,
  bulk_store,
  bulk_reduce,
  bulk_copy,  ///< from shared memory to that of a block of the cluster
  bulk_fill,  ///< with zeros
  tensor_load,
  tensor_store,
  tensor_reduce,
};
inline constexpr int engine_count = 9;

/// "wgmma", "cp.async.bulk load", "TMA load".
std::string_view to_string(Engine engine);
std::optional<Engine> engine_named(std::string_view name);

/// One instruction; of wgmma, that of a whole warpgroup.
struct EngineWork {
  Engine engine = Engine::wgmma;
  /// Of shared memory that it reads or writes: both operands of a wgmma, without those in registers.
  std::uint64_t bytes = 0;
  /// Tensor copies: bytes of the box in its innermost dimension. 0: not known, or no rows.
  std::uint32_t row_bytes = 0;

  auto operator<=>(const EngineWork&) const = default;
};

/// Where the rows of a copy begin, in bytes; all are multiples of 16. By default all begin at cache lines, as they do
/// under a swizzle; without one, the rows of a box follow each other in shared memory.
struct RowPlacement {
  std::uint32_t global_offset = 0;  ///< of each row from the beginning of a cache line
  std::uint32_t shared_offset = 0;  ///< of the first row
  std::uint32_t shared_pitch = 0;   ///< from row to row in shared memory; 0: each begins as the first does
};

/// What it costs; there are no conflicts. `passes` are those that the banks cannot spend on accesses of warps: a
/// wgmma's add to theirs, copies take none that could be measured. `cycles` are the engine's, if it works without a
/// pause and global memory is in the L2 cache: engines work next to each other and to warps. A wgmma may need more for
/// its arithmetic.
struct EngineCost {
  std::uint64_t passes = 0;
  double cycles = 0;

  bool operator==(const EngineCost&) const = default;
};

/// Nothing if the architecture has no rule for the engine. No allocation.
std::optional<EngineCost> cost(const Architecture& architecture, const EngineWork& work,
                               const RowPlacement& placement = {});

}  // namespace bankwise::banks
