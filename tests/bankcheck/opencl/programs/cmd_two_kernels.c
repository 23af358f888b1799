// Runs a kernel with bank conflicts and one without, prints its arguments, and copies stdin to stdout if the first
// argument is --copy-stdin. The kernel `column` has 64 lanes and one store with stride 32, all in one bank of 32.
#include "opencl_setup.h"

static const char* const source =
    "kernel void column(global int* out) {\n"
    "  local int tile[64 * 32];\n"
    "  size_t i = get_local_id(0);\n"
    "  tile[32 * i] = (int)i;\n"
    "  out[i] = (int)i;\n"
    "}\n"
    "kernel void row(global int* out) {\n"
    "  local int line[64];\n"
    "  size_t i = get_local_id(0);\n"
    "  line[i] = (int)i;\n"
    "  out[i] = line[i];\n"
    "}\n";

int main(int argc, char** argv) {
  printf("program says:");
  for (int i = 1; i < argc; ++i) printf(" [%s]", argv[i]);
  printf("\n");
  if (argc > 1 && strcmp(argv[1], "--copy-stdin") == 0) {
    for (int c = getchar(); c != EOF; c = getchar()) putchar(c);
  }
  const Setup s = set_up(source, "");
  const char* const kernels[] = {"column", "row"};
  for (int k = 0; k < 2; ++k) {
    int out[64] = {0};
    run(s, kernels[k], NULL, out, 64, 64);
    for (int i = 0; i < 64; ++i) expect(out[i] == i, kernels[k], (size_t)i);
  }
  tear_down(s);
  return 0;
}
