// Goes on after a kernel that Oclgrind cannot run, or prints the messages of Oclgrind itself.
#include "good_kernel.h"

/// Oclgrind cannot create this kernel.
static const char* const sub_group =
    "kernel void sub_group(global int* out) {\n"
    "  out[get_global_id(0)] = (int)get_sub_group_local_id();\n"
    "}\n";

/// Nor this one. The compiler makes the call to llvm.readcyclecounter.
static const char* const intrinsic =
    "kernel void intrinsic(global int* out) {\n"
    "  out[get_global_id(0)] = (int)__builtin_readcyclecounter();\n"
    "}\n";

/// Oclgrind creates this kernel, and stops when it runs it.
static const char* const half_sum =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "kernel void half_sum(global int* out) {\n"
    "  half sum = (half)get_global_id(0);\n"
    "  out[get_global_id(0)] = (int)(sum + sum);\n"
    "}\n";

static const char* const messages =
    "OCLGRIND FATAL ERROR: 5\n"
    "When creating kernel 'good'\n"
    "OCLGRIND FATAL ERROR (good.cpp:12)\n"
    "This is how Oclgrind reports one.\n"
    "When we see this, we skip the kernel.\n"
    "When creating kernel 'good'\n"
    "no Assertion of oclgrind:: failed\n"
    "see 'Loading Oclgrind plugin failed (dlopen): ...'\n";

int main(int argc, char** argv) {
  const char* mode = argc == 2 ? argv[1] : "";
  const int quiet = strcmp(mode, "create_quietly") == 0;
  if (quiet) expect(freopen("/dev/null", "w", stderr) != NULL, mode, 0);
  cl_int code;
  if (quiet || strcmp(mode, "create") == 0) {
    expect(clCreateKernel(set_up(sub_group, "").program, "sub_group", &code) == NULL, mode, 0);
  }
  if (strcmp(mode, "intrinsic") == 0) {
    expect(clCreateKernel(set_up(intrinsic, "").program, "intrinsic", &code) == NULL, mode, 0);
  }
  int out[64];
  if (strcmp(mode, "launch") == 0) run(set_up(half_sum, ""), "half_sum", NULL, out, 64, 64);
  run_good(set_up(GOOD_KERNEL, ""));
  if (strcmp(mode, "quote") == 0) {
    fputs(messages, stderr);
  } else {
    for (int i = 0; i < 1 << 17; ++i) fputs("a line of much text\n", stderr);
  }
  return 0;
}
