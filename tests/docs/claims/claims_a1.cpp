// SPDX-License-Identifier: MIT
//
// Article a1: compute capability 1.x.
#include <fmt/format.h>

#include "model.hpp"

namespace bankwise::claims {
namespace {

constexpr std::string_view gt200 = "sm_13";

/// Of the first half-warp.
Range steps(const ByteOf& byte_of) {
  return passes(banks::cost_of(gt200, Operation::load, 4, first_lanes(16), byte_of));
}

/// Pairs of a thread of the first half-warp and one of the second that meet in a bank and wait for each other.
double pairs_across_halves() {
  unsigned pairs = 0;
  for (unsigned first = 0; first < 16; ++first) {
    for (unsigned second = 16; second < 32; ++second) {
      const std::uint64_t mask = std::uint64_t{1} << first | std::uint64_t{1} << second;
      pairs += banks::cost_of(gt200, Operation::load, 4, mask, stride(16)).conflicts;
    }
  }
  return pairs;
}

double banks_of_two(unsigned thread, unsigned other, const ByteOf& byte_of) {
  return bank_of(gt200, byte_of(thread)) == bank_of(gt200, byte_of(other)) ? 1 : 2;
}

std::string base(unsigned number) {
  return fmt::format("base {}", number);
}

std::vector<Claim> organisation() {
  return {
      {.key = "a1.capacity",
       .subject = "shared memory of a multiprocessor",
       .says = "16 KB",
       .why = "The model knows banks, not how large they are. (NVIDIA's guide has the same size.)"},
      {.key = "a1.banks",
       .subject = "its banks",
       .says = "16 banks; the unit is 4 bytes",
       .verdict = Verdict::holds,
       .points = {same("banks", 16, load_rule(gt200, 4).banks.count), same("bytes", 4, load_rule(gt200, 4).banks.bytes)}},
      {.key = "a1.register_speed",
       .subject = "an access without conflict",
       .says = "as fast as a register",
       .why = "The model counts the turns of a bank, not the time of other memories."},
      {.key = "a1.queue",
       .subject = "k threads in one bank, each at a word of its own",
       .says = "one after the other, so k steps",
       .unit = "{} steps",
       .verdict = Verdict::holds,
       .points = sweep(2, 16, 1,
                       [](unsigned k) {
                         return same(fmt::format("k = {}", k), k,
                                     passes(banks::cost_of(gt200, Operation::load, 4, first_lanes(k), stride(16))));
                       })},
      {.key = "a1.bank_of_data",
       .subject = "the bank of `data[i]`, i = 0 … 127",
       .says = "the i-th for i < 16; `data[16]` is back in bank 0",
       .unit = "bank {}",
       .verdict = Verdict::holds,
       .points =
           sweep(0, 127, 1, [](unsigned i) { return same(fmt::format("i = {}", i), i % 16, bank_of(gt200, 4 * i)); })},
      {.key = "a1.half_warps",
       .subject = "a thread of each half-warp, both in one bank",
       .says = "no conflict: 0 of the 256 pairs",
       .unit = "{} pairs with a conflict",
       .verdict = Verdict::holds,
       .points = {same("", 0, pairs_across_halves())}},
  };
}

std::vector<Claim> accesses() {
  return {
      {.key = "a1.contiguous",
       .subject = "`data[base + tid]`",
       .says = "no conflict, full speed",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = sweep(0, 15, 1,
                       [](unsigned b) { return same(base(b), 1, steps(words([=](unsigned t) { return b + t; }))); })},
      {.key = "a1.stride4_pairs",
       .subject = "`data[base + 4 * tid]`, who meets",
       .says = "threads 0 and 4 in one bank, 1 and 5 too",
       .unit = "{} banks",
       .verdict = Verdict::holds,
       .points = {same("threads 0 and 4", 1, banks_of_two(0, 4, stride(4))),
                  same("threads 1 and 5", 1, banks_of_two(1, 5, stride(4)))}},
      {.key = "a1.stride4_threads",
       .subject = "the same, how many meet",
       .says = "4 of the 16 threads in one bank",
       .unit = "{} threads",
       .verdict = Verdict::holds,
       .points = {same("", 4, in_one_bank(gt200, 16, stride(4)))}},
      {.key = "a1.stride4",
       .subject = "the same, how long it takes",
       .says = "a quarter of the speed, so 4 steps",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = sweep(
           0, 15, 1, [](unsigned b) { return same(base(b), 4, steps(words([=](unsigned t) { return b + 4 * t; }))); })},
      {.key = "a1.one_word",
       .subject = "`data[3]`, read by all",
       .says = "a broadcast, no conflict",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("", 1, steps(words([](unsigned) { return 3; })))}},
      {.key = "a1.broadcast",
       .subject = "several threads that read one word",
       .says = "never a conflict, the word goes to all of them",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds_with_a_condition,
       .points = {same("word 5", 1, steps(words([](unsigned) { return 5; }))),
                  same("word 5 (threads 8 … 15 idle)", 1,
                       passes(
                           banks::cost_of(gt200, Operation::load, 4, first_lanes(8), words([](unsigned) { return 5; })))),
                  beyond("`data[tid % 8]`", 1, 2, steps(words([](unsigned t) { return t % 8; }))),
                  beyond("word 5 in threads 0 … 7 and words 6 … 13 in the others", 1, {1, 2},
                         steps(words([](unsigned t) { return t < 8 ? 5 : t - 2; })))},
       .condition = "if all active threads read that word",
       .why = "A step broadcasts one word, which the hardware chooses; of every other bank it serves one thread."},
      {.key = "a1.stride16",
       .subject = "`data[16 * tid]`",
       .says = "a severe conflict (no number)",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {point("", at_least(2), 16, steps(stride(16)))},
       .why = "The worst case: all 16 threads in bank 0."},
      {.key = "a1.padded_store",
       .subject = "store to `data[17 * (tid / 16) + tid % 16]`",
       .says = "no conflict (implied)",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = sweep(0, 15, 1,
                       [](unsigned row) {
                         const auto cell = words([=](unsigned t) { return 17 * (row + t / 16) + t % 16; });
                         const Cost both = banks::cost_of(gt200, Operation::store, 4, cell);
                         return same(fmt::format("row {}", row), 1, both.passes / 2.0);
                       })},
      {.key = "a1.padded_load",
       .subject = "`data[17 * tid]`",
       .says = "no conflict any more",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("", 1, steps(stride(17)))}},
      {.key = "a1.which_bits",
       .subject = "address bits that select the bank (a side remark)",
       .says = "the high ones; so neighbouring words would share a bank",
       .unit = "{} banks",
       .verdict = Verdict::fails,
       .points = {point("`data[0]` and `data[1]`", 1, 2, banks_of_two(0, 1, stride(1))),
                  point("`data[0]` and `data[15]`", 1, 2, banks_of_two(0, 15, stride(1)))},
       .why = "The lowest bits of the word's number select it, as the article itself says of `data[0]` … `data[16]`."},
      {.key = "a1.decoder",
       .subject = "address decoder (a side remark)",
       .says = "one for 32 bits would have 2³² outputs",
       .why = "True of decoders, but nothing about banks follows from it."},
  };
}

}  // namespace

std::vector<Claim> claims_a1() {
  std::vector<Claim> claims = organisation();
  for (Claim& claim : accesses()) claims.push_back(std::move(claim));
  return claims;
}

}  // namespace bankwise::claims
