// SPDX-License-Identifier: MIT
//
// cuSPARSE is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using cusparseHandle_t = struct cusparseHandle_t_of_library*;
using cusparseMatDescr_t = struct cusparseMatDescr_t_of_library*;
using cusparseSpMatDescr_t = struct cusparseSpMatDescr_t_of_library*;
using cusparseDnVecDescr_t = struct cusparseDnVecDescr_t_of_library*;
using cusparseDnMatDescr_t = struct cusparseDnMatDescr_t_of_library*;
enum cusparseStatus_t { CUSPARSE_STATUS_SUCCESS, CUSPARSE_STATUS_NOT_INITIALIZED };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE };
enum cusparseMatrixType_t { CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_MATRIX_TYPE_SYMMETRIC };
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I };
enum cusparseDirection_t { CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN };

// clang-format off
#define BANKWISE_NAMES(X) \
  X(cusparseCreate) X(cusparseDestroy) X(cusparseSetStream) X(cusparseCreateMatDescr) \
  X(cusparseDestroyMatDescr) X(cusparseSetMatType) X(cusparseSetMatIndexBase) X(cusparseCreateCsr) \
  X(cusparseCreateDnVec) X(cusparseCreateDnMat) X(cusparseDestroySpMat) X(cusparseDestroyDnVec) \
  X(cusparseDestroyDnMat) X(cusparseSpMV) X(cusparseSpMV_bufferSize) X(cusparseSpMM) X(cusparseSpMM_bufferSize) \
  X(cusparseSnnz) X(cusparseSdense2csr) X(cusparseScsrmv) X(cusparseScsrmm) X(cusparseGetErrorString)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(cusparseStatus_t, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
