// Transposes a matrix of 64 x 64 in tiles of 32 x 32: naively, with a padded row, and with an XOR swizzle.
#include "opencl_setup.h"

enum { size = 64 };

static const char* source =
    "kernel void columns(global const float* in, global float* out) {\n"
    "  local float tile[32][32];\n"
    "  size_t x = get_local_id(0), y = get_local_id(1), left = 32 * get_group_id(0), top = 32 * get_group_id(1);\n"
    "  tile[y][x] = in[(top + y) * 64 + left + x];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[(left + y) * 64 + top + x] = tile[x][y];\n"
    "}\n"
    "kernel void padded(global const float* in, global float* out) {\n"
    "  local float wide[32][33];\n"
    "  size_t x = get_local_id(0), y = get_local_id(1), left = 32 * get_group_id(0), top = 32 * get_group_id(1);\n"
    "  wide[y][x] = in[(top + y) * 64 + left + x];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[(left + y) * 64 + top + x] = wide[x][y];\n"
    "}\n"
    "kernel void swizzled(global const float* in, global float* out) {\n"
    "  local float tile[32][32];\n"
    "  size_t x = get_local_id(0), y = get_local_id(1), left = 32 * get_group_id(0), top = 32 * get_group_id(1);\n"
    "  tile[y][x ^ y] = in[(top + y) * 64 + left + x];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[(left + y) * 64 + top + x] = tile[x][y ^ x];\n"
    "}\n";

int main(void) {
  static float in[size][size], out[size][size];
  static const char* names[] = {"columns", "padded", "swizzled"};
  const size_t global[2] = {size, size}, local[2] = {32, 32};
  Setup s = set_up(source, "");
  for (int i = 0; i < size * size; ++i) in[i / size][i % size] = (float)i;
  for (int n = 0; n < 3; ++n) {
    cl_mem from = buffer(s, sizeof in, in), to = buffer(s, sizeof out, NULL);
    cl_kernel k = kernel(s, names[n]);
    pass(k, 0, sizeof from, &from);
    pass(k, 1, sizeof to, &to);
    launch(s, k, 2, global, local);
    fetch(s, to, sizeof out, out);
    for (int i = 0; i < size * size; ++i)
      expect(out[i % size][i / size] == in[i / size][i % size], names[n], (size_t)i);
  }
  tear_down(s);
  return 0;
}
