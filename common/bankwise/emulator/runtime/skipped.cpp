#include <bankwise/emulator/runtime/skipped.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/messages.hpp>
#include <bankwise/support/append.hpp>

namespace bankwise::emulator::runtime {
namespace {

/// How a kernel reaches what it writes to.
struct KernelWrites {
  std::set<std::size_t> arguments;  ///< offsets in the bytes of its arguments
  bool others = false;              ///< also memory to which no argument points
};

struct Skipping {
  std::mutex mutex;
  std::set<std::uint32_t> stale;  ///< numbers of allocations, as in GlobalMemory
  std::map<const void*, KernelWrites> kernels;
  std::set<std::string> told;
};
Skipping& skipping() {
  static auto* const only = new Skipping;
  return *only;
}

/// Tells bankcheck something, once: "skipped", "kernel NAME", "host PLACE".
void tell(const std::string& line) {
  if (skipping().told.insert(line).second) support::append_to(settings().skipped.c_str(), line + '\n');
}

std::uint32_t number_at(const void* address) {
  return global_memory.contains(address) ? global_memory.number_at(address) : 0;
}

/// Calls with the offset and the allocation's number of each pointer among the bytes of arguments.
template <class Visit>
void for_each_pointer(const std::string& arguments, Visit visit) {
  const void* pointer = nullptr;
  for (std::size_t at = 0; at + sizeof pointer <= arguments.size(); ++at) {
    std::memcpy(&pointer, arguments.data() + at, sizeof pointer);
    if (const std::uint32_t number = number_at(pointer); number != 0) visit(at, number);
  }
}

/// The allocations that the last launch used, 0 for the program's variables.
std::set<std::uint32_t> used(std::uint8_t how) {
  std::set<std::uint32_t> numbers;
  const auto add = [&](std::uint32_t number) {
    if ((global_memory.uses[number].load(std::memory_order_relaxed) & how) != 0) numbers.insert(number);
  };
  add(0);
  for_each_live_allocation(
      [&](const Allocation& allocation) { add(number_at(reinterpret_cast<const void*>(allocation.begin))); });
  return numbers;
}

void make_all_stale(Skipping& now) {
  now.stale.insert(0);
  for_each_live_allocation([&](const Allocation& allocation) {
    now.stale.insert(number_at(reinterpret_cast<const void*>(allocation.begin)));
  });
}

}  // namespace

void begin_skipping() {
  if (!settings().only_watched) return;
  if (global_memory.uses == nullptr && global_memory.bytes != 0) {
    const std::size_t bytes = (global_memory.bytes >> GlobalMemory::page_bits) / 2;
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    global_memory.uses = static_cast<std::atomic<std::uint8_t>*>(memory);
  }
  global_memory.left = false;
  global_memory.uses[0] = 0;
  for_each_live_allocation([](const Allocation& allocation) {
    global_memory.uses[number_at(reinterpret_cast<const void*>(allocation.begin))] = 0;
  });
}

void note_skipped(const void* kernel, const std::string& name, std::uint64_t ran, std::uint64_t blocks,
                  const std::string* arguments) {
  if (global_memory.uses == nullptr) return;
  Skipping& now = skipping();
  const std::lock_guard lock(now.mutex);
  if (ran < blocks) tell("skipped");
  if (ran == 0) {
    const auto known = now.kernels.find(kernel);
    if (known == now.kernels.end() || known->second.others || arguments == nullptr) return make_all_stale(now);
    for_each_pointer(*arguments, [&](std::size_t at, std::uint32_t number) {
      if (known->second.arguments.contains(at)) now.stale.insert(number);
    });
    return;
  }
  bool reads_stale = global_memory.left && !now.stale.empty();  // memory of which nothing is noted, as of textures
  for (const std::uint32_t number : used(GlobalMemory::reads)) reads_stale |= now.stale.contains(number);
  if (reads_stale) tell("kernel " + name);

  std::set<std::uint32_t> written = used(GlobalMemory::writes);
  if (ran < blocks || reads_stale) now.stale.insert(written.begin(), written.end());
  KernelWrites& writes = now.kernels[kernel];
  writes.others |= global_memory.left;
  if (arguments == nullptr) return;
  const std::set<std::uint32_t> all = written;
  for_each_pointer(*arguments, [&](std::size_t at, std::uint32_t number) {
    if (!all.contains(number)) return;
    writes.arguments.insert(at);
    written.erase(number);
  });
  writes.others |= !written.empty();
}

void note_host_copy(const void* to, const void* from, std::size_t bytes, const void* caller) {
  if (global_memory.uses == nullptr) return;
  Skipping& now = skipping();
  const std::lock_guard lock(now.mutex);
  const std::uint32_t source = from == nullptr ? 0 : number_at(from), target = number_at(to);
  if (source != 0 && now.stale.contains(source)) {
    if (target == 0) return tell("host " + place_of(caller));
    now.stale.insert(target);
    return;
  }
  if (target == 0) return;
  const auto allocation = allocation_at(to);
  if (allocation && allocation->begin == std::uintptr_t(to) && bytes >= allocation->bytes) now.stale.erase(target);
}

void note_host_read(const void* address, const void* caller) {
  if (global_memory.uses == nullptr) return;
  Skipping& now = skipping();
  const std::lock_guard lock(now.mutex);
  if (now.stale.contains(number_at(address))) tell("host " + place_of(caller));
}

}  // namespace bankwise::emulator::runtime
