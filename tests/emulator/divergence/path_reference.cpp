#include <ucontext.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "path_reference.hpp"

namespace lockstep {

#include "kernels.cuh"

namespace {

struct RunningLane : Lane {
  ucontext_t context = {};
  bool has_returned = false;
};

struct RunningBlock {
  Kernel kernel;
  const unsigned* in;
  unsigned* out;
  std::vector<RunningLane> lanes;
  ucontext_t scheduler = {};
  std::vector<const Words*> arrays = {};
  std::vector<std::string> names = {};
};
RunningBlock* block = nullptr;

RunningLane& running() { return block->lanes[threadIdx.x]; }

void run_lane() {
  block->kernel(block->in, block->out);
  running().has_returned = true;
}

/// Each lane in turn, up to where it waits for the others.
void run_block() {
  static std::byte stacks[64][1 << 18];
  for (std::size_t i = 0; i < block->lanes.size(); ++i) {
    ucontext_t& context = block->lanes[i].context;
    getcontext(&context);
    context.uc_stack = {.ss_sp = stacks[i], .ss_flags = 0, .ss_size = sizeof stacks[i]};
    context.uc_link = &block->scheduler;
    makecontext(&context, run_lane, 0);
  }
  while (!std::ranges::all_of(block->lanes, &RunningLane::has_returned)) {
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) {
      lane = &running();
      if (!running().has_returned) swapcontext(&block->scheduler, &running().context);
    }
  }
}

auto statement(const Request& request) { return std::tuple(request.level, request.array, request.store); }

std::string line(const Request& request) {
  std::ostringstream text;
  text << request.level << (request.store ? " store " : " load ") << request.array << ' ' << std::hex
       << std::setfill('0') << std::setw(16) << request.mask << std::dec << ':';
  for (const auto address : request.addresses) text << ' ' << address;
  return text.str();
}

/// The requests of some lanes, the first of which has bit 0.
Requests requests_of(std::span<const RunningLane> lanes) {
  std::map<Path, Request> requests;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    for (const Access& access : lanes[i].accesses) {
      const auto array = std::ranges::find(block->arrays, access.array) - block->arrays.begin();
      Path path = access.path;
      path.back().second = std::uint32_t(2 * array + (access.store ? 0 : 1));  // of statements in one line
      const Request first{block->names.at(std::size_t(array)), access.store, path.front().first, 0, {}};
      Request& request = requests.try_emplace(path, first).first->second;
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((request.mask & bit) != 0) throw std::runtime_error(request.array + ": two accesses of a lane on one path");
      request.mask |= bit;
      request.addresses.push_back(4 * access.index);
    }
  }
  Requests in_order;
  for (const auto& [path, request] : requests) in_order.push_back(request);
  return in_order;
}

}  // namespace

std::vector<std::string> lines(const Requests& requests, Order order) {
  Requests sorted = requests;
  if (order == Order::of_statement) {
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Request& a, const Request& b) { return statement(a) < statement(b); });
  }
  std::vector<std::string> result;
  result.reserve(sorted.size());
  for (const Request& request : sorted) result.push_back(line(request));
  if (order == Order::none) std::sort(result.begin(), result.end());
  return result;
}

void wait_for_others() { swapcontext(&running().context, &block->scheduler); }

void fill_shared(const std::string& names, const std::vector<const Words*>& arrays, const unsigned* in) {
  if (threadIdx.x == 0) {
    block->arrays = arrays;
    std::istringstream list(names);
    for (std::string name; std::getline(list >> std::ws, name, ',');) block->names.push_back(name);
  }
  for (unsigned number = 0; number < arrays.size(); ++number) {
    const Inside inside(number);
    const Words& array = *arrays[number];
    FOR(unsigned i = threadIdx.x, i < words, i += blockDim.x) array[i] = in[i];
  }
  __syncthreads();
}

Outcome run_alone(Kernel kernel, unsigned threads, unsigned warp, const std::vector<unsigned>& input) {
  Outcome outcome{{}, std::vector<unsigned>(threads)};
  RunningBlock running_block{kernel, input.data(), outcome.output.data(), std::vector<RunningLane>(threads)};
  block = &running_block;
  blockDim.x = threads;
  run_block();
  for (unsigned first = 0; first < threads; first += warp) {
    outcome.warps.push_back(
        requests_of(std::span(running_block.lanes).subspan(first, std::min(warp, threads - first))));
  }
  return outcome;
}

Kernel kernel_alone(const std::string& name) {
#define ROW(name, order) {#name, diverge_##name},
  static const std::map<std::string, Kernel> kernels{FOR_EACH_DIVERGENCE(ROW)};
#undef ROW
  return kernels.at(name);
}

}  // namespace lockstep
