// Functions that are always inlined, with pointers that alias nothing: a struct as a result, and restrict arguments.
#include "opencl_setup.h"

static const char* const source =
    "typedef struct { int a, b, c, d, e; } Five;\n"
    "__attribute__((always_inline)) Five five(int i) {\n"
    "  Five all = {i, i + 1, i + 2, i + 3, i + 4};\n"
    "  return all;\n"
    "}\n"
    "kernel void result(global int* out) {\n"
    "  local int tile[64];\n"
    "  size_t i = get_local_id(0);\n"
    "  tile[i] = five((int)i).e;\n"
    "  out[i] = tile[i];\n"
    "}\n"
    "__attribute__((always_inline)) void add(local int* restrict to, local const int* restrict from) {\n"
    "  *to += *from;\n"
    "}\n"
    "kernel void arguments(global int* out) {\n"
    "  local int tile[128];\n"
    "  size_t i = get_local_id(0);\n"
    "  tile[i] = 4;\n"
    "  tile[64 + i] = (int)i;\n"
    "  add(tile + i, tile + 64 + i);\n"
    "  out[i] = tile[i];\n"
    "}\n";

int main(void) {
  const char* const names[] = {"result", "arguments"};
  for (int context = 0; context < 2; ++context) {
    const Setup setup = set_up(source, "");
    for (int k = 0; k < 2; ++k) {
      int out[64] = {0};
      run(setup, names[k], NULL, out, 64, 64);
      for (int i = 0; i < 64; ++i) expect(out[i] == i + 4, names[k], (size_t)i);
    }
    tear_down(setup);
  }
  return 0;
}
