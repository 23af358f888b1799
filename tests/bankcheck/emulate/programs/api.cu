// The runtime API. Prints each check that fails, and "right" if none does.
#include <cmath>
#include <cstring>
#include <vector>

#include "checks.cuh"

__constant__ float coefficients[4];
__device__ int counter;
__managed__ int managed_total;

#define OK(call) CHECK((call) == cudaSuccess)

__global__ void polynomial(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = coefficients[0] + x * (coefficients[1] + x * (coefficients[2] + x * coefficients[3]));
  atomicAdd(&counter, 1);
  atomicAdd(&managed_total, int(threadIdx.x));
}
__global__ void read_texture(cudaTextureObject_t texture, const float* x, const float* y, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, x[threadIdx.x], y[threadIdx.x]);
}
__global__ void read_bytes(cudaTextureObject_t texture, float4* out) {
  out[threadIdx.x] = tex1Dfetch<float4>(texture, int(threadIdx.x));
}
__global__ void read_elements(cudaTextureObject_t texture, uchar4* out) {
  out[threadIdx.x] = tex1Dfetch<uchar4>(texture, int(threadIdx.x));
}
__global__ void read_volume(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex3D<float>(texture, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 2 + 0.5f, threadIdx.x / 8 + 0.5f);
}
__global__ void increment(cudaSurfaceObject_t surface) {
  float value;
  surf2Dread(&value, surface, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(value + 100, surface, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(-1.0f, surface, 1000, 1000, cudaBoundaryModeZero);  // nothing happens
}

void memory() {
  float *device = nullptr, *out = nullptr, host[4] = {0, 1, 2, 3}, back[4] = {};
  const float factors[4] = {1, 2, 3, 4};
  OK(cudaMalloc(&device, sizeof host));
  OK(cudaMalloc((void**)&out, sizeof host));
  CHECK(reinterpret_cast<size_t>(device) % 256 == 0);
  OK(cudaMemcpyToSymbol(coefficients, factors, sizeof factors));
  OK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, 0));
  managed_total = 5;
  polynomial<<<1, 4>>>(device, out);
  OK(cudaGetLastError());
  OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDefault));
  CHECK(back[0] == 1 && back[1] == 10 && back[2] == 49 && back[3] == 142);
  CHECK(managed_total == 11);
  int count = 0;
  OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(count == 4);
  int* address = nullptr;
  OK(cudaGetSymbolAddress((void**)&address, counter));
  OK(cudaMemset(address, 0, sizeof(int)));
  CHECK(counter == 0);

  size_t pitch = 0;
  char *rows = nullptr, plain[3 * 5], copied[3 * 5] = {};
  OK(cudaMallocPitch(&rows, &pitch, 5, 3));
  CHECK(pitch >= 5 && pitch % 256 == 0);
  for (int i = 0; i < 15; ++i) plain[i] = char(i);
  OK(cudaMemcpy2D(rows, pitch, plain, 5, 5, 3, cudaMemcpyHostToDevice));
  OK(cudaMemset2D(rows + pitch, pitch, 7, 2, 1));
  OK(cudaMemcpy2D(copied, 5, rows, pitch, 5, 3, cudaMemcpyDeviceToHost));
  plain[5] = plain[6] = 7;
  CHECK(memcmp(plain, copied, sizeof plain) == 0);

  int *managed, *pinned, *same;
  OK(cudaMallocManaged(&managed, 64));
  OK(cudaMallocHost(&pinned, 64));
  managed[3] = pinned[3] = 5;
  OK(cudaHostGetDevicePointer(&same, pinned, 0));
  CHECK(same == pinned);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, device));
  CHECK(attributes.type == cudaMemoryTypeDevice);
  OK(cudaPointerGetAttributes(&attributes, managed + 2));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  OK(cudaPointerGetAttributes(&attributes, host));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(cudaMalloc(&device, size_t(1) << 50) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(!strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation"));
  OK(cudaFree(0));
  OK(cudaFree(rows));
  OK(cudaFree(managed));
  OK(cudaFreeHost(pinned));
  OK(cudaFree(out));
}

void streams() {
  cudaStream_t stream;
  cudaEvent_t begin, end, untimed;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventRecord(begin, stream));
  int called = 0;
  OK(cudaLaunchHostFunc(
      stream, [](void* data) { ++*static_cast<int*>(data); }, &called));
  OK(cudaEventRecord(end, stream));
  OK(cudaEventRecord(untimed));
  OK(cudaStreamWaitEvent(stream, end, 0));
  OK(cudaStreamSynchronize(stream));
  float milliseconds = -1;
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(milliseconds >= 0 && called == 1);
  CHECK(cudaEventElapsedTime(&milliseconds, begin, untimed) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  OK(cudaEventQuery(end));
  OK(cudaEventDestroy(begin));
  OK(cudaStreamDestroy(stream));
}

void device() {
  int count = 0, multiprocessors = 0, shared = 0, blocks = 0, grid = 0, block = 0;
  OK(cudaGetDeviceCount(&count));
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  OK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CHECK(count == 1 && properties.warpSize == 32 && multiprocessors == properties.multiProcessorCount);
  CHECK(shared == int(properties.sharedMemPerBlockOptin));
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetP2PAttribute(&blocks, cudaDevP2PAttrAccessSupported, 0, 1) == cudaErrorInvalidDevice);
  cudaGetLastError();
  OK(cudaFuncSetAttribute(polynomial, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  CHECK(cudaFuncSetAttribute(polynomial, cudaFuncAttributeMaxDynamicSharedMemorySize, shared + 1) != cudaSuccess);
  cudaGetLastError();
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, polynomial, 1024, 0));
  CHECK(blocks == properties.maxThreadsPerMultiProcessor / 1024);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, polynomial));
  CHECK(block % 32 == 0 && grid >= multiprocessors);
  printf("%s %d.%d\n", properties.name, properties.major, properties.minor);
}

float sampled(cudaArray_t array, cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized, float x,
              float y) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalized;
  how.borderColor[0] = -9;
  cudaTextureObject_t texture = 0;
  OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float *place, *out, result = 0;
  cudaMallocManaged(&place, 8);
  cudaMallocManaged(&out, 4);
  place[0] = x;
  place[1] = y;
  read_texture<<<1, 1>>>(texture, place, place + 1, out);
  result = *out;
  cudaFree(place);
  cudaFree(out);
  OK(cudaDestroyTextureObject(texture));
  return result;
}

void textures() {
  // 4 x 2 texels: 0 1 2 3, 10 11 12 13
  const float texels[8] = {0, 1, 2, 3, 10, 11, 12, 13};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  OK(cudaMallocArray(&array, &format, 4, 2, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 2, cudaMemcpyHostToDevice));
  const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
  CHECK(sampled(array, cudaAddressModeClamp, point, false, 2.9f, 1.0f) == 12);
  CHECK(sampled(array, cudaAddressModeClamp, point, false, -3, 9) == 10);
  CHECK(sampled(array, cudaAddressModeBorder, point, false, 4, 0) == -9);
  CHECK(sampled(array, cudaAddressModeWrap, point, false, 5.5f, 0) == 3);  // clamps: not normalized
  CHECK(sampled(array, cudaAddressModeWrap, point, true, 1.3f, 0) == 1);
  CHECK(sampled(array, cudaAddressModeWrap, point, true, -0.1f, 0) == 3);
  CHECK(sampled(array, cudaAddressModeMirror, point, true, 1.1f, 0) == 3);
  CHECK(sampled(array, cudaAddressModeMirror, point, true, -0.3f, 0) == 1);
  CHECK(sampled(array, cudaAddressModeClamp, linear, false, 1.5f, 0.5f) == 1);
  CHECK(sampled(array, cudaAddressModeClamp, linear, false, 2, 1) == 6.5f);
  CHECK(sampled(array, cudaAddressModeClamp, linear, false, 0, 0.5f) == 0);
  // Weights have 8 fractional bits: 0.3 is 77/256.
  CHECK(sampled(array, cudaAddressModeClamp, linear, false, 0.8f, 0.5f) == 77 / 256.0f);

  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  increment<<<1, dim3(4, 2)>>>(surface);
  float back[8];
  OK(cudaMemcpy2DFromArray(back, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) CHECK(back[i] == texels[i] + 100);
  OK(cudaFreeArray(array));

  const uchar4 bytes[2] = {{0, 51, 255, 102}, {255, 0, 0, 1}};
  uchar4 *linear_memory, *elements;
  float4* normalized;
  cudaMallocManaged(&linear_memory, sizeof bytes);
  cudaMallocManaged(&normalized, 32);
  cudaMallocManaged(&elements, 8);
  memcpy(linear_memory, bytes, sizeof bytes);
  cudaResourceDesc memory{};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = linear_memory;
  memory.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  memory.res.linear.sizeInBytes = sizeof bytes;
  cudaTextureDesc how{};
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &memory, &how, nullptr));
  read_elements<<<1, 2>>>(texture, elements);
  CHECK(memcmp(elements, bytes, sizeof bytes) == 0);
  how.readMode = cudaReadModeNormalizedFloat;
  OK(cudaCreateTextureObject(&texture, &memory, &how, nullptr));
  read_bytes<<<1, 2>>>(texture, normalized);
  CHECK(normalized[0].x == 0 && normalized[0].y == 0.2f && normalized[0].z == 1 && normalized[1].x == 1);

  cudaArray_t volume;
  const cudaExtent extent = make_cudaExtent(4, 2, 2);
  OK(cudaMalloc3DArray(&volume, &format, extent));
  float box[16], *out;
  for (int i = 0; i < 16; ++i) box[i] = float(i * i);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(box, 16, 4, 2);
  copy.dstArray = volume;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  resource.res.array.array = volume;
  how = {};
  OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  cudaMallocManaged(&out, sizeof box);
  read_volume<<<1, 16>>>(texture, out);
  CHECK(memcmp(out, box, sizeof box) == 0);
}

int main() {
  memory();
  streams();
  device();
  textures();
  OK(cudaDeviceSynchronize());
  return checked();
}
