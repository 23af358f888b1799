// SPDX-License-Identifier: MIT
//
// Fails in the way that its argument selects.
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "good_kernel.h"

static const char* const good = GOOD_KERNEL;

/// Kernels that Oclgrind reports errors of, or cannot run.
static const struct {
  const char *mode, *source;
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
    {"sub_group",
     "kernel void sub_group(global int* out) {\n"
     "  local int tile[64];\n"
     "  size_t i = get_local_id(0);\n"
     "  tile[i] = (int)get_sub_group_local_id();\n"
     "  out[i] = tile[i];\n"
     "}\n"},
    {"half",
     "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
     "kernel void half_sum(global int* out) {\n"
     "  local half tile[64];\n"
     "  size_t i = get_local_id(0);\n"
     "  tile[i] = (half)i;\n"
     "  out[i] = (int)(tile[i] + tile[i]);\n"
     "}\n"},
    {"syntax", "kernel void syntax(global int* out) { this is no OpenCL; }\n"},
};

static void need(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "fail_modes: no %s\n", what);
  exit(9);
}

static cl_context context_of(cl_device_id* device) {
  cl_platform_id platform;
  need(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "platform");
  need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, device, NULL) == CL_SUCCESS, "device");
  cl_int error;
  cl_context context = clCreateContext(NULL, 1, device, NULL, NULL, &error);
  need(error == CL_SUCCESS, "context");
  return context;
}

/// Runs the only kernel of a source with 64 work-items, and releases nothing. The caller checks the results.
static int run(const char* source, int* out) {
  cl_device_id device;
  cl_context context = context_of(&device);
  cl_int error;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  need(error == CL_SUCCESS, "queue");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  need(error == CL_SUCCESS, "program");
  error = clBuildProgram(program, 1, &device, "", NULL, NULL);
  if (error != CL_SUCCESS) return error;
  cl_kernel kernel;
  need(clCreateKernelsInProgram(program, 1, &kernel, NULL) == CL_SUCCESS, "kernel");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * sizeof(int), NULL, &error);
  need(error == CL_SUCCESS, "buffer");
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  size_t items = 64;
  error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL);
  if (error != CL_SUCCESS) return error;
  return clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64 * sizeof(int), out, 0, NULL, NULL);
}

static void run_good(void) {
  int out[64];
  need(run(good, out) == CL_SUCCESS, "run");
  for (int i = 0; i < 64; ++i) need(out[i] == 63 - i, "right result");
}

/// Bytes of every value, in lines of every length.
static void noise(FILE* file, unsigned bytes) {
  unsigned state = 1;
  for (unsigned i = 0; i < bytes; ++i) {
    state = state * 1664525 + 1013904223;
    putc((int)(state >> 24), file);
  }
}

static int mode_of(const char* mode) {
  if (strcmp(mode, "good") == 0) return run_good(), 0;
  if (strcmp(mode, "nothing") == 0) return 0;
  if (strcmp(mode, "no_kernel") == 0) {
    cl_device_id device;
    return context_of(&device) == NULL;
  }
  if (strncmp(mode, "execute", 7) == 0) {
    char* const arguments[] = {"true", NULL};
    char* const fresh[] = {"PATH=/bin:/usr/bin", NULL};
    run_good();
    return execve("/bin/true", arguments, strcmp(mode, "execute") == 0 ? environ : fresh);
  }
  if (strcmp(mode, "exit5") == 0) return run_good(), 5;
  if (strcmp(mode, "crash") == 0) return run_good(), raise(SIGSEGV);
  if (strcmp(mode, "abort") == 0) abort();
  if (strcmp(mode, "killed") == 0) return run_good(), raise(SIGKILL);
  if (strcmp(mode, "_exit") == 0) {
    run_good();
    printf("never written");
    _exit(0);
  }
  if (strcmp(mode, "sleep") == 0) {
    run_good();
    puts("asleep");
    fflush(stdout);
    return sleep(60) > 0 ? 7 : 0;
  }
  if (strcmp(mode, "noise") == 0) {
    run_good();
    noise(stdout, 300000);
    noise(stderr, 300000);
    return 0;
  }
  if (strcmp(mode, "children") == 0) {
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) {
        run_good();
        exit(0);
      }
    }
    int status = 0;
    while (wait(&status) > 0) need(status == 0, "child");
    return 0;
  }
  if (strcmp(mode, "background") == 0) {
    run_good();
    const pid_t child = fork();
    if (child == 0) return (int)sleep(60);  // keeps stdout and stderr open
    printf("background %d\n", (int)child);
    return 0;
  }
  if (strcmp(mode, "record") == 0 || strcmp(mode, "cut_record") == 0) {
    run_good();
    FILE* file = fopen(getenv("BANKWISE_RECORD"), "r+");
    need(file != NULL, "record");
    if (strcmp(mode, "record") == 0) {
      noise(file, 1 << 20);
    } else {
      fseek(file, 0, SEEK_END);
      need(ftruncate(fileno(file), ftell(file) - 20) == 0, "shorter record");
    }
    fclose(file);
    return 0;
  }
  if (strcmp(mode, "clearenv") == 0) {
    clearenv();
    run_good();
    return 0;
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    int out[64];
    if (strcmp(mode, bad[i].mode) == 0) return run(bad[i].source, out) == CL_SUCCESS ? 0 : 6;
  }
  return 8;
}

int main(int argc, char** argv) {
  return argc == 2 ? mode_of(argv[1]) : 8;
}
