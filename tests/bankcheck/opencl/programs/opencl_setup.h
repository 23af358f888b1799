// The OpenCL setup of every test program. A failed call ends the program with exit code 1.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  cl_context context;
  cl_command_queue queue;
  cl_program program;
} Setup;

static void check(cl_int code, const char* function) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s failed: %d\n", function, code);
  exit(1);
}

static Setup set_up(const char* source, const char* options) {
  Setup s;
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  s.context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  s.queue = clCreateCommandQueue(s.context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  s.program = clCreateProgramWithSource(s.context, 1, &source, NULL, &code);
  check(code, "clCreateProgramWithSource");
  code = clBuildProgram(s.program, 1, &device, options, NULL, NULL);
  if (code != CL_SUCCESS) {
    static char log[16384];
    clGetProgramBuildInfo(s.program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
  }
  check(code, "clBuildProgram");
  return s;
}

static cl_mem buffer(Setup s, size_t bytes, const void* data) {
  cl_int code;
  cl_mem memory = clCreateBuffer(s.context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  check(code, "clCreateBuffer");
  if (data != NULL)
    check(clEnqueueWriteBuffer(s.queue, memory, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "clEnqueueWriteBuffer");
  return memory;
}

static cl_kernel kernel(Setup s, const char* name) {
  cl_int code;
  cl_kernel made = clCreateKernel(s.program, name, &code);
  check(code, name);
  return made;
}

static void pass(cl_kernel kernel, unsigned number, size_t bytes, const void* value) {
  check(clSetKernelArg(kernel, number, bytes, value), "clSetKernelArg");
}

static void launch(Setup s, cl_kernel kernel, unsigned dimensions, const size_t* global, const size_t* local) {
  check(clEnqueueNDRangeKernel(s.queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
}

static void fetch(Setup s, cl_mem memory, size_t bytes, void* data) {
  check(clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "clEnqueueReadBuffer");
}

/// A kernel with one buffer to read, or none, and one to write, both of `count` words, in groups of `group`.
static inline void run(Setup s, const char* name, const void* in, void* out, size_t count, size_t group) {
  cl_kernel k = kernel(s, name);
  cl_mem to = buffer(s, 4 * count, out);
  unsigned arguments = 0;
  if (in != NULL) {
    cl_mem from = buffer(s, 4 * count, in);
    pass(k, arguments++, sizeof from, &from);
  }
  pass(k, arguments, sizeof to, &to);
  launch(s, k, 1, &count, &group);
  fetch(s, to, 4 * count, out);
}

static inline void tear_down(Setup s) {
  clReleaseProgram(s.program);
  clReleaseCommandQueue(s.queue);
  clReleaseContext(s.context);
}

/// Ends the program with exit code 1 if a kernel's result is wrong.
static inline void expect(int right, const char* name, size_t where) {
  if (right) return;
  fprintf(stderr, "%s is wrong at %zu\n", name, where);
  exit(1);
}
