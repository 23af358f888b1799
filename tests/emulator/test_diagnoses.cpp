// Faults of kernels, one kernel per fault, each next to similar code that is right.
#include <algorithm>

#include <bankwise/emulator/cuda.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>
#include <bankwise/trace/report.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::emulator::Diagnosis;
using bankwise::emulator::Dim3;
using bankwise::emulator::Fault;
using bankwise::emulator::Launch;

namespace {

constexpr unsigned BLOCK = 64;

__global__ void half_of_a_warp_skips_the_barrier(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 32 < 16) __syncthreads();  // barrier in a branch
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void returns_before_the_barrier(unsigned* out, unsigned n) {
  __shared__ unsigned data[BLOCK];
  if (threadIdx.x >= n) return;
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();  // after an early return
  out[threadIdx.x] = data[n - 1 - threadIdx.x];
}

__global__ void two_barriers(unsigned* out) {
  if (threadIdx.x < 32) {
    __syncthreads();  // of the first warp
  } else {
    __syncthreads();  // of the second warp
  }
  out[threadIdx.x] = 1;
}

__global__ void two_barriers_of_a_warp(unsigned* out) {
  if (threadIdx.x % 32 < 16) {
    __syncthreads();  // of the first half
  } else {
    __syncthreads();  // of the second half
  }
  out[threadIdx.x] = 1;
}

__global__ void one_barrier_more(unsigned* out) {
  for (unsigned i = threadIdx.x / 32; i < 3; ++i) {
    __syncthreads();  // three times in the first warp, twice in the second
  }
  __syncthreads();  // after the loop
  out[threadIdx.x] = 1;
}

__global__ void out_of_bounds(unsigned* out, int shift) {
  __shared__ unsigned data[BLOCK];
  data[int(threadIdx.x) + shift] = 1;  // the store with a shift
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}

__global__ void beyond_dynamic(unsigned* out) {
  extern __shared__ unsigned diagnosed_dynamic[];
  diagnosed_dynamic[threadIdx.x] = 1;  // the dynamic store
  __syncthreads();
  out[threadIdx.x] = diagnosed_dynamic[threadIdx.x];
}

__global__ void misaligned(unsigned* out, unsigned by) {
  __shared__ float data[BLOCK * 4 + 4];
  for (unsigned i = threadIdx.x; i < BLOCK * 4 + 4; i += BLOCK) data[i] = 0;
  __syncthreads();
  const float4 four = *reinterpret_cast<float4*>(&data[4 * threadIdx.x + by]);  // the misaligned load
  out[threadIdx.x] = unsigned(four.x + four.w);
}

__global__ void reads_unwritten(unsigned* out, unsigned n) {
  __shared__ unsigned data[BLOCK];
  if (threadIdx.x < n) data[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];  // the unwritten load
}

__global__ void write_after_read(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const unsigned other = data[(threadIdx.x + 32) % BLOCK];  // the other warp's, already changed
  data[threadIdx.x] = other;
  out[threadIdx.x] = other;
}

__global__ void own_write_after_anothers(unsigned* out, unsigned i, unsigned same) {
  __shared__ unsigned data[2];
  if (threadIdx.x == 1) data[i] = 5;
  if (threadIdx.x == 0) data[i] = 5;
  if (threadIdx.x == 0) out[0] = data[same];  // after both writes
}

__global__ void write_before_read(unsigned* out) {
  __shared__ unsigned data[BLOCK + 32];
  data[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) data[BLOCK + threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x >= 32) out[threadIdx.x] = data[0];
  if (threadIdx.x < 32) out[threadIdx.x] = data[32 + threadIdx.x];
  if (threadIdx.x == 40) data[32] = 1;  // which lane 0 has read
}

__global__ void atomic_after_a_write(unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  atomicAdd(&count, 2);  // no barrier before
  __syncthreads();
  out[threadIdx.x] = count;
}

__global__ void last_one_differs(unsigned* out) {
  __shared__ unsigned flag;
  flag = 0;
  if (threadIdx.x == BLOCK - 1) flag = 1;  // over what all have written
  __syncthreads();
  out[threadIdx.x] = flag;
}

__global__ void all_write(unsigned* out, bool the_same) {
  __shared__ unsigned flag;
  flag = the_same ? 7 : threadIdx.x;  // all of them
  __syncthreads();
  out[threadIdx.x] = flag;
}

__global__ void within_a_warp(unsigned* out, bool ordered) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = threadIdx.x;
  if (ordered) __syncwarp();
  out[threadIdx.x] = data[threadIdx.x ^ 1];  // the neighbour's word
}

__global__ void takes_a_lock(unsigned* out, bool has_fence, unsigned careless) {
  __shared__ unsigned lock, sum;
  if (threadIdx.x == 0) lock = sum = 0;
  __syncthreads();
  for (bool is_done = threadIdx.x % 16 != 0; !is_done;) {
    if (atomicCAS(&lock, 0, 1) != 0) continue;
    sum += 1;  // under the lock
    if (has_fence) __threadfence_block();
    atomicExch(&lock, 0);
    is_done = true;
  }
  if (threadIdx.x == careless) sum += 1;  // without the lock
  __syncthreads();
  out[threadIdx.x] = sum;
}

enum class Order { none, fence, release, relaxed, release_of_ptx, relaxed_of_ptx };
__device__ unsigned ptx(const char* text, unsigned* flag) {
  std::uint64_t operands[2]{0, std::uint64_t(flag)};
  bankwise::emulator::device::interpret_ptx(text, operands, 2, false);
  return unsigned(operands[0]);
}

__global__ void hands_over(unsigned* out, Order order, bool waits_together, unsigned late) {
  __shared__ unsigned data[32], flag;
  const unsigned lane = threadIdx.x % 32;
  flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[lane] = lane;
    __syncwarp();
    if (lane == 0 && order == Order::fence) __threadfence_block();
    if (lane == late) data[lane] += 1;
    if (lane != 0) return;
    if (order == Order::release) __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    if (order == Order::relaxed && __atomic_load_n(&flag, __ATOMIC_SEQ_CST) == 0) {  // which is no fence
      __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    }
    if (order == Order::release_of_ptx) ptx("st.release.cta.u32 [%1], 1;", &flag);
    if (order == Order::relaxed_of_ptx) ptx("st.relaxed.cta.u32 [%1], 1;", &flag);
    atomicExch(&flag, 1);
  } else {
    if (lane == 0 || !waits_together) {
      const bool of_ptx = order >= Order::release_of_ptx;
      while ((of_ptx ? ptx("ld.acquire.cta.u32 %0, [%1];", &flag) : atomicAdd(&flag, 0)) == 0) {
      }
    }
    if (waits_together) __syncwarp();
    out[lane] = data[31 - lane];  // what the flag protects
  }
}

__global__ void bytes_of_a_word(unsigned* out) {
  __shared__ unsigned char data[BLOCK];
  data[threadIdx.x] = (unsigned char)threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = data[BLOCK - 1 - threadIdx.x];
}

__global__ void mask_without_itself(unsigned* out) {
  out[threadIdx.x] = __shfl_sync(0x0000FFFF, threadIdx.x, 0);  // all 32 call
}

__global__ void mask_with_an_absent_lane(unsigned* out) {
  if (threadIdx.x % 32 < 16) out[threadIdx.x] = __shfl_sync(0x0001FFFF, threadIdx.x, 0);  // 17 named
  __syncthreads();
}

__global__ void never_ends(volatile unsigned* out) {
  while (out[threadIdx.x] == 0) {  // the endless loop
  }
}

__global__ void spins(unsigned*) {
  if (threadIdx.x != 3) return;  // before the empty loop
  while (true) {
  }
}
__global__ void jumps_to_itself(unsigned* out) {
  if (threadIdx.x == 3) {
    out[3] = 1;  // before the jump
  again:
    goto again;
  }
}

__global__ void reads_nothing(unsigned* out) {
  out[threadIdx.x] = *reinterpret_cast<unsigned*>(threadIdx.x);  // the wild load
}

__global__ void below_zero(unsigned* out) {
  __shared__ unsigned words[64];
  words[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = (words + 32)[threadIdx.x - 1];  // an index of 32 bits
}

__device__ __noinline__ unsigned too_deep(unsigned n, volatile unsigned* out) {
  volatile unsigned room[64];
  room[n % 64] = n;
  return (*out == 0 ? too_deep(n + 1, out) : 0) + room[(n + 1) % 64];
}

__global__ void recurses(unsigned* out) { out[threadIdx.x] = too_deep(0, out); }

__global__ void divides(unsigned* out, unsigned by) {
  out[threadIdx.x] = 7 / (by - threadIdx.x);  // the division
}

template <class... Arguments>
std::optional<Diagnosis> found(Launch launch, auto kernel, Arguments... arguments) {
  std::vector<unsigned> out(BLOCK);
  launch.grid = 2;
  launch.block = BLOCK;
  return diagnosis_of([&] { emulate(kernel, launch, out.data(), arguments...); });
}

void check(const std::optional<Diagnosis>& found, Fault fault, const char* line, const std::vector<unsigned>& lanes) {
  INFO((found ? found->what() : "nothing was found"));
  REQUIRE(found);
  CHECK(found->fault == fault);
  CHECK(found->site.file == __FILE__);
  CHECK(found->site.line == line_with(__FILE__, line));
  CHECK(found->lanes == lanes);
  CHECK(found->block == Dim3(0, 0, 0));
}

std::vector<unsigned> lanes(unsigned first, unsigned end) {
  std::vector<unsigned> all;
  for (unsigned lane = first; lane < end; ++lane) all.push_back(lane);
  return all;
}

}  // namespace

TEST_CASE("emulator/diagnoses/missed_barrier") {
  auto late = lanes(16, 32);
  for (const unsigned lane : lanes(48, 64)) late.push_back(lane);
  check(found({}, half_of_a_warp_skips_the_barrier), Fault::barrier_not_reached, "// barrier in a branch", late);
  check(found({}, returns_before_the_barrier, 40U), Fault::barrier_not_reached, "// after an early return",
        lanes(40, 64));
  check(found({}, two_barriers_of_a_warp), Fault::barrier_not_reached, "// of the first half", {16});
  check(found({}, one_barrier_more), Fault::barrier_not_reached, "// after the loop", lanes(32, 64));
  CHECK_FALSE(found({}, two_barriers));  // the device counts arrivals, and each warp is uniform
  CHECK_FALSE(found({}, returns_before_the_barrier, 64U));
  CHECK_FALSE(found({.returned_lanes_arrive = true}, returns_before_the_barrier, 40U));
}

TEST_CASE("emulator/diagnoses/out_of_bounds") {
  check(found({}, out_of_bounds, 1), Fault::out_of_bounds, "// the store with a shift", {63});
  check(found({}, out_of_bounds, -1), Fault::out_of_bounds, "// the store with a shift", {0});
  CHECK_FALSE(found({}, out_of_bounds, 0));
  check(found({.dynamic_shared = 40 * sizeof(unsigned)}, beyond_dynamic), Fault::out_of_bounds, "// the dynamic store",
        {40});
  CHECK_FALSE(found({.dynamic_shared = 64 * sizeof(unsigned)}, beyond_dynamic));
}

TEST_CASE("emulator/diagnoses/misaligned") {
  check(found({}, misaligned, 1U), Fault::misaligned, "// the misaligned load", {0});
  check(found({}, misaligned, 2U), Fault::misaligned, "// the misaligned load", {0});
  CHECK_FALSE(found({}, misaligned, 4U));
}

TEST_CASE("emulator/diagnoses/uninitialized") {
  check(found({}, reads_unwritten, 63U), Fault::unwritten, "// the unwritten load", {63});
  check(found({}, reads_unwritten, 0U), Fault::unwritten, "// the unwritten load", {0});
  CHECK_FALSE(found({}, reads_unwritten, 64U));
}

TEST_CASE("emulator/diagnoses/races") {
  check(found({}, write_after_read), Fault::race, "// the other warp's, already changed", {32, 0});
  check(found({}, write_before_read), Fault::race, "// which lane 0 has read", {40, 0});
  check(found({}, own_write_after_anothers, 1, 1), Fault::race, "// after both writes", {0, 1});
  check(found({}, atomic_after_a_write), Fault::race, "// no barrier before", {1, 0});
  check(found({}, last_one_differs), Fault::race, "// over what all have written", {63, 62});
  check(found({}, all_write, false), Fault::race, "// all of them", {32, 31});  // within a warp, one lane wins
  CHECK_FALSE(found({}, all_write, true));
  check(found({}, within_a_warp, false), Fault::race, "// the neighbour's word", {0, 1});
  CHECK_FALSE(found({}, within_a_warp, true));
  CHECK_FALSE(found({.warp_synchronous = true}, within_a_warp, false));
  CHECK_FALSE(found({}, bytes_of_a_word));
}

TEST_CASE("emulator/diagnoses/flags") {
  constexpr unsigned none = BLOCK;
  CHECK_FALSE(found({}, takes_a_lock, true, none));
  const auto races = [](const std::optional<Diagnosis>& found, const char* line) {  // which lanes: the order decides
    return found && found->fault == Fault::race && found->site.line == line_with(__FILE__, line);
  };
  CHECK(races(found({}, takes_a_lock, false, none), "// under the lock"));
  CHECK(races(found({}, takes_a_lock, true, 40U), "// without the lock"));
  for (const bool waits_together : {false, true}) {
    CAPTURE(waits_together);
    CHECK_FALSE(found({}, hands_over, Order::fence, waits_together, none));
    for (const Order order : {Order::release, Order::release_of_ptx}) {
      CHECK_FALSE(found({}, hands_over, order, waits_together, none));
    }
    for (const Order order : {Order::none, Order::relaxed, Order::relaxed_of_ptx}) {
      check(found({}, hands_over, order, waits_together, none), Fault::race, "// what the flag protects", {32, 31});
    }
    check(found({}, hands_over, Order::fence, waits_together, 5U), Fault::race, "// what the flag protects", {58, 5});
  }
}

TEST_CASE("emulator/diagnoses/wrong_mask") {
  check(found({}, mask_without_itself), Fault::wrong_mask, "// all 32 call", {16});
  check(found({}, mask_with_an_absent_lane), Fault::wrong_mask, "// 17 named", {0, 16});
}

TEST_CASE("emulator/diagnoses/endless_loop") {
  const auto endless = found({.step_limit = 10000}, never_ends);
  REQUIRE(endless);
  CHECK(endless->fault == Fault::step_limit);
  CHECK(endless->site.line == line_with(__FILE__, "// the endless loop"));
  // On one thread: such a loop is noticed after two seconds, and two blocks would loop at the same time.
  check(found({.threads = 1}, spins), Fault::step_limit, "// before the empty loop", {3});
  check(found({.threads = 1}, jumps_to_itself), Fault::step_limit, "// before the jump", {3});
}

TEST_CASE("emulator/diagnoses/wraps_around") {
  const auto wraps = found({}, below_zero);
  check(wraps, Fault::invalid_address, "// an index of 32 bits", {0});
  CHECK_THAT(wraps->what(), has("does not exist, 16 GiB from byte 124 of words: on a"));
}

TEST_CASE("emulator/diagnoses/program_survives") {
  for (int time = 0; time < 3; ++time) {  // also the next one
    check(found({}, reads_nothing), Fault::invalid_address, "// the wild load", {0});
    check(found({}, divides, 5U), Fault::division_by_zero, "// the division", {5});
    const auto deep = found({}, recurses);
    REQUIRE(deep);
    CHECK(deep->fault == Fault::invalid_address);
    CHECK_THAT(deep->what(), has("recursion"));
  }
}

TEST_CASE("emulator/diagnoses/too_many_accesses") {
  const auto many = found({.record_order = true, .access_limit = 2}, bytes_of_a_word);
  REQUIRE(many);
  CHECK(many->fault == Fault::access_limit);
}
