// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/idle_watch.hpp"
#include "tests/catch_any.hpp"

using Watch = bankwise::cuda::IdleWatch<char, int>;

TEST_CASE("a thread's synchronization covers its own launches") {
  Watch watch;
  CHECK(watch.idle());
  watch.launch_begins(1, 's');
  watch.launch_ends(1);
  CHECK_FALSE(watch.idle());
  watch.synchronized(1, 's');
  CHECK(watch.idle());
}

TEST_CASE("another thread's synchronization may have begun too early, its second covers what came before its first") {
  Watch watch;
  watch.launch_begins(1, 's');
  watch.launch_ends(1);
  watch.synchronized(2, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(3, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(2, 's');
  CHECK(watch.idle());
}

TEST_CASE("so may that of one of two threads that launch in a stream") {
  Watch watch;
  for (const int thread : {1, 2}) {
    watch.launch_begins(thread, 's');
    watch.launch_ends(thread);
  }
  watch.synchronized(1, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(1, 's');
  CHECK(watch.idle());
}

TEST_CASE("a later launch in the stream starts anew") {
  Watch watch;
  watch.launch_begins(1, 's');
  watch.launch_ends(1);
  watch.synchronized(2, 's');
  watch.launch_begins(1, 's');
  watch.launch_ends(1);
  watch.synchronized(2, 's');
  CHECK_FALSE(watch.idle());
  watch.synchronized(2, std::nullopt);
  CHECK(watch.idle());
}

TEST_CASE("a synchronization covers its stream, or the context") {
  Watch watch;
  for (const char stream : {'a', 'b'}) {
    watch.launch_begins(1, stream);
    watch.launch_ends(1);
  }
  for (int i = 0; i < 3; ++i) watch.synchronized(1, 'a');
  CHECK_FALSE(watch.idle());
  watch.synchronized(1, std::nullopt);
  CHECK(watch.idle());
}

TEST_CASE("a launch that has begun is not covered before it ends") {
  Watch watch;
  watch.launch_begins(1, 's');
  for (int i = 0; i < 3; ++i) watch.synchronized(2, 's');
  CHECK_FALSE(watch.idle());
  watch.launch_ends(1);
  CHECK_FALSE(watch.idle());
  for (int i = 0; i < 2; ++i) watch.synchronized(2, 's');
  CHECK(watch.idle());
}

TEST_CASE("a thread that synchronizes has ended its launch, even if that failed and was not reported") {
  Watch watch;
  watch.launch_begins(1, 's');
  watch.synchronized(1, 's');
  CHECK(watch.idle());
}
