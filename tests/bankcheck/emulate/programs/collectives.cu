// CUB's collectives of a block and of a warp. Prints "right" if their results are.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>

constexpr int T = 128, I = 4;

__global__ void blocks(const int* in, int* out, int* sum) {
  using Load = cub::BlockLoad<int, T, I, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, T, I, cub::BLOCK_STORE_TRANSPOSE>;
  using Scan = cub::BlockScan<int, T, cub::BLOCK_SCAN_WARP_SCANS>;
  using Sort = cub::BlockRadixSort<int, T, I>;
  using Reduce = cub::BlockReduce<int, T>;
  using Exchange = cub::BlockExchange<int, T, I>;
  using Histogram = cub::BlockHistogram<int, T, I, 64>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
    typename Exchange::TempStorage exchange;
    typename Histogram::TempStorage histogram;
  } s;
  __shared__ int bins[64];
  int v[I];
  Load(s.load).Load(in + blockIdx.x * T * I, v);
  __syncthreads();
  Sort(s.sort).Sort(v);
  __syncthreads();
  Exchange(s.exchange).BlockedToStriped(v);
  __syncthreads();
  Exchange(s.exchange).StripedToBlocked(v);
  __syncthreads();
  int total = Reduce(s.reduce).Sum(v);
  if (threadIdx.x == 0) sum[blockIdx.x] = total;
  int b[I];
  for (int i = 0; i < I; ++i) b[i] = v[i] & 63;
  __syncthreads();
  Histogram(s.histogram).Histogram(b, bins);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&sum[64 + threadIdx.x], bins[threadIdx.x]);
  Scan(s.scan).InclusiveSum(v, v);
  __syncthreads();
  Store(s.store).Store(out + blockIdx.x * T * I, v);
}
__global__ void warps(int* out) {
  using Scan = cub::WarpScan<int>;
  using Sort = cub::WarpMergeSort<int, 2, 32>;
  struct Less {
    __device__ bool operator()(int a, int b) const { return a < b; }
  };
  __shared__ typename Scan::TempStorage s[2];
  __shared__ typename Sort::TempStorage m[2];
  int x = threadIdx.x, y;
  Scan(s[threadIdx.x / 32]).ExclusiveSum(x, y);
  int k[2] = {int(threadIdx.x * 7 % 64), int(threadIdx.x * 5 % 64)};
  Sort(m[threadIdx.x / 32]).Sort(k, Less());
  out[threadIdx.x] = y + k[0] * 100000;
}
int main() {
  const int blocks_n = 4, n = blocks_n * T * I;
  static int h[n], r[n], sums[128];
  srand(1);
  for (int i = 0; i < n; ++i) h[i] = rand() % 1000;
  int *in, *out, *sum;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMalloc(&sum, sizeof sums);
  cudaMemset(sum, 0, sizeof sums);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  blocks<<<blocks_n, T>>>(in, out, sum);
  cudaMemcpy(r, out, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy(sums, sum, sizeof sums, cudaMemcpyDeviceToHost);
  bool ok = true;
  int bins[64] = {};
  for (int b = 0; b < blocks_n; ++b) {
    std::sort(h + b * T * I, h + (b + 1) * T * I);
    int s = 0;
    for (int i = 0; i < T * I; ++i) {
      ++bins[h[b * T * I + i] & 63];
      s += h[b * T * I + i];
      if (r[b * T * I + i] != s) ok = false;
    }
    if (sums[b] != s) ok = false;
  }
  for (int i = 0; i < 64; ++i) ok &= bins[i] == sums[64 + i];
  warps<<<1, 64>>>(out);
  cudaMemcpy(r, out, 256, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 64; ++i) {
    int before = 0, smallest[64];
    for (int k = i / 32 * 32; k < i; ++k) before += k;
    for (int k = 0; k < 32; ++k) {
      smallest[2 * k] = (i / 32 * 32 + k) * 7 % 64;
      smallest[2 * k + 1] = (i / 32 * 32 + k) * 5 % 64;
    }
    std::sort(smallest, smallest + 64);
    ok &= r[i] == before + smallest[2 * (i % 32)] * 100000;
  }
  puts(ok ? "right" : "wrong");
}
