// What a producer may find wrong in a program, and the switch that silences each. One table, for messages, trace files,
// reports and command lines.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace bankwise::trace {

enum class Fault {
  barrier_not_reached,  ///< some lanes of a block wait at a barrier that others never reach
  out_of_bounds,        ///< an access outside the shared array that it begins in, or outside all of them
  unwritten,            ///< a read of shared memory that no lane of the block has written
  race,                 ///< two lanes access a byte between the same two barriers, one writes, nothing orders them
  wrong_mask,           ///< a warp intrinsic whose mask leaves out its caller, or names a lane that never comes
  misaligned,           ///< an address that is not a multiple of the alignment of its type
  step_limit,           ///< more steps than Launch::step_limit, most likely an endless loop
  access_limit,         ///< a traced block with more accesses than Launch::access_limit
  invalid_address,      ///< a segmentation fault: global memory that does not exist, or too deep a recursion
  division_by_zero,
  trap,             ///< __trap() or a failed assert()
  lanes_collide,    ///< several lanes write one word in one instruction: one of them wins. A note
  barriers_differ,  ///< warps pass a barrier together that is at several places of the source. A note
  global_race,      ///< two threads of a launch access a byte of device memory, one writes, nothing orders them
};

/// How a program silences a fault: a member of emulator::Launch, and a flag of `bankcheck emulate`.
struct Switch {
  std::string_view member, flag;
};

struct FaultRow {
  Fault fault;
  std::string_view id;       ///< in trace files, in --allow, and as a rule of SARIF
  std::string_view name;     ///< in messages
  std::string_view meaning;  ///< one sentence
  Switch silenced_by;        ///< empty: nothing does
  bool is_remark = false;    ///< CUDA or PTX defines what happens
};

/// All faults, in the order of the enumeration.
std::span<const FaultRow> faults();
const FaultRow& row_of(Fault fault);
std::optional<Fault> fault_named(std::string_view id);

/// The name.
std::string_view to_string(Fault fault);

/// Switches for a part of a fault's diagnoses.
inline constexpr Switch warp_synchronous_switch{"Launch::warp_synchronous", "--warp-synchronous"};
inline constexpr Switch returned_lanes_switch{"Launch::returned_lanes_arrive", "--returned-lanes-arrive"};

}  // namespace bankwise::trace
