// SPDX-License-Identifier: MIT
//
// Accesses where the device compiler emitted other instructions than the source has, according to its machine code
// (cuobjdump -sass, nvcc 13.0, sm_90). The emulator counts the accesses of the source, and a second time as a device
// compiler may merge them: what that compiler could unroll and prove, the lanes' addresses show only in part.
#include "counters.hpp"

const std::vector<Difference>& known_differences() {
  static const std::vector<Difference> all{
      {"reduction",
       "naive",
       {276, 176, 264, 184, 0, 0},
       {273, 176, 168, 88, 0, 0},
       "the four consecutive stores of the first level became one `STS.128`: 4 passes per warp instead of 16, "
       "which is 96 fewer per block. The last four loads, of one lane, became one `LDS.128`: 1 pass instead of 4. In "
       "the tree between them loads and stores alternate, and nothing is merged."},
      {"reduction",
       "packed",
       {100, 0, 80, 0, 0, 0},
       {97, 0, 80, 0, 0, 0},
       "the last four loads, of one lane at a constant address, became one `LDS.128`: 1 pass instead of 4. At 20 "
       "bytes per record, no other address is known to be a multiple of 16."},
      {"reduction",
       "streaming",
       {2, 0, 16, 0, 0, 0},
       {2, 0, 16, 0, 0, 0},
       "16 stores of one lane each. In each of three runs the counter read one more pass, as a conflict; it did so "
       "in no run of `single_pass`, which has the same stores."},
      {"prefix_sum",
       "naive",
       {413, 316, 318, 241, 0, 0},
       {397, 300, 302, 225, 0, 0},
       "`tree[2 * lane]` and `tree[2 * lane + 1]` are neighbours: where the unrolled code accesses both, the compiler "
       "emits one `LDS.64` or `STS.64`, which takes 2 passes per warp without conflicts, instead of two accesses of "
       "2 passes each. This saves 16 passes in each of five places: the first stores, the loads of the first step "
       "up, the loads and the stores of the last step down, and the last loads. The emulator merges only the first "
       "stores "
       "and the last loads: it does not know that the loop is unrolled. "
       "The padding of `padded` separates them, also for the compiler."},
      {"more_kernels",
       "queue",
       {16, 0, 28, 0, 243, 216},
       {16, 0, 28, 0, 243, 216},
       "all lanes add 1 to the same counter and use the result. The compiler lets one lane add for all of them "
       "(`VOTE`, `POPC`, `SHFL` around one `ATOMS`), like `queue_aggregated` in its source: 27 atomics of one lane "
       "each."},
      {"more_kernels",
       "queue_aggregated",
       {16, 0, 28, 0, 27, 0},
       {16, 0, 28, 0, 27, 0},
       "the order of the warps determines the positions of a warp's words in the queue, and so their banks: 29 to 34 "
       "store passes in six runs. In the emulator warps run in the order of their numbers."},
      {"more_kernels",
       "kinds",
       {78, 0, 104, 64, 435, 403},
       {62, 0, 104, 64, 435, 403},
       "the loop over a list was unrolled by four with remainders of two and one, and lanes whose lists differ in "
       "length execute different copies of the one load: 14 accesses more. A compiler could merge the loads of a "
       "warp's four "
       "lengths, but this one does not."},
      {"more_kernels",
       "convolution",
       {1600, 800, 41, 0, 0, 0},
       {1600, 800, 41, 0, 0, 0},
       "the loop that fills the tile was unrolled, and the lanes of one warp whose last iterations differ execute "
       "two copies of the one store."},
  };
  return all;
}
