// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: tensor cores, and the instructions that load and store their matrices. The
// lanes of a warp call these functions together.
#pragma once

#include <array>
#include <cstdint>

#include <bankwise/emulator/core/lane.hpp>

namespace bankwise::emulator {

/// ldmatrix: each lane whose number is less than 8 · count gives the address of a row of 16 bytes.
void load_matrices(std::uint32_t* registers, unsigned count, bool transposed, const void* row, const void* caller,
                   Parts& parts) noexcept;
/// stmatrix.
void store_matrices(const std::uint32_t* registers, unsigned count, bool transposed, void* row, const void* caller,
                    Parts& parts) noexcept;

enum class Number : std::uint8_t { half, bfloat16, tf32, int8, uint8, float32, float64, int32 };
/// 16, 8 or 32 bits.
unsigned bits_of(Number type) noexcept;

/// mma.sync of 16 x 8 x depth (float64: 8 x 8 x 4): registers of one lane as PTX lays them out.
struct Product {
  Number a = Number::half, b = Number::half, accumulator = Number::float32;
  unsigned depth = 16;
};
struct ProductRegisters {
  std::array<std::uint64_t, 4> a{};
  std::array<std::uint64_t, 2> b{};
  std::array<std::uint64_t, 4> c{};  ///< and the result
};
/// Products are exact; each sum is computed in a double and rounded once.
void multiply(const Product& product, ProductRegisters& registers, const void* caller) noexcept;

}  // namespace bankwise::emulator
