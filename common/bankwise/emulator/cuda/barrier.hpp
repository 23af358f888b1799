// cuda::barrier of a block.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/copies.hpp>

namespace bankwise::emulator::device {

// Not inlined, because the emulator reads the return address. The object's address identifies it.
void init_barrier(void* object, unsigned expected) noexcept;
std::uint64_t arrive_at_barrier(void* object, unsigned arrivals, unsigned drops) noexcept;
void wait_at_barrier(void* object, std::uint64_t round) noexcept;
bool test_barrier(void* object, std::uint64_t round) noexcept;
void wait_at_barrier_parity(void* object, bool parity) noexcept;

}  // namespace bankwise::emulator::device

#if defined(__CUDACC__) && !defined(BANKWISE_HIP) && __has_include(<cuda/std/__atomic/scopes.h>)
#include <cuda/std/__atomic/scopes.h>  // of a CUDA Toolkit, whose cuda::atomic_ref a program may use, too
#else
namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

}  // namespace cuda
#endif

namespace cuda {

/// `Completion` is called at the end of a round by CUDA, and never here.
template <thread_scope scope = thread_scope_system, class Completion = void>
class barrier {
 public:
  using arrival_token = ::std::uint64_t;
  barrier() = default;
  BANKWISE_DEVICE explicit barrier(::std::ptrdiff_t expected) {
    bankwise::emulator::device::init_barrier(this, unsigned(expected));
  }
  barrier(const barrier&) = delete;
  BANKWISE_DEVICE arrival_token arrive(::std::ptrdiff_t arrivals = 1) {
    return bankwise::emulator::device::arrive_at_barrier(this, unsigned(arrivals), 0);
  }
  BANKWISE_DEVICE void wait(arrival_token token) const {
    bankwise::emulator::device::wait_at_barrier(const_cast<barrier*>(this), token);
  }
  BANKWISE_DEVICE void wait_parity(bool parity) const {
    bankwise::emulator::device::wait_at_barrier_parity(const_cast<barrier*>(this), parity);
  }
  BANKWISE_DEVICE bool try_wait(arrival_token token) const {
    return bankwise::emulator::device::test_barrier(const_cast<barrier*>(this), token);
  }
  BANKWISE_DEVICE void arrive_and_wait() { wait(arrive()); }
  BANKWISE_DEVICE void arrive_and_drop() { bankwise::emulator::device::arrive_at_barrier(this, 1, 1); }
  static constexpr ::std::ptrdiff_t max() { return (1 << 20) - 1; }

 private:
  ::std::uint64_t unused_;
};

template <thread_scope scope, class Completion>
BANKWISE_DEVICE void init(barrier<scope, Completion>* object, ::std::ptrdiff_t expected) {
  bankwise::emulator::device::init_barrier(object, unsigned(expected));
}

/// The copies of a lane are done when it arrives at a barrier, or as the pipeline says.
template <class Size, class Object>
BANKWISE_DEVICE void memcpy_async(void* to, const void* from, Size bytes, Object&) {
  bankwise::emulator::device::copy_async_share(0, 1, to, from, bytes);
}
template <class Group, class Size, class Object>
BANKWISE_DEVICE void memcpy_async(const Group& group, void* to, const void* from, Size bytes, Object&) {
  bankwise::emulator::device::copy_async_share(unsigned(group.thread_rank()), unsigned(group.size()), to, from, bytes);
}

}  // namespace cuda
