// Algorithms of the whole device, of CUB or hipCUB, without a kernel. Prints "right" if their results are.
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
namespace cub = hipcub;
#define cudaMallocManaged hipMallocManaged
#define cudaMemcpy hipMemcpy
#define cudaMemcpyDefault hipMemcpyDefault
#else
#include <cub/cub.cuh>
#endif

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

constexpr int n = 1000;

template <class T>
T* on_device(const std::vector<T>& values) {
  T* memory = nullptr;
  cudaMallocManaged(&memory, sizeof(T) * values.size());
  cudaMemcpy(memory, values.data(), sizeof(T) * values.size(), cudaMemcpyDefault);
  return memory;
}

/// Calls an algorithm as programs do: for the size of the temporary memory, and with it.
template <class Algorithm>
void run(Algorithm algorithm) {
  size_t bytes = 0;
  algorithm(nullptr, bytes);
  char* temporary = on_device(std::vector<char>(bytes));
  algorithm(temporary, bytes);
}

int main() {
  std::vector<int> values(n), sums(n), order(n);
  std::vector<float> keys(n);
  for (int i = 0; i < n; ++i) {
    values[i] = i * 7919 % 1013 - 500;
    keys[i] = float(values[i]) / 3;
  }
  std::iota(order.begin(), order.end(), 0);
  const int *in = on_device(values), *numbers = on_device(order);
  int *out = on_device(values), *count = on_device(order), *moved = on_device(order);
  const float* key = on_device(keys);
  float* sorted = on_device(keys);
  bool right = true;

  run([&](void* t, size_t& bytes) { cub::DeviceReduce::Sum(t, bytes, in, out, n); });
  right &= out[0] == std::accumulate(values.begin(), values.end(), 0);
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::Max(t, bytes, in, out, n); });
  right &= out[0] == *std::max_element(values.begin(), values.end());
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::Min(t, bytes, in, out, n); });
  right &= out[0] == *std::min_element(values.begin(), values.end());
  auto* best = on_device(std::vector<cub::KeyValuePair<int, int>>(1));
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::ArgMin(t, bytes, in, best, n); });
  right &= best->key == std::min_element(values.begin(), values.end()) - values.begin() && best->value == out[0];
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::ArgMax(t, bytes, in, best, n); });
  right &= best->key == std::max_element(values.begin(), values.end()) - values.begin();
  const int* ends = on_device(std::vector<int>{0, 3, 3, n});
  run([&](void* t, size_t& bytes) { cub::DeviceSegmentedReduce::Sum(t, bytes, in, out, 3, ends, ends + 1); });
  right &= out[0] == values[0] + values[1] + values[2] && out[1] == 0;
  right &= out[0] + out[2] == std::accumulate(values.begin(), values.end(), 0);

  run([&](void* t, size_t& bytes) { cub::DeviceScan::ExclusiveSum(t, bytes, in, out, n); });
  std::exclusive_scan(values.begin(), values.end(), sums.begin(), 0);
  right &= std::equal(sums.begin(), sums.end(), out);
  run([&](void* t, size_t& bytes) { cub::DeviceScan::InclusiveSum(t, bytes, in, out, n); });
  right &= out[0] == values[0] && std::equal(sums.begin() + 1, sums.end(), out);
  run([&](void* t, size_t& bytes) { cub::DeviceScan::InclusiveScan(t, bytes, in, out, cub::Max(), n); });
  std::inclusive_scan(values.begin(), values.end(), sums.begin(), [](int a, int b) { return std::max(a, b); });
  right &= std::equal(sums.begin(), sums.end(), out);

  run([&](void* t, size_t& bytes) { cub::DeviceRadixSort::SortPairs(t, bytes, key, sorted, numbers, moved, n); });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  right &= std::equal(order.begin(), order.end(), moved) && sorted[0] == keys[order[0]];
  cub::DoubleBuffer<int> both(on_device(values), out);
  run([&](void* t, size_t& bytes) { cub::DeviceRadixSort::SortKeysDescending(t, bytes, both, n); });
  right &= std::is_sorted(both.Current(), both.Current() + n, std::greater<>()) && both.Current() == out;

  const float* zeros = on_device(std::vector<float>{0.0F, -0.0F, -1.0F});
  run([&](void* t, size_t& bytes) { cub::DeviceRadixSort::SortPairs(t, bytes, zeros, sorted, numbers, moved, 3); });
  right &= moved[0] == 2 && moved[1] == 0 && moved[2] == 1;  // the zeros are equal

  const auto is_even = [](int i) { return i % 2 == 0; };
  run([&](void* t, size_t& bytes) { cub::DeviceSelect::If(t, bytes, numbers, out, count, n, is_even); });
  right &= count[0] == n / 2 && out[3] == 6;
  run([&](void* t, size_t& bytes) { cub::DevicePartition::If(t, bytes, numbers, out, count, n, is_even); });
  right &= count[0] == n / 2 && out[n / 2 - 1] == n - 2 && out[n / 2] == n - 1 && out[n - 1] == 1;
  const int *flags = on_device(std::vector<int>{0, 1, 0, 1}), *runs = on_device(std::vector<int>{7, 7, 4, 7});
  run([&](void* t, size_t& bytes) { cub::DeviceSelect::Flagged(t, bytes, runs, flags, out, count, 4); });
  right &= count[0] == 2 && out[0] == 7 && out[1] == 7;
  run([&](void* t, size_t& bytes) { cub::DeviceSelect::Unique(t, bytes, runs, out, count, 4); });
  right &= count[0] == 3 && out[0] == 7 && out[1] == 4 && out[2] == 7;
  run([&](void* t, size_t& bytes) { cub::DeviceRunLengthEncode::Encode(t, bytes, runs, out, moved, count, 4); });
  right &= count[0] == 3 && out[1] == 4 && moved[0] == 2 && moved[1] == 1 && moved[2] == 1;
  const cub::CountingInputIterator<int> counting(5);
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::Sum(t, bytes, counting, out, 3); });
  right &= out[0] == 5 + 6 + 7;
  // Sums are of the type that + returns.
  const char* small = on_device(std::vector<char>(300, 1));
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::Sum(t, bytes, small, out, 300); });
  right &= out[0] == 300;
  run([&](void* t, size_t& bytes) { cub::DeviceScan::InclusiveSum(t, bytes, small, out, 300); });
  right &= out[299] == 300;
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::Reduce(t, bytes, numbers, sorted, n, std::plus<>(), 0.25f); });
  right &= sorted[0] == n * (n - 1) / 2 + 0.25f;
  run([&](void* t, size_t& bytes) { cub::DeviceReduce::Reduce(t, bytes, key, sorted, 1, std::plus<>(), 0); });
  right &= sorted[0] == keys[0];
  run([&](void* t, size_t& bytes) { cub::DeviceHistogram::HistogramEven(t, bytes, numbers, out, 5, 0, n, n); });
  right &= out[0] == n / 4 && out[3] == n / 4;

  std::puts(right ? "right" : "wrong");
}
