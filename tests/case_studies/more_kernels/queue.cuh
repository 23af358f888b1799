// SPDX-License-Identifier: MIT-0
//
// Finds the hard cases first, then processes them: lanes that find one put its index into a queue in shared memory, so
// whole warps do the long work together, without divergence.
//
//   lanes  A thread looks at every BLOCK-th word; those with a hard one draw a ticket. Later thread t takes the queue's
//          entries t, t + BLOCK ..., as far as it reaches.
//   banks  Tickets are drawn from one word. nvcc lets one lane draw for the whole warp; without that, one lane after
//          the other. A warp's tickets follow each other: no conflict.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block, of which the first WORDS are read
//   out     WORDS words per block: an easy word as it is, a hard one (a multiple of HARD) after the long work

namespace more_queue_detail {

constexpr unsigned BLOCK = 256;   // threads
constexpr unsigned SLICE = 4096;  // words of input per block
constexpr unsigned WORDS = 1024;  // looked at
constexpr unsigned HARD = 4;
constexpr unsigned ROUNDS = 24;  // of the long work

static __device__ unsigned long_work(unsigned word) {
  for (unsigned round = 0; round < ROUNDS; ++round) {
    word ^= word << 13;
    word ^= word >> 17;
    word ^= word << 5;
    word += round;
  }
  return word;
}

}  // namespace more_queue_detail

__global__ void __launch_bounds__(more_queue_detail::BLOCK)
    more_queue(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  using namespace more_queue_detail;
  __shared__ unsigned queue[WORDS];
  __shared__ unsigned length;

  const unsigned tid = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  unsigned* to = out + size_t(blockIdx.x) * WORDS;

  if (tid == 0) length = 0;
  __syncthreads();
  for (unsigned first = 0; first < WORDS; first += BLOCK) {
    const unsigned i = first + tid;
    const unsigned word = from[i];
    if (word % HARD == 0) {
      queue[atomicAdd(&length, 1u)] = i;
    } else {
      to[i] = word;
    }
  }
  __syncthreads();
  const unsigned hard = length;
  for (unsigned entry = tid; entry < hard; entry += BLOCK) {
    const unsigned i = queue[entry];
    to[i] = long_work(from[i]);
  }
}
