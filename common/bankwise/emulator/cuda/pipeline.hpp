// cuda::pipeline: of a thread, and of a block.
#pragma once

#include <bankwise/emulator/cuda/barrier.hpp>

namespace cuda {

enum class pipeline_role { producer, consumer };

/// Two barrier objects for each stage.
template <thread_scope scope, unsigned char stages>
struct pipeline_shared_state {
  ::std::uint64_t produced[stages], consumed[stages];
};

template <thread_scope scope>
class pipeline {
 public:
  BANKWISE_DEVICE pipeline(::std::uint64_t* produced, ::std::uint64_t* consumed, unsigned stages)
      : produced_(produced), consumed_(consumed), stages_(stages) {}
  BANKWISE_DEVICE void producer_acquire() {
    // The first round finds all stages empty.
    if (stages_ != 0 && filled_ >= stages_) {
      bankwise::emulator::device::wait_at_barrier(&consumed_[filled_ % stages_], filled_ / stages_ - 1);
    }
  }
  BANKWISE_DEVICE void producer_commit() {
    if (stages_ == 0) {
      bankwise::emulator::device::commit_async();
    } else {
      bankwise::emulator::device::wait_all_async();
      bankwise::emulator::device::arrive_at_barrier(&produced_[filled_ % stages_], 1, 0);
    }
    ++filled_;
  }
  BANKWISE_DEVICE void consumer_wait() {
    if (stages_ == 0) {
      bankwise::emulator::device::wait_async(unsigned(filled_ - emptied_ - 1));
    } else {
      bankwise::emulator::device::wait_at_barrier(&produced_[emptied_ % stages_], emptied_ / stages_);
    }
    ++emptied_;
  }
  BANKWISE_DEVICE void consumer_release() {
    if (stages_ == 0) return;
    bankwise::emulator::device::arrive_at_barrier(&consumed_[released_ % stages_], 1, 0);
    ++released_;
  }
  BANKWISE_DEVICE bool quit() { return true; }
  /// For pipeline_consumer_wait_prior().
  BANKWISE_DEVICE void wait_prior(unsigned open) {
    static_assert(scope == thread_scope_thread, "pipeline_consumer_wait_prior() is for pipelines of a thread");
    bankwise::emulator::device::wait_async(open);
    emptied_ = filled_ - open;
  }

 private:
  ::std::uint64_t *produced_, *consumed_;
  unsigned stages_;  // 0: of a thread, with any number of stages
  unsigned long long filled_ = 0, emptied_ = 0, released_ = 0;
};

BANKWISE_DEVICE pipeline<thread_scope_thread> make_pipeline() { return {nullptr, nullptr, 0}; }

/// All threads of a group call it. The first `producers` threads fill the stages, or all, as their roles say.
template <class Group, thread_scope scope, unsigned char stages>
BANKWISE_DEVICE pipeline<scope> make_pipeline_of(const Group& group, pipeline_shared_state<scope, stages>* state,
                                                 unsigned producers, unsigned consumers) {
  if (group.thread_rank() == 0) {
    for (unsigned i = 0; i < stages; ++i) {
      bankwise::emulator::device::init_barrier(&state->produced[i], producers);
      bankwise::emulator::device::init_barrier(&state->consumed[i], consumers);
    }
  }
  group.sync();
  return {state->produced, state->consumed, stages};
}
template <class Group, thread_scope scope, unsigned char stages>
BANKWISE_DEVICE pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state) {
  return make_pipeline_of(group, state, unsigned(group.size()), unsigned(group.size()));
}
template <class Group, thread_scope scope, unsigned char stages>
BANKWISE_DEVICE pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                                              ::std::size_t producers) {
  return make_pipeline_of(group, state, unsigned(producers), unsigned(group.size() - producers));
}
template <class Group, thread_scope scope, unsigned char stages>
BANKWISE_DEVICE pipeline<scope> make_pipeline(const Group& group, pipeline_shared_state<scope, stages>* state,
                                              pipeline_role role) {
  const auto producers = unsigned(__syncthreads_count(role == pipeline_role::producer));
  return make_pipeline_of(group, state, producers, unsigned(group.size()) - producers);
}

template <unsigned open, thread_scope scope>
BANKWISE_DEVICE void pipeline_consumer_wait_prior(pipeline<scope>& pipe) {
  pipe.wait_prior(open);
}
template <thread_scope scope>
BANKWISE_DEVICE void pipeline_producer_commit(pipeline<scope>& pipe) {
  pipe.producer_commit();
}

}  // namespace cuda
