// SPDX-License-Identifier: MIT-0
//
// Pairs of kernels: `k` asks for a cure that is no layout, and `k_cured` has it. The others, `k_not_...`, look like
// `k`, but the cure is none for them. Blocks have 256 threads unless a comment says otherwise.
#pragma once

#include <cstdint>

// --- Wider accesses ---

__global__ void sum_of_four(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < 4; ++k) sum += in[4 * i + k];
  out[i] = sum;
}
__global__ void sum_of_four_cured(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 four = reinterpret_cast<const float4*>(in)[i];
  out[i] = four.x + four.y + four.z + four.w;
}
/// Two lines, one for each word.
__global__ void complex_product(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float real = in[2 * i];
  const float imaginary = in[2 * i + 1];
  out[i] = real * imaginary;
}
__global__ void complex_product_cured(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 both = reinterpret_cast<const float2*>(in)[i];
  out[i] = both.x * both.y;
}
/// One word of four is not loaded.
__global__ void sum_not_of_four(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < 3; ++k) sum += in[4 * i + k];
  out[i] = sum;
}
/// All lanes walk down one column of a matrix whose rows are 11 words long: its words lie everywhere in cache lines.
__global__ void sum_not_of_neighbours(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < 64; ++k) sum += in[11 * k];
  out[i] = sum;
}
/// Four words of each lane in shared memory, with a store between two loads.
__global__ void shared_fours(const float* in, float* out) {
  __shared__ float words[1024];
  const unsigned i = threadIdx.x;
  for (unsigned k = 0; k < 4; ++k) words[i + 256 * k] = in[i + 256 * k];
  __syncthreads();
  for (unsigned k = 0; k < 4; ++k) {
    const float old = words[4 * i + k];
    words[4 * i + k] = 2 * old;
  }
  __syncthreads();
  for (unsigned k = 0; k < 4; ++k) out[i + 256 * k] = words[i + 256 * k];
}
__global__ void shared_fours_cured(const float* in, float* out) {
  __shared__ float words[1024];
  const unsigned i = threadIdx.x;
  for (unsigned k = 0; k < 4; ++k) words[i + 256 * k] = in[i + 256 * k];
  __syncthreads();
  const float4 old = reinterpret_cast<const float4*>(words)[i];
  reinterpret_cast<float4*>(words)[i] = make_float4(2 * old.x, 2 * old.y, 2 * old.z, 2 * old.w);
  __syncthreads();
  for (unsigned k = 0; k < 4; ++k) out[i + 256 * k] = words[i + 256 * k];
}

// --- Shuffles ---

__global__ void block_sum(const float* in, float* out) {
  __shared__ float sums[256];
  const unsigned i = threadIdx.x;
  sums[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (i < half) sums[i] += sums[i + half];
    __syncthreads();
  }
  if (i == 0) out[blockIdx.x] = sums[0];
}
__global__ void block_sum_cured(const float* in, float* out) {
  __shared__ float sums[256];
  const unsigned i = threadIdx.x;
  sums[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (unsigned half = 128; half > 32; half /= 2) {
    if (i < half) sums[i] += sums[i + half];
    __syncthreads();
  }
  if (i >= 32) return;
  float sum = sums[i] + sums[i + 32];
  for (unsigned half = 16; half > 0; half /= 2) sum += __shfl_down_sync(~0U, sum, half);
  if (i == 0) out[blockIdx.x] = sum;
}
/// Interleaved addressing.
template <unsigned n>
__global__ void tree_sum(const float* in, float* out) {
  __shared__ float sums[256];
  const unsigned i = threadIdx.x;
  sums[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (unsigned s = 1; s < n; s *= 2) {
    const unsigned at = 2 * s * i;
    if (at + s < n) sums[at] += sums[at + s];
    __syncthreads();
  }
  if (i == 0) out[blockIdx.x] = sums[0];
}
/// Its partial sums are results, too.
__global__ void tree_sum_not_alone(const float* in, float* out) {
  __shared__ float sums[256];
  const unsigned i = threadIdx.x;
  sums[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (unsigned s = 1; s < 256; s *= 2) {
    const unsigned at = 2 * s * i;
    if (at < 256) sums[at] += sums[at + s];
    __syncthreads();
  }
  out[blockIdx.x * 256 + i] = sums[i];
}
/// Lanes exchange words with lanes of another warp in every step.
__global__ void block_sum_not_in_warps(const float* in, float* out) {
  __shared__ float sums[256];
  const unsigned i = threadIdx.x;
  sums[i] = in[blockIdx.x * 256 + i];
  for (unsigned distance = 128; distance >= 32; distance /= 2) {
    __syncthreads();
    const float other = sums[i ^ distance];
    __syncthreads();
    sums[i] += other;
  }
  __syncthreads();
  out[blockIdx.x * 256 + i] = sums[255 - i];
}
/// Which lane stores the words depends on data. 32 threads.
__global__ void block_search_not_by_owners(const unsigned* in, unsigned* out) {
  __shared__ unsigned at;
  const unsigned i = threadIdx.x;
  if (i == 0) at = 0;
  for (unsigned step = 0; step < 16; ++step) {
    __syncthreads();
    const unsigned from = at;
    __syncthreads();
    if (in[step] % 32 == i) at = from + i;
  }
  __syncthreads();
  out[blockIdx.x * 32 + i] = at;
}
/// Each lane loads what it has stored itself.
__global__ void own_words_not_exchanged(const float* in, float* out) {
  __shared__ float words[256];
  const unsigned i = threadIdx.x;
  words[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  out[blockIdx.x * 256 + i] = words[i];
}

// --- Registers ---

__global__ void scaled(const float* in, float* out) {
  __shared__ float scale[1];
  __shared__ float words[256];
  const unsigned i = threadIdx.x;
  if (i == 0) scale[0] = in[0];
  words[i] = in[i];
  for (unsigned step = 0; step < 16; ++step) {
    __syncthreads();
    const float next = words[(i + 32) % 256];
    __syncthreads();
    words[i] = next * scale[0];
  }
  out[blockIdx.x * 256 + i] = words[i];
}
__global__ void scaled_cured(const float* in, float* out) {
  __shared__ float scale[1];
  __shared__ float words[256];
  const unsigned i = threadIdx.x;
  if (i == 0) scale[0] = in[0];
  words[i] = in[i];
  float kept = 0;
  for (unsigned step = 0; step < 16; ++step) {
    __syncthreads();
    const float next = words[(i + 32) % 256];
    __syncthreads();
    if (step == 0) kept = scale[0];
    words[i] = next * kept;
  }
  out[blockIdx.x * 256 + i] = words[i];
}
/// The word changes before each load.
__global__ void scaled_not_by_one_word(const float* in, float* out) {
  __shared__ float scale[1];
  const unsigned i = threadIdx.x;
  float word = in[i];
  for (unsigned step = 0; step < 16; ++step) {
    __syncthreads();
    if (i == step) scale[0] = word;
    __syncthreads();
    word *= scale[0];
  }
  out[blockIdx.x * 256 + i] = word;
}
/// All lanes load one word, but each time another.
__global__ void scaled_not_again(const float* in, float* out) {
  __shared__ float scales[256];
  const unsigned i = threadIdx.x;
  scales[i] = in[i];
  __syncthreads();
  float word = in[i];
  for (unsigned step = 0; step < 256; ++step) word *= scales[step];
  out[blockIdx.x * 256 + i] = word;
}

/// All lanes load the same words again and again, but these are too many for registers.
__global__ void scaled_not_by_few_words(const float* in, float* out) {
  __shared__ float scales[256];
  const unsigned i = threadIdx.x;
  scales[i] = in[i];
  float word = in[i];
  for (unsigned step = 0; step < 16; ++step) {
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) word *= scales[k];
  }
  out[blockIdx.x * 256 + i] = word;
}

// --- Atomics ---

__global__ void total(const unsigned* in, unsigned* out) { atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]); }
__global__ void total_cured(const unsigned* in, unsigned* out) {
  unsigned sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(~0U, sum, half);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
/// Every lane has a word of its own.
__global__ void total_not_of_lanes(const unsigned* in, unsigned* out) {
  atomicAdd(&out[threadIdx.x], in[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void shared_total(const unsigned* in, unsigned* out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void shared_total_cured(const unsigned* in, unsigned* out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  unsigned part = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = 16; half > 0; half /= 2) part += __shfl_xor_sync(~0U, part, half);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, part);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
/// `copies` copies of a histogram of 32 bins, as the cure describes them.
template <unsigned bins, unsigned copies>
__device__ void count_words(const unsigned* in, unsigned* out) {
  __shared__ unsigned counts[bins * copies];
  for (unsigned i = threadIdx.x; i < bins * copies; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (unsigned k = threadIdx.x; k < 4096; k += blockDim.x) {
    atomicAdd(&counts[in[k] % bins * copies + threadIdx.x % copies], 3U);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) {
    unsigned sum = 0;
    // A bin's copies lie side by side, so neighbouring lanes begin with different ones.
    for (unsigned c = 0; c < copies; ++c) sum += counts[i * copies + (i / (32 / copies) + c) % copies];
    out[blockIdx.x * bins + i] = sum;
  }
}
__global__ void histogram_of_32(const unsigned* in, unsigned* out) { count_words<32, 1>(in, out); }
__global__ void histogram_of_32_cured(const unsigned* in, unsigned* out) { count_words<32, 32>(in, out); }
/// Few lanes share one of so many bins.
__global__ void histogram_not_of_few(const unsigned* in, unsigned* out) { count_words<2048, 1>(in, out); }

// --- Roles of threadIdx.x and .y, in blocks of 32 x 32, 16 x 16 or 32 x 8 threads ---

__global__ void add_one(const float* in, float* out, unsigned columns) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  out[row * columns + column] = in[row * columns + column] + 1;
}
__global__ void add_one_cured(const float* in, float* out, unsigned columns) {
  const unsigned row = blockIdx.x * blockDim.y + threadIdx.y, column = blockIdx.y * blockDim.x + threadIdx.x;
  out[row * columns + column] = in[row * columns + column] + 1;
}
/// What one access gains, the other loses.
__global__ void add_one_not_exchanged(const float* in, float* out, unsigned columns) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  out[column * columns + row] = in[row * columns + column] + 1;
}
/// threadIdx.y counts planes, and no index is that of a row's elements.
__global__ void add_one_not_in_rows(const float* in, float* out, unsigned columns) {
  const unsigned row = threadIdx.x, plane = threadIdx.y;
  for (unsigned column = 0; column < 32; ++column) {
    const unsigned i = (plane * 32 + row) * columns + column;
    out[i] = in[i] + 1;
  }
}

// --- Structures ---

struct Particle {
  float x, y, z, mass, charge;
};
__global__ void masses(const Particle* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i].mass * in[i].x;
}
/// `count` masses, and then as many coordinates.
__global__ void masses_cured(const float* in, float* out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * in[count + i];
}
/// Each lane loads far more than one structure has.
__global__ void masses_not_within_structures(const float* in, float* out) {
  const unsigned i = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < 32; ++k) sum += in[5 * i + k];
  out[i] = sum;
}
/// Each step has another distance.
__global__ void masses_not_of_structures(const float* in, float* out) {
  const unsigned i = threadIdx.x;
  float sum = 0;
  for (unsigned distance = 2; distance <= 16; distance *= 2) sum += in[distance * i];
  out[i] = sum;
}
/// Its double keeps pads at multiples of 8 bytes, so no pad spreads the weights over all banks.
struct Sample {
  double value;
  float weight, unused;
};
__global__ void shared_samples(const float* in, float* out) {
  __shared__ Sample all[256];
  const unsigned i = threadIdx.x;
  all[i].value = double(in[i]);
  all[i].weight = in[i + 256];
  __syncthreads();
  out[i] = float(all[255 - i].value) + all[255 - i].weight;
}
__global__ void shared_samples_cured(const float* in, float* out) {
  __shared__ double values[256];
  __shared__ float weights[256];
  const unsigned i = threadIdx.x;
  values[i] = double(in[i]);
  weights[i] = in[i + 256];
  __syncthreads();
  out[i] = float(values[255 - i]) + weights[255 - i];
}
/// A pad of one word is as good.
__global__ void shared_vectors_not_by_member(const float* in, float* out) {
  __shared__ float4 all[256];
  const unsigned i = threadIdx.x;
  all[i].x = in[i];
  all[i].w = in[i + 256];
  __syncthreads();
  out[i] = all[255 - i].x + all[i].w;
}
/// Whole elements are stored.
__global__ void shared_vectors_not_of_members(const float* in, float* out) {
  __shared__ float4 all[256];
  const unsigned i = threadIdx.x;
  all[i] = make_float4(in[i], 1, 2, in[i + 256]);
  __syncthreads();
  out[i] = all[255 - i].x;
}
