// Stacks of lanes: each has a guard page, or there is an error; launches reuse them.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include <bankwise/emulator/core/stacks.hpp>
#include <bankwise/emulator/cuda.hpp>
#include "kernel_tests.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using bankwise::emulator::Fault;
using bankwise::emulator::StackPool;
using bankwise::emulator::Stacks;

namespace {

constexpr std::size_t LINUX_DEFAULT = 65530;  // of vm.max_map_count

__global__ void writes_its_index(unsigned* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }

__device__ unsigned endless(unsigned n, volatile unsigned* out) {
  out[0] = n;
  return n == 0 ? 0 : endless(n + 2, out) + out[0];
}
__global__ void last_thread_recurses(unsigned* out) {
  if (threadIdx.x == blockDim.x - 1) out[0] = endless(1, out);
}

/// Whether each guard page works: the system cannot read it, and can read the stack above.
bool is_guarded(const Stacks& stacks) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  bool guarded = true;
  for (unsigned i = 0; i < stacks.count(); ++i) {
    char byte = 0;
    guarded &= write(ends[1], stacks[i] - 1, 1) == -1 && errno == EFAULT;
    guarded &= write(ends[1], stacks[i], 1) == 1 && read(ends[0], &byte, 1) == 1;
  }
  close(ends[0]);
  close(ends[1]);
  return guarded;
}

std::atomic<unsigned> guards_left;
int protect_some(void* address, std::size_t bytes, int protection) {
  if (guards_left > 0) {
    --guards_left;
    return mprotect(address, bytes, protection);
  }
  errno = ENOMEM;
  return -1;
}

}  // namespace

TEST_CASE("emulator/stacks/reused") {
  const StackPool& pool = StackPool::of_process();
  const std::size_t before = pool.guards_made();
  std::vector<unsigned> out(8 * 256);
  for (unsigned i = 0; i < 10; ++i) {
    for (const unsigned threads : {256U, 100U, 1U}) {
      emulate(writes_its_index, {.grid = 8, .block = threads, .threads = 4}, out.data());
    }
  }
  CHECK(pool.guards_made() - before <= 4 * (256 + 128 + 32));
}

TEST_CASE("emulator/stacks/guard_pages") {
  std::atomic<unsigned> diagnosed = 0;
  {
    std::vector<std::jthread> hosts;
    for (unsigned i = 0; i < 3; ++i) {
      hosts.emplace_back([&] {
        std::vector<unsigned> out(1024 * 64);
        emulate(writes_its_index, {.grid = 64, .block = 1024, .threads = 16}, out.data());
        unsigned word = 0;
        const auto diagnosis =
            diagnosis_of([&] { emulate(last_thread_recurses, {.grid = 64, .block = 1024, .threads = 16}, &word); });
        if (diagnosis && diagnosis->fault == Fault::invalid_address) ++diagnosed;
      });
    }
  }
  CHECK(diagnosed == 3);
  std::vector<StackPool::Loan> loans;
  while (auto loan = StackPool::of_process().borrow_if_available(1024)) loans.push_back(std::move(loan));
  CHECK(loans.size() > 1);
  for (const auto& loan : loans) CHECK(is_guarded(*loan));
}

TEST_CASE("emulator/stacks/mapping_limit") {
  StackPool pool(LINUX_DEFAULT / 4 * 3, mprotect);
  std::vector<StackPool::Loan> loans;
  while (auto loan = pool.borrow_if_available(1024)) loans.push_back(std::move(loan));
  CHECK(loans.size() > 1);
  CHECK(loans.size() <= 23);
  CHECK(pool.mappings() < LINUX_DEFAULT);
  for (const auto& loan : loans) CHECK(is_guarded(*loan));
  loans.pop_back();
  // A small set takes a large one's place without waiting.
  CHECK(pool.borrow(32)->count() == 1024);
}

TEST_CASE("emulator/stacks/waits_for_another") {
  StackPool pool(2 * 64, mprotect);
  auto lent = pool.borrow(64);
  CHECK(pool.borrow_if_available(64) == nullptr);
  std::atomic<bool> has_given_back = false, came_after = false;
  std::jthread other([&] {
    const auto mine = pool.borrow(64);
    came_after = has_given_back.load();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  has_given_back = true;
  lent.reset();
  other.join();
  CHECK(came_after);
}

TEST_CASE("emulator/stacks/small_sets") {
  StackPool pool(2 * 128, mprotect);
  { const auto two = pool.borrow(64), more = pool.borrow(64); }
  CHECK(pool.mappings() == 2 * 128);
  CHECK(is_guarded(*pool.borrow(128)));
  CHECK(pool.mappings() == 2 * 128);
}

TEST_CASE("emulator/stacks/no_guard_pages") {
  guards_left = 100;
  StackPool pool(LINUX_DEFAULT, protect_some);
  {
    const auto first = pool.borrow(64);  // 36 are left
    CHECK(pool.borrow_if_available(64) == nullptr);
    CHECK(pool.mappings() == 2 * 64);
    CHECK(is_guarded(*first));
  }
  const auto reason = has("guard pages for a block of 128 threads: Cannot allocate memory");
  CHECK_THROWS_WITH(pool.borrow(128), reason);
  CHECK(pool.mappings() == 0);
}
