// SPDX-License-Identifier: MIT-0
//
// Words of several kinds, each with different work: every warp first puts the indices of its words into a list per
// kind, and then processes one list after the other, so its lanes do not diverge.
//
//   lanes  A lane looks at every LANES-th word of its warp and draws its place in the list. Later lane l takes the
//          entries l, l + LANES ... of each list, as far as that reaches.
//   banks  Lanes with the same kind draw from one word, one after the other. The lists begin in the same bank: entries
//          of different kinds meet in a bank by chance.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block, of which the first WORDS are read
//   out     WORDS words per block: each word after k + 1 rounds of the work, where k, its kind, is the word modulo
//           KINDS

namespace more_kinds_detail {

constexpr unsigned BLOCK = 256;            // threads
constexpr unsigned LANES = 32;             // of a warp
constexpr unsigned WARPS = BLOCK / LANES;  // each works for itself
constexpr unsigned SLICE = 4096;           // words of input per block
constexpr unsigned WORDS = 1024;           // looked at
constexpr unsigned SHARE = WORDS / WARPS;  // words of a warp
constexpr unsigned KINDS = 4;

static __device__ unsigned work(unsigned word, unsigned kind) {
  for (unsigned round = 0; round <= kind; ++round) word = word * 0x9E3779B1u + (word >> 15);
  return word;
}

}  // namespace more_kinds_detail

__global__ void __launch_bounds__(more_kinds_detail::BLOCK)
    more_kinds(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  using namespace more_kinds_detail;
  __shared__ unsigned lists[WARPS][KINDS][SHARE];
  __shared__ unsigned lengths[WARPS][KINDS];

  const unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE + warp * SHARE;
  unsigned* to = out + size_t(blockIdx.x) * WORDS + warp * SHARE;

  if (lane < KINDS) lengths[warp][lane] = 0;
  __syncwarp();
  for (unsigned first = 0; first < SHARE; first += LANES) {
    const unsigned i = first + lane;
    const unsigned kind = from[i] % KINDS;
    const unsigned place = atomicAdd(&lengths[warp][kind], 1u);
    lists[warp][kind][place] = i;
  }
  __syncwarp();
  for (unsigned kind = 0; kind < KINDS; ++kind) {
    const unsigned length = lengths[warp][kind];
    for (unsigned entry = lane; entry < length; entry += LANES) {
      const unsigned i = lists[warp][kind][entry];
      to[i] = work(from[i], kind);
    }
  }
}
