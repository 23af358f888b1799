// SPDX-License-Identifier: MIT
//
// Article a3, "Bank conflicts and vectorized memory access in CUDA": loads of 4, 8 and 16 bytes per thread (LDS.32,
// LDS.64, LDS.128). It names no GPU; its numbers come from an A100. We compute every number for sm_80 and sm_90.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model.hpp"

namespace bankwise::claims {
namespace {

constexpr std::string_view gpus[]{"sm_80", "sm_90"};
constexpr std::uint64_t all = first_lanes(32), lower_half = first_lanes(16), even_lanes = 0x55555555;

/// The range over all GPUs: a single number if they agree.
template <typename NumberOf>
Range on_all(NumberOf number_of) {
  Range range = double(number_of(gpus[0]));
  for (const std::string_view gpu : gpus) {
    range.least = std::min(range.least, double(number_of(gpu)));
    range.most = std::max(range.most, double(number_of(gpu)));
  }
  return range;
}

/// A load of `width` bytes by each thread in `mask`. The unit of `index_of` is an item of that width.
struct Load {
  unsigned width;
  std::uint64_t mask;
  unsigned (*index_of)(unsigned thread);

  Cost on(std::string_view gpu) const {
    return banks::cost_of(gpu, Operation::load, width, mask, items(width, index_of));
  }
};

Range transactions(const Load& load) {
  return on_all([&](auto gpu) { return load.on(gpu).passes; });
}
Range conflicts_of(const Load& load) {
  return on_all([&](auto gpu) { return load.on(gpu).conflicts; });
}
/// Transactions without bank conflicts.
Range without_conflicts(const Load& load) {
  return on_all([&](auto gpu) { return load.on(gpu).ideal; });
}
Range bytes_of_first_phase(const Load& load) {
  return on_all([&](auto gpu) { return load.width * unsigned(std::popcount(load.on(gpu).lane_groups[0].lanes)); });
}
Range passes_of_group(const Load& load, unsigned lane_group) {
  return on_all([&](auto gpu) { return load.on(gpu).lane_groups[lane_group].passes; });
}

/// The first and the last word of a lane group, for a load whose index grows with the thread index.
Range words_of_group(const Load& load, unsigned lane_group) {
  const auto last_lane = [=](auto gpu) {
    return unsigned(std::bit_width(load.on(gpu).lane_groups[lane_group].lanes)) - 1;
  };
  const auto first_lane = [=](auto gpu) {
    return unsigned(std::countr_zero(load.on(gpu).lane_groups[lane_group].lanes));
  };
  const unsigned item = load.width / 4;
  const Range first = on_all([&](auto gpu) { return item * load.index_of(first_lane(gpu)); });
  const Range last = on_all([&](auto gpu) { return item * load.index_of(last_lane(gpu)) + item - 1; });
  return {first.least, last.most};
}

unsigned own(unsigned t) {
  return t;
}
unsigned none(unsigned) {
  return 0;
}
unsigned pairs(unsigned t) {
  return t / 2;
}
/// Threads t and t ^ 2 share an item.
unsigned pairs_at_distance_2(unsigned t) {
  return t / 4 * 2 + t % 2;
}

// The five cases of LDS.128. The article shows them as pictures; the indices come from its kernels.
unsigned fifth(unsigned) {
  return 4;
}
unsigned case3(unsigned t) {
  return 2 * (t / 8) + t / 2 % 2;
}
unsigned case4(unsigned t) {
  return t < 16 ? case3(t) : 2 * (t / 8) + t % 2;
}
unsigned case5(unsigned t) {
  return 4 * (t / 16) + t % 16 / 8 + 8 * (t % 8 / 4);
}

/// The numbers of each case: transactions, and conflicts among them.
std::vector<Point> stated(const Load& load, double number, double number_of_conflicts) {
  return {same("transactions", number, transactions(load)), same("conflicts", number_of_conflicts, conflicts_of(load))};
}

std::vector<Claim> four_bytes() {
  return {
      {.key = "a3.bytes_of_warp",
       .subject = "4 bytes per thread: bytes per warp",
       .says = "at most 128 bytes, the size of one transaction",
       .unit = "{} bytes",
       .verdict = Verdict::holds,
       .points = {same("a warp's request", 128, on_all([](auto gpu) { return 4 * architecture(gpu).warp; })),
                  same("one pass of all banks", 128, on_all([](auto gpu) {
                         return load_rule(gpu, 4).banks.count * load_rule(gpu, 4).banks.bytes;
                       }))}},
      {.key = "a3.one_transaction",
       .subject = "4 bytes per thread, without conflicts",
       .says = "1 transaction, whichever threads share a word",
       .unit = "{} transactions",
       .verdict = Verdict::holds,
       .points = {same("`[tid]`", 1, transactions({4, all, own})),
                  same("`[31 - tid]`", 1, transactions({4, all, [](unsigned t) { return 31 - t; }})),
                  same("`[tid / 2]`", 1, transactions({4, all, pairs})),
                  same("`[tid % 4]`", 1, transactions({4, all, [](unsigned t) { return t % 4; }})),
                  same("`[0]`", 1, transactions({4, all, none}))}},
      {.key = "a3.two_way",
       .subject = "4 bytes per thread, two words of every bank (`[2 * tid]`)",
       .says = "2 transactions, a 2-way conflict",
       .unit = "{} transactions",
       .verdict = Verdict::holds,
       .points = {same("", 2, transactions({4, all, [](unsigned t) { return 2 * t; }}))}},
  };
}

std::vector<Claim> eight_bytes() {
  return {
      {.key = "a3.lds64_bytes",
       .subject = "LDS.64, `uint2[tid]`: size of one transaction",
       .says = "16 threads, 128 bytes",
       .unit = "{} bytes",
       .verdict = Verdict::holds,
       .points = {same("", 128, bytes_of_first_phase({8, all, own}))}},
      {.key = "a3.lds64",
       .subject = "LDS.64",
       .says = "2 transactions by default, one per half-warp",
       .unit = "{} transactions",
       .verdict = Verdict::holds_with_a_condition,
       .points = {same("`uint2[tid]`", 2, transactions({8, all, own})),
                  same("`uint2[tid % 16]`", 2, transactions({8, all, [](unsigned t) { return t % 16; }})),
                  beyond("`uint2[tid]` (threads 0 … 15 alone)", 2, 1, transactions({8, lower_half, own}))},
       .condition = "if both half-warps have an active thread",
       .why = "A half-warp without an active thread costs nothing."},
      {.key = "a3.lds64_merge",
       .subject = "LDS.64 in which every active thread i shares its address with thread i ^ 1, or every one with "
                  "thread i ^ 2 (inactive threads do not matter)",
       .says = "the half-warps merge: 1 transaction",
       .unit = "{} transactions before conflicts",
       .verdict = Verdict::holds,
       .points = {same("`uint2[tid / 2]`", 1, without_conflicts({8, all, pairs})),
                  same("`uint2[tid / 4 * 2 + tid % 2]`", 1, without_conflicts({8, all, pairs_at_distance_2})),
                  same("`uint2[0]`", 1, without_conflicts({8, all, none})),
                  same("`uint2[tid / 2]` (even threads alone)", 1, without_conflicts({8, even_lanes, pairs})),
                  same("`uint2[16 * (tid / 2)]`", 1,
                       without_conflicts({8, all, [](unsigned t) { return 16 * (t / 2); }}))},
       .why = "Conflicts add further transactions. After merging, the whole warp is one lane group."},
      {.key = "a3.lds64_case1",
       .subject = "LDS.64 case 1, `uint2[tid]`",
       .says = "2 transactions, 0 conflicts",
       .verdict = Verdict::holds,
       .points = stated({8, all, own}, 2, 0)},
      {.key = "a3.lds64_case1_words",
       .subject = "LDS.64 case 1: words per transaction",
       .says = "words 0 … 31, then words 32 … 63",
       .unit = "words {}",
       .verdict = Verdict::holds,
       .points = {point("the first transaction", {0, 31}, {0, 31}, words_of_group({8, all, own}, 0)),
                  point("the second transaction", {32, 63}, {32, 63}, words_of_group({8, all, own}, 1))}},
      {.key = "a3.lds64_case2",
       .subject = "LDS.64 case 2, `uint2[tid / 2]`",
       .says = "1 transaction, 0 conflicts",
       .verdict = Verdict::holds,
       .points = stated({8, all, pairs}, 1, 0)},
  };
}

std::vector<Claim> sixteen_bytes() {
  return {
      {.key = "a3.lds128_bytes",
       .subject = "LDS.128, `uint4[tid]`: size of one transaction",
       .says = "8 threads, 128 bytes",
       .unit = "{} bytes",
       .verdict = Verdict::holds,
       .points = {same("", 128, bytes_of_first_phase({16, all, own}))}},
      {.key = "a3.lds128",
       .subject = "LDS.128",
       .says = "4 transactions by default, one per quarter-warp",
       .unit = "{} transactions",
       .verdict = Verdict::holds_with_a_condition,
       .points = {same("`uint4[tid]`", 4, transactions({16, all, own})),
                  same("`uint4[tid % 4]`", 4, transactions({16, all, [](unsigned t) { return t % 4; }})),
                  beyond("`uint4[tid]` (threads 0 … 7 alone)", 4, 1, transactions({16, first_lanes(8), own})),
                  beyond("`uint4[tid]` (threads 0 … 15 alone)", 4, 2, transactions({16, lower_half, own}))},
       .condition = "if all four quarter-warps have an active thread",
       .why = "A quarter-warp without an active thread costs nothing."},
      {.key = "a3.lds128_merge",
       .subject = "LDS.128 in which threads share addresses as for LDS.64",
       .says = "the two quarter-warps of a half-warp merge: 2 transactions",
       .unit = "{} transactions before conflicts",
       .verdict = Verdict::holds,
       .points = {same("`uint4[tid / 2]`", 2, without_conflicts({16, all, pairs})),
                  same("`uint4[tid / 4 * 2 + tid % 2]`", 2, without_conflicts({16, all, pairs_at_distance_2})),
                  same("`uint4[tid / 2]` (even threads alone)", 2, without_conflicts({16, even_lanes, pairs}))}},
      {.key = "a3.lds128_halves",
       .subject = "LDS.128: merging of the two half-warps",
       .says = "they never merge: at least 2 transactions",
       .unit = "{} transactions",
       .verdict = Verdict::holds,
       .points = {point("`uint4[0]`", at_least(2), 2, transactions({16, all, none})),
                  point("`uint4[0]` (threads 0 and 31 alone)", at_least(2), 2, transactions({16, 0x80000001, none})),
                  point("`uint4[tid / 4]`", at_least(2), 2,
                        transactions({16, all, [](unsigned t) { return t / 4; }}))}},
      {.key = "a3.lds128_case1",
       .subject = "LDS.128 case 1, threads 15 and 16 alone, `uint4[4]`",
       .says = "2 transactions, 0 conflicts",
       .verdict = Verdict::holds,
       .points = stated({16, 0x18000, fifth}, 2, 0)},
      {.key = "a3.lds128_case2",
       .subject = "LDS.128 case 2, threads 0 and 15 alone, `uint4[4]`",
       .says = "1 transaction, 0 conflicts",
       .verdict = Verdict::holds,
       .points = stated({16, 0x8001, fifth}, 1, 0)},
      {.key = "a3.lds128_case3",
       .subject = "LDS.128 case 3, `uint4[2 * (tid / 8) + tid / 2 % 2]`",
       .says = "2 transactions, 0 conflicts",
       .verdict = Verdict::holds,
       .points = stated({16, all, case3}, 2, 0)},
      {.key = "a3.lds128_case4",
       .subject = "LDS.128 case 4: threads 0 … 15 as in case 3, the others `uint4[2 * (tid / 8) + tid % 2]`",
       .says = "4 transactions, 0 conflicts, because the whole warp must share addresses in one of the two ways",
       .verdict = Verdict::holds,
       .points = stated({16, all, case4}, 4, 0)},
      {.key = "a3.lds128_half_warps",
       .subject = "LDS.128: threads that must share addresses before quarter-warps merge",
       .says = "only the 16 threads of a half-warp: each thread i with thread i ^ 1, or each with thread i ^ 2; the "
               "other half-warp does not matter",
       .unit = "{} transactions",
       .verdict = Verdict::fails,
       .points = {point("case 4 (i ^ 1 in the first half-warp, i ^ 2 in the second)", 2, 4,
                        transactions({16, all, case4})),
                  point("`uint4[tid < 16 ? tid / 2 : tid]`", 3, 4,
                        transactions({16, all, [](unsigned t) { return t < 16 ? t / 2 : t; }}))},
       .why = "In the article's own case 4 the threads of each half-warp share addresses, but no quarter-warps merge, "
              "because the two half-warps do not share in the same way."},
      {.key = "a3.lds128_case5_map",
       .subject = "LDS.128 case 5, `uint4[4 * (tid / 16) + tid % 16 / 8 + 8 * (tid % 8 / 4)]`: item of each thread",
       .says = "threads 0 … 3 item 0, 4 … 7 item 8, 8 … 11 item 1, 12 … 15 item 9",
       .unit = "item {}",
       .verdict = Verdict::holds,
       .points = {point("threads 0 … 3", 0, 0, {double(case5(0)), double(case5(3))}),
                  point("threads 4 … 7", 8, 8, {double(case5(4)), double(case5(7))}),
                  point("threads 8 … 11", 1, 1, {double(case5(8)), double(case5(11))}),
                  point("threads 12 … 15", 9, 9, {double(case5(12)), double(case5(15))})},
       .why = "The formula comes from the kernel that the article links to."},
      {.key = "a3.lds128_case5",
       .subject = "LDS.128 case 5: cost",
       .says = "4 transactions, 2 conflicts: quarter-warps merge, and each half-warp has a 2-way conflict",
       .verdict = Verdict::holds,
       .points = stated({16, all, case5}, 4, 2) +
                 std::vector<Point>{same("ways of the first half-warp", 2, passes_of_group({16, all, case5}, 0)),
                                    same("ways of the second half-warp", 2, passes_of_group({16, all, case5}, 1))}},
      {.key = "a3.counters",
       .subject = "counters of Nsight Compute (`ncu`)",
       .says = "`shared_op_ld`, `shared_op_st`",
       .why = "These are abbreviated names, not numbers. The full names are "
              "`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` for transactions and "
              "`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum` for conflicts; for stores, `ld` is `st`."},
  };
}

}  // namespace

std::vector<Claim> claims_a3() {
  std::vector<Claim> claims = four_bytes();
  for (auto* more : {eight_bytes, sixteen_bytes}) {
    for (Claim& claim : more()) claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace bankwise::claims
