// Inline PTX and tensor cores: what they compute, what they access, and which mistakes they show.
#include <mma.h>

#include <random>
#include <vector>
#include "tests/catch_any.hpp"

#include <bankwise/trace/report.hpp>
#include "tests/emulator/kernel_tests.hpp"

namespace {

using bankwise::emulate;  // and not all of bankwise, whose namespace cuda is not the program's
using bankwise::banks::Operation;
namespace emulator = bankwise::emulator;
namespace wmma = nvcuda::wmma;

// --- PTX ---

__global__ void memory_ptx(const float* in, float* out) {
  __shared__ alignas(16) float tile[32 * 4];
  __shared__ unsigned counter;
  const unsigned t = threadIdx.x;
  const auto address = unsigned(__cvta_generic_to_shared(&tile[4 * t]));
  float a, b, c, d;
  if (t == 0) counter = 0;
  PTX("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];", OUT(a), OUT(b), OUT(c), OUT(d), IN(in + 4 * t));
  PTX("st.shared.v4.f32 [%0], {%1, %2, %3, %4};", IN(address), IN(d), IN(c), IN(b), IN(a));
  PTX("bar.sync 0;");
  PTX("red.shared.add.u32 [%0], 1;", IN(unsigned(__cvta_generic_to_shared(&counter))));
  PTX("ld.shared.f32 %0, [%1+4];", OUT(a), IN(unsigned(__cvta_generic_to_shared(&tile[4 * (t ^ 1)]))));
  PTX("st.global.cs.f32 [%0], %1;", IN(out + t), IN(a));
  PTX("bar.sync 0;");
  unsigned old;
  PTX("atom.shared.add.u32 %0, [%1], %2;", OUT(old), IN(unsigned(__cvta_generic_to_shared(&counter))), IN(2u));
  PTX("shfl.sync.bfly.b32 %0, %1, 16, 31, 0xffffffff;", OUT(old), IN(old));
  out[32 + t] = float(old);
}

__global__ void copy_ptx(const float* in, float* out) {
  __shared__ alignas(16) float tile[128], zeros[32];
  const auto to = unsigned(__cvta_generic_to_shared(&tile[4 * threadIdx.x]));
  PTX("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global.L2::128B [%0], [%1], 16; }", IN(to),
      IN(in + 4 * threadIdx.x), IN(int(threadIdx.x != 5)));
  PTX("cp.async.ca.shared.global [%0], [%1], 4, %2;", IN(unsigned(__cvta_generic_to_shared(&zeros[threadIdx.x]))),
      IN(in), IN(threadIdx.x == 5 ? 0 : 4));
  if (threadIdx.x == 5) PTX("st.shared.f32 [%0], %1;", IN(to), IN(0.0f));
  PTX("cp.async.commit_group;");
  PTX("cp.async.wait_group %0;", IN(0));
  __syncthreads();
  out[threadIdx.x] = tile[4 * (31 - threadIdx.x)] + zeros[5];
}

// --- tensor cores ---

constexpr unsigned rows = 16, columns = 8, depth = 16;

/// ldmatrix and mma.sync as a GEMM uses them; B lies in memory by rows, so it is transposed while it is loaded.
__global__ void product_16_8_16(const __half* a, const __half* b, const float* c, float* d) {
  __shared__ alignas(16) __half tile_a[rows][depth], tile_b[depth][columns];
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < rows * depth; i += 32) tile_a[i / depth][i % depth] = a[i];
  for (unsigned i = t; i < columns * depth; i += 32) tile_b[i / columns][i % columns] = b[i];
  __syncthreads();
  unsigned ra[4], rb[2];
  PTX("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];", OUT(ra[0]), OUT(ra[1]), OUT(ra[2]),
      OUT(ra[3]), IN(unsigned(__cvta_generic_to_shared(&tile_a[t % 16][t / 16 * 8]))));
  PTX("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];", OUT(rb[0]), OUT(rb[1]),
      IN(unsigned(__cvta_generic_to_shared(&tile_b[t % 16][0]))));
  float r[4];
  const unsigned row = t / 4, column = t % 4 * 2;
  for (unsigned i = 0; i < 4; ++i) r[i] = c[(row + i / 2 * 8) * columns + column + i % 2];
  PTX("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};",
      BOTH(r[0]), BOTH(r[1]), BOTH(r[2]), BOTH(r[3]), IN(ra[0]), IN(ra[1]), IN(ra[2]), IN(ra[3]), IN(rb[0]), IN(rb[1]));
  for (unsigned i = 0; i < 4; ++i) d[(row + i / 2 * 8) * columns + column + i % 2] = r[i];
}

/// Stores four matrices and loads them transposed.
__global__ void matrices_there_and_back(unsigned* out) {
  __shared__ alignas(16) unsigned short tile[32][8];
  const unsigned t = threadIdx.x;
  unsigned r[4];
  for (unsigned i = 0; i < 4; ++i) r[i] = (t * 2 + 64 * i) | (t * 2 + 64 * i + 1) << 16;
  const auto address = unsigned(__cvta_generic_to_shared(&tile[t][0]));
  PTX("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};", IN(address), IN(r[0]), IN(r[1]), IN(r[2]),
      IN(r[3]));
  __syncwarp();
  PTX("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];", OUT(r[0]), OUT(r[1]), OUT(r[2]),
      OUT(r[3]), IN(address));
  for (unsigned i = 0; i < 4; ++i) out[4 * t + i] = r[i];
}

template <class T, int m, int n, int k, class C, class LayoutA, class LayoutB>
__global__ void fragments(const wmma::detail::Stored<T>* a, const wmma::detail::Stored<T>* b, C* d,
                          wmma::layout_t layout) {
  using Stored = wmma::detail::Stored<T>;
  __shared__ alignas(32) Stored tile_a[m * k], tile_b[k * n];
  __shared__ alignas(32) C tile_d[m * n];
  for (int i = int(threadIdx.x); i < m * k; i += 32) tile_a[i] = a[i];
  for (int i = int(threadIdx.x); i < n * k; i += 32) tile_b[i] = b[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, C> fc;
  wmma::fill_fragment(fc, C(1));
  wmma::load_matrix_sync(fa, tile_a, std::is_same_v<LayoutA, wmma::row_major> ? k : m);
  wmma::load_matrix_sync(fb, tile_b, std::is_same_v<LayoutB, wmma::row_major> ? n : k);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] + fc.x[i];
  wmma::store_matrix_sync(tile_d, fc, layout == wmma::mem_row_major ? n : m, layout);
  __syncthreads();
  for (int i = int(threadIdx.x); i < m * n; i += 32) d[i] = tile_d[i];
}

template <class T, int m, int n, int k, class C, class LayoutA, class LayoutB>
bankwise::trace::KernelTrace check_fragments(wmma::layout_t layout) {
  using Stored = wmma::detail::Stored<T>;
  std::mt19937 random(4);
  std::vector<Stored> a(m * k), b(k * n);
  for (auto& x : a) x = Stored(int(random() % 9) - 4);
  for (auto& x : b) x = Stored(int(random() % 9) - 4);
  std::vector<C> d(m * n);
  const auto trace = emulate(fragments<T, m, n, k, C, LayoutA, LayoutB>, {.grid = 1, .block = 32}, a.data(), b.data(),
                             d.data(), layout);
  unsigned wrong = 0;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 1;
      for (int i = 0; i < k; ++i) {
        const int at_a = std::is_same_v<LayoutA, wmma::row_major> ? row * k + i : i * m + row;
        const int at_b = std::is_same_v<LayoutB, wmma::row_major> ? i * n + column : column * k + i;
        sum += double(float(a[std::size_t(at_a)])) * double(float(b[std::size_t(at_b)]));
      }
      const int at = layout == wmma::mem_row_major ? row * n + column : column * m + row;
      wrong += double(float(d[std::size_t(at)])) != 2 * sum;
    }
  }
  CHECK(wrong == 0);
  return trace;
}

}  // namespace

TEST_CASE("emulator/tensor_cores/ptx_accesses") {
  const auto in = numbers(128);
  std::vector<float> out(64);
  const auto trace = emulate(memory_ptx, {.grid = 1, .block = 32}, in.data(), out.data());
  CHECK(out[0] == in[4 + 2]);
  CHECK(out[32 + 16] == 32 + 2 * 0);
  CHECK(out[32] == 32 + 2 * 16);
  CHECK(count_of(trace, Operation::store, 16) == 1);
  CHECK(count_of(trace, Operation::atomic_inc) == 1);
  CHECK(count_of(trace, Operation::atomic) == 1);
  CHECK(count_of(trace, Operation::load) == 1);

  const auto copied = emulate(copy_ptx, {.grid = 1, .block = 32}, in.data(), out.data());
  CHECK(out[31] == in[0]);
  CHECK(out[31 - 5] == 0);
  CHECK(count_of(copied, Operation::cp_async) == 1);
  CHECK(count_of(copied, Operation::cp_async_cg) == 1);
}

TEST_CASE("emulator/tensor_cores/ldmatrix_and_mma") {
  std::mt19937 random(3);
  std::vector<__half> a(rows * depth), b(depth * columns);
  std::vector<float> c(rows * columns), d(rows * columns);
  for (auto& x : a) x = __half(int(random() % 33) - 16);
  for (auto& x : b) x = __half(int(random() % 33) - 16);
  for (auto& x : c) x = float(random() % 100);
  const auto trace = emulate(product_16_8_16, {.grid = 1, .block = 32}, a.data(), b.data(), c.data(), d.data());
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      float sum = c[row * columns + column];
      for (unsigned k = 0; k < depth; ++k) sum += float(a[row * depth + k]) * float(b[k * columns + column]);
      CHECK(d[row * columns + column] == sum);
    }
  }
  CHECK(count_of(trace, Operation::ldmatrix_x4) == 1);
  CHECK(count_of(trace, Operation::ldmatrix_x2) == 1);

  std::vector<unsigned> out(128);
  const auto stored = emulate(matrices_there_and_back, {.grid = 1, .block = 32}, out.data());
  // Lane 4 row + column / 2 has elements (row, column); transposed, lane 1 has those of rows 2 and 3 of column 0.
  CHECK(out[4 * 1] == (16u | 24u << 16));
  CHECK(out[4 * 5 + 3] == ((192u + 17) | (192u + 25) << 16));
  CHECK(count_of(stored, Operation::stmatrix_x4) == 1);
}

TEST_CASE("emulator/tensor_cores/wmma") {
  using wmma::col_major;
  using wmma::row_major;
  const auto halves = check_fragments<__half, 16, 16, 16, float, row_major, row_major>(wmma::mem_row_major);
  CHECK(count_of(halves, Operation::ldmatrix_x4) == 2);
  CHECK(count_of(halves, Operation::store, 8) == 4);
  check_fragments<__half, 16, 16, 16, __half, col_major, col_major>(wmma::mem_col_major);
  check_fragments<__nv_bfloat16, 16, 16, 16, float, row_major, col_major>(wmma::mem_col_major);
  check_fragments<__half, 32, 8, 16, float, col_major, row_major>(wmma::mem_row_major);
  check_fragments<__half, 8, 32, 16, float, row_major, col_major>(wmma::mem_row_major);
  check_fragments<wmma::precision::tf32, 16, 16, 8, float, row_major, row_major>(wmma::mem_row_major);
  check_fragments<signed char, 16, 16, 16, int, row_major, col_major>(wmma::mem_row_major);
  check_fragments<double, 8, 8, 4, double, row_major, col_major>(wmma::mem_row_major);
}
