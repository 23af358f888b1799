// SPDX-License-Identifier: MIT
#include <bankwise/emulator/host/blas.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include <bankwise/emulator/host/allocations.hpp>

namespace bankwise::emulator::host {
namespace {

std::size_t at(int row, int column, int rows) {
  return std::size_t(column) * std::size_t(rows) + std::size_t(row);
}
std::size_t at(int i, int step) {
  return std::size_t(i) * std::size_t(step);
}

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

}  // namespace bankwise::emulator::host
