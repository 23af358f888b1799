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
       "nvcc merges the four consecutive stores of the first level into one `STS.128`. This store takes 4 passes per "
       "warp instead of 16, which saves 96 passes per block. nvcc also merges the last four loads, of one lane, into "
       "one `LDS.128`, which takes 1 pass instead of 4. Between the first stores and the last loads, loads and stores "
       "alternate, so nvcc merges nothing there."},
      {"reduction",
       "packed",
       {100, 0, 80, 0, 0, 0},
       {97, 0, 80, 0, 0, 0},
       "nvcc merges the last four loads, of one lane at a constant address, into one `LDS.128`, which takes 1 pass "
       "instead of 4. nvcc merges no other loads: a record has 20 bytes, so nvcc cannot prove that another address is "
       "a multiple of 16."},
      {"reduction",
       "streaming",
       {2, 0, 16, 0, 0, 0},
       {2, 0, 16, 0, 0, 0},
       "The kernel makes 16 stores of one lane each. In each of three runs the counter read one more pass, and "
       "counted it as a conflict. For `single_pass`, which makes the same stores, the counter read no extra pass in "
       "any run."},
      {"prefix_sum",
       "naive",
       {413, 316, 318, 241, 0, 0},
       {397, 300, 302, 225, 0, 0},
       "`tree[2 * tid]` and `tree[2 * tid + 1]` are neighbours. Two separate accesses take 2 passes each per warp. "
       "nvcc unrolls the loops, and merges the two accesses into one `LDS.64` or `STS.64`, which takes 2 passes and "
       "has no conflicts. This saves 16 passes in each of five places: the first stores, the loads of the first step "
       "up, the loads and the stores of the last step down, and the last loads. The emulator merges only the first "
       "stores and the last loads, because it does not know that the loops are unrolled. In `scan_padded` padding "
       "separates the two words, so nvcc cannot merge them."},
      {"more_kernels",
       "queue",
       {16, 0, 28, 0, 243, 216},
       {16, 0, 28, 0, 243, 216},
       "All lanes add 1 to the same counter and use the result. nvcc lets one lane add for all lanes of the warp "
       "(`VOTE`, `POPC`, `SHFL` around one `ATOMS`), as the source of `more_queue_aggregated` does. The hardware "
       "therefore counts 27 atomics of one lane each."},
      {"more_kernels",
       "queue_aggregated",
       {16, 0, 28, 0, 27, 0},
       {16, 0, 28, 0, 27, 0},
       "The order of the warps determines where in the queue each warp stores its words, and therefore in which "
       "banks. The hardware counted 29 to 34 store passes in six runs. In the emulator the warps run in the order of "
       "their numbers."},
      {"more_kernels",
       "kinds",
       {78, 0, 104, 64, 435, 403},
       {62, 0, 104, 64, 435, 403},
       "nvcc unrolls a loop over a list by four, with remainders of two and one. The unrolled code contains several "
       "copies of the load. Lanes whose lists differ in length execute different copies, which makes 14 more "
       "accesses. The emulator's second count assumes that the four loads of `lengths` by a warp are merged into "
       "one, but nvcc does not merge them."},
      {"more_kernels",
       "convolution",
       {1600, 800, 41, 0, 0, 0},
       {1600, 800, 41, 0, 0, 0},
       "nvcc unrolls the loop that fills the tile, so the code contains several copies of the store. If the lanes "
       "of a warp make different numbers of iterations, the warp executes two copies."},
  };
  return all;
}
