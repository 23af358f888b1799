// Layouts that are measured with a program that is built by its Makefile in copies.
#include <filesystem>

#include "watched_program.hpp"

namespace {

/// Measures a program of the folder `measured`, in a copy of it. `change` is a shell command that changes the copy
/// before.
Outcome measure(const std::string& name, const std::string& build, const std::string& change = "true") {
  const ScratchDirectory scratch;
  const auto folder = scratch.path() / "sources";
  std::filesystem::copy(MEASURED_PROGRAMS, folder);
  std::filesystem::create_directory(scratch.path() / "tmp");
  const std::string enter = "export NVCC='" NVCC "' && cd '" + folder.string() + "' && " + change + " && make -s " +
                            name + " && TMPDIR='" + (scratch.path() / "tmp").string() + "'";
  constexpr std::string_view sanitizer = SANITIZER;
  const std::string options = sanitizer.empty() ? "" : "--sanitizer '" + std::string(sanitizer) + "' ";
  Outcome outcome = bankcheck(
      "cuda " + options + "--memory shared --max-launches 1 --measure --candidates 2 --measure-time 10 --build '" +
          build + "' -- ./" + name,
      enter);
  INFO(outcome.out);
  INFO(outcome.err);
  CHECK(std::filesystem::is_empty(scratch.path() / "tmp"));
  return outcome;
}

}  // namespace

TEST_CASE("cuda/gpu/measure/conflicts_take_the_time", "[measure]") {
  const Outcome outcome = ended(0, measure("pays", "make -s pays"));
  INFO(outcome.out);
  CHECK(count(outcome.out, "\nmeasured: columns: ") == 1);
  CHECK(count(outcome.out, "too few runs") == 0);
  CHECK_THAT(outcome.out, has("\nresults: the exit code and 1 line of stdout are equal\n"));
  CHECK_THAT(outcome.out, has(", as predicted\n"));
  CHECK(count(outcome.out, "not measured") == 0);
}

TEST_CASE("cuda/gpu/measure/conflicts_take_no_time", "[measure]") {
  const Outcome outcome = ended(0, measure("keeps", "make -s keeps"));
  INFO(outcome.out);
  CHECK(count(outcome.out, "\nmeasured: sums: ") == 1);
  CHECK(count(outcome.out, "\nwatched again: sums: ") == 1);
}

TEST_CASE("cuda/gpu/measure/build_without_the_change", "[measure]") {
  const Outcome outcome = ended(1, measure("pays", "cp keep/pays .", "mkdir keep && make -s pays && mv pays keep"));
  CHECK_THAT(outcome.out, has("the change is not in the program that ran\n"));
}

TEST_CASE("cuda/gpu/measure/failing_build", "[measure]") {
  const Outcome outcome = ended(3, measure("pays", "echo oops; exit 9"));
  CHECK_THAT(outcome.err, has("--measure: the program as it is: 'echo oops; exit 9' failed with exit code "
                              "9: oops\n"));
}
