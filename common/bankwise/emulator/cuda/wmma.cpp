// SPDX-License-Identifier: MIT
//
// Fragments of nvcuda::wmma. Compiled without instrumentation.
#include <cstring>

#include <bankwise/emulator/cuda/matrices.hpp>
#include <bankwise/emulator/cuda/wmma.hpp>

#define BANKWISE_CALLER __builtin_return_address(0)

namespace bankwise::emulator::device {
namespace {

Number number_of(const Fragment& fragment) { return Number(fragment.type); }

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
  const unsigned bits = bits_of(number_of(fragment)), each = bits >= 32 ? 1 : 32 / bits;
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
    const unsigned depth = fragment.k, registers = depth / (4 * each);  // the registers of 8 columns
    place = {in_group * each + i + reg % registers * 4 * each, group + 8 * (reg / registers)};
  } else {
    const unsigned depth = fragment.k, registers = fragment.m == 8 && fragment.n == 8 ? 1 : 2 * depth / (4 * each);
    const unsigned own = reg % registers;
    place = {group + 8 * (own % 2) + 16 * (reg / registers), in_group * each + i + own / 2 * 4 * each};
  }
  return swapped ? ElementPlace{place.column, place.row} : place;
}

unsigned elements_of(const Fragment& fragment) {
  const ElementPlace size = size_of(fragment);
  return size.row * size.column / 32;
}

/// 16-bit matrices in shared memory, whose rows ldmatrix loads.
bool takes_ldmatrix(const Fragment& fragment, const void* from, unsigned stride) {
  return fragment.use != Fragment::accumulator && bits_of(number_of(fragment)) == 16 && is_shared(from) &&
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
  const unsigned bytes = bits_of(number_of(fragment)) / 8, each = bytes >= 4 ? 1 : 4 / bytes;
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

void load_fragment(const Fragment& fragment, std::uint64_t* registers, const void* from, unsigned stride) noexcept {
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(from));
  if (takes_ldmatrix(fragment, from, stride)) return load_rows(fragment, registers, memory, stride, BANKWISE_CALLER);
  const unsigned bytes = bits_of(number_of(fragment)) / 8, each = bytes >= 4 ? 1 : 4 / bytes;
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
  const unsigned bytes = bits_of(number_of(fragment)) / 8, each = bytes >= 4 ? 1 : 4 / bytes;
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

void multiply_fragments(const Fragment& a, const Fragment& accumulator, const std::uint64_t* a_registers,
                        const std::uint64_t* b_registers, const std::uint64_t* c, std::uint64_t* d) noexcept {
  const void* caller = BANKWISE_CALLER;
  const bool wide = a.m == 8 && a.n == 8, swapped = a.m == 8 && a.n == 32;
  const Product product{number_of(a), number_of(a), number_of(accumulator), a.k};
  const unsigned each = wide ? 1 : 32 / bits_of(product.a);
  const unsigned of_a = wide ? 1 : 2 * a.k / (4 * each), of_b = wide ? 1 : a.k / (4 * each);
  const unsigned of_c = product.accumulator == Number::half ? 2 : wide ? 2 : 4;
  const unsigned down = swapped ? a.n / 16 : wide ? 1 : a.m / 16, across = swapped || wide ? 1 : a.n / 8;
  if (swapped) std::swap(a_registers, b_registers);
  Parts parts;
  for (unsigned i = 0; i < down; ++i) {
    for (unsigned j = 0; j < across; ++j) {
      ProductRegisters registers;
      const unsigned tile = of_c * (i * across + j);
      std::copy_n(a_registers + i * of_a, of_a, registers.a.begin());
      std::copy_n(b_registers + j * of_b, of_b, registers.b.begin());
      std::copy_n(c + tile, of_c, registers.c.begin());
      multiply(product, registers, caller);
      parts.next();
      std::copy_n(registers.c.begin(), of_c, d + tile);
    }
  }
}

}  // namespace bankwise::emulator::device
