// SPDX-License-Identifier: MIT
#include <bankwise/emulator/cuda/matrices.hpp>

#include <bit>
#include <cstring>

#include <bankwise/emulator/cuda/small_float_bits.hpp>

namespace bankwise::emulator {
namespace {

using device::FloatFormat;
using small_floats::value_of;

constexpr banks::Operation load_operations[]{banks::Operation::ldmatrix_x1, banks::Operation::ldmatrix_x2,
                                             banks::Operation::ldmatrix_x4};
constexpr banks::Operation store_operations[]{banks::Operation::stmatrix_x1, banks::Operation::stmatrix_x2,
                                              banks::Operation::stmatrix_x4};

/// What a lane brings: the row that it loads or stores, and its part of each matrix.
struct MatrixRows {
  alignas(16) std::uint16_t row[8];
  std::uint32_t registers[4];
};
struct Move {
  unsigned count;
  bool transposed;
};

/// Calls `visit(matrix, lane, half, row, column)` for each element of the matrices.
template <class Visit>
void for_each_element(const Move& move, Visit visit) {
  for (unsigned matrix = 0; matrix < move.count; ++matrix) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned line = lane / 4, place = lane % 4 * 2 + half;
        visit(matrix, lane, half, move.transposed ? place : line, move.transposed ? line : place);
      }
    }
  }
}

MatrixRows& of(void* const* operands, unsigned lane) {
  static thread_local MatrixRows nothing;  // lanes that have returned
  return operands[lane] == nullptr ? nothing : *static_cast<MatrixRows*>(operands[lane]);
}

void distribute(void* const operands[32], const void* data) {
  const Move& move = *static_cast<const Move*>(data);
  for_each_element(move, [&](unsigned matrix, unsigned lane, unsigned half, unsigned row, unsigned column) {
    const std::uint32_t element = of(operands, 8 * matrix + row).row[column];
    std::uint32_t& to = of(operands, lane).registers[matrix];
    to = half == 0 ? element : to | element << 16;
  });
}

void collect(void* const operands[32], const void* data) {
  const Move& move = *static_cast<const Move*>(data);
  for_each_element(move, [&](unsigned matrix, unsigned lane, unsigned half, unsigned row, unsigned column) {
    of(operands, 8 * matrix + row).row[column] = std::uint16_t(of(operands, lane).registers[matrix] >> (16 * half));
  });
}

bool gives_a_row(unsigned count) { return this_lane().lane % 32 < 8 * count; }

}  // namespace

void load_matrices(std::uint32_t* registers, unsigned count, bool transposed, const void* row, const void* caller,
                   Parts& parts) noexcept {
  MatrixRows rows{};
  if (gives_a_row(count)) {
    before_access(load_operations[std::countr_zero(count)], row, 16, caller);
    std::memcpy(rows.row, row, 16);
  }
  parts.next();
  const Move move{count, transposed};
  together(&rows, distribute, &move, caller);
  parts.next();
  std::memcpy(registers, rows.registers, count * sizeof *registers);
}

void store_matrices(const std::uint32_t* registers, unsigned count, bool transposed, void* row, const void* caller,
                    Parts& parts) noexcept {
  MatrixRows rows{};
  std::memcpy(rows.registers, registers, count * sizeof *registers);
  const Move move{count, transposed};
  together(&rows, collect, &move, caller);
  parts.next();
  if (gives_a_row(count)) {
    before_access(store_operations[std::countr_zero(count)], row, 16, caller);
    std::memcpy(row, rows.row, 16);
  }
  parts.next();
}

unsigned bits_of(Number type) noexcept {
  constexpr unsigned bits[]{16, 16, 32, 8, 8, 32, 64, 32};
  return bits[int(type)];
}

namespace {

double number_in(Number type, std::uint64_t bits, unsigned element) {
  switch (type) {
    case Number::half: return value_of(FloatFormat::half, std::uint16_t(bits >> (16 * element)));
    case Number::bfloat16: return value_of(FloatFormat::bfloat16, std::uint16_t(bits >> (16 * element)));
    case Number::tf32:  // the hardware ignores the lower 13 bits
      return std::bit_cast<float>(std::uint32_t(bits) & 0xFFFFE000u);
    case Number::int8: return std::int8_t(bits >> (8 * element));
    case Number::uint8: return std::uint8_t(bits >> (8 * element));
    case Number::float32: return std::bit_cast<float>(std::uint32_t(bits));
    case Number::float64: return std::bit_cast<double>(bits);
    case Number::int32: return std::int32_t(bits);
  }
  return 0;
}

constexpr unsigned max_depth = 32;

/// The matrices of a warp.
struct Matrices {
  double a[16][max_depth]{}, b[max_depth][8]{};
};

bool is_wide(const Product& product) { return product.a == Number::float64; }

/// Adds the elements of A and B in one lane's registers.
void gather(const Product& product, const ProductRegisters& registers, unsigned lane, Matrices& matrices) {
  const bool wide = is_wide(product);
  const unsigned each = wide ? 1 : 32 / bits_of(product.a);  // elements of a register
  const unsigned parts = product.depth / (4 * each);         // registers of B
  for (unsigned part = 0; part < parts; ++part) {
    for (unsigned i = 0; i < each; ++i) {
      const unsigned k = part * 4 * each + lane % 4 * each + i;
      matrices.b[k][lane / 4] = number_in(product.b, registers.b[part], i);
      for (unsigned half = 0; half < (wide ? 1u : 2u); ++half) {
        const unsigned reg = wide ? part : 2 * part + half;
        matrices.a[8 * half + lane / 4][k] = number_in(product.a, registers.a[reg], i);
      }
    }
  }
}

/// Writes element i of one lane into its register, which may hold two of them.
void store(Number type, double sum, unsigned i, std::uint64_t& reg) {
  switch (type) {
    case Number::half: {
      const std::uint32_t rounded = small_floats::rounded(FloatFormat::half, sum, device::RoundingMode::rn);
      reg = i % 2 == 0 ? (reg & 0xFFFF0000u) | rounded : (reg & 0xFFFFu) | rounded << 16;
      break;
    }
    case Number::int32: reg = std::uint32_t(std::int64_t(sum)); break;
    case Number::float64: reg = std::bit_cast<std::uint64_t>(sum); break;
    default: reg = std::bit_cast<std::uint32_t>(float(sum));
  }
}

void multiply_all(void* const operands[32], const void* data) {
  const Product& product = *static_cast<const Product*>(data);
  const auto registers = [&](unsigned lane) { return static_cast<ProductRegisters*>(operands[lane]); };
  Matrices matrices;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (operands[lane] != nullptr) gather(product, *registers(lane), lane, matrices);
  }
  const bool pairs = product.accumulator == Number::half;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (operands[lane] == nullptr) continue;
    for (unsigned i = 0; i < (is_wide(product) ? 2u : 4u); ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      std::uint64_t& reg = registers(lane)->c[pairs ? i / 2 : i];
      double sum = number_in(product.accumulator, reg, pairs ? i % 2 : 0);
      for (unsigned k = 0; k < product.depth; ++k) sum += matrices.a[row][k] * matrices.b[k][column];
      store(product.accumulator, sum, i, reg);
    }
  }
}

}  // namespace

void multiply(const Product& product, ProductRegisters& registers, const void* caller) noexcept {
  together(&registers, multiply_all, &product, caller);
}

}  // namespace bankwise::emulator
