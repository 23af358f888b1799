// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include <utility>

#include <bankwise/support/parallel.hpp>

#include "../variants.hpp"

namespace bankwise::gpu {
extern const KernelSet prefix_sum_ranks_kernels;
}

namespace bankwise::prefix_sum {
namespace {

// Reduce-then-scan: each reads its words twice and writes them once.
constexpr Variant rank_variants[]{
    {"forward",
     block512,
     "reduce, all-gather of the totals, scan: each block reads its chunk from front to back, twice",
     {.tile = 8192, .blocks_per_unit = 2}},
    {"backward",
     block512,
     "the scan begins at the end of each chunk, which the L2 cache may still hold",
     {.tile = 8192, .blocks_per_unit = 2}},
    {"ring",
     block_with_ring,
     "sums, all-gather of the totals, and a single-pass scan with TMA loads that begins with the lower ranks' total",
     {.tile = 8192, .blocks_per_unit = 2}},
    {"peers",
     block512,
     "backward, and one launch sends the totals through peer memory",
     {.tile = 8192, .blocks_per_unit = 2}},
};

constexpr std::string_view alone[]{"ring", "look_back"};

Share share(Extent extent, Rank rank) {
  const std::uint64_t first = first_item(extent.count(), rank.index, rank.ranks);
  const std::uint64_t count = items(extent.count(), rank.index, rank.ranks);
  return {first, count, first, count};
}

RankPlan rank_plan(const Variant& variant, Extent extent, Rank rank, unsigned units) {
  const std::uint64_t count = items(extent.count(), rank.index, rank.ranks);
  const std::uint64_t groups = blocks(variant, tiles(count, variant.tile, 1), units);
  const Slot sums = scratch_slot(0), totals = scratch_slot(1), total = scratch_slot(2);
  const std::uint64_t index = rank.index, ranks = rank.ranks;
  const std::uint64_t backward = variant.name == rank_variants[0].name ? 0 : 1;
  RankPlan plan{{groups * word_bytes, ranks * word_bytes, word_bytes}, 0, {}};
  plan.steps.emplace_back(RankLaunch{"scan_ranks_sums", groups, block512, {input_slot, sums, count}});
  if (variant.name == rank_variants[3].name) {
    plan.state_bytes = (1 + 2 * ranks) * sizeof(std::uint64_t);  // MAILBOXES of offsets_peers.cuh
    plan.steps.emplace_back(RankLaunch{"scan_ranks_offsets_peers",
                                       1,
                                       block1024,
                                       {sums, totals, state_slot, PeerTable{state_slot}, groups, index, ranks}});
  } else {
    plan.steps.emplace_back(RankLaunch{"scan_ranks_offsets", 1, block1024, {sums, total, groups}});
    plan.steps.emplace_back(AllGather{total, totals, 1});
  }
  if (variant.name == rank_variants[2].name) {
    constexpr std::uint64_t counter_words = 32;  // TICKETS of ring.cuh
    plan.state_bytes = (counter_words + tiles(count, variant.tile, 1)) * sizeof(std::uint64_t);
    plan.steps.emplace_back(RankLaunch{
        "scan_ranks_ring", groups, variant.group, {input_slot, output_slot, state_slot, totals, count, index}});
    return plan;
  }
  plan.steps.emplace_back(RankLaunch{
      "scan_ranks_chunks", groups, variant.group, {input_slot, output_slot, sums, totals, count, index, backward}});
  return plan;
}

Expected expected(const CaseStudy& study, Extent extent, Rank rank, const Words& before, const Words&,
                  unsigned threads) {
  return [&study, threads, sum = before.front(), begin = share(extent, rank).input_first](
             std::uint64_t first, std::span<std::uint32_t> words) mutable {
    in_parallel(words.size(), threads, [&](std::uint64_t i) { words[i] = study.input_word(begin + first + i); });
    for (std::uint32_t& word : words) sum += std::exchange(word, sum);
  };
}

}  // namespace

const RankStudy ranks{
    .variants = rank_variants,
    .kernels = &gpu::prefix_sum_ranks_kernels,
    .alone = alone,
    .share = share,
    .alone_extent =
        [](Extent extent, Rank rank) {
          return Extent{1, share(extent, rank).input_words};
        },
    .memory_bytes = [](const Variant&, Extent extent,
                       Rank rank) { return 3 * share(extent, rank).input_words * word_bytes; },
    .link_bytes = [](Extent, Rank rank) { return (rank.ranks - 1) * word_bytes; },
    .plan = rank_plan,
    .sums = 1,
    .expected = expected,
};

}  // namespace bankwise::prefix_sum
