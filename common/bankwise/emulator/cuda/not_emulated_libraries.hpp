// Libraries that are not emulated (cuDNN, cuFFT, cuSOLVER, cuSPARSE, NCCL, OpenGL, compilation at run
// time): programs may include their headers, but not call them.
#pragma once

#include <library_types.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>
#include <bankwise/emulator/cuda/vector_types.hpp>

// clang-format off
namespace bankwise::emulator::cuda {

BANKWISE_HANDLES(cudnnHandle_t, cudnnTensorDescriptor_t)
enum cudnnStatus_t { CUDNN_STATUS_SUCCESS, CUDNN_STATUS_NOT_INITIALIZED };
enum cudnnDataType_t { CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF };
BANKWISE_NONE_OF(cudnnStatus_t, cudnnCreate, cudnnDestroy, cudnnSetStream, cudnnGetErrorString,
                 cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor, cudnnSetTensor4dDescriptor,
                 cudnnSoftmaxForward, cudnnConvolutionForward)

using cufftHandle = int;
using cufftReal = float;
using cufftDoubleReal = double;
using cufftComplex = float2;
using cufftDoubleComplex = double2;
enum cufftResult_t {
  CUFFT_SUCCESS, CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE,
  CUFFT_INTERNAL_ERROR, CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE, CUFFT_UNALIGNED_DATA
};
using cufftResult = cufftResult_t;
enum cufftType {
  CUFFT_R2C = 0x2A, CUFFT_C2R = 0x2C, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6A, CUFFT_Z2D = 0x6C, CUFFT_Z2Z = 0x69
};
inline constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;
BANKWISE_NONE_OF(cufftResult, cufftCreate, cufftDestroy, cufftPlan1d, cufftPlan2d, cufftPlan3d, cufftPlanMany,
                 cufftMakePlan1d, cufftMakePlan2d, cufftMakePlanMany, cufftExecC2C, cufftExecR2C, cufftExecC2R,
                 cufftExecZ2Z, cufftExecD2Z, cufftExecZ2D, cufftSetStream, cufftSetWorkArea, cufftGetSize,
                 cufftEstimate1d, cufftXtSetGPUs, cufftXtMalloc, cufftXtFree, cufftXtMemcpy, cufftXtExecDescriptorC2C,
                 cufftXtExecDescriptor, cufftXtSetCallback)

BANKWISE_HANDLES(cusolverDnHandle_t)
enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS, CUSOLVER_STATUS_NOT_INITIALIZED };
BANKWISE_NONE_OF(cusolverStatus_t, cusolverDnCreate, cusolverDnDestroy, cusolverDnSetStream, cusolverDnSgetrf,
                 cusolverDnDgetrf, cusolverDnSgetrs, cusolverDnDgetrs, cusolverDnSpotrf, cusolverDnDpotrf,
                 cusolverDnSgeqrf, cusolverDnDgeqrf, cusolverDnSgesvd, cusolverDnDgesvd, cusolverDnSsyevd,
                 cusolverDnDsyevd)

BANKWISE_HANDLES(cusparseHandle_t, cusparseMatDescr_t, cusparseSpMatDescr_t, cusparseDnVecDescr_t,
                 cusparseDnMatDescr_t)
enum cusparseStatus_t { CUSPARSE_STATUS_SUCCESS, CUSPARSE_STATUS_NOT_INITIALIZED };
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE };
enum cusparseMatrixType_t { CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_MATRIX_TYPE_SYMMETRIC };
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I };
enum cusparseDirection_t { CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN };
BANKWISE_NONE_OF(cusparseStatus_t, cusparseCreate, cusparseDestroy, cusparseSetStream, cusparseCreateMatDescr,
                 cusparseDestroyMatDescr, cusparseSetMatType, cusparseSetMatIndexBase, cusparseCreateCsr,
                 cusparseCreateDnVec, cusparseCreateDnMat, cusparseDestroySpMat, cusparseDestroyDnVec,
                 cusparseDestroyDnMat, cusparseSpMV, cusparseSpMV_bufferSize, cusparseSpMM, cusparseSpMM_bufferSize,
                 cusparseSnnz, cusparseSdense2csr, cusparseScsrmv, cusparseScsrmm, cusparseGetErrorString)

BANKWISE_HANDLES(ncclComm_t)
struct ncclUniqueId {
  char internal[128];
};
enum ncclResult_t { ncclSuccess, ncclUnhandledCudaError };
enum ncclDataType_t {
  ncclInt8, ncclUint8, ncclInt32, ncclUint32, ncclInt64, ncclUint64, ncclFloat16, ncclFloat32, ncclFloat64,
  ncclBfloat16, ncclFloat = 7, ncclDouble
};
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };
BANKWISE_NONE_OF(ncclResult_t, ncclCommInitRank, ncclCommInitAll, ncclCommDestroy, ncclGetUniqueId, ncclGetErrorString,
                 ncclAllReduce, ncclReduce, ncclBroadcast, ncclReduceScatter, ncclAllGather, ncclSend, ncclRecv,
                 ncclGroupStart, ncclGroupEnd)

BANKWISE_HANDLES(nvrtcProgram)
enum nvrtcResult { NVRTC_SUCCESS, NVRTC_ERROR_COMPILATION = 6 };
BANKWISE_NONE_OF(nvrtcResult, nvrtcCreateProgram, nvrtcDestroyProgram, nvrtcCompileProgram, nvrtcGetPTX,
                 nvrtcGetPTXSize, nvrtcGetCUBIN, nvrtcGetCUBINSize, nvrtcGetProgramLog, nvrtcGetProgramLogSize,
                 nvrtcGetErrorString, nvrtcVersion)

#ifdef BANKWISE_WHOLE_PROGRAM  // unit tests have no cudaError_t
BANKWISE_HANDLES(cudaGraphicsResource_t)
using cudaGraphicsResource = struct cudaGraphicsResource_t_of_library;
enum cudaGraphicsRegisterFlags {
  cudaGraphicsRegisterFlagsNone, cudaGraphicsRegisterFlagsReadOnly, cudaGraphicsRegisterFlagsWriteDiscard,
  cudaGraphicsRegisterFlagsSurfaceLoadStore = 4, cudaGraphicsRegisterFlagsTextureGather = 8
};
enum cudaGraphicsMapFlags { cudaGraphicsMapFlagsNone, cudaGraphicsMapFlagsReadOnly, cudaGraphicsMapFlagsWriteDiscard };
BANKWISE_NONE_OF(cudaError_t, cudaGLSetGLDevice, cudaGLRegisterBufferObject, cudaGLMapBufferObject,
                 cudaGLUnmapBufferObject, cudaGLUnregisterBufferObject, cudaGraphicsGLRegisterBuffer,
                 cudaGraphicsGLRegisterImage, cudaGraphicsUnregisterResource, cudaGraphicsResourceSetMapFlags,
                 cudaGraphicsMapResources, cudaGraphicsUnmapResources, cudaGraphicsResourceGetMappedPointer,
                 cudaGraphicsSubResourceGetMappedArray)
#endif

}  // namespace bankwise::emulator::cuda
// clang-format on
