// The injection library in programs that play CUDA against a fake Sanitizer library (scenario.cpp).
#include <sys/wait.h>

#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

namespace {

struct Played {
  int code = -1;
  int signal = 0;
  std::string err;
  std::vector<std::string> records;  ///< text of each
  std::size_t cubins = 0;
  std::string calls;  ///< names of the entry points called, one on a line
  std::string record() const { return records.size() == 1 ? records[0] : "not one record"; }
};

/// `environment` may change the folder ($records) and the library.
Played play(const std::string& scenario, const std::string& environment = "") {
  const ScratchDirectory scratch;
  const auto records = scratch.path() / "records", err = scratch.path() / "err", log = scratch.path() / "log";
  std::filesystem::create_directory(records);
  const std::string command = "exec env CUDA_INJECTION64_PATH='" INJECTION_LIBRARY
                              "' BANKWISE_SANITIZER_LIBRARY='" FAKE_SANITIZER "' BANKWISE_CUDA_RECORDS='" +
                              records.string() + "' BANKWISE_CUDA_TABLE_BYTES=8388608" + " FAKE_SANITIZER_LOG='" +
                              log.string() + "' " + environment + " '" INJECTION_SCENARIO "' " + scenario +
                              " >/dev/null 2>'" + err.string() + "'";
  const int status = std::system(command.c_str());
  Played played{.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  played.err = text_of(err);
  played.calls = text_of(log);
  for (const auto& file : std::filesystem::directory_iterator(records)) {
    if (file.path().extension() == ".record") {
      played.records.push_back(text_of(file.path()));
    } else {
      ++played.cubins;
    }
  }
  return played;
}

/// The lines whose first word is this.
std::vector<std::string> lines(const std::string& record, const std::string& word) {
  std::vector<std::string> found;
  for (const std::string& line : lines_in(record)) {
    if (line.rfind(word + " ", 0) == 0 || line == word) found.push_back(line);
  }
  return found;
}

/// The sum of a field, counted from 0, over the lines of a word.
std::uint64_t total(const std::string& record, const std::string& word, std::size_t field) {
  std::uint64_t sum = 0;
  for (const std::string& line : lines(record, word)) {
    std::istringstream fields(line);
    std::string text;
    for (std::size_t i = 0; i <= field; ++i) fields >> text;
    sum += std::stoull(text);
  }
  return sum;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("cuda/injection/by_kernel_and_instruction") {
  const Played played = play("simple");
  CHECK(played.code == 0);
  CHECK(played.err.empty());
  CHECK(played.cubins == 1);
  const std::string record = played.record();
  const auto first = record.find("device ");
  REQUIRE(first != std::string::npos);
  CHECK(record.rfind("bankwise_cuda_record 3\nprocess ", 0) == 0);
  CHECK(lines(record, "memory") == Lines{"memory shared,global"});
  CHECK(record.substr(first) ==
        "device 3 9 0 Fake GPU\n"
        "module 0 3 27\n"
        "kernel 0 0 7f0000110000 800 kernel\n"
        "launch 0 7 2 1 32 1 1 4096 1 14\n"
        "launch 0 7 2 1 32 1 1 4096 3 42\n"
        "pattern 0 40 store 4 2 80000001 15 400 480\n"
        "pattern 0 10 load 8 1 1 2 10\n"
        "pattern 0 20 ldmatrix 16 401 1 3 20\n"
        "pattern 0 30 async 16 0 1 4 30\n"
        "pattern 0 50 atomic 4 3 1 6 40\n"
        "pattern 0 60 remote_store 4 2 1 7 1000080\n"
        "bulk 0 70 tma_load 8 0 1 110 3000000 7 80\n"
        "end\n");
}

TEST_CASE("cuda/injection/global_memory") {
  const std::string record = play("global_memory").record();
  CHECK(lines(record, "pattern") ==
        Lines{"pattern 0 10 global_load 4 1 80000001 2 7c ffffff00", "pattern 0 20 global_copy 16 0 1 3 0"});
  CHECK(lines(record, "cost") ==
        Lines{"cost 0 30 global_load 8 1 32 30 31 32 4", "cost 0 40 local_store 4 2 17 0 0 0 5"});
  CHECK(lines(record, "bulk") == Lines{"bulk 0 10 sectors_read 6", "bulk 0 50 sectors_written 7"});
  CHECK(lines(record, "lost") == Lines{"lost 0 global 8"});
  // A table for lines of global memory only if that is watched.
  const Played both = play("simple"), shared = play("simple", "BANKWISE_CUDA_MEMORY=shared");
  CHECK(count(both.calls, "sanitizerAlloc\n") == 3);
  CHECK(count(shared.calls, "sanitizerAlloc\n") == 2);
  CHECK(lines(shared.record(), "memory") == Lines{"memory shared"});
}

TEST_CASE("cuda/injection/patched_before_first_launch") {
  const Played played = play("simple");
  CHECK(count(played.calls, "sanitizerAddPatches\n") == 1);
  CHECK(count(played.calls, "sanitizerPatchModule\n") == 1);
  std::size_t before = 0;
  for (const char* call :
       {"Subscribe\n", "AddPatches\n", "PatchInstructions\n", "PatchModule\n", "SetLaunchCallbackData\n"}) {
    INFO(call);
    const std::size_t at = played.calls.find(std::string("sanitizer") + call);
    REQUIRE(at != std::string::npos);
    CHECK(before <= at);
    before = at;
  }
  CHECK(count(played.calls, "sanitizerSetLaunchCallbackData\n") == 4);
  CHECK(count(played.calls, "sanitizerMemcpyHostToDeviceAsync\n") == 1);  // one shape in one stream
}

TEST_CASE("cuda/injection/contexts_are_separate") {
  const Played played = play("two_contexts");
  CHECK(count(played.calls, "sanitizerAddPatches\n") == 2);
  CHECK(count(played.calls, "sanitizerAlloc\n") == 6);
  const std::string record = played.record();
  CHECK(lines(record, "kernel") == Lines{"kernel 0 0 7f0000110000 800 kernel", "kernel 1 1 7f0000220000 800 kernel"});
  // The second was counted at a program counter below its kernel: offsets are modulo 2^64.
  CHECK(lines(record, "pattern") ==
        Lines{"pattern 0 40 store 4 2 80000001 1 0 80", "pattern 1 ffffffffffef0040 store 4 2 80000001 2 0 80"});
  CHECK(lines(record, "end").size() == 1);
}

TEST_CASE("cuda/injection/unloaded_module") {
  const Played played = play("unload");
  const std::string record = played.record();
  CHECK(lines(record, "kernel") == Lines{"kernel 0 1 7f0000110000 800 kernel", "kernel 1 2 7f0000110000 800 second"});
  CHECK(lines(record, "pattern") ==
        Lines{"pattern 0 40 store 4 2 80000001 1 0 80", "pattern 1 40 store 4 2 80000001 2 0 80"});
  CHECK(played.cubins == 2);  // not that of the module whose kernels were never launched
}

TEST_CASE("cuda/injection/excess_costed_or_lost") {
  const std::string record = play("overflow").record();
  CHECK(lines(record, "cost") == Lines{"cost 0 40 store 4 2 2 1 2 2 42"});
  CHECK(lines(record, "lost").empty());
  CHECK(total(record, "pattern", 7) == lines(record, "pattern").size());
  CHECK(lines(record, "end").size() == 1);
  const std::string flood = play("flood").record();
  CHECK(lines(flood, "cost").size() == 4096);
  CHECK(lines(flood, "lost") == Lines{"lost 0 shared 34"});
}

TEST_CASE("cuda/injection/tables_drained") {
  const std::string record = play("drain").record();
  CHECK(lines(record, "lost").empty());
  CHECK(lines(record, "error").empty());
  CHECK(total(record, "launch", 9) == 40);
  const std::uint64_t capacity = lines(play("overflow").record(), "pattern").size();
  CHECK(total(record, "pattern", 7) == 40 * (capacity * 3 / 8));
}

TEST_CASE("cuda/injection/threads_lose_nothing") {
  const Played played = play("threads");
  CHECK(played.code == 0);
  const std::string record = played.record();
  CHECK(total(record, "launch", 9) == 90);
  CHECK(total(record, "pattern", 7) + total(record, "cost", 10) + total(record, "lost", 3) == 3 * 30 * 500);
  CHECK(lines(record, "end").size() == 1);
}

TEST_CASE("cuda/injection/graph_nodes") {
  const std::string record = play("graph").record();
  CHECK(total(record, "launch", 9) == 3);
  CHECK(lines(record, "pattern") == Lines{"pattern 0 40 store 4 2 80000001 3 0 80"});
  const std::string limited = play("graph", "BANKWISE_CUDA_MAX_LAUNCHES=1").record();
  CHECK(total(limited, "launch", 10) == 3);  // blocks watched, as many as there are launches with accesses
  CHECK(total(limited, "pattern", 7) == 3);
}

TEST_CASE("cuda/injection/wanted_kernels_only") {
  const Played played = play("filtered", "BANKWISE_CUDA_KERNELS='want*'");
  const std::string record = played.record();
  CHECK(lines(record, "kernel") == Lines{"kernel 0 0 7f0000110000 800 _Z6wantedPf"});
  CHECK(total(record, "pattern", 7) == 1);
  CHECK(count(played.calls, "sanitizerPatchModule\n") == 1);
  CHECK(played.cubins == 1);
  CHECK(total(play("filtered").record(), "pattern", 7) == 7);
}

TEST_CASE("cuda/injection/sample_in_record") {
  CHECK(lines(play("sampled", "BANKWISE_CUDA_MAX_GROUPS=10").record(), "launch") ==
        Lines{"launch 0 10 10 10 32 1 1 0 1 10"});
  const Played whole = play("sampled");
  CHECK(lines(whole.record(), "launch") == Lines{"launch 0 10 10 10 32 1 1 0 1 1000"});
  // Of a module without launches there is no cubin.
  CHECK(whole.cubins == 1);
  CHECK(lines(whole.record(), "module") == Lines{"module 1 3 27"});
}

TEST_CASE("cuda/injection/launch_limit") {
  const std::string record = play("repeated", "BANKWISE_CUDA_MAX_LAUNCHES=5").record();
  CHECK(total(record, "launch", 9) == 81);
  CHECK(total(record, "launch", 10) == 6);  // one block each
  CHECK(lines(record, "pattern") ==
        Lines{"pattern 0 40 store 4 2 80000001 5 0 80", "pattern 1 40 store 4 2 80000001 1 40 c0"});
  const std::string all = play("repeated").record();
  CHECK(total(all, "launch", 10) == 81);
  CHECK(total(all, "pattern", 7) == 81);
}

TEST_CASE("cuda/injection/unwanted_kernels_in_graph") {
  const std::string record = play("full_graph", "BANKWISE_CUDA_KERNELS=kernel").record();
  CHECK(lines(record, "lost").empty());
  CHECK(
      lines(record, "error") ==
      Lines{"error the table of patterns was full while a graph ran that has other kernels, too: accesses were lost"});
  const std::string mixed = play("mixed_graph", "BANKWISE_CUDA_KERNELS=kernel").record();
  CHECK(lines(mixed, "pattern") == Lines{"pattern 0 40 store 4 2 80000001 3 0 80"});
  const std::string both = play("mixed_graph").record();
  CHECK(total(both, "pattern", 7) == 3 + 4);
  CHECK(lines(both, "pattern").size() == 2);
}

TEST_CASE("cuda/injection/killed_program") {
  const Played played = play("killed");
  CHECK(played.signal == 9);
  const std::string record = played.record();
  CHECK(lines(record, "kernel").size() == 1);
  CHECK(lines(record, "launch").size() >= 1);
  CHECK(total(record, "pattern", 7) == 37);
  CHECK(lines(record, "end").empty());
}

TEST_CASE("cuda/injection/faulting_kernel") {
  const std::string record = play("faults").record();
  CHECK(lines(record, "error") == Lines{"error the program's CUDA context ended with CUDA_ERROR_ILLEGAL_ADDRESS",
                                        "error sanitizerMemcpyDeviceToHost failed: fake: unknown"});
  CHECK(total(record, "pattern", 7) == 37);
}

TEST_CASE("cuda/injection/children") {
  const std::string record = play("forks").record();
  CHECK(lines(record, "end").size() == 1);
  CHECK(total(record, "pattern", 7) == 3);
  const Played played = play("forks_and_launches");
  REQUIRE(played.records.size() == 2);
  CHECK(total(played.records[0], "pattern", 7) + total(played.records[1], "pattern", 7) == 37);
  CHECK((lines(played.records[0], "kernel").empty() || lines(played.records[1], "kernel").empty()));
}

TEST_CASE("cuda/injection/bad_library_named") {
  const auto error_of = [](const std::string& library) {
    const Played played = play("simple", "BANKWISE_SANITIZER_LIBRARY='" + library + "'");
    CHECK(played.code == 0);
    CHECK(lines(played.record(), "end").size() == 1);
    const auto errors = lines(played.record(), "error");
    return errors.size() == 1 ? errors[0] : "not one error";
  };
  CHECK_THAT(error_of("/no/library.so"), has("cannot load NVIDIA's Sanitizer library: /no/library.so"));
  CHECK_THAT(error_of(OLD_SANITIZER), has("has no sanitizerSetLaunchCallbackData"));
}

TEST_CASE("cuda/injection/failing_call_named") {
  for (const char* call :
       {"sanitizerSubscribe", "sanitizerEnableDomain", "sanitizerAddPatches", "sanitizerPatchInstructions",
        "sanitizerPatchModule", "sanitizerAlloc", "sanitizerAllocHost", "sanitizerMemset",
        "sanitizerMemcpyHostToDeviceAsync", "sanitizerMemcpyDeviceToHost", "sanitizerStreamSynchronize",
        "sanitizerSetLaunchCallbackData", "sanitizerGetFunctionPcAndSize"}) {
    INFO(call);
    const Played played = play("simple", std::string("FAKE_SANITIZER_FAIL=") + call);
    CHECK(played.code == 0);
    const auto errors = lines(played.record(), "error");
    REQUIRE(!errors.empty());
    CHECK_THAT(errors[0], has(": out of memory"));
    CHECK(lines(played.record(), "end").size() == 1);
  }
}

TEST_CASE("cuda/injection/bad_folder_named") {
  const Played played = play("simple", "BANKWISE_CUDA_RECORDS=/no/such/folder");
  CHECK(played.code == 0);
  CHECK(played.records.empty());
  CHECK(played.err.rfind("bankcheck cuda: cannot write /no/such/folder/", 0) == 0);
  CHECK(count(played.err, "\n") == 1);
}
