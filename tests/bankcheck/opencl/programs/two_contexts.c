// SPDX-License-Identifier: MIT
//
// Two simultaneous contexts, with different kernels of the same name. With the argument "kept", nothing is released.
#include "opencl_setup.h"

enum { count = 32 };

static const char* near_source =
    "kernel void copy(global const uint* in, global uint* out) {\n"
    "  local uint a[32];\n"
    "  uint t = get_local_id(0);\n"
    "  a[t] = in[t];\n"
    "  out[t] = a[t];\n"
    "}\n";
static const char* far_source =
    "kernel void copy(global const uint* in, global uint* out) {\n"
    "  local uint far[64];\n"
    "  uint t = get_local_id(0);\n"
    "\n"
    "  far[2 * t] = in[t];\n"
    "  out[t] = far[2 * t];\n"
    "}\n";

static void copy(Setup s) {
  cl_uint in[count], out[count] = {0};
  for (cl_uint i = 0; i < count; ++i) in[i] = i * i;
  run(s, "copy", in, out, count, count);
  for (cl_uint i = 0; i < count; ++i) expect(out[i] == i * i, "copy", i);
}

int main(int count_of_arguments, char** arguments) {
  Setup one = set_up(near_source, ""), other = set_up(far_source, "");
  copy(one);
  copy(other);
  copy(one);
  if (count_of_arguments > 1 && strcmp(arguments[1], "kept") == 0) return 0;
  tear_down(one);
  copy(other);
  tear_down(other);
  return 0;
}
