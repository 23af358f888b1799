// SPDX-License-Identifier: MIT
#include "ranks.hpp"

#include <utility>

#include <bankwise/support/parallel.hpp>

#include "../variants.hpp"

namespace bankwise::gpu {
extern const KernelSet transpose_ranks_kernels;
}

namespace bankwise::transpose {
namespace {

constexpr gpu::GroupShape block256{256, 1};

constexpr Variant rank_variants[]{
    {"packed", block256, "transpose into one block per rank, all-to-all, unpack: three passes", {.tile = 64}},
    {"direct", block256, "store each transposed tile straight into the memory of its GPU: one pass", {.tile = 64}},
};

constexpr std::string_view alone[]{"tma", "vectorized"};

/// Rows of the input, and rows of the output: columns of the input.
Share share(Extent extent, Rank rank) {
  const auto [r, n] = rank;
  return {first_item(extent.height, r, n) * extent.width, items(extent.height, r, n) * extent.width,
          first_item(extent.width, r, n) * extent.height, items(extent.width, r, n) * extent.height};
}

RankPlan rank_plan(const Variant& variant, Extent extent, Rank rank, unsigned) {
  const auto [height, width] = extent;
  const std::uint64_t index = rank.index, ranks = rank.ranks;
  const std::uint64_t rows = items(height, rank.index, rank.ranks), columns = items(width, rank.index, rank.ranks);
  const std::uint64_t widest = items(width, 0, rank.ranks);  // rank 0 has the most
  const std::uint64_t groups = ranks * tiles(widest, variant.tile) * tiles(rows, variant.tile);
  if (variant.name == rank_variants[1].name) {
    return {{},
            0,
            {RankLaunch{"transpose_ranks_direct",
                        groups,
                        variant.group,
                        {input_slot, PeerTable{output_slot}, rows, width, height,
                         first_item(height, rank.index, rank.ranks), index, ranks}}}};
  }
  const Slot sent = scratch_slot(0), received = scratch_slot(1);
  AllToAll exchange{sent, {}, received, {}};
  for (unsigned r = 0; r < rank.ranks; ++r) {
    exchange.send.push_back({first_item(width, r, rank.ranks) * rows, items(width, r, rank.ranks) * rows});
    exchange.receive.push_back({first_item(height, r, rank.ranks) * columns, items(height, r, rank.ranks) * columns});
  }
  return {
      {rows * width * word_bytes, columns * height * word_bytes},
      0,
      {RankLaunch{"transpose_ranks_pack", groups, variant.group, {input_slot, sent, rows, width, index, ranks}},
       std::move(exchange),
       RankLaunch{
           "transpose_ranks_unpack", columns * ranks, variant.group, {received, output_slot, columns, height, ranks}}}};
}

/// Word i of the whole output is in its row i / height: that column of the input.
Expected expected(const CaseStudy& study, Extent extent, Rank rank, const Words&, const Words&, unsigned threads) {
  return [&study, threads, extent, begin = share(extent, rank).output_first](std::uint64_t first,
                                                                             std::span<std::uint32_t> words) {
    in_parallel(words.size(), threads, [&](std::uint64_t i) {
      const std::uint64_t at = begin + first + i;
      words[i] = study.input_word(at % extent.height * extent.width + at / extent.height);
    });
  };
}

}  // namespace

const RankStudy ranks{
    .variants = rank_variants,
    .kernels = &gpu::transpose_ranks_kernels,
    .alone = alone,
    .share = share,
    .alone_extent =
        [](Extent extent, Rank rank) {
          return Extent{items(extent.height, rank.index, rank.ranks), extent.width};
        },
    .memory_bytes = [](const Variant&, Extent extent,
                       Rank rank) { return 2 * share(extent, rank).input_words * word_bytes; },
    .link_bytes =
        [](Extent extent, Rank rank) {
          const std::uint64_t rows = items(extent.height, rank.index, rank.ranks);
          return rows * (extent.width - items(extent.width, rank.index, rank.ranks)) * word_bytes;
        },
    .plan = rank_plan,
    .expected = expected,
};

}  // namespace bankwise::transpose
