// Matrix transpose with cuBLAS geam: C = alpha A^T + beta B on floats, here with alpha = 1 and beta = 0. cuBLAS has no
// transpose of integers.
#include <cublas_v2.h>

#include <limits>
#include <map>
#include <memory>
#include <type_traits>

#include <bankwise/gpu/cuda_library.hpp>

namespace bankwise::gpu {
namespace {

void check(cublasStatus_t status, std::string_view call, CallSite where = CallSite::here()) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(call, cublasGetStatusName(status), where);
}

struct Destroy {
  void operator()(cublasHandle_t handle) const noexcept {
    if (const auto status = cublasDestroy(handle); status != CUBLAS_STATUS_SUCCESS) {
      log_failure("cublasDestroy", cublasGetStatusName(status));
    }
  }
};
using Handle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, Destroy>;

/// One handle per device and thread, created at the first use, which is never timed.
cublasHandle_t handle() {
  thread_local std::map<int, Handle> handles;
  int device = 0;
  BANKWISE_CUDA(cudaGetDevice(&device));
  Handle& mine = handles[device];
  if (!mine) {
    cublasHandle_t made = nullptr;
    check(cublasCreate(&made), "cublasCreate");
    mine.reset(made);
  }
  return mine.get();
}

std::string name() {
  const auto part = [](libraryPropertyType property) {
    int value = 0;
    check(cublasGetProperty(property, &value), "cublasGetProperty");
    return value;
  };
  return versioned("cuBLAS", part(MAJOR_VERSION), part(MINOR_VERSION), part(PATCH_LEVEL));
}

std::uint64_t workspace_bytes(std::uint64_t height, std::uint64_t width) {
  constexpr std::uint64_t largest = std::numeric_limits<int>::max();
  if (height > largest || width > largest) throw Unsupported("cuBLAS geam takes fewer than 2^31 rows and columns");
  return 0;
}

// cuBLAS matrices are column-major: our height x width input is its width x height matrix A, and our output is its
// C = A^T.
void transpose(void* stream, const void* in, void* out, void*, std::uint64_t, std::uint64_t height,
               std::uint64_t width) {
  if (height == 0 || width == 0) return;  // geam reports an error for empty matrices
  const float one = 1, zero = 0;
  const int rows = int(height), columns = int(width);
  check(cublasSetStream(handle(), static_cast<cudaStream_t>(stream)), "cublasSetStream");
  check(cublasSgeam(handle(), CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, static_cast<const float*>(in), columns,
                    &zero, nullptr, rows, static_cast<float*>(out), rows),
        "cublasSgeam");
}

}  // namespace

extern const Library transpose_library{name, workspace_bytes, transpose};

}  // namespace bankwise::gpu
