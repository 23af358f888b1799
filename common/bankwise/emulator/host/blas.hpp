// SPDX-License-Identifier: MIT
//
// The arithmetic behind the functions of cuBLAS that most programs compare their kernels with. No kernel runs, so
// nothing is recorded. Matrices are in column-major order.
#pragma once

#include <stddef.h>

namespace bankwise::emulator::host {

// clang-format off
#define BANKWISE_BLAS(T)                                                                                            \
  void blas_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, \
                 int ldb, T beta, T* c, int ldc);                                                                   \
  void blas_gemv(bool transpose, int m, int n, T alpha, const T* a, int lda, const T* x, int step_x, T beta, T* y,  \
                 int step_y);                                                                                       \
  void blas_geam(bool transpose_a, bool transpose_b, int m, int n, T alpha, const T* a, int lda, T beta,            \
                 const T* b, int ldb, T* c, int ldc);                                                               \
  void blas_axpy(int n, T alpha, const T* x, int step_x, T* y, int step_y);                                         \
  void blas_scal(int n, T alpha, T* x, int step_x);                                                                 \
  void blas_copy(int n, const T* x, int step_x, T* y, int step_y);                                                  \
  T blas_dot(int n, const T* x, int step_x, const T* y, int step_y);                                                \
  T blas_nrm2(int n, const T* x, int step_x);                                                                       \
  T blas_asum(int n, const T* x, int step_x);
// clang-format on
BANKWISE_BLAS(float)
BANKWISE_BLAS(double)
#undef BANKWISE_BLAS

}  // namespace bankwise::emulator::host
