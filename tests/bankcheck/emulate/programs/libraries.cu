// What older programs and programs with libraries use. Prints each check that fails, and "right" if none does.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <vector>

#include "checks.cuh"

extern "C" int of_c(int value);

__global__ void legacy(int* out) {
  const int lane = threadIdx.x;
  int value = lane;
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor(value, mask);
  out[lane] = value;
  out[32 + lane] = __shfl(lane, 5);
  out[64 + lane] = __shfl_down(lane, 1) + __shfl_up(lane, 1);
  out[96 + lane] = int(__ballot(lane % 2 == 0));
  out[128 + lane] = __any(lane == 3) + 2 * __all(lane < 32) + 4 * __all(lane < 31);
  if (lane < 4) out[160 + lane] = int(__ballot(1));
}
__global__ void architecture(int* out) { *out = __CUDA_ARCH__; }
// g++ takes the address of an element of a __restrict__ pointer for a __restrict__ pointer.
__global__ void addresses(const float* __restrict__ in, float* out) {
  float value;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(&in[threadIdx.x]));
  out[threadIdx.x] = value;
}

template <class T>
std::vector<T> copy_of(const T* device, int count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}
template <class T>
T* on_device(const std::vector<T>& values) {
  T* device;
  cudaMalloc(&device, values.size() * sizeof(T));
  cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

void warps() {
  int* out;
  cudaMalloc(&out, 256 * sizeof(int));
  legacy<<<1, 32>>>(out);
  const auto host = copy_of(out, 256);
  for (int lane = 0; lane < 32; ++lane) {
    CHECK(host[lane] == 31 * 16 && host[32 + lane] == 5);
    CHECK(host[64 + lane] == (lane == 31 ? 31 : lane + 1) + (lane == 0 ? 0 : lane - 1));
    CHECK(host[96 + lane] == 0x55555555 && host[128 + lane] == 3);
    CHECK(lane >= 4 || host[160 + lane] == 15);
  }
  architecture<<<1, 1>>>(out);
  printf("architecture %d\n", copy_of(out, 1)[0]);
  float* in = on_device(std::vector<float>{1, 2, 3, 4});
  float* values;
  cudaMalloc(&values, 4 * sizeof(float));
  addresses<<<1, 4>>>(in, values);
  CHECK(copy_of(values, 4)[3] == 4);
}

// Columns of A: (1, 2), (3, 4), (5, 6); of B: (1, 2, 3), (0, 1, 0).
void products() {
  cublasHandle_t handle;
  cublasCreate(&handle);
  std::vector<__half> a, b, c(4, __float2half(1.0f));
  std::vector<__nv_bfloat16> wide_a;
  for (const float value : {1, 2, 3, 4, 5, 6}) {
    a.push_back(__float2half(value));
    wide_a.push_back(__float2bfloat16(value));
  }
  for (const float value : {1, 2, 3, 0, 1, 0}) b.push_back(__float2half(value));
  __half *da = on_device(a), *db = on_device(b), *dc = on_device(c);
  const __half one = __float2half(1.0f), two = __float2half(2.0f);
  CHECK(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, da, 2, db, 3, &two, dc, 2) ==
        CUBLAS_STATUS_SUCCESS);
  const auto product = copy_of(dc, 4);
  CHECK(__half2float(product[0]) == 24 && __half2float(product[1]) == 30);
  CHECK(__half2float(product[2]) == 5 && __half2float(product[3]) == 6);
  float* df;
  cudaMalloc(&df, 4 * sizeof(float));
  const float alpha = 1, beta = 0;
  CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, on_device(wide_a), CUDA_R_16BF, 2, db,
                     CUDA_R_16F, 3, &beta, df, CUDA_R_32F, 2, CUDA_R_32F,
                     CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  CHECK(copy_of(df, 4)[1] == 28);
  // A and B transposed, two products of one matrix of B.
  CHECK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &alpha, da, CUDA_R_16F, 2, 2, da,
                                   CUDA_R_16F, 2, 0, &beta, df, CUDA_R_32F, 1, 1, 3, CUBLAS_COMPUTE_32F,
                                   CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  const auto three = copy_of(df, 3);
  CHECK(three[0] == 5 && three[1] == 11 && three[2] == 17);
  CHECK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, da, CUDA_R_8I, 1, da, CUDA_R_8I, 1, &beta, df,
                     CUDA_R_32I, 1, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  // Arrays of pointers: two products of a row and a column.
  const double unit = 1;
  double* dd = on_device(std::vector<double>{1, 2, 3, 4, 5, 6, 7});
  const double** left = on_device(std::vector<const double*>{dd, dd + 2});
  const double** right = on_device(std::vector<const double*>{dd + 1, dd});
  double** sums = on_device(std::vector<double*>{dd + 6, dd + 5});
  CHECK(cublasDgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &unit, left, 2, right, 2, &unit, sums, 1, 2) ==
        CUBLAS_STATUS_SUCCESS);
  const auto batch = copy_of(dd, 7);
  CHECK(batch[6] == 7 + 1 * 2 + 3 * 3 && batch[5] == 6 + 3 * 1 + 5 * 2);
  const __half** halves = on_device(std::vector<const __half*>{da, da + 2});
  float** floats = on_device(std::vector<float*>{df, df + 1});
  CHECK(cublasGemmBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &alpha, (const void**)halves, CUDA_R_16F, 2,
                            (const void**)halves, CUDA_R_16F, 2, &beta, (void**)floats, CUDA_R_32F, 1, 2,
                            CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  CHECK(copy_of(df, 2)[0] == 5 && copy_of(df, 2)[1] == 25);
}

int main() {
  warps();
  products();
  CHECK(of_c(20) == 41);
  return checked();
}
