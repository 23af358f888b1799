#include <bankwise/emulator/runtime/repeats.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <bankwise/emulator/core/emulate.hpp>
#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include "tests/catch_any.hpp"

extern "C" {
void __tsan_read4(void* address);
void __tsan_write4(void* address);
void __tsan_unaligned_write4(void* address);
void __tsan_volatile_write4(void* address);
void __tsan_write_range(void* address, unsigned long bytes);
std::uint32_t __tsan_atomic32_fetch_add(volatile std::uint32_t* address, std::uint32_t value, int order);
}

namespace {

using namespace bankwise::emulator;
using namespace bankwise::emulator::runtime;

int* memory_of(MemoryKind kind) { return static_cast<int*>(allocate(kind, 4096, "cudaMalloc", nullptr)); }

/// As an instrumented kernel writes.
void write(int* to, int value) {
  global_memory.note_write(to);
  *to = value;
}

/// A launch that takes long enough to be worth comparing. Returns whether it ran.
bool launch(const std::string& arguments, const std::function<void()>& work, bool recorded = false) {
  static const char kernel = 0;
  Repeat repeat(&kernel, {{1, 1, 1}, {32, 1, 1}, 0}, &arguments);
  if (repeat.known(recorded) != nullptr) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  work();
  repeat.ran({});
  return true;
}

TEST_CASE("emulator/runtime/repeats/digest", "[runtime]") {
  std::vector<float> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i + 1);
  const auto digest = [&](std::size_t bytes = 4000) { return digest_of(numbers.data(), bytes); };
  const Digest whole = digest();
  CHECK(digest() == whole);
  CHECK(digest(3999) != whole);
  CHECK(digest(3997) != digest(3998));
  for (const std::size_t i : {0, 7, 8, 500, 992, 999}) {
    numbers[i] = -numbers[i];
    CHECK(digest() != whole);
    // The signs of two numbers of one lane of the digest: without a rotation they cancel.
    for (const std::size_t distance : {2, 8, 16, 80}) {
      if (i + distance >= numbers.size()) continue;
      numbers[i + distance] = -numbers[i + distance];
      CHECK(digest() != whole);
      numbers[i + distance] = -numbers[i + distance];
    }
    numbers[i] = -numbers[i];
  }
  std::swap(numbers[0], numbers[8]);
  CHECK(digest() != whole);
}

TEST_CASE("emulator/runtime/repeats/unchanged_memory", "[runtime]") {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed, MemoryKind::pinned}) {
    int* const memory = memory_of(kind);
    const std::string arguments = "same " + std::to_string(int(kind));
    const auto work = [&] { write(memory + 1, memory[0] + 1); };
    CHECK(launch(arguments, work));
    CHECK(launch(arguments, work));
    const double saved = seconds_saved();
    CHECK(!launch(arguments, work));
    CHECK(seconds_saved() > saved + 0.002);
    memory[0] = 7;
    if (kind == MemoryKind::device) note_write(memory);
    CHECK(launch(arguments, work));
    CHECK(memory[1] == 8);
    CHECK(launch(arguments + " others", work));
    release(memory, nullptr);
  }
}

/// A kernel of one lane, as if it were instrumented.
template <class Kernel>
void run_lane(Kernel kernel) {
  Launch how;
  how.source_lines = false;
  run(how, {[](const void* bound) { (*static_cast<const Kernel*>(bound))(); }, &kernel, nullptr});
}

TEST_CASE("emulator/runtime/repeats/reads_no_results", "[runtime]") {
  int* const memory = memory_of(MemoryKind::device);
  const auto add_to = [&](int* to) {
    run_lane([=] {
      __tsan_read4(memory);
      __tsan_write4(to);
      *to = memory[0] + 1;
    });
  };
  const auto copies = [&] { add_to(memory + 1); };
  CHECK(launch("copies", copies));
  CHECK(!launch("copies", copies));
  memory[0] = 5;
  note_write(memory);
  CHECK(launch("copies", copies));
  CHECK(memory[1] == 6);
  for (int i = 0; i < 4; ++i) CHECK(launch("counts", [&] { add_to(memory); }));
  const auto counts = [=] { __tsan_atomic32_fetch_add(reinterpret_cast<std::uint32_t*>(memory), 1, 0); };
  for (int i = 0; i < 4; ++i) CHECK(launch("counts atomically", [&] { run_lane(counts); }));
  release(memory, nullptr);
}

TEST_CASE("emulator/runtime/repeats/results_in_memory", "[runtime]") {
  int* const memory = memory_of(MemoryKind::device);
  int runs = 0;
  for (int i = 0; i < 6; ++i) {
    if (!note_write(memory, 4096, 0)) std::memset(memory, 0, 4096);
    CHECK(memory[5] == 0);
    runs += launch("cleared", [&] { write(memory + 5, memory[5] + 3); });
    CHECK(memory[5] == 3);
  }
  CHECK(runs == 2);
  release(memory, nullptr);
}

TEST_CASE("emulator/runtime/repeats/same_bytes", "[runtime]") {
  int* const memory = memory_of(MemoryKind::device);
  CHECK(!note_write(memory, 4096, 1));
  CHECK(note_write(memory, 4096, 1));
  CHECK(!note_write(memory, 4096, 2));
  CHECK(!note_write(memory, 2048, 2));
  CHECK(!note_write(memory, 4096, 2));
  note_write(memory + 1);
  CHECK(!note_write(memory, 4096, 2));
  int* const other = memory_of(MemoryKind::device);
  launch("writes elsewhere", [&] { write(other, 1); });
  CHECK(note_write(memory, 4096, 2));
  launch("writes there", [&] { write(memory + 1, 1); });
  CHECK(!note_write(memory, 4096, 2));
  launch("leaves its memory", [] { global_memory.left = true; });
  CHECK(!note_write(memory, 4096, 2));
  int* const managed = memory_of(MemoryKind::managed);
  note_write(managed, 4096, 1);
  CHECK(!note_write(managed, 4096, 1));  // the host may have written it
  for (int* const freed : {memory, other, managed}) release(freed, nullptr);
}

TEST_CASE("emulator/runtime/repeats/written_by_lanes", "[runtime]") {
  int* const memory = memory_of(MemoryKind::device);
  int launches = 0;
  const auto stays = [&](const std::function<void(int*)>& access) {
    note_write(memory, 4096, 1);
    CHECK(launch("access " + std::to_string(++launches), [&] { run_lane([&] { access(memory); }); }));
    return note_write(memory, 4096, 1);
  };
  CHECK(stays(__tsan_read4));
  CHECK_FALSE(stays(__tsan_write4));
  CHECK_FALSE(stays(__tsan_unaligned_write4));
  CHECK_FALSE(stays(__tsan_volatile_write4));
  CHECK_FALSE(stays([](int* to) { __tsan_write_range(to, 64); }));
  CHECK_FALSE(stays([](int* to) { __tsan_atomic32_fetch_add(reinterpret_cast<std::uint32_t*>(to), 1, 0); }));
  CHECK_FALSE(stays([](int* to) { before_store(to, 4, nullptr); }));
  CHECK_FALSE(stays([](int* to) { start_copy(to, to + 4, 16, 16, false, nullptr); }));
  release(memory, nullptr);
}

TEST_CASE("emulator/runtime/repeats/effects_run", "[runtime]") {
  for (int i = 0; i < 5; ++i) CHECK(launch("leaves its memory", [] { global_memory.left = true; }));
  static int of_program = 0;
  for (int i = 0; i < 5; ++i) CHECK(launch("changes a variable", [] { ++of_program; }));
  int* const memory = memory_of(MemoryKind::device);
  for (int i = 0; i < 9; ++i) CHECK(launch("goes on", [&] { write(memory, memory[0] + 1); }));
  release(memory, nullptr);
}

TEST_CASE("emulator/runtime/repeats/recorded_launch", "[runtime]") {
  const auto runs = [](bool recorded) {
    return launch(
        "recorded", [] {}, recorded);
  };
  CHECK(runs(true));
  CHECK(runs(true));
  CHECK(!runs(true));
  CHECK(runs(false));
}

TEST_CASE("emulator/runtime/repeats/host_threads", "[runtime]") {
  CHECK(launch("of one thread", [] {}));
  CHECK(launch("of one thread", [] {}));
  CHECK(!launch("of one thread", [] {}));
  std::thread([] { launch("of another", [] {}); }).join();
  CHECK(launch("of one thread", [] {}));
}

}  // namespace
