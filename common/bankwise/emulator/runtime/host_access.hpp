// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace bankwise::emulator::runtime {

/// Reports an access of the host to device memory, once for each place in the program. Managed and pinned memory is for
/// both. Programs that use Thrust are not diagnosed: its algorithms for the device run on the host here.
void host_access(const void* address, std::size_t bytes, bool writes, std::uintptr_t pc);

}  // namespace bankwise::emulator::runtime
