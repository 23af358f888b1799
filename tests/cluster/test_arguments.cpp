// SPDX-License-Identifier: MIT
//
// Command lines that several ranks refuse or answer. mpirun adds paragraphs to stderr.
#include <cstring>

#include <bankwise/study/rank_study.hpp>
#include "tests/case_studies.hpp"
#include "tests/programs.hpp"

namespace {

const std::string two_ranks = MPIRUN " -n 2 ";

/// The lines of stderr that the program has written.
std::vector<std::string> sentences_in(const Outcome& outcome, const std::string& program) {
  std::vector<std::string> sentences;
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);) {
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
  CHECK(sentences.front().find("/nowhere/out.json") != std::string::npos);
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
