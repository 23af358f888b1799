// The passes that the patch computes on the GPU are those of the bank model. Here the emulator plays the GPU.
#include <bankwise/emulator/cuda.hpp>

#include <random>

#include <bankwise/banks/architectures/nvidia.hpp>
#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/sectors.hpp>
#include "bankcheck/cuda/injection/warp_cost.cuh"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::Operation;

namespace {

/// Whether warp_cost() is what a row's rule says of its operations at a width.
constexpr bool agrees(const banks::Rule& rule, unsigned width) {
  using namespace banks;
  if (rule.serving == Serving::lines) return width == cuda::MAY_PASS_L1;
  if (rule.serving == Serving::copies) {
    const unsigned places = cuda::lane_group_size(width);
    return rule.lane_groups == consecutive(places) && rule.banks == Banks{places, width, places * width};
  }
  const bool is_load = (rule.operations & rows::loads) != 0, may_merge = is_load && width >= cuda::MERGING_WIDTH;
  const bool queues = (rule.operations & rows::set_of({Operation::atomic, Operation::atomic_cas})) != 0;
  return rule.lane_groups == consecutive(cuda::lane_group_size(width)) &&
         rule.banks == Banks{cuda::BANKS, cuda::BANK_BYTES, cuda::BANKS * cuda::BANK_BYTES} &&
         rule.serving == (queues ? Serving::lanes : Serving::words) && rule.merges == may_merge &&
         rule.total == Total::sum && rule.request_bytes == 0;
}

constexpr bool agrees(const banks::Architecture& row) {
  constexpr banks::WidthSet widths = banks::rows::bytes({1, 2, 4, 8, 16});
  for (const banks::Rule& rule : row.rules) {
    for (unsigned width = 1; width <= 16; ++width) {
      if ((rule.widths & widths) >> width & 1 && rule.refusal.empty() && !agrees(rule, width)) return false;
    }
  }
  return true;
}
static_assert(std::all_of(std::begin(banks::rows::nvidia), std::end(banks::rows::nvidia),
                          [](const banks::Architecture& row) { return agrees(row); }));
static_assert(!agrees(banks::rows::nvidia_1_to_3[1]));  // Fermi counts in ways

struct Asked {
  std::uint32_t addresses[32], mask, width;
  bool merges;
};

/// One warp for each access.
__global__ void cost_all(const Asked* accesses, cuda::WarpCost* costs) {
  const Asked& asked = accesses[blockIdx.x];
  if ((asked.mask >> threadIdx.x & 1) == 0) return;
  costs[32 * blockIdx.x + threadIdx.x] =
      cuda::warp_cost(asked.addresses[threadIdx.x], asked.width, asked.merges, asked.mask, threadIdx.x);
}

/// The same in global memory.
__global__ void sectors_of_all(const Asked* accesses, cuda::GlobalCost* costs) {
  const Asked& asked = accesses[blockIdx.x];
  if ((asked.mask >> threadIdx.x & 1) == 0) return;
  // What is above 32 bits must not matter.
  const std::uint64_t address = 0x7f0000000000 + asked.addresses[threadIdx.x];
  costs[32 * blockIdx.x + threadIdx.x] = cuda::global_cost(address, asked.width, asked.mask, threadIdx.x);
}

std::vector<cuda::WarpCost> on_gpu(const std::vector<Asked>& accesses) {
  std::vector<cuda::WarpCost> costs(32 * accesses.size());
  emulate(cost_all, {.grid = {unsigned(accesses.size())}, .block = {32}}, accesses.data(), costs.data());
  return costs;
}

/// By the model; the mask of matrices is that of the lanes with addresses.
unsigned passes(const Asked& asked, Operation operation) {
  const bool matrix = banks::matrix_rows(operation) > 0;
  const auto answer = banks::cost(*banks::find_architecture("sm_90"),
                                  {operation, asked.width, matrix ? 0xffffffff : asked.mask, asked.addresses});
  return std::get<banks::Cost>(answer).passes;
}

/// Random addresses of the kinds that programs have: a step from lane to lane, pairs that agree, few or many words.
Asked random_access(std::mt19937& random, unsigned width) {
  Asked asked{.mask = random() % 3 == 0 ? std::uint32_t(random()) | 1 : 0xffffffff, .width = width};
  const unsigned kind = random() % 4, step = random() % 40, range = 1U << random() % 12;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned element = kind == 0   ? lane * step
                             : kind == 1 ? (lane >> 1) * step
                             : kind == 2 ? (lane & ~2U) * step
                                         : unsigned(random()) % range;
    asked.addresses[lane] = element * width;
  }
  return asked;
}

}  // namespace

TEST_CASE("cuda/injection/warp_cost/equals_bank_model") {
  std::mt19937 random(7);
  std::vector<Asked> accesses;
  for (const unsigned width : {1U, 2U, 4U, 8U, 16U}) {
    for (unsigned i = 0; i < 400; ++i) {
      accesses.push_back(random_access(random, width));
      accesses.back().merges = i % 2 == 0;
    }
  }
  const std::vector<cuda::WarpCost> costs = on_gpu(accesses);
  unsigned wrong = 0, merged = 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Asked& asked = accesses[i];
    const unsigned load = passes(asked, Operation::load), store = passes(asked, Operation::store);
    merged += load != store ? 1 : 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((asked.mask >> lane & 1) == 0) continue;
      const cuda::WarpCost& cost = costs[32 * i + lane];
      wrong += cost.passes != (asked.merges ? load : store) ? 1 : 0;
      if (asked.width == 4) wrong += cost.lane_passes != passes(asked, Operation::atomic) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  CHECK(merged > 50);
}

TEST_CASE("cuda/injection/warp_cost/equals_sectors") {
  std::mt19937 random(9);
  std::vector<Asked> accesses;
  for (const unsigned width : {1U, 2U, 4U, 8U, 16U}) {
    for (unsigned i = 0; i < 200; ++i) accesses.push_back(random_access(random, width));
  }
  std::vector<cuda::GlobalCost> costs(32 * accesses.size());
  emulate(sectors_of_all, {.grid = {unsigned(accesses.size())}, .block = {32}}, accesses.data(), costs.data());
  unsigned wrong = 0;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Asked& asked = accesses[i];
    const auto model =
        banks::sectors(*banks::find_architecture("sm_90"), {Operation::load, asked.width, asked.mask, asked.addresses});
    REQUIRE(model);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((asked.mask >> lane & 1) == 0) continue;
      const cuda::GlobalCost& cost = costs[32 * i + lane];
      wrong +=
          cost.sectors != model->sectors || cost.lines != model->lines || cost.elements * asked.width != model->bytes
              ? 1
              : 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("cuda/injection/warp_cost/matrix_rows") {
  std::mt19937 random(8);
  for (const auto& [operation, rows] :
       {std::pair{Operation::ldmatrix_x1, 8U}, {Operation::ldmatrix_x2, 16U}, {Operation::stmatrix_x4, 32U}}) {
    for (unsigned i = 0; i < 50; ++i) {
      Asked asked = random_access(random, 16);
      asked.mask = 0xffffffff >> (32 - rows);
      const cuda::WarpCost cost = on_gpu({asked}).front();
      CHECK(cost.passes == passes(asked, operation));
      CHECK(cost.ideal == rows / 8);
    }
  }
}
