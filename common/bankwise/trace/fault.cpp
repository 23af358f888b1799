// SPDX-License-Identifier: MIT
#include <bankwise/trace/fault.hpp>

#include <algorithm>
#include <iterator>

namespace bankwise::trace {
namespace {

constexpr FaultRow rows[]{
    {Fault::barrier_not_reached,
     "barrier-not-reached",
     "barrier not reached by all",
     "Lanes wait at a barrier that other lanes of the block do not reach.",
     {"Launch::allow = {Fault::barrier_not_reached}", "--allow barrier-not-reached"}},
    {Fault::out_of_bounds,
     "out-of-bounds",
     "out of bounds",
     "An access to shared memory does not lie within one array.",
     {"Launch::allow = {Fault::out_of_bounds}", "--allow out-of-bounds"}},
    {Fault::unwritten,
     "unwritten-read",
     "read of unwritten shared memory",
     "A lane reads shared memory that no lane of its block has written.",
     {"Launch::allow = {Fault::unwritten}", "--allow unwritten-read"}},
    {Fault::race,
     "race",
     "race",
     "Two lanes access the same byte of shared memory, one of them writes, and nothing orders the two.",
     {"Launch::allow = {Fault::race}", "--allow race"}},
    {Fault::wrong_mask,
     "wrong-mask",
     "wrong mask",
     "The mask of a warp intrinsic leaves out its caller, or names a lane that never comes.",
     {"Launch::allow = {Fault::wrong_mask}", "--allow wrong-mask"}},
    {Fault::misaligned,
     "misaligned-address",
     "misaligned address",
     "An address is not a multiple of the alignment that its type guarantees.",
     {}},
    {Fault::step_limit,
     "step-limit",
     "step limit",
     "A block takes more steps than allowed, most likely in an endless loop.",
     {"Launch::step_limit", "--step-limit"}},
    {Fault::access_limit,
     "access-limit",
     "access limit",
     "A block makes more accesses than may be recorded in order.",
     {"Launch::access_limit", ""}},
    {Fault::invalid_address,
     "invalid-address",
     "invalid address",
     "A lane accesses memory that does not exist, or its stack is full.",
     {}},
    {Fault::division_by_zero, "division-by-zero", "division by zero", "A lane divides an integer by zero.", {}},
    {Fault::trap, "trap", "trap", "The kernel calls __trap(), or an assertion fails.", {}},
    {Fault::lanes_collide,
     "lanes-collide",
     "several lanes write one word",
     "Several lanes write different values to one word in one instruction; CUDA does not define which of them remains.",
     {"Launch::allow = {Fault::lanes_collide}", "--allow lanes-collide"},
     true},
    {Fault::barriers_differ,
     "barriers-differ",
     "one barrier at several places",
     "Warps pass one barrier from several places in the source: PTX counts the arrivals, but CUDA C++ requires that "
     "the "
     "whole block executes the same __syncthreads().",
     {"Launch::allow = {Fault::barriers_differ}", "--allow barriers-differ"},
     true},
};

}  // namespace

std::span<const FaultRow> faults() { return rows; }

const FaultRow& row_of(Fault fault) { return rows[int(fault)]; }

std::optional<Fault> fault_named(std::string_view id) {
  const auto* row = std::ranges::find(rows, id, &FaultRow::id);
  return row == std::end(rows) ? std::nullopt : std::optional(row->fault);
}

std::string_view to_string(Fault fault) { return row_of(fault).name; }

}  // namespace bankwise::trace
