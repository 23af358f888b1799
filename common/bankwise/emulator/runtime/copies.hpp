// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <bankwise/emulator/runtime/types.hpp>

namespace bankwise::emulator::runtime {

/// Copies and reports what is out of bounds, for `function`, which `caller` has called.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, std::string_view function,
                 const void* caller);

}  // namespace bankwise::emulator::runtime
