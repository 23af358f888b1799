// Internal to common/bankwise/emulator: tensor cores, and the instructions that load and store their matrices. The
// lanes of a warp call these functions together.
#pragma once

#include <cstdint>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/wmma.hpp>

namespace bankwise::emulator {

/// ldmatrix: each lane whose number is less than 8 · count gives the address of a row of 16 bytes.
void load_matrices(std::uint32_t* registers, unsigned count, bool transposed, const void* row, const void* caller,
                   Parts& parts) noexcept;
/// stmatrix.
void store_matrices(const std::uint32_t* registers, unsigned count, bool transposed, void* row, const void* caller,
                    Parts& parts) noexcept;

/// c += a b; mma.sync has the layout of fragments, too.
void multiply(const device::Fragment& a, const device::Fragment& b, const device::Fragment& c,
              const std::uint64_t* a_registers, const std::uint64_t* b_registers, std::uint64_t* c_registers,
              const void* caller) noexcept;

}  // namespace bankwise::emulator
