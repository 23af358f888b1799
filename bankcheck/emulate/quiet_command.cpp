// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/quiet_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "bankcheck/driver/child_process.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace bankwise::emulate {

Ran run_quietly(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  const std::vector<char*> words = driver::argument_vector(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Ran ran;
  char buffer[4096];
  for (ssize_t bytes = 0;
       error == 0 && ((bytes = read(ends[0], buffer, sizeof buffer)) > 0 || (bytes < 0 && errno == EINTR));) {
    if (bytes > 0) ran.output.append(buffer, std::size_t(bytes));
  }
  close(ends[0]);
  if (error != 0) throw std::runtime_error(fmt::format("cannot run {}: {}", command.front(), std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  ran.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ran;
}

}  // namespace bankwise::emulate
