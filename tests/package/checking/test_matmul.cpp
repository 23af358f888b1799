#include <bankwise/emulator/cuda.hpp>  // CUDA for g++, and emulate()
#include <bankwise/report/kernel_text.hpp>
#include <bankwise/trace/report.hpp>
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>  // Catch2 2
#endif
#include <iostream>
#include <vector>

#include "matmul.cuh"

namespace {

// No multiples of TILE.
constexpr unsigned batch = 70, inputs = 50, outputs = 40;

// Small integers: their sums are exact in any order.
std::vector<float> numbers(unsigned count) {
  std::vector<float> numbers;
  for (unsigned i = 0; i < count; ++i) numbers.push_back(float(int(i * i % 17) - 8));
  return numbers;
}

const std::vector<float> in = numbers(batch * inputs), weights = numbers(outputs * inputs);

bankwise::trace::KernelTrace run(std::vector<float>& out, unsigned warp = 32) {
  const bankwise::emulator::Launch launch{
      .grid = {(outputs + TILE - 1) / TILE, (batch + TILE - 1) / TILE}, .block = {TILE, TILE}, .warp = warp};
  return bankwise::emulate(linear_forward, launch, in.data(), weights.data(), out.data(), batch, inputs, outputs);
}

/// Not by INFO(): Catch2 breaks lines.
void print(const bankwise::trace::KernelTrace& trace, const char* architecture) {
  std::cout << bankwise::report::to_text(report(trace, *bankwise::banks::find_architecture(architecture))) << std::endl;
}

}  // namespace

TEST_CASE("the product is right") {
  std::vector<float> expected(batch * outputs);
  for (unsigned row = 0; row < batch; ++row) {
    for (unsigned column = 0; column < outputs; ++column) {
      float& sum = expected[row * outputs + column];
      for (unsigned k = 0; k < inputs; ++k) sum += in[row * inputs + k] * weights[column * inputs + k];
    }
  }
  std::vector<float> out(batch * outputs);
  run(out);
  CHECK(out == expected);
}

TEST_CASE("no bank conflicts on an H100") {
  std::vector<float> out(batch * outputs);
  const auto trace = run(out);
  print(trace, "sm_90");
  CHECK(bankwise::conflicts(trace, "sm_90") == 0);
}

TEST_CASE("no bank conflicts on an MI300") {
  std::vector<float> out(batch * outputs);
  const auto trace = run(out, 64);
  print(trace, "gfx942");
  CHECK(bankwise::conflicts(trace, "gfx942") == 0);
}
