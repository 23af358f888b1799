// `bankcheck cuda` where something is missing or fails, and what the whole command does with a program: without a GPU,
// with programs that play CUDA against a fake Sanitizer library (injection/scenario.cpp) and a fake driver.
#include "tests/bankcheck/checked_report.hpp"

namespace {

/// A directory with a library that --sanitizer finds.
class SanitizerDirectory {
 public:
  explicit SanitizerDirectory(const std::string& library) {
    std::filesystem::create_symlink(library, scratch_.path() / "libsanitizer-public.so");
  }
  std::string option() const { return "--sanitizer '" + scratch_.path().string() + "'"; }

 private:
  ScratchDirectory scratch_;
};

const std::string driver = "LD_LIBRARY_PATH='" FAKE_DRIVER_DIRECTORY "' FAKE_CUBIN='" CUBIN_DATA "/hopper.cubin' ";

std::string scenario(const std::string& name) { return "'" INJECTION_SCENARIO "' " + name; }

/// Runs with the fake libraries, and its own directory for temporary files, which must be empty at the end.
Outcome watch(const std::string& command, const std::string& environment = "",
              const std::string& library = FAKE_SANITIZER) {
  const SanitizerDirectory sanitizer(library);
  const ScratchDirectory scratch;
  Outcome outcome = bankcheck("cuda " + sanitizer.option() + " -- " + command,
                              driver + environment + " TMPDIR='" + scratch.path().string() + "'");
  INFO(outcome.err);
  CHECK(std::filesystem::is_empty(scratch.path()));
  return outcome;
}

/// Requires this exit code, and one line on stderr: a sentence that contains `words`.
void check_tells(const Outcome& outcome, int code, const std::string& words) {
  INFO(outcome.err);
  CHECK(outcome.code == code);
  CHECK(outcome.err.starts_with("bankcheck: "));
  CHECK(count(outcome.err, "\n") == 1);
  CHECK_THAT(outcome.err, has(words));
}

}  // namespace

TEST_CASE("cuda/failures/control") {
  const SanitizerDirectory sanitizer(FAKE_SANITIZER);
  const Checked c = check_with("cuda", scenario("simple"), sanitizer.option(), driver);
  INFO(c.outcome.err);
  REQUIRE(c.outcome.code == 0);
  CHECK(c.kernel("kernel").at("launches") == 4);
  CHECK(c.kernel("kernel").at("blocks") == 4 * 7 * 2);
  // Two lanes, 128 bytes apart, which is one bank: 2 passes.
  CHECK(numbers(c.on("kernel"), "", "store") == Numbers{15, 30, 30, 15, 15});
  CHECK(numbers(c.on("kernel"), "", "load") == Numbers{2, 2, 2, 2, 0});
  CHECK(c.json.at("incomplete").get<std::vector<std::string>>() ==
        std::vector<std::string>{"10 accesses of kernel have no cost: atomics of unknown opcode 6, cp.async of unknown "
                                 "opcode 4; the numbers are lower bounds",
                                 "8 accesses to global memory of kernel were left out: the sectors are lower bounds"});
}

TEST_CASE("cuda/failures/no_gpu") {
  const ScratchDirectory scratch;
  const auto mark = scratch.path() / "mark";
  const std::string program = "touch '" + mark.string() + "'";
  check_tells(watch(program, "FAKE_DRIVER_INIT=100"), 77, "no NVIDIA GPU was found: fake: no device");
  check_tells(watch(program, "FAKE_DRIVER_INIT=34"), 77, "no NVIDIA GPU was found: ");
  check_tells(watch(program, "FAKE_DRIVER_DEVICES=0"), 77, "no NVIDIA GPU was found: the CUDA driver has no device");
  CHECK_FALSE(std::filesystem::exists(mark));
  watch(program);
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE("cuda/failures/no_or_failing_driver") {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "libcuda.so.1") << "no library\n";  // hides the driver of this machine, if it has one
  check_tells(watch("true", "LD_LIBRARY_PATH='" + scratch.path().string() + "'"), 77,
              "no NVIDIA driver: nothing to run here (");
  check_tells(watch("true", "FAKE_DRIVER_INIT=804"), 3, "the CUDA driver cannot be used: cuInit failed: fake: broken");
  check_tells(watch("true", "FAKE_DRIVER_INIT=crash"), 3, "it crashed when it was initialized");
  const ScratchDirectory foreign;
  std::filesystem::create_symlink(FAKE_SANITIZER, foreign.path() / "libcuda.so.1");
  check_tells(watch("true", "LD_LIBRARY_PATH='" + foreign.path().string() + "'"), 3,
              "libcuda.so.1 has no cuInit or no cuDeviceGetCount");
}

TEST_CASE("cuda/failures/gpu_question_is_isolated") {
  const Outcome nested = ended(0, watch(scenario("simple"), "CUDA_INJECTION64_PATH=/no/such/tool.so"));
  const Outcome ignored = ended(0, watch(scenario("simple"), "env --ignore-signal=CHLD"));
}

TEST_CASE("cuda/failures/not_started_no_cuda_no_kernel") {
  check_tells(watch("./no/such/program"), 3, "cannot run './no/such/program': No such file or directory");
  check_tells(watch("true"), 3, "the program 'true' did not use CUDA, or cleared its environment");
  check_tells(watch(scenario("nothing")), 3, "ran no kernel that was watched");
  check_tells(watch("sh -c 'exit 7'"), 3, "the program 'sh' failed with exit code 7");
}

TEST_CASE("cuda/failures/bad_sanitizer_library") {
  const ScratchDirectory scratch;
  check_tells(bankcheck("cuda --sanitizer '" + scratch.path().string() + "' -- true"), 3,
              "--sanitizer: there is no libsanitizer-public.so in '" + scratch.path().string() + "'");
  check_tells(watch(scenario("simple"), "", OLD_SANITIZER), 3,
              "has no sanitizerSetLaunchCallbackData: it is no Sanitizer library, or too old");
  const auto text = scratch.path() / "text";
  std::ofstream(text) << "no library\n";
  check_tells(watch(scenario("simple"), "", text.string()), 3, "cannot load NVIDIA's Sanitizer library: ");
}

TEST_CASE("cuda/failures/refused_library_or_device") {
  const std::pair<const char*, const char*> refusals[]{
      {"sanitizerSubscribe", "sanitizerSubscribe failed: fake: "},
      {"sanitizerAddPatches", "sanitizerAddPatches failed: fake: "},
      {"sanitizerPatchInstructions", "sanitizerPatchInstructions for accesses to global memory failed: fake: "},
      {"sanitizerPatchModule", "sanitizerPatchModule failed: fake: "},
      {"sanitizerAlloc", "sanitizerAlloc failed: fake: "},
      {"sanitizerMemcpyDeviceToHost", "sanitizerMemcpyDeviceToHost failed: fake: "}};
  for (const auto& [call, sentence] : refusals) {
    const Outcome outcome = watch(scenario("simple"), std::string("FAKE_SANITIZER_FAIL=") + call);
    INFO(outcome.out);
    check_tells(outcome, 3, sentence);
    CHECK_THAT(outcome.out, !has("no access to shared memory\n"));
  }
}

TEST_CASE("cuda/failures/killed_or_faulting") {
  const Outcome killed = watch(scenario("killed"));
  check_tells(killed, 3, "was ended by signal 9 (Killed)");
  CHECK_THAT(killed.out, has("kernel: "));
  CHECK_THAT(killed.out, has(">=20") || has(" 20 accesses"));  // accesses up to the last synchronization
  check_tells(
      watch("sh -c \"" + scenario("faults") + "; exit 5\""), 3,
      "the program 'sh' failed with exit code 5; the program's CUDA context ended with CUDA_ERROR_ILLEGAL_ADDRESS");
  const Outcome faults = watch(scenario("faults"));
  check_tells(faults, 3, "the program's CUDA context ended with CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK_THAT(faults.out, has(">=20") || has(" 20 accesses"));
}

TEST_CASE("cuda/failures/no_temporary_directory") {
  const ScratchDirectory scratch;
  const auto mark = scratch.path() / "mark", file = scratch.path() / "file";
  std::ofstream(file) << "no directory\n";
  const SanitizerDirectory sanitizer(FAKE_SANITIZER);
  for (const std::string& folder : {file.string(), std::string("/nowhere/at/all")}) {
    check_tells(bankcheck("cuda " + sanitizer.option() + " -- touch '" + mark.string() + "'",
                          driver + "TMPDIR='" + folder + "'"),
                3, folder);
  }
  CHECK_FALSE(std::filesystem::exists(mark));
}

#ifdef FAKE_CUPTI_DIRECTORY

namespace {

/// Runs with --time: the program's second run is `second`, with the fake CUPTI. The trace is `trace`.
Outcome time(const std::string& second, const std::string& environment, std::string* trace = nullptr,
             const std::string& libraries = FAKE_DRIVER_DIRECTORY ":" FAKE_CUPTI_DIRECTORY) {
  const SanitizerDirectory sanitizer(FAKE_SANITIZER);
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "trace.jsonl";
  Outcome outcome = bankcheck("cuda --time --trace '" + file.string() + "' " + sanitizer.option() +
                                  " -- sh -c 'if test -n \"$BANKWISE_CUDA_TIMES\"; then echo twice; " + second +
                                  "; else echo once; " INJECTION_SCENARIO " simple; fi'",
                              driver + " LD_LIBRARY_PATH='" + libraries + "' " + environment);
  if (trace != nullptr) *trace = text_of(file);
  INFO(outcome.err);
  INFO(outcome.out);
  CHECK(count(outcome.out, "once") == 1);
  CHECK(count(outcome.out, "twice") == 0);
  return outcome;
}

const std::string in_second_run = INJECTION_SCENARIO " nothing";
const std::string launches = "kernel 7 2 1 32 1 1 ", two_launches = launches + "100 200;" + launches + "200 301;";

}  // namespace

TEST_CASE("cuda/failures/time") {
  std::string trace;
  const std::string four = "FAKE_CUPTI_LAUNCHES='" + two_launches + two_launches + "other 1 1 1 1 1 1 50 60'";
  CHECK(sentences_in(ended(0, time(in_second_run, four, &trace)).err).empty());
  CHECK_THAT(trace, has("\"time\":[4,402,0,\"unknown\",true"));
}

TEST_CASE("cuda/failures/time_of_other_launches") {
  std::string trace;
  const Outcome fewer = ended(0, time(in_second_run, "FAKE_CUPTI_LAUNCHES='" + two_launches + "'", &trace));
  CHECK(sentences_in(fewer.err) ==
        std::vector<std::string>{
            "the watched and the timed run of the program differ: kernel (4 launches and 2) has no time"});
  CHECK_THAT(trace, !has("\"time\""));
  const Outcome failed = ended(0, time("exit 4", "", &trace));
  CHECK(sentences_in(failed.err) ==
        std::vector<std::string>{
            "no kernel has a time, since the second run failed: the program 'sh' failed with exit code 4"});
  CHECK_THAT(trace, !has("\"time\""));
}

TEST_CASE("cuda/failures/measure") {
  const SanitizerDirectory sanitizer(FAKE_SANITIZER);
  const ScratchDirectory scratch;
  const std::string libraries = "LD_LIBRARY_PATH='" FAKE_DRIVER_DIRECTORY ":" FAKE_CUPTI_DIRECTORY "' ";
  const auto measure = [&](const std::string& options, const std::string& environment = "") {
    return bankcheck("cuda --measure " + options + " " + sanitizer.option() + " -- " + scenario("simple"),
                     "cd '" + scratch.path().string() + "' && " + driver + libraries + environment);
  };
  check_tells(measure(""), 2, "--measure needs --build, the command that builds the program");
  check_tells(measure("--build make --copy /nowhere"), 2, "--copy '/nowhere': it does not exist");
  check_tells(measure("--build make --copy /"), 2, "--copy '/': it does not lie in ");
  check_tells(measure("--build make", "FAKE_DRIVER_INIT=100"), 77, "no NVIDIA GPU was found: fake: no device");
  const Outcome unknown = measure("--build make");
  CHECK_THAT(unknown.out, has("\nnothing to measure: no change is proposed\n") || has("\nnot measured: kernel: "));
}

namespace {

/// Sources of a program that plays a kernel whose machine code has the array of k.cu. The program is a script, which
/// is built by copying it; the kernel takes half the time if k.cu is changed.
class MeasuredSources {
 public:
  MeasuredSources() {
    std::ofstream(folder() / "k.cu") << "extern \"C\" __global__ void kernel(unsigned* out) { __shared__ unsigned "
                                        "tile[1024];\n"
                                        "  tile[threadIdx.x * 32] = threadIdx.x;\n"
                                        "  __syncthreads();\n"
                                        "  out[threadIdx.x] = tile[threadIdx.x * 32 + 1];\n}\n";
    const std::string name = (folder() / "k").string();
    REQUIRE(std::system((NVCC " -arch=sm_90 -G -cubin -o " + name + ".cubin " + name + ".cu").c_str()) == 0);
    std::ofstream(folder() / "script")
        << "#!/bin/sh\necho sum 3\necho took $(date +%N) ns\nend=300\n"
           "if ! cmp -s \"$(dirname \"$0\")/original.cu\" \"$(dirname \"$0\")/k.cu\"; then end=200; test -z \"$OTHER\" "
           "|| echo more; fi\n"
           "FAKE_CUPTI_LAUNCHES=\"kernel 7 2 1 32 1 1 100 $end;\" exec '" INJECTION_SCENARIO "' simple\n";
    build();
  }
  std::filesystem::path folder() const { return scratch_.path(); }

  /// Its temporary files must be gone at the end.
  Outcome measure(const std::string& build, const std::string& environment = "") const {
    const SanitizerDirectory sanitizer(FAKE_SANITIZER);
    const ScratchDirectory temporary;
    Outcome outcome = bankcheck(
        "cuda --arch sm_90 --measure --measure-time 0 --build '" + build + "' " + sanitizer.option() + " -- ./program",
        "cd '" + folder().string() +
            "' && LD_LIBRARY_PATH='" FAKE_DRIVER_DIRECTORY ":" FAKE_CUPTI_DIRECTORY "' FAKE_CUBIN=k.cubin TMPDIR='" +
            temporary.path().string() + "' " + environment);
    INFO(outcome.err);
    CHECK(std::filesystem::is_empty(temporary.path()));
    return outcome;
  }

 private:
  void build() const {
    REQUIRE(
        std::system(("cd '" + folder().string() + "' && cp k.cu original.cu && cp script program && chmod +x program")
                        .c_str()) == 0);
  }
  ScratchDirectory scratch_;
};

}  // namespace

TEST_CASE("cuda/failures/measure_in_copies") {
  const MeasuredSources sources;
  const std::string build = "cp script program && chmod +x program", before = text_of(sources.folder() / "k.cu");
  const Outcome outcome = ended(1, sources.measure(build));
  CHECK_THAT(outcome.out, has("\nresults: the exit code and 1 line of stdout are equal; 1 with times"));
  CHECK_THAT(outcome.out, has(" 100 ns  ") && has("  2.00 x  "));
  CHECK_THAT(outcome.out, has(": the change is not in the program that ran\n"));  // it is played
  CHECK(text_of(sources.folder() / "k.cu") == before);

  const Outcome other = ended(1, sources.measure(build, "OTHER=1"));
  CHECK_THAT(other.out, has("not measured: other results: stdout has 3 lines instead of 2\n"));
  const Outcome unbuilt = ended(3, sources.measure("echo oops; exit 9"));
  CHECK_THAT(unbuilt.err, has("--measure: the program as it is: 'echo oops; exit 9' failed with exit "
                              "code 9: oops\n"));
  CHECK_THAT(ended(3, sources.measure("rm program")).err, has("'rm program' did not make './program' in the copy\n"));
}

TEST_CASE("cuda/failures/time_without_cupti") {
  const SanitizerDirectory sanitizer(FAKE_SANITIZER);
  const Outcome refused = ended(0, time(in_second_run, "FAKE_CUPTI_FAIL=cuptiActivityEnable"));
  CHECK_THAT(refused.err, has("CUPTI cannot time the program: cuptiActivityEnable failed: fake: refused"));
  const Outcome dropped = ended(0, time(in_second_run, "FAKE_CUPTI_DROPS=1 FAKE_CUPTI_LAUNCHES='" + launches + "1 2'"));
  CHECK_THAT(dropped.err, has("CUPTI dropped 3 records"));
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "libcupti.so.13") << "no library\n";
  const Outcome broken =
      ended(0, time(in_second_run, "", nullptr, FAKE_DRIVER_DIRECTORY ":" + scratch.path().string()));
  CHECK_THAT(broken.err, has("cannot load CUPTI: "));
}

#endif
