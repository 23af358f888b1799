// Cooperative groups: tiles, partitions, and grids.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <atomic>
#include <numeric>
#include <vector>
#include "tests/catch_any.hpp"

#include <bankwise/trace/report.hpp>
#include "tests/emulator/kernel_tests.hpp"

namespace {

using bankwise::emulate;  // and not all of bankwise, whose namespace cuda is not the program's
namespace emulator = bankwise::emulator;
namespace cg = cooperative_groups;

struct Tile {
  unsigned block_rank, block_size, rank, size, group, groups, ballot, match, below, sum, greatest, neighbour, all;
  int any;
  double3 wide;
};
template <unsigned n>
__global__ void tiles(Tile* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<n>(block);
  Tile r{};
  r.block_rank = block.thread_rank(), r.block_size = block.size();
  r.rank = tile.thread_rank(), r.size = tile.num_threads();
  r.group = tile.meta_group_rank(), r.groups = tile.meta_group_size();
  r.ballot = tile.ballot(block.thread_rank() % 3 == 0), r.any = tile.any(block.thread_rank() == 40);
  r.match = tile.match_any(block.thread_rank() % 4);
  r.below = tile.shfl_up(block.thread_rank(), 1), r.neighbour = tile.shfl_xor(block.thread_rank(), n / 2);
  r.sum = cg::reduce(tile, block.thread_rank(), cg::plus<unsigned>());
  r.greatest = cg::reduce(tile, scramble(block.thread_rank()), cg::greater<unsigned>());
  const double x = block.thread_rank();
  r.wide = tile.shfl(make_double3(x, x + 0.25, x + 0.5), 0);
  if (block.thread_rank() % 4 == 1) {
    const auto lanes = cg::coalesced_threads();
    r.all = lanes.shfl(block.thread_rank(), lanes.size() - 1) * 100 + lanes.thread_rank();
  }
  tile.sync();
  cg::sync(block);
  out[block.thread_rank()] = r;
}

__global__ void groups(int* out) {
  const auto block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);  // without the parent's type
  const auto tile = cg::tiled_partition<8>(warp);
  const int t = int(threadIdx.x);
  out[t] = cg::reduce(tile, t, cg::plus<int>());
  out[64 + t] = cg::inclusive_scan(tile, t) * 100 + cg::exclusive_scan(tile, 1);
  const auto third = cg::labeled_partition(warp, t % 3);
  out[128 + t] = int(third.thread_rank() * 1000 + third.num_threads() * 10 + third.meta_group_rank());
  const auto odd = cg::binary_partition(warp, t % 2 != 0);
  out[192 + t] = cg::reduce(odd, t, cg::greater<int>());
  const cg::thread_group run_time = cg::tiled_partition(block, 4);
  run_time.sync();
  out[256 + t] = int(run_time.thread_rank() * 10 + run_time.size());
  if (t % 4 == 1) {
    const cg::coalesced_group active = cg::coalesced_threads();
    out[320 + t] = int(active.shfl(unsigned(t), 2) * 100 + active.ballot(t > 8));
  }
}

__global__ void sum_of_grid(const int* in, int* partial, int* out) {
  const auto grid = cg::this_grid();
  const auto rank = unsigned(grid.thread_rank());
  if (threadIdx.x == 0) partial[blockIdx.x] = 0;
  __syncthreads();
  atomicAdd(&partial[blockIdx.x], in[rank]);
  grid.sync();
  if (rank == 0) {
    for (unsigned i = 0; i < gridDim.x; ++i) *out += partial[i];
  }
}
/// The last block stops the launch when the others have stored; they wait, or are about to.
__global__ void stops_while_others_wait(unsigned* stored, std::atomic<bool>* stop) {
  __shared__ unsigned words[64];
  if (threadIdx.x < 32) words[threadIdx.x] = 1;
  *stored = words[63];
  if (blockIdx.x + 1 < gridDim.x) {
    atomicAdd(stored + 1, 1U);
    cg::this_grid().sync();
  }
  while (atomicAdd(stored + 1, 0U) < (gridDim.x - 1) * blockDim.x) __syncwarp();
  *stop = true;
  for (;;) __syncwarp();
}
__global__ void half_of_grid_waits() {
  if (blockIdx.x != 1) cg::this_grid().sync();
}

}  // namespace

template <unsigned n>
static void check_tiles(unsigned warp) {
  INFO("tiles of " << n << ", warp " << warp);
  const unsigned threads = 96;
  std::vector<Tile> out(threads);
  emulate(tiles<n>, {.block = {8, 12}, .warp = warp}, out.data());
  size_t wrong = 0;
  for (unsigned t = 0; t < threads; ++t) {
    const unsigned first = t / n * n;
    Tile r{t, threads, t - first, n, t / n, threads / n, 0, 0, t == first ? t : t - 1, 0, 0, t ^ (n / 2), 0, 0, {}};
    for (unsigned i = first; i < first + n; ++i) {
      r.ballot |= unsigned(i % 3 == 0) << (i - first), r.match |= unsigned(i % 4 == t % 4) << (i - first);
      r.sum += i, r.greatest = std::max(r.greatest, scramble(i)), r.any |= i == 40;
    }
    r.wide = {double(first), first + 0.25, first + 0.5};
    if (t % 4 == 1) r.all = (t / 32 * 32 + 29) * 100 + t % 32 / 4;
    const Tile& g = out[t];
    wrong += g.block_rank != r.block_rank || g.block_size != r.block_size || g.rank != r.rank || g.size != r.size;
    wrong += g.group != r.group || g.groups != r.groups || g.ballot != r.ballot || g.match != r.match;
    wrong += g.below != r.below || g.sum != r.sum || g.greatest != r.greatest || g.neighbour != r.neighbour;
    wrong += g.all != r.all || g.any != r.any || memcmp(&g.wide, &r.wide, sizeof r.wide) != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("emulator/cooperative_groups/tiles") {
  for (unsigned warp : {32u, 64u}) {
    check_tiles<32>(warp);
    check_tiles<16>(warp);
    check_tiles<4>(warp);
    check_tiles<2>(warp);
  }
}

TEST_CASE("emulator/cooperative_groups/warp") {
  std::vector<int> out(384);
  emulate(groups, {.grid = 1, .block = 64}, out.data());
  CHECK(out[9] == 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15);
  CHECK(out[64 + 10] == (8 + 9 + 10) * 100 + 2);
  CHECK(out[128 + 4] == 1 * 1000 + 11 * 10 + 1);
  CHECK(out[128 + 5] == 1 * 1000 + 10 * 10 + 2);
  CHECK(out[192 + 3] == 31);
  CHECK(out[192 + 4] == 30);
  CHECK(out[256 + 7] == 34);
  CHECK(out[320 + 1] == 9 * 100 + 0xFC);
}

TEST_CASE("emulator/cooperative_groups/grid") {
  const std::vector<int> in(8 * 64, 3);
  std::vector<int> partial(8);
  int out = 0;
  emulate(sum_of_grid, {.grid = 8, .block = 64, .cooperative = true}, in.data(), partial.data(), &out);
  CHECK(out == 8 * 64 * 3);
  CHECK(diagnosis_of([&] { emulate(sum_of_grid, {.grid = 2, .block = 64}, in.data(), partial.data(), &out); })->fault ==
        emulator::Fault::trap);
  CHECK(diagnosis_of([&] { emulate(half_of_grid_waits, {.grid = 3, .block = 32, .cooperative = true}); })->fault ==
        emulator::Fault::barrier_not_reached);
  CHECK_THROWS_AS(emulate(half_of_grid_waits, {.grid = 1000, .block = 1024, .cooperative = true}),
                  std::invalid_argument);
}

TEST_CASE("emulator/cooperative_groups/grid_that_is_stopped") {
  unsigned stored[2]{};
  std::atomic<bool> stop{false};
  const auto trace = emulate(stops_while_others_wait,
                             {.grid = 4,
                              .block = 32,
                              .trace_blocks = {0, 1, 2, 3},
                              .cooperative = true,
                              .fatal = false,
                              .stop = &stop,
                              .allow = {emulator::Fault::global_race}},
                             stored, &stop);
  CHECK(trace.blocks == 0);
  const auto counts = bankwise::trace::accesses_of(trace);
  CHECK(counts == 8);  // a store and a load of each block
  REQUIRE(trace.diagnoses.size() == 1);
  CHECK(trace.diagnoses[0].fault == emulator::Fault::unwritten);
  CHECK(trace.diagnoses[0].count == 4 * 32);
}
