// Tensor cores: ldmatrix, stmatrix, mma.sync, and the fragments of nvcuda::wmma. Compiled without instrumentation.
#include <bankwise/emulator/cuda/matrices.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <bankwise/emulator/cuda/small_float_bits.hpp>

#define BANKWISE_CALLER __builtin_return_address(0)

namespace bankwise::emulator {
namespace {

using device::FloatFormat;
using device::Number;
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
    case Number::none: break;
  }
  return 0;
}

/// Writes element i of one lane into its register, which may hold two of them.
void store(Number type, double sum, unsigned i, std::uint64_t& reg) {
  switch (type) {
    case Number::half: {
      const std::uint32_t rounded = small_floats::rounded(FloatFormat::half, sum, device::RoundingMode::rn);
      reg = i == 0 ? (reg & 0xFFFF0000u) | rounded : (reg & 0xFFFFu) | rounded << 16;
      break;
    }
    case Number::int32: reg = std::uint32_t(std::int64_t(sum)); break;
    case Number::float64: reg = std::bit_cast<std::uint64_t>(sum); break;
    default: reg = std::bit_cast<std::uint32_t>(float(sum));
  }
}

using device::Fragment;

unsigned bits_of(const Fragment& fragment) {
  constexpr unsigned bits[]{16, 16, 32, 8, 8, 32, 64, 32};
  return bits[int(fragment.type)];
}
unsigned elements_of_register(const Fragment& fragment) { return std::max(1u, 32 / bits_of(fragment)); }

/// The matrix that a fragment holds, in tiles of mma.sync: 16 rows of A, 8 columns of B. A shape of 8 rows has A and B
/// exchanged: the transposed product.
struct ElementPlace {
  unsigned row, column;
};

/// Rows and columns of a fragment.
ElementPlace size_of(const Fragment& fragment) {
  switch (fragment.use) {
    case Fragment::a: return {fragment.m, fragment.k};
    case Fragment::b: return {fragment.k, fragment.n};
    case Fragment::accumulator: break;
  }
  return {fragment.m, fragment.n};
}

/// Where element `i` of register `reg` of a lane lies.
ElementPlace place_of(const Fragment& fragment, unsigned lane, unsigned reg, unsigned i) {
  const unsigned each = elements_of_register(fragment);
  const unsigned group = lane / 4, in_group = lane % 4;
  const bool swapped = fragment.m == 8 && fragment.n == 32;  // computed as the transposed product
  const bool is_b = swapped ? fragment.use == Fragment::a : fragment.use == Fragment::b;
  ElementPlace place{};
  if (fragment.use == Fragment::accumulator) {
    // Two columns side by side; 8 rows further down; then the next 8 columns, or 16 rows.
    const unsigned element = reg * each + i;
    if (fragment.m == 8 && fragment.n == 8) return {group, in_group * 2 + element};
    const unsigned tile = element / 4, rows = swapped ? fragment.n : fragment.m;
    place = {group + 8 * (element / 2 % 2), in_group * 2 + element % 2};
    if (rows == 32) {
      place.row += 16 * tile;
    } else {
      place.column += 8 * tile;
    }
  } else if (is_b) {
    const unsigned registers = std::max(1u, fragment.k / (4 * each));  // of 8 columns
    place = {in_group * each + i + reg % registers * 4 * each, group + 8 * (reg / registers)};
  } else {
    const bool wide = fragment.m == 8 && fragment.n == 8;
    const unsigned registers = wide ? 1 : std::max(1u, 2 * fragment.k / (4 * each));  // of 16 rows
    const unsigned own = reg % registers;
    place = {group + 8 * (own % 2) + 16 * (reg / registers), in_group * each + i + own / 2 * 4 * each};
  }
  return swapped ? ElementPlace{place.column, place.row} : place;
}

unsigned elements_of(const Fragment& fragment) {
  const ElementPlace size = size_of(fragment);
  return size.row * size.column / 32;
}

/// The fragments of a product, and the registers that a lane brings.
struct Product {
  Fragment a, b, c;
};
struct ProductRegisters {
  const std::uint64_t *a, *b;
  std::uint64_t* c;
};

/// Products are exact; each sum is computed in a double and rounded once.
void multiply_all(void* const operands[32], const void* data) {
  const Product& product = *static_cast<const Product*>(data);
  const auto registers = [&](unsigned lane) { return *static_cast<const ProductRegisters*>(operands[lane]); };
  double a[32][32]{}, b[32][32]{};
  const auto gather = [](double(&matrix)[32][32], const Fragment& fragment, const std::uint64_t* from, unsigned lane) {
    const unsigned each = elements_of_register(fragment);
    for (unsigned i = 0; i < elements_of(fragment); ++i) {
      const ElementPlace place = place_of(fragment, lane, i / each, i % each);
      matrix[place.row][place.column] = number_in(fragment.type, from[i / each], i % each);
    }
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (operands[lane] == nullptr) continue;
    gather(a, product.a, registers(lane).a, lane);
    gather(b, product.b, registers(lane).b, lane);
  }
  const Number type = product.c.type;
  const unsigned each = elements_of_register(product.c);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (operands[lane] == nullptr) continue;
    for (unsigned i = 0; i < elements_of(product.c); ++i) {
      const ElementPlace place = place_of(product.c, lane, i / each, i % each);
      std::uint64_t& reg = registers(lane).c[i / each];
      double sum = number_in(type, reg, i % each);
      for (unsigned k = 0; k < product.a.k; ++k) sum += a[place.row][k] * b[k][place.column];
      store(type, sum, i % each, reg);
    }
  }
}

/// 16-bit matrices in shared memory, whose rows ldmatrix loads.
bool takes_ldmatrix(const Fragment& fragment, const void* from, unsigned stride) {
  return fragment.use != Fragment::accumulator && bits_of(fragment) == 16 && is_shared(from) &&
         reinterpret_cast<std::uintptr_t>(from) % 16 == 0 && stride % 8 == 0 && fragment.k == 16;
}

/// In units of four 8 x 8 matrices: registers 4 · unit … 4 · unit + 3.
void load_rows(const Fragment& fragment, std::uint64_t* registers, const std::byte* from, unsigned stride,
               const void* caller) {
  Parts parts;
  const unsigned count = elements_of(fragment) / 2, lane = this_lane().lane % 32;
  for (unsigned first = 0; first < count; first += 4) {
    const unsigned matrices = std::min(4u, count - first), reg = first + lane / 8 % matrices;
    // Its first element; lines of memory run along rows or along columns.
    const ElementPlace corner = place_of(fragment, 0, reg, 0);
    const unsigned line = (fragment.column_major ? corner.column : corner.row) + lane % 8;
    const unsigned offset = fragment.column_major ? corner.row : corner.column;
    // Where a register's two numbers are neighbours in a line, the matrix is not transposed.
    const ElementPlace next = place_of(fragment, 0, reg, 1);
    const bool along_line = fragment.column_major ? next.row != corner.row : next.column != corner.column;
    std::uint32_t loaded[4];
    load_matrices(loaded, matrices, !along_line, from + (std::size_t(line) * stride + offset) * 2, caller, parts);
    for (unsigned i = 0; i < matrices; ++i) registers[first + i] = loaded[i];
  }
}

/// Calls `move(register, element in it, bytes of the access, place in memory, number of elements)`.
template <class Move>
void for_each_access(const Fragment& fragment, std::byte* memory, unsigned stride, Move move) {
  const unsigned bytes = bits_of(fragment) / 8, each = elements_of_register(fragment);
  const unsigned count = elements_of(fragment), lane = this_lane().lane % 32;
  const auto address = [&](unsigned element) {
    const ElementPlace place = place_of(fragment, lane, element / each, element % each);
    const std::size_t line = fragment.column_major ? place.column : place.row;
    return memory + (line * stride + (fragment.column_major ? place.row : place.column)) * bytes;
  };
  for (unsigned element = 0; element < count;) {
    // Neighbours in memory are one access of up to 8 bytes, if all lanes' addresses are aligned to it.
    unsigned wide = 1;
    while (element + wide < count && (wide + 1) * bytes <= 8 &&
           address(element + wide) == address(element) + wide * bytes)
      ++wide;
    if ((wide & (wide - 1)) != 0) --wide;
    while (wide > 1 && (std::uintptr_t(memory) % (wide * bytes) != 0 || stride % wide != 0)) wide /= 2;
    move(element, wide, address(element));
    element += wide;
  }
}

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

void multiply(const Fragment& a, const Fragment& b, const Fragment& c, const std::uint64_t* a_registers,
              const std::uint64_t* b_registers, std::uint64_t* c_registers, const void* caller) noexcept {
  const Product product{a, b, c};
  ProductRegisters registers{a_registers, b_registers, c_registers};
  together(&registers, multiply_all, &product, caller);
}

}  // namespace bankwise::emulator

namespace bankwise::emulator::device {

void load_fragment(const Fragment& fragment, std::uint64_t* registers, const void* from, unsigned stride) noexcept {
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(from));
  if (takes_ldmatrix(fragment, from, stride)) return load_rows(fragment, registers, memory, stride, BANKWISE_CALLER);
  const unsigned bytes = bits_of(fragment) / 8, each = elements_of_register(fragment);
  const void* caller = BANKWISE_CALLER;
  Parts parts;
  for (unsigned i = 0; i < (elements_of(fragment) + each - 1) / each; ++i) registers[i] = 0;
  for_each_access(fragment, memory, stride, [&](unsigned element, unsigned wide, std::byte* address) {
    before_access(banks::Operation::load, address, wide * bytes, caller);
    parts.next();
    for (unsigned i = 0; i < wide; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, address + i * bytes, bytes);
      registers[(element + i) / each] |= value << ((element + i) % each * bytes * 8);
    }
  });
}

void store_fragment(const Fragment& fragment, const std::uint64_t* registers, void* to, unsigned stride) noexcept {
  const unsigned bytes = bits_of(fragment) / 8, each = elements_of_register(fragment);
  const void* caller = BANKWISE_CALLER;
  Parts parts;
  for_each_access(fragment, static_cast<std::byte*>(to), stride,
                  [&](unsigned element, unsigned wide, std::byte* address) {
                    before_access(banks::Operation::store, address, wide * bytes, caller);
                    parts.next();
                    for (unsigned i = 0; i < wide; ++i) {
                      const std::uint64_t value = registers[(element + i) / each] >> ((element + i) % each * bytes * 8);
                      std::memcpy(address + i * bytes, &value, bytes);
                    }
                  });
}

void multiply_fragments(const Fragment& a, const Fragment& b, const Fragment& c, const std::uint64_t* a_registers,
                        const std::uint64_t* b_registers, std::uint64_t* c_registers) noexcept {
  multiply(a, b, c, a_registers, b_registers, c_registers, BANKWISE_CALLER);
}

}  // namespace bankwise::emulator::device
