// Many launches that are in flight together: streams, host threads, graphs.
#include <thread>

#include "common.cuh"

namespace {

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

/// 32 streams, 5 rounds: ways_32 with 4 blocks, ways_2 with 2.
void streams() {
  struct Work {
    cudaStream_t stream = make_stream();
    Output wide{4}, narrow{2};
  };
  std::vector<Work> works(32);
  for (int round = 0; round < 5; ++round) {
    for (const Work& work : works) {
      ways_32<<<4, 32, 0, work.stream>>>(work.wide.data);
      ways_2<<<2, 32, 0, work.stream>>>(work.narrow.data);
    }
  }
  CHECK(cudaGetLastError());
  for (const Work& work : works) {
    work.wide.verify();
    work.narrow.verify();
  }
}

/// 8 threads: each launches ways_32 with 3 blocks 50 times, and ways_2 with 2 blocks 25 times.
void threads() {
  std::vector<std::thread> launchers;
  for (int number = 0; number < 8; ++number) {
    launchers.emplace_back([] {
      const cudaStream_t stream = make_stream();
      const Output wide(3), narrow(2);
      for (int i = 0; i < 50; ++i) {
        ways_32<<<3, 32, 0, stream>>>(wide.data);
        if (i % 2 == 0) ways_2<<<2, 32, 0, stream>>>(narrow.data);
        if (i % 5 == 0) CHECK(cudaStreamSynchronize(stream));
      }
      CHECK(cudaStreamSynchronize(stream));
      wide.verify();
      narrow.verify();
    });
  }
  for (std::thread& thread : launchers) thread.join();
}

cudaGraphExec_t instantiated(cudaGraph_t graph) {
  cudaGraphExec_t made = nullptr;
  CHECK(cudaGraphInstantiate(&made, graph, 0));
  return made;
}

/// A captured graph of two kernels, launched 10 times: ways_32 with 3 blocks, ways_2 with 5.
void graph() {
  const cudaStream_t stream = make_stream();
  const Output wide(3), narrow(5);
  cudaGraph_t captured = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  ways_32<<<3, 32, 0, stream>>>(wide.data);
  ways_2<<<5, 32, 0, stream>>>(narrow.data);
  CHECK(cudaStreamEndCapture(stream, &captured));
  const cudaGraphExec_t launchable = instantiated(captured);
  for (int i = 0; i < 10; ++i) CHECK(cudaGraphLaunch(launchable, stream));
  CHECK(cudaStreamSynchronize(stream));
  wide.verify();
  narrow.verify();
}

/// A graph of one kernel, ways_32: 4 launches with 3 blocks, then, with new parameters, 6 with 5 blocks.
void updated_graph() {
  const cudaStream_t stream = make_stream();
  const Output before(3), after(5);
  unsigned* data = before.data;
  void* arguments[]{&data};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(ways_32);
  parameters.gridDim = dim3(3);
  parameters.blockDim = dim3(32);
  parameters.kernelParams = arguments;
  cudaGraph_t made = nullptr;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphCreate(&made, 0));
  CHECK(cudaGraphAddKernelNode(&node, made, nullptr, 0, &parameters));
  const cudaGraphExec_t launchable = instantiated(made);
  for (int i = 0; i < 4; ++i) CHECK(cudaGraphLaunch(launchable, stream));
  CHECK(cudaStreamSynchronize(stream));
  data = after.data;
  parameters.gridDim = dim3(5);
  CHECK(cudaGraphExecKernelNodeSetParams(launchable, node, &parameters));
  for (int i = 0; i < 6; ++i) CHECK(cudaGraphLaunch(launchable, stream));
  CHECK(cudaStreamSynchronize(stream));
  before.verify();
  after.verify();
}

constexpr Mode modes[] = {
    {"streams", streams}, {"threads", threads}, {"graph", graph}, {"updated_graph", updated_graph}};

}  // namespace

int main(int count, char** arguments) { return play(modes, count, arguments); }
