// The arithmetic behind the functions of cuBLAS that most programs compare their kernels with. No kernel runs, so
// nothing is recorded. Matrices are in column-major order.
#pragma once

#include <stddef.h>

namespace bankwise::emulator::runtime {

// For float and double.
template <class T>
void blas_gemv(bool transpose, int m, int n, T alpha, const T* a, int lda, const T* x, int step_x, T beta, T* y,
               int step_y);
template <class T>
void blas_geam(bool transpose_a, bool transpose_b, int m, int n, T alpha, const T* a, int lda, T beta, const T* b,
               int ldb, T* c, int ldc);

/// Tells that a function is about to write a vector.
void blas_writes(const void* vector);

/// A matrix of numbers of 16, 32 or 64 bits; `type` is one of cudaDataType_t: CUDA_R_16F, 16BF, 32F, 64F.
struct TypedMatrix {
  const void* data;
  int type, ld;
  long long offset;  ///< where its first number lies
};
/// The types may differ. Sums are of float, or of double if a matrix is; each result is rounded once to the type of C.
void blas_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, double alpha, const TypedMatrix& a,
               const TypedMatrix& b, double beta, const TypedMatrix& c);

}  // namespace bankwise::emulator::runtime
