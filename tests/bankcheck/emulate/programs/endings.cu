#include <unistd.h>  // the program does what its argument names: faults and ends of programs
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void past_the_end(float* out, int where) { out[where + threadIdx.x] = 1; }
struct Owner {
  float* word;
  ~Owner() { cudaFree(word); }
};
__global__ void adds(Owner owner, int where) { atomicAdd(owner.word + where * threadIdx.x, 1.0F); }
__global__ void frees() {
  float* own;
  cudaMalloc(&own, 4);
  *own = 1;
  cudaFree(own);
}
__global__ void races(int* out) {
  __shared__ int words[64];
  words[threadIdx.x] = 1;
  out[threadIdx.x] = words[63 - threadIdx.x];
}

int main(int count, char** arguments) {
  const char* ending = count > 1 ? arguments[1] : "";
  const auto is = [&](const char* name) { return strcmp(ending, name) == 0; };
  float *in, *out, host[256];
  cudaMalloc(&in, 4 * 4096);
  cudaMalloc(&out, 4 * 4096);
  if (!is("atomic")) transpose<<<4, dim3(32, 32)>>>(in, out);  // a fault can be in the first step of the first kernel
  if (is("exit")) exit(0);
  if (is("code")) return 5;
  if (is("abort")) abort();
  if (is("_Exit")) _Exit(0);
  if (is("twice")) cudaFree(out), cudaFree(out);
  if (is("inside")) cudaFree(out + 1);
  if (is("host")) cudaFree(host);
  if (is("copy")) cudaMemcpy(out, host, 4 * 4097, cudaMemcpyHostToDevice);
  if (is("read")) cudaMemcpy(host, out + 4000, 4 * 128, cudaMemcpyDeviceToHost);
  if (is("freed")) cudaFree(out), cudaMemset(out, 0, 4);
  if (is("direction")) cudaMemcpy(host, out, 4, cudaMemcpyHostToDevice);
  if (is("kernel")) past_the_end<<<1, 32>>>(out, 4090);
  if (is("launch")) past_the_end<<<1, 2048>>>(out, 0);
  if (is("race")) races<<<1, 64>>>(reinterpret_cast<int*>(out));
  if (is("use_after_free")) cudaFree(out), past_the_end<<<1, 32>>>(out, 0);
  if (is("host_read")) printf("%f\n", out[2]);
  if (is("host_write")) *out = 1;
  Owner owner{in};
  if (is("argument")) adds<<<2, 64>>>(owner, 0);
  if (is("temporary")) adds<<<2, 64>>>(Owner{out}, 0);
  int where = 0;
  void* values[]{&owner, &where};
  if (is("list")) cudaLaunchKernel(reinterpret_cast<void*>(adds), 2, 64, values);
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = 2, configuration.blockDim = 64;
  if (is("values")) cudaLaunchKernelEx(&configuration, adds, owner, 0);
  if (is("own")) frees<<<2, 64>>>();
  if (is("atomic")) adds<<<1, 2>>>(owner, 4096);
  const char* fresh[]{"PATH=/bin:/usr/bin", nullptr};
  if (is("execute")) execl("/bin/true", "true", nullptr);
  if (is("execute_fresh")) execle("/bin/true", "true", nullptr, fresh);
  if (is("execute_cleared")) clearenv(), printf("%d\n", system("true"));
  if (is("execute_through_env")) printf("%d\n", system("env -i true"));
  printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
}
