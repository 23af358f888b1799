// Ends in the way that its argument selects, before, during or after the launch of a kernel.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "good_kernel.h"

static const char* const source = GOOD_KERNEL
    "kernel void endless(volatile global int* out) {\n"
    "  local int tile[64];\n"
    "  tile[get_local_id(0)] = 1;\n"
    "  while (tile[get_local_id(0)] == 1) out[0] = 1;\n"
    "}\n";

static Setup setup;

static void launch_again(void) { run_good(setup); }

static void run_endless(void) {
  int out[64] = {0};
  alarm(1);
  run(setup, "endless", NULL, out, 64, 64);
}

/// As the destructor of a global object does. The memory then shows whether the calls wrote into memory that was free.
static void tear_down_at_exit(void) {
  static char* volatile pieces[64];
  tear_down(setup);
  for (size_t i = 0; i < 2 * 64; ++i) {
    const size_t bytes = 16 * (i % 64 + 1);
    pieces[i % 64] = malloc(bytes);
    if (pieces[i % 64] != NULL) memset(pieces[i % 64], 0, bytes);
  }
}

static void abort_on_alarm(int signal) {
  (void)signal;
  abort();
}

static void succeed_on_alarm(int signal) {
  (void)signal;
  _exit(0);
}

static int mode_of(const char* mode) {
  setup = set_up(source, "");
  run_good(setup);
  if (strcmp(mode, "release_at_exit") == 0) return atexit(tear_down_at_exit);
  if (strcmp(mode, "launch_at_exit") == 0) return atexit(launch_again);
  if (strcmp(mode, "abort_at_exit") == 0) return atexit(abort);
  if (strcmp(mode, "exit5_abort_at_exit") == 0) return atexit(abort) == 0 ? 5 : 1;
  if (strcmp(mode, "abort_in_kernel_at_exit") == 0) {
    signal(SIGALRM, abort_on_alarm);
    return atexit(run_endless);
  }
  if (strcmp(mode, "abort_in_kernel") == 0) {
    signal(SIGALRM, abort_on_alarm);
    run_endless();
  }
  if (strcmp(mode, "_exit_in_kernel") == 0) {
    signal(SIGALRM, succeed_on_alarm);
    run_endless();
  }
  if (strcmp(mode, "child_aborts_in_kernel") == 0) {
    if (fork() == 0) {
      setup = set_up(source, "");
      signal(SIGALRM, abort_on_alarm);
      run_endless();
    }
    int status = 0;
    return wait(&status) > 0 && WIFSIGNALED(status) ? 0 : 1;
  }
  return 8;
}

int main(int argc, char** argv) { return argc == 2 ? mode_of(argv[1]) : 8; }
