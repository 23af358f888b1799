// Every way to launch a kernel. Prints "right" if all arguments arrived.
#include <cstdio>
#include <tuple>

#include "launches.cuh"  // a launch in a header

template <class T, int factor, int more = 1>
__global__ void scale(T* out, T in) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in * factor * more;
}
__global__ void plain(int* out, int value = 7) { out[threadIdx.x] = value; }
__global__ void with_pointer(int* out, const int* null, float* also) {
  out[threadIdx.x] = null == nullptr && also == nullptr ? 11 : 0;
}
namespace names {
namespace inner {
template <class T>
struct Kernels {
  static void go(int* out) { launch<int>(out); }
  template <class U>
  static void launch(int* out) {
    scale<U, 3><<<1, 4>>>(out, 5);
  }
};
__global__ void kernel(int* out) { out[threadIdx.x] = 13; }
}  // namespace inner
}  // namespace names

__global__ void overloaded(int* out) { out[threadIdx.x] = 17; }
__global__ void overloaded(int* out, int, int) { out[threadIdx.x] = 19; }
template <class Function>
__global__ void calls(int* out, Function function) {
  out[threadIdx.x] = function(int(threadIdx.x));
}
template <class... Values>
void launch_pack(int* out, Values... values) {
  overloaded<<<1, 4>>>(out, values...);
}
__global__ void aligned(int* out) {
  __shared__ alignas(16) int bytes[64];
  __shared__ __align__(8) char more[3];
  extern __shared__ alignas(alignof(double)) unsigned char dynamic[];
  bytes[threadIdx.x] = 23;
  more[0] = 1;
  dynamic[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = bytes[(threadIdx.x + 1) % 4];
}

__device__ int number_of(const dim3& thread) { return int(thread.x); }
__global__ void reserved_name(int* out) {
  extern __shared__ int __words[];
  const dim3 whole(threadIdx), same = threadIdx;
  __words[number_of(threadIdx)] = 29 + number_of(whole) - number_of(same);
  __syncthreads();
  out[threadIdx.x] = __words[3 - threadIdx.x];
}

struct Words {
  int* volatile begin;  // the destructor's store remains
  ~Words() { begin = nullptr; }
};
__global__ void fills(Words words, int value) { words.begin[threadIdx.x] = value; }
__global__ void launches(int* out, int value) { fills<<<1, 4>>>(Words{out}, value); }

struct Pair {
  unsigned first, second;
};
__global__ void with_braces(int* out, Pair pair, Pair zero, const int* null) {
  out[threadIdx.x] = null == nullptr ? int(pair.first + pair.second + zero.first) : 0;
}

#define LAUNCH(kernel, ...) kernel<<<__VA_ARGS__>>>
#define TIMES(statement) \
  do {                   \
    statement;           \
  } while (0)
#define CONFIGURATION <<<1, 4>>>

int failures = 0;
void expect(int* device, int value, int line) {
  int host[4];
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (const int element : host) failures += element != value;
  if (failures != 0) printf("line %d: %d\n", line, host[0]), failures = -100000;
  cudaMemset(device, 0, sizeof host);
}
#define EXPECT(value) expect(out, value, __LINE__)

int main() {
  int* out;
  cudaMalloc(&out, 1024);
  const char* text = "kernel<<<1, 2>>>(no launch)";
  const char* raw = R"x(kernel<<<1, 2>>>(none)")x";  // kernel<<<1, 2>>>(none)
  /* kernel<<<1, 2>>>(none) */
  if (text == raw) return 1;
  const int shifted = 1 << 2 << 1, back = 256 >> 3 >> 2;
  scale<int, 2><<<dim3(1), dim3(4), 0, 0>>>(out, shifted);
  EXPECT(16);
  scale<int, (4 > 3), 2><<<1, back / 2>>>(out, 2);
  EXPECT(4);
  plain<<<1, 4>>>(out);
  EXPECT(7);
  // clang-format off
  plain<<<
      1,
      4
      >>>(out,
          8);
  // clang-format on
  EXPECT(8);
  with_pointer<<<1, 4>>>(out, NULL, 0);
  EXPECT(11);
  names::inner::Kernels<float>::go(out);
  EXPECT(15);
  ::names::inner::kernel<<<1, 4>>>(out);
  EXPECT(13);
  reserved_name<<<1, 4, 16>>>(out);
  EXPECT(29);
  overloaded<<<1, 4>>>(out);
  EXPECT(17);
  launch_pack(out, 1, 2);
  EXPECT(19);
  const int captured = 3;
  calls<<<1, 4>>>(out, [=] __device__(int) { return captured + 26; });
  EXPECT(29);
  void (*pointer)(int*, int) = plain;
  pointer<<<1, 4>>>(out, 31);
  EXPECT(31);
  void (*pointers[])(int*) = {names::inner::kernel, overloaded};
  pointers[1]<<<1, 4>>>(out);
  EXPECT(17);
  (*pointer)<<<1, 4>>>(out, 37);
  EXPECT(37);
  if (out != nullptr) (plain)<<<1, 4>>>(out, 38);
  EXPECT(38);
  LAUNCH((scale<int, 41>), 1, 4)(out, 1);
  EXPECT(41);
  TIMES((plain<<<1, 4>>>(out, 43)));
  EXPECT(43);
  plain CONFIGURATION(out, 47);
  EXPECT(47);
  [&] { plain<<<1, 4>>>(out, 53); }();
  EXPECT(53);
  int evaluated = 58;
  plain<<<1, 4>>>(out, ++evaluated);
  EXPECT(59);
  aligned<<<1, 4, 4>>>(out);
  EXPECT(23);
  launch_in_header(out);
  EXPECT(61);
  dim3 gridDim(1), blockDim(4, 1);  // hide the built-in variables
  plain<<<gridDim, blockDim>>>(out, int(blockDim.x * gridDim.x) + 63);
  EXPECT(67);
  int value = 71;
  void* arguments[] = {&out, &value};
  cudaLaunchKernel((const void*)plain, 1, 4, arguments, 0, 0);
  EXPECT(71);
  value = 73;
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(plain), dim3(1), dim3(4), arguments);
  EXPECT(73);
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 1;
  configuration.blockDim = dim3(4);
  cudaLaunchKernelEx(&configuration, plain, out, 79);
  EXPECT(79);
  fills<<<1, 4>>>(Words{out}, 83);
  EXPECT(83);
  launches<<<1, 1>>>(out, 89);
  EXPECT(89);
  with_braces<<<1, 4>>>(out, {90, shifted}, {}, 0);
  EXPECT(98);
  puts(failures == 0 ? "right" : "wrong");
  return failures != 0;
}
