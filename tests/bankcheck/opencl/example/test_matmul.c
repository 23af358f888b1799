/* Multiplies matrices of small integers, which is exact, on the first OpenCL device. Exit code 1: wrong result. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { batch = 70, inputs = 50, outputs = 40, tile = 16 };

static void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, error);
  exit(3);
}

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 1 << 16);
  if (file == NULL || text == NULL || fread(text, 1, (1 << 16) - 1, file) == 0) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(3);
  }
  fclose(file);
  return text;
}

static cl_mem buffer_of(cl_context context, float* data, size_t count) {
  cl_int error;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, count * sizeof *data, data, &error);
  check(error, "clCreateBuffer");
  return buffer;
}

int main(void) {
  static float in[batch * inputs], weights[outputs * inputs], out[batch * outputs];
  for (int i = 0; i < batch * inputs; ++i) in[i] = (float)(i * i % 17 - 8);
  for (int i = 0; i < outputs * inputs; ++i) weights[i] = (float)(i * i % 13 - 6);

  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  check(error, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "clCreateCommandQueue");

  const char* source = read_file("matmul.cl");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "linear_forward", &error);
  check(error, "clCreateKernel");

  cl_mem buffers[] = {buffer_of(context, in, batch * inputs), buffer_of(context, weights, outputs * inputs),
                      buffer_of(context, out, batch * outputs)};
  const cl_uint sizes[] = {batch, inputs, outputs};
  for (cl_uint i = 0; i < 3; ++i) {
    check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
    check(clSetKernelArg(kernel, 3 + i, sizeof(cl_uint), &sizes[i]), "clSetKernelArg");
  }
  const size_t local[] = {tile, tile};
  const size_t global[] = {(outputs + tile - 1) / tile * tile, (batch + tile - 1) / tile * tile};
  check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL), "clEnqueueReadBuffer");

  for (int row = 0; row < batch; ++row) {
    for (int column = 0; column < outputs; ++column) {
      float sum = 0;
      for (int k = 0; k < inputs; ++k) sum += in[row * inputs + k] * weights[column * inputs + k];
      if (out[row * outputs + column] != sum) {
        fprintf(stderr, "row %d, column %d: %g, not %g\n", row, column, out[row * outputs + column], sum);
        return 1;
      }
    }
  }
  puts("the product is right");
  return 0;
}
