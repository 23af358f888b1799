// Sums 16 x 256 numbers, with interleaved and with sequential addressing.
#include "opencl_setup.h"

enum { groups = 16, group = 256 };

static const char* source =
    "kernel void strided(global const uint* in, global uint* out) {\n"
    "  local uint sums[256];\n"
    "  uint t = get_local_id(0);\n"
    "  sums[t] = in[get_global_id(0)];\n"
    "  for (uint s = 1; s < 256; s *= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    uint i = 2 * s * t;\n"
    "    if (i < 256) sums[i] += sums[i + s];\n"
    "  }\n"
    "  if (t == 0) out[get_group_id(0)] = sums[0];\n"
    "}\n"
    "kernel void sequential(global const uint* in, global uint* out) {\n"
    "  local uint sums[256];\n"
    "  uint t = get_local_id(0);\n"
    "  sums[t] = in[get_global_id(0)];\n"
    "  for (uint s = 128; s > 0; s /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (t < s) sums[t] += sums[t + s];\n"
    "  }\n"
    "  if (t == 0) out[get_group_id(0)] = sums[0];\n"
    "}\n";

int main(void) {
  static cl_uint in[groups * group], out[groups * group];
  static const char* names[] = {"strided", "sequential"};
  Setup s = set_up(source, "");
  for (int i = 0; i < groups * group; ++i) in[i] = (cl_uint)(i * 7 % 1000);
  for (int n = 0; n < 2; ++n) {
    run(s, names[n], in, out, groups * group, group);
    for (int g = 0; g < groups; ++g) {
      cl_uint sum = 0;
      for (int i = 0; i < group; ++i) sum += in[g * group + i];
      expect(out[g] == sum, names[n], (size_t)g);
    }
  }
  tear_down(s);
  return 0;
}
