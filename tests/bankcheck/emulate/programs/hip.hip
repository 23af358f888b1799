// A program of HIP: prints each check that fails, and "right" if none does. Takes no argument. Runs on waves of 64 and
// of 32 lanes.
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <rocblas/rocblas.h>

#include <cstring>

#include "checks.cuh"

#if !defined(__HIPCC__) || !defined(__HIP_PLATFORM_AMD__) || defined(__CUDACC__) || defined(__CUDA_ARCH__)
#error these are no macros of hipcc
#endif

#define HIP_CHECK(call) CHECK((call) == hipSuccess)

constexpr int threads = 64;

// --- Lanes ---

enum Row {
  sum,
  up,
  turned,
  narrow,
  first,
  second,
  swizzled,
  permuted,
  sent,
  shifted,
  quad,
  last_of_row,
  below,
  tile,
  rows
};

__global__ void lanes(int (*out)[threads], unsigned long long* masks) {
  const int t = threadIdx.x, lane = t % warpSize;
  int value = t;
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
  out[sum][t] = value;
  out[up][t] = __shfl_up(t, 1);
  out[turned][t] = __shfl_xor(t, warpSize - 1);
  out[narrow][t] = __shfl(t, 3, 8);
  out[first][t] = __builtin_amdgcn_readfirstlane(t + 5);
  out[second][t] = __builtin_amdgcn_readlane(t, warpSize - 2);
  out[swizzled][t] = __builtin_amdgcn_ds_swizzle(t, 0x041F);  // lane ^ 1
  out[permuted][t] = __builtin_amdgcn_ds_bpermute(4 * (lane ^ 5), t);
  out[sent][t] = __builtin_amdgcn_ds_permute(4 * (lane / 2), t);
  out[shifted][t] = __builtin_amdgcn_update_dpp(-1, t, 0x111, 0xF, 0xF, false);      // row_shr:1
  out[quad][t] = __builtin_amdgcn_mov_dpp(t, 0x1B, 0xF, 0xF, true);                  // quad_perm:[3,2,1,0]
  out[last_of_row][t] = __builtin_amdgcn_update_dpp(-1, t, 0x142, 0xA, 0xF, false);  // row_bcast:15 into rows 1, 3
  out[below][t] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  const auto part = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
  out[tile][t] = part.shfl(t, 15) * 100 + int(part.thread_rank());
  masks[t] = __ballot(t % 3 == 0);
  if (t % warpSize < 2) masks[threads + t] = __activemask();
  if (t == 0) {
    masks[2 * threads] = __all(t < 1) + 2 * __any(t == 7);
    masks[2 * threads + 1] = __lane_id();
  }
}

// A block of half a wave: the lanes that do not exist give 0.
__global__ void absent(int* out) {
  int value = 1;
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down(value, offset);
  out[threadIdx.x] = value;
}

void check_lanes() {
  int(*out)[threads];
  unsigned long long* masks;
  HIP_CHECK(hipMallocManaged(&out, rows * sizeof *out));
  HIP_CHECK(hipMallocManaged(&masks, (2 * threads + 2) * sizeof *masks));
  hipLaunchKernelGGL(lanes, dim3(1), dim3(threads), 0, 0, out, masks);
  HIP_CHECK(hipDeviceSynchronize());
  unsigned long long thirds = 0;
  for (int t = 0; t < threads; ++t) thirds |= (t % 3 == 0 ? 1ull : 0) << t;
  for (int t = 0; t < threads; ++t) {
    const int lane = t % warpSize, base = t - lane;
    if (lane == 0) CHECK(out[sum][t] == warpSize * (2 * base + warpSize - 1) / 2);
    CHECK(out[up][t] == (lane == 0 ? t : t - 1));
    CHECK(out[turned][t] == base + warpSize - 1 - lane);
    CHECK(out[narrow][t] == t / 8 * 8 + 3);
    CHECK(out[first][t] == base + 5);
    CHECK(out[second][t] == base + warpSize - 2);
    CHECK(out[swizzled][t] == (t ^ 1));
    CHECK(out[permuted][t] == base + (lane ^ 5));
    CHECK(out[sent][t] == (lane < warpSize / 2 ? base + 2 * lane + 1 : 0));
    CHECK(out[shifted][t] == (t % 16 == 0 ? -1 : t - 1));
    CHECK(out[quad][t] == (t ^ 3));
    CHECK(out[last_of_row][t] == (lane / 16 % 2 == 1 ? t / 16 * 16 - 1 : -1));
    CHECK(out[below][t] == lane);
    CHECK(out[tile][t] == (t / 16 * 16 + 15) * 100 + t % 16);
    CHECK(masks[t] == (warpSize == 64 ? thirds : thirds >> base & 0xFFFFFFFF));
  }
  CHECK(masks[threads] == 3);
  CHECK(masks[2 * threads] == 1);
  CHECK(masks[2 * threads + 1] == 0);
  absent<<<1, warpSize / 2>>>(out[0]);
  HIP_CHECK(hipDeviceSynchronize());
  CHECK(out[0][0] == warpSize / 2);
  HIP_CHECK(hipFree(out));
  HIP_CHECK(hipFree(masks));
}

// --- Numbers and memory ---

__constant__ int factor;

__global__ void numbers(float4* vectors, float* floats, unsigned long* counters) {
  HIP_DYNAMIC_SHARED(float, cells)
  const unsigned t = hipThreadIdx_x;
  float4 v(1.0f), w{1, 2, 3, 4};
  v += w * 2.0f;
  v = -v + make_float4(t, 0, 0, float(factor));
  vectors[t] = v;
  cells[t] = __half2float(__hmul(__float2half(1.5f), __float2half(2.0f))) + __bfloat162float(__float2bfloat16(0.5f));
  __builtin_amdgcn_s_barrier();
  floats[t] = cells[threads - 1 - t];
  unsafeAtomicAdd(&floats[threads], 1.0f);
  atomicMax(&floats[threads + 1], t / 4.0f);
  atomicMin(&floats[threads + 2], t / -4.0f);
  atomicAdd(&counters[0], 2ul);
  __hip_atomic_fetch_add(&counters[1], 3ul, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (t == 0) {
    counters[2] = __builtin_amdgcn_ubfe(0xABCDu, 4, 8);
    counters[3] = (int2(1, 2) == make_int2(1, 2)) + 2 * (uint3(5) != make_uint3(5, 5, 5));
    counters[5] = __bitextract_u32(0xABCD, 4, 8) + __bitinsert_u64(0xF000, 0x12, 4, 8);
    counters[4] = __hip_atomic_load(&counters[2], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
  }
}

void check_numbers() {
  float4* vectors;
  float* floats;
  unsigned long* counters;
  HIP_CHECK(hipMallocManaged(&vectors, threads * sizeof *vectors));
  HIP_CHECK(hipMallocManaged(&floats, (threads + 3) * sizeof *floats));
  HIP_CHECK(hipMallocManaged(&counters, 6 * sizeof *counters));
  const int seven = 7;
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &seven, sizeof seven));
  HIP_CHECK(hipMemset(floats, 0, (threads + 3) * sizeof *floats));
  HIP_CHECK(hipMemset(counters, 0, 6 * sizeof *counters));
  hipLaunchKernelGGL((numbers), 1, threads, threads * sizeof(float), 0, vectors, floats, counters);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  const float4 v = vectors[5];
  CHECK(v.x == 2 && v.y == -5 && v.z == -7 && v.w == -2);
  CHECK(floats[9] == 3.5f);
  CHECK(floats[threads] == threads);
  CHECK(floats[threads + 1] == (threads - 1) / 4.0f && floats[threads + 2] == -(threads - 1) / 4.0f);
  CHECK(counters[5] == 0xBC + 0xF120);
  CHECK(counters[0] == 2 * threads && counters[1] == 3 * threads);
  CHECK(counters[2] == 0xBC && counters[3] == 1 && counters[4] == 0xBC);
}

// Single precision cannot hold 2^24 + 1, so a sum from left to right loses all ones.
void check_blas() {
  constexpr int n = 1001;
  float *x, sum = 0, length = 0, absolute = 0;
  HIP_CHECK(hipMallocManaged(&x, n * sizeof *x));
  for (int i = 0; i < n; ++i) x[i] = i == 0 ? 4096 : 1;
  hipblasHandle_t handle;
  CHECK(hipblasCreate(&handle) == HIPBLAS_STATUS_SUCCESS);
  CHECK(hipblasSdot(handle, n, x, 1, x, 1, &sum) == HIPBLAS_STATUS_SUCCESS);
  CHECK(sum == 16778216);
  CHECK(hipblasSnrm2(handle, n, x, 1, &length) == HIPBLAS_STATUS_SUCCESS);
  CHECK(length * length > 16778200 && length * length < 16778232);
  x[0] = 16777216;
  CHECK(hipblasSasum(handle, n, x, 1, &absolute) == HIPBLAS_STATUS_SUCCESS);
  CHECK(absolute == 16778216);
  CHECK(hipblasDestroy(handle) == HIPBLAS_STATUS_SUCCESS);
}

// --- The host's functions ---

void check_host() {
  hipDeviceProp_t properties;
  HIP_CHECK(hipGetDeviceProperties(&properties, 0));
  CHECK(properties.warpSize == warpSize);
  CHECK(strncmp(properties.gcnArchName, "gfx", 3) == 0);
  int lanes_of_wave = 0;
  HIP_CHECK(hipDeviceGetAttribute(&lanes_of_wave, hipDeviceAttributeWarpSize, 0));
  CHECK(lanes_of_wave == warpSize);
  int has_images = 0, has_host_atomics = 0;
  HIP_CHECK(hipDeviceGetAttribute(&has_images, hipDeviceAttributeImageSupport, 0));
  HIP_CHECK(hipDeviceGetAttribute(&has_host_atomics, hipDeviceAttributeHostNativeAtomicSupported, 0));
  CHECK(has_images == (strncmp(properties.gcnArchName, "gfx94", 5) != 0));
  CHECK(has_host_atomics);
  printf("%s %d.%d\n", properties.gcnArchName, properties.major, properties.minor);

  int *host, *device, back[4] = {};
  hipStream_t stream;
  hipEvent_t start, stop;
  HIP_CHECK(hipHostMalloc(&host, sizeof back));
  HIP_CHECK(hipHostMalloc((void**)&device, 4, hipHostMallocDefault));
  HIP_CHECK(hipHostFree(device));
  HIP_CHECK(hipMalloc((void**)&device, sizeof back));
  HIP_CHECK(hipStreamCreate(&stream));
  HIP_CHECK(hipEventCreate(&start));
  HIP_CHECK(hipEventCreate(&stop));
  for (int i = 0; i < 4; ++i) host[i] = i * i;
  HIP_CHECK(hipEventRecord(start, stream));
  HIP_CHECK(hipMemcpyAsync(device, host, sizeof back, hipMemcpyHostToDevice, stream));
  HIP_CHECK(hipMemcpyDtoH(back, device, sizeof back));
  HIP_CHECK(hipEventRecord(stop, stream));
  HIP_CHECK(hipEventSynchronize(stop));
  float milliseconds = -1;
  HIP_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds >= 0);
  CHECK(back[3] == 9);
  HIP_CHECK(hipStreamDestroy(stream));
  HIP_CHECK(hipFree(device));
  HIP_CHECK(hipHostFree(host));
  CHECK(strcmp(hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue") == 0);
  CHECK(hipMalloc((void**)nullptr, 4) == hipErrorInvalidValue);
  CHECK(hipGetLastError() == hipErrorInvalidValue);
}

__global__ void add_to(int* to, int value) { to[threadIdx.x] += value; }

void check_graphs() {
  int *device = nullptr, host[2] = {1, 2}, back[2] = {}, value = 100;
  hipStream_t stream;
  hipGraph_t graph;
  hipGraphExec_t instance;
  hipGraphNode_t node, *nodes = nullptr;
  size_t count = 0;
  HIP_CHECK(hipMalloc(&device, sizeof host));
  HIP_CHECK(hipStreamCreate(&stream));
  HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_CHECK(hipMemcpyHtoDAsync(device, host, sizeof host, stream));
  hipLaunchKernelGGL(add_to, 1, 2, 0, stream, device, 10);
  HIP_CHECK(hipStreamEndCapture(stream, &graph));
  hipKernelNodeParams kernel{};
  void* arguments[] = {&device, &value};
  kernel.func = reinterpret_cast<void*>(add_to);
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(2);
  kernel.kernelParams = arguments;
  HIP_CHECK(hipGraphGetNodes(graph, nodes, &count));
  hipGraphNode_t captured[2];
  HIP_CHECK(hipGraphGetNodes(graph, captured, &count));
  HIP_CHECK(hipGraphAddKernelNode(&node, graph, captured + 1, 1, &kernel));
  HIP_CHECK(hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
  HIP_CHECK(hipGraphLaunch(instance, stream));
  HIP_CHECK(hipStreamSynchronize(stream));
  HIP_CHECK(hipMemcpy(back, device, sizeof back, hipMemcpyDeviceToHost));
  CHECK(count == 2 && back[0] == 111 && back[1] == 112);
  HIP_CHECK(hipGraphExecDestroy(instance));
  HIP_CHECK(hipGraphDestroy(graph));
}

// The second matrix becomes the square of the first.
void check_batches() {
  hipblasHandle_t handle;
  float *numbers, **matrices;
  HIP_CHECK(hipMallocManaged(&numbers, 8 * sizeof *numbers));
  HIP_CHECK(hipMallocManaged(&matrices, 2 * sizeof *matrices));
  for (int i = 0; i < 4; ++i) numbers[i] = float(i + 1);
  matrices[0] = numbers;
  matrices[1] = numbers + 4;
  const float one = 1, zero = 0;
  CHECK(hipblasCreate(&handle) == HIPBLAS_STATUS_SUCCESS);
  const hipblasStatus_t status = hipblasSgemmBatched(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, 2, 2, 2, &one, matrices, 2,
                                                     matrices, 2, &zero, matrices + 1, 2, 1);
  CHECK(strcmp(hipblasStatusToString(status), "success") == 0);
  CHECK(numbers[4] == 7 && numbers[5] == 10 && numbers[6] == 15 && numbers[7] == 22);
  const hipblasStride step = 4;
  CHECK(hipblasSgemmStridedBatched(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, 2, 2, 1, &one, numbers, 2, step, numbers, 1,
                                   step, &zero, numbers + 4, 2, step, 1) == HIPBLAS_STATUS_SUCCESS);
  CHECK(numbers[4] == 1 && numbers[5] == 2 && numbers[6] == 2 && numbers[7] == 4);
  int rank = 0;
  CHECK(hipDeviceGetP2PAttribute(&rank, hipDevP2PAttrPerformanceRank, 0, 1) == hipErrorInvalidDevice);
}

void check_rocblas() {
  rocblas_handle handle;
  rocblas_float *x, sum = 0;
  const rocblas_float two = 2, zero = 0;
  const rocblas_int n = 4;
  HIP_CHECK(hipMallocManaged(&x, 2 * n * sizeof *x));
  for (int i = 0; i < n; ++i) x[i] = float(i + 1);
  CHECK(rocblas_create_handle(&handle) == rocblas_status_success);
  CHECK(rocblas_sscal(handle, n, &two, x, 1) == rocblas_status_success);
  CHECK(rocblas_sdot(handle, n, x, 1, x, 1, &sum) == rocblas_status_success);
  CHECK(sum == 4 + 16 + 36 + 64);
  CHECK(rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_transpose, 2, 2, 2, &two, x, 2, x, 2, &zero,
                      x + n, 2) == rocblas_status_success);
  CHECK(x[4] == 80 && x[5] == 112 && x[6] == 112 && x[7] == 160);
  CHECK(rocblas_destroy_handle(handle) == rocblas_status_success);
}

int main() {
  check_lanes();
  check_numbers();
  check_blas();
  check_host();
  check_graphs();
  check_batches();
  check_rocblas();
  return checked();
}
