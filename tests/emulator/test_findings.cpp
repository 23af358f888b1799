// Faults that do not end a launch: each place is listed once, and the kernel goes on.
#include <algorithm>

#include <bankwise/emulator/cuda.hpp>
#include <bankwise/report/kernel_text.hpp>
#include <bankwise/trace/report.hpp>
#include <bankwise/trace/trace.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::emulator::Dim3;
using bankwise::emulator::Fault;
using bankwise::emulator::Launch;
using bankwise::trace::KernelTrace;

namespace {

constexpr unsigned BLOCK = 64;

__global__ void races_twice(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = 0;
  __syncthreads();
  data[threadIdx.x] = threadIdx.x;  // the racing store
  unsigned sum = 0;
#pragma GCC unroll 1
  for (unsigned i = 1; i < 3; ++i) sum += data[(threadIdx.x + i) % BLOCK];  // the racing load
  out[threadIdx.x] = sum;
}

__global__ void many_faults(unsigned* out) {
  __shared__ unsigned data[BLOCK], unwritten[BLOCK];
  if (out[0] == 99) unwritten[threadIdx.x] = 1;
  data[threadIdx.x + 1] = 7;  // one lane too far
  __syncthreads();
  out[threadIdx.x] = data[1 + threadIdx.x % 32] + unwritten[threadIdx.x];         // all of it unwritten
  if (threadIdx.x < 16) out[threadIdx.x] += __shfl_down_sync(0xFFFFFFFF, 1u, 1);  // half of a warp
  if (threadIdx.x % 2 == 0) return;
  __syncthreads();  // the even lanes have returned
  out[threadIdx.x] += 1;
}

__global__ void same_word(unsigned* out) {
  __shared__ unsigned data[2];
  data[threadIdx.x / 32] = threadIdx.x;  // one lane wins
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x / 32];
}

__global__ void arms(unsigned* out) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) {
    __syncthreads();  // the first arm
    out[threadIdx.x] = data[threadIdx.x + 32];
  } else {
    __syncthreads();  // the second arm
    out[threadIdx.x] = data[threadIdx.x - 32];
  }
}

__global__ void traps_in_block(unsigned* out, unsigned block) {
  __shared__ unsigned data[BLOCK];
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (blockIdx.x == block) __trap();  // the trap
  out[blockIdx.x * BLOCK + threadIdx.x] = data[threadIdx.x];
}

__global__ void leaves_itself_out(unsigned* out) {
  out[threadIdx.x] = __shfl_sync(0x0000FFFF, threadIdx.x, 5);  // all 32 call
}

__global__ void writes_far_away(unsigned* out, int shift) {
  [[maybe_unused]] __shared__ unsigned data[BLOCK];
  __shared__ unsigned other[BLOCK];
  other[threadIdx.x] = 1;
  data[threadIdx.x + unsigned(shift)] = 2;  // towards the other array
  __syncthreads();
  out[threadIdx.x] = other[threadIdx.x];
}

struct Run {
  KernelTrace trace;
  std::vector<unsigned> out;
};

template <class... Arguments>
Run run(Launch launch, auto kernel, Arguments... arguments) {
  std::vector<unsigned> out(std::size_t{BLOCK} * 16);
  launch.block = BLOCK;
  launch.fatal = false;
  KernelTrace trace = emulate(kernel, launch, out.data(), arguments...);
  return {std::move(trace), out};
}

/// The diagnosis of a fault, of which there is exactly one.
const trace::DiagnosisRecord& only(const KernelTrace& trace, Fault fault) {
  INFO(to_string(fault));
  REQUIRE(std::ranges::count(trace.diagnoses, fault, &trace::DiagnosisRecord::fault) == 1);
  return *std::ranges::find(trace.diagnoses, fault, &trace::DiagnosisRecord::fault);
}

unsigned line_of(const KernelTrace& trace, std::uint32_t site) {
  CHECK(trace.sites.at(site).file == __FILE__);
  return trace.sites.at(site).line;
}

}  // namespace

TEST_CASE("emulator/findings/race_listed_once") {
  const Run ran = run({.grid = 8}, races_twice);
  REQUIRE(ran.trace.diagnoses.size() == 1);
  const trace::DiagnosisRecord& race = ran.trace.diagnoses[0];
  CHECK(race.fault == Fault::race);
  CHECK(line_of(ran.trace, race.site) == line_with(__FILE__, "// the racing store"));
  REQUIRE(race.other);
  CHECK(line_of(ran.trace, *race.other) == line_with(__FILE__, "// the racing load"));
  // In each block 128 loads; three come before their stores, two of which notice that.
  CHECK(race.count == 8 * 127);
  CHECK(race.first.block == 0);
  CHECK_FALSE(race.ended);
  // The first race between two warps, although threads of the first warp race before: those need only a __syncwarp().
  CHECK(race.text.starts_with("thread 32 of block (0, 0, 0) of races_twice writes 4 bytes at byte 128 of data"));
  CHECK_THAT(race.text, has("; thread 30 reads there at line"));
  CHECK_THAT(race.text, !has("warp_synchronous"));
  CHECK(trace::placed_sentence_of(race, ran.trace).starts_with(std::string(__FILE__) + ":"));
  CHECK(trace::sentence_of(race).ends_with("; 1016 times"));
  CHECK(std::count(ran.out.begin(), ran.out.begin() + BLOCK, 0U) == 1);  // the results are there
  CHECK(ran.trace.blocks == 1);
  CHECK_FALSE(emulator::ended_by(ran.trace));
  const auto report = trace::report(ran.trace, *banks::find_architecture("sm_90"));
  CHECK(report.diagnoses == std::vector{trace::placed_sentence_of(race, ran.trace)});
  CHECK(report::to_text(report).starts_with(report.diagnoses[0] + "\n"));
}

TEST_CASE("emulator/findings/every_fault_survived") {
  const Run ran = run({}, many_faults);
  const KernelTrace& trace = ran.trace;
  const auto& bounds = only(trace, Fault::out_of_bounds);
  CHECK(line_of(trace, bounds.site) == line_with(__FILE__, "// one lane too far"));
  CHECK(bounds.count == 1);
  CHECK(bounds.first.warp == 1);
  CHECK(only(trace, Fault::unwritten).count == BLOCK);
  CHECK(line_of(trace, only(trace, Fault::wrong_mask).site) == line_with(__FILE__, "// half of a warp"));
  const auto& barrier = only(trace, Fault::barrier_not_reached);
  CHECK(line_of(trace, barrier.site) == line_with(__FILE__, "// the even lanes have returned"));
  CHECK_THAT(barrier.text, has("[Launch::returned_lanes_arrive or --returned-lanes-arrive]"));
  CHECK(trace.diagnoses.size() == 4);
  CHECK(trace.blocks == 1);
  CHECK(ran.out[1] >= 8);  // odd lanes reach the end
}

TEST_CASE("emulator/findings/lanes_outside_mask") {
  const Run ran = run({}, leaves_itself_out);
  CHECK(only(ran.trace, Fault::wrong_mask).count == BLOCK / 2);
  CHECK(std::count(ran.out.begin(), ran.out.begin() + 32, 5U) == 32);
}

TEST_CASE("emulator/findings/same_word_remark") {
  const Run ran = run({}, same_word);
  const auto& remark = only(ran.trace, Fault::lanes_collide);
  CHECK(remark.count == 62);  // each lane but the first of its warp
  CHECK(trace::sentence_of(remark).starts_with("note: several lanes write one word: thread 1 of block"));
  CHECK(run({.allow = {Fault::lanes_collide}}, same_word).trace.diagnoses.empty());
  std::vector<unsigned> out(BLOCK);
  CHECK_FALSE(diagnosis_of([&] { emulate(same_word, {.block = BLOCK}, out.data()); }));
}

TEST_CASE("emulator/findings/barriers_in_both_arms") {
  const Run ran = run({.grid = 4}, arms);
  REQUIRE(ran.trace.diagnoses.size() == 1);
  const auto& remark = only(ran.trace, Fault::barriers_differ);
  CHECK(line_of(ran.trace, remark.site) == line_with(__FILE__, "// the first arm"));
  CHECK(line_of(ran.trace, remark.other.value()) == line_with(__FILE__, "// the second arm"));
  CHECK(remark.count == 4);
  CHECK(ran.out[0] == 32);
  CHECK(ran.out[32] == 0);
}

TEST_CASE("emulator/findings/allowed_faults") {
  std::vector<unsigned> out(BLOCK * 8);
  CHECK_FALSE(
      diagnosis_of([&] { emulate(races_twice, {.grid = 8, .block = BLOCK, .allow = {Fault::race}}, out.data()); }));
  CHECK(run({.grid = 8, .allow = {Fault::race}}, races_twice).trace.diagnoses.empty());
  const KernelTrace some = run({.allow = {Fault::race, Fault::unwritten, Fault::wrong_mask}}, many_faults).trace;
  CHECK(some.diagnoses.size() == 2);
  CHECK(run({.allow = {Fault::trap}}, traps_in_block, 0U).trace.diagnoses.size() == 1);  // nothing can follow
}

TEST_CASE("emulator/findings/final_fault") {
  const Run ran = run({.grid = 16, .trace_blocks = {0, 5}, .threads = 1}, traps_in_block, 5U);
  const auto end = emulator::ended_by(ran.trace);
  REQUIRE(end);
  CHECK(end->fault == Fault::trap);
  CHECK(end->first.block == 5);
  CHECK(line_of(ran.trace, end->site) == line_with(__FILE__, "// the trap"));
  CHECK(trace::sentence_of(*end).ends_with("; this ended the launch"));
  CHECK(ran.trace.blocks == 1);  // block 5 did not reach its end
  CHECK(accesses_of(ran.trace) == 2 * 2 + 2);
  CHECK(ran.out[4 * BLOCK + 1] == 1);
  CHECK(ran.out[6 * BLOCK + 1] == 0);                                      // later blocks do not run
  CHECK(run({.grid = 16}, traps_in_block, 16U).out[15 * BLOCK + 1] == 1);  // and the next launch is well
}

TEST_CASE("emulator/findings/other_array_unchanged") {
  const Run near = run({}, writes_far_away, 1000);
  CHECK_FALSE(emulator::ended_by(near.trace));
  CHECK(std::count(near.out.begin(), near.out.begin() + BLOCK, 1U) == BLOCK);
}

TEST_CASE("emulator/findings/any_number_of_threads") {
  const auto text_of = [](const KernelTrace& trace) {
    std::string text;
    for (const trace::DiagnosisRecord& one : trace.diagnoses) text += trace::placed_sentence_of(one, trace) + '\n';
    return text;
  };
  const std::string one = text_of(run({.grid = 16, .threads = 1}, races_twice).trace);
  for (int time = 0; time < 10; ++time) {
    CHECK(text_of(run({.grid = 16, .threads = 8}, races_twice).trace) == one);
  }
}
