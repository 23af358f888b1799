// Asynchronous copies, and barrier objects.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstring>
#include <vector>
#include "tests/catch_any.hpp"

#include <bankwise/trace/report.hpp>
#include "tests/emulator/kernel_tests.hpp"

namespace {

using bankwise::emulate;  // and not all of bankwise, whose namespace cuda is not the program's
using bankwise::banks::Operation;
namespace emulator = bankwise::emulator;
namespace cg = cooperative_groups;

enum class Mistake { none, no_wait, no_barrier, too_few_groups };

__global__ void two_stages(const float* in, float* out, Mistake mistake) {
  __shared__ float stage[2][64];
  const unsigned t = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][t], in + t, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&stage[1][t], in + 64 + t, 4, t == 3 ? 4 : 0);
  __pipeline_commit();
  if (mistake != Mistake::no_wait) __pipeline_wait_prior(1);
  if (mistake != Mistake::no_barrier) __syncthreads();
  out[t] = stage[0][63 - t];
  if (mistake != Mistake::too_few_groups) __pipeline_wait_prior(0);
  __syncthreads();
  out[64 + t] = stage[1][63 - t];
}

__global__ void barrier_object(const float* in, float* out, unsigned arrivals) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ alignas(16) float tile[128];
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, arrivals);
  block.sync();
  for (int round = 0; round < 3; ++round) {
    cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] += tile[127 - threadIdx.x];
    bar.arrive_and_wait();
  }
}

__global__ void stages_of_a_block(const float* in, float* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ float tile[2][64];
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = 0; i < 5 + 1; ++i) {
    if (i < 5) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[i % 2], in + 64 * i, sizeof tile[0], pipe);
      pipe.producer_commit();
    }
    if (i == 0) continue;
    pipe.consumer_wait();
    out[64 * (i - 1) + threadIdx.x] = tile[(i - 1) % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
}

/// Warp 1 waits at a named barrier for warp 0, and warp 2 does not.
__global__ void named_barrier(int* out) {
  __shared__ int value;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) value = 7;
    PTX("bar.arrive 1, 64;");
  } else if (threadIdx.x < 64) {
    PTX("bar.sync 1, 64;");
    out[threadIdx.x - 32] = value;
  }
}

/// Both warps read the word before a named barrier; then the first warp has it alone, or not.
__global__ void word_of_one_warp(int* out, bool alone) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 1;
  __syncthreads();
  int sum = word;
  PTX("bar.sync 1, 64;");
  if (alone && threadIdx.x >= 32) return;
  sum += 2 * word;
  __syncwarp();
  if (threadIdx.x == 0) word = 2;
  out[threadIdx.x] = sum;
}

__global__ void mbarrier_ptx(int* out) {
  __shared__ unsigned long long bar;
  __shared__ int value;
  const auto address = unsigned(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) PTX("mbarrier.init.shared::cta.b64 [%0], %1;", IN(address), IN(1));
  __syncthreads();
  if (threadIdx.x == 40) {
    value = 9;
    PTX("mbarrier.arrive.shared::cta.b64 _, [%0];", IN(address));
  }
  PTX("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\n"
      "bra LAB_WAIT;\nDONE:\n}",
      IN(address), IN(0));
  out[threadIdx.x] = value;
}

/// The C library's functions with a length that the compiler does not know. Rows of 128 bytes lie in the same bank.
__global__ void by_length(unsigned* out, unsigned bytes) {
  __shared__ unsigned char rows[32 * 128];
  unsigned char* const row = rows + 128 * threadIdx.x;
  memset(row, int(threadIdx.x) + 1, bytes);
  memmove(row + 1, row, bytes - 1);
  row[0] = 0;
  memcpy(out + 2 * threadIdx.x, row, bytes);
}
/// And with a length that it knows.
template <unsigned bytes>
__global__ void by_constant(unsigned char* out) {
  __shared__ alignas(16) unsigned char rows[32 * 128];
  unsigned char* const row = rows + 128 * threadIdx.x;
  memset(row, int(threadIdx.x) + 1, bytes);
  __syncwarp();  // else g++ knows what it loads
  std::memcpy(out + bytes * threadIdx.x, row, bytes);
  __syncwarp();
  memcpy(row, out + bytes * threadIdx.x, bytes);
}

template <unsigned bytes>
void check_constant(unsigned accesses) {
  INFO(bytes);
  std::vector<unsigned char> out(32 * bytes);
  const auto trace = emulate(by_constant<bytes>, {.grid = 1, .block = 32}, out.data());
  for (unsigned i = 0; i < 32 * bytes; ++i) CHECK(unsigned{out[i]} == i / bytes + 1);
  CHECK(count_of(trace, Operation::load) == accesses);
  CHECK(count_of(trace, Operation::store) == 2 * accesses);
  for (const auto& pattern : trace.patterns) {
    CHECK(pattern.width == bytes / accesses);
    CHECK(pattern.addresses[1] - pattern.addresses[0] == 128);
  }
}

}  // namespace

TEST_CASE("emulator/asynchronous_copies/asynchronous_copies") {
  const auto in = numbers(128);
  std::vector<float> out(128);
  const auto trace = emulate(two_stages, {.grid = 1, .block = 64}, in.data(), out.data(), Mistake::none);
  for (unsigned i = 0; i < 64; ++i) {
    CHECK(out[i] == in[63 - i]);
    CHECK(out[64 + i] == (i == 60 ? 0 : in[127 - i]));
  }
  CHECK(count_of(trace, Operation::cp_async) == 4);
  CHECK(count_of(trace, Operation::load) == 4);
  CHECK(count_of(trace, Operation::store) == 0);
  unsigned copies = 0, without_source = 0;
  for (const auto& pattern : trace.patterns) {
    if (pattern.operation != Operation::cp_async) continue;
    REQUIRE(pattern.sources.size() == 32);
    ++copies;
    without_source += pattern.sources[3] == bankwise::banks::no_source ? 1 : 0;
    CHECK(pattern.sources[4] % 128 == (pattern.sources[5] + 124) % 128);
  }
  CHECK(copies > 1);
  CHECK(without_source == 1);  // lane 3 writes zeros
  const auto wrong = [&](Mistake mistake) {
    return diagnosis_of([&] { emulate(two_stages, {.grid = 1, .block = 64}, in.data(), out.data(), mistake); });
  };
  CHECK(wrong(Mistake::no_wait)->fault == emulator::Fault::race);
  CHECK_THAT(wrong(Mistake::no_wait)->what(), has("has not waited for the copy"));
  CHECK(wrong(Mistake::no_barrier).has_value());
  CHECK(wrong(Mistake::too_few_groups)->fault == emulator::Fault::race);
}

TEST_CASE("emulator/asynchronous_copies/barrier_objects") {
  const auto in = numbers(320);
  std::vector<float> out(128);
  const auto trace = emulate(barrier_object, {.grid = 1, .block = 128}, in.data(), out.data(), 128u);
  CHECK(out[5] == 3 * in[122]);
  CHECK(count_of(trace, Operation::cp_async) + count_of(trace, Operation::cp_async_cg) == 3);
  const auto stuck =
      diagnosis_of([&] { emulate(barrier_object, {.grid = 1, .block = 128}, in.data(), out.data(), 129u); });
  CHECK(stuck->fault == emulator::Fault::barrier_not_reached);
  CHECK_THAT(stuck->what(), has("lacks 1 of 129 arrivals"));

  std::vector<float> staged(320);
  emulate(stages_of_a_block, {.grid = 1, .block = 64}, in.data(), staged.data());
  for (unsigned i = 0; i < 320; ++i) CHECK(staged[i] == in[i / 64 * 64 + 63 - i % 64]);

  std::vector<int> values(64);
  emulate(named_barrier, {.grid = 1, .block = 96}, values.data());
  CHECK(values[31] == 7);
  emulate(word_of_one_warp, {.grid = 1, .block = 64}, values.data(), true);
  const auto shared_word =
      diagnosis_of([&] { emulate(word_of_one_warp, {.grid = 1, .block = 64}, values.data(), false); });
  CHECK(shared_word->fault == emulator::Fault::race);
  CHECK(shared_word->lanes == std::vector<unsigned>{0, 63});  // the reads of its own warp are before its __syncwarp()
  emulate(mbarrier_ptx, {.grid = 1, .block = 64}, values.data());
  CHECK(values == std::vector<int>(64, 9));
}

TEST_CASE("emulator/copies_of_any_length") {
  std::vector<unsigned> out(64);
  const auto trace = emulate(by_length, {.grid = 1, .block = 32}, out.data(), 8U);
  CHECK(out[2 * 4] == 0x05050500);
  CHECK(out[2 * 4 + 1] == 0x05050505);
  CHECK(count_of(trace, Operation::load) == 7 + 8);
  CHECK(count_of(trace, Operation::store) == 8 + 7 + 1);
  for (const auto& pattern : trace.patterns) CHECK(pattern.addresses[1] - pattern.addresses[0] == 128);
  check_constant<1>(1);
  check_constant<3>(3);
  check_constant<4>(1);
  check_constant<12>(3);
  check_constant<16>(1);
  check_constant<24>(3);
  check_constant<100>(25);
}
