// Local arrays of all kinds of elements. Every kernel runs one group of 64 work-items, and each writes one number.
#include "opencl_setup.h"

enum { count = 64 };

static const char* source =
    "typedef struct { float x, y, z, w; } Record;\n"
    "typedef struct { int x, y, z; } Three;\n"
    "typedef struct { int v[5]; } Five;\n"
    "typedef struct { double wide; int narrow; } Aligned;\n"
    "#define START uint t = get_local_id(0), from = 63 - t\n"
    "#define KERNEL(name, ...) kernel void name(global uint* out) { local __VA_ARGS__; START\n"
    "#define MEET barrier(CLK_LOCAL_MEM_FENCE)\n"
    "KERNEL(records, Record r[64]);\n"
    "  r[t].x = t; r[t].y = 1; r[t].z = 2; r[t].w = 3;\n"
    "  MEET;\n"
    "  out[t] = r[from].x + r[from].y + r[from].z + r[from].w;\n"
    "}\n"
    "KERNEL(planes, float p[4][64]);\n"
    "  p[0][t] = t; p[1][t] = 1; p[2][t] = 2; p[3][t] = 3;\n"
    "  MEET;\n"
    "  out[t] = p[0][from] + p[1][from] + p[2][from] + p[3][from];\n"
    "}\n"
    "KERNEL(doubles, double d[64]);\n"
    "  d[t] = t + 6;\n"
    "  MEET;\n"
    "  out[t] = d[from];\n"
    "}\n"
    "KERNEL(quads, float4 q[64]);\n"
    "  q[t] = (float4)(t, 1, 2, 3);\n"
    "  MEET;\n"
    "  float4 v = q[from];\n"
    "  out[t] = v.x + v.y + v.z + v.w;\n"
    "}\n"
    "KERNEL(triples, float3 three[64]);\n"
    "  three[t] = (float3)(t, 2, 4);\n"
    "  MEET;\n"
    "  float3 v = three[from];\n"
    "  out[t] = v.x + v.y + v.z;\n"
    "}\n"
    "KERNEL(vloads, float f[256]);\n"
    "  vstore4((float4)(t, 1, 2, 3), t, f);\n"
    "  MEET;\n"
    "  float4 v = vload4(from, f);\n"
    "  out[t] = v.x + v.y + v.z + v.w;\n"
    "}\n"
    "KERNEL(chars, uchar c[64], far[8192]);\n"
    "  c[t] = t + 6; far[128 * t] = t + 6;\n"
    "  MEET;\n"
    "  out[t] = c[from];\n"
    "  out[t] = far[128 * from];\n"
    "}\n"
    "KERNEL(shorts, ushort h[64], far[512]);\n"
    "  h[t] = t + 6; far[8 * t] = t + 6;\n"
    "  MEET;\n"
    "  out[t] = h[from];\n"
    "  out[t] = far[8 * from];\n"
    "}\n"
    "KERNEL(copies_of_12, Three a[64], b[64]);\n"
    "  a[t].x = t; a[t].y = 2; a[t].z = 4;\n"
    "  MEET;\n"
    "  b[t] = a[from];\n"
    "  out[t] = b[t].x + b[t].y + b[t].z;\n"
    "}\n"
    "KERNEL(copies_of_20, Five a[64], b[64]);\n"
    "  a[t].v[0] = t; a[t].v[1] = 2; a[t].v[2] = 4; a[t].v[3] = 0; a[t].v[4] = 0;\n"
    "  MEET;\n"
    "  b[t] = a[from];\n"
    "  out[t] = b[t].v[0] + b[t].v[1] + b[t].v[2] + b[t].v[3] + b[t].v[4];\n"
    "}\n"
    "KERNEL(copies_of_16, Aligned a[64], b[64]);\n"
    "  a[t].wide = t; a[t].narrow = 6;\n"
    "  MEET;\n"
    "  b[t] = a[from];\n"
    "  out[t] = b[t].wide + b[t].narrow;\n"
    "}\n";

int main(void) {
  static const char* names[] = {"records", "planes", "doubles",      "quads",        "triples",     "vloads",
                                "chars",   "shorts", "copies_of_12", "copies_of_20", "copies_of_16"};
  Setup s = set_up(source, "");
  for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
    cl_uint out[count] = {0};
    run(s, names[n], NULL, out, count, count);
    for (cl_uint t = 0; t < count; ++t) expect(out[t] == 63 - t + 6, names[n], t);
  }
  tear_down(s);
  return 0;
}
