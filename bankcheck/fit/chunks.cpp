#include "bankcheck/fit/accesses.hpp"

#include <bit>
#include <cstring>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed to inlined functions only
#endif

namespace bankwise::fit {
namespace {

using SlotBits = std::uint32_t __attribute__((vector_size(4 * chunk_width)));
using Ints = std::int32_t __attribute__((vector_size(4 * chunk_width)));
using Floats = float __attribute__((vector_size(4 * chunk_width)));

using Halves = std::uint16_t __attribute__((vector_size(4 * chunk_width)));

/// A change with its divisions as shifts or multiplications.
struct ChangePlan {
  explicit ChangePlan(const Change& change)
      : row(divisor(change.swizzle.bits > 0 ? change.swizzle.row : 0)),
        plane(divisor(change.swizzle.plane)),
        from(divisor(change.rows.from)),
        plane_bytes(std::int32_t(change.swizzle.plane)),
        longer(std::int32_t(change.rows.to) - std::int32_t(change.rows.from)),
        every{divisor(change.pads[0].every), divisor(change.pads[1].every)},
        xor_mask(std::int32_t((1U << change.swizzle.bits) - 1)),
        xor_base(std::int32_t(change.swizzle.base)),
        pad{Ints{} + std::int32_t(change.pads[0].bytes), Ints{} + std::int32_t(change.pads[1].bytes)} {}

  struct Divisor {
    float inverse = 0;
    std::int32_t shift = 0;
    bool shifts = true;  ///< a power of two
  };
  static Divisor divisor(std::uint32_t value) {
    if (value == 0) return {};
    return {1.0F / float(value), std::countr_zero(value), std::has_single_bit(value)};
  }
  bool shifts() const { return row.shifts && every[0].shifts && every[1].shifts; }

  Divisor row, plane, from;
  std::int32_t plane_bytes, longer;
  Divisor every[2];
  std::int32_t xor_mask, xor_base;
  Ints pad[2];
};

/// x / d for 0 <= x < 2^22. As floats: the half is larger than the rounding errors, and smaller than the way to the
/// next integer.
template <bool shifts>
[[gnu::always_inline]] inline void divide(const Ints& x, const ChangePlan::Divisor& divisor, Ints& quotient) {
  if constexpr (shifts) {
    quotient = x >> divisor.shift;
  } else {
    quotient = __builtin_convertvector((__builtin_convertvector(x, Floats) + 0.5F) * divisor.inverse, Ints);
  }
}

/// What a change does besides its pads. `other_rows`: it has new rows, or an XOR in planes.
enum class Rearranging { nothing, row_xor, other_rows };

/// One bit per lane group: the slot of its block.
template <Rearranging rearranging, int pads, bool shifts>
[[gnu::always_inline]] inline void slot_bits(const ChangePlan& plan, const Chunk& chunk, unsigned block,
                                             SlotBits& bits) {
  Ints x, quotient;
  std::memcpy(&x, chunk.offsets + std::size_t{chunk_width} * block, sizeof x);
  Ints in_plane;
  if constexpr (rearranging == Rearranging::other_rows) {
    divide<shifts>(x, plan.from, quotient);
    x += quotient * plan.longer;
    divide<shifts>(x, plan.plane, quotient);
    in_plane = x - quotient * plan.plane_bytes;
  } else {
    in_plane = x;
  }
  if constexpr (rearranging != Rearranging::nothing) {
    divide<shifts>(in_plane, plan.row, quotient);
    x ^= (quotient & plan.xor_mask) << plan.xor_base;
  }
  Ints moved = x;
  for (int i = 0; i < pads; ++i) {
    divide<shifts>(x, plan.every[i], quotient);
    // A product of 16 bits is enough: all that follows is a slot, at most nine bits up.
    moved += (Ints)((Halves)quotient * (Halves)plan.pad[i]);
  }
  const Ints slot = moved >> std::int32_t(chunk.shift) & std::int32_t(chunk.slots - 1);
  bits = (SlotBits{} + 1U) << (SlotBits)slot;
}

/// Counts bits per slot: plane p has bit p of the counts.
template <int planes>
struct SlotCounters {
  SlotBits plane[planes] = {};

  [[gnu::always_inline]] void add(SlotBits& bits, int first) {
    for (int p = first; p < planes; ++p) {
      const SlotBits carry = plane[p] & bits;
      plane[p] ^= bits;
      bits = carry;
    }
  }
  /// Adds two to a plane; `carry` is what goes to the next.
  [[gnu::always_inline]] void add_two(const SlotBits& a, const SlotBits& b, int p, SlotBits& carry) {
    const SlotBits half = plane[p] ^ a;
    carry = (plane[p] & a) | (half & b);
    plane[p] = half ^ b;
  }
  [[gnu::always_inline]] void largest(SlotBits& greatest) const {
    greatest = SlotBits{};
    SlotBits slots = ~SlotBits{};  // those that may have the largest count
    for (int p = planes - 1; p >= 0; --p) {
      const SlotBits with = slots & plane[p];
      const auto any = (SlotBits)(with != 0U);
      greatest |= any & (1U << p);
      slots = with | (slots & ~any);
    }
  }
};

template <Rearranging rearranging, int pads, bool shifts, int planes>
[[gnu::always_inline]] inline void compute_cost(const ChangePlan& plan, const Chunk& chunk, ChunkCost& cost) {
  SlotCounters<planes> counters;
  unsigned block = 0;
  const auto four = [&](unsigned first, SlotBits& fours) __attribute__((always_inline)) {
    SlotBits a, b, c, d, twos, more_twos;
    slot_bits<rearranging, pads, shifts>(plan, chunk, first, a);
    slot_bits<rearranging, pads, shifts>(plan, chunk, first + 1, b);
    slot_bits<rearranging, pads, shifts>(plan, chunk, first + 2, c);
    slot_bits<rearranging, pads, shifts>(plan, chunk, first + 3, d);
    counters.add_two(a, b, 0, twos);
    counters.add_two(c, d, 0, more_twos);
    counters.add_two(twos, more_twos, 1, fours);
  };
  for (; block + 8 <= chunk.blocks; block += 8) {
    SlotBits fours, more_fours, eights;
    four(block, fours);
    four(block + 4, more_fours);
    counters.add_two(fours, more_fours, 2, eights);
    counters.add(eights, 3);
  }
  for (; block < chunk.blocks; ++block) {
    SlotBits bits;
    slot_bits<rearranging, pads, shifts>(plan, chunk, block, bits);
    counters.add(bits, 0);
  }
  SlotBits greatest;
  counters.largest(greatest);
  std::memcpy(cost.data(), &greatest, sizeof greatest);
}

template <Rearranging rearranging, int pads, bool shifts>
[[gnu::always_inline]] inline void compute_costs(const ChangePlan& plan, const Chunk* chunks, std::size_t count,
                                                 ChunkCost* costs) {
  constexpr int few = 6, many = 8;  // planes
  static_assert(max_chunk_blocks < 1U << many);
  for (std::size_t i = 0; i < count; ++i) {
    if (chunks[i].blocks < 1U << few) {
      compute_cost<rearranging, pads, shifts, few>(plan, chunks[i], costs[i]);
    } else {
      compute_cost<rearranging, pads, shifts, many>(plan, chunks[i], costs[i]);
    }
  }
}

template <Rearranging rearranging, int pads>
[[gnu::always_inline]] inline void compute_costs(const ChangePlan& plan, const Chunk* chunks, std::size_t count,
                                                 ChunkCost* costs) {
  if (plan.shifts()) return compute_costs<rearranging, pads, true>(plan, chunks, count, costs);
  compute_costs<rearranging, pads, false>(plan, chunks, count, costs);
}

[[gnu::always_inline]] inline void compute_costs(const Change& change, const Chunk* chunks, std::size_t count,
                                                 ChunkCost* costs) {
  const ChangePlan plan(change);
  using enum Rearranging;
  // Rarer, so one form for all: of two pads, either may be none.
  if (change.rows.from > 0 || change.swizzle.plane > 0)
    return compute_costs<other_rows, 2, false>(plan, chunks, count, costs);
  switch (change.kind()) {
    case ChangeKind::sequential:
    case ChangeKind::identity: return compute_costs<nothing, 0>(plan, chunks, count, costs);
    case ChangeKind::row_xor: return compute_costs<row_xor, 0>(plan, chunks, count, costs);
    case ChangeKind::pad: return compute_costs<nothing, 1>(plan, chunks, count, costs);
    case ChangeKind::two_pads: return compute_costs<nothing, 2>(plan, chunks, count, costs);
    case ChangeKind::pad_and_xor: return compute_costs<row_xor, 1>(plan, chunks, count, costs);
    case ChangeKind::repitch: break;  // above
  }
}

using CostsOf = void(const Change&, const Chunk*, std::size_t, ChunkCost*);

void costs_plain(const Change& change, const Chunk* chunks, std::size_t count, ChunkCost* costs) {
  compute_costs(change, chunks, count, costs);
}

#if defined(__x86_64__)
// A shift of each element by its own distance is one instruction here, and with AVX-512 so is a majority of three bits.
[[gnu::target("avx2")]] void costs_avx2(const Change& change, const Chunk* chunks, std::size_t count,
                                        ChunkCost* costs) {
  compute_costs(change, chunks, count, costs);
}
[[gnu::target("avx2,avx512f,avx512vl")]] void costs_avx512(const Change& change, const Chunk* chunks, std::size_t count,
                                                           ChunkCost* costs) {
  compute_costs(change, chunks, count, costs);
}
#endif

CostsOf* fastest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0) return costs_avx512;
  if (__builtin_cpu_supports("avx2") != 0) return costs_avx2;
#endif
  return costs_plain;
}

}  // namespace

void chunk_costs(const Change& change, const Chunk* chunks, std::size_t count, ChunkCost* costs) {
  static CostsOf* const costs_of_chunks = fastest();
  costs_of_chunks(change, chunks, count, costs);
}

std::size_t GroupTable::find_or_add(const std::vector<std::uint32_t>& blocks, unsigned shift, unsigned slots) {
  std::uint64_t hash = shift * 64 + slots;
  for (const std::uint32_t block : blocks) hash = std::rotl((hash ^ block) * 0x9E3779B97F4A7C15, 29);
  const auto [begin, end] = by_hash.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const LaneGroup& group = groups[known->second];
    if (group.blocks == blocks.size() && group.shift == shift && group.slots == slots &&
        std::equal(blocks.begin(), blocks.end(), pool.begin() + std::ptrdiff_t(group.begin))) {
      return known->second;
    }
  }
  by_hash.emplace(hash, groups.size());
  groups.push_back({pool.size(), unsigned(blocks.size()), shift, slots});
  pool.insert(pool.end(), blocks.begin(), blocks.end());
  weights.resize(weights.size() + architectures);
  return groups.size() - 1;
}

}  // namespace bankwise::fit
