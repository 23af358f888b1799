// Launches that repeat earlier ones, and launches that only seem to. Prints each check that fails, and "right" if none
// does. Each launch takes longer than a millisecond: shorter ones are never compared. `repeats BLOCKS` has other sizes.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "checks.cuh"

constexpr int times = 8;
int blocks = 256, n;

__device__ int factor = 1;
__managed__ int managed_factor = 1;

__global__ void add(const int* x, const int* y, int* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = x[i] + y[i];
}
__global__ void scale(const int* x, int* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = factor * managed_factor * x[i];
}
__global__ void sum(const int* x, int* total) { atomicAdd(total, x[blockIdx.x * 256 + threadIdx.x]); }
__global__ void increment(int* x) { ++x[blockIdx.x * 256 + threadIdx.x]; }
__global__ void decrement(int* x) { --x[blockIdx.x * 256 + threadIdx.x]; }
__global__ void say(int launch) {
  if (blockIdx.x == 0 && threadIdx.x == 0) printf("launch %d\n", launch);
}
__global__ void child(int* x) { atomicAdd(x, 1); }
__global__ void parent(int* x) {
  if (blockIdx.x == 0 && threadIdx.x == 0) child<<<1, 1>>>(x);
}
__global__ void from_texture(cudaTextureObject_t texture, int* out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = tex1Dfetch<int>(texture, 0);
}
__global__ void from_pointer(const int* const* where, int* out) { out[blockIdx.x * 256 + threadIdx.x] = **where; }
__global__ void split(const float* x, float* fraction, float* whole) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  fraction[i] = modff(x[i], &whole[i]);
}
template <int by>
__global__ void add_constant(int* x) {
  x[blockIdx.x * 256 + threadIdx.x] += by;
}

int *x, *y, *out;

int first_of(const int* memory) {
  int value = 0;
  cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}
void fill(int* memory, int value) {
  const std::vector<int> values(n, value);
  cudaMemcpy(memory, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
}

/// Before a launch that would otherwise see a difference in its output.
void clear(int* memory) { cudaMemset(memory, 0, n * sizeof(int)); }

/// Four times the same.
template <class Launch>
void check_four(int line, int expected, Launch launch) {
  for (int k = 0; k < 4; ++k) {
    clear(out);
    launch();
    if (first_of(out) != expected) printf("line %d, launch %d\n", line, k), ++failures;
  }
}

struct Stepper {
  void (*kernel)(int*);
  void step(int* memory) { kernel<<<blocks, 256>>>(memory); }
};

int main(int count, char** arguments_of_main) {
  if (count > 1) blocks = atoi(arguments_of_main[1]);
  n = 256 * blocks;
  for (int** pointer : {&x, &y, &out}) cudaMalloc(pointer, n * sizeof(int));
  fill(x, 2);
  fill(y, 3);

  // Nothing changes, and then the input does.
  for (int i = 0; i < times; ++i) add<<<blocks, 256>>>(x, y, out);
  CHECK(first_of(out) == 5);
  fill(x, 10);
  add<<<blocks, 256>>>(x, y, out);
  CHECK(first_of(out) == 13);
  fill(x, 2);
  clear(out);
  for (int i = 0; i < times; ++i) add<<<blocks, 256>>>(x, y, out);
  CHECK(first_of(out) == 5);

  // The result is cleared before each launch.
  for (int i = 0; i < times; ++i) {
    clear(out);
    CHECK(first_of(out) == 0);
    sum<<<blocks, 256>>>(x, out);
    CHECK(first_of(out) == 2 * n);
  }
  sum<<<blocks, 256>>>(x, out);
  CHECK(first_of(out) == 4 * n);

  // Variables of the device, which are no arguments.
  for (int i = 1; i < times; ++i) {
    check_four(__LINE__, 2 * i * i, [&] { scale<<<blocks, 256>>>(x, out); });
    const int next = i + 1;
    cudaMemcpyToSymbol(factor, &next, sizeof next);
    managed_factor = next;
  }

  // Memory that the host writes.
  int *managed, *pinned;
  cudaMallocManaged(&managed, n * sizeof(int));
  cudaMallocHost(&pinned, n * sizeof(int));
  for (int i = 0; i < times; ++i) {
    // Through a function that the emulator does not see.
    const std::vector<int> first(n, i), second(n, 2 * i);
    memcpy(managed, first.data(), n * sizeof(int));
    memcpy(pinned, second.data(), n * sizeof(int));
    check_four(__LINE__, 3 * i, [&] { add<<<blocks, 256>>>(managed, pinned, out); });
  }

  // Each launch changes what the next one reads.
  fill(x, 0);
  for (int i = 0; i < times; ++i) increment<<<blocks, 256>>>(x);
  CHECK(first_of(x) == times);

  // One launch in the program, several kernels.
  void (*kernels[])(int*) = {increment, increment, decrement, increment};
  for (int i = 0; i < times; ++i) {
    for (void (*kernel)(int*) : kernels) kernel<<<blocks, 256>>>(x);
  }
  CHECK(first_of(x) == 3 * times);
  Stepper stepper{increment};
  for (int i = 0; i < times; ++i) {
    clear(x);
    stepper.kernel = i % 2 == 0 ? increment : decrement;
    stepper.step(x);
    CHECK(first_of(x) == (i % 2 == 0 ? 1 : -1));
  }
  void* arguments[] = {&x};
  for (int i = 0; i < times; ++i) {
    clear(x);
    cudaLaunchKernel(i % 2 == 0 ? increment : decrement, dim3(blocks), dim3(256), arguments);
    CHECK(first_of(x) == (i % 2 == 0 ? 1 : -1));
  }
  const int by = 7;
  for (int i = 0; i < times; ++i) {
    clear(x);
    add_constant<by><<<blocks, 256>>>(x);
    CHECK(first_of(x) == 7);
  }

  // A function of C, which is not instrumented, stores a result.
  constexpr int two_and_a_half = 0x40200000, two = 0x40000000;
  fill(x, two_and_a_half);
  for (int i = 0; i < times; ++i) {
    clear(out);
    CHECK(first_of(out) == 0);
    split<<<blocks, 256>>>((const float*)x, (float*)y, (float*)out);
    CHECK(first_of(out) == two);
  }

  // What a launch does besides its memory.
  for (int i = 0; i < times; ++i) say<<<blocks, 256>>>(1);
  clear(x);
  for (int i = 0; i < times; ++i) parent<<<blocks, 256>>>(x);
  CHECK(first_of(x) == times);

  // Textures that take each other's place.
  cudaArray_t arrays[2];
  const auto format = cudaCreateChannelDesc<int>();
  for (int i = 0; i < 2; ++i) {
    const int texels[4] = {i + 1, i + 1, i + 1, i + 1};
    cudaMallocArray(&arrays[i], &format, 4);
    cudaMemcpy2DToArray(arrays[i], 0, 0, texels, sizeof texels, sizeof texels, 1, cudaMemcpyHostToDevice);
  }
  for (int i = 0; i < times; ++i) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = arrays[i % 2];
    cudaTextureDesc how{};
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    check_four(__LINE__, i % 2 + 1, [&] { from_texture<<<blocks, 256>>>(texture, out); });
    cudaDestroyTextureObject(texture);
  }

  // Memory that is no memory of the device.
  int* host = new int[1];
  const int** where;
  cudaMalloc(&where, sizeof *where);
  const int* of_host = host;
  cudaMemcpy(where, &of_host, sizeof of_host, cudaMemcpyHostToDevice);
  for (int i = 0; i < times; ++i) {
    host[0] = i;
    check_four(__LINE__, i, [&] { from_pointer<<<blocks, 256>>>(where, out); });
  }
  return checked();
}
