// SPDX-License-Identifier: MIT
#include <bankwise/bench/guarded_buffer.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/study/case_study.hpp>

namespace bankwise {
namespace {

constexpr std::uint8_t guard_byte = 0xA5;
constexpr std::uint8_t poison_byte = 0xCD;
constexpr std::uint32_t guard_word = 0xA5A5A5A5;
constexpr std::uint64_t words_read_back = std::uint64_t{1} << 24;  // at a time: 64 MiB

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
                       const ExpectedWords& expected) {
  Words got, wanted;
  for (std::uint64_t first = 0; first < words; first += got.size()) {
    got.resize(std::min(words_read_back, words - first));
    wanted.resize(got.size());
    session.read(buffer, bytes_of(first), std::as_writable_bytes(std::span(got)));
    expected(first, wanted);
    if (got != wanted) {
      const auto [wrong, right] = std::mismatch(got.begin(), got.end(), wanted.begin());
      return fmt::format("{} word {} is 0x{:08x}, not 0x{:08x}", name, first + std::size_t(wrong - got.begin()), *wrong,
                         *right);
    }
  }
  got.assign(guard_bytes / sizeof guard_word, 0);
  session.read(buffer, buffer.bytes() - guard_bytes, std::as_writable_bytes(std::span(got)));
  const auto touched = std::find_if(got.begin(), got.end(), [](std::uint32_t word) { return word != guard_word; });
  if (touched == got.end()) return {};
  return fmt::format("word {} past the end of the {} was overwritten", touched - got.begin(), name);
}

}  // namespace bankwise
