// SPDX-License-Identifier: MIT
//
// Article a2, "Shared memory conflicts": compute capabilities 1.x and 2.0.
#include <fmt/format.h>

#include <numeric>

#include "model.hpp"

namespace bankwise::claims {
namespace {

constexpr std::string_view old_gpu = "sm_13", new_gpu = "sm_20";

/// Steps of the first half-warp of compute capability 1.x.
Range steps(unsigned width, const ByteOf& byte_of) {
  return passes(banks::cost_of(old_gpu, Operation::load, width, first_lanes(16), byte_of));
}

/// Ways of a warp of compute capability 2.0.
Range ways(unsigned width, const ByteOf& byte_of) {
  return passes(banks::cost_of(new_gpu, Operation::load, width, byte_of));
}
Range ways(unsigned width, std::uint64_t mask, const ByteOf& byte_of) {
  return passes(banks::cost_of(new_gpu, Operation::load, width, mask, byte_of));
}

ByteOf each(unsigned size, unsigned step = 1) {
  return items(size, [=](unsigned t) { return step * t; });
}

constexpr std::uint64_t lanes(unsigned one, unsigned other) {
  return std::uint64_t{1} << one | std::uint64_t{1} << other;
}

double request_bits(unsigned width) {
  const unsigned bytes = load_rule(new_gpu, width).request_bytes;
  return 8 * (bytes == 0 ? width : bytes);
}

std::vector<Claim> rules() {
  return {
      {.key = "a2.speed",
       .subject = "speed of shared memory compared with global memory",
       .says = "100 times as fast",
       .why = "The model counts passes, not latency."},
      {.key = "a2.scope",
       .subject = "two threads of different half-warps that access two words of one bank",
       .says = "a conflict on 2.0, none on 1.3 and older",
       .unit = "{} conflicts",
       .verdict = Verdict::holds,
       .points = {point("2.0", at_least(1), 1,
                        conflicts(banks::cost_of(new_gpu, Operation::load, 4, lanes(0, 16), stride(32)))),
                  same("1.x", 0, conflicts(banks::cost_of(old_gpu, Operation::load, 4, lanes(0, 16), stride(32))))}},
      {.key = "a2.degree",
       .subject = "N threads that access one bank, on 2.0",
       .says = "a conflict of degree N, which makes the access N times slower",
       .unit = "{} ways",
       .verdict = Verdict::holds_with_a_condition,
       .points =
           sweep(2, 32, 1,
                 [](unsigned n) { return same(fmt::format("N = {}", n), n, ways(4, first_lanes(n), stride(32))); }) +
           std::vector<Point>{beyond("`shared[0]` (N = 32)", 32, 1, ways(4, stride(0))),
                              beyond("`shared[32 * (tid % 2)]` (N = 32)", 32, 2,
                                     ways(4, words([](unsigned t) { return 32 * (t % 2); })))},
       .condition = "if each thread accesses a different word",
       .why = "The hardware serves all threads that access the same word together, so only the number of different "
              "words matters."},
      {.key = "a2.broadcast_1x",
       .subject = "broadcast on 1.x",
       .says = "works for one word, not for several words",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("all threads at one word", 1, steps(4, stride(0))),
                  point("half of the threads at one word and half at another", at_least(2), 2,
                        steps(4, words([](unsigned t) { return t / 8; })))}},
      {.key = "a2.broadcast_2x",
       .subject = "broadcast on 2.x",
       .says = "works for several words simultaneously, and for any of their bytes",
       .unit = "{} ways",
       .verdict = Verdict::holds,
       .points = {same("`shared[tid % 2]`", 1, ways(4, words([](unsigned t) { return t % 2; }))),
                  same("`shared[tid / 2]`", 1, ways(4, words([](unsigned t) { return t / 2; }))),
                  same("`bytes[tid]`", 1, ways(1, each(1)))}},
      {.key = "a2.bits64",
       .subject = "64-bit access on 2.0",
       .says = "only threads of the same half-warp conflict",
       .unit = "{} ways",
       .verdict = Verdict::holds,
       .points = {same("`double[tid]`", 1, ways(8, each(8))),
                  same("`double[16 * tid]` (threads 0 and 16 alone)", 1, ways(8, lanes(0, 16), each(8, 16))),
                  point("`double[16 * tid]` (threads 0 and 15 alone)", at_least(2), 2,
                        ways(8, lanes(0, 15), each(8, 16))),
                  point("`double[16 * tid]` (threads 16 and 31 alone)", at_least(2), 2,
                        ways(8, lanes(16, 31), each(8, 16)))},
       .why = "Only different words conflict, as with narrower accesses."},
      {.key = "a2.bits128",
       .subject = "128-bit access on 2.0, `float4[tid]`",
       .says = "usually a conflict of degree 2",
       .unit = "{} ways",
       .verdict = Verdict::holds,
       .points = {same("", 2, ways(16, each(16)))}},
      {.key = "a2.requests",
       .subject = "accesses of more than 32 bits on 2.0: size of a request",
       .says = "32, 64 or 128 bits",
       .unit = "{} bits",
       .verdict = Verdict::holds,
       .points = {same("a 64-bit access", 64, request_bits(8)), same("a 96-bit access", 32, request_bits(12)),
                  same("a 128-bit access", 128, request_bits(16))},
       .why = "The article does not explain 96 bits. By NVIDIA's guide, such an access becomes three requests of 32 "
              "bits."},
      {.key = "a2.bank_2x",
       .subject = "the bank of byte addresses 0 … 255 on 2.0",
       .says = "(address / 4) mod 32",
       .unit = "bank {}",
       .verdict = Verdict::holds,
       .points = sweep(0, 255, 1,
                       [](unsigned a) { return same(fmt::format("address {}", a), a / 4 % 32, bank_of(new_gpu, a)); })},
      {.key = "a2.bank_1x",
       .subject = "the bank of byte addresses 0 … 255 on 1.x",
       .says = "(address / 4) mod 16",
       .unit = "bank {}",
       .verdict = Verdict::holds,
       .points = sweep(0, 255, 1,
                       [](unsigned a) { return same(fmt::format("address {}", a), a / 4 % 16, bank_of(old_gpu, a)); })},
  };
}

std::vector<Claim> examples() {
  return {
      {.key = "a2.char_1x",
       .subject = "`char[tid]` on 1.x",
       .says = "the first 4 threads conflict: 4 steps",
       .unit = "{} steps",
       .verdict = Verdict::holds_with_a_condition,
       .points = {same("a half-warp", 4, steps(1, each(1))),
                  beyond("threads 0 … 3 alone", 4, 1,
                         passes(banks::cost_of(old_gpu, Operation::load, 1, first_lanes(4), each(1))))},
       .condition = "if other threads of the half-warp read other words",
       .why = "The 4 bytes are in one word. A step can broadcast one word, but not the four words of a half-warp."},
      {.key = "a2.char_padded",
       .subject = "`char[4 * tid]` on 1.x",
       .says = "no conflict",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("", 1, steps(1, each(1, 4)))}},
      {.key = "a2.short_1x",
       .subject = "`short[tid]` on 1.x",
       .says = "the first 2 threads conflict: 2 steps",
       .unit = "{} steps",
       .verdict = Verdict::holds_with_a_condition,
       .points = {same("a half-warp", 2, steps(2, each(2))),
                  beyond("threads 0 and 1 alone", 2, 1,
                         passes(banks::cost_of(old_gpu, Operation::load, 2, first_lanes(2), each(2))))},
       .condition = "if other threads of the half-warp read other words",
       .why = "The 2 elements are in one word, as with `char`."},
      {.key = "a2.short_padded",
       .subject = "`short[2 * tid]` on 1.x",
       .says = "no conflict",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("", 1, steps(2, each(2, 2)))}},
      {.key = "a2.stride2_banks",
       .subject = "`int[2 * tid]` and `int[2 * tid + 1]` on 1.x: threads that share a bank",
       .says = "threads 0 and 8, in bank 0 and in bank 1",
       .unit = "bank {}",
       .verdict = Verdict::holds,
       .points = {same("`int[2 * tid]` (thread 0)", 0, bank_of(old_gpu, 0)),
                  same("`int[2 * tid]` (thread 8)", 0, bank_of(old_gpu, 64)),
                  same("`int[2 * tid + 1]` (thread 0)", 1, bank_of(old_gpu, 4)),
                  same("`int[2 * tid + 1]` (thread 8)", 1, bank_of(old_gpu, 68))}},
      {.key = "a2.stride2",
       .subject = "`int[2 * tid]` and `int[2 * tid + 1]` on 1.x: time",
       .says = "a conflict of degree 2 in each access",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("`int[2 * tid]`", 2, steps(4, stride(2))),
                  same("`int[2 * tid + 1]`", 2, steps(4, words([](unsigned t) { return 2 * t + 1; })))}},
      {.key = "a2.two_arrays",
       .subject = "`int[tid]` of each of two arrays with 32 elements, on 1.x",
       .says = "no conflict",
       .unit = "{} steps per half-warp",
       .verdict = Verdict::holds,
       .points = {same("the first array", 1, steps(4, stride(1))),
                  same("the second array", 1, steps(4, words([](unsigned t) { return 32 + t; })))}},
      {.key = "a2.narrow_2x",
       .subject = "8-bit and 16-bit accesses on 2.0",
       .says = "no conflict",
       .unit = "{} ways",
       .verdict = Verdict::holds_with_a_condition,
       .points = {same("`char[tid]`", 1, ways(1, each(1))), same("`char[4 * tid]`", 1, ways(1, each(1, 4))),
                  same("`short[tid]`", 1, ways(2, each(2))), same("`short[2 * tid]`", 1, ways(2, each(2, 2))),
                  beyond("`char[8 * tid]`", 1, 2, ways(1, each(1, 8))),
                  beyond("`short[64 * tid]`", 1, 32, ways(2, each(2, 64)))},
       .condition = "for the accesses in the article, in which neighbouring threads are at most 4 bytes apart",
       .why = "Bytes of one word never conflict. Different words of one bank conflict at every access width."},
      {.key = "a2.stride",
       .subject = "`int[s * tid]` on 2.0, s = 0 … 64",
       .says = "a conflict if s is even, none if it is odd",
       .unit = "{} ways",
       .verdict = Verdict::holds_with_a_condition,
       .points = sweep(0, 64, 1,
                       [](unsigned s) {
                         const Range article = s % 2 == 0 ? at_least(2) : Range(1);
                         const Range by_hand = s == 0 ? 1 : std::gcd(s, 32U);
                         return Point{fmt::format("s = {}", s), article, by_hand, ways(4, stride(s)), s != 0};
                       }),
       .condition = "for s ≥ 1",
       .why =
           "At s = 0 all threads read one word, which is a broadcast. For all other s the number is gcd(s, 32) ways."},
      {.key = "a2.array",
       .subject = "`int[s * tid]` on 2.0: last index that a warp accesses",
       .says = "at most 63, because the array has 64 elements",
       .unit = "index {}",
       .verdict = Verdict::holds_with_a_condition,
       .points = sweep(0, 4, 1,
                       [](unsigned s) {
                         const double last = s * (architecture(new_gpu).warp - 1);
                         return Point{fmt::format("s = {}", s), {0, 63}, 31.0 * s, last, s <= 2};
                       }),
       .condition = "for s ≤ 2",
       .why = "With a larger stride, the article's example reads past the end of its array."},
  };
}

}  // namespace

std::vector<Claim> claims_a2() {
  std::vector<Claim> claims = rules();
  for (Claim& claim : examples()) claims.push_back(std::move(claim));
  return claims;
}

}  // namespace bankwise::claims
