// A kernel without a fault, for programs that fail in other ways.
#pragma once

#include "opencl_setup.h"

#define GOOD_KERNEL                       \
  "kernel void good(global int* out) {\n" \
  "  local int tile[64];\n"               \
  "  size_t i = get_local_id(0);\n"       \
  "  tile[i] = (int)i;\n"                 \
  "  barrier(CLK_LOCAL_MEM_FENCE);\n"     \
  "  out[i] = tile[63 - i];\n"            \
  "}\n"

static inline void run_good(Setup s) {
  int out[64] = {0};
  run(s, "good", NULL, out, 64, 64);
  for (int i = 0; i < 64; ++i) expect(out[i] == 63 - i, "good", (size_t)i);
}
