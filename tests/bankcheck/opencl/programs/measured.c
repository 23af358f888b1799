// Transposes tiles with conflicts, and prints a checksum and a number that differs from run to run. The argument
// "source" also prints how long the driver says the program's text is, "twice" launches twice unless the text is the
// original, "own" gives the driver another text on a device that is not simulated, "tied" launches two kernels whose
// tiles have one macro.
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <time.h>

#include "opencl_setup.h"

enum { size = 64 };

static const char* source =
    "kernel void columns(global const float* in, global float* out) {\n"
    "  local float tile[32][32];\n"
    "  size_t x = get_local_id(0), y = get_local_id(1), left = 32 * get_group_id(0), top = 32 * get_group_id(1);\n"
    "  tile[y][x] = in[(top + y) * 64 + left + x];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[(left + y) * 64 + top + x] = tile[x][y];\n"
    "}\n";

#define TIED(name)                                                                                                \
  "kernel void " name                                                                                             \
  "(global const float* in, global float* out) {\n"                                                               \
  "  local float tile[32 * 32];\n"                                                                                \
  "  size_t x = get_local_id(0), y = get_local_id(1), left = 32 * get_group_id(0), top = 32 * get_group_id(1);\n" \
  "  AT(y, x) = in[(top + y) * 64 + left + x];\n"                                                                 \
  "  barrier(CLK_LOCAL_MEM_FENCE);\n"                                                                             \
  "  out[(left + y) * 64 + top + x] = AT(x, y);\n"                                                                \
  "}\n"
static const char* tied_source = "#define AT(y, x) tile[(y) * 32 + (x)]\n" TIED("columns") TIED("columns_again");

static size_t length_in(cl_program program) {
  size_t bytes = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &bytes), "clGetProgramInfo");
  return bytes;
}

int main(int count, char** arguments) {
  static float in[size][size], out[size][size];
  const char* mode = count > 1 ? arguments[1] : "";
  const size_t global[2] = {size, size}, local[2] = {32, 32};
  char text[2048];
  const bool is_tied = strcmp(mode, "tied") == 0;
  snprintf(text, sizeof text, "%s", is_tied ? tied_source : source);
  if (strcmp(mode, "own") == 0 && getenv("BANKWISE_RECORD") == NULL) strcat(text, "// of another device\n");
  Setup s = set_up(text, "");
  for (int i = 0; i < size * size; ++i) in[i / size][i % size] = (float)i;
  cl_mem from = buffer(s, sizeof in, in), to = buffer(s, sizeof out, NULL);
  cl_kernel k = kernel(s, "columns");
  pass(k, 0, sizeof from, &from);
  pass(k, 1, sizeof to, &to);
  cl_event event;
  check(clEnqueueNDRangeKernel(s.queue, k, 2, NULL, global, local, 0, NULL, &event), "clEnqueueNDRangeKernel");
  check(clWaitForEvents(1, &event), "clWaitForEvents");
  if (strcmp(mode, "twice") == 0 && length_in(s.program) != strlen(source) + 1) launch(s, k, 2, global, local);
  if (is_tied) {
    cl_kernel again = kernel(s, "columns_again");
    pass(again, 0, sizeof from, &from);
    pass(again, 1, sizeof to, &to);
    launch(s, again, 2, global, local);
  }
  fetch(s, to, sizeof out, out);
  check(clFinish(s.queue), "clFinish");
  double sum = 0;
  for (int i = 0; i < size * size; ++i) sum += (i % 7) * out[i / size][i % size];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  printf("sum %.0f\nended at %ld.%09ld\n", sum, (long)now.tv_sec, now.tv_nsec);
  if (strcmp(mode, "source") == 0) printf("text of %zu bytes\n", length_in(s.program));
  clReleaseEvent(event);
  tear_down(s);
  return 0;
}
