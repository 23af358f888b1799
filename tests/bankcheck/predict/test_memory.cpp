// The memory use of `bankcheck predict` does not grow with its input.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "accesses_csv.hpp"
#include "tests/bankcheck/bankcheck_program.hpp"

namespace {

struct Run {
  int code;
  long kib;  ///< the peak memory of the program
  std::size_t lines;
};

void become(const std::string& command, const int (&pipe_ends)[2], const std::string& out) {
  dup2(pipe_ends[0], STDIN_FILENO);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  const int file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  // The preset asan keeps freed memory for a while, so these limits do not hold there.
  setenv("ASAN_OPTIONS", "quarantine_size_mb=1:thread_local_quarantine_size_kb=64", 1);
  execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
  _exit(126);
}

/// Runs a command that reads this many rows from a pipe.
Run fed(const std::string& command, unsigned rows) {
  const ScratchDirectory scratch;
  const std::string out = (scratch.path() / "out").string();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  (void)std::signal(SIGPIPE, SIG_IGN);  // the exit code shows whether a program ended early
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) become(command, ends, out);
  close(ends[0]);
  std::string text = csv_header();
  const std::string row = csv_row("\"row, with some text\",load,4,ffffffff", 36);
  for (unsigned i = 0; i < rows; ++i) {
    text += row;
    if (text.size() < 60000 && i + 1 < rows) continue;
    for (std::size_t at = 0; at < text.size();) {
      const auto written = write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) break;
      at += std::size_t(written);
    }
    text.clear();
  }
  close(ends[1]);
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  const std::string written = text_of(out);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, usage.ru_maxrss,
          std::size_t(std::count(written.begin(), written.end(), '\n'))};
}

constexpr unsigned many = 300000;  // 60 MB

}  // namespace

TEST_CASE("predict/memory/300000_rows") {
  for (const char* option : {"", " --json"}) {
    const std::string command = std::string("'" SAMPLES_DIRECTORY "/bankcheck' predict -") + option;
    const Run small = fed(command, 100), large = fed(command, many);
    INFO(command << ": " << small.kib << " and " << large.kib << " KiB");
    CHECK(small.code == 0);
    CHECK(large.code == 0);
    CHECK(large.lines == many + 1);
    CHECK(large.kib < small.kib + 8 * 1024);
  }
}

TEST_CASE("predict/memory/control") {
  const std::string keeps = "awk '{ line[NR] = $0 } END { print NR }'";
  const Run small = fed(keeps, 100), large = fed(keeps, many);
  INFO(small.kib << " and " << large.kib << " KiB");
  CHECK(large.code == 0);
  CHECK(large.kib > small.kib + 8 * 1024);
}
