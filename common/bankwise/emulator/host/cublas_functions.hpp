// SPDX-License-Identifier: MIT
//
// The functions of cuBLAS that are emulated. Included by the shim cublas_v2.h, which has cuBLAS's types.
#pragma once

#include <bankwise/emulator/host/blas.hpp>
#include <bankwise/emulator/host/memory.hpp>

namespace bankwise::cuda {

// Nothing here needs the handle: there is one, and what is set has no effect on results.
#define BANKWISE_OK \
  { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  static char the_handle;
  *handle = reinterpret_cast<cublasHandle_t>(&the_handle);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) BANKWISE_OK inline cublasStatus_t
    cublasSetStream(cublasHandle_t, cudaStream_t) BANKWISE_OK inline cublasStatus_t
    cublasSetMathMode(cublasHandle_t, cublasMath_t) BANKWISE_OK inline cublasStatus_t
    cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) BANKWISE_OK  // memory is one
    inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) BANKWISE_OK inline cublasStatus_t
    cublasGetVersion(cublasHandle_t, int* version) {
  *version = 120800;
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "the function failed";
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_EXECUTION_FAILED";
}

/// Copies of `n` elements, `step` apart.
inline cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int from_step, void* to, int to_step) {
  const auto error = cudaMemcpy2D(to, size_t(to_step) * size_t(bytes), from, size_t(from_step) * size_t(bytes),
                                  size_t(bytes), size_t(n), cudaMemcpyHostToDevice);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetVector(int n, int bytes, const void* from, int from_step, void* to, int to_step) {
  const auto error = cudaMemcpy2D(to, size_t(to_step) * size_t(bytes), from, size_t(from_step) * size_t(bytes),
                                  size_t(bytes), size_t(n), cudaMemcpyDeviceToHost);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* from, int lda, void* to, int ldb) {
  const auto error = cudaMemcpy2D(to, size_t(ldb) * size_t(bytes), from, size_t(lda) * size_t(bytes),
                                  size_t(rows) * size_t(bytes), size_t(columns), cudaMemcpyHostToDevice);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* from, int lda, void* to, int ldb) {
  const auto error = cudaMemcpy2D(to, size_t(ldb) * size_t(bytes), from, size_t(lda) * size_t(bytes),
                                  size_t(rows) * size_t(bytes), size_t(columns), cudaMemcpyDeviceToHost);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// clang-format off
#define BANKWISE_BLAS(S, T)                                                                                            \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##gemm(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n,      \
                                        int k, const T* alpha, const T* a, int lda, const T* b, int ldb,               \
                                        const T* beta, T* c, int ldc) {                                                \
    emulator::host::blas_gemm(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);   \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##gemmStridedBatched(                                                                 \
      cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha,          \
      const T* a, int lda, long long step_a, const T* b, int ldb, long long step_b, const T* beta, T* c, int ldc,      \
      long long step_c, int count) {                                                                                   \
    for (int i = 0; i < count; ++i) {                                                                                  \
      cublas##S##gemm(handle, ta, tb, m, n, k, alpha, a + i * step_a, lda, b + i * step_b, ldb, beta, c + i * step_c,  \
                      ldc);                                                                                            \
    }                                                                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##gemv(cublasHandle_t, cublasOperation_t transpose, int m, int n, const T* alpha,     \
                                        const T* a, int lda, const T* x, int step_x, const T* beta, T* y,              \
                                        int step_y) {                                                                  \
    emulator::host::blas_gemv(transpose != CUBLAS_OP_N, m, n, *alpha, a, lda, x, step_x, *beta, y, step_y);            \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##geam(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n,      \
                                        const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, \
                                        int ldc) {                                                                     \
    emulator::host::blas_geam(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, *alpha, a, lda, *beta, b, ldb, c, ldc);      \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##axpy(cublasHandle_t, int n, const T* alpha, const T* x, int step_x, T* y,           \
                                        int step_y) {                                                                  \
    emulator::host::blas_axpy(n, *alpha, x, step_x, y, step_y);                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##scal(cublasHandle_t, int n, const T* alpha, T* x, int step_x) {                     \
    emulator::host::blas_scal(n, *alpha, x, step_x);                                                                   \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##copy(cublasHandle_t, int n, const T* x, int step_x, T* y, int step_y) {             \
    emulator::host::blas_copy(n, x, step_x, y, step_y);                                                                \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##dot(cublasHandle_t, int n, const T* x, int step_x, const T* y, int step_y,          \
                                       T* result) {                                                                    \
    *result = emulator::host::blas_dot(n, x, step_x, y, step_y);                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##nrm2(cublasHandle_t, int n, const T* x, int step_x, T* result) {                    \
    *result = emulator::host::blas_nrm2(n, x, step_x);                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##asum(cublasHandle_t, int n, const T* x, int step_x, T* result) {                    \
    *result = emulator::host::blas_asum(n, x, step_x);                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }
BANKWISE_BLAS(S, float)
BANKWISE_BLAS(D, double)
#undef BANKWISE_BLAS
#undef BANKWISE_OK
// clang-format on

/// Of matrices of float.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                                   const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                   cudaDataType_t type_c, int ldc, cublasComputeType_t, cublasGemmAlgo_t) {
  if (type_a != CUDA_R_32F || type_b != CUDA_R_32F || type_c != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  return cublasSgemm(handle, ta, tb, m, n, k, static_cast<const float*>(alpha), static_cast<const float*>(a), lda,
                     static_cast<const float*>(b), ldb, static_cast<const float*>(beta), static_cast<float*>(c), ldc);
}

/// The form of older programs, with a type of data for the type of the computation.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                                   const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                   cudaDataType_t type_c, int ldc, cudaDataType_t, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc,
                      CUBLAS_COMPUTE_32F, algorithm);
}

}  // namespace bankwise::cuda
