// SPDX-License-Identifier: MIT
//
// Runs a kernel with bank conflicts and one without, prints its arguments, and copies stdin to stdout if the first
// argument is --copy-stdin. The kernel `column` has 64 lanes and one store with stride 32, all in one bank of 32.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void need(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "cmd_two_kernels: no %s\n", what);
  exit(9);
}

static void run(cl_command_queue queue, cl_program program, cl_mem buffer, const char* name) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, name, &error);
  need(error == CL_SUCCESS, name);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  size_t items = 64;
  need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL) == CL_SUCCESS, "launch");
  int out[64];
  need(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) == CL_SUCCESS, "result");
  for (int i = 0; i < 64; ++i) need(out[i] == i, "right result");
  clReleaseKernel(kernel);
}

int main(int argc, char** argv) {
  printf("program says:");
  for (int i = 1; i < argc; ++i) printf(" [%s]", argv[i]);
  printf("\n");
  if (argc > 1 && strcmp(argv[1], "--copy-stdin") == 0) {
    for (int c = getchar(); c != EOF; c = getchar()) putchar(c);
  }
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  need(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "platform");
  need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "device");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  need(error == CL_SUCCESS, "context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  need(error == CL_SUCCESS, "queue");
  const char* text = source;
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
  need(error == CL_SUCCESS, "program");
  need(clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS, "build");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64 * sizeof(int), NULL, &error);
  need(error == CL_SUCCESS, "buffer");
  run(queue, program, buffer, "column");
  run(queue, program, buffer, "row");
  clReleaseMemObject(buffer);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
