// Streams that capture: what a program gives to them is kept for a graph, and does not run. All other work runs at
// once. Compiles as C++17.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <bankwise/emulator/runtime/types.hpp>

namespace bankwise::emulator::runtime {

using Work = std::function<cudaError_t()>;

/// Whether work for a stream may not run now: it captures, or it is the default stream, for which others wait that do.
bool is_capturing(cudaStream_t stream);
/// Keeps the work for such a stream as a node of its graph, or returns why it cannot.
cudaError_t keep(cudaStream_t stream, cudaGraphNodeType type, Work work);
/// Runs the work, or keeps it.
template <class AnyWork>
cudaError_t give_to(cudaStream_t stream, cudaGraphNodeType type, AnyWork work) {
  return is_capturing(stream) ? keep(stream, type, std::move(work)) : work();
}

// Nodes of graphs. The memory exists only from where a graph allocates it to where it is freed.
Work allocation_by_graph(void* memory, const void* caller);
Work freeing_by_graph(const char* function, void* pointer, const void* caller);

/// The work that `give` gives to the stream that it gets; empty if there is none.
Work work_given_by(const std::function<void(cudaStream_t)>& give);

/// A call that no capture allows ends the capture of its stream with an error. Returns that error, or the lasting one.
cudaError_t refuse_while_capturing(cudaStream_t stream, cudaError_t error = cudaErrorStreamCaptureUnsupported);
/// The same for a call that could wait for all streams, such as cudaMalloc(): the mode of a capture may allow it.
cudaError_t refuse_unsafe_call();

// Events of captures. `external`: the record and the wait are nodes of the graph.
bool is_captured(cudaEvent_t event);
cudaError_t record_in_capture(cudaEvent_t event, cudaStream_t stream);
/// A stream waits for an event: it joins the capture in which the event was recorded.
cudaError_t wait_in_capture(cudaStream_t stream, cudaEvent_t event);
/// Sets the time of an event, as a node of a graph does.
cudaError_t record(cudaEvent_t event);
/// The event is recorded outside of captures, or destroyed.
void forget_capture_of(cudaEvent_t event);

/// What decides which body of a conditional node runs. Kernels set it: its address is the handle.
struct Condition {
  unsigned value, at_launch;
  bool is_reset;  ///< to `at_launch`
};
using Conditions = std::vector<std::shared_ptr<Condition>>;

}  // namespace bankwise::emulator::runtime

/// Nodes and graphs. `after`: nodes of the same graph.
struct CUgraphNode_st {
  cudaGraphNodeType type;
  bankwise_runtime::Work work;
  std::vector<CUgraphNode_st*> after;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  bankwise_runtime::Conditions conditions;

  CUgraphNode_st* add(cudaGraphNodeType type, bankwise_runtime::Work work, std::vector<CUgraphNode_st*> after) {
    nodes.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{type, std::move(work), std::move(after)}));
    return nodes.back().get();
  }
};
