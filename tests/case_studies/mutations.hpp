// SPDX-License-Identifier: MIT
//
// Faults that are put into the real kernels, so a test can show which layer catches each.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct Mutation {
  std::string_view name;  ///< also of the broken kernel, where it is compiled next to the intact one
  std::string_view file, kernel;
  std::vector<std::pair<std::string_view, std::string_view>> changes;  ///< text that occurs once, and its replacement
};

inline const Mutation mutations[]{
    // Caught by the emulated layer; results may be right.
    {"barrier_removed",
     "reduction/sequential.cuh",
     "reduce_sequential",
     {{"    __syncthreads();  // outside the branch: every thread must arrive\n", "\n"}}},
    {"index_unpadded",
     "prefix_sum/padded.cuh",
     "scan_padded",
     {{"tree[pad(TILE)]", "tree[TILE + TILE / BANKS]"}, {"return i + i / BANKS;", "return i;"}}},
    {"stores_out_of_bounds",
     "transpose/tile32_padded.cuh",
     "transpose_tile32_padded",
     {{"tile[r][x] = word[k]", "tile[r + 1][x] = word[k]"}}},
    // Not broken: adverse conditions that the kernel must survive.
    {"never_waits", "prefix_sum/look_back.cuh", "scan_look_back", {{"MAX_POLLS = 1024;", "MAX_POLLS = 1;   "}}},
    {"tile_3_is_silent",
     "prefix_sum/look_back.cuh",
     "scan_look_back",
     {{"MAX_POLLS = 1024;", "MAX_POLLS = 2;   "},
      {"  if (threadIdx.x == 0) publish(&statuses[tile]",
       "  if (threadIdx.x == 0 && tile != 3) publish(&statuses[tile]"},
      {"if (tile > 0) publish(&statuses[tile]", "if (tile > 0 && tile != 3) publish(&statuses[tile]"}}},
    {"ring_never_waits", "prefix_sum/ring.cuh", "scan_ring", {{"MAX_POLLS = 1024;", "MAX_POLLS = 1;   "}}},
    // Every third tile never publishes, the first among them.
    {"silent_tiles",
     "prefix_sum/look_back.cuh",
     "scan_look_back",
     {{"MAX_POLLS = 1024;", "MAX_POLLS = 2;   "},
      {"  if (threadIdx.x == 0) publish(&statuses[tile]",
       "  if (threadIdx.x == 0 && tile % 3 != 0) publish(&statuses[tile]"},
      {"if (tile > 0) publish(&statuses[tile]", "if (tile % 3 != 0) publish(&statuses[tile]"}}},
    {"ring_silent_tiles",
     "prefix_sum/ring.cuh",
     "scan_ring",
     {{"MAX_POLLS = 1024;", "MAX_POLLS = 2;   "},
      {"if (lane == 0) publish(&statuses[tile], tile == 0",
       "if (lane == 0 && tile % 3 != 0) publish(&statuses[tile], tile == 0"},
      {"if (tile > 0) publish(&statuses[tile]", "if (tile % 3 != 0) publish(&statuses[tile]"}}},
    {"opencl_never_waits",
     "prefix_sum/look_back.cl",
     "scan_look_back",
     {{"#define MAX_POLLS 1024u", "#define MAX_POLLS 1u   "}}},
    {"opencl_silent_tiles",
     "prefix_sum/look_back.cl",
     "scan_look_back",
     {{"#define MAX_POLLS 1024u", "#define MAX_POLLS 2u   "},
      {"if (get_local_id(0) == 0) atom_xchg(&statuses[tile]",
       "if (get_local_id(0) == 0 && tile % 3 != 0) atom_xchg(&statuses[tile]"},
      {"if (tile > 0) atom_xchg(&statuses[tile]", "if (tile % 3 != 0) atom_xchg(&statuses[tile]"}}},
    // A CPU's replacement for inline PTX: the copy is complete as soon as it has begun.
    {"ring_without_engine",
     "prefix_sum/ring.cuh",
     "scan_ring",
     {{R"(asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");)",
       "*barrier = 0;"},
      {"unsigned shared_address(", "__attribute__((unused)) unsigned shared_address("},
      {"static_cast<unsigned>(__cvta_generic_to_shared(pointer))", "pointer != nullptr"},
      {R"(asm volatile("fence.proxy.async.shared::cta;" ::: "memory");)", ""},
      {R"(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(TILE * 4)
               : "memory");)",
       "++*barrier;\n"},
      {R"(Word64 keep;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));)",
       "\n"},
      {R"(asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(TILE * 4), "r"(shared_address(barrier)), "l"(keep)
      : "memory");)",
       "for (unsigned i = 0; i < TILE; ++i) to[i] = from[i];\n\n\n\n"},
      {R"(asm volatile(
      "{\n"
      "  .reg .pred ended;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
      "  @!ended bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");)",
       "if (*barrier % 2 == parity) __trap();  // the copy that is waited for has not begun\n\n\n\n\n\n\n\n\n"}}},
    // Caught by compute-sanitizer, each by another tool (script/sanitize --control); barrier_removed is the fourth.
    {"barrier_for_half",
     "reduction/sequential.cuh",
     "reduce_sequential",
     {{"  part[tid] = mine;\n  __syncthreads();\n", "  part[tid] = mine;\n  if (tid < BLOCK / 2) __syncthreads();\n"}}},
    {"stores_past_the_end",
     "prefix_sum/naive.cuh",
     "scan_naive",
     {{"if (i + 1 < n) out[i + 1]", "if (i < n) out[i + 1]"}}},
    {"total_forgotten",
     "prefix_sum/naive.cuh",
     "scan_naive",
     {{"if (tid == 0) totals[blockIdx.x]", "if (tid == 0 && blockIdx.x > 0) totals[blockIdx.x]"}}},
    // Caught by the device layer.
    {"index_of_32_bits",
     "prefix_sum/naive.cuh",
     "scan_naive",
     {{"const size_t i = size_t(blockIdx.x) * TILE", "const unsigned i = blockIdx.x * TILE"}}},
    {"tickets_run_on",
     "prefix_sum/look_back.cl",
     "scan_look_back",
     {{"if ((uint)mine == get_num_groups(0) - 1) atom_xchg(state, ((mine >> 32) + 1) << 32);", ""}}},
    {"last_element_dropped", "reduction/sequential.cl", "reduce_sequential", {{"i < n ? in[i]", "i + 1 < n ? in[i]"}}},
    {"one_past_the_end", "prefix_sum/naive.cl", "scan_naive", {{"if (i + 1 < n) out[i + 1]", "if (i < n) out[i + 1]"}}},
    {"writes_nothing",
     "reduction/packed.cl",
     "reduce_packed",
     {{"if (tid == 0) out[get_group_id(0)] = part[0].data;", ""}}},
    {"writes_nan",
     "transpose/naive.cl",
     "transpose_naive",
     {{"out[(left + y) * height + top + x] = word;", "out[(left + y) * height + top + x] = 0x7FC00000;"}}},
    {"counts_on_fresh_scratch",
     "prefix_sum/naive.cl",
     "scan_naive",
     {{"  if (i < n) out[i] = before_even;",
       "  const uint stale = totals[get_group_id(0)] != 0xCDCDCDCD;\n"
       "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
       "  if (i < n) out[i] = before_even + stale;"}}},
    {"changes_its_input",
     "prefix_sum/padded.cl",
     "scan_padded",
     {{"(__global const uint* in", "(__global uint* in"},
      {"  if (i < n) out[i]", "  if (i < n) in[i] += 1;\n  if (i < n) out[i]"}}},
};

inline const Mutation& mutation(std::string_view name) {
  for (const auto& mutation : mutations) {
    if (mutation.name == name) return mutation;
  }
  throw std::invalid_argument("no such mutation: " + std::string(name));
}

/// The broken source. Error: std::runtime_error unless the kernel contains the text to replace exactly once.
inline std::string mutate(std::string source, const Mutation& mutation) {
  for (const auto& [from, to] : mutation.changes) {
    const auto at = source.find(from);
    if (at == std::string::npos || source.find(from, at + 1) != std::string::npos) {
      throw std::runtime_error(std::string(mutation.file) + " does not hold this exactly once: " + std::string(from));
    }
    source.replace(at, from.size(), to);
  }
  return source;
}
