// SPDX-License-Identifier: MIT
//
// Article a4, "Bank conflicts in reduction and prefix sum": Radeon HD 5870.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "model.hpp"

namespace bankwise::claims {
namespace {

constexpr std::string_view evergreen = "hd5870";
constexpr unsigned length = 512;  ///< of the prefix sum

/// Conflicts of a full wavefront, or of the threads of `mask`.
Range conflicts_of(Operation operation, unsigned width, const ByteOf& byte_of, std::uint64_t mask = ~std::uint64_t{0}) {
  return conflicts(banks::cost_of(evergreen, operation, width, mask, byte_of));
}
Range read(const ByteOf& byte_of) {
  return conflicts_of(Operation::load, 4, byte_of);
}

double gcd_conflicts(unsigned of_words) {
  return 2.0 * (std::gcd(of_words, 32U) - 1);
}

std::string stride_is(unsigned s) {
  return fmt::format("stride {}", s);
}

/// The number of strides from 1 to 64 with this many conflicts.
double strides_with(double number) {
  unsigned strides = 0;
  for (unsigned s = 1; s <= 64; ++s) strides += read(stride(s)) == Range(number) ? 1 : 0;
  return strides;
}

// A uint4 is aligned to its size; a packed record ignores alignment.
struct Loose {
  alignas(16) std::uint32_t d[4];
  std::uint32_t r;
};
struct __attribute__((packed)) Packed {
  std::uint32_t d[4];
  std::uint32_t r;
};

/// Separate reads of the components x, y, z, w of records of `record_words` words.
std::vector<Point> component_reads(unsigned record_words, double number) {
  return sweep(0, 3, 1, [=](unsigned c) {
    const auto component = words([=](unsigned t) { return record_words * t + c; });
    return same(fmt::format("component {}", "xyzw"[c]), number, read(component));
  });
}

/// The first (`ai`) or the second (`bi`) index of the prefix sum, in the step with `threads` active threads.
unsigned scan_index(unsigned threads, bool second, unsigned thread) {
  return length / (2 * threads) * (2 * thread + (second ? 2 : 1)) - 1;
}

unsigned wavefronts(unsigned threads) {
  return (threads + architecture(evergreen).warp - 1) / architecture(evergreen).warp;
}

/// Conflicts of all wavefronts of a step; `place` maps an element to its index.
template <typename Place>
unsigned scan_conflicts(unsigned threads, bool second, Place place) {
  unsigned sum = 0;
  for (unsigned first = 0; first < threads; first += architecture(evergreen).warp) {
    const auto element = words([=](unsigned t) { return place(scan_index(threads, second, first + t)); });
    sum +=
        banks::cost_of(evergreen, Operation::load, 4, first_lanes(std::min(threads - first, 64U)), element).conflicts;
  }
  return sum;
}
unsigned unpadded(unsigned x) {
  return x;
}
unsigned padded(unsigned x) {
  return x + x / 32;
}

/// One point per step: d = 256, 128 … 1.
template <typename PointAt>
std::vector<Point> steps(PointAt point_at) {
  std::vector<Point> points;
  for (unsigned d = length / 2; d > 0; d /= 2) points.push_back(point_at(d, fmt::format("d = {}", d)));
  return points;
}

/// Both indices have the same number by hand: threads of a half-wavefront are 512 / d words apart.
std::vector<Point> unpadded_steps(bool second) {
  constexpr unsigned by_hand[]{0, 1, 3, 7, 15, 15, 14, 12, 8};  // d = 1, 2, 4 …
  return steps([=](unsigned d, const std::string& at) {
    return Point{(second ? "`bi` at " : "`ai` at ") + at, at_least(1), by_hand[std::countr_zero(d)],
                 scan_conflicts(d, second, unpadded), d > 1};
  });
}

std::vector<Claim> formula() {
  return {
      {.key = "a4.organisation",
       .subject = "the HD 5870",
       .says = "32 banks, wavefronts of 64 threads",
       .verdict = Verdict::holds,
       .points = {same("banks", 32, load_rule(evergreen, 4).banks.count),
                  same("threads", 64, architecture(evergreen).warp)}},
      {.key = "a4.even_strides",
       .subject = "an even stride of 2 … 64 words",
       .says = "stride · 64 / 32 − 2 conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::fails,
       .points =
           sweep(2, 64, 2,
                 [](unsigned s) { return point(stride_is(s), s * 64.0 / 32 - 2, gcd_conflicts(s), read(stride(s))); }),
       .why = "The formula is right only at powers of two up to 32. In general the number is 2 · (gcd(stride, 32) − "
              "1), so only the largest power of two in the stride matters.",
       .listed = true},
      {.key = "a4.odd_strides",
       .subject = "an odd stride of 1 … 63 words",
       .says = "0 conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = sweep(1, 63, 2, [](unsigned s) { return same(stride_is(s), 0, read(stride(s))); })},
      {.key = "a4.stride2",
       .subject = "stride 2",
       .says = "2 conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = {same("", 2, read(stride(2)))}},
      {.key = "a4.stride4",
       .subject = "stride 4",
       .says = "6 conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = {same("", 6, read(stride(4)))}},
      {.key = "a4.stride8",
       .subject = "stride 8, which the article lists twice",
       .says = "14 conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = {same("", 14, read(stride(8)))},
       .why = "We think that one of the two lines was meant for stride 6. For stride 6 the formula is wrong."},
      {.key = "a4.stride10",
       .subject = "stride 10",
       .says = "18 conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::fails,
       .points = {point("", 18, 2, read(stride(10)))},
       .why = "The largest power of two in 10 is 2, so stride 10 has as many conflicts as stride 2."},
      {.key = "a4.stride_missing",
       .subject = "an example whose stride the article does not state (by its formula, 12)",
       .says = "22 conflicts",
       .verdict = Verdict::fails,
       .points = {point("conflicts at stride 12", 22, 6, read(stride(12))),
                  point("strides from 1 to 64 have 22 conflicts", at_least(1), 0, strides_with(22))},
       .why = "The largest power of two in 12 is 4."},
  };
}

std::vector<Claim> reduction() {
  const auto uint4 = items(16, [](unsigned t) { return t; });
  const auto tree_step = [](unsigned threads) {
    return conflicts_of(Operation::load, 4, stride(4), first_lanes(threads));
  };
  std::vector<Point> tree_of_packed;
  for (unsigned s = 64; s > 0; s /= 2) {
    const auto partner = words([=](unsigned t) { return 5 * (t + s); });
    tree_of_packed.push_back(
        same(fmt::format("`sdata[tid + {}].d.x`", s), 0, conflicts_of(Operation::load, 4, partner, first_lanes(s))));
  }
  return {
      {.key = "a4.uint4",
       .subject = "reduction, `sdata[tid]` of `uint4`",
       .says = "6 conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::holds_with_a_condition,
       .points = component_reads(4, 6) +
                 std::vector<Point>{same("store of component x", 6, conflicts_of(Operation::store, 4, stride(4))),
                                    beyond("one read of 16 bytes", 6, 8, conflicts_of(Operation::load, 16, uint4)),
                                    beyond("one store of 16 bytes", 6, 24, conflicts_of(Operation::store, 16, uint4)),
                                    beyond("component x (32 threads)", 6, 3, tree_step(32)),
                                    beyond("component x (16 threads)", 6, 1, tree_step(16)),
                                    beyond("component x (8 threads)", 6, 0, tree_step(8))},
       .condition = "if the access is split into one-word accesses, each by a full wavefront",
       .why = "Compilers for this GPU often split vector accesses in this way. The last steps of the tree have fewer "
              "threads."},
      {.key = "a4.packed_size",
       .subject = "the packed record of `uint4` and `uint`",
       .says = "5 words",
       .unit = "{} words",
       .verdict = Verdict::holds,
       .points = {same("", 5, sizeof(Packed) / 4.0)}},
      {.key = "a4.packed",
       .subject = "reduction of packed records",
       .says = "0 conflicts, because the stride is odd",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = component_reads(5, 0) + tree_of_packed,
       .why =
           "The kernel must access each word separately, because a record of 20 bytes is aligned to at most 4 bytes."},
      {.key = "a4.loose",
       .subject = "the record of `uint4` and `uint`, not packed",
       .says = "8 words",
       .unit = "{} words",
       .verdict = Verdict::holds,
       .points = {same("", 8, sizeof(Loose) / 4.0)},
       .why = "The size is a multiple of 16 bytes, because `uint4` is aligned to 16 bytes."},
      {.key = "a4.loose_conflicts",
       .subject = "reduction of unpacked records",
       .says = "14 conflicts, because the stride is 8 (implied)",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = component_reads(8, 14)},
  };
}

std::vector<Claim> prefix_sum() {
  const auto store = [](unsigned (*place)(unsigned), unsigned offset) {
    return conflicts_of(Operation::store, 4, words([=](unsigned t) { return place(2 * t + offset); }));
  };
  // The macro as printed, AVOID(x) (x + x/32), expands e - 1 to e - 1 + e - 1/32.
  const auto as_printed = [](unsigned x) { return 2 * x + 1; };
  double all_threads = 0, all_wavefronts = 0;
  for (unsigned d = length / 2; d > 0; d /= 2) {
    all_threads += d;
    all_wavefronts += wavefronts(d);
  }
  return {
      {.key = "a4.scan_store",
       .subject = "prefix sum, store to `block[2 * tid]`",
       .says = "conflicts (no number)",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = {point("`block[2 * tid]`", at_least(1), 2, store(unpadded, 0)),
                  point("`block[2 * tid + 1]`", at_least(1), 2, store(unpadded, 1))}},
      {.key = "a4.scan_store_padded",
       .subject = "prefix sum, store with the padded index `x + x / 32`",
       .says = "no conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = {same("x = 2 * tid", 0, store(padded, 0)), same("x = 2 * tid + 1", 0, store(padded, 1))}},
      {.key = "a4.scan_padded",
       .subject = "prefix sum of 512 elements, all nine steps, with the padded index `x + x / 32`",
       .says = "no conflicts",
       .unit = "{} conflicts",
       .verdict = Verdict::holds_with_a_condition,
       .points = steps([](unsigned d, const std::string& at) {
                   return same("`ai` at " + at, 0, scan_conflicts(d, false, padded));
                 }) +
                 steps([](unsigned d, const std::string& at) {
                   return same("`bi` at " + at, 0, scan_conflicts(d, true, padded));
                 }) +
                 std::vector<Point>{
                     beyond("`ai` at d = 256 with the macro as printed", 0, 24, scan_conflicts(256, false, as_printed)),
                     beyond("`bi` at d = 256 with the macro as printed", 0, 24, scan_conflicts(256, true, as_printed))},
       .condition = "if the macro's argument is in parentheses",
       .why = "The printed macro has no parentheses. It is right for the article's own `2 * tid`, but in `offset * (2 "
              "* tid + 1) - 1` its division applies only to the last term."},
      {.key = "a4.scan_unpadded",
       .subject = "prefix sum of 512 elements, all nine steps, without padding",
       .says = "conflicts (no number)",
       .unit = "{} conflicts",
       .verdict = Verdict::holds_with_a_condition,
       .points = unpadded_steps(false) + unpadded_steps(true),
       .condition = "for steps with more than one thread",
       .why = "A single thread cannot conflict. The last table of this page has all steps."},
      {.key = "a4.scan_wavefronts",
       .subject = "prefix sum of 512 elements: wavefronts of each step",
       .says = "4 in the first step, 2 in the second, 1 in each further step",
       .unit = "{} wavefronts",
       .verdict = Verdict::holds,
       .points = steps([](unsigned d, const std::string& at) {
         return same(at, d == 256 ? 4 : d == 128 ? 2 : 1, wavefronts(d));
       })},
      {.key = "a4.scan_lanes",
       .subject = "prefix sum of 512 elements: active lanes in the steps with less than one full wavefront",
       .says = "50, 25, 12.5, 6.25, 3.125, 1.5625 %",
       .unit = "{} %",
       .verdict = Verdict::holds,
       .points = {same("d = 32", 50, 100.0 * 32 / architecture(evergreen).warp),
                  same("d = 16", 25, 100.0 * 16 / architecture(evergreen).warp),
                  same("d = 8", 12.5, 100.0 * 8 / architecture(evergreen).warp),
                  same("d = 4", 6.25, 100.0 * 4 / architecture(evergreen).warp),
                  same("d = 2", 3.125, 100.0 * 2 / architecture(evergreen).warp),
                  same("d = 1", 1.5625, 100.0 * 1 / architecture(evergreen).warp)}},
      {.key = "a4.scan_total",
       .subject = "prefix sum of 512 elements: all steps together",
       .says = "511 active threads in 13 wavefronts",
       .verdict = Verdict::holds,
       .points = {same("threads", 511, all_threads), same("wavefronts", 13, all_wavefronts)}},
      {.key = "a4.scan_efficiency",
       .subject = "prefix sum of 512 elements: active threads per wavefront, over all steps",
       .says = "511 / 13 = 61.4",
       .verdict = Verdict::holds_with_a_condition,
       .points = {point("% of the lanes (511 / (13 · 64))", 61.4, 61.4,
                        std::round(1000 * all_threads / all_wavefronts / architecture(evergreen).warp) / 10),
                  beyond("threads (511 / 13)", 61.4, 39.3, std::round(10 * all_threads / all_wavefronts) / 10)},
       .condition = "as a percentage of the lanes",
       .why = "The number is right. The printed division lacks the 64 lanes of a wavefront, and the result lacks the "
              "percent sign."},
  };
}

}  // namespace

std::vector<Claim> claims_a4() {
  std::vector<Claim> claims = formula();
  for (auto* more : {reduction, prefix_sum}) {
    for (Claim& claim : more()) claims.push_back(std::move(claim));
  }
  return claims;
}

std::string scan_table() {
  std::string table =
      "| d | threads | wavefronts | active lanes | `ai` | `bi` | `ai`, padded | `bi`, padded |\n"
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (unsigned d = length / 2; d > 0; d /= 2) {
    const unsigned waves = wavefronts(d);
    table += fmt::format("| {0} | {0} | {1} | {2:.6g} % | {3} | {4} | {5} | {6} |\n", d, waves,
                         100.0 * d / (waves * architecture(evergreen).warp), scan_conflicts(d, false, unpadded),
                         scan_conflicts(d, true, unpadded), scan_conflicts(d, false, padded),
                         scan_conflicts(d, true, padded));
  }
  return table;
}

}  // namespace bankwise::claims
