#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/study/case_study.hpp>
#include "tests/case_studies.hpp"
#include "tests/device/devices_under_test.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::study;

// The programs of the case studies on several ranks, as a user starts them.

namespace {

struct Job {
  const CaseStudy& study;
  unsigned ranks;
  Extent extent;
};

/// OpenCL has no TMA, and its devices cannot access each other's memory.
bool needs_cuda(const std::string& row) {
  return row == "ring" || row == "peers" || row == "on_chip" || row == "cyclic" || row == "direct" ||
         row == "peer_copy";
}

std::string mpirun(unsigned ranks) { return MPIRUN " -n " + std::to_string(ranks) + " "; }

}  // namespace

TEST_CASE("cluster/programs/two_to_four_ranks", "[programs]") {
  const CaseStudy &reduce = reduction::case_study(), &scan = prefix_sum::case_study(), &flip = transpose::case_study();
  for (const Job& job : {Job{reduce, 2, {1, 1}}, {scan, 3, {1, 10007}}, {flip, 4, {3, 70}}, {scan, 4, {1, 0}}}) {
    const std::string name(job.study.name);
    const ScratchDirectory scratch;
    const auto json_file = scratch.path() / "out.json";
    const Outcome outcome =
        run(name, "--api opencl --cache hot --json " + json_file.string() + ' ' + flags(job.study, job.extent),
            mpirun(job.ranks));
    INFO(name << " on " << job.ranks << "\n" << outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.err.empty());
    CHECK(count(outcome.out, " on " + std::to_string(job.ranks) + " ranks, opencl") == 1);  // only rank 0 prints
    CHECK(count(outcome.out, "weak scaling") == 1);

    const auto json = nlohmann::json::parse(text_of(json_file));
    CHECK(json.at("case") == name);
    CHECK_THAT(json.at("engine").get<std::string>(), has(" through host memory"));
    CHECK(json.at("topology") == "one node");
    for (const Side& side : job.study.sides) CHECK(json.at(std::string(side.name)) == job.extent.*side.length);
    REQUIRE(json.at("ranks").size() == job.ranks);
    std::uint64_t words = 0;
    for (const auto& rank : json.at("ranks")) words += rank.at("input_words").get<std::uint64_t>();
    CHECK(words == job.study.inputs[0].words(job.extent));

    std::vector<std::string> rows{"copy", "peer_copy", "alone"}, found;
    for (const Variant& variant : job.study.ranks->variants) rows.emplace_back(variant.name);
    for (const auto& result : json.at("results")) {
      const std::string row = found.emplace_back(result.at("variant"));
      INFO(row);
      CHECK_THAT(outcome.out, has("\n  " + row));
      if (needs_cuda(row)) {
        CHECK(result.at("status") == "unsupported");
        CHECK_FALSE(result.at("reason").get<std::string>().empty());
        CHECK(result.at("time_median_s").is_null());
      } else {
        CHECK(result.at("status") == "ok");
        CHECK(result.at("reason") == "");  // also if `alone` had to take its second choice
        CHECK(result.at("time_median_s").get<double>() > 0);
        CHECK_FALSE(result.at("samples_s").empty());
      }
      // Rank 2 keeps the fewest of its words: 17 of 70. The others with a row keep 18.
      if (&job.study == &flip && row == "packed") CHECK(result.at("link_bytes") == (70 - 17) * 4);
      const bool exchanges = result.at("status") == "ok" && row != "copy" && row != "alone";
      CHECK(result.at("exchanges_s").is_number() == exchanges);
      CHECK(result.at("launches_s").is_number() == exchanges);
    }
    CHECK(found == rows);
  }
}

TEST_CASE("cluster/programs/wrong_words", "[programs]") {
  const Outcome outcome =
      ended(1, run("../" + std::filesystem::relative(BROKEN_RANKS, SAMPLES_DIRECTORY "/..").string(),
                   "--api opencl --cache hot --json - --width 24 --height 24", mpirun(2)));
  const auto json = nlohmann::json::parse(outcome.out);
  for (const auto& result : json.at("results")) {
    if (result.at("variant") != "packed" && result.at("variant") != "overlapped") continue;
    CHECK(result.at("status") == "wrong");
    CHECK(result.at("reason").get<std::string>().find("rank 0: output word ") == 0);
    CHECK(result.at("time_median_s").is_null());
    CHECK(result.at("samples_s").empty());
  }
  CHECK(count(outcome.out, "\"wrong\"") == 2);
}

// The programs on the devices of this machine, one rank per device: sizes at the edges of tiles, chunks and blocks. The
// programs verify every word.

namespace {

std::string on_all_devices(const std::string& program, const std::string& size) {
  const auto devices = devices_under_test();
  const Outcome outcome = run(program, "--api " + std::string(to_string(devices.front().api)) + " --cache hot " + size,
                              MPIRUN " -n " + std::to_string(std::min<std::size_t>(devices.size(), 4)) + " ");
  return outcome.code == 0 ? "" : outcome.out + outcome.err;
}

}  // namespace

TEST_CASE("cluster/cuda_programs/reductions_and_scans", "[edges]") {
  for (const std::uint64_t n : {0, 1, 5, 8191, 8193, (1 << 20) - 1, (1 << 20) + 1, 3 * (1 << 20) + 5}) {
    for (const char* program : {"reduction", "prefix_sum"}) {
      INFO(program << " of " << n);
      CHECK(on_all_devices(program, "--n " + std::to_string(n)) == "");
    }
  }
}

TEST_CASE("cluster/cuda_programs/transposes", "[edges]") {
  constexpr std::pair<int, int> shapes[]{{1, 1}, {3, 70}, {62, 129}, {129, 66}, {131, 67}, {1001, 2003}};
  for (const auto& [height, width] : shapes) {
    INFO(height << " x " << width);
    CHECK(on_all_devices("transpose", "--height " + std::to_string(height) + " --width " + std::to_string(width)) ==
          "");
  }
}

// Command lines that several ranks refuse or answer. mpirun adds paragraphs to stderr.

namespace {

const std::string two_ranks = MPIRUN " -n 2 ";

/// The lines of stderr that the program has written.
std::vector<std::string> sentences_in(const Outcome& outcome, const std::string& program) {
  std::vector<std::string> sentences;
  for (const std::string& line : lines_in(outcome.err)) {
    if (line.find(program + ": ") == 0) sentences.push_back(line);
  }
  return sentences;
}

void check_one_sentence(const Outcome& outcome, int code, const std::string& sentence) {
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == code);
  CHECK(outcome.out.empty());
  CHECK(sentences_in(outcome, "prefix_sum") == std::vector<std::string>{"prefix_sum: " + sentence});
}

}  // namespace

TEST_CASE("cluster/arguments/different", "[arguments]") {
  const std::string first =
      MPIRUN " -n 1 '" SAMPLES_DIRECTORY "/prefix_sum' --min-time 0 --timeout 0.02 --n 100 : -n 1 ";
  check_one_sentence(run("prefix_sum", "--n 200", first), 2,
                     "rank 1 was started with the arguments '--min-time 0 --timeout 0.02 --n 200 ', rank 0 with "
                     "'--min-time 0 --timeout 0.02 --n 100 '; all ranks need the same");
}

TEST_CASE("cluster/arguments/single_process", "[arguments]") {
  for (const char* flag : {"--scope l2", "--csv -"}) {
    const std::string name(flag, std::find(flag, flag + std::strlen(flag), ' '));
    check_one_sentence(run("prefix_sum", flag, two_ranks), 2,
                       name + " is for a single process; leave it out under mpirun");
  }
}

TEST_CASE("cluster/arguments/started_by_launcher", "[arguments]") {
  constexpr const char* variables[]{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  for (const char* variable : variables) unsetenv(variable);
  CHECK_FALSE(cluster::started_by_launcher());
  for (const char* variable : variables) {
    INFO(variable);
    setenv(variable, "0", 1);
    CHECK(cluster::started_by_launcher());
    unsetenv(variable);
  }
}

TEST_CASE("cluster/arguments/bad_command_line", "[arguments]") {
  const Outcome outcome = ended(2, run("prefix_sum", "--n many", two_ranks));
  CHECK(outcome.out.empty());
  CHECK(sentences_in(outcome, "prefix_sum").size() == 1);
  CHECK(count(outcome.err, "many") == 1);
}

TEST_CASE("cluster/arguments/help_once", "[arguments]") {
  const Outcome help = run("prefix_sum", "--help", two_ranks), list = run("prefix_sum", "--list", two_ranks);
  INFO(help.err << list.err);
  CHECK(help.code == 0);
  CHECK(list.code == 0);
  CHECK((help.err + list.err).empty());
  CHECK(count(help.out, "Exit codes: ") == 1);
  CHECK(count(list.out, "  backward ") == 1);
  // only forward and backward have OpenCL ports
  const std::size_t variants = bankwise::prefix_sum::case_study().ranks->variants.size();
  CHECK(count(list.out, "not built") == (BANKWISE_HAVE_CUDA ? 0 : variants - 2));
  CHECK(count(list.out, "opencl") == 2);
}

TEST_CASE("cluster/arguments/unwritable", "[arguments]") {
  const Outcome outcome = ended(2, run("prefix_sum", "--n 10 --api opencl --json /nowhere/out.json", two_ranks));
  CHECK(outcome.out.empty());
  const auto sentences = sentences_in(outcome, "prefix_sum");
  REQUIRE(sentences.size() == 1);
  CHECK_THAT(sentences.front(), has("/nowhere/out.json"));
  CHECK(sentences.front() == sentences_in(run("prefix_sum", "--n 10 --json /nowhere/out.json"), "prefix_sum").at(0));
}

TEST_CASE("cluster/arguments/bad_deadline", "[arguments]") {
  const Outcome outcome = ended(2, run("prefix_sum", "--n 10", "BANKWISE_DEADLINE_S=soon " + two_ranks));
  CHECK(outcome.out.empty());
  const auto sentences = sentences_in(outcome, "prefix_sum");
  REQUIRE_FALSE(sentences.empty());  // each rank finds it by itself
  for (const auto& sentence : sentences) {
    CHECK(sentence == "prefix_sum: BANKWISE_DEADLINE_S is 'soon', not a number of seconds");
  }
}
