#include <bankwise/emulator/runtime/graphs.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/captures.hpp>

#define BANKWISE_CALLER __builtin_return_address(0)

namespace bankwise::emulator::runtime {

/// A node of a graph that can be launched. `after`: numbers of nodes.
struct NodeToRun {
  cudaGraphNode_t origin;
  cudaGraphNodeType type;
  Work work;
  std::vector<std::size_t> after;
};
using NodesToRun = std::vector<NodeToRun>;

}  // namespace bankwise::emulator::runtime

using namespace bankwise::emulator::runtime;

struct CUgraphExec_st {
  std::shared_ptr<const NodesToRun> nodes;  ///< shared with graphs that have captured a launch
  Conditions conditions;
};

namespace {

using Nodes = std::vector<cudaGraphNode_t>;

/// The nodes in an order in which they may run, that of the calls if it is one; empty if they form a cycle.
NodesToRun to_run(const CUgraph_st& graph) {
  NodesToRun nodes;
  std::map<cudaGraphNode_t, std::optional<std::size_t>> numbers;  // nothing while those before it are placed
  bool has_cycle = false;
  const auto place = [&](const auto& self, cudaGraphNode_t node) -> std::size_t {
    const auto [known, is_new] = numbers.try_emplace(node);
    if (is_new) {
      std::vector<std::size_t> after;
      for (auto* const earlier : node->after) after.push_back(self(self, earlier));
      std::sort(after.begin(), after.end());
      known->second = nodes.size();
      nodes.push_back({node, node->type, node->work, std::move(after)});
    }
    has_cycle |= !known->second;
    return known->second.value_or(0);
  };
  for (const auto& node : graph.nodes) place(place, node.get());
  return has_cycle ? NodesToRun() : nodes;
}

/// Runs nodes up to the first error.
cudaError_t run_nodes(const NodesToRun& nodes, const Conditions& conditions) {
  for (const auto& condition : conditions) {
    if (condition->is_reset) condition->value = condition->at_launch;
  }
  for (const NodeToRun& node : nodes) {
    if (const cudaError_t error = node.work(); error != cudaSuccess) return error;
  }
  return lasting_error();
}

cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                     cudaGraphNodeType type, const Work& work) {
  if (node == nullptr || graph == nullptr || (after == nullptr && count > 0) || !work) {
    return failed(cudaErrorInvalidValue);
  }
  *node = graph->add(type, work, Nodes(after, after + count));
  return lasting_error();
}

// The work of nodes, by their parameters; empty if these are wrong.

constexpr cudaGraphNodeType type_of(const cudaKernelNodeParams*) { return cudaGraphNodeTypeKernel; }
constexpr cudaGraphNodeType type_of(const cudaMemcpy3DParms*) { return cudaGraphNodeTypeMemcpy; }
constexpr cudaGraphNodeType type_of(const cudaMemsetParams*) { return cudaGraphNodeTypeMemset; }
constexpr cudaGraphNodeType type_of(const cudaHostNodeParams*) { return cudaGraphNodeTypeHost; }

Work work_of(const cudaKernelNodeParams& p, const void*) {
  if (p.func.launch == nullptr || p.extra != nullptr) return {};
  return work_given_by([&](cudaStream_t stream) {
    p.func.launch(p.func.kernel, {p.gridDim, p.blockDim, p.sharedMemBytes, false, stream}, p.kernelParams);
  });
}
Work work_of(const cudaMemcpy3DParms& p, const void* caller) {
  return [=] { return copy_boxes(p, caller); };
}
Work work_of(const cudaMemsetParams& p, const void* caller) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return {};
  return [=] { return set_elements(p, caller); };
}
Work work_of(const cudaHostNodeParams& p, const void*) {
  return [=] {
    p.fn(p.userData);
    return cudaSuccess;
  };
}

Work work_of(const cudaChildGraphNodeParams& p, const void* = nullptr) {
  if (p.graph == nullptr) return {};
  return [nodes = to_run(*p.graph), conditions = p.graph->conditions] { return run_nodes(nodes, conditions); };
}
Work work_of_event(cudaGraphNodeType type, cudaEvent_t event) {
  if (event == nullptr) return {};
  if (type == cudaGraphNodeTypeWaitEvent) return lasting_error;  // all work before it has ended
  return [=] { return record(event); };
}
/// Those that may be set; empty for others, too.
Work work_of(const cudaGraphNodeParams& p, const void* caller) {
  switch (p.type) {
    case cudaGraphNodeTypeKernel: return work_of(p.kernel, caller);
    case cudaGraphNodeTypeMemcpy: return work_of(p.memcpy.copyParams, caller);
    case cudaGraphNodeTypeMemset: return work_of(p.memset, caller);
    case cudaGraphNodeTypeHost: return work_of(p.host, caller);
    case cudaGraphNodeTypeGraph: return work_of(p.graph);
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent: return work_of_event(p.type, p.eventRecord.event);
    default: return {};
  }
}

/// The graphs of a conditional node, and their addresses.
struct Bodies {
  explicit Bodies(unsigned count) : graphs(count) {
    for (CUgraph_st& graph : graphs) addresses.push_back(&graph);
  }
  std::vector<CUgraph_st> graphs;
  std::vector<cudaGraph_t> addresses;
};
cudaError_t run_conditional(const Condition& condition, cudaGraphConditionalNodeType type, const Bodies& bodies) {
  const auto run_body = [&](std::size_t number) {
    if (number >= bodies.graphs.size()) return lasting_error();
    return run_nodes(to_run(bodies.graphs[number]), bodies.graphs[number].conditions);
  };
  if (type == cudaGraphCondTypeIf) return run_body(condition.value != 0 ? 0 : 1);
  if (type == cudaGraphCondTypeSwitch) return run_body(condition.value);
  cudaError_t error = lasting_error();
  while (condition.value != 0 && error == cudaSuccess) error = run_body(0);
  return error;
}
constexpr unsigned max_bodies = 1024;
/// Sets the bodies, which the program fills before it instantiates the graph.
Work work_of(cudaConditionalNodeParams& p, const CUgraph_st* graph) {
  const unsigned most = p.type == cudaGraphCondTypeIf ? 2 : p.type == cudaGraphCondTypeWhile ? 1 : max_bodies;
  if (graph == nullptr || p.size == 0 || p.size > most) return {};
  for (const std::shared_ptr<Condition>& condition : graph->conditions) {
    if (std::uintptr_t(condition.get()) != p.handle) continue;
    const auto bodies = std::make_shared<Bodies>(p.size);
    p.phGraph_out = bodies->addresses.data();
    return [condition, bodies, type = p.type] { return run_conditional(*condition, type, *bodies); };
  }
  return {};
}

template <class Parameters>
Work work_of(const Parameters* parameters, const void* caller) {
  return parameters != nullptr ? work_of(*parameters, caller) : Work();
}

cudaError_t set_node(cudaGraphNode_t node, cudaGraphNodeType type, const Work& work) {
  if (node == nullptr || node->type != type || !work) return failed(cudaErrorInvalidValue);
  node->work = work;
  return lasting_error();
}

/// Up to *count nodes, and their number; without room only the number.
cudaError_t list_nodes(cudaGraph_t graph, bool only_roots, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return failed(cudaErrorInvalidValue);
  Nodes list;
  for (const auto& node : graph->nodes) {
    if (!only_roots || node->after.empty()) list.push_back(node.get());
  }
  if (nodes == nullptr) return give(count, list.size());
  const std::size_t listed = std::min(*count, list.size());
  std::copy_n(list.begin(), listed, nodes);
  std::fill(nodes + listed, nodes + *count, nullptr);
  return give(count, listed);
}

template <class Object>
cudaError_t destroy(Object* object) {
  if (object == nullptr) return failed(cudaErrorInvalidValue);
  delete object;
  return lasting_error();
}

cudaError_t set_node(cudaGraphExec_t instance, cudaGraphNode_t node, cudaGraphNodeType type, const Work& work) {
  if (instance == nullptr || !work) return failed(cudaErrorInvalidValue);
  NodesToRun nodes = *instance->nodes;
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [=](const NodeToRun& candidate) { return candidate.origin == node; });
  if (found == nodes.end() || found->type != type) return failed(cudaErrorInvalidValue);
  found->work = work;
  instance->nodes = std::make_shared<const NodesToRun>(std::move(nodes));
  return lasting_error();
}

}  // namespace

// --- Nodes ---

#define BANKWISE_NODE(Parameters, add, set, set_in_instance)                                                  \
  cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,  \
                  const Parameters* parameters) {                                                             \
    return add_node(node, graph, after, count, type_of(parameters), work_of(parameters, BANKWISE_CALLER));    \
  }                                                                                                           \
  cudaError_t set(cudaGraphNode_t node, const Parameters* parameters) {                                       \
    return set_node(node, type_of(parameters), work_of(parameters, BANKWISE_CALLER));                         \
  }                                                                                                           \
  cudaError_t set_in_instance(cudaGraphExec_t instance, cudaGraphNode_t node, const Parameters* parameters) { \
    return set_node(instance, node, type_of(parameters), work_of(parameters, BANKWISE_CALLER));               \
  }
BANKWISE_NODES(BANKWISE_NODE)

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemcpy, [=, caller = BANKWISE_CALLER] {
    return copy(to, from, bytes, kind, "cudaGraphAddMemcpyNode1D", caller);
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                       std::size_t count, cudaGraph_t child) {
  return add_node(node, graph, after, count, cudaGraphNodeTypeGraph, work_of({child}));
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node, cudaGraph_t child) {
  return set_node(instance, node, cudaGraphNodeTypeGraph, work_of({child}));
}
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                     std::size_t count, cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr || parameters->bytesize == 0) return failed(cudaErrorInvalidValue);
  parameters->dptr = allocate(MemoryKind::device, parameters->bytesize, "cudaGraphAddMemAllocNode", BANKWISE_CALLER);
  if (parameters->dptr == nullptr) return failed(cudaErrorMemoryAllocation);
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemAlloc,
                  allocation_by_graph(parameters->dptr, BANKWISE_CALLER));
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                    std::size_t count, void* memory) {
  return add_node(node, graph, after, count, cudaGraphNodeTypeMemFree,
                  freeing_by_graph("cudaGraphAddMemFreeNode", memory, BANKWISE_CALLER));
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph, unsigned at_launch,
                                             unsigned flags) {
  if (handle == nullptr || graph == nullptr) return failed(cudaErrorInvalidValue);
  const bool is_reset = flags == cudaGraphCondAssignDefault;
  graph->conditions.push_back(std::make_shared<Condition>(Condition{at_launch, at_launch, is_reset}));
  *handle = std::uintptr_t(graph->conditions.back().get());
  return lasting_error();
}
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
  bankwise::emulator::stay_in_order();
  reinterpret_cast<Condition*>(handle)->value = value;
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, std::size_t count, cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return failed(cudaErrorInvalidValue);
  cudaGraphNodeParams& p = *parameters;
  switch (p.type) {
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, after, count);
    case cudaGraphNodeTypeMemAlloc: return cudaGraphAddMemAllocNode(node, graph, after, count, &p.alloc);
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(node, graph, after, count, p.free.dptr);
    case cudaGraphNodeTypeConditional:
      return add_node(node, graph, after, count, p.type, work_of(p.conditional, graph));
    default: return add_node(node, graph, after, count, p.type, work_of(p, BANKWISE_CALLER));
  }
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return failed(cudaErrorInvalidValue);
  return set_node(node, parameters->type, work_of(*parameters, BANKWISE_CALLER));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return failed(cudaErrorInvalidValue);
  return set_node(instance, node, parameters->type, work_of(*parameters, BANKWISE_CALLER));
}
#define BANKWISE_EVENT_NODE(of_event, type)                                                                        \
  cudaError_t cudaGraphAdd##of_event##Node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, \
                                           std::size_t count, cudaEvent_t event) {                                 \
    return add_node(node, graph, after, count, type, work_of_event(type, event));                                  \
  }                                                                                                                \
  cudaError_t cudaGraph##of_event##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {                         \
    return set_node(node, type, work_of_event(type, event));                                                       \
  }                                                                                                                \
  cudaError_t cudaGraphExec##of_event##NodeSetEvent(cudaGraphExec_t instance, cudaGraphNode_t node,                \
                                                    cudaEvent_t event) {                                           \
    return set_node(instance, node, type, work_of_event(type, event));                                             \
  }
BANKWISE_EVENT_NODE(EventRecord, cudaGraphNodeTypeEventRecord)
BANKWISE_EVENT_NODE(EventWait, cudaGraphNodeTypeWaitEvent)
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                  std::size_t count) {
  return add_node(node, graph, after, count, cudaGraphNodeTypeEmpty, lasting_error);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     std::size_t count) {
  if (graph == nullptr || (count > 0 && (from == nullptr || to == nullptr))) return failed(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    Nodes& after = to[i]->after;
    if (from[i] == to[i] || std::find(after.begin(), after.end(), from[i]) != after.end()) {
      return failed(cudaErrorInvalidValue);
    }
    after.push_back(from[i]);
  }
  return lasting_error();
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) { return give(type, node->type); }

// --- Graphs ---

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  if (graph == nullptr) return failed(cudaErrorInvalidValue);
  *graph = new CUgraph_st;
  return lasting_error();
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  if (clone == nullptr || graph == nullptr) return failed(cudaErrorInvalidValue);
  *clone = new CUgraph_st;
  (*clone)->conditions = graph->conditions;
  std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
  for (const auto& node : graph->nodes) copies[node.get()] = (*clone)->add(node->type, node->work, {});
  for (const auto& node : graph->nodes) {
    for (auto* const earlier : node->after) copies[node.get()]->after.push_back(copies[earlier]);
  }
  return lasting_error();
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return destroy(graph); }
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return list_nodes(graph, false, nodes, count);
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return list_nodes(graph, true, nodes, count);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* instance, cudaGraph_t graph, unsigned long long) {
  if (instance == nullptr || graph == nullptr) return failed(cudaErrorInvalidValue);
  NodesToRun nodes = to_run(*graph);
  if (nodes.size() != graph->nodes.size()) return failed(cudaErrorInvalidValue);
  *instance = new CUgraphExec_st{std::make_shared<const NodesToRun>(std::move(nodes)), graph->conditions};
  return lasting_error();
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t instance) { return destroy(instance); }

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t instance, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  if (instance == nullptr || graph == nullptr || result == nullptr) return failed(cudaErrorInvalidValue);
  *result = {};
  NodesToRun nodes = to_run(*graph);
  const NodesToRun& old = *instance->nodes;
  if (nodes.size() != old.size()) result->result = cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < nodes.size() && result->result == cudaGraphExecUpdateSuccess; ++i) {
    if (nodes[i].type == old[i].type && nodes[i].after == old[i].after) {
      nodes[i].origin = old[i].origin;  // whose parameters a program may set
      continue;
    }
    result->result = nodes[i].type != old[i].type ? cudaGraphExecUpdateErrorNodeTypeChanged
                                                  : cudaGraphExecUpdateErrorTopologyChanged;
    result->errorNode = nodes[i].origin;
  }
  if (result->result != cudaGraphExecUpdateSuccess) return failed(cudaErrorGraphExecUpdateFailure);
  instance->nodes = std::make_shared<const NodesToRun>(std::move(nodes));
  return lasting_error();
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t instance, cudaGraph_t graph, cudaGraphNode_t* wrong,
                                cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(instance, graph, &info);
  if (wrong != nullptr) *wrong = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream) {
  if (instance == nullptr) return failed(cudaErrorInvalidValue);
  return give_to(stream, cudaGraphNodeTypeGraph, [run = *instance] { return run_nodes(*run.nodes, run.conditions); });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t instance, cudaStream_t stream) {
  return instance == nullptr ? failed(cudaErrorInvalidValue) : refuse_while_capturing(stream);
}
