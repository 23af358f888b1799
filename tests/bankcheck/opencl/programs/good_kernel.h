// SPDX-License-Identifier: MIT
//
// A kernel without a fault, for programs that fail in other ways.
#pragma once

#define GOOD_KERNEL                       \
  "kernel void good(global int* out) {\n" \
  "  local int tile[64];\n"               \
  "  size_t i = get_local_id(0);\n"       \
  "  tile[i] = (int)i;\n"                 \
  "  barrier(CLK_LOCAL_MEM_FENCE);\n"     \
  "  out[i] = tile[63 - i];\n"            \
  "}\n"
