#include <bankwise/emulator/core/stacks.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <system_error>

namespace bankwise::emulator {
namespace {

constexpr unsigned min_stacks = 32;  // per set; sets hold a power of two, so launches of other sizes can reuse them

constexpr std::size_t max_warm = 4096;  // idle stacks that keep the memory that they have touched

}  // namespace

Stacks::Stacks(unsigned count, Protect protect) : count_(count) {
  void* memory = mmap(nullptr, count * (bytes + guard), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category());
  memory_ = static_cast<std::byte*>(memory);
  for (unsigned i = 0; i < count; ++i) {
    if (protect(memory_ + i * (bytes + guard), guard, PROT_NONE) == 0) continue;
    const int error = errno;
    munmap(memory_, count_ * (bytes + guard));
    throw std::system_error(error, std::generic_category());
  }
}

Stacks::~Stacks() { munmap(memory_, count_ * (bytes + guard)); }

bool Stacks::in_guard(const void* address) const {
  return contains(address) && (std::uintptr_t(address) - std::uintptr_t(memory_)) % (bytes + guard) < guard;
}

void Stacks::forget() const { madvise(memory_, count_ * (bytes + guard), MADV_FREE); }

StackPool& StackPool::of_process() {
  // Never destroyed: threads may still run kernels while the program ends.
  static StackPool& pool = [] {
    std::size_t mappings = 65530;  // Linux's default where it cannot be read
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
    return std::ref(*new StackPool(mappings / 4 * 3, mprotect));
  }();
  return pool;
}

StackPool::Loan StackPool::borrow(unsigned count) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto stacks = take(count)) return lend(std::move(stacks));
    if (lent_ == 0) {
      throw std::runtime_error(fmt::format(
          "cannot have stacks with guard pages for a block of {} threads: {} (the limit on mappings of a process is "
          "vm.max_map_count, and the emulator uses at most {} of them)",
          count, refusal_, max_mappings_));
    }
    given_back_.wait(lock);
  }
}

StackPool::Loan StackPool::borrow_if_available(unsigned count) {
  const std::lock_guard lock(mutex_);
  auto stacks = take(count);
  return stacks == nullptr ? Loan() : lend(std::move(stacks));
}

/// An idle set, or a new one; null if there is none now.
std::unique_ptr<Stacks> StackPool::take(unsigned count) {
  const auto fits = std::find_if(idle_.begin(), idle_.end(), [&](const auto& set) { return set->count() >= count; });
  if (fits != idle_.end()) {
    auto stacks = std::move(*fits);
    idle_.erase(fits);
    return stacks;
  }
  const unsigned rounded = std::bit_ceil(std::max(count, min_stacks));
  const std::size_t needed = rounded * Stacks::mappings;
  const auto drop_idle = [&] {
    mappings_ -= idle_.back()->count() * Stacks::mappings;
    idle_.pop_back();
  };
  while (mappings_ + needed > max_mappings_ && !idle_.empty()) drop_idle();
  refusal_ = "too many mappings";
  while (mappings_ + needed <= max_mappings_) {
    try {
      auto stacks = std::make_unique<Stacks>(rounded, protect_);
      mappings_ += needed;
      guards_made_ += rounded;
      return stacks;
    } catch (const std::system_error& error) {
      refusal_ = error.code().message();
      if (idle_.empty()) break;
      drop_idle();
    }
  }
  return nullptr;
}

StackPool::Loan StackPool::lend(std::unique_ptr<Stacks> stacks) {
  ++lent_;
  idle_.reserve(idle_.size() + lent_);  // so that returning a set cannot fail
  return {stacks.release(), GiveBack{this}};
}

void StackPool::give_back(Stacks* stacks) {
  // Releasing memory costs nearly as much as new stacks, so it is done only where many cores would keep much memory.
  {
    const std::lock_guard lock(mutex_);
    std::size_t idle = stacks->count();
    for (const auto& set : idle_) idle += set->count();
    if (idle > max_warm) stacks->forget();
    const auto after = std::ranges::find_if(idle_, [&](const auto& set) { return set->count() >= stacks->count(); });
    idle_.emplace(after, stacks);
    --lent_;
  }
  given_back_.notify_all();
}

}  // namespace bankwise::emulator
