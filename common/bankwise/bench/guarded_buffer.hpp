// Device buffers with guard bytes at the end, and comparisons with expected words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <bankwise/gpu/session.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise::bench {

/// Guard bytes past the end of every buffer, which must not change.
inline constexpr std::uint64_t guard_bytes = 256;

constexpr std::uint64_t bytes_of(std::uint64_t words) { return words * sizeof(std::uint32_t); }

/// `bytes` of uninitialized memory and guard bytes.
std::unique_ptr<gpu::Buffer> allocate_guarded(gpu::Session& session, std::uint64_t bytes);

/// The same, zeroed, of whole words.
std::unique_ptr<gpu::Buffer> allocate_zeroed(gpu::Session& session, std::uint64_t bytes);

inline constexpr std::uint32_t poison_word = 0xCDCDCDCD;

/// Overwrites all but the guard bytes: with words of poison_word.
void poison(gpu::Session& session, gpu::Buffer& buffer);

/// Compares the first `words` words and the guard bytes, on `threads` threads. Empty if all are right, otherwise one
/// line, in which `name` is the buffer's name: "output word 3 is 0x00000001, not 0x00000000".
std::string difference(gpu::Session& session, const gpu::Buffer& buffer, std::string_view name, std::uint64_t words = 0,
                       const study::Expected& expected = {}, unsigned threads = 1);

}  // namespace bankwise::bench
