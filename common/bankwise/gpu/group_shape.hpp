// SPDX-License-Identifier: MIT
#pragma once

namespace bankwise::gpu {

/// The shape of a group (block): `x` work-items in each of `y` rows, with shared memory beside its own arrays.
struct GroupShape {
  unsigned x = 1, y = 1;
  unsigned dynamic_shared = 0;  ///< bytes; CUDA alone
  unsigned size() const { return x * y; }
};

}  // namespace bankwise::gpu
