#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include <bankwise/bench/workbench.hpp>
#include <bankwise/support/parallel.hpp>

namespace bankwise::bench {

using namespace study;

namespace {

constexpr std::uint8_t guard_byte = 0xA5;
constexpr std::uint8_t poison_byte = poison_word & 0xFF;
constexpr std::uint32_t guard_word = 0xA5A5A5A5;
constexpr std::uint64_t words_read_back = std::uint64_t{1} << 24;  // 64 MiB are read at a time

/// The first index at which the words differ; their number if they are equal.
std::uint64_t first_difference(std::span<const std::uint32_t> got, std::span<const std::uint32_t> wanted,
                               unsigned threads) {
  std::mutex mutex;
  std::uint64_t lowest = got.size();
  support::in_parallel_parts(got.size(), threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto from = got.begin() + std::ptrdiff_t(begin), to = got.begin() + std::ptrdiff_t(end);
    const auto wrong = std::mismatch(from, to, wanted.begin() + std::ptrdiff_t(begin)).first;
    if (wrong == to) return;
    const std::lock_guard lock(mutex);
    lowest = std::min(lowest, std::uint64_t(wrong - got.begin()));
  });
  return lowest;
}

}  // namespace

std::unique_ptr<gpu::Buffer> allocate_guarded(gpu::Session& session, std::uint64_t bytes) {
  auto buffer = session.allocate(bytes + guard_bytes);
  session.fill(*buffer, bytes, guard_bytes, guard_byte);
  return buffer;
}

std::unique_ptr<gpu::Buffer> allocate_zeroed(gpu::Session& session, std::uint64_t bytes) {
  const Words zeros(round_up(bytes, sizeof(std::uint32_t)) / sizeof(std::uint32_t));
  auto buffer = allocate_guarded(session, bytes_of(zeros.size()));
  // Written, not filled: Oclgrind considers filled memory uninitialized.
  session.write(*buffer, 0, std::as_bytes(std::span(zeros)));
  return buffer;
}

void poison(gpu::Session& session, gpu::Buffer& buffer) {
  const std::uint64_t bytes = buffer.bytes() - guard_bytes;
  if (bytes > 0) session.fill(buffer, 0, bytes, poison_byte);
}

std::string difference(gpu::Session& session, const gpu::Buffer& buffer, std::string_view name, std::uint64_t words,
                       const Expected& expected, unsigned threads) {
  const std::uint64_t chunk = std::max(std::min(words, words_read_back), guard_bytes / sizeof guard_word);
  const auto memory = session.allocate_host(bytes_of(chunk));
  const std::span buffer_words(reinterpret_cast<std::uint32_t*>(memory.get()), chunk);
  Words wanted;
  for (std::uint64_t first = 0; first < words; first += wanted.size()) {
    wanted.resize(std::min(chunk, words - first));
    const auto got = buffer_words.first(wanted.size());
    session.read(buffer, bytes_of(first), std::as_writable_bytes(got));
    expected(first, wanted);
    const std::uint64_t i = first_difference(got, wanted, threads);
    if (i < got.size()) return fmt::format("{} word {} is 0x{:08x}, not 0x{:08x}", name, first + i, got[i], wanted[i]);
  }
  const auto got = buffer_words.first(guard_bytes / sizeof guard_word);
  session.read(buffer, buffer.bytes() - guard_bytes, std::as_writable_bytes(got));
  const auto touched = std::find_if(got.begin(), got.end(), [](std::uint32_t word) { return word != guard_word; });
  if (touched == got.end()) return {};
  return fmt::format("word {} past the end of the {} was overwritten", touched - got.begin(), name);
}

}  // namespace bankwise::bench
