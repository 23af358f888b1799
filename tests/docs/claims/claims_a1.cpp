// SPDX-License-Identifier: MIT
//
// Article a1, "Bank conflict": compute capability 1.x.
#include <fmt/format.h>

#include "model.hpp"

namespace bankwise::claims {
namespace {

constexpr std::string_view gt200 = "sm_13";

/// Of the first half-warp.
Range steps(const ByteOf& byte_of) {
  return passes(banks::cost_of(gt200, Operation::load, 4, first_lanes(16), byte_of));
}

/// Pairs of a thread in the first half-warp and a thread in the second that conflict in a bank.
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
       .subject = "size of shared memory per multiprocessor",
       .says = "16 KB",
       .why = "The bank model does not describe sizes. (NVIDIA's guide states the same size.)"},
      {.key = "a1.banks",
       .subject = "banks of shared memory",
       .says = "16 banks of 4 bytes",
       .verdict = Verdict::holds,
       .points = {same("banks", 16, load_rule(gt200, 4).banks.count),
                  same("bytes", 4, load_rule(gt200, 4).banks.bytes)}},
      {.key = "a1.register_speed",
       .subject = "speed of an access without bank conflicts",
       .says = "as fast as a register",
       .why = "The model counts passes (NVIDIA: wavefronts), not latency."},
      {.key = "a1.queue",
       .subject = "k threads that access k different words of one bank",
       .says = "k steps: the hardware serializes them",
       .unit = "{} steps",
       .verdict = Verdict::holds,
       .points = sweep(2, 16, 1,
                       [](unsigned k) {
                         return same(fmt::format("k = {}", k), k,
                                     passes(banks::cost_of(gt200, Operation::load, 4, first_lanes(k), stride(16))));
                       })},
      {.key = "a1.bank_of_data",
       .subject = "the bank of `data[i]`, i = 0 … 127",
       .says = "bank i for i < 16; bank 0 again for `data[16]`",
       .unit = "bank {}",
       .verdict = Verdict::holds,
       .points =
           sweep(0, 127, 1, [](unsigned i) { return same(fmt::format("i = {}", i), i % 16, bank_of(gt200, 4 * i)); })},
      {.key = "a1.half_warps",
       .subject = "two threads of different half-warps that access one bank",
       .says = "no conflict in any of the 256 pairs",
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
       .subject = "`data[base + 4 * tid]`: threads that share a bank",
       .says = "threads 0 and 4, and threads 1 and 5",
       .unit = "{} banks",
       .verdict = Verdict::holds,
       .points = {same("threads 0 and 4", 1, banks_of_two(0, 4, stride(4))),
                  same("threads 1 and 5", 1, banks_of_two(1, 5, stride(4)))}},
      {.key = "a1.stride4_threads",
       .subject = "`data[base + 4 * tid]`: threads per bank",
       .says = "4 of the 16 threads",
       .unit = "{} threads",
       .verdict = Verdict::holds,
       .points = {same("", 4, in_one_bank(gt200, 16, stride(4)))}},
      {.key = "a1.stride4",
       .subject = "`data[base + 4 * tid]`: time",
       .says = "4 steps, a quarter of the speed",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = sweep(
           0, 15, 1, [](unsigned b) { return same(base(b), 4, steps(words([=](unsigned t) { return b + 4 * t; }))); })},
      {.key = "a1.one_word",
       .subject = "all threads read `data[3]`",
       .says = "a broadcast, no conflict",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("", 1, steps(words([](unsigned) { return 3; })))}},
      {.key = "a1.broadcast",
       .subject = "several threads read one word",
       .says = "never a conflict: a broadcast to all of them",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds_with_a_condition,
       .points = {same("`data[5]`", 1, steps(words([](unsigned) { return 5; }))),
                  same("`data[5]` (threads 0 … 7 alone)", 1,
                       passes(banks::cost_of(gt200, Operation::load, 4, first_lanes(8),
                                             words([](unsigned) { return 5; })))),
                  beyond("`data[tid % 8]`", 1, 2, steps(words([](unsigned t) { return t % 8; }))),
                  beyond("`data[tid < 8 ? 5 : tid - 2]`", 1, {1, 2},
                         steps(words([](unsigned t) { return t < 8 ? 5 : t - 2; })))},
       .condition = "if all active threads read that word",
       .why = "In one step the hardware broadcasts one word, which it chooses. From every other bank it serves one "
              "thread."},
      {.key = "a1.stride16",
       .subject = "`data[16 * tid]`",
       .says = "a severe conflict (no number)",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {point("", at_least(2), 16, steps(stride(16)))},
       .why = "This is the worst case: all 16 threads access bank 0."},
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
       .says = "no conflict",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("", 1, steps(stride(17)))}},
      {.key = "a1.which_bits",
       .subject = "address bits that select the bank (a side remark)",
       .says = "the high bits, so adjacent words share a bank",
       .unit = "{} banks",
       .verdict = Verdict::fails,
       .points = {point("`data[0]` and `data[1]`", 1, 2, banks_of_two(0, 1, stride(1))),
                  point("`data[0]` and `data[15]`", 1, 2, banks_of_two(0, 15, stride(1)))},
       .why = "The lowest bits of the word index select the bank. The article itself says so about `data[0]` … "
              "`data[16]`."},
      {.key = "a1.decoder",
       .subject = "address decoder (a side remark)",
       .says = "a decoder for 32 bits would have 2³² outputs",
       .why = "This is true of decoders, but says nothing about banks."},
  };
}

}  // namespace

std::vector<Claim> claims_a1() {
  std::vector<Claim> claims = organisation();
  for (Claim& claim : accesses()) claims.push_back(std::move(claim));
  return claims;
}

}  // namespace bankwise::claims
