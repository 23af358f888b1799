// The variants for CPUs, through OpenCL, compared with code as a CPU programmer would write it: a loop, OpenMP and
// SIMD. Both are timed by the host's clock, from the call until the result is there.
#include <benchmark/benchmark.h>
#include <omp.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <algorithm>
#include <memory>
#include <vector>

#include <bankwise/bench/workbench.hpp>
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;

namespace {

/// The first CPU among the OpenCL devices; null if there is none.
gpu::Session* cpu() {
  static const std::unique_ptr<gpu::Session> session = []() -> std::unique_ptr<gpu::Session> {
    for (const auto& device : gpu::devices().list) {
      if (device.api == gpu::Api::opencl && !device.is_gpu) return gpu::open(device);
    }
    return nullptr;
  }();
  return session.get();
}

void count_bytes(benchmark::State& state, const CaseStudy& study, Extent extent) {
  state.SetBytesProcessed(std::int64_t(state.iterations()) * std::int64_t(compulsory_bytes(study, extent)));
}

/// A variant of a case study. Its result is verified first.
void through_opencl(benchmark::State& state, const CaseStudy& study, const char* name, Extent extent) {
  if (cpu() == nullptr) return state.SkipWithError("no OpenCL device that is a CPU");
  Workbench bench(study, extent, *cpu());
  const PreparedVariant prepared = bench.prepare(variant_of(study, name), Scope::memory);
  if (const std::string wrong = bench.verify(prepared); !wrong.empty()) return state.SkipWithError(wrong.c_str());
  for ([[maybe_unused]] auto _ : state) {
    bench.enqueue(prepared);
    cpu()->wait();
  }
  count_bytes(state, study, extent);
}

/// A plain C++ function with the same input and output. Its result is verified first.
void through_openmp(benchmark::State& state, const CaseStudy& study, Extent extent,
                    void (*run)(Extent, const std::uint32_t* in, std::uint32_t* out)) {
  const Words in = all_inputs(study, extent).front();
  Words out(study.outputs[0].words(extent));
  run(extent, in.data(), out.data());
  if (out != reference_output(study, extent, in)) return state.SkipWithError("the result is wrong");
  for ([[maybe_unused]] auto _ : state) {
    run(extent, in.data(), out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, study, extent);
}

// Reduction.

void sum_of_records(Extent extent, const std::uint32_t* in, std::uint32_t* out) {
  const std::uint64_t n = extent.count();
  std::uint32_t x = 0, y = 0, z = 0, w = 0;
#pragma omp parallel for simd reduction(+ : x, y, z, w)
  for (std::uint64_t i = 0; i < n; ++i) {
    x += in[4 * i];
    y += in[4 * i + 1];
    z += in[4 * i + 2];
    w += in[4 * i + 3];
  }
  out[0] = x, out[1] = y, out[2] = z, out[3] = w;
}

/// The same with vectors of whole records, so the compiler need not rearrange the components.
void sum_of_vectors(Extent extent, const std::uint32_t* in, std::uint32_t* out) {
  constexpr std::uint64_t width = 32;  // words: eight records
  const std::uint64_t words = 4 * extent.count(), whole = words / width;
  std::uint32_t sum[width] = {};
#pragma omp parallel for reduction(+ : sum[:width])
  for (std::uint64_t i = 0; i < whole; ++i) {
#pragma omp simd
    for (std::uint64_t k = 0; k < width; ++k) sum[k] += in[width * i + k];
  }
  for (std::uint64_t i = whole * width; i < words; ++i) sum[i % 4] += in[i];
  for (std::uint64_t k = 4; k < width; ++k) sum[k % 4] += sum[k];
  for (std::uint64_t k = 0; k < 4; ++k) out[k] = sum[k];
}

void reduction_chunked(benchmark::State& state) {
  through_opencl(state, reduction::case_study(), "chunked", {1, std::uint64_t(state.range())});
}
void reduction_openmp(benchmark::State& state) {
  through_openmp(state, reduction::case_study(), {1, std::uint64_t(state.range())}, sum_of_records);
}
void reduction_openmp_vectors(benchmark::State& state) {
  through_openmp(state, reduction::case_study(), {1, std::uint64_t(state.range())}, sum_of_vectors);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t mib : {1, 16, 64, 256}) benchmark->Arg(mib << 16);
  benchmark->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(reduction_chunked)->Apply(sizes);
BENCHMARK(reduction_openmp)->Apply(sizes);
BENCHMARK(reduction_openmp_vectors)->Apply(sizes);

// Prefix sum.

/// A contiguous range per thread: its sum, then its scan.
void exclusive_sums(Extent extent, const std::uint32_t* in, std::uint32_t* out) {
  const std::uint64_t n = extent.count();
  std::vector<std::uint32_t> sums;
#pragma omp parallel
  {
    const auto threads = std::uint64_t(omp_get_num_threads()), thread = std::uint64_t(omp_get_thread_num());
    const std::uint64_t chunk = (n / threads / 16 + 1) * 16;
    const std::uint64_t first = std::min(n, thread * chunk), end = std::min(n, first + chunk);
#pragma omp single
    sums.resize(threads);
    std::uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::uint64_t i = first; i < end; ++i) sum += in[i];
    sums[thread] = sum;
#pragma omp barrier
    std::uint32_t before = 0;
    for (std::uint64_t other = 0; other < thread; ++other) before += sums[other];
#pragma omp simd reduction(inscan, + : before)
    for (std::uint64_t i = first; i < end; ++i) {
      out[i] = before;
#pragma omp scan exclusive(before)
      before += in[i];
    }
  }
}

void prefix_sum_chunked(benchmark::State& state) {
  through_opencl(state, prefix_sum::case_study(), "chunked", {1, std::uint64_t(state.range())});
}
void prefix_sum_openmp(benchmark::State& state) {
  through_openmp(state, prefix_sum::case_study(), {1, std::uint64_t(state.range())}, exclusive_sums);
}
void counts(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t mib : {1, 16, 64, 256}) benchmark->Arg(mib << 17);  // in and out together
  benchmark->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(prefix_sum_chunked)->Apply(counts);
BENCHMARK(prefix_sum_openmp)->Apply(counts);

// Transpose.

constexpr std::size_t line = 16;  // words of a cache line

#ifdef __AVX512F__
/// Transposes 16 x 16 words; whole lines of the output bypass the cache (streaming stores).
void turn(const std::uint32_t* in, std::uint64_t width, std::uint32_t* out, std::uint64_t height) {
  __m512i a[line], b[line];
  for (std::size_t i = 0; i < line; ++i) a[i] = _mm512_loadu_si512(in + i * width);
  for (std::size_t i = 0; i < line; i += 2) {  // pairs of words, in each quarter of the vectors
    b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (std::size_t i = 0; i < line; i += 4) {  // quarters
    a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
    a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
    a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
    a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
  for (std::size_t i = 0; i < 4; ++i) {  // a square of 4 x 4 quarters
    b[i] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88);
    b[i + 4] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xDD);
    b[i + 8] = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0x88);
    b[i + 12] = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0xDD);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    a[i] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0x88);
    a[i + 8] = _mm512_shuffle_i32x4(b[i], b[i + 8], 0xDD);
  }
  for (std::size_t i = 0; i < line; ++i) {
    std::uint32_t* to = out + i * height;
    if (reinterpret_cast<std::uintptr_t>(to) % sizeof(__m512i) == 0) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), a[i]);
    } else {
      _mm512_storeu_si512(to, a[i]);
    }
  }
}
#else
void turn(const std::uint32_t* in, std::uint64_t width, std::uint32_t* out, std::uint64_t height) {
  for (std::size_t x = 0; x < line; ++x) {
#pragma omp simd
    for (std::size_t y = 0; y < line; ++y) out[x * height + y] = in[y * width + x];
  }
}
#endif

void transposed(Extent extent, const std::uint32_t* in, std::uint32_t* out) {
  constexpr std::uint64_t tile = 256;
  const std::uint64_t height = extent.height, width = extent.width;
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (std::uint64_t top = 0; top < height; top += tile) {
    for (std::uint64_t left = 0; left < width; left += tile) {
      const std::uint64_t bottom = std::min(height, top + tile), right = std::min(width, left + tile);
      for (std::uint64_t y = top; y < bottom; y += line) {
        for (std::uint64_t x = left; x < right; x += line) {
          if (y + line <= bottom && x + line <= right) {
            turn(in + y * width + x, width, out + x * height + y, height);
            continue;
          }
          for (std::uint64_t column = x; column < std::min(x + line, right); ++column) {
            for (std::uint64_t row = y; row < std::min(y + line, bottom); ++row) {
              out[column * height + row] = in[row * width + column];
            }
          }
        }
      }
    }
  }
}

/// Into memory that begins at a cache line, like an OpenCL buffer.
void transposed_aligned(Extent extent, const std::uint32_t* in, std::uint32_t* out) {
  static std::vector<std::uint32_t> memory;
  if (memory.size() < extent.count() + line) memory.resize(extent.count() + line);
  const auto behind = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(std::uint32_t) % line;
  std::uint32_t* const lines = memory.data() + (line - behind) % line;
  transposed(extent, in, lines);
  if (out[0] != lines[0]) std::copy_n(lines, extent.count(), out);  // once, for the verdict
}

Extent sides(const benchmark::State& state) { return {std::uint64_t(state.range(0)), std::uint64_t(state.range(1))}; }
void transpose_blocked(benchmark::State& state) {
  through_opencl(state, transpose::case_study(), "blocked", sides(state));
}
void transpose_global(benchmark::State& state) {
  through_opencl(state, transpose::case_study(), "global", sides(state));
}
void transpose_openmp(benchmark::State& state) {
  through_openmp(state, transpose::case_study(), sides(state), transposed_aligned);
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({1440, 1440})->Args({4096, 4096})->Args({4096, 4032})->Args({4001, 3001});
  benchmark->UseRealTime()->Unit(benchmark::kMicrosecond);
}
BENCHMARK(transpose_blocked)->Apply(shapes);
BENCHMARK(transpose_global)->Apply(shapes);
BENCHMARK(transpose_openmp)->Apply(shapes);

}  // namespace
