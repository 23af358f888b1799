// What programs commonly compare their kernels with is emulated in whole programs; a call of another function of cuBLAS
// is an error that names it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <library_types.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

#define CUBLAS_API_H_  // by which helper_cuda.h knows of it

namespace bankwise::emulator::cuda {

BANKWISE_HANDLES(cublasHandle_t)
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
using cublasStatus = cublasStatus_t;
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC,
  CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F_PEDANTIC, CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I_PEDANTIC,
  CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_32F_FAST_16BF, CUBLAS_COMPUTE_32F_FAST_TF32
};
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1, CUBLAS_GEMM_ALGO2,
  CUBLAS_GEMM_ALGO3, CUBLAS_GEMM_ALGO4, CUBLAS_GEMM_ALGO5, CUBLAS_GEMM_ALGO6, CUBLAS_GEMM_ALGO7, CUBLAS_GEMM_ALGO8,
  CUBLAS_GEMM_ALGO9, CUBLAS_GEMM_ALGO10, CUBLAS_GEMM_ALGO11, CUBLAS_GEMM_ALGO12, CUBLAS_GEMM_ALGO13,
  CUBLAS_GEMM_ALGO14, CUBLAS_GEMM_ALGO15, CUBLAS_GEMM_ALGO16, CUBLAS_GEMM_ALGO17, CUBLAS_GEMM_ALGO18,
  CUBLAS_GEMM_ALGO19, CUBLAS_GEMM_ALGO20, CUBLAS_GEMM_ALGO21, CUBLAS_GEMM_ALGO22, CUBLAS_GEMM_ALGO23,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99
};

BANKWISE_NONE_OF(cublasStatus_t, cublasGetStream, cublasGetMathMode, cublasGetPointerMode, cublasSetAtomicsMode,
                 cublasSetVectorAsync, cublasGetVectorAsync, cublasSetMatrixAsync, cublasGetMatrixAsync, cublasInit,
                 cublasShutdown, cublasSgemmEx, cublasAxpyEx, cublasDotEx, cublasScalEx, cublasNrm2Ex,
                 cublasGemmGroupedBatchedEx, cublasSger, cublasDger, cublasSsymm, cublasDsymm, cublasStrsm, cublasDtrsm,
                 cublasStrsv, cublasDtrsv, cublasStrmm, cublasDtrmm, cublasSsyrk, cublasDsyrk, cublasSdgmm, cublasDdgmm,
                 cublasSswap, cublasDswap, cublasSgetrfBatched, cublasDgetrfBatched, cublasSgetriBatched,
                 cublasDgetriBatched, cublasSmatinvBatched, cublasDmatinvBatched, cublasIsamax, cublasIdamax,
                 cublasIsamin, cublasIdamin, cublasScnrm2, cublasCgemm, cublasZgemm, cublasCgemv, cublasZgemv,
                 cublasCgeam, cublasCdotc)

}  // namespace bankwise::emulator::cuda

#ifdef BANKWISE_WHOLE_PROGRAM
#include <bankwise/emulator/runtime/cublas_functions.hpp>
#endif
