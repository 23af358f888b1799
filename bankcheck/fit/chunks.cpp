// SPDX-License-Identifier: MIT
#include "bankcheck/fit/chunks.hpp"

#include <cstring>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed to inlined functions only
#endif

namespace bankwise::fit {
namespace {

using Words = std::uint32_t __attribute__((vector_size(4 * chunk_width)));
using Ints = std::int32_t __attribute__((vector_size(4 * chunk_width)));
using Floats = float __attribute__((vector_size(4 * chunk_width)));

constexpr int planes = 8;  // counts up to max_chunk_blocks

/// A change with its divisions as multiplications.
struct Plan {
  explicit Plan(const Change& change)
      : row(change.swizzle.bits > 0 ? 1.0F / float(change.swizzle.row) : 0),
        every{inverse(change.pads[0]), inverse(change.pads[1])},
        xor_mask(std::int32_t((1U << change.swizzle.bits) - 1)),
        xor_base(std::int32_t(change.swizzle.base)),
        pad{std::int32_t(change.pads[0].bytes), std::int32_t(change.pads[1].bytes)} {}
  static float inverse(const Pad& pad) { return pad.every > 0 ? 1.0F / float(pad.every) : 0; }

  float row, every[2];
  std::int32_t xor_mask, xor_base, pad[2];
};

/// x / d for 0 <= x < 2^22: the half is larger than the rounding errors, and smaller than the way to the next integer.
[[gnu::always_inline]] inline void divide(const Ints& x, float inverse, Ints& quotient) {
  quotient = __builtin_convertvector((__builtin_convertvector(x, Floats) + 0.5F) * inverse, Ints);
}

/// One bit per lane group: the slot of its block.
template <bool has_xor, int pads>
[[gnu::always_inline]] inline void slot_bits(const Plan& plan, const Chunk& chunk, unsigned block, Words& bits) {
  Ints x, quotient;
  std::memcpy(&x, chunk.offsets + std::size_t{chunk_width} * block, sizeof x);
  if constexpr (has_xor) {
    divide(x, plan.row, quotient);
    x ^= (quotient & plan.xor_mask) << plan.xor_base;
  }
  Ints moved = x;
  for (int i = 0; i < pads; ++i) {
    divide(x, plan.every[i], quotient);
    moved += quotient * plan.pad[i];
  }
  const Ints slot = moved >> std::int32_t(chunk.shift) & std::int32_t(chunk.slots - 1);
  bits = (Words{} + 1U) << (Words)slot;
}

/// Counts bits per slot: plane p has bit p of the counts.
struct Counters {
  Words plane[planes] = {};

  [[gnu::always_inline]] void add(Words bits, int first) {
    for (int p = first; p < planes; ++p) {
      const Words carry = plane[p] & bits;
      plane[p] ^= bits;
      bits = carry;
    }
  }
  /// Adds two to a plane; `carry` is what goes to the next.
  [[gnu::always_inline]] void add_two(const Words& a, const Words& b, int p, Words& carry) {
    const Words half = plane[p] ^ a;
    carry = (plane[p] & a) | (half & b);
    plane[p] = half ^ b;
  }
  [[gnu::always_inline]] void largest(Words& most) const {
    most = Words{};
    Words slots = ~Words{};  // those that may have the largest count
    for (int p = planes - 1; p >= 0; --p) {
      const Words with = slots & plane[p];
      const Words any = (Words)(with != 0U);
      most |= any & (1U << p);
      slots = with | (slots & ~any);
    }
  }
};

template <bool has_xor, int pads>
[[gnu::always_inline]] inline void costs_of(const Plan& plan, const Chunk* chunks, std::size_t count,
                                            ChunkCost* costs) {
  for (std::size_t i = 0; i < count; ++i) {
    const Chunk& chunk = chunks[i];
    Counters counters;
    unsigned block = 0;
    for (; block + 4 <= chunk.blocks; block += 4) {
      Words a, b, c, d, twos, more_twos, fours;
      slot_bits<has_xor, pads>(plan, chunk, block, a);
      slot_bits<has_xor, pads>(plan, chunk, block + 1, b);
      slot_bits<has_xor, pads>(plan, chunk, block + 2, c);
      slot_bits<has_xor, pads>(plan, chunk, block + 3, d);
      counters.add_two(a, b, 0, twos);
      counters.add_two(c, d, 0, more_twos);
      counters.add_two(twos, more_twos, 1, fours);
      counters.add(fours, 2);
    }
    for (; block < chunk.blocks; ++block) {
      Words bits;
      slot_bits<has_xor, pads>(plan, chunk, block, bits);
      counters.add(bits, 0);
    }
    Words most;
    counters.largest(most);
    std::memcpy(costs[i].data(), &most, sizeof most);
  }
}

[[gnu::always_inline]] inline void costs_of(const Change& change, const Chunk* chunks, std::size_t count,
                                            ChunkCost* costs) {
  const Plan plan(change);
  switch (change.kind()) {
    case Kind::identity:
      return costs_of<false, 0>(plan, chunks, count, costs);
    case Kind::row_xor:
      return costs_of<true, 0>(plan, chunks, count, costs);
    case Kind::pad:
      return costs_of<false, 1>(plan, chunks, count, costs);
    case Kind::two_pads:
      return costs_of<false, 2>(plan, chunks, count, costs);
    case Kind::pad_and_xor:
      return costs_of<true, 1>(plan, chunks, count, costs);
  }
}

void costs_plain(const Change& change, const Chunk* chunks, std::size_t count, ChunkCost* costs) {
  costs_of(change, chunks, count, costs);
}

#if defined(__x86_64__)
// A shift of each element by its own distance is one instruction here.
[[gnu::target("avx2")]] void costs_avx2(const Change& change, const Chunk* chunks, std::size_t count,
                                        ChunkCost* costs) {
  costs_of(change, chunks, count, costs);
}
#endif

}  // namespace

void chunk_costs(const Change& change, const Chunk* chunks, std::size_t count, ChunkCost* costs) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return costs_avx2(change, chunks, count, costs);
#endif
  costs_plain(change, chunks, count, costs);
}

}  // namespace bankwise::fit
