// Contexts, builds and processes that look alike and must be kept apart, chosen by the argument:
//   threads  two contexts, each in its own thread, at the same time
//   builds   one source, built with two options
//   folders  as `builds`, with options that name the folder in the next argument
//   fork     one program, whose kernel is also run by a child process
//   late     a context that is released after the program has otherwise ended
//   leaves   stores before a break and before a return inside a loop
//   names    two simultaneous contexts, with different kernels of the same name
//   kept     the same, but nothing is released
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opencl_setup.h"

enum { lanes = 32, groups = 64, launches = 10 };

static const char* rows =
    "#ifndef PITCH\n"
    "#define PITCH 32\n"
    "#endif\n"
    "kernel void row(global uint* out) {\n"
    "  local uint a[32 * PITCH];\n"
    "  uint t = get_local_id(0);\n"
    "  a[t * PITCH] = t;\n"
    "  out[get_global_id(0)] = a[t * PITCH];\n"
    "}\n";
static const char* leaving =
    "uint found(local uint* a, uint t) {\n"
    "  for (uint i = 0; i < 32; ++i) {\n"
    "    if (i == t) {\n"
    "      a[32 * t + 1] = i;\n"
    "      return a[32 * t + 1];\n"
    "    }\n"
    "  }\n"
    "  return 0;\n"
    "}\n"
    "kernel void leaves(global uint* out) {\n"
    "  local uint a[32 * 33];\n"
    "  uint t = get_local_id(0);\n"
    "  for (uint i = 0; i < 32; ++i) {\n"
    "    if (i == t) {\n"
    "      a[32 * t] = i;\n"
    "      break;\n"
    "    }\n"
    "  }\n"
    "  out[t] = found(a, t) + a[32 * t];\n"
    "}\n";

static const char* near_source =
    "kernel void copy(global const uint* in, global uint* out) {\n"
    "  local uint a[32];\n"
    "  uint t = get_local_id(0);\n"
    "  a[t] = in[t];\n"
    "  out[t] = a[t];\n"
    "}\n";
static const char* far_source =
    "kernel void copy(global const uint* in, global uint* out) {\n"
    "  local uint far[64];\n"
    "  uint t = get_local_id(0);\n"
    "\n"
    "  far[2 * t] = in[t];\n"
    "  out[t] = far[2 * t];\n"
    "}\n";

static void row(Setup s, size_t count) {
  cl_uint out[lanes * groups];
  run(s, "row", NULL, out, count, lanes);
  for (size_t i = 0; i < count; ++i) expect(out[i] == i % lanes, "row", i);
}

static void* many_rows(void* options) {
  Setup s = set_up(rows, options);
  for (int i = 0; i < launches; ++i) row(s, lanes * groups);
  return NULL;
}

static void copy(Setup s) {
  cl_uint in[lanes], out[lanes] = {0};
  for (cl_uint i = 0; i < lanes; ++i) in[i] = i * i;
  run(s, "copy", in, out, lanes, lanes);
  for (cl_uint i = 0; i < lanes; ++i) expect(out[i] == i * i, "copy", i);
}

static Setup kept;
static void release_it(void) { tear_down(kept); }

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  if (strcmp(what, "threads") == 0) {
    pthread_t one, other;
    pthread_create(&one, NULL, many_rows, "-DPITCH=32");
    pthread_create(&other, NULL, many_rows, "-DPITCH=33");
    pthread_join(one, NULL);
    pthread_join(other, NULL);
  } else if (strcmp(what, "builds") == 0) {
    row(set_up(rows, "-DPITCH=32"), lanes);
    row(set_up(rows, "-DPITCH=33"), lanes * 2);
    row(set_up(rows, "-DPITCH=33"), lanes);
  } else if (strcmp(what, "folders") == 0 && count == 3) {
    char options[1024];
    for (int pitch = 32; pitch <= 33; ++pitch) {
      snprintf(options, sizeof options, "-I \"%s/include\" -DPITCH=%d -DROOT=%s", arguments[2], pitch, arguments[2]);
      row(set_up(rows, options), lanes);
    }
  } else if (strcmp(what, "fork") == 0) {
    Setup s = set_up(rows, "");
    row(s, lanes);
    const pid_t child = fork();
    row(s, lanes);
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  } else if (strcmp(what, "late") == 0) {
    atexit(release_it);
    kept = set_up(rows, "");
    row(kept, lanes);
  } else if (strcmp(what, "names") == 0 || strcmp(what, "kept") == 0) {
    Setup one = set_up(near_source, ""), other = set_up(far_source, "");
    copy(one);
    copy(other);
    copy(one);
    if (strcmp(what, "kept") == 0) return 0;
    tear_down(one);
    copy(other);
    tear_down(other);
  } else {
    cl_uint out[lanes];
    run(set_up(leaving, ""), "leaves", NULL, out, lanes, lanes);
    for (size_t i = 0; i < lanes; ++i) expect(out[i] == 2 * i, "leaves", i);
  }
  return 0;
}
