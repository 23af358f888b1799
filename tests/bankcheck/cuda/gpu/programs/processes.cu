// Several processes.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.cuh"

extern char** environ;

namespace {

void wait_for(pid_t child) {
  int status = 0;
  expect(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child process");
}

void child() { run(ways_2, 5); }

/// ways_32 with 3 blocks; a child process, which is this program again: ways_2 with 5 blocks.
void spawn() {
  run(ways_32, 3);
  char name[] = "processes", mode[] = "child";
  char* const arguments[]{name, mode, nullptr};
  pid_t started = 0;
  expect(posix_spawn(&started, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0, "posix_spawn()");
  wait_for(started);
}

/// Both use CUDA for the first time after the fork.
void fork_first() {
  const pid_t forked = fork();
  if (forked == 0) {
    run(ways_2, 5);
    std::exit(0);
  }
  run(ways_32, 3);
  wait_for(forked);
}

/// The child does not touch CUDA, which it could not. ways_32: 3 blocks before, 7 after.
template <void (*leave)(int)>
void fork_after() {
  run(ways_32, 3);
  const pid_t forked = fork();
  if (forked == 0) leave(0);
  wait_for(forked);
  run(ways_32, 7);
}

/// Two ranks of this have 8 blocks in all.
void rank() { run(ways_32, 4); }

constexpr Mode modes[] = {{"child", child},
                          {"spawn", spawn},
                          {"fork_first", fork_first},
                          {"fork_and_exit", fork_after<std::exit>},
                          {"fork_and_underscore_exit", fork_after<_exit>},
                          {"rank", rank}};

}  // namespace

int main(int count, char** arguments) { return play(modes, count, arguments); }
