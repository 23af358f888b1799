// Kernels that are hard to simulate. The argument is sub_groups, halves, large, or unsynchronized.
#include "opencl_setup.h"

enum { count = 64 };

static const char* sources[][2] = {
    {"sub_groups",
     "int __attribute__((overloadable)) sub_group_reduce_add(int);\n"
     "kernel void sub_groups(global uint* out) {\n"
     "  local uint a[64];\n"
     "  uint t = get_local_id(0);\n"
     "  a[t] = t;\n"
     "  out[t] = sub_group_reduce_add((int)a[t]);\n"
     "}\n"},
    {"halves",
     "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
     "kernel void halves(global uint* out) {\n"
     "  local half a[64];\n"
     "  uint t = get_local_id(0);\n"
     "  a[t] = (half)t;\n"
     "  out[t] = (uint)(a[t] + a[t]);\n"
     "}\n"},
    {"large",  // 48 KiB
     "kernel void large(global uint* out) {\n"
     "  local uint a[12288];\n"
     "  uint t = get_local_id(0);\n"
     "  a[12224 + t] = t;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  out[t] = a[12224 + t];\n"
     "}\n"},
    {"unsynchronized",  // on GPUs with warps of 32, the code needs no barrier
     "kernel void unsynchronized(global uint* out) {\n"
     "  local volatile uint a[64];\n"
     "  uint t = get_local_id(0);\n"
     "  a[t] = t;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  if (t < 32) {\n"
     "    a[t] += a[t + 32];\n"
     "    if (t < 16) a[t] += a[t + 16];\n"
     "    if (t < 8) a[t] += a[t + 8];\n"
     "  }\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  out[t] = a[t % 8];\n"
     "}\n"},
};

int main(int count_of_arguments, char** arguments) {
  for (size_t i = 0; count_of_arguments > 1 && i < sizeof sources / sizeof *sources; ++i) {
    if (strcmp(arguments[1], sources[i][0]) != 0) continue;
    cl_uint out[count];
    Setup s = set_up(sources[i][1], "");
    run(s, arguments[1], NULL, out, count, count);
    if (strcmp(arguments[1], "large") == 0) {
      for (cl_uint t = 0; t < count; ++t) expect(out[t] == t, arguments[1], t);
    }
    tear_down(s);
    return 0;
  }
  return 1;
}
