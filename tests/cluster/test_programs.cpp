// SPDX-License-Identifier: MIT
//
// The programs of the case studies on several ranks, as a user starts them.
#include <nlohmann/json.hpp>

#include <bankwise/study/rank_study.hpp>
#include "tests/case_studies.hpp"
#include "tests/programs.hpp"

using namespace bankwise;

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

std::string size_flags(const CaseStudy& study, Extent extent) {
  std::string flags;
  for (const Side& side : study.sides) {
    flags += " --" + std::string(side.name) + " " + std::to_string(extent.*side.length);
  }
  return flags;
}

}  // namespace

TEST_CASE("cluster/programs/two_to_four_ranks", "[programs]") {
  const CaseStudy &reduce = reduction::case_study(), &scan = prefix_sum::case_study(), &flip = transpose::case_study();
  for (const Job& job : {Job{reduce, 2, {1, 1}}, {scan, 3, {1, 10007}}, {flip, 4, {3, 70}}, {scan, 4, {1, 0}}}) {
    const std::string name(job.study.name);
    const ScratchDirectory scratch;
    const auto json_file = scratch.path() / "out.json";
    const Outcome outcome =
        run(name, "--api opencl --cache hot --json " + json_file.string() + size_flags(job.study, job.extent),
            mpirun(job.ranks));
    INFO(name << " on " << job.ranks << "\n" << outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.err.empty());
    CHECK(count(outcome.out, " on " + std::to_string(job.ranks) + " ranks, opencl") == 1);  // only rank 0 prints
    CHECK(count(outcome.out, "weak scaling") == 1);

    const auto json = nlohmann::json::parse(text_of(json_file));
    CHECK(json.at("case") == name);
    CHECK(json.at("engine").get<std::string>().find(" through host memory") != std::string::npos);
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
      CHECK(outcome.out.find("\n  " + row) != std::string::npos);
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
