// Plays a CUDA program with the fake Sanitizer library: loads the injection library as the driver does, and runs the
// scenario that the argument names. The test reads the record that it leaves.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/bankcheck/cuda/injection/fake_sanitizer.hpp"

namespace {

using bankwise::cuda::AccessSource;
using bankwise::cuda::ENGINE_MASK;
using bankwise::cuda::LaunchSlot;
using bankwise::cuda::pack_what;

const auto CONTEXT = fake::handle<CUcontext>(0x100), OTHER_CONTEXT = fake::handle<CUcontext>(0x200);
const auto MODULE = fake::handle<CUmodule>(0x11), OTHER_MODULE = fake::handle<CUmodule>(0x22);
const auto FUNCTION = fake::handle<CUfunction>(0x31), OTHER_FUNCTION = fake::handle<CUfunction>(0x32);
const auto STREAM = fake::handle<Sanitizer_StreamHandle>(0x41),
           OTHER_STREAM = fake::handle<Sanitizer_StreamHandle>(0x42);

constexpr std::uint32_t LOAD = 1, STORE = 2;
constexpr std::uint32_t TWO_LANES = 0x80000001;

/// The machine code of a module: what of it the library looks at, or the file FAKE_CUBIN.
std::string cubin_with(const std::string& kernel) {
  using namespace std::string_literals;
  if (const char* path = std::getenv("FAKE_CUBIN")) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  return "cubin\0.text."s + kernel + "\0.nv.info"s;
}

void load_kernel() { fake::load_module(CONTEXT, MODULE, cubin_with("kernel")); }

fake::Launch first_launch() { return {.context = CONTEXT, .module = MODULE, .function = FUNCTION, .stream = STREAM}; }

void store(LaunchSlot* slot, std::uint32_t address, std::uint64_t times) {
  fake::access(slot, fake::pc_of(MODULE) + 0x40, pack_what(AccessSource::shared, 4, STORE), TWO_LANES,
               {address, address + 128}, times);
}

/// Enough different patterns to fill the smallest table (8 MB, 8,000 to 9,000 patterns) to the given share of 1/8.
void fill(LaunchSlot* slot, std::uint32_t eighths, std::uint32_t first_address) {
  for (std::uint32_t i = 0; i < slot->capacity * eighths / 8; ++i) store(slot, first_address + i, 1);
}

void simple() {
  fake::Launch launch = first_launch();
  launch.grid[0] = 7;
  launch.grid[1] = 2;
  launch.dynamic_bytes = 4096;
  for (int i = 0; i < 3; ++i) store(fake::launch(launch), 1024, 5);
  LaunchSlot* slot = fake::launch(launch);
  const std::uint64_t pc = fake::pc_of(MODULE);
  fake::access(slot, pc + 0x10, pack_what(AccessSource::shared, 8, LOAD), 1, {16}, 2);
  fake::access(slot, pc + 0x20, pack_what(AccessSource::matrix, 16, LOAD | 4 << 8), 1, {32}, 3);
  fake::access(slot, pc + 0x30, pack_what(AccessSource::async_copy, 16, 0), 1, {48}, 4);
  fake::access(slot, pc + 0x50, pack_what(AccessSource::shared, 4, LOAD | STORE), 1, {64}, 6);
  fake::access(slot, pc + 0x60, pack_what(AccessSource::remote, 4, STORE), 1, {0x1000080}, 7);
  fake::access(slot, pc + 0x70, pack_what(AccessSource::tma_load, 0, 0), ENGINE_MASK, {0, 1, 0x110, 0x3000000, 7, 128},
               8);
  fake::synchronize_context(CONTEXT);
}

/// Global and local memory, as the patch counts them.
void global_memory() {
  LaunchSlot* slot = fake::launch(first_launch());
  const std::uint64_t pc = fake::pc_of(MODULE);
  using bankwise::cuda::COSTED, bankwise::cuda::pack_cost;
  fake::access(slot, pc + 0x10, pack_what(AccessSource::global, 4, LOAD), TWO_LANES, {0x7c, 0xffffff00}, 2);
  fake::access(slot, pc + 0x20, pack_what(AccessSource::global_copy, 16, 0), 1, {0}, 3);
  fake::access(slot, pc + 0x30, pack_what(AccessSource::global, 8, LOAD) | COSTED, pack_cost({32, 30, 31, 32}), {}, 4);
  fake::access(slot, pc + 0x40, pack_what(AccessSource::local, 4, STORE) | COSTED, pack_cost({17, 0, 0, 0}), {}, 5);
  fake::access(slot, pc + 0x10, pack_what(AccessSource::sectors_read, 0, 0), 0, {}, 6);
  fake::access(slot, pc + 0x50, pack_what(AccessSource::sectors_written, 0, 0), 0, {}, 7);
  slot->global_lost = 8;
}

void two_contexts() {
  fake::load_module(OTHER_CONTEXT, OTHER_MODULE, cubin_with("kernel"));
  store(fake::launch(first_launch()), 0, 1);
  fake::Launch other{
      .context = OTHER_CONTEXT, .module = OTHER_MODULE, .function = OTHER_FUNCTION, .stream = OTHER_STREAM};
  store(fake::launch(other), 0, 2);
  fake::destroy_context(CONTEXT);
}

/// The other module gets the handles of the first.
void unload() {
  fake::load_module(CONTEXT, OTHER_MODULE, cubin_with("never_launched"));
  fake::load_module(CONTEXT, MODULE, cubin_with("kernel"));
  store(fake::launch(first_launch()), 0, 1);
  fake::unload_module(CONTEXT, MODULE);
  fake::unload_module(CONTEXT, OTHER_MODULE);
  fake::load_module(CONTEXT, MODULE, cubin_with("second"));
  fake::Launch launch = first_launch();
  launch.name = "second";
  store(fake::launch(launch), 0, 2);
}

/// Fills the table in one launch, so nothing can be drained.
void overflow() {
  LaunchSlot* slot = fake::launch(first_launch());
  fill(slot, 8, 0);
  store(slot, 1 << 20, 11);
  store(slot, 1 << 21, 31);
}

/// Fills the room for costs of a table that has no room for patterns, and makes more accesses than fit, `lost` twice.
void fill_costs(LaunchSlot* slot, std::uint32_t lost) {
  for (std::uint32_t i = 0; i < bankwise::cuda::cost_entries(slot->capacity) + lost; ++i) {
    fake::access(slot, fake::pc_of(MODULE) + 0x40 + i, pack_what(AccessSource::shared, 4, STORE), 1, {1 << 20}, 2);
  }
}

void flood() {
  LaunchSlot* slot = fake::launch(first_launch());
  fill(slot, 8, 0);
  fill_costs(slot, 17);
}

/// Fills many tables, with synchronizations between the launches.
void drain() {
  for (std::uint32_t i = 0; i < 40; ++i) {
    fill(fake::launch(first_launch()), 3, i << 16);
    if (i % 2 == 0) {
      fake::synchronize_stream(CONTEXT, STREAM);
    } else {
      fake::synchronize_context(CONTEXT);
    }
  }
}

/// One thread synchronizes while others launch. Each launch's kernel runs after the launch's end.
void threads() {
  std::vector<std::thread> all;
  for (std::uintptr_t t = 0; t < 3; ++t) {
    all.emplace_back([t] {
      fake::Launch launch = first_launch();
      launch.stream = fake::handle<Sanitizer_StreamHandle>(0x600 + t);
      for (std::uint32_t i = 0; i < 30; ++i) {
        LaunchSlot* slot = fake::launch(launch);
        std::this_thread::yield();
        for (std::uint32_t n = 0; n < 500; ++n) store(slot, std::uint32_t(t) << 24 | (i * 500 + n), 1);
        fake::synchronize_stream(CONTEXT, launch.stream);
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    fake::synchronize_stream(CONTEXT, fake::handle<Sanitizer_StreamHandle>(0x700));
    std::this_thread::yield();
  }
  for (std::thread& thread : all) thread.join();
}

void graph() {
  fake::launch_in_graph(first_launch(), true);
  for (int i = 0; i < 3; ++i) store(fake::launch_in_graph(first_launch(), false), 0, 1);
}

/// The slot of a graph of two kernels: all nodes get that of the last one.
LaunchSlot* slot_of_graph() {
  fake::launch_in_graph(first_launch(), false);
  fake::Launch third = first_launch();
  third.function = OTHER_FUNCTION;
  third.name = "third";
  return fake::launch_in_graph(third, false);
}

void mixed_graph() {
  LaunchSlot* slot = slot_of_graph();
  store(slot, 0, 3);
  fake::access(slot, fake::pc_of(MODULE) + 0x1040, pack_what(AccessSource::shared, 4, STORE), TWO_LANES, {0, 128}, 4);
}

/// More patterns than there is room for.
void full_graph() {
  LaunchSlot* slot = slot_of_graph();
  fill(slot, 8, 0);
  fill_costs(slot, 1);
}

/// Two kernels in the module; the environment asks for one.
void filtered() {
  fake::load_module(CONTEXT, MODULE, cubin_with("_Z6wantedPf"));
  fake::load_module(CONTEXT, OTHER_MODULE, cubin_with("_Z8unwantedPf"));
  fake::Launch launch = first_launch();
  launch.name = "_Z6wantedPf";
  store(fake::launch(launch), 0, 1);
  launch.function = OTHER_FUNCTION;
  launch.name = "_Z5otherPf";
  store(fake::launch(launch), 0, 2);
  launch.module = OTHER_MODULE;
  launch.name = "_Z8unwantedPf";
  store(fake::launch(launch), 0, 4);
}

/// Two kernels of one module; the second is launched when the first has been launched often.
void repeated() {
  fake::Launch second = first_launch();
  second.function = OTHER_FUNCTION;
  second.name = "second";
  for (int i = 0; i < 40; ++i) store(fake::launch(first_launch()), 0, 1);
  fake::synchronize_context(CONTEXT);
  store(fake::launch(second), 64, 1);
  for (int i = 0; i < 40; ++i) store(fake::launch(first_launch()), 0, 1);
  fake::synchronize_context(CONTEXT);
}

/// The environment asks for 10 of 1000 blocks.
void sampled() {
  fake::load_module(CONTEXT, OTHER_MODULE, cubin_with("never_launched"));
  fake::load_module(CONTEXT, MODULE, cubin_with("kernel"));
  fake::Launch launch = first_launch();
  launch.grid[0] = launch.grid[1] = launch.grid[2] = 10;
  const LaunchSlot* slot = fake::launch(launch);
  std::uint64_t watched = 0;
  for (std::uint32_t block = 0; block < 1000; ++block) {
    if (bankwise::cuda::is_watched_block(block, slot->threshold)) ++watched;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(watched));
}

void killed() {
  simple();
  raise(SIGKILL);
}

/// In the launch after the synchronization.
void faults() {
  simple();
  store(fake::launch(first_launch()), 2048, 100);
  fake::fault();
}

/// The child neither records its parent's accesses nor ends its parent's record; it ends with its own exit code, though
/// the library's exit handlers hang in it.
void forks() {
  store(fake::launch(first_launch()), 0, 1);
  if (const pid_t child = fork(); child == 0) {
    std::exit(7);
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) std::abort();
  }
  store(fake::launch(first_launch()), 0, 2);
}

/// As forks(), but the child uses CUDA.
void forks_and_launches() {
  if (const pid_t child = fork(); child == 0) {
    load_kernel();
    simple();
    std::exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
}

struct Scenario {
  const char* name;
  void (*play)();
  bool loads = true;  ///< MODULE with "kernel", first
};
constexpr Scenario SCENARIOS[] = {
    {"drain", drain},
    {"faults", faults},
    {"filtered", filtered, false},
    {"forks", forks},
    {"forks_and_launches", forks_and_launches, false},
    {"graph", graph},
    {"killed", killed},
    {"overflow", overflow},
    {"flood", flood},
    {"full_graph", full_graph},
    {"global_memory", global_memory},
    {"mixed_graph", mixed_graph},
    {"repeated", repeated},
    {"sampled", sampled, false},
    {"nothing", [] {}, false},
    {"simple", simple},
    {"threads", threads},
    {"two_contexts", two_contexts},
    {"unload", unload, false},
};

}  // namespace

int main(int count, char** arguments) {
  void* library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr || initialize() != 1) return 2;
  for (const Scenario& scenario : SCENARIOS) {
    if (count == 2 && std::strcmp(arguments[1], scenario.name) == 0) {
      if (scenario.loads) load_kernel();
      scenario.play();
      return 0;
    }
  }
  return 2;
}
