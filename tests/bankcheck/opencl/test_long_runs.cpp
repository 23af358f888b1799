// Runs of which only a part is watched: because the user asks for it, or because they end early.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "failing_program.hpp"
#include "tests/bankcheck/started_program.hpp"

namespace {

std::string long_runs(const std::string& arguments) { return program("long_runs") + " " + arguments; }

/// Starts bankcheck, and waits until something is saved of a launch that has not ended.
struct InLaunch {
  InLaunch(const std::string& options, const std::string& arguments)
      : program("TMPDIR=" + temporary.path().string() + " exec '" SAMPLES_DIRECTORY "/bankcheck' opencl " + options +
                " -- " + long_runs(arguments)) {
    program.wait_until([&] {
      const std::filesystem::recursive_directory_iterator entries(temporary.path());
      return std::any_of(begin(entries), end(entries),
                         [](const auto& entry) { return entry.path().filename().string().starts_with("unfinished."); });
    });
  }
  void stop(int signal) {
    CHECK(kill(program.process(), signal) == 0);
    CHECK(program.exit_code() == 3);
  }
  ScratchDirectory temporary;
  StartedProgram program;
};

nlohmann::json json_of(const std::filesystem::path& path) { return nlohmann::json::parse(text_of(path)); }

/// The work-groups of the kernel `column` that a file of --json has.
std::uint64_t groups_in(const nlohmann::json& report) {
  for (const auto& kernel : report.at("kernels")) {
    if (kernel.at("kernel") == "column") return kernel.at("work_groups");
  }
  return 0;
}

}  // namespace

TEST_CASE("opencl/long_runs/max_groups") {
  const ScratchDirectory scratch;
  const std::string json = (scratch.path() / "j").string();
  const Outcome outcome = ended(0, run_cleanly(long_runs("column 100 1 3"), "--max-groups 7 --json " + json));
  CHECK(is_report(outcome.out, "\nincomplete: 279 of 300 work-groups of column were not watched (--max-groups 7)\n"));
  CHECK_THAT(outcome.out, has("column: 3 launches, 21 of 300 work-groups of 64 work-items watched\n"));
  const auto numbers = json_of(json);
  CHECK(numbers.at("kernels").at(0).at("architectures").at(0).at("conflicts") == 21 * 62);
  CHECK(numbers.at("kernels").at(0).at("launched_work_groups") == 300);
  CHECK(numbers.at("incomplete") ==
        nlohmann::json::array({"279 of 300 work-groups of column were not watched (--max-groups 7)"}));
  // The control: with room for all of them nothing is missing.
  CHECK_THAT(run_cleanly(long_runs("column 7 1 3"), "--max-groups 7").out, !has("incomplete"));
}

TEST_CASE("opencl/long_runs/max_launches") {
  const Outcome outcome = run_cleanly(long_runs("column 4 1 5 column 2 1 1"), "--max-launches 2");
  CHECK(is_report(outcome.out,
                  "\nincomplete: 3 of 6 launches of column were not watched (only the first 2 of each size: "
                  "--max-launches 2)\n"));
  CHECK_THAT(outcome.out, has("column: 3 of 6 launches watched, 10 work-groups of several sizes\n"));
  // The control: each size has no more launches.
  CHECK_THAT(run_cleanly(long_runs("column 4 1 2 column 2 1 1"), "--max-launches 2").out, !has("incomplete"));
  check_fails("opencl --max-launches -1 true", 2, "-1 is not a number");
  check_fails("opencl --max-groups -1 true", 2, "-1 is not a number");
  // A part of a run meets no limit.
  for (const char* part : {"--max-groups 1", "--max-launches 1"}) {
    const std::string options = std::string(part) + " --max-conflicts 1000000";
    const Outcome limited = run_cleanly(long_runs("column 2 1 2"), options);
    CHECK(limited.code == 1);
    CHECK(sentences_in(limited.err).back() == "--max-conflicts cannot be confirmed: the trace is incomplete");
    CHECK(run_cleanly(long_runs("column 1 1 1"), options).code == 0);
  }
}

TEST_CASE("opencl/long_runs/kernel_glob") {
  const ScratchDirectory scratch;
  const std::string trace = (scratch.path() / "t").string(), json = (scratch.path() / "j").string();
  const Outcome outcome =
      ended(0, run_cleanly(long_runs("column 2 1 1 row 2 1 1"), "--kernel 'r*w' --max-conflicts 0 --trace " + trace));
  CHECK(is_report(outcome.out, "\nrow: 1 launch, 2 work-groups of 64 work-items"));
  CHECK_THAT(outcome.out, !has("column"));
  // The trace knows that column ran, and that it was not watched.
  const Outcome reported = bankcheck("report --json " + json + " " + trace);
  CHECK(reported.out.starts_with("incomplete: 2 of 2 work-groups of column were not watched\n"));
  CHECK(groups_in(json_of(json)) == 0);
}

TEST_CASE("opencl/long_runs/time_limit") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const Outcome outcome = ended(3, run_cleanly(long_runs("column 4 1 1 row 1 1 1 column 1000000 10 1"),
                                               "--time-limit 3 --json " + folder + "/j --sarif " + folder +
                                                   "/s --trace " + folder + "/t --update-baseline " + folder + "/b"));
  INFO(outcome.out);
  const auto sentences = sentences_in(outcome.err);
  REQUIRE_FALSE(sentences.empty());
  CHECK_THAT(sentences.back(), has("had not ended after 3 seconds, in a launch of column"));
  CHECK(is_report(outcome.out, "--\nincomplete: " + sentences.back() + "\nincomplete: "));
  CHECK_THAT(outcome.out, has(" of 1,000,004 work-groups of column were not watched\n"));
  CHECK_THAT(outcome.out, has("row: 1 launch, 1 work-group of 64 work-items"));
  const auto numbers = json_of(scratch.path() / "j");
  CHECK(groups_in(numbers) > 4);  // some of the launch that did not end
  CHECK(numbers.at("incomplete").size() == 2);
  CHECK(json_of(scratch.path() / "s").at("version") == "2.1.0");
  CHECK_FALSE(std::filesystem::exists(scratch.path() / "b"));
  const Outcome again = bankcheck("report --max-conflicts 100000000000 " + folder + "/t");
  CHECK(again.code == 1);  // incomplete
  CHECK_THAT(again.out, has(" of 1,000,004 work-groups of column were not watched\n"));
}

TEST_CASE("opencl/long_runs/long_group") {
  InLaunch started("", "column 1 100000000 1");
  started.stop(SIGTERM);
  CHECK_THAT(started.program.out(), has("incomplete: 1 of 1 work-groups of column were not watched\n"));
  CHECK_THAT(started.program.out(), has("store 4"));
}

TEST_CASE("opencl/long_runs/signals") {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    INFO(strsignal(signal));
    const ScratchDirectory scratch;
    InLaunch started("--json " + (scratch.path() / "j").string(), "column 1000000 10 1");
    started.stop(signal);
    CHECK_THAT(started.program.err(), has("was ended by signal " + std::to_string(signal)));
    CHECK_THAT(started.program.out(), has(" of 1,000,000 work-groups of column were not watched\n"));
    CHECK(std::filesystem::is_empty(started.temporary.path()));
    CHECK(json_of(scratch.path() / "j").at("incomplete").size() == 2);
  }
}

TEST_CASE("opencl/long_runs/killed") {
  const ScratchDirectory scratch;
  const std::string json = (scratch.path() / "report.json").string();
  const std::string arguments = "opencl --json " + json + " -- " + long_runs("column 60 10 1");
  kill_at_random_moments(
      scratch.path(), [&](unsigned) { return "'" SAMPLES_DIRECTORY "/bankcheck' " + arguments; },
      [&](unsigned) {
        ended(0, bankcheck(arguments));
        const auto numbers = json_of(json);
        CHECK(groups_in(numbers) == 60);
        CHECK(numbers.at("incomplete").empty());
      });
}

TEST_CASE("opencl/long_runs/killed_with_orphans") {
  const ScratchDirectory temporary;
  const std::string variable = "TMPDIR=" + temporary.path().string();
  StartedProgram started(variable + " exec '" SAMPLES_DIRECTORY
                                    "/bankcheck' opencl -- sh -c '(sleep 1000 &); sleep 999; :'");
  started.wait_until([&] { return processes_with(variable) == 5; });  // with bankcheck, its guard, and a shell
  CHECK(kill(started.process(), SIGKILL) == 0);
  CHECK(started.exit_code() == -1);
  started.wait_until([&] { return processes_with(variable) == 0 && std::filesystem::is_empty(temporary.path()); });
}

TEST_CASE("opencl/long_runs/terminal") {
  const ScratchDirectory scratch;
  const auto shown = scratch.path() / "shown", process = scratch.path() / "process", run = scratch.path() / "run";
  std::ofstream(run) << "echo $$ >" << process.string() << "; exec '" SAMPLES_DIRECTORY "/bankcheck' opencl -- "
                     << long_runs("column 1000000 10 1") << '\n';
  StartedProgram started("script -qefc '/bin/sh " + run.string() + "' " + shown.string() + " </dev/null");
  started.wait_until([&] {
    const std::string text = text_of(shown);
    return text.find("\r\33[Kbankcheck: column, launch 1: ") != std::string::npos &&
           text.find(" of 1000000 work-groups\r") != std::string::npos;
  });
  CHECK(kill(pid_t(std::stoi(text_of(process))), SIGTERM) == 0);
  CHECK(started.exit_code() == 3);
  const std::string text = text_of(shown);
  const auto last = text.rfind("\r\33[K");
  REQUIRE(last != std::string::npos);
  CHECK_THAT(text.substr(last), !has(" of 1000000 work-groups\r"));

  // The control: without a terminal there is no such line.
  InLaunch quiet("", "column 1000000 10 1");
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // the line would be updated every half a second
  quiet.stop(SIGTERM);
  CHECK_THAT(quiet.program.err(), !has("launch 1"));
}

TEST_CASE("opencl/long_runs/background_processes") {
  const Outcome outcome = run_cleanly(long_runs("daemon column 1 1 1"), "--max-conflicts 1000");
  REQUIRE(outcome.out.starts_with("daemon "));
  const std::string process = outcome.out.substr(7, outcome.out.find('\n') - 7);
  CHECK(kill(pid_t(std::stoi(process)), SIGTERM) == 0);  // it was still running
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, has("incomplete: the program '"));
  CHECK_THAT(outcome.out, has(" left process " + process + " running in the background: "));
  CHECK_THAT(outcome.out, has("\ncolumn: 1 launch"));
}

TEST_CASE("opencl/long_runs/no_local_size") {
  CHECK_THAT(run_cleanly(long_runs("any_size")).out, has("local size 96 x 2\n"));
  CHECK_THAT(run_cleanly(long_runs("any_size"), "--device-info group-size=64").out, has("local size 48 x 1\n"));
}
