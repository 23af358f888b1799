// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/emulator/core/kernel_code.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator {

/// The faults of a kernel that the emulator finds; the table in trace/fault.hpp describes them.
using trace::Fault;
using trace::to_string;

/// Thrown by emulate() if Launch::fatal is set. what() is a sentence that contains all of the members below.
class Diagnosis : public std::runtime_error {
 public:
  Diagnosis(Fault fault_, trace::Site site_, Dim3 block_, std::vector<unsigned> lanes_, const std::string& sentence)
      : std::runtime_error(sentence), fault(fault_), site(std::move(site_)), block(block_), lanes(std::move(lanes_)) {}

  Fault fault;
  trace::Site site;             ///< as far as it is known
  Dim3 block;                   ///< blockIdx
  std::vector<unsigned> lanes;  ///< linear numbers in the block, of the lanes at fault
};

/// A sentence about lanes of a block: "lanes 3, 4 of block (0, 0, 0) of reduce_naive reads ... [switch]". `what` begins
/// with a verb, and `silenced_by` is the switch that it ends with.
std::string sentence_about(Fault fault, Dim3 block, const std::vector<unsigned>& lanes, const std::string& kernel,
                           const std::string& what, const trace::Switch& silenced_by);

/// The same as an exception: "naive.cuh:31: race: lane 3 of ...".
Diagnosis diagnosis(Fault fault, trace::Site site, Dim3 block, std::vector<unsigned> lanes,
                    const std::string& sentence);

}  // namespace bankwise::emulator
