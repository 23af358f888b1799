// The emulator against tables that the references work out by hand: active lanes and bank conflicts in the steps of
// textbook kernels.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <bankwise/banks/cost.hpp>
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/trace/report.hpp>
#include "golden_kernels.cuh"
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::trace::KernelTrace;

namespace {

constexpr const char* nvidia = "sm_90";  // 32 banks of four bytes

/// One level of a kernel.
struct Step {
  double utilization;  ///< percent
  unsigned warps;
  unsigned degree;  ///< passes of the worst of its 4-byte accesses
  bool operator==(const Step&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << "{" << step.utilization << ", " << step.warps << ", " << step.degree << "}";
}

/// A table's row: utilization, warps and degrees of all steps.
std::vector<Step> row(const std::vector<double>& utilization, const std::vector<unsigned>& warps,
                      const std::vector<unsigned>& degrees) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < warps.size(); ++i) steps.push_back({utilization.at(i), warps[i], degrees.at(i)});
  return steps;
}

/// The same if the number of packed lanes halves from step to step, so the degrees are sufficient.
std::vector<Step> halving(unsigned lanes, const std::vector<unsigned>& degrees) {
  std::vector<Step> steps;
  for (const unsigned degree : degrees) {
    const unsigned warps = (lanes + 31) / 32;
    steps.push_back({100.0 * lanes / (warps * 32), warps, degree});
    lanes /= 2;
  }
  return steps;
}

unsigned passes(const trace::Pattern& access) {
  return std::get<banks::Cost>(banks::cost(*banks::find_architecture(nvidia), access.of_model())).passes;
}

/// `count` levels of a trace, from `first` on.
std::vector<Step> steps(const KernelTrace& trace, unsigned first, unsigned count) {
  const auto report = trace::report(trace, *banks::find_architecture(nvidia));
  std::vector<Step> steps;
  for (unsigned i = first; i < first + count; ++i) {
    const auto level = report.level(i);
    steps.push_back({100 * report::alu_utilization(level.costs, 32).value(), unsigned(level.issued_warps), 0});
  }
  for (const auto& access : trace.patterns) {
    if (access.level < first || access.level >= first + count) continue;
    unsigned& degree = steps[access.level - first].degree;
    degree = std::max(degree, passes(access));
  }
  return steps;
}

struct Sum {
  std::uint64_t accesses = 0, passes = 0;
  bool operator==(const Sum&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sum& sum) {
  return out << sum.passes << " passes in " << sum.accesses << " accesses";
}

/// All levels, except `before` accesses of the first and `after` of the last.
Sum sum(const KernelTrace& trace, unsigned before = 0, unsigned after = 0) {
  Sum sum;
  for (const auto& access : trace.patterns) {
    if (access.level < before || access.level + after >= trace.levels) continue;
    sum.accesses += access.count;
    sum.passes += access.count * passes(access);
  }
  return sum;
}

std::vector<unsigned> counted(unsigned n) {
  std::vector<unsigned> words(n);
  std::iota(words.begin(), words.end(), 1U);
  return words;
}

KernelTrace reduced(void (*kernel)(const unsigned*, unsigned*), unsigned group) {
  const auto in = counted(group);
  unsigned out = 0;
  KernelTrace trace = emulate(kernel, {.grid = 1, .block = group}, in.data(), &out);
  CHECK(out == group * (group + 1) / 2);
  CHECK(trace.levels == unsigned(std::bit_width(group)) + 1);  // the load, the steps, the last word
  return trace;
}

template <unsigned TILE, unsigned... shifts>
KernelTrace scanned(unsigned warp = 32) {
  const auto in = counted(TILE);
  std::vector<unsigned> expected(TILE), out(TILE);
  std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0U);
  KernelTrace trace =
      emulate(scan_blelloch<TILE, shifts...>, {.grid = 1, .block = TILE / 2, .warp = warp}, in.data(), out.data());
  CHECK(out == expected);
  return trace;
}

/// Degrees of the store and of the load, of the worst warp.
template <unsigned SIDE, unsigned PITCH, bool SWIZZLED = false>
std::pair<unsigned, unsigned> transposed() {
  const auto in = counted(SIDE * SIDE);
  std::vector<unsigned> out(in.size());
  const KernelTrace trace =
      emulate(transpose_tile<SIDE, PITCH, SWIZZLED>, {.grid = 1, .block = {SIDE, SIDE}}, in.data(), out.data());
  for (unsigned i = 0; i < out.size(); ++i) REQUIRE(out[i] == in[i % SIDE * SIDE + i / SIDE]);
  const auto levels = steps(trace, 0, 2);
  CHECK(sum(trace).passes ==
        SIDE * SIDE / 32 * (levels[0].degree + levels[1].degree));  // all warps have the same degree
  return {levels[0].degree, levels[1].degree};
}

KernelTrace reduced_records(void (*kernel)(const uint4*, uint4*)) {
  std::vector<uint4> in;
  for (unsigned i = 0; i < 256; ++i) in.push_back(make_uint4(i, 1000 + i, 1U << 31, 3 * i));
  uint4 out{};
  KernelTrace trace = emulate(kernel, {.grid = 1, .block = 256}, in.data(), &out);
  CHECK(std::array{out.x, out.y, out.z, out.w} == std::array{32640U, 288640U, 0U, 97920U});
  CHECK(trace.levels == 10);
  return trace;
}

using Pair = std::pair<unsigned, unsigned>;

}  // namespace

TEST_CASE("emulator/golden/three_reductions") {
  CHECK(steps(reduced(reduce_modulo<256>, 256), 1, 8) ==
        row({50, 25, 12.5, 6.25, 3.125, 3.125, 3.125, 3.125}, {8, 8, 8, 8, 8, 4, 2, 1}, {1, 1, 1, 1, 1, 1, 1, 1}));
  const std::vector<double> packed{100, 100, 100, 50, 25, 12.5, 6.25, 3.125};
  CHECK(steps(reduced(reduce_interleaved<256>, 256), 1, 8) ==
        row(packed, {4, 2, 1, 1, 1, 1, 1, 1}, {2, 4, 8, 8, 8, 4, 2, 1}));
  CHECK(steps(reduced(reduce_sequential<256>, 256), 1, 8) ==
        row(packed, {4, 2, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_CASE("emulator/golden/up_sweep_512") {
  const std::vector<double> utilization{100, 100, 100, 100, 50, 25, 12.5, 6.25, 3.125};
  const std::vector<unsigned> warps{8, 4, 2, 1, 1, 1, 1, 1, 1}, none(9, 1);
  const std::vector<unsigned> unpadded{2, 4, 8, 16, 16, 8, 4, 2, 1}, era_of_16{2, 2, 2, 1, 1, 1, 1, 1, 1};
  CHECK(steps(scanned<512>(), 1, 9) == row(utilization, warps, unpadded));
  CHECK(steps(scanned<512, 5>(), 1, 9) == row(utilization, warps, none));
  CHECK(steps(scanned<512, 4>(), 1, 9) == row(utilization, warps, era_of_16));
}

TEST_CASE("emulator/golden/up_sweep_2048") {
  // With i + i / 32, words at a distance of 1024 are 1056 apart: in one bank. The lanes of one warp reach so far in the
  // steps from 32 words (32 lanes) to 512 (two lanes), and conflict there in pairs.
  CHECK(steps(scanned<2048, 5>(), 1, 11) == halving(1024, {1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1}));
  CHECK(steps(scanned<2048, 5, 10>(), 1, 11) == halving(1024, std::vector<unsigned>(11, 1)));
  CHECK(steps(scanned<2048>(), 1, 11) == halving(1024, {2, 4, 8, 16, 32, 32, 16, 8, 4, 2, 1}));
  CHECK(steps(scanned<1024, 5>(), 1, 10) == halving(512, std::vector<unsigned>(10, 1)));
}

TEST_CASE("emulator/golden/transposes") {
  CHECK(transposed<32, 32>() == Pair{1, 32});
  CHECK(transposed<32, 33>() == Pair{1, 1});
  CHECK(transposed<32, 32, true>() == Pair{1, 1});
  CHECK(transposed<16, 16>() == Pair{1, 8});
  CHECK(transposed<16, 17>() == Pair{2, 2});
  CHECK(transposed<16, 18>() == Pair{2, 1});
  CHECK(transposed<16, 16, true>() == Pair{1, 1});
}

TEST_CASE("emulator/golden/blelloch") {
  // The reference counts the two sweeps, and a load and a store of two words each. Clearing the root is one more.
  constexpr unsigned root = 1;
  CHECK(sum(scanned<512>()).passes == 697 + root);
  CHECK(sum(scanned<1024>()).passes == 1401 + root);
  CHECK(sum(scanned<2048>()).passes == 2809 + root);
  CHECK(sum(scanned<512, 5>()) == Sum{172 + root, 172 + root});
  CHECK(sum(scanned<1024, 5>()) == Sum{316 + root, 316 + root});
  CHECK(sum(scanned<2048, 5>()) == Sum{604 + root, 639 + root});
  CHECK(sum(scanned<2048, 5, 10>()) == Sum{604 + root, 604 + root});
  // With one word after every 16 the load and the store have conflicts, too: words 0 and 31 of a warp share a bank.
  CHECK(sum(scanned<512, 4>()).passes == 302 + root);
  CHECK(sum(scanned<1024, 4>()).passes == 611 + root);
  CHECK(sum(scanned<2048, 4>()).passes == 1229 + root);
}

TEST_CASE("emulator/golden/harris") {
  // The reference counts only the steps: not the store of each warp before them, nor the load of the sum.
  struct Case {
    unsigned group;
    KernelTrace interleaved, sequential;
    std::uint64_t bad, good;
  };
  for (const Case& c :
       {Case{256, reduced(reduce_interleaved<256>, 256), reduced(reduce_sequential<256>, 256), 141, 36},
        Case{512, reduced(reduce_interleaved<512>, 512), reduced(reduce_sequential<512>, 512), 285, 60},
        Case{1024, reduced(reduce_interleaved<1024>, 1024), reduced(reduce_sequential<1024>, 1024), 573, 108}}) {
    INFO(c.group);
    CHECK(sum(c.interleaved, 1, 1) == Sum{c.good, c.bad});
    CHECK(sum(c.sequential, 1, 1) == Sum{c.good, c.good});
    CHECK(sum(c.interleaved).passes == c.bad + c.group / 32 + 1);
    CHECK(sum(c.sequential).passes == c.good + c.group / 32 + 1);
  }
}

TEST_CASE("emulator/golden/records_of_four") {
  // The reference counts the stores before the tree and the tree, but not the load of the sum after it, which the
  // kernels of reduction/ have, too: 540, 180 and 135 there.
  const KernelTrace scalar = reduced_records(reduce_words<FourWords>),
                    packed = reduced_records(reduce_words<FiveWords>), native = reduced_records(reduce_vectors),
                    bytes = reduced_records(reduce_bytes);
  CHECK(sum(scalar, 0, 1) == Sum{4 * 44, 536});
  CHECK(sum(scalar).passes == 540);
  CHECK(sum(packed, 0, 1) == Sum{4 * 44, 176});
  CHECK(sum(packed).passes == 180);
  CHECK(sum(native, 0, 1) == Sum{44, 134});
  CHECK(sum(native).passes == 135);
  // Sixteen byte accesses for each access of the native records.
  CHECK(sum(bytes, 0, 1) == Sum{16 * 44, 704});
  CHECK(sum(bytes).passes == 720);
}

TEST_CASE("emulator/golden/up_sweep_wave64") {
  for (const char* architecture : {"hd5870", "gfx90a"}) {
    INFO(architecture);
    const KernelTrace trace = scanned<512>(64);
    const auto report = trace::report(trace, *banks::find_architecture(architecture));
    unsigned lanes = 0, warps = 0;
    double utilization = 0;  // of a step, weighted with its warps
    for (unsigned i = 1; i <= 9; ++i) {
      lanes += report.level(i).active_lanes;
      warps += report.level(i).issued_warps;
      utilization += report::alu_utilization(report.level(i).costs, 64).value() * report.level(i).issued_warps;
    }
    CHECK(lanes == 511);
    CHECK(warps == 13);
    CHECK(utilization / warps == 511.0 / (13 * 64));
  }
}
