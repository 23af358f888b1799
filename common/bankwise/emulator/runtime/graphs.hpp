// Graphs: work that runs later, from streams that capture it, or from nodes that the program adds. A launch runs the
// nodes one after another.
#pragma once

#include <bankwise/emulator/runtime/device.hpp>
#include <bankwise/emulator/runtime/launching.hpp>
#include <bankwise/emulator/runtime/textures.hpp>

struct CUgraph_st;
using cudaGraph_t = CUgraph_st*;
struct CUgraphNode_st;
using cudaGraphNode_t = CUgraphNode_st*;
struct CUgraphExec_st;
using cudaGraphExec_t = CUgraphExec_st*;
struct cudaGraphEdgeData {
  unsigned char from_port, to_port, type;
};

// --- Streams that capture ---

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = nullptr, cudaGraph_t* graph = nullptr,
                                     const cudaGraphNode_t** last = nullptr, const cudaGraphEdgeData** edges = nullptr,
                                     size_t* count = nullptr);
BANKWISE_FUNCTION(cudaError_t, cudaStreamGetCaptureInfo,
                  (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                   const cudaGraphNode_t** last, size_t* count),
                  cudaStreamGetCaptureInfo(stream, status, id, graph, last, nullptr, count))
enum : unsigned { cudaStreamAddCaptureDependencies, cudaStreamSetCaptureDependencies };
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges, size_t count, unsigned flags = 0);
BANKWISE_FUNCTION(cudaError_t, cudaStreamUpdateCaptureDependencies,
                  (cudaStream_t stream, cudaGraphNode_t* nodes, size_t count, unsigned flags = 0),
                  cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags))
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);

// --- Nodes ---

namespace bankwise::emulator::runtime {

/// A kernel of any type. bankcheck removes a cast of the kernel to void*.
struct KernelOfNode {
  void* kernel = nullptr;
  cudaError_t (*launch)(void* kernel, const Configuration& configuration, void** arguments) = nullptr;

  KernelOfNode() = default;
  KernelOfNode(decltype(nullptr)) {}
  template <class... Parameters>
  KernelOfNode(void (*of_type)(Parameters...))
      : kernel(reinterpret_cast<void*>(of_type)),
        launch([](void* address, const Configuration& configuration, void** arguments) {
          return launch_from_list(reinterpret_cast<void (*)(Parameters...)>(address), configuration, arguments,
                                  std::index_sequence_for<Parameters...>());
        }) {}
  template <class Void, class = std::enable_if_t<std::is_void_v<Void>>>
  KernelOfNode(Void* pointer)
      __attribute__((__error__("cudaKernelNodeParams with a kernel that is a void* is not emulated")));
  operator void*() const { return kernel; }
};

}  // namespace bankwise::emulator::runtime

struct cudaKernelNodeParams {
  bankwise_runtime::KernelOfNode func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};

struct cudaMemcpyNodeParams {
  int flags, reserved[3];
  cudaMemcpy3DParms copyParams;
};
struct cudaChildGraphNodeParams {
  cudaGraph_t graph;
};
struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc* accessDescs;
  size_t accessDescCount, bytesize;
  void* dptr;
};
struct cudaMemFreeNodeParams {
  void* dptr;
};
using cudaGraphConditionalHandle = unsigned long long;
enum : unsigned { cudaGraphCondAssignDefault = 1 };
enum cudaGraphConditionalNodeType { cudaGraphCondTypeIf, cudaGraphCondTypeWhile, cudaGraphCondTypeSwitch };
struct cudaEventRecordNodeParams {
  cudaEvent_t event;
};
using cudaEventWaitNodeParams = cudaEventRecordNodeParams;
struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned size;
  cudaGraph_t* phGraph_out;
};
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    cudaKernelNodeParams kernel;
    cudaMemcpyNodeParams memcpy;
    cudaMemsetParams memset;
    cudaHostNodeParams host;
    cudaChildGraphNodeParams graph;
    cudaMemAllocNodeParams alloc;
    cudaMemFreeNodeParams free;
    cudaEventRecordNodeParams eventRecord;
    cudaEventWaitNodeParams eventWait;
    cudaConditionalNodeParams conditional;
  };
};

namespace bankwise::emulator::runtime {

/// The work of a node of graphs.
cudaError_t set_elements(const cudaMemsetParams& parameters, const void* caller);

}  // namespace bankwise::emulator::runtime

#define BANKWISE_NODE(Parameters, add, set, set_in_instance)                                            \
  cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, \
                  const Parameters* parameters);                                                        \
  cudaError_t set(cudaGraphNode_t node, const Parameters* parameters);                                  \
  cudaError_t set_in_instance(cudaGraphExec_t instance, cudaGraphNode_t node, const Parameters* parameters);
#define BANKWISE_NODES(X)                                                                                         \
  X(cudaKernelNodeParams, cudaGraphAddKernelNode, cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams) \
  X(cudaMemcpy3DParms, cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams)    \
  X(cudaMemsetParams, cudaGraphAddMemsetNode, cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams)     \
  X(cudaHostNodeParams, cudaGraphAddHostNode, cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams)
BANKWISE_NODES(BANKWISE_NODE)
#undef BANKWISE_NODE
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       size_t count, cudaGraph_t child);
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node, cudaGraph_t child);
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     size_t count, cudaMemAllocNodeParams* parameters);
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    size_t count, void* memory);
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* parameters);
BANKWISE_FUNCTION(cudaError_t, cudaGraphAddNode,
                  (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                   cudaGraphNodeParams* parameters),
                  cudaGraphAddNode(node, graph, after, nullptr, count, parameters))
/// All but those of memory and conditions, whose parameters stay as they are.
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters);
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node, cudaGraphNodeParams* parameters);
#define BANKWISE_EVENT_NODE(of_event)                                                                              \
  cudaError_t cudaGraphAdd##of_event##Node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, \
                                           size_t count, cudaEvent_t event);                                       \
  cudaError_t cudaGraph##of_event##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);                          \
  cudaError_t cudaGraphExec##of_event##NodeSetEvent(cudaGraphExec_t instance, cudaGraphNode_t node, cudaEvent_t event);
BANKWISE_EVENT_NODE(EventRecord)
BANKWISE_EVENT_NODE(EventWait)
#undef BANKWISE_EVENT_NODE
// A driver's memory for graphs has a size that this one cannot know.
enum cudaGraphMemAttributeType {
  cudaGraphMemAttrUsedMemCurrent,
  cudaGraphMemAttrUsedMemHigh,
  cudaGraphMemAttrReservedMemCurrent,
  cudaGraphMemAttrReservedMemHigh
};
BANKWISE_RUNTIME(cudaDeviceGetGraphMemAttribute, (int, cudaGraphMemAttributeType, void*), failed(cudaErrorNotSupported))
BANKWISE_RUNTIME(cudaDeviceSetGraphMemAttribute, (int, cudaGraphMemAttributeType, void*), failed(cudaErrorNotSupported))
BANKWISE_RUNTIME(cudaDeviceGraphMemTrim, (int), lasting_error())
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned at_launch = 0, unsigned flags = 0);
/// For kernels.
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);

// --- Graphs ---

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
/// The nodes, or only their number if `nodes` is null.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count);

enum : unsigned {
  cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
  cudaGraphInstantiateFlagUpload = 2,
  cudaGraphInstantiateFlagDeviceLaunch = 4,
  cudaGraphInstantiateFlagUseNodePriority = 8
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess,
  cudaGraphExecUpdateError,
  cudaGraphExecUpdateErrorTopologyChanged,
  cudaGraphExecUpdateErrorNodeTypeChanged,
  cudaGraphExecUpdateErrorFunctionChanged,
  cudaGraphExecUpdateErrorParametersChanged,
  cudaGraphExecUpdateErrorNotSupported
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* instance, cudaGraph_t graph, unsigned long long flags = 0);
BANKWISE_FUNCTION(cudaError_t, cudaGraphInstantiate,
                  (cudaGraphExec_t * instance, cudaGraph_t graph, unsigned long long flags = 0),
                  cudaGraphInstantiateWithFlags(instance, graph, flags))
BANKWISE_FUNCTION(cudaError_t, cudaGraphInstantiate,
                  (cudaGraphExec_t * instance, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t),
                  cudaGraphInstantiateWithFlags(instance, graph))
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t instance);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t instance, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t instance, cudaGraph_t graph, cudaGraphNode_t* wrong,
                                cudaGraphExecUpdateResult* result);
cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream);
cudaError_t cudaGraphUpload(cudaGraphExec_t instance, cudaStream_t stream);
