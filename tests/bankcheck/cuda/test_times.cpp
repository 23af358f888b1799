// What the timing library writes about a process, and to which watched launches it belongs.
#include "bankcheck/cuda/times.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

using namespace bankwise::cuda;

namespace {

constexpr const char* h200 = "device 0 132 1980000 3201000 6144 62914560 NVIDIA H200\n";

ProcessTimes read_times_of(const std::string& lines, const std::string& head = "bankwise_cuda_times 1\n") {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "7.1.times";
  std::ofstream(file, std::ios::binary) << head << lines;
  return read_times(file);
}

/// Launches of a kernel with a grid of `blocks` and 32 threads per block.
std::string launch(unsigned kernel, unsigned blocks, unsigned start, unsigned end, unsigned device = 0) {
  return fmt::format("launch {} {} {} 1 1 32 1 1 {} {}\n", kernel, device, blocks, start, end);
}

struct Shape {
  std::uint64_t blocks, launches;
};

ProcessRecord watched(const std::string& name, const std::vector<Shape>& shapes) {
  ProcessRecord record;
  RecordedKernel& kernel = record.kernels[0];
  kernel.name = name;
  for (const auto& [blocks, launches] : shapes) {
    kernel.shapes.push_back({.grid = {blocks, 1, 1}, .block = {32, 1, 1}, .launches = launches});
  }
  return record;
}

MatchedTimes matched(const std::vector<ProcessRecord>& records, const std::string& lines) {
  return match(records, {read_times_of("process 7\n" + lines + "end\n")});
}

std::string only(const std::vector<std::string>& sentences) {
  return sentences.size() == 1 ? sentences.front() : fmt::format("{} sentences", sentences.size());
}

}  // namespace

TEST_CASE("cuda/times/read") {
  const ProcessTimes times = read_times_of(std::string("process 7\n") + h200 + "kernel 0 _Z1kPf\nclock 0 90 1755\n" +
                                           "launch 0 0 4 2 1 32 8 1 100 250\nend\n");
  CHECK(times.errors.empty());
  CHECK(times.ended);
  CHECK(times.process == 7);
  CHECK(times.kernels.at(0) == "_Z1kPf");
  const TimedDevice& device = times.devices.at(0);
  CHECK(device.name == "NVIDIA H200");
  CHECK(device.multiprocessors == 132);
  CHECK(device.clock_khz == 1980000);
  CHECK(device.memory_khz == 3201000);
  CHECK(device.bus_bits == 6144);
  CHECK(device.l2_bytes == 62914560);
  REQUIRE(times.launches.size() == 1);
  CHECK(times.launches[0].grid == std::array<std::uint64_t, 3>{4, 2, 1});
  CHECK(times.launches[0].block == std::array<std::uint64_t, 3>{32, 8, 1});
  CHECK(times.launches[0].end == 250);
  CHECK(times.clocks.at(0).at(0).khz == 1755000);
}

TEST_CASE("cuda/times/cut_short_or_wrong") {
  const std::string start = std::string("process 7\n") + h200 + "kernel 0 k\n" + launch(0, 1, 1, 2);
  const ProcessTimes cut = read_times_of(start + "launch 0 0 1 1 1 32 1 1 3");  // the process ended while it wrote
  CHECK_FALSE(cut.ended);
  CHECK(cut.errors.empty());
  CHECK(cut.launches.size() == 1);
  const std::pair<const char*, const char*> wrong[]{{"launch 1 0 1 1 1 32 1 1 3 4", "no line before it has"},
                                                    {"launch 0 9 1 1 1 32 1 1 3 4", "no line before it has"},
                                                    {"launch 0 0 1 1 1 32 1 1 4 3", "it ends before it begins"},
                                                    {"launch 0 0 1 1 1 32 1 1 3", "it has no time"},
                                                    {"launch 0 0 1 1 1 32 1 1 3 4 5", "goes on after its last field"},
                                                    {"launch 0 0 1 1 1 2048 1 1 3 4", "of at most 1024"},
                                                    {"lunch", "there is no record 'lunch'"}};
  for (const auto& [line, sentence] : wrong) {
    const ProcessTimes times = read_times_of(start + line + "\n" + launch(0, 1, 5, 6));
    CHECK_THAT(only(times.errors), has("line 6 of the times of process 7: ") && has(sentence));
    CHECK(times.launches.size() == 1);
  }
  CHECK_THROWS_WITH(read_times_of("", "bankwise_cuda_times 2\n"), has("is no times of version 1"));
}

TEST_CASE("cuda/times/matched") {
  const MatchedTimes match =
      matched({watched("k", {{4, 2}, {8, 1}})}, std::string(h200) + "kernel 0 k\nkernel 1 other\n" +
                                                    launch(0, 8, 1000, 1100) + launch(1, 4, 2000, 9000) +
                                                    launch(0, 4, 10000, 10020) + launch(0, 4, 11000, 11003));
  CHECK(match.remarks ==
        std::vector<std::string>{"the clock of NVIDIA H200 could not be read: its maximum, 1980 MHz, is "
                                 "assumed, so busy and bounds may be too low"});
  REQUIRE(match.times.size() == 1);
  const auto& time = match.times.at("k");
  CHECK(time.launches == 3);
  CHECK(time.nanoseconds == 123);
  CHECK(time.gpu == "NVIDIA H200");
  CHECK(time.clock_khz == 1980000);  // it was not read: the GPU's maximum
  CHECK_FALSE(time.overlapped);
  CHECK(time.multiprocessors == 132);
  CHECK(time.l2_bytes == 62914560);
  CHECK(time.dram_mb_s == 4916736);  // 2 x 3.201 GHz x 6144 bits
}

TEST_CASE("cuda/times/not_matched") {
  const std::string lines = std::string(h200) + "kernel 0 k\nkernel 1 _Z3twoPf\nclock 0 5 1755\n" +
                            launch(0, 4, 10, 20) + launch(1, 4, 30, 40) + launch(1, 4, 50, 60);
  const MatchedTimes fewer = matched({watched("k", {{4, 2}}), watched("_Z3twoPf", {{4, 2}})}, lines);
  CHECK(fewer.times.size() == 1);
  CHECK(fewer.times.contains("_Z3twoPf"));
  CHECK(only(fewer.remarks) == "the watched and the timed run of the program differ: k (2 launches and 1) has no time");
  const MatchedTimes both = matched({watched("k", {{4, 2}}), watched("_Z3twoPf", {{4, 1}, {5, 1}})}, lines);
  CHECK(both.times.empty());
  CHECK(only(both.remarks) ==
        "the watched and the timed run of the program differ: two (other sizes) and 1 more kernel have no time");
  CHECK(only(matched({watched("k", {{4, 1}})}, "").remarks) ==
        "the watched and the timed run of the program differ: k (1 launch and 0) has no time");
}

TEST_CASE("cuda/times/several_processes_and_gpus") {
  const ProcessTimes first = read_times_of(std::string(h200) + "kernel 0 k\n" + launch(0, 4, 10, 20) + "end\n"),
                     second = read_times_of(std::string(h200) + "kernel 0 k\n" + launch(0, 4, 15, 45) + "end\n");
  const MatchedTimes match_of_two = match({watched("k", {{4, 1}}), watched("k", {{4, 1}})}, {first, second});
  CHECK(match_of_two.times.at("k").nanoseconds == 40);
  CHECK_FALSE(match_of_two.times.at("k").overlapped);
  ProcessTimes other = second;
  other.devices.at(0).name = "NVIDIA L4";
  const MatchedTimes mixed = match({watched("k", {{4, 2}})}, {first, other});
  CHECK(mixed.times.empty());
  CHECK(only(mixed.remarks) == "k ran on GPUs of different names: it has no time");
  ProcessTimes failed;
  failed.process = 7;
  failed.errors = {"CUPTI dropped 3 records"};
  CHECK(match({}, {failed}).remarks.at(0) == "process 7 of the timed run: CUPTI dropped 3 records");
}

TEST_CASE("cuda/times/overlapping") {
  const std::string head =
      std::string(h200) + "device 1 132 1980000 0 0 0 NVIDIA H200\nkernel 0 a\nkernel 1 b\nkernel 2 c\n";
  // In the order in which they ended: b within a; c after both, and on another device at the same time.
  const MatchedTimes match =
      matched({watched("a", {{1, 1}}), watched("b", {{1, 1}}), watched("c", {{1, 2}})},
              head + launch(1, 1, 20, 30) + launch(0, 1, 10, 100) + launch(2, 1, 100, 110) + launch(2, 1, 10, 20, 1));
  CHECK(match.times.at("a").overlapped);
  CHECK(match.times.at("b").overlapped);
  CHECK_FALSE(match.times.at("c").overlapped);
}

TEST_CASE("cuda/times/clock") {
  const std::string head = std::string(h200) + "kernel 0 a\nkernel 1 b\n";
  const std::vector<ProcessRecord> records{watched("a", {{1, 2}}), watched("b", {{1, 1}})};
  // 30 ns at 1,000 MHz and 10 ns at 2,000 MHz; b ends before the first reading.
  const MatchedTimes match = matched(records, head + "clock 0 200 2000\nclock 0 60 1000\n" + launch(0, 1, 100, 130) +
                                                  launch(0, 1, 200, 210) + launch(1, 1, 10, 20));
  CHECK(match.times.at("a").clock_khz == 1'250'000);
  CHECK(match.times.at("b").clock_khz == 1'000'000);
}
