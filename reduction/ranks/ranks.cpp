#include <iterator>

#include "../variants.hpp"
#include "reduction_ranks_shapes.hpp"

namespace bankwise::reduction {

using namespace study;

namespace {

constexpr std::string_view peers = "peers";

constexpr Variant rank_variants[]{
    Variant("all_reduce", shapes::single_pass, "single_pass on each rank's records, then an all-reduce of one record",
            {.tile = 512, .blocks_per_unit = 2, .single_pass = true}),
    Variant(peers, reduction_ranks::shapes::peers,
            "one launch: the last block sends its sum to all other GPUs through peer memory",
            {.tile = 512, .blocks_per_unit = 2, .single_pass = true}),
};

constexpr std::string_view alone[]{"single_pass"};

Share share(const Variant&, Extent extent, Rank rank) {
  return {first_item(extent.count(), rank.index, rank.ranks) * record_words,
          items(extent.count(), rank.index, rank.ranks) * record_words, 0, record_words};
}

Extent alone_extent(Extent extent, Rank rank) { return {1, items(extent.count(), rank.index, rank.ranks)}; }

Plan rank_plan(const Variant& variant, Extent extent, Rank rank, unsigned units) {
  const std::uint64_t count = items(extent.count(), rank.index, rank.ranks);
  const std::uint64_t groups = blocks(variant, tiles(count, variant.tile, 1), units);
  if (variant.name != peers) {
    constexpr std::uint64_t state_bytes = record_words * sizeof(std::uint64_t);  // the state of single_pass.cuh
    return {{},
            {KernelLaunch{"reduce_single_pass", groups, variant.group, {input_slot, output_slot, state_slot, count}},
             AllReduce{output_slot, record_words}},
            state_bytes};
  }
  constexpr std::uint64_t mailboxes = 8;  // MAILBOXES of peers.cuh
  return {{},
          {KernelLaunch{"reduce_ranks_peers",
                        groups,
                        variant.group,
                        {input_slot, output_slot, state_slot, PeerTable{state_slot}, count, std::uint64_t{rank.index},
                         std::uint64_t{rank.ranks}}}},
          (mailboxes + 2 * record_words * rank.ranks) * sizeof(std::uint64_t)};
}

/// Every rank has the sum of all records.
Expected expected(const CaseStudy&, const Variant&, Extent, Rank, const Words&, const Words& all_sums, unsigned) {
  return [all_sums](std::uint64_t first, std::span<std::uint32_t> words) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = all_sums[first + i];
  };
}

}  // namespace

const RankStudy ranks{
    .variants = rank_variants,
    .kernels = &gpu::reduction_ranks_kernels,
    .alone = alone,
    .share = share,
    .alone_extent = alone_extent,
    .memory_bytes = [](const Variant&, Extent extent,
                       Rank rank) { return items(extent.count(), rank.index, rank.ranks) * record_bytes; },
    .link_bytes = [](Extent, Rank rank) { return (rank.ranks - 1) * record_bytes; },
    .plan = rank_plan,
    .sums = record_words,
    .expected = expected,
};

}  // namespace bankwise::reduction
