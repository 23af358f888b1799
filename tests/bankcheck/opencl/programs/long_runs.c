// Launches kernels as its arguments say: KERNEL GROUPS ROUNDS LAUNCHES, and so on. A round of `column` has 62 conflicts
// in a group, one of `row` has none. Other arguments:
//   chdir     changes to the root directory
//   daemon    leaves a process with an OpenCL context in the background, and prints its number
//   any_size  launches `sizes` without a local size, for 96 x 8 work-items, and prints the local size
#include <signal.h>
#include <unistd.h>

#include "opencl_setup.h"

static const char* const source =
    "kernel void column(global int* out, int rounds) {\n"
    "  local int tile[32 * 64];\n"
    "  int i = get_local_id(0), sum = 0;\n"
    "  for (int round = 0; round < rounds; ++round) {\n"
    "    tile[32 * i] = round;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    sum += tile[63 - i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  }\n"
    "  out[get_global_id(0)] = sum;\n"
    "}\n"
    "kernel void row(global int* out, int rounds) {\n"
    "  local int tile[64];\n"
    "  int i = get_local_id(0);\n"
    "  for (int round = 0; round < rounds; ++round) tile[i] = round;\n"
    "  out[get_global_id(0)] = tile[i];\n"
    "}\n"
    "kernel void sizes(global int* out) {\n"
    "  out[0] = get_local_size(0), out[1] = get_local_size(1);\n"
    "}\n";

static void launch_all(Setup s, const char* name, int groups, int rounds, int launches) {
  cl_kernel k = kernel(s, name);
  const size_t count = 64 * (size_t)groups, group = 64;
  cl_mem out = buffer(s, 4 * count, NULL);
  pass(k, 0, sizeof out, &out);
  pass(k, 1, sizeof rounds, &rounds);
  for (int i = 0; i < launches; ++i) launch(s, k, 1, &count, &group);
  check(clFinish(s.queue), "clFinish");
}

static void leave_daemon(void) {
  int ready[2];
  if (pipe(ready) != 0) exit(1);
  const pid_t child = fork();
  if (child == 0) {
    set_up(source, "");
    if (write(ready[1], "!", 1) != 1) exit(1);
    close(STDERR_FILENO);
    sleep(100);
    exit(0);
  }
  char byte;
  if (read(ready[0], &byte, 1) != 1) exit(1);
  printf("daemon %ld\n", (long)child);
}

static void any_size(Setup s) {
  cl_kernel k = kernel(s, "sizes");
  cl_mem out = buffer(s, 8, NULL);
  pass(k, 0, sizeof out, &out);
  const size_t global[] = {96, 8};
  launch(s, k, 2, global, NULL);
  int size[2];
  fetch(s, out, sizeof size, size);
  printf("local size %d x %d\n", size[0], size[1]);
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "daemon") == 0) leave_daemon();
  if (count > 1 && strcmp(arguments[1], "chdir") == 0 && chdir("/") != 0) return 1;
  const Setup s = set_up(source, "");
  for (int i = 1; i < count;) {
    if (strcmp(arguments[i], "any_size") == 0) any_size(s);
    if (i + 3 < count && (strcmp(arguments[i], "column") == 0 || strcmp(arguments[i], "row") == 0)) {
      launch_all(s, arguments[i], atoi(arguments[i + 1]), atoi(arguments[i + 2]), atoi(arguments[i + 3]));
      i += 3;
    }
    ++i;
  }
  tear_down(s);
  return 0;
}
