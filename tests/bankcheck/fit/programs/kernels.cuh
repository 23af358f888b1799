// SPDX-License-Identifier: MIT-0
//
// Kernels as one writes them first: most have bank conflicts. Each block works on a slice of SLICE words and repeats
// its work on shared memory `rounds` times, so shared memory decides how long it takes. kernels_fixed.diff is what
// `bankcheck emulate --fixed` changes in this file; a test compares.
// The changed lines are longer than the format allows.
// clang-format off
#pragma once

#include <cstdint>

constexpr unsigned SLICE = 4096;  // words of input and of output per block

/// Product of two 16 x 16 matrices, the second one transposed. 16 x 16 threads.
__global__ void product(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ unsigned a[16][16];
  __shared__ unsigned b[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  unsigned sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    a[y][x] = from[y * 16 + x] + round;
    b[y][x] = from[256 + y * 16 + x];
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) sum += a[y][k] * b[x][k];
    __syncthreads();
  }
  out[size_t(blockIdx.x) * SLICE + y * 16 + x] = sum;
}

/// The butterflies of a radix-2 Fourier transform of 512 numbers, on integers. 256 threads.
__global__ void butterflies(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ uint2 data[512];
  const unsigned i = threadIdx.x;
  const uint2* from = reinterpret_cast<const uint2*>(in + size_t(blockIdx.x) * SLICE);
  uint2* to = reinterpret_cast<uint2*>(out + size_t(blockIdx.x) * SLICE);
  data[__brev(i) >> 23] = from[i];
  data[__brev(i + 256) >> 23] = from[i + 256];
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned half = 1; half < 512; half *= 2) {
      __syncthreads();
      const unsigned upper = 2 * i - i % half;
      const uint2 a = data[upper];
      const uint2 b = data[upper + half];
      data[upper] = make_uint2(a.x + b.x, a.y + b.y);
      data[upper + half] = make_uint2(a.x - b.x, (a.y - b.y) * 3);
    }
  }
  __syncthreads();
  to[i] = data[i];
  to[i + 256] = data[i + 256];
}

/// A bitonic sort of 512 keys. 256 threads.
__global__ void sort(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ unsigned keys[512];
  const unsigned i = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  for (unsigned round = 0; round < rounds; ++round) {
    keys[i] = from[i] * (2 * round + 1);
    keys[i + 256] = from[i + 256] * (2 * round + 1);
    for (unsigned sorted = 2; sorted <= 512; sorted *= 2) {
      for (unsigned distance = sorted / 2; distance > 0; distance /= 2) {
        __syncthreads();
        const unsigned first = 2 * i - i % distance;
        const unsigned a = keys[first], b = keys[first + distance];
        if ((a > b) == ((first & sorted) == 0)) {
          keys[first] = b;
          keys[first + distance] = a;
        }
      }
    }
    __syncthreads();
  }
  out[size_t(blockIdx.x) * SLICE + i] = keys[i];
  out[size_t(blockIdx.x) * SLICE + i + 256] = keys[i + 256];
}

/// A histogram of random words: no index removes its conflicts. 256 threads.
__global__ void histogram(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ unsigned bins[1024];
  const unsigned i = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  for (unsigned bin = i; bin < 1024; bin += 256) bins[bin] = 0;
  __syncthreads();
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned k = i; k < SLICE; k += 256) atomicAdd(&bins[(from[k] + round * 7) % 1024], k);
  }
  __syncthreads();
  for (unsigned bin = i; bin < 1024; bin += 256) out[size_t(blockIdx.x) * SLICE + bin] = bins[bin];
}

/// A stencil along rows, one row per thread, in place. 64 threads.
__global__ void stencil(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ unsigned rows[64][64];
  const unsigned i = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  for (unsigned row = 0; row < 64; ++row) rows[row][i] = from[row * 64 + i];
  __syncthreads();
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned left = rows[i][0], middle = rows[i][1];
    for (unsigned column = 1; column < 63; ++column) {
      const unsigned right = rows[i][column + 1];
      rows[i][column] = left + 2 * middle + right;
      left = middle;
      middle = right;
    }
  }
  __syncthreads();
  for (unsigned row = 0; row < 64; ++row) out[size_t(blockIdx.x) * SLICE + row * 64 + i] = rows[row][i];
}

/// A transpose of 16 x 16 elements of 16 bytes. 16 x 16 threads.
__global__ void vectors(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ uint4 tile[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  uint4 value = reinterpret_cast<const uint4*>(in + size_t(blockIdx.x) * SLICE)[y * 16 + x];
  for (unsigned round = 0; round < rounds; ++round) {
    tile[y][x] = value;
    __syncthreads();
    value = tile[x][y];
    value.x += round;
    __syncthreads();
  }
  reinterpret_cast<uint4*>(out + size_t(blockIdx.x) * SLICE)[y * 16 + x] = value;
}

static __device__ uint4 load_matrices(unsigned address) {
  uint4 value;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(address)
               : "memory");
  return value;
}

/// Tiles of 32 rows of 64 bytes, read by ldmatrix: lane l gives the address of row l. 32 threads.
__global__ void matrices64(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ uint4 tile[32][4];
  const unsigned lane = threadIdx.x;
  const uint4* from = reinterpret_cast<const uint4*>(in + size_t(blockIdx.x) * SLICE);
  for (unsigned i = 0; i < 4; ++i) tile[8 * i + lane / 4][lane % 4] = from[32 * i + lane];
  __syncthreads();
  uint4 sum = make_uint4(0, 0, 0, 0);
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned column = 0; column < 4; ++column) {
      const uint4 value = load_matrices(unsigned(__cvta_generic_to_shared(&tile[lane][column])));
      sum = make_uint4(sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w * 3 + value.w);
    }
  }
  reinterpret_cast<uint4*>(out + size_t(blockIdx.x) * SLICE)[lane] = sum;
}

/// The same with rows of 128 bytes.
__global__ void matrices128(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ uint4 tile[32][8];
  const unsigned lane = threadIdx.x;
  const uint4* from = reinterpret_cast<const uint4*>(in + size_t(blockIdx.x) * SLICE);
  for (unsigned i = 0; i < 8; ++i) tile[4 * i + lane / 8][lane % 8] = from[32 * i + lane];
  __syncthreads();
  uint4 sum = make_uint4(0, 0, 0, 0);
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned column = 0; column < 8; ++column) {
      const uint4 value = load_matrices(unsigned(__cvta_generic_to_shared(&tile[lane][column])));
      sum = make_uint4(sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w * 3 + value.w);
    }
  }
  reinterpret_cast<uint4*>(out + size_t(blockIdx.x) * SLICE)[lane] = sum;
}

/// Scores of the alignment of two texts (Needleman and Wunsch 1970), a block of 32 x 32 along its antidiagonals.
/// 32 threads.
__global__ void alignment(const unsigned* in, unsigned* out, unsigned rounds) {
  __shared__ int scores[33][33];
  __shared__ int same[32][32];
  const unsigned lane = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  for (unsigned row = 0; row < 32; ++row) same[row][lane] = int(from[row * 32 + lane] % 21) - 10;
  for (unsigned round = 0; round < rounds; ++round) {
    scores[lane + 1][0] = int(from[1024 + lane] % 100 + round);
    scores[0][lane + 1] = int(from[1056 + lane] % 100);
    if (lane == 0) scores[0][0] = 0;
    __syncwarp();
    for (unsigned diagonal = 0; diagonal < 63; ++diagonal) {
      const unsigned column = diagonal - lane;
      if (column < 32) {
        const int match = scores[lane][column] + same[lane][column];
        const int gap = max(scores[lane][column + 1], scores[lane + 1][column]) - 10;
        scores[lane + 1][column + 1] = max(match, gap);
      }
      __syncwarp();
    }
  }
  for (unsigned row = 0; row < 32; ++row) {
    out[size_t(blockIdx.x) * SLICE + row * 32 + lane] = unsigned(scores[row + 1][lane + 1]);
  }
}

struct Launch {
  const char* name;
  void (*kernel)(const unsigned*, unsigned*, unsigned);
  dim3 block;
};
static const Launch launches[] = {
    {"product", product, dim3(16, 16)}, {"butterflies", butterflies, dim3(256)}, {"sort", sort, dim3(256)},
    {"histogram", histogram, dim3(256)}, {"stencil", stencil, dim3(64)},         {"vectors", vectors, dim3(16, 16)},
    {"matrices64", matrices64, dim3(32)}, {"matrices128", matrices128, dim3(32)}, {"alignment", alignment, dim3(32)},
};
