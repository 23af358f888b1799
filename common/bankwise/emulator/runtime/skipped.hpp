// --only-watched: blocks that are not recorded do not run. What they would have written is then missing in memory, and
// this finds out who uses such memory. An allocation is stale if skipped blocks may have written to it: if blocks of
// the same launch do, or an argument points to it that is no pointer to constants; all are if the kernel also writes to
// other memory. What is made from stale memory is stale, too, and so is what synchronizes blocks that do not all run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bankwise::emulator::runtime {

/// Begins to note how kernels use memory. Called before each launch; nothing happens without --only-watched.
void begin_skipping();

/// A launch has ended of which `ran` of `blocks` blocks ran. `kernel`: its address, or a number for it. `arguments`:
/// their bytes; null if they are not known. Tells bankcheck if it read stale memory.
void note_skipped(const void* kernel, const std::string& name, std::uint64_t ran, std::uint64_t blocks,
                  const std::string* arguments);

/// A function of the host copies or sets memory; `from` is null if it sets. `caller`: its call, for the message if the
/// host gets stale memory.
void note_host_copy(const void* to, const void* from, std::size_t bytes, const void* caller);

/// A library function reads and writes memory that is not noted.
void note_library();

/// The host reads memory without such a function, or a variable of the program by one.
void note_host_read(const void* address, const void* caller);

}  // namespace bankwise::emulator::runtime
