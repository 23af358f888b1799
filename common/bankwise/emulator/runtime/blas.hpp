// SPDX-License-Identifier: MIT
//
// The arithmetic behind the functions of cuBLAS that most programs compare their kernels with. No kernel runs, so
// nothing is recorded. Matrices are in column-major order.
#pragma once

#include <stddef.h>

namespace bankwise::emulator::runtime {

/// For float and double.
template <class T>
struct Blas {
  static void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
                   int ldb, T beta, T* c, int ldc);
  static void gemv(bool transpose, int m, int n, T alpha, const T* a, int lda, const T* x, int step_x, T beta, T* y,
                   int step_y);
  static void geam(bool transpose_a, bool transpose_b, int m, int n, T alpha, const T* a, int lda, T beta, const T* b,
                   int ldb, T* c, int ldc);
  static void axpy(int n, T alpha, const T* x, int step_x, T* y, int step_y);
  static void scal(int n, T alpha, T* x, int step_x);
  static void copy(int n, const T* x, int step_x, T* y, int step_y);
  static T dot(int n, const T* x, int step_x, const T* y, int step_y);
  static T nrm2(int n, const T* x, int step_x);
  static T asum(int n, const T* x, int step_x);
};

/// A matrix of numbers of 16, 32 or 64 bits; `type` is one of cudaDataType_t: CUDA_R_16F, 16BF, 32F, 64F.
struct TypedMatrix {
  const void* data;
  int type, ld;
  long long offset;  ///< where its first number lies
};
/// The same with matrices of any of these types. Sums are of float, or of double if a matrix is; each result is rounded
/// once to the type of C.
void blas_gemm_of_types(bool transpose_a, bool transpose_b, int m, int n, int k, double alpha, const TypedMatrix& a,
                        const TypedMatrix& b, double beta, const TypedMatrix& c);

}  // namespace bankwise::emulator::runtime
