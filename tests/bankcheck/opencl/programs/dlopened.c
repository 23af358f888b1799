// Loads OpenCL at run time, as programs do that also work without it. Linked with libdl alone. With an argument it hides
// its stderr, and first creates a kernel that Oclgrind cannot create.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>

static const char* source =
    "kernel void twice(global uint* out) {\n"
    "  local uint a[64];\n"
    "  uint t = get_local_id(0);\n"
    "  a[2 * t] = 3 * t;\n"
    "  out[t] = a[2 * t];\n"
    "}\n";

static const char* sub_group =
    "kernel void sub_group(global int* out) {\n"
    "  out[get_global_id(0)] = (int)get_sub_group_local_id();\n"
    "}\n";

#define FIND(function) __typeof__(&function) function##_ = (__typeof__(&function))dlsym(library, #function)

int main(int count, char** arguments) {
  (void)arguments;
  if (dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL) {
    fprintf(stderr, "this program was linked with OpenCL\n");
    return 2;
  }
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  FIND(clGetPlatformIDs);
  FIND(clGetDeviceIDs);
  FIND(clCreateContext);
  FIND(clCreateCommandQueue);
  FIND(clCreateProgramWithSource);
  FIND(clBuildProgram);
  FIND(clCreateKernel);
  FIND(clCreateBuffer);
  FIND(clSetKernelArg);
  FIND(clEnqueueNDRangeKernel);
  FIND(clEnqueueReadBuffer);
  FIND(clReleaseContext);

  const size_t size = 32;
  cl_uint out[32] = {0};
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs_(1, &platform, NULL) != CL_SUCCESS) return 1;
  if (clGetDeviceIDs_(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 1;
  cl_context context = clCreateContext_(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue_(context, device, 0, NULL);
  if (count > 1) {
    cl_program other = clCreateProgramWithSource_(context, 1, &sub_group, NULL, NULL);
    if (freopen("/dev/null", "w", stderr) == NULL || clBuildProgram_(other, 1, &device, "", NULL, NULL) != CL_SUCCESS)
      return 1;
    if (clCreateKernel_(other, "sub_group", NULL) != NULL) return 1;
  }
  cl_program program = clCreateProgramWithSource_(context, 1, &source, NULL, NULL);
  if (clBuildProgram_(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) return 1;
  cl_kernel kernel = clCreateKernel_(program, "twice", NULL);
  cl_mem to = clCreateBuffer_(context, CL_MEM_READ_WRITE, sizeof out, NULL, NULL);
  clSetKernelArg_(kernel, 0, sizeof to, &to);
  clEnqueueNDRangeKernel_(queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL);
  clEnqueueReadBuffer_(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL);
  clReleaseContext_(context);
  for (cl_uint t = 0; t < size; ++t) {
    if (out[t] != 3 * t) return 1;
  }
  return 0;
}
