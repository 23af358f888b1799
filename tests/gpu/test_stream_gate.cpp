// The rules by which a stream is held back. A thread that waits for the gate's word plays the device.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include <bankwise/gpu/stream_gate.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise::gpu;
using namespace std::chrono_literals;

namespace {

constexpr GateLimits patient{.deadline = 1h, .max_commands = 10};

struct Word {
  std::uint32_t value = 0;
  bool lets_pass(std::uint32_t ticket) { return std::int32_t(std::atomic_ref(value).load() - ticket) >= 0; }
};

}  // namespace

TEST_CASE("gpu/stream_gate/holds_back") {
  Word word;
  StreamGate gate(word.value, patient);
  for (int sample = 0; sample < 3; ++sample) {
    const std::uint32_t ticket = gate.close();
    gate.count(9);
    CHECK(!word.lets_pass(ticket));
    CHECK(gate.open().empty());
    CHECK(word.lets_pass(ticket));
    CHECK(gate.open().empty());  // it was open
  }
}

TEST_CASE("gpu/stream_gate/large_numbers") {
  Word word{0xFFFFFFFE};
  StreamGate gate(word.value, patient);
  for (int sample = 0; sample < 3; ++sample) {
    const std::uint32_t ticket = gate.close();
    CHECK(!word.lets_pass(ticket));
    gate.open();
    CHECK(word.lets_pass(ticket));
  }
}

TEST_CASE("gpu/stream_gate/before_queue_is_full") {
  Word word;
  StreamGate gate(word.value, patient);
  const std::uint32_t ticket = gate.close();
  gate.count(9);
  CHECK(!word.lets_pass(ticket));
  gate.count();
  CHECK(word.lets_pass(ticket));
  CHECK_THAT(gate.open(), has("more than the 10 commands"));
  gate.count(100);  // commands between two samples do not count
  gate.close();
  CHECK(gate.open().empty());
}

TEST_CASE("gpu/stream_gate/deadline") {
  Word word;
  StreamGate gate(word.value, {.deadline = 80ms, .max_commands = 10});
  for (int sample = 0; sample < 2; ++sample) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint32_t ticket = gate.close();
    while (!word.lets_pass(ticket)) std::this_thread::sleep_for(1ms);  // like a synchronizing library
    CHECK(std::chrono::steady_clock::now() - begin >= 80ms);
    CHECK_THAT(gate.open(), has("waits for the device"));
  }
  gate.close();
  CHECK(gate.open().empty());
}

TEST_CASE("gpu/stream_gate/destroyed") {
  Word word;
  std::optional<StreamGate> gate;
  gate.emplace(word.value, patient);
  const std::uint32_t ticket = gate->close();
  gate.reset();
  CHECK(word.lets_pass(ticket));
}
