// Engines and the shared memory of other blocks, with the numbers that programs/engines.cu derives. They are read from
// the trace of one run of all its kernels.
#include <map>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/report.hpp>
#include "watched_program.hpp"

using namespace bankwise;

namespace {

using banks::Engine;
using banks::EngineWork;
using Counts = std::map<EngineWork, std::uint64_t>;

bool is_hopper() { return gpu::compute_capability(devices_under_test().front()) == 90; }

const trace::KernelTrace& kernel(const std::string& name) {
  static const Traced program_trace = traced(program("engines"));
  return program_trace.kernel(name);
}

/// What the engines did, and what is left out.
void check_engines(const std::string& name, const Counts& expected, const trace::LeftOut& left_out = {}) {
  INFO(name);
  Counts counts;
  for (const trace::EngineAccesses& accesses : kernel(name).engines) counts[accesses.work] += accesses.count;
  CHECK(counts == expected);
  CHECK(kernel(name).left_out == left_out);
}

/// Sectors of global memory that the bulk copies of an operation moved.
std::uint64_t copied_sectors(const std::string& name, banks::Operation operation) {
  std::uint64_t sectors = 0;
  for (const trace::GlobalExcess& excess : kernel(name).global_excess) {
    if (excess.operation == operation && excess.width == 16) sectors += excess.tally.sectors;
  }
  return sectors;
}

constexpr std::uint64_t engine_blocks = 4;

}  // namespace

TEST_CASE("cuda/gpu/engines/wgmma", "[engines]") {
  if (!is_hopper()) return;
  check_engines("wgmma_shared", {{{Engine::wgmma, 2048 + 256, 0}, 2 * engine_blocks}});
  check_engines("wgmma_registers", {{{Engine::wgmma, 512, 0}, engine_blocks}});
  check_engines("wgmma_sparse", {{{Engine::wgmma, 2048 + 512, 0}, engine_blocks}});
}

TEST_CASE("cuda/gpu/engines/bulk_copies", "[engines]") {
  if (!is_hopper()) return;
  check_engines("bulk_load", {{{Engine::bulk_load, 1040, 0}, engine_blocks}});
  check_engines("bulk_multicast", {{{Engine::bulk_load, 2 * 512, 0}, engine_blocks / 2}});
  check_engines("bulk_store", {{{Engine::bulk_store, 128, 0}, engine_blocks}});
  check_engines("bulk_reduce", {{{Engine::bulk_reduce, 128, 0}, engine_blocks}});
  check_engines("bulk_to_block", {{{Engine::bulk_copy, 256, 0}, engine_blocks}},
                {{"reductions into other blocks", engine_blocks}});
  CHECK(copied_sectors("bulk_load", banks::Operation::load) == 33 * engine_blocks);
  CHECK(copied_sectors("bulk_store", banks::Operation::store) == 4 * engine_blocks);
  CHECK(copied_sectors("bulk_reduce", banks::Operation::atomic) == 4 * engine_blocks);
  CHECK(kernel("bulk_load").sectors_read == 33);  // the same in each block
  CHECK(kernel("bulk_store").sectors_written == 4 * engine_blocks);
  CHECK(kernel("bulk_load").global_left_out == 0);
}

TEST_CASE("cuda/gpu/engines/tensor_copies", "[engines]") {
  if (!is_hopper()) return;
  // Which NVIDIA's library cannot watch.
  CHECK(kernel("tensor_store").left_out == trace::LeftOut{{"TMA stores", 0}});
  if (kernel("tensor_load").engines.empty()) {  // by a library of CUDA 13.0 or older
    for (const char* name : {"tensor_load", "tensor_multicast", "tensor_replaced"}) {
      CHECK(kernel(name).left_out == trace::LeftOut{{"TMA loads", 0}});
    }
    return;
  }
  check_engines("tensor_load", {{{Engine::tensor_load, 512, 64}, engine_blocks}});
  check_engines("tensor_multicast", {{{Engine::tensor_load, 2 * 512, 128}, engine_blocks / 2}});
  check_engines("tensor_replaced", {{{Engine::tensor_load, 256, 128}, 1}});
  CHECK(kernel("tensor_load").global_left_out == engine_blocks);
}

TEST_CASE("cuda/gpu/engines/remote_lanes", "[engines]") {
  if (!is_hopper()) return;
  std::map<std::tuple<banks::Operation, unsigned>, std::uint64_t> sectors;
  const trace::Report report = trace::report(kernel("remote_lanes"), *banks::find_architecture("sm_90"));
  for (const trace::GlobalLineReport& line : report.remote_lines) {
    CHECK(line.costs.lanes == 32 * engine_blocks);
    sectors[{line.operation, line.width}] += line.costs.sectors;
  }
  using banks::Operation;
  CHECK(sectors == decltype(sectors){{{Operation::store, 4}, 4 * engine_blocks},
                                     {{Operation::atomic, 4}, 4 * engine_blocks},
                                     {{Operation::store, 16}, 32 * engine_blocks},
                                     {{Operation::load, 16}, 32 * engine_blocks}});
  CHECK(kernel("remote_lanes").left_out.empty());
  CHECK(kernel("remote_lanes").remote_patterns.size() == 4);  // the same from both blocks of a cluster
}
