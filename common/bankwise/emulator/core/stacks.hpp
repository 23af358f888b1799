#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: stacks for lanes, each with an inaccessible guard page below it.
class Stacks {
 public:
  using Protect = int (*)(void* address, std::size_t bytes, int protection);  ///< mprotect(), replaced in tests

  /// Error: std::system_error if the system does not provide all of them with their guard pages.
  Stacks(unsigned count, Protect protect);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  unsigned count() const { return count_; }
  /// The system limits how many mappings a process has, and each stack and each guard page is one.
  static constexpr std::size_t mappings = 2;
  static constexpr std::size_t bytes = std::size_t{1} << 17;  // the size of a stack; only touched pages take memory
  std::byte* operator[](unsigned i) const { return memory_ + i * (bytes + guard) + guard; }
  /// Whether an address lies in a guard page.
  bool in_guard(const void* address) const;
  /// Whether an address lies in a stack, or in a guard page.
  bool contains(const void* address) const {
    return std::uintptr_t(address) - std::uintptr_t(memory_) < count_ * (bytes + guard);
  }
  /// The content of the stacks is no longer needed: the system may reclaim the memory when it runs short.
  void forget() const;

 private:
  static constexpr std::size_t guard = 4096;
  unsigned count_;
  std::byte* memory_;
};

/// Internal to common/bankwise/emulator: sets of stacks that launches borrow, from several threads simultaneously.
/// Creating a set takes a system call per stack, so sets are kept.
class StackPool {
 public:
  /// At most this many mappings are in use.
  StackPool(std::size_t max_mappings, Stacks::Protect protect) : max_mappings_(max_mappings), protect_(protect) {}
  /// The pool that launches use. It leaves a quarter of vm.max_map_count to the rest of the program.
  static StackPool& of_process();

  struct GiveBack {
    StackPool* pool = nullptr;
    void operator()(Stacks* stacks) const { pool->give_back(stacks); }
  };
  using Loan = std::unique_ptr<Stacks, GiveBack>;

  /// At least `count` stacks. Waits for other loans if necessary, so a thread that holds a loan must not call this.
  /// Error: std::runtime_error if the system does not provide the stacks although there is no other loan.
  Loan borrow(unsigned count);
  /// The same without waiting and without errors: null if there are none.
  Loan borrow_if_available(unsigned count);

  std::size_t mappings() const { return mappings_; }        ///< the sum over all sets, lent or not
  std::size_t guards_made() const { return guards_made_; }  ///< since the pool was made

 private:
  std::unique_ptr<Stacks> take(unsigned count);
  Loan lend(std::unique_ptr<Stacks> stacks);
  void give_back(Stacks* stacks);

  const std::size_t max_mappings_;
  const Stacks::Protect protect_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<Stacks>> idle_;  // sorted by number of stacks
  unsigned lent_ = 0;
  std::atomic<std::size_t> mappings_{0}, guards_made_{0};
  std::string refusal_;  // why the system provided none the last time
};

}  // namespace bankwise::emulator
