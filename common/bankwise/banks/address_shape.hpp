// What an access looks like, in words, so that a report can name the pattern behind its cost.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace bankwise::banks {

/// A fragment of a sentence for the addresses of the lanes in `mask`, each of which accesses `width` bytes:
/// "consecutive", "broadcast", "lanes 4,096 bytes apart (a column)", "stride of 3 words (array of structures)",
/// "consecutive, misaligned by 4 bytes: one sector more", "rows of 16 lanes 512 bytes apart", "random". Words are of 4
/// bytes. Addresses count from a multiple of the cache line; entries past the last active lane may be missing. Empty if
/// no lane is active, or if an active lane has no address. `sector_bytes`: what moves as a whole, a power of two, for
/// which misalignment is judged.
std::string shape_in_words(unsigned width, std::uint64_t mask, std::span<const std::uint32_t> addresses,
                           unsigned sector_bytes = 32);

}  // namespace bankwise::banks
