// The kernels that cp_async.cu launches: made by a seed, and written as CSV.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace copies {

constexpr std::uint32_t shared_bytes = 32768, source_bytes = 64u << 20, every_lane = 0xffffffff;

/// How lanes write zeros: by a src-size of any value, of all bytes or none, or by the predicate ignore-src.
enum class Fill { none, size, all_or_none, ignore };
enum class Off { predicated, exited };  ///< why lanes do not copy
enum class Warm { cold, l2, l1 };       ///< where the sources are

struct Kernel {
  std::string name;
  std::uint32_t width = 16;
  bool through_l1 = false;
  bool guarded = true;    ///< the instruction has a predicate
  bool prefetch = false;  ///< .L2::128B, as CUTLASS copies; only past the L1
  Fill fill = Fill::none;
  Off off = Off::predicated;
  Warm warm = Warm::cold;
  std::uint32_t warps = 1, blocks = 1, copies = 1;
  std::uint32_t wait_every = 0, pending = 0;  ///< wait after so many copies until at most `pending` are in flight
  std::uint32_t a_warp = 512, a_copy = 0, a_ring = shared_bytes;
  std::uint32_t s_warp = 512, s_copy = 0, s_block = 0, s_ring = 1u << 20;
  std::uint32_t mask = every_lane, zero_lanes = 0, zero_bytes = 0;  ///< zero_bytes: what these lanes still read
  std::uint32_t a[32] = {}, s[32] = {};
};

/// Random choices, the same everywhere: the distributions of the standard library are not.
class Choices {
 public:
  explicit Choices(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t n) { return std::uint32_t(engine_()) % n; }
  bool in(std::uint32_t percent) { return below(100) < percent; }
  std::uint32_t of(std::initializer_list<std::uint32_t> values) { return values.begin()[below(values.size())]; }

 private:
  std::mt19937 engine_;
};

/// The same for `a` and `s`: lanes in rows with a pitch, perhaps swizzled or shuffled.
inline void rows(std::uint32_t* to, std::uint32_t width, std::uint32_t lanes, std::uint32_t pitch, bool swizzled,
                 std::uint32_t first = 0) {
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t row = lane / lanes;
    std::uint32_t column = lane % lanes * width;
    if (swizzled) column ^= row * width & (lanes * width - 1);
    to[lane] = first + row * pitch + column;
  }
}

inline void shuffle(Choices& choose, std::uint32_t* lanes, unsigned from = 0, unsigned to = 32) {
  for (unsigned i = to - 1; i > from; --i) std::swap(lanes[i], lanes[from + choose.below(i - from + 1)]);
}

inline void addresses(Choices& choose, std::uint32_t* to, std::uint32_t width, std::uint32_t ring) {
  const std::uint32_t at_most = ring / 2;
  switch (choose.below(8)) {
    case 0:
    case 1:  // linear, perhaps from inside a line
      rows(to, width, 32, 0, false, choose.in(60) ? 0 : choose.below(32) * width);
      break;
    case 2:
    case 3: {  // rows of a matrix, perhaps padded or swizzled
      const std::uint32_t lanes = choose.of({1, 2, 4, 8, 16});
      std::uint32_t pitch = lanes * width * choose.of({1, 2, 4, 8}) + (choose.in(40) ? width * choose.below(4) : 0);
      while (pitch * (32 / lanes) > at_most) pitch /= 2;
      rows(to, width, lanes, pitch / width * width, choose.in(50));
      break;
    }
    case 4:  // linear, lanes exchanged
      rows(to, width, 32, 0, false);
      shuffle(choose, to, choose.of({0, 0, 8, 16}), choose.of({32, 32, 24}));
      break;
    case 5: {  // random in few or many slots
      const std::uint32_t slots = choose.of({4, 8, 16, 32, 64, 256, 1024});
      for (unsigned lane = 0; lane < 32; ++lane) to[lane] = choose.below(std::min(slots, at_most / width)) * width;
      break;
    }
    case 6: {  // a stride
      const std::uint32_t stride = choose.below(20);
      for (unsigned lane = 0; lane < 32; ++lane) to[lane] = lane * stride * width % at_most;
      break;
    }
    default: {  // a few exceptions from linear
      rows(to, width, 32, 0, false);
      for (unsigned i = 1 + choose.below(4); i > 0; --i) to[choose.below(32)] = choose.below(64) * width;
    }
  }
}

inline std::uint32_t some_lanes(Choices& choose) {
  const std::uint32_t first = every_lane >> choose.below(32);
  switch (choose.below(7)) {
    case 0: return first;
    case 1: return ~first;
    case 2: return choose.of({0xaaaaaaaa, 0x55555555, 0x0f0f0f0f, 0xf0f0f0f0, 0x00ff00ff, 0x000f000f, 0x0000000f});
    case 3: return 0xffu << 8 * choose.below(4);
    case 4: return 1u << choose.below(32);
    case 5: return every_lane ^ 1u << choose.below(32);
    default: return choose.below(every_lane) & choose.below(every_lane);
  }
}

inline Kernel some_kernel(Choices& choose) {
  Kernel k;
  k.through_l1 = choose.in(40);
  k.prefetch = !k.through_l1 && choose.in(30);
  k.width = k.through_l1 ? choose.of({4, 8, 16, 16}) : 16;
  if (choose.in(40)) k.mask = choose.in(5) ? 0 : some_lanes(choose);
  if (choose.in(30)) k.off = Off::exited;
  if (choose.in(30)) {
    k.fill = Fill(choose.of({1, 2, 2, 3}));
    k.zero_lanes = choose.in(15) ? every_lane : choose.in(15) ? 0 : some_lanes(choose);
    if (k.fill == Fill::size && choose.in(20)) k.zero_bytes = k.width / 4 * (1 + choose.below(3));
  }
  k.warm = Warm(choose.below(3));
  if (choose.in(50)) {
    k.warps = 1 + choose.below(16);
    k.blocks = choose.of({1, 1, 1, 2, 132, 264});
    k.copies = 1 + choose.below(16);
    k.wait_every = choose.of({0, 1, 1, 2, 3});
    k.pending = choose.below(4);
    k.a_warp = choose.of({512, 512, 0, 1024, 32, 544}) / k.width * k.width;
    k.a_copy = choose.of({0, 0, 512, 4096, 8192, 16, 528});
    k.s_warp = choose.of({512, 512, 0, 4096, 16384, 64, 2080});
    k.s_copy = choose.of({0, 0, 512, 128, 64, 32, 16, 4096, 65536});
    k.s_block = choose.of({0, 8192, 65536, 64, 131072});
  }
  k.s_ring = choose.in(80) ? 1u << 20 : source_bytes;
  addresses(choose, k.a, k.width, k.a_ring);
  addresses(choose, k.s, k.width, k.s_ring);
  if (choose.in(25)) rows(k.a, k.width, 32, 0, false);
  k.guarded = (k.mask != every_lane && k.off == Off::predicated) || choose.in(30);
  k.name = "random";
  return k;
}

/// Tiles as libraries copy them, in kernels of one copy and of many.
inline void add_tiles(Choices& choose, std::vector<Kernel>& kernels) {
  struct Tile {
    const char* name;
    std::uint32_t lanes, a_pitch, s_pitch;
    bool swizzled;
    std::uint32_t mask;
  };
  // CUTLASS: rows of 64 or 128 bytes, in lines of 128 with an XOR; cuda-samples: 4 lanes each of two rows of 16.
  const Tile tiles[] = {
      {"tf32_k16", 4, 64, 2048, true, every_lane},          {"tf32_k16_wide", 4, 64, 4096, true, every_lane},
      {"tf32_k16_odd", 4, 64, 2064, true, every_lane},      {"tf32_k32", 8, 128, 2048, true, every_lane},
      {"tf32_k32_odd", 8, 128, 2080, true, every_lane},     {"half_k64", 8, 128, 8192, true, every_lane},
      {"large_chunk", 16, 64, 5120, false, 0x000f000f},     {"large_chunk_128", 16, 128, 5120, false, 0x000f000f},
      {"large_chunk_near", 16, 64, 256, false, 0x000f000f}, {"rows_of_2", 2, 32, 1024, false, every_lane},
  };
  for (const Tile& tile : tiles) {
    for (unsigned form = 0; form < 6; ++form) {
      Kernel k;
      k.name = tile.name;
      k.mask = tile.mask;
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const std::uint32_t row = lane / tile.lanes, column = lane % tile.lanes;
        const std::uint32_t line = row * tile.a_pitch / 128, in_line = row * tile.a_pitch % 128 / 16 + column;
        k.a[lane] = line * 128 + (tile.swizzled ? in_line ^ (line & 7) : in_line) * 16;
        k.s[lane] = row * tile.s_pitch + column * 16;
      }
      k.a_warp = 512;
      k.s_warp = 32 / tile.lanes * tile.s_pitch;
      k.through_l1 = form == 5;
      k.prefetch = form == 4 || form == 2;
      if (form == 1) k.off = Off::exited;
      if (form == 2) k.warm = Warm::l2;
      if (form >= 3) {
        k.warps = 4;
        k.blocks = form == 4 ? 132 : 1;
        k.copies = 16;
        k.wait_every = 1;
        k.pending = 3;
        k.a_copy = 2048;
        k.s_copy = 64;
        k.s_block = 4 * k.s_warp;
      }
      kernels.push_back(k);
      if (form < 2) {  // filled with zeros, and none of the lanes
        k.fill = form == 0 ? Fill::size : Fill::ignore;
        k.zero_lanes = choose.of({0xff, 0xffff, 0xf0f0f0f0, 1, 0xaaaaaaaa, 0x80000001});
        kernels.push_back(k);
        k.fill = Fill::none;
        k.zero_lanes = 0;
        k.mask = form == 0 ? 0 : choose.of({0xff, 0xf0f0f0f0, 0xffff0000});
        k.off = Off::predicated;
        kernels.push_back(k);
      }
    }
  }
}

/// From linear, one thing changed at a time: what shows a rule at a glance.
inline void add_steps(std::vector<Kernel>& kernels) {
  const std::uint32_t masks[] = {every_lane, 0,          1,          0xf,        0xff,      0xff00,
                                 0xff0000,   0xff000000, 0xffff,     0xffff0000, 0xff00ff,  0xff0000ff,
                                 0xf000f,    0xf0000000, 0x80000001, 0x10001,    0x1010101, 0xaaaaaaaa,
                                 0x7fffffff, 0xfffffffe, 0x00ffffff, 0xffffff00};
  for (const bool through_l1 : {false, true}) {
    for (const std::uint32_t lanes : {32u, 4u, 1u}) {
      for (const std::uint32_t mask : masks) {
        for (const bool zeros : {false, true}) {
          if (zeros && lanes == 1) continue;
          Kernel k;
          k.name = zeros ? "zeros" : "masks";
          k.through_l1 = through_l1;
          (zeros ? k.zero_lanes : k.mask) = mask;
          if (zeros) k.fill = Fill::size;
          for (std::uint32_t lane = 0; lane < 32; ++lane) {
            k.a[lane] = lane * 16;
            k.s[lane] = lane / lanes * 2048 + lane % lanes * 16;
          }
          kernels.push_back(k);
        }
      }
    }
    for (const std::uint32_t pitch :
         {32u, 64u, 128u, 144u, 192u, 256u, 512u, 1024u, 2048u, 4096u, 5120u, 8192u, 65536u}) {
      for (const std::uint32_t lanes : {1u, 2u, 4u, 8u}) {
        Kernel k;
        k.name = "pitches";
        k.through_l1 = through_l1;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          k.a[lane] = lane * 16;
          k.s[lane] = lane / lanes * pitch + lane % lanes * 16;
        }
        k.s_ring = source_bytes;
        kernels.push_back(k);
      }
    }
  }
}

/// Few lanes, of one lane group or of several, in few slots.
inline void add_small(Choices& choose, std::vector<Kernel>& kernels) {
  for (unsigned i = 0; i < 160; ++i) {
    Kernel k;
    k.name = i % 4 < 2 ? "small" : "small_spread";
    k.through_l1 = i % 2 == 1;
    k.mask = 0xff;
    if (i % 4 >= 2) {
      k.mask = 0;
      for (unsigned n = 2 + choose.below(7); n > 0; --n) k.mask |= 1u << choose.below(32);
    }
    const std::uint32_t slots = choose.of({8, 16, 64}), lines = choose.of({1, 2, 8, 64});
    for (unsigned lane = 0; lane < 32; ++lane) {
      k.a[lane] = choose.in(50) ? lane * 16 : choose.below(slots) * 16;
      k.s[lane] = choose.in(50) ? lane * 16 : choose.below(8) * 16 + choose.below(lines) * 128;
    }
    if (choose.in(30)) rows(k.a, 16, 32, 0, false);
    if (choose.in(30)) rows(k.s, 16, 32, 0, false);
    kernels.push_back(k);
  }
}

inline std::vector<Kernel> kernels_by(std::uint32_t seed, std::size_t count) {
  Choices choose(seed);
  std::vector<Kernel> kernels;
  if (seed % 2 == 0) {  // odd seeds: random kernels only
    add_steps(kernels);
    add_tiles(choose, kernels);
    add_small(choose, kernels);
  }
  while (kernels.size() < count) kernels.push_back(some_kernel(choose));
  kernels.resize(count);
  return kernels;
}

inline bool write(const std::vector<Kernel>& kernels, const char* path) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  std::fputs(
      "id,name,cache,width,guarded,fill,off,warm,warps,blocks,copies,wait_every,pending,a_warp,a_copy,a_ring,s_warp,s_"
      "copy,"
      "s_block,s_ring,mask,zero_lanes,zero_bytes",
      file);
  for (const char letter : {'a', 's'}) {
    for (int lane = 0; lane < 32; ++lane) std::fprintf(file, ",%c%d", letter, lane);
  }
  std::fputc('\n', file);
  unsigned id = 0;
  for (const Kernel& k : kernels) {
    const char *fills[] = {"none", "size", "all_or_none", "ignore"}, *offs[] = {"predicated", "exited"},
               *warms[] = {"cold", "l2", "l1"};
    std::fprintf(file, "%u,%s,%s,%u,%d,%s,%s,%s,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,0x%x,0x%x,%u", id++, k.name.c_str(),
                 k.through_l1 ? "ca"
                 : k.prefetch ? "cg128"
                              : "cg",
                 k.width, k.guarded ? 1 : 0, fills[int(k.fill)], offs[int(k.off)], warms[int(k.warm)], k.warps,
                 k.blocks, k.copies, k.wait_every, k.pending, k.a_warp, k.a_copy, k.a_ring, k.s_warp, k.s_copy,
                 k.s_block, k.s_ring, k.mask, k.zero_lanes, k.zero_bytes);
    for (const std::uint32_t a : k.a) std::fprintf(file, ",%u", a);
    for (const std::uint32_t s : k.s) std::fprintf(file, ",%u", s);
    std::fputc('\n', file);
  }
  return std::fclose(file) == 0;
}

}  // namespace copies
