// Passes -O3 to the compiler. Oclgrind executes its kernels incorrectly if bits beyond `t & 3` matter, and if the parts
// of a float4 are loaded one by one.
#include "opencl_setup.h"

enum { count = 64 };

static const char* source =
    "kernel void tens(global const uint* in, global uint* out) {\n"
    "  local uint a[64];\n"
    "  uint t = get_local_id(0);\n"
    "  switch (t & 3) {\n"
    "    case 0: a[t] = 10; break;\n"
    "    case 1: a[t] = 20; break;\n"
    "    case 2: a[t] = 30; break;\n"
    "    default: a[t] = 40;\n"
    "  }\n"
    "  out[t] = a[t];\n"
    "}\n"
    "kernel void parts(global const uint* in, global uint* out) {\n"
    "  local float4 q[64];\n"
    "  uint t = get_local_id(0);\n"
    "  q[t] = (float4)(in[t], 1, 2, 3);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  float4 v = q[t];\n"
    "  out[t] = v.x + v.y + v.z + v.w;\n"
    "}\n";

int main(void) {
  cl_uint in[count], out[count];
  Setup s = set_up(source, "-O3 -cl-fast-relaxed-math");
  for (cl_uint t = 0; t < count; ++t) in[t] = t;
  run(s, "tens", in, out, count, count);
  for (cl_uint t = 0; t < count; ++t) expect(out[t] == 10 * (t % 4 + 1), "tens", t);
  run(s, "parts", in, out, count, count);
  for (cl_uint t = 0; t < count; ++t) expect(out[t] == t + 6, "parts", t);
  tear_down(s);
  return 0;
}
