// Fails in the way that its argument selects.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "good_kernel.h"

/// Kernels that Oclgrind reports errors of.
static const struct {
  const char *name, *source;
} bad[] = {
    {"outside",
     "kernel void outside(global int* out) {\n"
     "  local int tile[64];\n"
     "  size_t i = get_local_id(0);\n"
     "  tile[i + 1] = (int)i;\n"
     "  barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  out[i] = tile[i];\n"
     "}\n"},
    {"divergence",
     "kernel void divergence(global int* out) {\n"
     "  local int tile[64];\n"
     "  size_t i = get_local_id(0);\n"
     "  tile[i] = (int)i;\n"
     "  if (i < 32) barrier(CLK_LOCAL_MEM_FENCE);\n"
     "  out[i] = tile[63 - i];\n"
     "}\n"},
    {"syntax", "kernel void syntax(global int* out) { this is no OpenCL; }\n"},
};

/// Releases nothing.
static void launch_good(void) { run_good(set_up(GOOD_KERNEL, "")); }

/// Bytes of every value, in lines of every length.
static void noise(FILE* file, unsigned bytes) {
  unsigned state = 1;
  for (unsigned i = 0; i < bytes; ++i) {
    state = state * 1664525 + 1013904223;
    putc((int)(state >> 24), file);
  }
}

static int mode_of(const char* mode) {
  if (strcmp(mode, "good") == 0) return launch_good(), 0;
  if (strcmp(mode, "nothing") == 0) return 0;
  if (strcmp(mode, "no_kernel") == 0) return set_up(GOOD_KERNEL, "").context == NULL;
  if (strncmp(mode, "execute", 7) == 0) {
    char* const arguments[] = {"true", NULL};
    char* const fresh[] = {"PATH=/bin:/usr/bin", NULL};
    launch_good();
    return execve("/bin/true", arguments, strcmp(mode, "execute") == 0 ? environ : fresh);
  }
  if (strcmp(mode, "exit5") == 0) return launch_good(), 5;
  if (strcmp(mode, "crash") == 0) return launch_good(), raise(SIGSEGV);
  if (strcmp(mode, "abort") == 0) abort();
  if (strcmp(mode, "killed") == 0) return launch_good(), raise(SIGKILL);
  if (strcmp(mode, "_exit") == 0) {
    launch_good();
    printf("never written");
    _exit(0);
  }
  if (strcmp(mode, "sleep") == 0) {
    launch_good();
    puts("asleep");
    fflush(stdout);
    return sleep(60) > 0 ? 7 : 0;
  }
  if (strcmp(mode, "noise") == 0) {
    launch_good();
    noise(stdout, 300000);
    noise(stderr, 300000);
    return 0;
  }
  if (strcmp(mode, "children") == 0) {
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) {
        launch_good();
        exit(0);
      }
    }
    int status = 0;
    while (wait(&status) > 0) expect(status == 0, "child", 0);
    return 0;
  }
  if (strcmp(mode, "background") == 0) {
    launch_good();
    const pid_t child = fork();
    if (child == 0) return (int)sleep(60);  // keeps stdout and stderr open
    printf("background %d\n", (int)child);
    return 0;
  }
  if (strcmp(mode, "record") == 0 || strcmp(mode, "cut_record") == 0) {
    launch_good();
    FILE* file = fopen(getenv("BANKWISE_RECORD"), "r+");
    expect(file != NULL, "record", 0);
    if (strcmp(mode, "record") == 0) {
      noise(file, 1 << 20);
    } else {
      fseek(file, 0, SEEK_END);
      expect(ftruncate(fileno(file), ftell(file) - 20) == 0, "shorter record", 0);
    }
    fclose(file);
    return 0;
  }
  if (strcmp(mode, "cpu") == 0) {
    cl_platform_id platform;
    cl_device_id device;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    return clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_DEVICE_NOT_FOUND;
  }
  if (strcmp(mode, "clearenv") == 0) {
    clearenv();
    launch_good();
    return 0;
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    int out[64] = {0};
    if (strcmp(mode, bad[i].name) != 0) continue;
    run(set_up(bad[i].source, ""), mode, NULL, out, 64, 64);
    return 0;
  }
  return 8;
}

int main(int argc, char** argv) { return argc == 2 ? mode_of(argv[1]) : 8; }
