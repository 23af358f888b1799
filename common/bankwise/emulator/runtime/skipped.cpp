#include <bankwise/emulator/runtime/skipped.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/program_symbols.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/messages.hpp>
#include <bankwise/support/append.hpp>

namespace bankwise::emulator::runtime {
namespace {

struct Skipping {
  std::mutex mutex;
  std::set<std::uint32_t> stale;   ///< numbers of allocations, as in GlobalMemory
  std::set<const void*> indirect;  ///< kernels that have written to memory to which no argument points
  std::set<std::string> told;
};
Skipping& skipping() {
  static auto* const only = new Skipping;
  return *only;
}

/// Tells bankcheck something, once: "skipped", "kernel NAME", "host PLACE", "library".
void tell(const std::string& line) {
  if (!settings().skipped.empty() && skipping().told.insert(line).second)
    support::append_to(settings().skipped.c_str(), line + '\n');
}

std::uint32_t number_at(const void* address) {
  return global_memory.contains(address) ? global_memory.number_at(address) : 0;
}

/// The allocations to which arguments point, in their order.
std::vector<std::uint32_t> pointed_to(const std::string& arguments) {
  std::vector<std::uint32_t> numbers;
  const void* pointer = nullptr;
  for (std::size_t at = 0; at + sizeof pointer <= arguments.size(); ++at) {
    std::memcpy(&pointer, arguments.data() + at, sizeof pointer);
    if (const std::uint32_t number = number_at(pointer); number != 0) numbers.push_back(number);
  }
  return numbers;
}

/// For each pointer among the parameters of a demangled function whether it points to constants.
std::vector<bool> pointers_to_const(std::string_view function) {
  std::vector<bool> constant;
  int depth = 0;
  for (std::size_t end = function.rfind(')'), at = end; end != std::string_view::npos && at-- > 0;) {
    const char c = function[at];
    if (depth == 0 && (c == ',' || c == '(')) {
      const std::string_view type = function.substr(at + 1, end - at - 1);
      if (type.ends_with('*')) constant.insert(constant.begin(), type.ends_with(" const*"));
      if (c == '(') break;
      end = at;
    }
    depth += int(c == ')' || c == '>') - int(c == '(' || c == '<');
  }
  return constant;
}

/// The same for a kernel by its name; nothing if there is not one such kernel.
std::vector<bool> pointers_to_const_of(const std::string& kernel) {
  static auto* const known = new std::map<std::string, std::vector<bool>>;
  const auto [entry, is_new] = known->try_emplace(kernel);
  if (!is_new) return entry->second;
  std::set<std::string> functions;
  for_each_symbol([&](const Elf64_Sym&, const char* symbol) {
    const std::string name = plain_name(symbol);
    const auto at = name.find(kernel + '(');
    if (at == 0 || (at != std::string::npos && name[at - 1] == ' ')) functions.insert(name);
  });
  if (functions.size() == 1) entry->second = pointers_to_const(*functions.begin());
  return entry->second;
}

/// The allocations that a kernel may write to through its arguments.
std::set<std::uint32_t> writable(const std::string& kernel, const std::string& arguments) {
  const std::vector<std::uint32_t> numbers = pointed_to(arguments);
  const std::vector<bool> constant = pointers_to_const_of(kernel);
  std::set<std::uint32_t> result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (constant.size() != numbers.size() || !constant[i]) result.insert(numbers[i]);
  }
  return result;
}

/// Calls with 0, for the program's variables, and with the number of each allocation that is not freed.
template <class Visit>
void for_each_number(Visit visit) {
  visit(0);
  for_each_live_allocation(
      [&](const Allocation& allocation) { visit(number_at(reinterpret_cast<const void*>(allocation.begin))); });
}

/// Those that the last launch used.
std::set<std::uint32_t> used(std::uint8_t how) {
  std::set<std::uint32_t> numbers;
  for_each_number([&](std::uint32_t number) {
    if ((global_memory.uses[number].load(std::memory_order_relaxed) & how) != 0) numbers.insert(number);
  });
  return numbers;
}

void make_all_stale(Skipping& now) {
  for_each_number([&](std::uint32_t number) { now.stale.insert(number); });
}

}  // namespace

void begin_skipping() {
  if (!settings().only_watched) return;
  if (global_memory.uses == nullptr) {
    const std::size_t numbers = (global_memory.bytes >> GlobalMemory::page_bits) / 2;
    global_memory.uses = reserve_table<std::atomic<std::uint8_t>>(numbers);
    if (global_memory.uses == nullptr) return;
  }
  global_memory.left = false;
  for_each_number([](std::uint32_t number) { global_memory.uses[number] = 0; });
}

void note_skipped(const void* kernel, const std::string& name, std::uint64_t ran, std::uint64_t blocks,
                  const std::string* arguments) {
  if (global_memory.uses == nullptr) return;
  Skipping& now = skipping();
  const std::lock_guard lock(now.mutex);
  const std::set<std::uint32_t> written = used(GlobalMemory::writes);
  bool reads_stale = global_memory.left && !now.stale.empty();  // memory of which nothing is noted, as of textures
  for (const std::uint32_t number : used(GlobalMemory::reads)) reads_stale |= now.stale.contains(number);
  // Blocks that wait for each other, or count each other, do so with atomics.
  reads_stale |= ran < blocks && !used(GlobalMemory::synchronizes).empty();
  if (reads_stale && ran > 0) tell("kernel " + name);
  if (reads_stale) now.stale.insert(written.begin(), written.end());
  if (ran == blocks) return;

  tell("skipped");
  now.stale.insert(written.begin(), written.end());
  const std::set<std::uint32_t> by_arguments =
      arguments == nullptr ? std::set<std::uint32_t>{} : writable(name, *arguments);
  now.stale.insert(by_arguments.begin(), by_arguments.end());
  // Without 0, the variables, which no argument has to name.
  const bool is_indirect =
      global_memory.left || arguments == nullptr ||
      !std::includes(by_arguments.begin(), by_arguments.end(), written.upper_bound(0), written.end());
  if (is_indirect) now.indirect.insert(kernel);
  if (now.indirect.contains(kernel)) make_all_stale(now);
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

void note_library() {
  Skipping& now = skipping();
  const std::lock_guard lock(now.mutex);
  tell("library");
  if (!now.stale.empty()) make_all_stale(now);
}

void note_host_read(const void* address, const void* caller) {
  if (global_memory.uses == nullptr) return;
  Skipping& now = skipping();
  const std::lock_guard lock(now.mutex);
  if (now.stale.contains(number_at(address))) tell("host " + place_of(caller));
}

}  // namespace bankwise::emulator::runtime
