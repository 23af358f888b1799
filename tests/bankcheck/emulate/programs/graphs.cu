// Graphs: of streams that capture, and of nodes that the program adds. Prints each check that fails, and "right" if
// none does.
#include <cublas_v2.h>
#include <cub/cub.cuh>

#include "checks.cuh"

#define OK(call) CHECK((call) == cudaSuccess)
#define FAILS(call, error)           \
  CHECK((call) == cudaError##error); \
  cudaGetLastError()

__device__ int factor = 3;

__global__ void add(int* to, int value) { to[threadIdx.x] += value; }
__global__ void multiply(int* to) { to[threadIdx.x] *= factor; }
__global__ void column(int* to) {
  __shared__ int a[32 * 32];
  a[threadIdx.x * 32] = threadIdx.x;
  to[threadIdx.x] += a[threadIdx.x * 32];
}
__global__ void slow(int* to, int value) {
  int sum = 0;
  for (int i = 0; i < 500; ++i) sum += i % value;
  if (blockIdx.x == 0) to[threadIdx.x] = sum;
}
__global__ void outside(int* to) { to[1 << 20] = 1; }

int* numbers;  // 32, managed
cudaStream_t first, second;

int after(cudaGraphExec_t instance, int before) {
  numbers[0] = before;
  OK(cudaGraphLaunch(instance, first));
  OK(cudaStreamSynchronize(first));
  return numbers[0];
}

void capture() {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  int calls = 0, three = 3, back = 0;
  numbers[0] = 1;
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaStreamIsCapturing(first, &status));
  CHECK(status == cudaStreamCaptureStatusActive);
  OK(cudaStreamGetCaptureInfo(first, &status, &id));
  CHECK(id != 0);
  OK(cudaStreamIsCapturing(second, &status));
  CHECK(status == cudaStreamCaptureStatusNone);
  int value = 10;
  add<<<1, 32, 0, first>>>(numbers, value);
  value = 20;  // the launch has the value of the call
  multiply<<<1, 32, 0, first>>>(numbers);
  OK(cudaMemcpyAsync(&back, numbers, sizeof back, cudaMemcpyDefault, first));
  OK(cudaMemcpyToSymbolAsync(factor, &three, sizeof three, 0, cudaMemcpyHostToDevice, first));
  OK(cudaLaunchHostFunc(
      first, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  add<<<1, 32, 0, second>>>(numbers, 1);  // at once
  CHECK(numbers[0] == 2 && back == 0 && calls == 0);
  OK(cudaStreamEndCapture(first, &graph));
  size_t count = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  CHECK(count == 5);
  OK(cudaGraphInstantiate(&instance, graph, nullptr, nullptr, 0));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphUpload(instance, first));
  CHECK(numbers[0] == 2);
  CHECK(after(instance, 2) == 36 && back == 36 && calls == 1);
  factor = 2;
  CHECK(after(instance, 0) == 20 && factor == 3 && calls == 2);
  OK(cudaGraphExecDestroy(instance));
}

// The second stream joins, and the first waits for it.
cudaGraph_t joined(int value, bool joins_again = true) {
  cudaGraph_t graph = nullptr;
  cudaEvent_t forked, done;
  OK(cudaEventCreate(&forked));
  OK(cudaEventCreate(&done));
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
  OK(cudaMemsetAsync(numbers, 0, sizeof(int), first));
  OK(cudaEventRecord(forked, first));
  OK(cudaStreamWaitEvent(second, forked, 0));
  add<<<1, 1, 0, second>>>(numbers, value);
  FAILS(cudaEventElapsedTime(nullptr, forked, done), CapturedEvent);
  OK(cudaEventRecord(done, second));
  if (joins_again) {
    OK(cudaStreamWaitEvent(first, done, 0));
    multiply<<<1, 1, 0, first>>>(numbers);
    OK(cudaStreamEndCapture(first, &graph));
  } else {
    FAILS(cudaStreamEndCapture(first, &graph), StreamCaptureUnjoined);
    CHECK(graph == nullptr);
  }
  FAILS(cudaEventSynchronize(done), CapturedEvent);
  OK(cudaEventRecord(done, second));
  OK(cudaEventSynchronize(done));
  OK(cudaEventDestroy(forked));
  OK(cudaEventDestroy(done));
  return graph;
}

void several_streams() {
  joined(1, false);
  cudaGraph_t graph = joined(5), other = joined(7), cloned, both;
  cudaGraphExec_t instance, of_both;
  OK(cudaGraphInstantiate(&instance, graph));
  CHECK(after(instance, 100) == 15);
  cudaGraphExecUpdateResult result;
  OK(cudaGraphExecUpdate(instance, other, nullptr, &result));
  CHECK(result == cudaGraphExecUpdateSuccess && after(instance, 100) == 21);
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(instance, graph, &info));
  CHECK(after(instance, 100) == 15);
  OK(cudaGraphClone(&cloned, other));
  OK(cudaGraphDestroy(other));
  cudaGraphNode_t node, last;
  OK(cudaGraphAddChildGraphNode(&node, cloned, nullptr, 0, graph));
  OK(cudaGraphAddEmptyNode(&last, cloned, &node, 1));
  size_t count = 0, roots = 0;
  OK(cudaGraphGetNodes(cloned, nullptr, &count));
  OK(cudaGraphGetRootNodes(cloned, nullptr, &roots));
  CHECK(count == 5 && roots == 2);
  FAILS(cudaGraphExecUpdate(instance, cloned, &info), GraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);

  // The launch of a graph may be captured, too.
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
  OK(cudaGraphLaunch(instance, first));
  OK(cudaGraphLaunch(instance, first));
  add<<<1, 1, 0, first>>>(numbers, 1);
  OK(cudaStreamEndCapture(first, &both));
  OK(cudaGraphExecDestroy(instance));
  OK(cudaGraphInstantiateWithFlags(&of_both, both, 0));
  CHECK(after(of_both, 100) == 16);
}

void errors() {
  cudaGraph_t graph;
  cudaStreamCaptureStatus status;
  FAILS(cudaStreamEndCapture(first, &graph), IllegalState);
  FAILS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), StreamCaptureUnsupported);
  const auto invalid = [&](cudaError_t expected, auto call) {
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    FAILS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), IllegalState);
    CHECK(call() == expected);
    CHECK(cudaGetLastError() == expected);
    OK(cudaStreamIsCapturing(first, &status));
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    FAILS(cudaMemsetAsync(numbers, 0, 4, first), StreamCaptureInvalidated);
    graph = reinterpret_cast<cudaGraph_t>(&graph);
    FAILS(cudaStreamEndCapture(first, &graph), StreamCaptureInvalidated);
    CHECK(graph == nullptr);
    OK(cudaStreamIsCapturing(first, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
  };
  int* other;
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  OK(cudaEventRecord(event, second));
  const auto unsupported = cudaErrorStreamCaptureUnsupported, implicit = cudaErrorStreamCaptureImplicit;
  invalid(unsupported, [] { return cudaStreamSynchronize(first); });
  invalid(unsupported, [] { return cudaStreamQuery(first); });
  invalid(unsupported, [] { return cudaDeviceSynchronize(); });
  invalid(unsupported, [] { return cudaStreamAddCallback(first, nullptr, nullptr, 0); });
  invalid(unsupported, [&] { return cudaMalloc(&other, 4); });
  invalid(implicit, [] { return cudaMemset(numbers, 0, 4); });
  invalid(implicit, [] {
    add<<<1, 1>>>(numbers, 1);
    return cudaPeekAtLastError();
  });
  invalid(cudaErrorStreamCaptureIsolation, [&] { return cudaStreamWaitEvent(first, event, 0); });
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
  FAILS(cudaFree(numbers), StreamCaptureUnsupported);
  FAILS(cudaStreamEndCapture(first, &graph), StreamCaptureInvalidated);
  // Relaxed: all of the device's functions may be called.
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
  OK(cudaMalloc(&other, 4));
  OK(cudaFree(other));
  OK(cudaStreamEndCapture(first, &graph));
  // The default stream waits for no stream of this kind.
  cudaStream_t alone;
  OK(cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking));
  OK(cudaStreamBeginCapture(alone, cudaStreamCaptureModeGlobal));
  numbers[0] = 1;
  add<<<1, 1>>>(numbers, 1);
  CHECK(numbers[0] == 2);
  OK(cudaStreamEndCapture(alone, &graph));
}

void nodes() {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cudaGraphNode_t set, kernel, copied, copied_1d, host;
  int value = 2, back[2] = {}, calls = 0;
  OK(cudaGraphCreate(&graph, 0));
  cudaKernelNodeParams launch = {0};
  void* arguments[] = {&numbers, &value};
  launch.func = (void*)add;
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(2);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch));
  value = 4;
  cudaMemsetParams filled = {};
  filled.dst = numbers;
  filled.value = 0x01020304;
  filled.elementSize = 4;
  filled.width = 2;
  filled.height = 1;
  OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &filled));
  OK(cudaGraphAddDependencies(graph, &set, &kernel, 1));  // added after it, but runs before
  FAILS(cudaGraphAddDependencies(graph, &set, &kernel, 1), InvalidValue);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(numbers, 8, 2, 1);
  copy.dstPtr = make_cudaPitchedPtr(back, 8, 2, 1);
  copy.extent = make_cudaExtent(4, 1, 1);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaGraphAddMemcpyNode(&copied, graph, &kernel, 1, &copy));
  OK(cudaGraphAddMemcpyNode1D(&copied_1d, graph, &kernel, 1, back + 1, numbers + 1, 4, cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {[](void* data) { ++*static_cast<int*>(data); }, &calls};
  const cudaGraphNode_t copies[] = {copied, copied_1d};
  OK(cudaGraphAddHostNode(&host, graph, copies, 2, &call));
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(host, &type));
  CHECK(type == cudaGraphNodeTypeHost);
  OK(cudaGraphInstantiate(&instance, graph, 0));
  CHECK(after(instance, 1) == 0x01020306 && back[0] == 0x01020306 && back[1] == 0x01020306 && calls == 1);
  OK(cudaGraphExecKernelNodeSetParams(instance, kernel, &launch));
  CHECK(after(instance, 1) == 0x01020308 && numbers[1] == 0x01020308);
  FAILS(cudaGraphExecKernelNodeSetParams(instance, host, &launch), InvalidValue);
  cudaGraph_t same;
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphClone(&same, graph));
  OK(cudaGraphExecUpdate(instance, same, &info));
  CHECK(after(instance, 1) == 0x01020306);
  OK(cudaGraphExecKernelNodeSetParams(instance, kernel, &launch));
  CHECK(after(instance, 1) == 0x01020308);
  OK(cudaGraphAddDependencies(graph, &kernel, &set, 1));
  FAILS(cudaGraphInstantiate(&instance, graph, 0), InvalidValue);  // a cycle
}

// Nodes that record events or wait for them, and the parameters of any node.
void events() {
  cudaGraph_t graph, child;
  cudaGraphExec_t instance;
  cudaGraphNode_t recorded, waited, kernel, called, inside;
  cudaEvent_t begin, end;
  float milliseconds = -1;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEventRecordNode(&recorded, graph, nullptr, 0, begin));
  FAILS(cudaGraphAddEventRecordNode(&waited, graph, &recorded, 1, nullptr), InvalidValue);
  OK(cudaGraphAddEventWaitNode(&waited, graph, &recorded, 1, begin));
  int value = 5;
  void* arguments[] = {&numbers, &value};
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
  parameters.kernel.func = (void*)add;
  parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1, 1, 1);
  parameters.kernel.kernelParams = arguments;
  OK(cudaGraphCreate(&child, 0));
  OK(cudaGraphAddNode(&inside, child, nullptr, nullptr, 0, &parameters));
  OK(cudaGraphAddNode(&kernel, graph, &waited, nullptr, 1, &parameters));
  OK(cudaGraphAddChildGraphNode(&called, graph, &kernel, 1, child));
  cudaGraphNodeParams record = {cudaGraphNodeTypeEventRecord};
  record.eventRecord.event = end;
  cudaGraphNode_t last;
  OK(cudaGraphAddNode(&last, graph, &called, nullptr, 1, &record));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  FAILS(cudaEventElapsedTime(&milliseconds, begin, end), InvalidResourceHandle);  // not yet
  CHECK(after(instance, 1) == 11);
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(milliseconds >= 0);
  value = 6;
  OK(cudaGraphExecNodeSetParams(instance, kernel, &parameters));
  CHECK(after(instance, 1) == 12);
  FAILS(cudaGraphExecNodeSetParams(instance, waited, &parameters), InvalidValue);
  OK(cudaGraphNodeSetParams(inside, &parameters));  // of the graph alone
  CHECK(after(instance, 1) == 12);
  OK(cudaGraphExecChildGraphNodeSetParams(instance, called, child));
  CHECK(after(instance, 1) == 13);
  FAILS(cudaGraphExecChildGraphNodeSetParams(instance, called, nullptr), InvalidValue);
  cudaEvent_t other;
  OK(cudaEventCreate(&other));
  OK(cudaGraphExecEventRecordNodeSetEvent(instance, last, other));
  FAILS(cudaEventElapsedTime(&milliseconds, begin, other), InvalidResourceHandle);
  OK(cudaGraphLaunch(instance, first));
  OK(cudaEventElapsedTime(&milliseconds, end, other));
  CHECK(milliseconds >= 0);
  cudaGraphNodeParams memory = {cudaGraphNodeTypeMemFree};
  FAILS(cudaGraphNodeSetParams(kernel, &memory), InvalidValue);
  FAILS(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value), NotSupported);
  OK(cudaDeviceGraphMemTrim(0));
}

// Launches that the emulator compares, as it need not run them again.
void repeats() {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  int results[2] = {};
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 2; ++i) {
    OK(cudaMemsetAsync(numbers, 0, 32 * sizeof(int), first));
    slow<<<64, 32, 0, first>>>(numbers, 2 + i);
    OK(cudaMemcpyAsync(results + i, numbers, sizeof(int), cudaMemcpyDefault, first));
  }
  OK(cudaStreamEndCapture(first, &graph));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  for (int i = 0; i < 4; ++i) OK(cudaGraphLaunch(instance, first));
  CHECK(results[0] == 250 && results[1] == 499);
}

// What runs on the host waits for the launch, too.
void libraries() {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cublasHandle_t handle;
  float *x, *y, alpha = 2;
  size_t bytes = 0;
  CHECK(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS && cublasSetStream(handle, first) == CUBLAS_STATUS_SUCCESS);
  OK(cudaMallocManaged(&x, 2 * sizeof(float)));
  OK(cudaMallocManaged(&y, 3 * sizeof(float)));
  OK(cub::DeviceReduce::Sum(nullptr, bytes, y, y + 2, 2, first));
  void* temporary;
  OK(cudaMalloc(&temporary, bytes));
  x[0] = x[1] = 0;
  y[0] = y[1] = y[2] = 1;
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK(cublasSaxpy(handle, 2, &alpha, x, 1, y, 1) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &alpha, y, 2, &alpha, 1, &alpha, x, 2) ==
        CUBLAS_STATUS_SUCCESS);
  OK(cub::DeviceReduce::Sum(temporary, bytes, y, y + 2, 2, first));
  OK(cudaStreamEndCapture(first, &graph));
  CHECK(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  CHECK(y[0] == 1 && y[2] == 1 && x[0] == 0);
  OK(cudaGraphInstantiate(&instance, graph, 0));
  x[1] = 10;
  alpha = 3;  // the matrix product has the old one as a factor, and reads this one
  OK(cudaGraphLaunch(instance, first));
  OK(cudaDeviceSynchronize());
  CHECK(y[0] == 1 && y[1] == 21 && y[2] == 22 && x[0] == 2 * 1 * 3 + 2 * 0 && x[1] == 2 * 21 * 3 + 2 * 10);
}

__global__ void count_down(int* left, cudaGraphConditionalHandle handle) {
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0 ? 1 : 0);
}
__global__ void choose(cudaGraphConditionalHandle handle, const int* value) {
  if (*value >= 0) cudaGraphSetConditional(handle, *value);
}

// Memory exists from where a graph allocates it to where it is freed, in this graph or after it.
void memory() {
  cudaMemPool_t pool;
  unsigned long long threshold = 1 << 20, kept = 0;
  int device = 0, *in_pool;
  OK(cudaDeviceGetDefaultMemPool(&pool, device));
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  CHECK(kept == threshold);
  FAILS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &kept), NotSupported);
  OK(cudaMallocFromPoolAsync(&in_pool, 64, pool, first));
  OK(cudaFreeAsync(in_pool, first));
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  int *freed_inside, *freed_after;
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaMallocAsync(&freed_inside, 32 * sizeof(int), first));
  OK(cudaMemsetAsync(freed_inside, 0, 32 * sizeof(int), first));
  add<<<1, 32, 0, first>>>(freed_inside, 5);
  OK(cudaMallocAsync(&freed_after, 32 * sizeof(int), first));
  OK(cudaMemcpyAsync(freed_after, freed_inside, 32 * sizeof(int), cudaMemcpyDefault, first));
  OK(cudaFreeAsync(freed_inside, first));
  OK(cudaStreamEndCapture(first, &graph));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, freed_after));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);  // not yet
  for (int i = 0; i < 2; ++i) {
    numbers[0] = 0;
    OK(cudaGraphLaunch(instance, first));
    OK(cudaMemcpyAsync(numbers, freed_after, sizeof(int), cudaMemcpyDefault, first));
    OK(cudaStreamSynchronize(first));
    CHECK(numbers[0] == 5);
    OK(cudaPointerGetAttributes(&attributes, freed_inside));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    OK(cudaFreeAsync(freed_after, first));
  }
  cudaMemAllocNodeParams parameters = {};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location = {cudaMemLocationTypeDevice, device};
  parameters.bytesize = 32 * sizeof(int);
  cudaGraphNode_t allocation, filled, freed;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &parameters));
  cudaGraphNodeParams fill = {cudaGraphNodeTypeMemset};
  fill.memset.dst = parameters.dptr;
  fill.memset.value = 7;
  fill.memset.elementSize = 4;
  fill.memset.width = 32;
  fill.memset.height = 1;
  OK(cudaGraphAddNode(&filled, graph, &allocation, nullptr, 1, &fill));
  cudaGraphNode_t copied;
  OK(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, numbers, parameters.dptr, 4, cudaMemcpyDefault));
  OK(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, parameters.dptr));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  CHECK(after(instance, 0) == 7 && after(instance, 1) == 7);
}

void conditions() {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  cudaGraphConditionalHandle handle;
  // A loop, whose body is captured, after what is captured before it.
  const cudaGraphNode_t* last;
  size_t count = 0;
  cudaStreamCaptureStatus status;
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaStreamGetCaptureInfo(first, &status, nullptr, &graph, &last, nullptr, &count));
  OK(cudaGraphConditionalHandleCreate(&handle, graph));
  count_down<<<1, 1, 0, first>>>(numbers, handle);
  OK(cudaStreamGetCaptureInfo(first, &status, nullptr, &graph, &last, nullptr, &count));
  CHECK(count == 1);
  cudaGraphNode_t node;
  cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};
  loop.conditional.handle = handle;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  OK(cudaGraphAddNode(&node, graph, last, nullptr, count, &loop));
  OK(cudaStreamUpdateCaptureDependencies(first, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  OK(cudaStreamGetCaptureInfo(first, &status, nullptr, &graph, &last, nullptr, &count));
  CHECK(count == 1 && last[0] == node);
  OK(cudaStreamEndCapture(first, &graph));
  cudaGraphNode_t beside;  // what is captured need not come after it
  OK(cudaGraphAddEmptyNode(&beside, loop.conditional.phGraph_out[0], nullptr, 0));
  OK(cudaStreamBeginCaptureToGraph(second, loop.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                   cudaStreamCaptureModeGlobal));
  add<<<1, 31, 0, second>>>(numbers + 1, 1);
  count_down<<<1, 1, 0, second>>>(numbers, handle);
  OK(cudaStreamEndCapture(second, nullptr));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  numbers[1] = 0;
  CHECK(after(instance, 5) == 0 && numbers[1] == 4);
  CHECK(after(instance, 1) == 0 && numbers[1] == 4);
  // A choice between two bodies or none; each launch begins with the default.
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams choice = {cudaGraphNodeTypeConditional};
  choice.conditional.handle = handle + 1;
  choice.conditional.type = cudaGraphCondTypeSwitch;
  choice.conditional.size = 2;
  FAILS(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &choice), InvalidValue);
  choice.conditional.handle = handle;
  choice.conditional.size = 0;
  FAILS(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &choice), InvalidValue);
  choice.conditional.size = 2;
  int* chosen = numbers + 1;
  void* arguments[] = {&handle, &chosen};
  cudaGraphNodeParams kernel = {cudaGraphNodeTypeKernel};
  kernel.kernel.func = (void*)choose;
  kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1, 1, 1);
  kernel.kernel.kernelParams = arguments;
  cudaGraphNode_t before;
  OK(cudaGraphAddNode(&before, graph, nullptr, nullptr, 0, &kernel));
  OK(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &choice));
  for (int body = 0; body < 2; ++body) {
    int value = body == 0 ? 10 : 20;
    void* values[] = {&numbers, &value};
    kernel.kernel.func = (void*)add;
    kernel.kernel.kernelParams = values;
    cudaGraphNode_t inside;
    OK(cudaGraphAddNode(&inside, choice.conditional.phGraph_out[body], nullptr, nullptr, 0, &kernel));
  }
  OK(cudaGraphInstantiate(&instance, graph, 0));
  for (const auto& [value, sum] : {std::pair(0, 10), {-1, 20}, {2, 0}, {1, 20}, {2, 0}, {-1, 20}}) {
    *chosen = value;
    CHECK(after(instance, 0) == sum);
  }
  *chosen = 2;
  CHECK(after(instance, 0) == 0);
  *chosen = -1;
  OK(cudaGraphClone(&graph, graph));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  CHECK(after(instance, 0) == 20);
}

// A launch of a graph is one of each kernel, in its line.
void conflicts(bool faults) {
  cudaGraph_t graph;
  cudaGraphExec_t instance;
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  column<<<1, 32, 0, first>>>(numbers);
  int calls = 0;
  if (faults) {
    OK(cudaMemcpyAsync(numbers + 31, &calls, 8, cudaMemcpyDefault, first));  // of 4 bytes
    OK(cudaLaunchHostFunc(
        first, [](void* data) { ++*static_cast<int*>(data); }, &calls));
    OK(cudaStreamEndCapture(first, &graph));
    OK(cudaGraphInstantiate(&instance, graph, 0));
    FAILS(cudaGraphLaunch(instance, first), InvalidValue);
    CHECK(calls == 0);  // the first error ends a graph
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    outside<<<1, 1, 0, first>>>(numbers);
  }
  OK(cudaStreamEndCapture(first, &graph));
  OK(cudaGraphInstantiate(&instance, graph, 0));
  for (int i = 0; i < 3 && !faults; ++i) OK(cudaGraphLaunch(instance, first));
  if (!faults) return;
  CHECK(cudaGraphLaunch(instance, first) == cudaErrorIllegalAddress);
  CHECK(cudaStreamSynchronize(first) == cudaErrorIllegalAddress);
}

int main(int argc, char**) {
  OK(cudaMallocManaged(&numbers, 32 * sizeof(int)));
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  if (argc > 1) {
    conflicts(true);
    return checked();
  }
  capture();
  several_streams();
  errors();
  nodes();
  events();
  repeats();
  libraries();
  memory();
  conditions();
  conflicts(false);
  OK(cudaDeviceSynchronize());
  return checked();
}
