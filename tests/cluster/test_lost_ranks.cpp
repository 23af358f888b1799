// A rank that is killed or stopped while all measure ends the others, soon and with a sentence.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/bankcheck/started_program.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// "prefix_sum" and its parent's number, of /proc/PID/stat; empty if the process has ended.
struct Process {
  std::string name;
  pid_t parent = 0;
};
Process process(pid_t id) {
  const std::string stat = text_of("/proc/" + std::to_string(id) + "/stat");
  const auto open = stat.find('('), close = stat.rfind(')');
  if (close == std::string::npos || stat[close + 2] == 'Z') return {};
  return {stat.substr(open + 1, close - open - 1), pid_t(std::stoi(stat.substr(close + 4)))};
}

bool descends_from(pid_t id, pid_t ancestor) {
  for (; id > 1; id = process(id).parent) {
    if (id == ancestor) return true;
  }
  return false;
}

std::vector<pid_t> ranks_of(const StartedProgram& job) {
  std::vector<pid_t> ranks;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto id = pid_t(std::stoi(name));
    if (process(id).name == "prefix_sum" && descends_from(id, job.process())) ranks.push_back(id);
  }
  return ranks;
}

/// A job that measures for a minute. Its end is the object's end at the latest.
struct LosingJob {
  explicit LosingJob(const std::string& environment = "")
      : started(environment + MPIRUN " -n 2 '" SAMPLES_DIRECTORY
                                     "/prefix_sum' --api opencl --n 100000 --variant forward "
                                     "--min-time 60 --timeout 60") {}
  ~LosingJob() {
    for (const pid_t rank : ranks) {
      if (process(rank).name == "prefix_sum") kill(rank, SIGKILL);
    }
    if (started.runs()) kill(started.process(), SIGKILL);
  }
  LosingJob(const LosingJob&) = delete;
  LosingJob& operator=(const LosingJob&) = delete;

  /// Sends one rank a signal in the middle of the measurement, and waits for the end of the job.
  void lose(int signal) {
    started.wait_until([&] { return measuring() == 2 || !started.runs(); });
    ranks = ranks_of(started);
    REQUIRE(ranks.size() == 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(ranks.back(), signal);
    const auto begin = Clock::now();
    started.wait_until([&] { return !started.runs(); });
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// Ranks that have loaded a kernel that PoCL has compiled: PoCL locks its cache while it compiles, and a rank that is
  /// stopped then also stops the other one there. Or that have loaded NVIDIA's OpenCL, which has no such file.
  std::size_t measuring() const {
    std::size_t number = 0;
    for (const pid_t rank : ranks_of(started)) {
      const std::string files = text_of("/proc/" + std::to_string(rank) + "/maps");
      number += files.find("/read_all.so") != std::string::npos || files.find("/libnvidia-opencl") != std::string::npos;
    }
    return number;
  }
  bool any_left() const {
    return std::any_of(ranks.begin(), ranks.end(), [](pid_t rank) { return process(rank).name == "prefix_sum"; });
  }

  StartedProgram started;
  std::vector<pid_t> ranks;
  double seconds = 0;
};

}  // namespace

TEST_CASE("cluster/lost_ranks/killed", "[lost_ranks]") {
  LosingJob job;
  job.lose(SIGKILL);
  INFO(job.started.out() << job.started.err());
  CHECK(job.started.exit_code() != 0);
  CHECK(job.started.out().empty());
  CHECK_THAT(job.started.err(), has("signal 9"));  // mpirun's sentence
  CHECK(job.seconds < 15);
  job.started.wait_until([&] { return !job.any_left(); });
}

TEST_CASE("cluster/lost_ranks/stopped", "[lost_ranks]") {
  LosingJob job("BANKWISE_DEADLINE_S=6 ");
  job.lose(SIGSTOP);
  INFO(job.started.out() << job.started.err());
  CHECK(job.started.exit_code() == 3);
  CHECK(job.started.out().empty());
  CHECK_THAT(job.started.err(), has("prefix_sum: rank "));
  CHECK_THAT(job.started.err(), has(": gave up waiting in MPI_"));
  CHECK_THAT(job.started.err(), has(" after 6 s; another rank has failed or is too slow (BANKWISE_DEADLINE_S)\n"));
  CHECK(job.seconds < 15);
  job.started.wait_until([&] { return !job.any_left(); });
}
