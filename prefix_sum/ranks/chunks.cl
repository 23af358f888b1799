// SPDX-License-Identifier: MIT-0
//
// Last launch of a prefix sum on several devices (reduce-then-scan): persistent work-groups scan their chunks tile by
// tile, from known offsets. The exclusive prefix sum of n words of this rank, modulo 2^32, after those of the lower
// ranks.
//
// A work-group knows the sum of everything before its chunk, and of everything up to its end, so it can run forward or
// backward. Backward, it reads first what sums.cl has read last and what the last-level cache still holds.
//
//   lanes  Each work-item sums 16 consecutive words. Without warp shuffles, a Hillis-Steele scan in local memory scans
//          these sums.
//   banks  Consecutive words: no conflict.
//
// Contract
//   launch  as many work-groups of exactly BLOCK work-items as sums.cl had
//   in      n words, 16-byte aligned; not read when n is 0
//   out     n words, 16-byte aligned; must not overlap `in`
//   sums    one word per work-group, from offsets.cl
//   totals  one word per rank: the sum of all its words; those up to `rank` are read
//   n       any, including 0
//   backward  0: each work-group from its first tile to its last; otherwise from its last to its first

#define BLOCK 512u            // work-items per work-group; a power of two
#define WORDS 16u             // per work-item
#define TILE (WORDS * BLOCK)  // words per tile

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void scan_ranks_chunks(__global const uint* restrict in, __global uint* restrict out, __global const uint* restrict sums,
                       __global const uint* restrict totals, ulong n, ulong rank, ulong backward) {
  __local uint part[BLOCK];

  const uint tid = get_local_id(0);
  // backward, the first work-groups also take the last chunks
  const ulong groups = get_num_groups(0), group = backward ? groups - 1 - get_group_id(0) : get_group_id(0);
  const ulong tiles = (n + TILE - 1) / TILE;
  const ulong first = tiles * group / groups, end = tiles * (group + 1) / groups;

  // the sum before the chunk, or up to its end
  uint known = 0;
  for (ulong r = 0; r < rank; ++r) known += totals[r];
  if (backward) {
    known += group + 1 < groups ? sums[group + 1] : totals[rank];
  } else {
    known += sums[group];
  }

  for (ulong k = 0; k < end - first; ++k) {
    const ulong tile = backward ? end - 1 - k : first + k;
    const ulong start = tile * TILE + tid * WORDS;
    // the work-item's words and their sum
    uint words[WORDS];
    uint sum = 0;
    for (uint i = 0; i < WORDS; ++i) {
      words[i] = start + i < n ? in[start + i] : 0;
      sum += words[i];
    }

    // scan the sums
    part[tid] = sum;
    for (uint step = 1; step < BLOCK; step *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint lower = tid >= step ? part[tid - step] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      part[tid] += lower;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint total = part[BLOCK - 1];
    if (backward) known -= total;
    uint offset = known + part[tid] - sum;
    if (!backward) known += total;
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read the total

    // store the results
    for (uint i = 0; i < WORDS; ++i) {
      if (start + i < n) out[start + i] = offset;
      offset += words[i];
    }
  }
}
