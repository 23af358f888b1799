// Chooses its kernel by the device, as libraries do, and prints what the device says. With the argument "at_run_time"
// it loads OpenCL at run time, so that the ICD loader finds the driver.
#include <dlfcn.h>

#include "opencl_setup.h"

// clang-format off
#define FUNCTIONS(X) \
  X(clGetPlatformIDs) \
  X(clGetDeviceIDs) \
  X(clGetDeviceInfo) \
  X(clCreateContextFromType) \
  X(clCreateCommandQueue) \
  X(clCreateProgramWithSource) \
  X(clBuildProgram) \
  X(clCreateKernel) \
  X(clGetKernelWorkGroupInfo) \
  X(clCreateBuffer) \
  X(clSetKernelArg) \
  X(clEnqueueNDRangeKernel) \
  X(clFinish)
// clang-format on
#define MEMBER(function) __typeof__(&function) function;
#define LINKED(function) call.function = function;
#define LOADED(function) call.function = (__typeof__(&function))dlsym(library, #function);

static struct { FUNCTIONS(MEMBER) } call;

static const char* source =
    "#define BODY local uint a[256]; uint t = get_local_id(0); a[t] = t; out[t] = a[t]\n"
    "kernel void for_cpus(global uint* out) { BODY; }\n"
    "kernel void for_gpus(global uint* out) { BODY; }\n";

static unsigned long long number(cl_device_id device, cl_device_info what) {
  unsigned long long value = 0;
  check(call.clGetDeviceInfo(device, what, sizeof value, &value, NULL), "clGetDeviceInfo");
  return value;
}

int main(int count, char** arguments) {
  FUNCTIONS(LINKED)
  if (count > 1 && strcmp(arguments[1], "at_run_time") == 0) {
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return 2;
    FUNCTIONS(LOADED)
  }
  cl_platform_id platform;
  cl_device_id device, none;
  cl_uint devices = 99;
  char name[256];
  size_t bytes = 0, multiple = 0;
  check(call.clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  cl_int code = call.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &none, &devices);
  printf("CPUs: %d, %u\n", code, devices);
  printf("accelerators: %d\n", call.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &none, NULL));
  printf("default: %d\n", call.clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &none, NULL));
  check(call.clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
  const unsigned long long type = number(device, CL_DEVICE_TYPE);
  printf("type: %llu\n", type);
  printf("compute units: %llu\n", number(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  printf("local memory: %llu\n", number(device, CL_DEVICE_LOCAL_MEM_SIZE));
  check(call.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, &bytes), "clGetDeviceInfo");
  printf("name: %s, %d\n", name, bytes == strlen(name) + 1);
  printf("too little room: %d\n", call.clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1, name, NULL));
  printf("no such query: %d\n", call.clGetDeviceInfo(device, 0xffff, sizeof name, name, NULL));

  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
  call.clCreateContextFromType(properties, CL_DEVICE_TYPE_CPU, NULL, NULL, &code);
  printf("context of CPUs: %d\n", code);
  cl_context context = call.clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, NULL, &code);
  check(code, "clCreateContextFromType");
  cl_command_queue queue = call.clCreateCommandQueue(context, device, 0, &code);
  cl_program program = call.clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check(call.clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  const int is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  cl_kernel kernel = call.clCreateKernel(program, is_cpu ? "for_cpus" : "for_gpus", &code);
  check(call.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple,
                                      &multiple, NULL),
        "clGetKernelWorkGroupInfo");
  printf("preferred multiple: %zu\n", multiple);
  cl_mem out = call.clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &code);
  const size_t size = is_cpu ? 1 : multiple;
  check(call.clSetKernelArg(kernel, 0, sizeof out, &out), "clSetKernelArg");
  check(call.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  check(call.clFinish(queue), "clFinish");
  return 0;
}
