#include <bankwise/emulator/runtime/captures.hpp>

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <bankwise/emulator/runtime/graphs.hpp>

namespace bankwise::emulator::runtime {
namespace {

using Nodes = std::vector<cudaGraphNode_t>;

struct CapturingStream {
  Nodes last;  ///< what the stream's next node comes after
  bool is_blocking;
};

struct Capture {
  unsigned long long id;
  cudaStream_t origin;
  cudaStreamCaptureMode mode;
  cudaGraph_t graph;
  std::unique_ptr<CUgraph_st> created;      ///< the graph, unless the program has created it
  std::size_t first = graph->nodes.size();  ///< of the nodes that are captured
  std::thread::id thread = std::this_thread::get_id();
  bool is_valid = true;
  std::map<cudaStream_t, CapturingStream> streams{};  ///< the origin, and those that joined it
};

struct CapturedEvent {
  unsigned long long capture;
  Nodes nodes;
};

std::mutex capture_mutex;
// Never destroyed: the program's destructors call CUDA.
auto& captures = *new std::list<Capture>;
auto& captured_events = *new std::map<cudaEvent_t, CapturedEvent>;
std::atomic<std::size_t> captures_or_events{0};  // calls need no lock while it is 0
unsigned long long last_id = 0;
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

/// For the functions below: the tables, while they are locked.
struct CaptureTables {
  std::lock_guard<std::mutex> lock{capture_mutex};
  ~CaptureTables() { captures_or_events = captures.size() + captured_events.size(); }
};

bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

template <class Predicate>
Capture* first_capture(Predicate is_wanted) {
  const auto found = std::find_if(captures.begin(), captures.end(), is_wanted);
  return found != captures.end() ? &*found : nullptr;
}
Capture* capture_of(cudaStream_t stream) {
  return first_capture([=](const Capture& capture) { return capture.streams.contains(stream); });
}
Capture* capture_by_id(unsigned long long id) {
  return first_capture([=](const Capture& capture) { return capture.id == id; });
}

bool is_blocking(const Capture& capture) {
  return std::any_of(capture.streams.begin(), capture.streams.end(),
                     [](const auto& stream) { return stream.second.is_blocking; });
}
/// Whether it is the default stream, which waits for streams that capture.
bool waits_for_captures(cudaStream_t stream) { return is_legacy(stream) && first_capture(is_blocking) != nullptr; }

/// Invalidates the captures whose streams the default stream would wait for.
cudaError_t refuse_legacy() {
  for (Capture& capture : captures) capture.is_valid &= !is_blocking(capture);
  return failed(cudaErrorStreamCaptureImplicit);
}

bool blocks(cudaStream_t stream) {
  unsigned flags = 0;
  cudaStreamGetFlags(stream, &flags);
  return (flags & cudaStreamNonBlocking) == 0;
}

/// Captures to the graph, after these nodes of it, or to a new one.
void begin(cudaStream_t stream, cudaStreamCaptureMode mode, bool blocking, cudaGraph_t graph = nullptr,
           Nodes last = {}) {
  auto created = graph == nullptr ? std::make_unique<CUgraph_st>() : nullptr;
  if (created) graph = created.get();
  Capture& capture = captures.emplace_back(Capture{++last_id, stream, mode, graph, std::move(created)});
  capture.streams[stream] = {std::move(last), blocking};
}

/// Calls `work` with the stream's capture and what its next node comes after.
template <class AnyWork>
cudaError_t in_capture_of(cudaStream_t stream, AnyWork work) {
  const CaptureTables tables;
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) return refuse_legacy();
  if (!capture->is_valid) return failed(cudaErrorStreamCaptureInvalidated);
  work(*capture, capture->streams.at(stream).last);
  return lasting_error();
}

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode, cudaGraph_t graph, Nodes last) {
  if (unsigned(mode) > cudaStreamCaptureModeRelaxed) return failed(cudaErrorInvalidValue);
  const CaptureTables tables;
  if (is_legacy(stream)) return failed(cudaErrorStreamCaptureUnsupported);
  if (capture_of(stream) != nullptr) return failed(cudaErrorIllegalState);
  begin(stream, mode, blocks(stream), graph, std::move(last));
  return lasting_error();
}

/// Whether all work of a capture has been joined to its origin.
bool is_joined(Capture& capture) {
  Nodes waiting = capture.streams[capture.origin].last;
  std::set<cudaGraphNode_t> before(waiting.begin(), waiting.end());
  while (!waiting.empty()) {
    auto* const node = waiting.back();
    waiting.pop_back();
    for (auto* const earlier : node->after) {
      if (before.insert(earlier).second) waiting.push_back(earlier);
    }
  }
  const auto& nodes = capture.graph->nodes;
  return std::all_of(nodes.begin() + std::ptrdiff_t(capture.first), nodes.end(),
                     [&](const auto& node) { return before.contains(node.get()); });
}

}  // namespace

bool is_capturing(cudaStream_t stream) {
  if (captures_or_events == 0) return false;
  const CaptureTables tables;
  return capture_of(stream) != nullptr || waits_for_captures(stream);
}

cudaError_t keep(cudaStream_t stream, cudaGraphNodeType type, Work work) {
  return in_capture_of(
      stream, [&](const Capture& capture, Nodes& last) { last = {capture.graph->add(type, std::move(work), last)}; });
}

Work work_given_by(const std::function<void(cudaStream_t)>& give) {
  static char a_stream;
  const auto stream = reinterpret_cast<cudaStream_t>(&a_stream);
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  {
    const CaptureTables tables;
    begin(stream, cudaStreamCaptureModeRelaxed, false);
  }
  give(stream);
  const CaptureTables tables;
  Capture* const capture = capture_of(stream);
  const bool is_kept = capture->is_valid && !capture->graph->nodes.empty();
  Work work = is_kept ? std::move(capture->graph->nodes.back()->work) : Work();
  captures.remove_if([&](const Capture& other) { return &other == capture; });
  return work;
}

cudaError_t refuse_while_capturing(cudaStream_t stream, cudaError_t error) {
  if (captures_or_events == 0) return lasting_error();
  const CaptureTables tables;
  if (Capture* const capture = capture_of(stream)) {
    capture->is_valid = false;
    return failed(error);
  }
  return waits_for_captures(stream) ? refuse_legacy() : lasting_error();
}

cudaError_t wait_for_all() {
  if (captures_or_events == 0) return lasting_error();
  const CaptureTables tables;
  if (captures.empty()) return lasting_error();
  for (Capture& capture : captures) capture.is_valid = false;
  return failed(cudaErrorStreamCaptureUnsupported);
}

cudaError_t refuse_unsafe_call() {
  if (captures_or_events == 0 || mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const CaptureTables tables;
  cudaError_t error = cudaSuccess;
  for (Capture& capture : captures) {
    const bool is_mine = capture.thread == std::this_thread::get_id() && capture.mode != cudaStreamCaptureModeRelaxed;
    const bool is_global = capture.mode == cudaStreamCaptureModeGlobal && mode_of_thread == cudaStreamCaptureModeGlobal;
    if (!is_mine && !is_global) continue;
    capture.is_valid = false;
    error = failed(cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

bool is_captured(cudaEvent_t event) {
  if (captures_or_events == 0) return false;
  const CaptureTables tables;
  return captured_events.contains(event);
}

cudaError_t record_in_capture(cudaEvent_t event, cudaStream_t stream) {
  return in_capture_of(stream, [&](const Capture& capture, const Nodes& last) {
    captured_events[event] = {capture.id, last};
  });
}

cudaError_t wait_in_capture(cudaStream_t stream, cudaEvent_t event) {
  const CaptureTables tables;
  const CapturedEvent& recorded = captured_events.at(event);
  Capture *const of_event = capture_by_id(recorded.capture), *const of_stream = capture_of(stream);
  if (of_event == nullptr || (of_stream != nullptr && of_stream != of_event)) {
    if (of_stream != nullptr) of_stream->is_valid = false;
    if (of_event != nullptr) of_event->is_valid = false;
    return failed(of_event == nullptr ? cudaErrorCapturedEvent : cudaErrorStreamCaptureMerge);
  }
  if (!of_event->is_valid) return failed(cudaErrorStreamCaptureInvalidated);
  if (is_legacy(stream)) {
    of_event->is_valid = false;
    return failed(cudaErrorStreamCaptureImplicit);
  }
  const auto [place, is_new] = of_event->streams.try_emplace(stream, CapturingStream{{}, blocks(stream)});
  Nodes& last = place->second.last;
  for (auto* const node : recorded.nodes) {
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  }
  return lasting_error();
}

void forget_capture_of(cudaEvent_t event) {
  if (captures_or_events == 0) return;
  const CaptureTables tables;
  captured_events.erase(event);
}

cudaError_t wait_for(cudaStream_t stream) { return refuse_while_capturing(stream); }
cudaError_t wait_for(cudaEvent_t event) {
  if (captures_or_events == 0) return lasting_error();
  const CaptureTables tables;
  const auto found = captured_events.find(event);
  if (found == captured_events.end()) return lasting_error();
  if (Capture* const capture = capture_by_id(found->second.capture)) capture->is_valid = false;
  return failed(cudaErrorCapturedEvent);
}

}  // namespace bankwise::emulator::runtime

using namespace bankwise::emulator::runtime;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begin_capture(stream, mode, nullptr, {});
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData*, std::size_t count, cudaStreamCaptureMode mode) {
  if (graph == nullptr || (after == nullptr && count > 0)) return failed(cudaErrorInvalidValue);
  return begin_capture(stream, mode, graph, Nodes(after, after + count));
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData*,
                                                std::size_t count, unsigned flags) {
  if (flags > cudaStreamSetCaptureDependencies || (nodes == nullptr && count > 0)) return failed(cudaErrorInvalidValue);
  const CaptureTables tables;
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) return failed(cudaErrorIllegalState);
  Nodes& last = capture->streams.at(stream).last;
  if (flags == cudaStreamSetCaptureDependencies) last.clear();
  last.insert(last.end(), nodes, nodes + count);
  return lasting_error();
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const CaptureTables tables;
  if (graph != nullptr) *graph = nullptr;
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) return failed(cudaErrorIllegalState);
  if (graph == nullptr && capture->created != nullptr) return failed(cudaErrorInvalidValue);
  if (capture->origin != stream) {
    capture->is_valid = false;
    return failed(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
    return failed(cudaErrorStreamCaptureWrongThread);
  }
  const cudaError_t error = !capture->is_valid     ? cudaErrorStreamCaptureInvalidated
                            : !is_joined(*capture) ? cudaErrorStreamCaptureUnjoined
                                                   : cudaSuccess;
  if (error == cudaSuccess) static_cast<void>(capture->created.release());
  if (error == cudaSuccess && graph != nullptr) *graph = capture->graph;
  captures.remove_if([&](const Capture& other) { return &other == capture; });
  return error != cudaSuccess ? failed(error) : lasting_error();
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** last, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  const CaptureTables tables;
  const Capture* const capture = capture_of(stream);
  if (capture == nullptr && waits_for_captures(stream)) return failed(cudaErrorStreamCaptureImplicit);
  if (id != nullptr) *id = capture != nullptr ? capture->id : 0;
  if (graph != nullptr) *graph = capture != nullptr ? capture->graph : nullptr;
  const Nodes* const nodes = capture != nullptr ? &capture->streams.at(stream).last : nullptr;
  if (last != nullptr) *last = nodes != nullptr ? nodes->data() : nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = nodes != nullptr ? nodes->size() : 0;
  return give(status, capture == nullptr  ? cudaStreamCaptureStatusNone
                      : capture->is_valid ? cudaStreamCaptureStatusActive
                                          : cudaStreamCaptureStatusInvalidated);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread);
  return lasting_error();
}
