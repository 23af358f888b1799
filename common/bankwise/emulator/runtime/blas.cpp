// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/blas.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <bankwise/emulator/cuda/small_float_bits.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>

namespace bankwise::emulator::runtime {
namespace {

std::size_t at(int row, int column, int rows) { return std::size_t(column) * std::size_t(rows) + std::size_t(row); }
std::size_t at(int i, int step) { return std::size_t(i) * std::size_t(step); }

template <class T>
void gemm(bool ta, bool tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c,
          int ldc) {
  // A in rows that the inner loop reads in order.
  std::vector<T> plain(std::size_t(m) * std::size_t(k));
  for (int p = 0; p < k; ++p) {
    for (int i = 0; i < m; ++i) plain[at(i, p, m)] = ta ? a[at(p, i, lda)] : a[at(i, p, lda)];
  }
  std::vector<T> column(static_cast<std::size_t>(m));
  for (int j = 0; j < n; ++j) {
    column.assign(column.size(), T(0));
    for (int p = 0; p < k; ++p) {
      const T factor = tb ? b[at(j, p, ldb)] : b[at(p, j, ldb)];
      const T* from = &plain[at(0, p, m)];
      for (std::size_t i = 0; i < column.size(); ++i) column[i] += factor * from[i];
    }
    for (int i = 0; i < m; ++i) {
      T& to = c[at(i, j, ldc)];
      to = alpha * column[std::size_t(i)] + (beta == T(0) ? T(0) : beta * to);  // C may be uninitialized
    }
  }
}

// Values of cudaDataType_t.
constexpr int type_64f = 1, type_16f = 2, type_16bf = 14, type_32f = 0;

/// The columns of a matrix of any type, one after another, as numbers of T.
template <class T>
std::vector<T> numbers_of(const TypedMatrix& matrix, int rows, int columns) {
  std::vector<T> numbers(std::size_t(rows) * std::size_t(columns));
  const auto read = [&](auto convert, auto* data) {
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) numbers[at(i, j, rows)] = T(convert(data[matrix.offset + at(i, j, matrix.ld)]));
    }
  };
  const auto same = [](auto number) { return number; };
  const auto* const small = static_cast<const std::uint16_t*>(matrix.data);
  switch (matrix.type) {
    case type_16f:
      read([](std::uint16_t bits) { return small_floats::value_of(device::FloatFormat::half, bits); }, small);
      break;
    case type_16bf:
      read([](std::uint16_t bits) { return small_floats::value_of(device::FloatFormat::bfloat16, bits); }, small);
      break;
    case type_32f: read(same, static_cast<const float*>(matrix.data)); break;
    default: read(same, static_cast<const double*>(matrix.data));
  }
  return numbers;
}

template <class T>
void put_numbers(const std::vector<T>& numbers, const TypedMatrix& matrix, int rows, int columns) {
  const auto put = [&](auto convert, auto* data) {
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) data[matrix.offset + at(i, j, matrix.ld)] = convert(numbers[at(i, j, rows)]);
    }
  };
  void* const data = const_cast<void*>(matrix.data);
  switch (matrix.type) {
    case type_16f:
      put([](T number) { return small_floats::rounded(device::FloatFormat::half, number, device::RoundingMode::rn); },
          static_cast<std::uint16_t*>(data));
      break;
    case type_16bf:
      put(
          [](T number) {
            return small_floats::rounded(device::FloatFormat::bfloat16, number, device::RoundingMode::rn);
          },
          static_cast<std::uint16_t*>(data));
      break;
    case type_32f: put([](T number) { return float(number); }, static_cast<float*>(data)); break;
    default: put([](T number) { return double(number); }, static_cast<double*>(data));
  }
}

template <class T>
void gemm_of_types(bool ta, bool tb, int m, int n, int k, T alpha, const TypedMatrix& a, const TypedMatrix& b, T beta,
                   const TypedMatrix& c) {
  const std::vector<T> left = numbers_of<T>(a, ta ? k : m, ta ? m : k),
                       right = numbers_of<T>(b, tb ? n : k, tb ? k : n);
  std::vector<T> result(std::size_t(m) * std::size_t(n));
  if (beta != T(0)) result = numbers_of<T>(c, m, n);
  gemm<T>(ta, tb, m, n, k, alpha, left.data(), ta ? k : m, right.data(), tb ? n : k, beta, result.data(), m);
  put_numbers(result, c, m, n);
}

template <class T>
void gemv(bool transpose, int m, int n, T alpha, const T* a, int lda, const T* x, int step_x, T beta, T* y,
          int step_y) {
  const int rows = transpose ? n : m, terms = transpose ? m : n;
  for (int i = 0; i < rows; ++i) {
    T sum = 0;
    for (int p = 0; p < terms; ++p) sum += (transpose ? a[at(p, i, lda)] : a[at(i, p, lda)]) * x[at(p, step_x)];
    T& to = y[at(i, step_y)];
    to = alpha * sum + (beta == T(0) ? T(0) : beta * to);
  }
}

template <class T>
void geam(bool ta, bool tb, int m, int n, T alpha, const T* a, int lda, T beta, const T* b, int ldb, T* c, int ldc) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const T left = alpha == T(0) ? T(0) : alpha * (ta ? a[at(j, i, lda)] : a[at(i, j, lda)]);
      const T right = beta == T(0) ? T(0) : beta * (tb ? b[at(j, i, ldb)] : b[at(i, j, ldb)]);
      c[at(i, j, ldc)] = left + right;
    }
  }
}

template <class T>
T dot(int n, const T* x, int step_x, const T* y, int step_y) {
  T sum = 0;
  for (int i = 0; i < n; ++i) sum += x[at(i, step_x)] * y[at(i, step_y)];
  return sum;
}

}  // namespace

void blas_gemm_of_types(bool transpose_a, bool transpose_b, int m, int n, int k, double alpha, const TypedMatrix& a,
                        const TypedMatrix& b, double beta, const TypedMatrix& c) {
  note_write(c.data);
  if (a.type == type_64f || b.type == type_64f || c.type == type_64f) {
    gemm_of_types<double>(transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c);
  } else {
    gemm_of_types<float>(transpose_a, transpose_b, m, n, k, float(alpha), a, b, float(beta), c);
  }
}

// clang-format off
#define BANKWISE_BLAS(T)                                                                                            \
  void blas_gemm(bool ta, bool tb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta,  \
                 T* c, int ldc) {                                                                                   \
    note_write(c);                                                                                                  \
    gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                                     \
  }                                                                                                                 \
  void blas_gemv(bool transpose, int m, int n, T alpha, const T* a, int lda, const T* x, int step_x, T beta, T* y,  \
                 int step_y) {                                                                                      \
    note_write(y);                                                                                                  \
    gemv(transpose, m, n, alpha, a, lda, x, step_x, beta, y, step_y);                                               \
  }                                                                                                                 \
  void blas_geam(bool ta, bool tb, int m, int n, T alpha, const T* a, int lda, T beta, const T* b, int ldb, T* c,   \
                 int ldc) {                                                                                         \
    note_write(c);                                                                                                  \
    geam(ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                                                        \
  }                                                                                                                 \
  void blas_axpy(int n, T alpha, const T* x, int step_x, T* y, int step_y) {                                        \
    note_write(y);                                                                                                  \
    for (int i = 0; i < n; ++i) y[at(i, step_y)] += alpha * x[at(i, step_x)];                                       \
  }                                                                                                                 \
  void blas_scal(int n, T alpha, T* x, int step_x) {                                                                \
    note_write(x);                                                                                                  \
    for (int i = 0; i < n; ++i) x[at(i, step_x)] *= alpha;                                                          \
  }                                                                                                                 \
  void blas_copy(int n, const T* x, int step_x, T* y, int step_y) {                                                 \
    note_write(y);                                                                                                  \
    for (int i = 0; i < n; ++i) y[at(i, step_y)] = x[at(i, step_x)];                                                \
  }                                                                                                                 \
  T blas_dot(int n, const T* x, int step_x, const T* y, int step_y) { return dot(n, x, step_x, y, step_y); }        \
  T blas_nrm2(int n, const T* x, int step_x) { return std::sqrt(dot(n, x, step_x, x, step_x)); }                    \
  T blas_asum(int n, const T* x, int step_x) {                                                                      \
    T sum = 0;                                                                                                      \
    for (int i = 0; i < n; ++i) sum += std::abs(x[at(i, step_x)]);                                                  \
    return sum;                                                                                                     \
  }
// clang-format on
BANKWISE_BLAS(float)
BANKWISE_BLAS(double)
#undef BANKWISE_BLAS

}  // namespace bankwise::emulator::runtime
