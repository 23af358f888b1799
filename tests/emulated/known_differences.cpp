// SPDX-License-Identifier: MIT
//
// Where the device compiler made other instructions than the source has. Each is read from its machine code
// (cuobjdump -sass, nvcc 13.0, sm_90).
#include "counters.hpp"

const std::vector<Difference>& known_differences() {
  static const std::vector<Difference> all{};
  return all;
}
