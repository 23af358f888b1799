// SPDX-License-Identifier: MIT
//
// Compiled without instrumentation; the kernels are compiled with -fsanitize=thread, whose run-time library is replaced
// by the few functions at the end.
#include "lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <stdexcept>
#include <thread>

#include "bankwise/banks/cost.hpp"
#include "cuda_words.hpp"

thread_local LaneIndex threadIdx, blockIdx;

// The linker's names for the ends of the section that holds every __shared__ array.
extern "C" std::byte __start_lane_shared[], __stop_lane_shared[];

namespace lanes {
namespace {

std::barrier<>* block_barrier = nullptr;  // of the block that runs; blocks run one after the other
thread_local std::vector<Access>* record = nullptr;
thread_local std::size_t phase = 0;

}  // namespace

std::map<std::string, Kernel>& kernels() {
  static std::map<std::string, Kernel> all;
  return all;
}

void note(const void* address, std::size_t size, bool write) {
  const auto* at = static_cast<const std::byte*>(address);
  if (record == nullptr || at < __start_lane_shared || at >= __stop_lane_shared) return;
  record->push_back({phase, std::size_t(at - __start_lane_shared), size, write});
}

Trace run_block(const Kernel& kernel, std::uint64_t block, bankwise::gpu::GroupShape shape,
                const std::vector<Argument>& arguments) {
  Trace trace(shape.size());
  std::barrier<> barrier(shape.size());
  block_barrier = &barrier;
  std::vector<std::jthread> threads;
  threads.reserve(shape.size());
  for (unsigned lane = 0; lane < shape.size(); ++lane) {
    threads.emplace_back([&, lane] {
      threadIdx = {lane % shape.x, lane / shape.x, 0};
      blockIdx = {unsigned(block), 0, 0};
      phase = 0;
      record = &trace[lane];
      kernel(arguments);
      barrier.arrive_and_drop();
    });
  }
  threads.clear();  // joins
  block_barrier = nullptr;
  return trace;
}

std::pair<bankwise::Words, Trace> run_plan(const bankwise::CaseStudy& study, const bankwise::Variant& variant,
                                           bankwise::Extent extent, const bankwise::Words& input,
                                           const std::map<std::string, std::string>& instead) {
  const bankwise::Plan plan = study.plan(variant, extent);
  std::vector<bankwise::Words> memory{input, bankwise::Words(study.output_words(extent), 0xCDCDCDCD)};
  for (const auto bytes : plan.scratch_bytes) memory.emplace_back(bytes / 4, 0xCDCDCDCD);
  Trace first;
  for (const auto& launch : plan.launches) {
    const auto other = instead.find(launch.kernel);
    const Kernel& kernel = kernels().at(other == instead.end() ? launch.kernel : other->second);
    std::vector<Argument> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* slot = std::get_if<bankwise::Slot>(&argument)) {
        arguments.emplace_back(memory.at(slot->index).data());
      } else {
        arguments.emplace_back(std::get<std::uint64_t>(argument));
      }
    }
    for (std::uint64_t block = 0; block < launch.groups; ++block) {
      Trace trace = run_block(kernel, block, launch.group, arguments);
      if (first.empty()) first = std::move(trace);
    }
  }
  return {memory[1], first};
}

namespace {

constexpr std::size_t warp = 32, word = 4;

/// The accesses that some lanes of a warp make together, one for each of them; null for a lane without.
using Together = std::vector<const Access*>;

Cost cost_of(const Together& lanes) {
  namespace banks = bankwise::banks;
  std::vector<std::uint32_t> addresses(lanes.size());
  banks::Access access{.addresses = addresses};
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane] == nullptr) continue;
    access.operation = lanes[lane]->write ? banks::Operation::store : banks::Operation::load;
    access.width = unsigned(lanes[lane]->size);
    access.mask |= std::uint64_t{1} << lane;
    addresses[lane] = std::uint32_t(lanes[lane]->address);
  }
  const auto cost = std::get<banks::Cost>(banks::cost(*banks::find_architecture("sm_90"), access));
  return {cost.passes, cost.ideal};
}

}  // namespace

Cost cost(const Trace& trace) {
  Cost total;
  for (std::size_t begin = 0; begin < trace.size(); begin += warp) {
    // The k-th access of a lane in a phase belongs with the k-th of its neighbours.
    std::map<std::pair<std::size_t, std::size_t>, Together> instructions;
    for (std::size_t lane = begin; lane < std::min(begin + warp, trace.size()); ++lane) {
      std::map<std::size_t, std::size_t> count;
      for (const Access& access : trace[lane]) {
        auto& together = instructions[{access.phase, count[access.phase]++}];
        together.resize(warp);
        together[lane - begin] = &access;
      }
    }
    for (const auto& [key, together] : instructions) {
      const Access* first = nullptr;
      for (const Access* access : together) {
        if (access == nullptr) continue;
        if (first == nullptr) first = access;
        if (access->size != first->size || access->write != first->write) {
          throw std::runtime_error("lanes of one warp do different things");
        }
      }
      const Cost one = cost_of(together);
      total.passes += one.passes;
      total.ideal += one.ideal;
    }
  }
  return total;
}

std::string find_race(const Trace& trace) {
  struct Touched {
    std::size_t lane;
    bool write;
  };
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Touched>> words;
  for (std::size_t lane = 0; lane < trace.size(); ++lane) {
    for (const Access& access : trace[lane]) {
      for (std::size_t byte = 0; byte < access.size; byte += word) {
        auto& all = words[{access.phase, (access.address + byte) / word}];
        for (const Touched& other : all) {
          if (other.lane != lane && (other.write || access.write)) {
            return fmt::format("lanes {} and {} race for one word after {} barriers", other.lane, lane, access.phase);
          }
        }
        all.push_back({lane, access.write});
      }
    }
  }
  return {};
}

}  // namespace lanes

void __syncthreads() {
  lanes::block_barrier->arrive_and_wait();
  ++lanes::phase;
}

// What -fsanitize=thread calls.
#define HOOKS(size)                                  \
  void __tsan_read##size(void* address) {            \
    lanes::note(address, size, false);               \
  }                                                  \
  void __tsan_write##size(void* address) {           \
    lanes::note(address, size, true);                \
  }                                                  \
  void __tsan_unaligned_read##size(void* address) {  \
    lanes::note(address, size, false);               \
  }                                                  \
  void __tsan_unaligned_write##size(void* address) { \
    lanes::note(address, size, true);                \
  }
extern "C" {
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
// Whole objects, such as those of the C++ library around a kernel; no kernel moves shared memory so.
void __tsan_read_range(void*, unsigned long) {}
void __tsan_write_range(void*, unsigned long) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
