// The functions of cuBLAS that are emulated. Included by the shim cublas_v2.h, which has cuBLAS's types.
#pragma once

#include <cmath>

#include <bankwise/emulator/runtime/blas.hpp>
#include <bankwise/emulator/runtime/captures.hpp>
#include <bankwise/emulator/runtime/memory.hpp>

namespace bankwise::emulator::cuda {

/// What a handle holds. What else is set has no effect on results.
struct BankwiseBlas {
  cudaStream_t stream = nullptr;
  bool scalars_in_memory = false;  ///< of the device: they are read when the function runs
};
inline BankwiseBlas& bankwise_blas(cublasHandle_t handle) {
  static BankwiseBlas other;
  return handle != nullptr ? *reinterpret_cast<BankwiseBlas*>(handle) : other;
}
inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new BankwiseBlas);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete reinterpret_cast<BankwiseBlas*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  bankwise_blas(handle).stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  bankwise_blas(handle).scalars_in_memory = mode == CUBLAS_POINTER_MODE_DEVICE;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 120800;
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "the function failed";
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_EXECUTION_FAILED";
}

/// Copies `count` rows of `width` elements, which begin `step` elements apart.
BANKWISE_DEVICE cublasStatus_t bankwise_copy(int width, int count, int bytes, const void* from, int from_step, void* to,
                                             int to_step, cudaMemcpyKind kind) {
  const auto size = size_t(bytes);
  const auto error = cudaMemcpy2D(to, size_t(to_step) * size, from, size_t(from_step) * size, size_t(width) * size,
                                  size_t(count), kind);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
BANKWISE_DEVICE cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int from_step, void* to, int step) {
  return bankwise_copy(1, n, bytes, from, from_step, to, step, cudaMemcpyHostToDevice);
}
BANKWISE_DEVICE cublasStatus_t cublasGetVector(int n, int bytes, const void* from, int from_step, void* to, int step) {
  return bankwise_copy(1, n, bytes, from, from_step, to, step, cudaMemcpyDeviceToHost);
}
BANKWISE_DEVICE cublasStatus_t cublasSetMatrix(int m, int n, int bytes, const void* from, int lda, void* to, int ldb) {
  return bankwise_copy(m, n, bytes, from, lda, to, ldb, cudaMemcpyHostToDevice);
}
BANKWISE_DEVICE cublasStatus_t cublasGetMatrix(int m, int n, int bytes, const void* from, int lda, void* to, int ldb) {
  return bankwise_copy(m, n, bytes, from, lda, to, ldb, cudaMemcpyDeviceToHost);
}

/// Runs the work of a function on the handle's stream, or keeps it for a graph.
template <class Work>
cublasStatus_t bankwise_run(cublasHandle_t handle, Work work) {
  const auto error = runtime::give_to(bankwise_blas(handle).stream, cudaGraphNodeTypeKernel, [=] {
    work();
    return cudaSuccess;
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// A factor: the value at the time of the call, or `late`, when the function runs.
template <class T>
class BlasScalar {
 public:
  BANKWISE_NOT_THE_KERNEL BlasScalar(const T* pointer) : pointer_(pointer), value_(*pointer) {}
  BANKWISE_NOT_THE_KERNEL T at(bool late) const { return late ? *pointer_ : value_; }

 private:
  const T* pointer_;
  T value_;
};

// clang-format off
// X(function, parameters, its work)
#define BANKWISE_BLAS(X, S, T)                                                                                        \
  X(S##gemv, (cublasHandle_t handle, cublasOperation_t transpose, int m, int n, BlasScalar<T> alpha, const T* a,      \
              int lda, const T* x, int step_x, BlasScalar<T> beta, T* y, int step_y),                                 \
    runtime::blas_gemv(transpose != CUBLAS_OP_N, m, n, alpha.at(late), a, lda, x, step_x, beta.at(late), y, step_y))  \
  X(S##geam, (cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, BlasScalar<T> alpha,   \
              const T* a, int lda, BlasScalar<T> beta, const T* b, int ldb, T* c, int ldc),                           \
    runtime::blas_geam(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, alpha.at(late), a, lda, beta.at(late), b, ldb, c,  \
                       ldc))                                                                                          \
  X(S##axpy, (cublasHandle_t handle, int n, BlasScalar<T> alpha, const T* x, int step_x, T* y, int step_y),           \
    runtime::blas_writes(y);                                                                                          \
    for (ptrdiff_t i = 0; i < n; ++i) y[i * step_y] += alpha.at(late) * x[i * step_x])                                \
  X(S##scal, (cublasHandle_t handle, int n, BlasScalar<T> alpha, T* x, int step_x),                                   \
    runtime::blas_writes(x);                                                                                          \
    for (ptrdiff_t i = 0; i < n; ++i) x[i * step_x] *= alpha.at(late))                                                \
  X(S##copy, (cublasHandle_t handle, int n, const T* x, int step_x, T* y, int step_y),                                \
    runtime::blas_writes(y);                                                                                          \
    for (ptrdiff_t i = 0; i < n; ++i) y[i * step_y] = x[i * step_x])                                                  \
  X(S##dot, (cublasHandle_t handle, int n, const T* x, int step_x, const T* y, int step_y, T* result),                \
    double sum = 0; /* as near as cuBLAS's sums of parts */                                                           \
    for (ptrdiff_t i = 0; i < n; ++i) sum += double(x[i * step_x]) * y[i * step_y];                                   \
    *result = T(sum))                                                                                                 \
  X(S##nrm2, (cublasHandle_t handle, int n, const T* x, int step_x, T* result),                                       \
    double sum = 0;                                                                                                   \
    for (ptrdiff_t i = 0; i < n; ++i) sum += double(x[i * step_x]) * x[i * step_x];                                   \
    *result = T(std::sqrt(sum)))                                                                                      \
  X(S##asum, (cublasHandle_t handle, int n, const T* x, int step_x, T* result),                                       \
    double sum = 0;                                                                                                   \
    for (ptrdiff_t i = 0; i < n; ++i) sum += std::abs(x[i * step_x]);                                                 \
    *result = T(sum))
#define BANKWISE_DEFINE(function, parameters, ...)                                                                    \
  BANKWISE_NOT_THE_KERNEL inline cublasStatus_t cublas##function parameters {                                         \
    return bankwise_run(handle, [=, late = bankwise_blas(handle).scalars_in_memory]() BANKWISE_NOT_THE_KERNEL {       \
      (void)late;                                                                                                     \
      __VA_ARGS__;                                                                                                    \
    });                                                                                                               \
  }
BANKWISE_BLAS(BANKWISE_DEFINE, S, float)
BANKWISE_BLAS(BANKWISE_DEFINE, D, double)
#undef BANKWISE_DEFINE
#undef BANKWISE_BLAS
// clang-format on

/// Whether cublasGemmEx() takes matrices of a type: numbers of 16, 32 and 64 bits.
inline bool bankwise_is_float(cudaDataType_t type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F;
}

/// The type of a computation, for which older programs name a type of data.
struct BankwiseCompute {
  cublasComputeType_t type;
  BankwiseCompute(cublasComputeType_t of_computation) : type(of_computation) {}
  BankwiseCompute(cudaDataType_t of_data)
      : type(of_data == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
             : of_data == CUDA_R_16F ? CUBLAS_COMPUTE_16F
             : of_data == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                     : CUBLAS_COMPUTE_32F) {}
};

/// alpha and beta have the type of the computation.
BANKWISE_NOT_THE_KERNEL inline double bankwise_scalar(const void* value, cublasComputeType_t type) {
  if (type == CUBLAS_COMPUTE_64F || type == CUBLAS_COMPUTE_64F_PEDANTIC) return *static_cast<const double*>(value);
  if (type == CUBLAS_COMPUTE_16F || type == CUBLAS_COMPUTE_16F_PEDANTIC) {
    return double(__half2float(*static_cast<const __half*>(value)));
  }
  return double(*static_cast<const float*>(value));
}

/// The matrices of one operand: a step apart, or where an array of pointers says, which is read when they are used.
struct BankwiseBatch {
  const void* first;
  const void* const* pointers;
  cudaDataType_t type;
  int ld;
  long long step;
  BANKWISE_NOT_THE_KERNEL runtime::TypedMatrix at(int i) const {
    return pointers != nullptr ? runtime::TypedMatrix{pointers[i], type, ld, 0}
                               : runtime::TypedMatrix{first, type, ld, i * step};
  }
};

/// The matrices are of half precision, bfloat16, float or double, and may differ. Sums are of float, or of double.
BANKWISE_NOT_THE_KERNEL inline cublasStatus_t bankwise_gemms(cublasHandle_t handle, cublasOperation_t ta,
                                                             cublasOperation_t tb, int m, int n, int k,
                                                             const void* alpha, BankwiseBatch a, BankwiseBatch b,
                                                             const void* beta, BankwiseBatch c, int count,
                                                             cublasComputeType_t compute) {
  if (!bankwise_is_float(a.type) || !bankwise_is_float(b.type) || !bankwise_is_float(c.type) ||
      compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const double alpha_now = bankwise_scalar(alpha, compute), beta_now = bankwise_scalar(beta, compute);
  return bankwise_run(handle, [=, late = bankwise_blas(handle).scalars_in_memory]() BANKWISE_NOT_THE_KERNEL {
    for (int i = 0; i < count; ++i) {
      runtime::blas_gemm(ta != CUBLAS_OP_N, tb != CUBLAS_OP_N, m, n, k,
                         late ? bankwise_scalar(alpha, compute) : alpha_now, a.at(i), b.at(i),
                         late ? bankwise_scalar(beta, compute) : beta_now, c.at(i));
    }
  });
}
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                                                 int m, int n, int k, const void* alpha, const void* a,
                                                 cudaDataType_t type_a, int lda, long long step_a, const void* b,
                                                 cudaDataType_t type_b, int ldb, long long step_b, const void* beta,
                                                 void* c, cudaDataType_t type_c, int ldc, long long step_c, int count,
                                                 BankwiseCompute compute, cublasGemmAlgo_t) {
  return bankwise_gemms(handle, ta, tb, m, n, k, alpha, {a, nullptr, type_a, lda, step_a},
                        {b, nullptr, type_b, ldb, step_b}, beta, {c, nullptr, type_c, ldc, step_c}, count,
                        compute.type);
}
inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                          int n, int k, const void* alpha, const void* const a[], cudaDataType_t type_a,
                                          int lda, const void* const b[], cudaDataType_t type_b, int ldb,
                                          const void* beta, void* const c[], cudaDataType_t type_c, int ldc, int count,
                                          BankwiseCompute compute, cublasGemmAlgo_t) {
  return bankwise_gemms(handle, ta, tb, m, n, k, alpha, {nullptr, a, type_a, lda, 0}, {nullptr, b, type_b, ldb, 0},
                        beta, {nullptr, c, type_c, ldc, 0}, count, compute.type);
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                                   const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                   cudaDataType_t type_c, int ldc, BankwiseCompute compute,
                                   cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c,
                                    type_c, ldc, 0, 1, compute, algorithm);
}

// clang-format off
#define BANKWISE_GEMM(S, T, type, compute)                                                                            \
  inline cublasStatus_t cublas##S##gemmStridedBatched(                                                                \
      cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha,         \
      const T* a, int lda, long long step_a, const T* b, int ldb, long long step_b, const T* beta, T* c, int ldc,     \
      long long step_c, int count) {                                                                                  \
    return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, type, lda, step_a, b, type, ldb, step_b,     \
                                      beta, c, type, ldc, step_c, count, compute, CUBLAS_GEMM_DEFAULT);               \
  }                                                                                                                   \
  inline cublasStatus_t cublas##S##gemmBatched(                                                                       \
      cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha,         \
      const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int count) {    \
    return cublasGemmBatchedEx(handle, ta, tb, m, n, k, alpha, reinterpret_cast<const void* const*>(a), type, lda,    \
                               reinterpret_cast<const void* const*>(b), type, ldb, beta,                              \
                               reinterpret_cast<void* const*>(c), type, ldc, count, compute, CUBLAS_GEMM_DEFAULT);    \
  }                                                                                                                   \
  inline cublasStatus_t cublas##S##gemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,     \
                                        int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb,       \
                                        const T* beta, T* c, int ldc) {                                               \
    return cublas##S##gemmStridedBatched(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);   \
  }
BANKWISE_GEMM(H, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
BANKWISE_GEMM(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
BANKWISE_GEMM(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
#undef BANKWISE_GEMM
// clang-format on

}  // namespace bankwise::emulator::cuda
