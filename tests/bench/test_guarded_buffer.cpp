// Guard bytes and comparisons, with buffers in host memory.
#include <algorithm>
#include <stdexcept>

#include <bankwise/bench/workbench.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::bench;

namespace {

struct HostBuffer : gpu::Buffer {
  explicit HostBuffer(std::uint64_t bytes) : gpu::Buffer(bytes), memory(bytes, std::byte{0x77}) {}
  std::vector<std::byte> memory;
};

/// Allocates, reads, writes and fills; an access past the end of a buffer throws.
class HostSession : public gpu::Session {
 public:
  const gpu::DeviceInfo& info() const override { return info_; }
  std::unique_ptr<gpu::Buffer> allocate(std::uint64_t bytes) override { return std::make_unique<HostBuffer>(bytes); }
  void write(gpu::Buffer& to, std::uint64_t offset, std::span<const std::byte> data) override {
    std::ranges::copy(data, part(to, offset, data.size()).begin());
  }
  void read(const gpu::Buffer& from, std::uint64_t offset, std::span<std::byte> data) override {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): it is only read
    std::ranges::copy(part(const_cast<gpu::Buffer&>(from), offset, data.size()), data.begin());
    longest_read = std::max(longest_read, data.size());
  }
  void fill(gpu::Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::uint8_t value) override {
    std::ranges::fill(part(to, offset, bytes), std::byte{value});
  }
  void copy(const gpu::Buffer&, gpu::Buffer&, std::uint64_t) override { unused(); }
  void prepare(const gpu::KernelImage&, gpu::Form, gpu::GroupShape) override { unused(); }
  void launch(const gpu::KernelImage&, gpu::Form, std::uint64_t, gpu::GroupShape,
              std::span<const gpu::KernelArgument>) override {
    unused();
  }
  void launch(const gpu::Library&, const gpu::Buffer&, gpu::Buffer&, gpu::Buffer&, std::uint64_t,
              std::uint64_t) override {
    unused();
  }
  gpu::Timed time(const std::function<void()>&, const std::function<void()>&, gpu::Enqueueing) override { unused(); }
  void wait() override {}
  gpu::Counters count(const std::function<void()>&, const std::function<void()>&) override { unused(); }

  std::size_t longest_read = 0;

 private:
  [[noreturn]] static void unused() { throw std::logic_error("not a function of guarded buffers"); }
  static std::span<std::byte> part(gpu::Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
    auto& memory = dynamic_cast<HostBuffer&>(buffer).memory;
    if (offset + bytes > memory.size()) throw std::out_of_range("past the end of the buffer");
    return std::span(memory).subspan(offset, bytes);
  }
  gpu::DeviceInfo info_;
};

void set_word(gpu::Session& session, gpu::Buffer& buffer, std::uint64_t index, std::uint32_t word) {
  session.write(buffer, bytes_of(index), std::as_bytes(std::span(&word, 1)));
}

/// Word i is expected to be i.
void numbers(std::uint64_t first, std::span<std::uint32_t> words) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = std::uint32_t(first + i);
}

std::unique_ptr<gpu::Buffer> numbered(gpu::Session& session, std::uint64_t words) {
  auto buffer = allocate_guarded(session, bytes_of(words));
  std::vector<std::uint32_t> content(words);
  numbers(0, content);
  session.write(*buffer, 0, std::as_bytes(std::span(content)));
  return buffer;
}

}  // namespace

TEST_CASE("bench/guarded_buffer/first_wrong_word") {
  HostSession session;
  const auto buffer = numbered(session, 5);
  CHECK(difference(session, *buffer, "output", 5, numbers) == "");
  set_word(session, *buffer, 3, 0xBAD);
  set_word(session, *buffer, 4, 0xBAD);
  CHECK(difference(session, *buffer, "output", 5, numbers) == "output word 3 is 0x00000bad, not 0x00000003");
  CHECK(difference(session, *buffer, "output", 3, numbers) == "");
  CHECK(difference(session, *buffer, "output") == "");
}

TEST_CASE("bench/guarded_buffer/long_output") {
  HostSession session;
  const std::uint64_t words = (std::uint64_t{1} << 24) + 10;
  const auto buffer = numbered(session, words);
  CHECK(difference(session, *buffer, "input", words, numbers) == "");
  CHECK(session.longest_read == bytes_of(std::uint64_t{1} << 24));
  set_word(session, *buffer, words - 1, 1);
  CHECK(difference(session, *buffer, "input", words, numbers) == "input word 16777225 is 0x00000001, not 0x01000009");
}

TEST_CASE("bench/guarded_buffer/threads") {
  HostSession session;
  constexpr std::uint64_t words = 5 * 4096 + 3;
  const auto buffer = numbered(session, words);
  CHECK(difference(session, *buffer, "output", words, numbers, 3) == "");
  for (const std::uint64_t at : {words - 1, std::uint64_t{4 * 4096}, std::uint64_t{4096}, std::uint64_t{4095}}) {
    set_word(session, *buffer, at, 0xBAD0);
    CHECK(difference(session, *buffer, "output", words, numbers, 3)
              .starts_with("output word " + std::to_string(at) + " is 0x0000bad0"));
  }
}

TEST_CASE("bench/guarded_buffer/past_the_end") {
  for (const std::uint64_t words : {0, 1, 5}) {
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1}, guard_bytes / 4 - 1}) {
      HostSession session;
      const auto buffer = numbered(session, words);
      CHECK(difference(session, *buffer, "state") == "");
      set_word(session, *buffer, words + at, 7);
      CHECK(difference(session, *buffer, "state", words, numbers) ==
            "word " + std::to_string(at) + " past the end of the state was overwritten");
    }
  }
}

TEST_CASE("bench/guarded_buffer/poison") {
  HostSession session;
  for (const std::uint64_t words : {0, 3}) {
    const auto buffer = numbered(session, words);
    poison(session, *buffer);
    const auto poisoned = [](std::uint64_t, std::span<std::uint32_t> expected) {
      std::ranges::fill(expected, 0xCDCDCDCD);
    };
    CHECK(difference(session, *buffer, "output", words, poisoned) == "");
  }
}

TEST_CASE("bench/guarded_buffer/zeroed") {
  HostSession session;
  const auto zeros = [](std::uint64_t, std::span<std::uint32_t> expected) { std::ranges::fill(expected, 0); };
  for (const std::uint64_t bytes : {0, 4, 7, 8}) {
    const auto buffer = allocate_zeroed(session, bytes);
    const std::uint64_t words = (bytes + 3) / 4;
    CHECK(buffer->bytes() == bytes_of(words) + guard_bytes);
    CHECK(difference(session, *buffer, "state", words, zeros) == "");
  }
}
