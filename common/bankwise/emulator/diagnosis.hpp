// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/emulator/dim3.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator {

/// The faults of a kernel that the emulator finds.
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
  trap,  ///< __trap() or a failed assert()
};
std::string_view to_string(Fault fault);

/// Thrown by emulate(). what() is a sentence that contains all of the members below.
class Diagnosis : public std::runtime_error {
 public:
  Diagnosis(Fault fault_, trace::Site site_, Dim3 block_, std::vector<unsigned> lanes_, const std::string& sentence)
      : std::runtime_error(sentence), fault(fault_), site(std::move(site_)), block(block_), lanes(std::move(lanes_)) {}

  Fault fault;
  trace::Site site;             ///< as far as it is known
  Dim3 block;                   ///< blockIdx
  std::vector<unsigned> lanes;  ///< linear numbers in the block, of the lanes at fault
};

/// "naive.cuh:31: race: lanes 3, 4 of block (0, 0, 0) of reduce_naive reads ...": `what` begins with a verb.
Diagnosis diagnosis(Fault fault, trace::Site site, Dim3 block, std::vector<unsigned> lanes, const std::string& kernel,
                    const std::string& what);

}  // namespace bankwise::emulator
