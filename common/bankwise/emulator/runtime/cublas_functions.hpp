// SPDX-License-Identifier: MIT
//
// The functions of cuBLAS that are emulated. Included by the shim cublas_v2.h, which has cuBLAS's types.
#pragma once

#include <bankwise/emulator/runtime/blas.hpp>
#include <bankwise/emulator/runtime/memory.hpp>

namespace bankwise::emulator::cuda {

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
    runtime::blas_gemm(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);   \
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
    runtime::blas_gemv(transpose != CUBLAS_OP_N, m, n, *alpha, a, lda, x, step_x, *beta, y, step_y);            \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##geam(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n,      \
                                        const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, \
                                        int ldc) {                                                                     \
    runtime::blas_geam(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, *alpha, a, lda, *beta, b, ldb, c, ldc);      \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##axpy(cublasHandle_t, int n, const T* alpha, const T* x, int step_x, T* y,           \
                                        int step_y) {                                                                  \
    runtime::blas_axpy(n, *alpha, x, step_x, y, step_y);                                                        \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##scal(cublasHandle_t, int n, const T* alpha, T* x, int step_x) {                     \
    runtime::blas_scal(n, *alpha, x, step_x);                                                                   \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##copy(cublasHandle_t, int n, const T* x, int step_x, T* y, int step_y) {             \
    runtime::blas_copy(n, x, step_x, y, step_y);                                                                \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##dot(cublasHandle_t, int n, const T* x, int step_x, const T* y, int step_y,          \
                                       T* result) {                                                                    \
    *result = runtime::blas_dot(n, x, step_x, y, step_y);                                                       \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##nrm2(cublasHandle_t, int n, const T* x, int step_x, T* result) {                    \
    *result = runtime::blas_nrm2(n, x, step_x);                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##S##asum(cublasHandle_t, int n, const T* x, int step_x, T* result) {                    \
    *result = runtime::blas_asum(n, x, step_x);                                                                 \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }
BANKWISE_BLAS(S, float)
BANKWISE_BLAS(D, double)
#undef BANKWISE_BLAS
#undef BANKWISE_OK
// clang-format on

/// Whether cublasGemmEx() takes matrices of a type: numbers of 16, 32 and 64 bits.
inline bool bankwise_is_float(cudaDataType_t type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F;
}

/// alpha and beta have the type of the computation.
BANKWISE_NOT_THE_KERNEL inline double bankwise_scalar(const void* value, cublasComputeType_t type) {
  if (type == CUBLAS_COMPUTE_64F || type == CUBLAS_COMPUTE_64F_PEDANTIC) return *static_cast<const double*>(value);
  if (type == CUBLAS_COMPUTE_16F || type == CUBLAS_COMPUTE_16F_PEDANTIC) {
    return double(__half2float(*static_cast<const __half*>(value)));
  }
  return double(*static_cast<const float*>(value));
}

/// The matrices are of half precision, bfloat16, float or double, and may differ. Sums are of float, or of double.
BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const void* alpha, const void* a,
    cudaDataType_t type_a, int lda, long long step_a, const void* b, cudaDataType_t type_b, int ldb, long long step_b,
    const void* beta, void* c, cudaDataType_t type_c, int ldc, long long step_c, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  if (!bankwise_is_float(type_a) || !bankwise_is_float(type_b) || !bankwise_is_float(type_c) ||
      compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  for (int i = 0; i < count; ++i) {
    runtime::blas_gemm_of_types(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k, bankwise_scalar(alpha, compute),
                                {a, type_a, lda, i * step_a}, {b, type_b, ldb, i * step_b},
                                bankwise_scalar(beta, compute), {c, type_c, ldc, i * step_c});
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                                   const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                   cudaDataType_t type_c, int ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c,
                                    type_c, ldc, 0, 1, compute, algorithm);
}

/// The form of older programs, with a type of data for the type of the computation.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                                   const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                   cudaDataType_t type_c, int ldc, cudaDataType_t compute, cublasGemmAlgo_t algorithm) {
  const cublasComputeType_t type = compute == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                   : compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                   : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                           : CUBLAS_COMPUTE_32F;
  return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, type,
                      algorithm);
}

inline cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                                                int m, int n, int k, const __half* alpha, const __half* a, int lda,
                                                long long step_a, const __half* b, int ldb, long long step_b,
                                                const __half* beta, __half* c, int ldc, long long step_c, int count) {
  return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F, lda, step_a, b, CUDA_R_16F, ldb,
                                    step_b, beta, c, CUDA_R_16F, ldc, step_c, count, CUBLAS_COMPUTE_16F,
                                    CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                  int k, const __half* alpha, const __half* a, int lda, const __half* b, int ldb,
                                  const __half* beta, __half* c, int ldc) {
  return cublasHgemmStridedBatched(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

}  // namespace bankwise::emulator::cuda
