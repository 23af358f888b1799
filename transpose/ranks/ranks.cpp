#include <utility>

#include <bankwise/support/parallel.hpp>

#include "../variants.hpp"
#include "transpose_ranks_shapes.hpp"

namespace bankwise::transpose {

using namespace study;

namespace {

namespace kernels = transpose_ranks::shapes;
constexpr gpu::GroupShape block256 = kernels::pack;
static_assert(kernels::unpack == block256 && kernels::direct == block256);

constexpr std::string_view overlapped = "overlapped", direct = "direct";

constexpr Variant rank_variants[]{
    Variant("packed", block256, "transpose into one block per rank, all-to-all, unpack: three passes", {.tile = 64}),
    Variant(overlapped, block256, "packed in parts: one part crosses the link while others are packed or unpacked",
            {.tile = 64}),
    Variant(direct, block256, "store each transposed tile straight into the memory of its GPU: one pass", {.tile = 64}),
};

constexpr std::string_view alone[]{"tma", "vectorized"};

/// Rows of the input, and rows of the output: columns of the input.
Share share(const Variant&, Extent extent, Rank rank) {
  const auto [r, n] = rank;
  return {first_item(extent.height, r, n) * extent.width, items(extent.height, r, n) * extent.width,
          first_item(extent.width, r, n) * extent.height, items(extent.width, r, n) * extent.height};
}

Plan direct_plan(const Variant& variant, Extent extent, Rank rank) {
  const std::uint64_t height = extent.height, width = extent.width;
  const std::uint64_t rows = items(height, rank.index, rank.ranks),
                      first_row = first_item(height, rank.index, rank.ranks);
  const std::uint64_t index = rank.index, ranks = rank.ranks;
  const std::uint64_t widest = items(width, 0, ranks);  // rank 0 has the most
  // Where rows of the output do not begin at multiples of 16 bytes, tiles are shifted by up to three words.
  const std::uint64_t shift = rows > 0 && (height % 4 != 0 || first_row % 4 != 0) ? 3 : 0;
  const std::uint64_t groups = ranks * tiles(widest, variant.tile) * tiles(rows + shift, variant.tile);
  return {{},
          {KernelLaunch{"transpose_ranks_direct",
                        groups,
                        variant.group,
                        {input_slot, PeerTable{output_slot}, rows, width, height, first_row, index, ranks}}}};
}

/// In parts of `part_rows` of each rank's rows; the last part may have fewer. A part is packed, exchanged and unpacked.
/// If there are several, their exchanges overlap with the launches.
Plan packed_plan(const Variant& variant, Extent extent, Rank rank, std::uint64_t part_rows) {
  const std::uint64_t height = extent.height, width = extent.width;  // clang 14 captures no structured bindings
  const std::uint64_t index = rank.index, ranks = rank.ranks;
  const std::uint64_t all_rows = items(height, rank.index, rank.ranks), columns = items(width, rank.index, rank.ranks);
  const std::uint64_t max_rows = items(height, 0, rank.ranks), widest = items(width, 0, rank.ranks);
  const Slot sent = scratch_slot(0), received = scratch_slot(1);
  Plan plan{{all_rows * width * word_bytes, columns * height * word_bytes}, {}};
  std::vector<Step> last;
  for (std::uint64_t top = 0; top == 0 || top < max_rows; top += part_rows) {
    const auto rows_of = [&](unsigned r) {
      const std::uint64_t rows = items(height, r, rank.ranks);
      return rows < top ? 0 : std::min(part_rows, rows - top);
    };
    const std::uint64_t rows = rows_of(rank.index),
                        groups = ranks * tiles(widest, variant.tile) * tiles(rows, variant.tile);
    plan.steps.emplace_back(KernelLaunch{
        "transpose_ranks_pack", groups, variant.group, {input_slot, sent, rows, width, index, ranks, top}});
    AllToAll exchange{sent, {}, received, {}, part_rows < max_rows};
    std::uint64_t arrived = columns * ranks * top;  // words of earlier parts
    for (unsigned r = 0; r < rank.ranks; ++r) {
      exchange.send.push_back(
          {top * width + first_item(width, r, rank.ranks) * rows, items(width, r, rank.ranks) * rows});
      exchange.receive.push_back({arrived, rows_of(r) * columns});
      arrived += rows_of(r) * columns;
    }
    if (exchange.overlapped) last.emplace_back(Join{});
    plan.steps.emplace_back(std::move(exchange));
    last.emplace_back(KernelLaunch{"transpose_ranks_unpack",
                                   columns * ranks,
                                   variant.group,
                                   {received, output_slot, columns, height, ranks, top, part_rows}});
  }
  plan.steps.insert(plan.steps.end(), last.begin(), last.end());
  return plan;
}

Plan rank_plan(const Variant& variant, Extent extent, Rank rank, unsigned) {
  const std::uint64_t rows = items(extent.height, 0, rank.ranks);  // the most
  constexpr std::uint64_t max_parts = 8;
  if (variant.name == direct) return direct_plan(variant, extent, rank);
  const std::uint64_t part_rows = variant.name == overlapped ? round_up(tiles(rows, max_parts, 1), variant.tile) : rows;
  return packed_plan(variant, extent, rank, std::max<std::uint64_t>(part_rows, 1));
}

/// Word i of the whole output is in its row i / height: that column of the input.
Expected expected(const CaseStudy& study, const Variant& variant, Extent extent, Rank rank, const Words&, const Words&,
                  unsigned threads) {
  return [&study, threads, extent, begin = share(variant, extent, rank).output_first](std::uint64_t first,
                                                                                      std::span<std::uint32_t> words) {
    support::in_parallel(words.size(), threads, [&](std::uint64_t i) {
      const std::uint64_t at = begin + first + i;
      words[i] = study.inputs[0].word(at % extent.height * extent.width + at / extent.height);
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
    .memory_bytes = [](const Variant& variant, Extent extent,
                       Rank rank) { return 2 * share(variant, extent, rank).input_words * word_bytes; },
    .link_bytes =
        [](Extent extent, Rank rank) {
          const std::uint64_t rows = items(extent.height, rank.index, rank.ranks);
          return rows * (extent.width - items(extent.width, rank.index, rank.ranks)) * word_bytes;
        },
    .plan = rank_plan,
    .expected = expected,
};

}  // namespace bankwise::transpose
