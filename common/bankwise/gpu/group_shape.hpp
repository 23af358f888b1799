// SPDX-License-Identifier: MIT
#pragma once

namespace bankwise::gpu {

/// The shape of a group (block): `x` work-items in each of `y` rows, with dynamic shared memory in addition to its
/// arrays.
struct GroupShape {
  unsigned x = 1, y = 1;
  unsigned dynamic_shared = 0;  ///< bytes; CUDA only
  unsigned size() const { return x * y; }
  bool operator==(const GroupShape&) const = default;
};

}  // namespace bankwise::gpu
