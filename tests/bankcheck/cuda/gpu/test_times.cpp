// The times of kernels, from the second run of --time.
#include "watched_program.hpp"

namespace {

using Time = nlohmann::json;

/// By kernel; the second run must match the first.
std::map<std::string, Time> times_of(const std::string& command) {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "trace.jsonl";
  const Outcome outcome = ended(0, watch(command, "--time --trace '" + file.string() + "' "));
  INFO(command);
  INFO(outcome.err);
  CHECK(sentences_in(outcome.err).empty());
  std::map<std::uint64_t, std::string> names;
  std::map<std::string, Time> times;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto record = nlohmann::json::parse(line);
    if (record.value("record", "") == "kernel") names[record.at("kernel")] = record.at("name");
    if (record.contains("time")) times[names.at(record.at("kernel"))] = record.at("time");
  }
  return times;
}

void check_time(const Time& time, unsigned launches) {
  INFO(time.dump());
  CHECK(time.at(0) == launches);
  CHECK(time.at(1).get<double>() > 500.0 * launches);  // nanoseconds
  CHECK(time.at(1).get<double>() < 1e9);
  CHECK(time.at(2).get<double>() > 100'000);  // kHz
  CHECK(time.at(2).get<double>() < 4'000'000);
  CHECK(time.at(3) != "unknown");
}

void check_times(const std::string& command, unsigned wide, unsigned narrow) {
  INFO(command);
  const auto times = times_of(command);
  REQUIRE(times.size() == (narrow == 0 ? 1 : 2));
  check_time(times.at("ways_32"), wide);
  if (narrow > 0) check_time(times.at("ways_2"), narrow);
}

}  // namespace

TEST_CASE("cuda/gpu/times/one_process", "[times]") {
  check_times(program("sizes", "both"), 1, 1);
  check_times(program("sizes", "large"), 2, 0);
  check_times(program("endings", "unsynchronized"), 1, 0);
  CHECK(times_of(program("sizes", "large")).at("ways_32").at(4) == false);  // nothing overlaps
}

TEST_CASE("cuda/gpu/times/streams_and_graphs", "[times]") {
  check_times(program("streams", "streams"), 32 * 5, 32 * 5);
  check_times(program("streams", "threads"), 8 * 50, 8 * 25);
  check_times(program("streams", "graph"), 10, 10);
  check_times(program("streams", "updated_graph"), 4 + 6, 0);
}

TEST_CASE("cuda/gpu/times/several_processes", "[times]") {
  for (const char* mode : {"spawn", "fork_first"}) check_times(program("processes", mode), 1, 1);
  for (const char* mode : {"fork_and_exit", "fork_and_underscore_exit"}) {
    check_times(program("processes", mode), 2, 0);
  }
}

TEST_CASE("cuda/gpu/times/contexts", "[times]") {
  check_times(program("contexts", "two"), 3, 0);
  check_times(program("contexts", "destroyed"), 2, 1);
}

TEST_CASE("cuda/gpu/times/clock", "[times]") {
  // The kernel ends once its clock has counted 800,000,000 cycles.
  const auto times = times_of(program("contexts", "busy"));
  REQUIRE(times.contains("slow"));
  const Time& time = times.at("slow");
  INFO(time.dump());
  CHECK(time.at(1).get<double>() * time.at(2).get<double>() / 1e6 == Approx(8e8).epsilon(0.03));
}
