// Divergent work-items of a warp. Every kernel runs one group of 64 work-items, and reads a table of 256 words that
// contain their own indices; the program computes the expected sums with the same C code.
#include "opencl_setup.h"

enum { count = 64 };

static const char* source =
    "#define KERNEL(name) kernel void name(global uint* out) { local uint a[256]; uint t = get_local_id(0), s = 0; "
    "for (uint i = t; i < 256; i += 64) a[i] = i; barrier(CLK_LOCAL_MEM_FENCE)\n"
    "KERNEL(nested);\n"
    "  for (uint i = 0; i < 6; ++i) {\n"
    "    for (uint j = 0; j < (t * 5 + i * 3) % 7; ++j) {\n"
    "      s += a[(t * 3 + j * 5 + i) % 256];\n"
    "    }\n"
    "  }\n"
    "  out[t] = s;\n"
    "}\n"
    "KERNEL(early);\n"
    "  out[t] = 0;\n"
    "  if (t % 4 == 3) return;\n"
    "  out[t] = a[4 * t];\n"
    "}\n"
    "KERNEL(jumps);\n"
    "  for (uint i = 0; i < 8; ++i) {\n"
    "    if ((t + i) % 3 == 0) continue;\n"
    "    if (i > t % 8) break;\n"
    "    s += a[8 * t % 256 + i];\n"
    "  }\n"
    "  out[t] = s + a[t];\n"
    "}\n"
    "KERNEL(choice);\n"
    "  switch (t & 3) {\n"
    "    case 0: s = a[t]; break;\n"
    "    case 1: s = a[2 * t]; break;\n"
    "    case 2: s = a[t] + 5;\n"
    "    default: s += a[0];\n"
    "  }\n"
    "  out[t] = s;\n"
    "}\n"
    "KERNEL(search);\n"
    "  uint n = t + 1;\n"
    "  while (n != 1) {\n"
    "    s += a[n % 256];\n"
    "    n = n % 2 == 1 ? 3 * n + 1 : n / 2;\n"
    "  }\n"
    "  out[t] = s;\n"
    "}\n"
    "uint walk(local const uint* a, uint from, uint turns) {\n"
    "  uint s = 0;\n"
    "  for (uint i = 0; i < turns; ++i) s += a[from + i];\n"
    "  return s;\n"
    "}\n"
    "KERNEL(helper);\n"
    "  if (t % 2 == 0) s = walk(a, t, 3);\n"
    "  else s = walk(a, 2 * t, 5);\n"
    "  out[t] = s;\n"
    "}\n"
    "KERNEL(irreducible);\n"
    "  uint n = t % 5;\n"
    "  if (t % 2 == 1) goto middle;\n"
    "top:\n"
    "  s += a[t];\n"
    "middle:\n"
    "  s += a[255 - t];\n"
    "  if (n-- > 0) goto top;\n"
    "  out[t] = s;\n"
    "}\n"
    "KERNEL(builtin);\n"
    "  float x = 2;\n"
    "  if (t % 2 == 1) x = native_sqrt(16.0f);\n"
    "  out[t] = (uint)x + a[2 * t];\n"
    "}\n";

static cl_uint walk(cl_uint from, cl_uint turns) {
  cl_uint s = 0;
  for (cl_uint i = 0; i < turns; ++i) s += from + i;
  return s;
}

/// a[i] is i, up to 255.
static cl_uint right(int kernel, cl_uint t) {
  cl_uint s = 0;
  switch (kernel) {
    case 0:
      for (cl_uint i = 0; i < 6; ++i)
        for (cl_uint j = 0; j < (t * 5 + i * 3) % 7; ++j) s += (t * 3 + j * 5 + i) % 256;
      return s;
    case 1: return t % 4 == 3 ? 0 : 4 * t;
    case 2:
      for (cl_uint i = 0; i < 8; ++i) {
        if ((t + i) % 3 == 0) continue;
        if (i > t % 8) break;
        s += 8 * t % 256 + i;
      }
      return s + t;
    case 3: return t % 4 == 0 ? t : t % 4 == 1 ? 2 * t : t % 4 == 2 ? t + 5 : 0;
    case 4:
      for (cl_uint n = t + 1; n != 1; n = n % 2 == 1 ? 3 * n + 1 : n / 2) s += n % 256;
      return s;
    case 5: return t % 2 == 0 ? walk(t, 3) : walk(2 * t, 5);
    case 7: return (t % 2 == 1 ? 4 : 2) + 2 * t;
    default: return (t % 5 + 1) * (255 - t) + (t % 5 + (t % 2 == 0)) * t;
  }
}

int main(void) {
  static const char* names[] = {"nested", "early", "jumps", "choice", "search", "helper", "irreducible", "builtin"};
  Setup s = set_up(source, "");
  for (int n = 0; n < 8; ++n) {
    cl_uint out[count];
    run(s, names[n], NULL, out, count, count);
    for (cl_uint t = 0; t < count; ++t) expect(out[t] == right(n, t), names[n], t);
  }
  tear_down(s);
  return 0;
}
