// SPDX-License-Identifier: MIT
#include <sstream>

#include "bankcheck/cuda/injection/idle_watch.hpp"
#include "tests/catch_any.hpp"

namespace {

/// Events of threads 1, 2 ... and streams a, b ...: "L1a" a launch, "B1a" its begin, "E1" its end, "S1a" a
/// synchronization with the stream, "S1" with the context. "idle" and "busy" are what the watch must say then.
struct Story {
  const char *name, *events;
};
constexpr Story stories[]{
    {"a thread covers its own launches", "idle L1a busy S1a idle"},
    {"another thread covers them with its second synchronization", "L1a S2a busy S3a busy S2a idle"},
    {"another thread has launched in the stream", "L1a L2a S1a busy S1a idle"},
    {"after a later launch it starts anew", "L1a S2a L1a S2a busy S2 idle"},
    {"a stream is not the context", "L1a L1b S1a S1a S1a busy S1 idle"},
    {"a launch that has begun is not covered", "B1a S2a S2a S2a busy E1 busy S2a S2a idle"},
    {"a failed launch", "B1a S1a idle"},
};

void play(bankwise::cuda::IdleWatch<char, int>& watch, const std::string& event) {
  const char kind = event[0];
  const int thread = event[1] - '0';
  const auto stream = event.size() > 2 ? std::optional(event[2]) : std::nullopt;
  if (kind == 'L' || kind == 'B') watch.launch_begins(thread, *stream);
  if (kind == 'L' || kind == 'E') watch.launch_ends(thread);
  if (kind == 'S') watch.synchronized(thread, stream);
}

}  // namespace

TEST_CASE("cuda/injection/idle_watch/stories") {
  for (const auto& [name, events] : stories) {
    bankwise::cuda::IdleWatch<char, int> watch;
    std::istringstream words(events);
    std::string so_far;
    for (std::string event; words >> event;) {
      so_far += " " + event;
      INFO(name << ":" << so_far);
      if (event == "idle" || event == "busy") {
        CHECK(watch.idle() == (event == "idle"));
      } else {
        play(watch, event);
      }
    }
  }
}
