// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/device_table.hpp"
#include "bankcheck/cuda/injection/selection.hpp"
#include "tests/catch_any.hpp"

using bankwise::cuda::ALL_BLOCKS;
using bankwise::cuda::BlockSample;
using bankwise::cuda::count_watched_blocks;
using bankwise::cuda::is_watched_block;
using bankwise::cuda::sample_blocks;

TEST_CASE("cuda/injection/block_sample/host_counts_as_patch") {
  for (const std::uint32_t threshold : {0u, 1u, 12345u, 1u << 20, 1u << 31, ALL_BLOCKS - 1, ALL_BLOCKS}) {
    std::uint64_t watched = 0;
    for (std::uint32_t block = 0; block < 3000; ++block) {
      INFO("threshold " << threshold << ", " << block << " blocks");
      REQUIRE(count_watched_blocks(block, threshold) == watched);
      watched += is_watched_block(block, threshold) ? 1 : 0;
    }
  }
}

TEST_CASE("cuda/injection/block_sample/32_bit_numbers") {
  constexpr std::uint64_t PERIOD = std::uint64_t(1) << 32;
  CHECK(count_watched_blocks(PERIOD, 1000) == 1000);
  CHECK(count_watched_blocks(5 * PERIOD + 17, 1000) == 5000 + count_watched_blocks(17, 1000));
}

TEST_CASE("cuda/injection/block_sample/small_grid_whole") {
  CHECK(sample_blocks(1000, 0).threshold == ALL_BLOCKS);
  CHECK(sample_blocks(1000, 0).blocks == 1000);
  CHECK(sample_blocks(1000, 1000).threshold == ALL_BLOCKS);
  CHECK(sample_blocks(1001, 1000).threshold != ALL_BLOCKS);
}

TEST_CASE("cuda/injection/block_sample/sample_size") {
  for (const std::uint64_t blocks : {1001ull, 4096ull, 123457ull, 1ull << 31, (1ull << 31) * 65535}) {
    for (const std::uint64_t most : {1ull, 10ull, 1000ull}) {
      const BlockSample sample = sample_blocks(blocks, most);
      INFO(blocks << " blocks, at most " << most);
      CHECK(sample.blocks == count_watched_blocks(blocks, sample.threshold));
      CHECK(sample.blocks >= 1);
      // Of the largest grids, even the smallest threshold watches one block in each 2^32.
      if (blocks >> 32 <= most) {
        CHECK(sample.blocks <= most);
        CHECK(sample.blocks * 10 >= most * 8);
      }
    }
  }
}

TEST_CASE("cuda/injection/block_sample/not_aligned_with_columns") {
  constexpr std::uint32_t SIDE = 64;
  const BlockSample sample = sample_blocks(SIDE * SIDE, SIDE * 8);
  std::vector<unsigned> in_column(SIDE), in_row(SIDE);
  for (std::uint32_t block = 0; block < SIDE * SIDE; ++block) {
    if (!is_watched_block(block, sample.threshold)) continue;
    ++in_column[block % SIDE];
    ++in_row[block / SIDE];
  }
  for (std::uint32_t i = 0; i < SIDE; ++i) {
    INFO("row or column " << i);
    CHECK(in_column[i] >= 4);
    CHECK(in_column[i] <= 12);
    CHECK(in_row[i] >= 4);
    CHECK(in_row[i] <= 12);
  }
}
