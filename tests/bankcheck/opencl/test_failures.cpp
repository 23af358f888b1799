#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "failing_program.hpp"
#include "tests/bankcheck/started_program.hpp"
#include "tests/catch_any.hpp"

namespace {

std::string mode(const std::string& name) { return program("fail_modes") + " " + name; }

/// Starts bankcheck with a program that sleeps after its launch, and waits until it does.
struct Asleep : StartedProgram {
  explicit Asleep(const std::filesystem::path& temporary)
      : StartedProgram("TMPDIR=" + temporary.string() + " exec '" SAMPLES_DIRECTORY "/bankcheck' opencl -- " +
                       mode("sleep")) {
    wait_until([&] { return out() == "asleep\n"; });
  }
};

}  // namespace

TEST_CASE("opencl/failures/control") {
  for (const auto& [name, line] : {std::pair("good", report),
                                   {"_exit", report},  // output that the program did not flush is lost, as always
                                   {"children", "\ngood: 3 launches, 3 work-groups of 64 work-items"}}) {
    const Outcome outcome = ended(0, run_cleanly(mode(name)));
    CHECK(outcome.err.empty());
    CHECK(is_report(outcome.out, line));
  }
}

TEST_CASE("opencl/failures/sigchld_ignored") {
  // Without an exit code to wait for, bankcheck would never end; the time limit would then end it.
  for (const auto& [name, code] : {std::pair("good", 0), {"exit5", 3}}) {
    const Outcome outcome = bankcheck("opencl -- " + mode(name), "ulimit -t 20; env --ignore-signal=CHLD");
    INFO(outcome.err);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.out, has(report));
  }
}

TEST_CASE("opencl/failures/not_started") {
  const ScratchDirectory scratch;
  check_blames("./no/such/program", "cannot run './no/such/program': No such file or directory");
  check_blames("no-such-program-of-anybody",
               "cannot run 'no-such-program-of-anybody': there is no such program on the PATH");
  check_blames(scratch.path().string(), "it is a directory");
  const auto plain = scratch.path() / "plain";
  std::ofstream(plain) << "no-such-command\n";
  check_blames(plain.string(), "Permission denied");
  const auto strange = scratch.path() / "strange";
  std::ofstream(strange) << "#!/no/such/shell\n";
  std::filesystem::permissions(strange, std::filesystem::perms::owner_all);
  check_blames(strange.string(), "cannot run '" + strange.string() + "'");
  std::filesystem::create_symlink("loop", scratch.path() / "loop");
  check_blames((scratch.path() / "loop").string(), "Too many levels of symbolic links");
  std::ofstream(strange) << "\x7f"
                            "ELF of another machine";
  check_blames(strange.string(), "it is not an executable for this machine");
  // A shell runs text without #!, and finds no such command in it.
  std::filesystem::permissions(plain, std::filesystem::perms::owner_all);
  check_blames(plain.string(), "failed with exit code 127");
}

TEST_CASE("opencl/failures/blamed") {
  struct Case {
    std::string command, words;
    bool has_report = false;
  };
  for (const Case& blamed : std::vector<Case>{
           {mode("exit5"), "failed with exit code 5", true},
           {mode("crash"), "crashed: signal 11", true},
           {mode("abort"), "crashed: signal 6"},
           {mode("killed"), "was ended by signal 9", true},
           {"true", "Oclgrind saw no OpenCL context of the program 'true'"},
           {mode("nothing"), "Oclgrind saw no OpenCL context of the program"},
           {mode("no_kernel"), "ran no kernel"},
           {mode("clearenv"), ""},
           {mode("cpu"), "failed with exit code 1; it asked for a device that is no GPU, and bankcheck opencl has"},
           {mode("syntax"), "failed with exit code 1; its OpenCL C does not compile: input.cl:1:"},
           {mode("record"), "of the plugin's record is damaged: the program"},
           {mode("cut_record"), "of the plugin's record is damaged: the program"},
       }) {
    const Outcome outcome = check_blames(blamed.command, blamed.words);
    INFO(blamed.command << outcome.out);
    CHECK((blamed.has_report ? outcome.out.find(report) != std::string::npos
                             : outcome.out.starts_with("incomplete: no kernel was watched: ")));
  }
}

TEST_CASE("opencl/failures/oclgrind_errors") {
  const Outcome outside = check_blames(mode("outside"), "first: Invalid write of size 4 at local memory address");
  CHECK_THAT(outside.err,
             has("At line 4 (column 15) of input.cl"));  // Oclgrind's own messages are passed through
  CHECK_THAT(outside.out, has("\noutside: 1 launch"));
  check_blames(mode("divergence"), "Oclgrind reported 1 error, first: Work-group divergence detected (barrier)");
  check_blames("sh -c \"" + mode("outside") + "; exit 5\"",
               "failed with exit code 5; kernels of 'sh' are invalid, so their numbers are unreliable; Oclgrind "
               "reported 2 errors, first: Invalid write");
}

TEST_CASE("opencl/failures/unsupported_and_goes_on") {
  const std::string limit = "neither Oclgrind nor the program's source defines the function get_sub_group_local_id";
  CHECK_THAT(check_blames(program("unsupported") + " create", limit).out, has(report));
  // Oclgrind prints the reason only on stderr.
  for (const char* quiet : {"unsupported' create_quietly", "dlopened' create_quietly"}) {
    const Outcome outcome =
        check_blames("'" PROGRAMS "/" + std::string(quiet), "it cannot create the kernel sub_group");
    CHECK_THAT(outcome.out, has(": 1 launch, 1 work-group"));
  }
  check_blames(program("unsupported") + " launch", "Unsupported float size: 2 bytes");
  check_blames(program("unsupported") + " intrinsic",
               "a limit of Oclgrind, not a fault of the program: Undefined external function: llvm.readcyclecounter");
}

TEST_CASE("opencl/failures/quotes_oclgrind") {
  const Outcome outcome = ended(0, run_cleanly(program("unsupported") + " quote"));
  CHECK(is_report(outcome.out));
  CHECK(count(outcome.err, "OCLGRIND FATAL ERROR") == 2);
  CHECK(sentences_in(outcome.err).empty());
}

TEST_CASE("opencl/failures/any_bytes") {
  const std::size_t size = 300'000;  // several times what a pipe holds
  unsigned state = 1;
  std::string noise;
  while (noise.size() < size) {
    state = state * 1664525 + 1013904223;
    noise += char(state >> 24);
  }
  const Outcome outcome = ended(0, run_cleanly(mode("noise")));
  CHECK((outcome.err == noise));  // in parentheses, so that Catch2 does not print the bytes
  CHECK((outcome.out.compare(0, size, noise) == 0));
  CHECK(is_report(outcome.out.substr(std::min(size, outcome.out.size()))));
  const Outcome quiet = ended(0, run_cleanly(mode("noise"), "--json -"));
  CHECK(nlohmann::json::parse(quiet.out).at("kernels").size() == 1);
  CHECK(quiet.err.size() == 2 * size);
}

TEST_CASE("opencl/failures/full_disk") {
  const ScratchDirectory scratch;  // a file may have 1024 bytes: the record has its first line, but not the kernel
  const Outcome outcome = bankcheck("opencl -- " + mode("good"), "TMPDIR=" + scratch.path().string() +
                                                                     "; export TMPDIR; ulimit -f 2; "
                                                                     "env --ignore-signal=XFSZ");
  CHECK(ended(3, outcome).err.starts_with("bankcheck: cannot write into '" + scratch.path().string().substr(0, 30)));
  CHECK_THAT(outcome.err, has(" what the program does: File too large; TMPDIR names another directory"));
}

TEST_CASE("opencl/failures/fresh_environment") {
  CHECK(ended(0, run_cleanly(mode("execute"), "--max-conflicts 1000")).err.empty());
  const Outcome outcome = ended(0, run_cleanly(mode("execute_fresh")));
  CHECK(outcome.out.find("incomplete: the program ") < outcome.out.find(report));
  CHECK_THAT(outcome.out, has(" started '/bin/true' with an environment of its own, "));
  CHECK_THAT(outcome.out, has(report));
  CHECK_THAT(ended(1, run_cleanly(mode("execute_fresh"), "--max-conflicts 1000")).err, has("incomplete: the program "));
  // coreutils' env calls execvp(), and is not linked with OpenCL
  CHECK_THAT(ended(1, run_cleanly("sh -c '" + mode("good") + "; env -i /bin/true; :'", "--max-conflicts 1000")).err,
             has("the program 'sh' started '/bin/true' with an environment"));
}

TEST_CASE("opencl/failures/background_process") {
  const Outcome outcome = ended(0, run_cleanly(mode("background")));
  const std::string name = "background ";
  REQUIRE(outcome.out.starts_with(name));
  const pid_t left = pid_t(std::stoi(outcome.out.substr(name.size())));
  CHECK(kill(left, SIGTERM) == 0);  // it was still running
  CHECK_THAT(outcome.out, has(report));
}

TEST_CASE("opencl/failures/no_oclgrind") {
  const ScratchDirectory scratch;
  check_fails("opencl -- " + mode("good"), 3, "Oclgrind is not installed: there is no oclgrind on the PATH", "PATH=");
  check_fails("opencl -- " + mode("good"), 3, "apt-get install oclgrind", "PATH=" + scratch.path().string());
}

TEST_CASE("opencl/failures/temporary_directory") {
  const Outcome outcome = ended(3, bankcheck("opencl -- " + mode("good"), "TMPDIR=/nowhere/at/all"));
  CHECK(outcome.out.empty());
  CHECK(sentences_in(outcome.err).size() == 1);
  CHECK(count(outcome.err, "\n") == 1);
  CHECK_THAT(outcome.err, has("/nowhere/at/all"));
  const ScratchDirectory scratch;
  const std::string in_scratch = "cd '" + scratch.path().string() + "'; mkdir temporary;";
  const Outcome relative = ended(
      0, bankcheck("opencl -- " + program("long_runs") + " chdir column 1 1 1", in_scratch + " TMPDIR=temporary"));
  CHECK(is_report(relative.out, "\ncolumn: 1 launch"));
  CHECK(std::filesystem::is_empty(scratch.path() / "temporary"));
  CHECK(is_report(bankcheck("opencl -- " + mode("good"), "TMPDIR=").out));
  check_fails("opencl -- " + mode("good"), 3, "has a space, a colon or a comma",
              "mkdir '" + (scratch.path() / "a,b").string() + "'; TMPDIR='" + (scratch.path() / "a,b").string() + "'");
}

TEST_CASE("opencl/failures/odd_directory") {
  const ScratchDirectory scratch;
  const auto folder = scratch.path() / "a, b: c";
  std::filesystem::create_directory(folder);
  for (const char* file :
       {"bankcheck", "bankcheck_oclgrind.so", "bankcheck_opencl_driver.so", "bankcheck_opencl_preload.so"}) {
    std::filesystem::copy(std::filesystem::path(SAMPLES_DIRECTORY) / file, folder / file);
  }
  for (const char* name : {"good_", "dlopened"}) {
    const std::string command = name == std::string("good_") ? mode("good") : program(name);
    const Outcome outcome = ended(0, in_shell("'" + (folder / "bankcheck").string() + "'", "opencl -- " + command));
    CHECK_THAT(outcome.out, has(": 1 launch, 1 work-group"));
  }
}

TEST_CASE("opencl/failures/timeout") {
  const Outcome outcome = check_blames("timeout 2 " + mode("sleep"), "the program 'timeout' failed with exit code 124");
  CHECK(outcome.out.starts_with("asleep\n"));
  CHECK_THAT(outcome.out, has(report));
  // And bankcheck in a time limit.
  const ScratchDirectory temporary;
  const Outcome whole =
      ended(124, bankcheck("opencl -- " + mode("sleep"), "TMPDIR=" + temporary.path().string() + " timeout 3"));
  CHECK(whole.out.starts_with("asleep\n"));
  CHECK(std::filesystem::is_empty(temporary.path()));
}

TEST_CASE("opencl/failures/ctrl_c") {
  const ScratchDirectory temporary;
  Asleep started(temporary.path());
  CHECK_FALSE(std::filesystem::is_empty(temporary.path()));
  CHECK(kill(-started.process(), SIGINT) == 0);
  CHECK(started.exit_code() == 3);
  REQUIRE(sentences_in(started.err()).size() == 1);
  CHECK_THAT(started.err(), has("signal 2 (Interrupt)"));
  CHECK_THAT(started.out(), has(report));
  CHECK(std::filesystem::is_empty(temporary.path()));
}

TEST_CASE("opencl/failures/signals_during_cleanup") {
  const ScratchDirectory temporary;
  Asleep started(temporary.path());
  while (started.runs()) kill(started.process(), SIGTERM);
  CHECK(started.exit_code() == 3);
  CHECK_THAT(started.err(), has("signal 15 (Terminated)"));
  CHECK_THAT(started.out(), has(report));
  CHECK(std::filesystem::is_empty(temporary.path()));
}

// Programs that end before, during or after a launch.

// Programs that end before, during or after a launch.

namespace {

std::string exits(const std::string& name) { return program("exits") + " " + name; }

}  // namespace

TEST_CASE("opencl/exits/calls_at_exit") {
  const Outcome outcome = ended(0, run_cleanly(exits("release_at_exit")));
  CHECK(outcome.err.empty());
  CHECK(is_report(outcome.out));
  const Outcome launch = ended(0, run_cleanly(exits("launch_at_exit")));
  CHECK(is_report(launch.out, "\ngood: 2 launches, 2 work-groups of 64 work-items"));
}

TEST_CASE("opencl/exits/crash_at_exit") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const Outcome outcome = ended(
      0, run_cleanly(exits("abort_at_exit"), "--json " + folder + "/j --sarif " + folder + "/s --update-baseline " +
                                                 folder + "/b --trace " + folder + "/t"));
  CHECK(is_report(outcome.out));
  CHECK_THAT(outcome.err, has("bankcheck: the program '"));
  CHECK_THAT(outcome.err, has("crashed: signal 6 (Aborted), at exit, after its last launch had ended\n"));
  CHECK(sentences_in(outcome.err).size() == 1);
  CHECK(nlohmann::json::parse(text_of(scratch.path() / "j")).at("kernels").size() == 1);
  CHECK(nlohmann::json::parse(text_of(scratch.path() / "s")).at("version") == "2.1.0");
  CHECK_THAT(text_of(scratch.path() / "b"), has("\ngood,sm_90,4,0,0,2,0,0\n"));
  CHECK(outcome.out.ends_with(ended(0, bankcheck("report " + folder + "/t")).out));
}

TEST_CASE("opencl/exits/blamed") {
  check_blames(exits("exit5_abort_at_exit"), "failed with exit code 5");
  for (const char* when : {"abort_in_kernel", "abort_in_kernel_at_exit"}) {
    CHECK_THAT(check_blames(exits(when), "crashed: signal 6 (Aborted), in a launch of endless").out, has(report));
  }
  check_blames(exits("_exit_in_kernel"), "a launch of endless had not ended when its process ended");
  check_blames(exits("child_aborts_in_kernel"), "a launch of endless had not ended when its process ended");
}

// The device that a program meets under bankcheck opencl: one GPU.

namespace {

/// What the program prints, and below it the report.
std::string told(const std::string& arguments, const std::string& options = "") {
  const Outcome outcome = ended(0, bankcheck("opencl " + options + " -- " + program("device") + " " + arguments));
  return outcome.out;
}

}  // namespace

TEST_CASE("opencl/device/one_gpu") {
  for (const char* how : {"linked", "at_run_time"}) {
    INFO(how);
    const std::string text = told(how);
    for (const char* line :
         {"CPUs: -1, 0\n", "accelerators: -1\n", "default: 0\n", "type: 4\n", "compute units: 16\n",
          "local memory: 65536\n", "name: Oclgrind Simulator, 1\n", "too little room: -30\n", "no such query: -30\n",
          "context of CPUs: -1\n", "preferred multiple: 32\n", "for_gpus: 1 launch, 1 work-group of 32 work-items"}) {
      CHECK_THAT(text, has(line));
    }
    CHECK_THAT(text, !has("for_cpus"));
  }
}

TEST_CASE("opencl/device/device_info") {
  CHECK_THAT(told("linked", "--arch gfx942,sm_90"), has("preferred multiple: 64\n"));
  CHECK_THAT(told("at_run_time", "--arch gfx942"), has("preferred multiple: 64\n"));
  for (const char* how : {"linked", "at_run_time"}) {
    const std::string text = told(how,
                                  "--device-info compute-units=7 --device-info 'name=A GPU = B' "
                                  "--device-info preferred-multiple=16 --local-memory 32768");
    CHECK_THAT(text, has("compute units: 7\n"));
    CHECK_THAT(text, has("name: A GPU = B, 1\n"));
    CHECK_THAT(text, has("preferred multiple: 16\n"));
    CHECK_THAT(text, has("local memory: 32768\n"));
  }
  // A note about narrow groups.
  CHECK_THAT(told("linked", "--device-info preferred-multiple=1"),
             has("note: work-groups of 1 work-item fill 3.1 % of a warp of 32; the other lanes are idle"));
  CHECK_THAT(told("linked", "--device-info preferred-multiple=31"), has("note: work-groups of 31 work-items"));
  CHECK_THAT(told("linked"), !has("note: work-groups"));
}

TEST_CASE("opencl/device/bad_info") {
  for (const char* bad : {"compute-units", "compute-units=", "compute-units=0", "compute-units=many", "units=3",
                          "name=", "=3", "compute-units=4294967296"}) {
    check_fails(std::string("opencl --device-info '") + bad + "' -- " + program("device"), 2, "--device-info");
  }
}
