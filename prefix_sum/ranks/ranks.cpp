#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <bankwise/support/parallel.hpp>

#include "../variants.hpp"
#include "prefix_sum_ranks_shapes.hpp"

namespace bankwise::prefix_sum {

using namespace study;

namespace {

constexpr std::uint64_t cyclic_block = 1 << 20;  // words
// Words of 64 bits at the beginning of a kernel's state, before those of each rank or tile.
constexpr std::uint64_t begun = 32;     // BEGUN of on_chip.cuh and cyclic.cuh
constexpr std::uint64_t mailboxes = 1;  // MAILBOXES of offsets_peers.cuh
constexpr std::uint64_t tickets = 32;   // TICKETS of ring.cuh

namespace kernels = prefix_sum_ranks::shapes;
constexpr gpu::GroupShape block512 = kernels::sums, block1024 = kernels::offsets;
constexpr gpu::GroupShape block_with_large_ring{kernels::on_chip.x, 1, 7 * 32768};
static_assert(kernels::chunks == kernels::sums && kernels::cyclic == shapes::ring &&
              kernels::offsets_peers == kernels::offsets);

constexpr std::string_view forward = "forward", ring = "ring", peers = "peers", on_chip = "on_chip", cyclic = "cyclic";

// Reduce-then-scan reads each word twice and writes it once; only `cyclic` reads each word once.
constexpr Variant rank_variants[]{
    Variant(forward, block512,
            "reduce, all-gather of the totals, scan: each block reads its chunk from front to back, twice",
            {.tile = 8192, .blocks_per_unit = 2}),
    Variant("backward", block512, "the scan begins at the end of each chunk, which the L2 cache may still hold",
            {.tile = 8192, .blocks_per_unit = 2}),
    Variant(
        ring, shape_of_ring,
        "sums, all-gather of the totals, and a single-pass scan with TMA loads that begins with the lower ranks' total",
        {.tile = 8192, .blocks_per_unit = 2}),
    Variant(peers, block512, "backward, and one launch sends the totals through peer memory",
            {.tile = 8192, .blocks_per_unit = 2}),
    Variant(on_chip, block_with_large_ring,
            "one launch: the scan begins with what shared memory still holds, then what the L2 cache does",
            {.tile = 8192, .blocks_per_unit = 1}),
    Variant(cyclic, shape_of_ring,
            "block-cyclic shares, one launch: the totals of earlier blocks cross the link while later ones are loaded",
            {.tile = 8192, .blocks_per_unit = 2}),
};
constexpr std::string_view alone[]{"ring", "look_back"};

Share share(const Variant& variant, Extent extent, Rank rank) {
  if (variant.name == cyclic) {
    const std::uint64_t stride = rank.ranks * cyclic_block, first = rank.index * cyclic_block;
    const std::uint64_t rest = extent.count() % stride;  // in the last round
    const std::uint64_t count =
        extent.count() / stride * cyclic_block + (rest < first ? 0 : std::min(rest - first, cyclic_block));
    return {first, count, first, count, cyclic_block, stride};
  }
  const std::uint64_t first = first_item(extent.count(), rank.index, rank.ranks);
  const std::uint64_t count = items(extent.count(), rank.index, rank.ranks);
  return {first, count, first, count};
}

Plan on_chip_plan(const Variant& variant, std::uint64_t count, Rank rank, unsigned units) {
  const std::uint64_t index = rank.index, ranks = rank.ranks;
  Plan plan;
  plan.state_bytes = (begun + 2 * ranks + units) * sizeof(std::uint64_t);
  plan.steps.emplace_back(
      KernelLaunch{"scan_ranks_on_chip",
                   units,
                   variant.group,
                   {input_slot, output_slot, state_slot, PeerTable{state_slot}, count, index, ranks}});
  return plan;
}

Plan cyclic_plan(const Variant& variant, Extent extent, Rank rank, unsigned units) {
  const std::uint64_t index = rank.index, ranks = rank.ranks;
  const std::uint64_t count = share(variant, extent, rank).input_words;
  const std::uint64_t longest = share(variant, extent, {0, rank.ranks}).input_words;
  const std::uint64_t rounds = tiles(longest, cyclic_block), mine = tiles(count, variant.tile);
  Plan plan;
  plan.state_bytes = (begun + ranks + rounds * (ranks + 1) + mine) * sizeof(std::uint64_t);
  plan.steps.emplace_back(KernelLaunch{"scan_ranks_cyclic",
                                       blocks(variant, std::max<std::uint64_t>(mine, 1), units),
                                       variant.group,
                                       {input_slot, output_slot, state_slot, PeerTable{state_slot}, count, index, ranks,
                                        cyclic_block / variant.tile, rounds}});
  return plan;
}

Plan rank_plan(const Variant& variant, Extent extent, Rank rank, unsigned units) {
  if (variant.name == cyclic) return cyclic_plan(variant, extent, rank, units);
  const std::uint64_t count = items(extent.count(), rank.index, rank.ranks);
  if (variant.name == on_chip) return on_chip_plan(variant, count, rank, units);
  const std::uint64_t groups = blocks(variant, tiles(count, variant.tile, 1), units);
  const Slot sums = scratch_slot(0), totals = scratch_slot(1), total = scratch_slot(2);
  const std::uint64_t index = rank.index, ranks = rank.ranks;
  const std::uint64_t backward = variant.name == forward ? 0 : 1;
  Plan plan{{groups * word_bytes, ranks * word_bytes, word_bytes}, {}};
  plan.steps.emplace_back(KernelLaunch{"scan_ranks_sums", groups, block512, {input_slot, sums, count}});
  if (variant.name == peers) {
    plan.state_bytes = (mailboxes + 2 * ranks) * sizeof(std::uint64_t);
    plan.steps.emplace_back(KernelLaunch{"scan_ranks_offsets_peers",
                                         1,
                                         block1024,
                                         {sums, totals, state_slot, PeerTable{state_slot}, groups, index, ranks}});
  } else {
    plan.steps.emplace_back(KernelLaunch{"scan_ranks_offsets", 1, block1024, {sums, total, groups}});
    plan.steps.emplace_back(AllGather{total, totals, 1});
  }
  if (variant.name == ring) {
    plan.state_bytes = (tickets + tiles(count, variant.tile, 1)) * sizeof(std::uint64_t);
    plan.steps.emplace_back(
        KernelLaunch{"scan_ring", groups, variant.group, {input_slot, output_slot, state_slot, totals, count, index}});
    return plan;
  }
  plan.steps.emplace_back(KernelLaunch{
      "scan_ranks_chunks", groups, variant.group, {input_slot, output_slot, sums, totals, count, index, backward}});
  return plan;
}

/// Consecutive words of the whole problem: a part of the output, or words of other ranks.
struct Run {
  std::uint64_t first = 0;  ///< index in the whole problem
  std::uint64_t words = 0;
  std::uint32_t* output = nullptr;  ///< null: words of other ranks
  std::uint32_t sum = 0;
};

/// Appends runs that together are [first, last), short enough for several threads.
void append(std::vector<Run>& runs, std::uint64_t first, std::uint64_t last, std::uint32_t* output) {
  constexpr std::uint64_t longest = 1 << 16;
  for (; first < last; first += longest) {
    const std::uint64_t words = std::min(longest, last - first);
    runs.push_back({first, words, output});
    if (output != nullptr) output += words;
  }
}

/// The exclusive prefix sum of all runs, after `sum`; returns the sum up to their end.
std::uint32_t scan(const CaseStudy& study, std::vector<Run>& runs, std::uint32_t sum, unsigned threads) {
  const auto add_up = [&](std::uint64_t number) {
    Run& run = runs[number];
    std::array<std::uint32_t, 1024> others;
    for (std::uint64_t first = 0; first < run.words; first += others.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(others.size(), run.words - first);
      const std::span words(run.output == nullptr ? others.data() : run.output + first, count);
      input_words(study.inputs[0], run.first + first, words);
      run.sum = std::accumulate(words.begin(), words.end(), run.sum);
    }
  };
  support::in_parallel(runs.size(), threads, add_up, 1);
  for (Run& run : runs) sum += std::exchange(run.sum, sum);
  const auto scan_one = [&](std::uint64_t number) {
    Run& run = runs[number];
    if (run.output != nullptr) std::exclusive_scan(run.output, run.output + run.words, run.output, run.sum);
  };
  support::in_parallel(runs.size(), threads, scan_one, 1);
  return sum;
}

Expected expected(const CaseStudy& study, const Variant& variant, Extent extent, Rank rank, const Words& before,
                  const Words&, unsigned threads) {
  // with block-cyclic shares, the words before the share's first one are those of the first blocks of the lower ranks
  const Share mine = share(variant, extent, rank);
  const bool consecutive = mine.block == 0;
  return [&study, mine, threads, sum = consecutive ? before.front() : 0, next = consecutive ? mine.input_first : 0](
             std::uint64_t first, std::span<std::uint32_t> words) mutable {
    std::vector<Run> runs;
    for (std::uint64_t i = 0; i < words.size();) {
      const std::uint64_t here = whole_index(mine, mine.input_first, first + i);
      append(runs, next, here, nullptr);
      const std::uint64_t left_in_block = mine.block == 0 ? words.size() : mine.block - (first + i) % mine.block;
      const std::uint64_t count = std::min<std::uint64_t>(words.size() - i, left_in_block);
      append(runs, here, here + count, &words[i]);
      next = here + count;
      i += count;
    }
    sum = scan(study, runs, sum, threads);
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
          return Extent{1, share(rank_variants[0], extent, rank).input_words};
        },
    .memory_bytes =
        [](const Variant& variant, Extent extent, Rank rank) {
          return (variant.name == cyclic ? 2 : 3) * share(variant, extent, rank).input_words * word_bytes;
        },
    .link_bytes = [](Extent, Rank rank) { return (rank.ranks - 1) * word_bytes; },
    .plan = rank_plan,
    .sums = 1,
    .expected = expected,
};

}  // namespace bankwise::prefix_sum
