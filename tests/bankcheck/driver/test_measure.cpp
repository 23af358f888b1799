// What is compared of the outputs and the times of measured versions, and the copies of a tree.
#include <fstream>

#include "bankcheck/cuda/recorder.hpp"
#include "bankcheck/driver/measure.hpp"
#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/bankcheck/fit/fit_traces.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::driver;

namespace {

RepeatedOutput output_of(const std::vector<std::string>& runs) {
  RepeatedOutput output;
  for (const std::string& run : runs) output.add(run);
  return output;
}

KernelSamples samples_of(const std::vector<double>& samples) {
  KernelSamples kernel{support::StopLimits{}};
  for (const double sample : samples) kernel.rule.add(sample, 0);
  return kernel;
}

/// A version that changes its only kernel.
MeasuredVersion measured(const std::vector<double>& samples) {
  MeasuredVersion version;
  version.version.kernels.emplace_back(KernelFitReport{});
  version.kernels.push_back(samples_of(samples));
  return version;
}

}  // namespace

TEST_CASE("driver/measure/lines_with_times") {
  for (const char* line :
       {"took 3 ms", "Elapsed: 12", "0.5s", "12.5 GB/s", "rate 1.2e3 GFLOPS", "(3.1us)", "Time = 4",
        "12 frames, 60 fps", "kernel: 17.2 usec", "3 seconds", "elapsedTime=3", "kernel_time 4", "2.5 (ms)"}) {
    INFO(line);
    CHECK(has_time(line));
  }
  for (const char* line : {"sum 3", "time", "the elapsed time is short", "message 3", "4 seeds", "x[3] = 4.5", "",
                           "PASSED", "3 s5 7", "us 3", "timestep 3 residual 2", "32x32", "0 errors, time"}) {
    INFO(line);
    CHECK_FALSE(has_time(line));
  }
}

// Two kernels of one template: what both add behind a declaration must be the same, or only the first is changed. The
// comments may differ: the first one stays.
TEST_CASE("driver/measure/one_function_at_one_place") {
  const auto changed = [](const std::string& function, const char* comment = " // a comment") {
    KernelFitReport report;
    report.fit.arrays.emplace_back().arrays = {0};
    report.fit.arrays.front().chosen = 1;
    const std::vector<fit::Edit> edits{{5, 5, comment}, {5, 5, function}, {8, 9, "at(i)"}};
    report.sources.emplace_back(ArraySource{"k.cu", "t[9];\nt[i];\n", {}, edits});
    return report;
  };
  CHECK(fixed_sources({changed("\nf"), changed("\nf")}).left_out.empty());
  const FixedSources both = fixed_sources({changed("\nf"), changed("\nf", " // another one")});
  CHECK(both.left_out.empty());
  CHECK(both.files.at("k.cu") == "t[9]; // a comment\nf\nt[at(i)];\n");
  const FixedSources fixed = fixed_sources({changed("\nf"), changed("\ng")});
  CHECK(fixed.kernels == std::vector<std::size_t>{0});
  CHECK_THAT(fixed.left_out.at(0), has("line 1: another kernel needs other code there"));
}

TEST_CASE("driver/measure/passes_of_a_full_table") {
  const auto watched = [](std::uint64_t count, std::uint64_t excess) {
    trace::KernelTrace kernel = fit_traces::kernel(4096);
    kernel.patterns.push_back(fit_traces::access(
        banks::Operation::load, 4, [](auto lane) { return 4 * lane; }, 0xFFFFFFFF, count));
    kernel.excess_accesses = excess;
    return kernel;
  };
  const auto text = [&](std::uint64_t again, std::uint64_t excess) {
    const trace::KernelTrace kernel = watched(4, excess);
    KernelReport report{.name = "k", .trace = kernel};
    report.reports = {trace::report(kernel, *fit_traces::sm_90.front())};
    KernelFitReport fit;
    fit.fit = fit::fit_kernel(kernel, fit_traces::sm_90, {}, {});
    ProgramVersion version;
    version.kernels.emplace_back(fit);
    bankwise::driver::Outcome outcome;
    outcome.trace.kernels = {watched(again, excess)};
    return observed_passes({report}, version, outcome).text;
  };
  CHECK(
      text(3, 5) ==
      "watched again: k: 3 passes on sm_90 instead of 4; 4 were predicted, with 5 accesses as before that did not fit "
      "into the trace\n");
  CHECK(text(3, 0) == "watched again: k: 3 passes on sm_90 instead of 4; 4 were predicted\n");
  CHECK_THAT(text(4, 5), has("as predicted"));
}

TEST_CASE("driver/measure/equal_output") {
  const auto original = output_of({"sum 1\ntook 3 ms\nseed 5\n", "sum 1\ntook 4 ms\nseed 6\n"});
  const ComparedOutput same = compare(original, output_of({"sum 1\ntook 9 ms\nseed 7\n"}));
  CHECK(same.equal == 1);
  CHECK(same.not_compared == 2);
  CHECK_FALSE(same.difference);
  const ComparedOutput once = compare(output_of({"took 3 ms\n"}), output_of({"took 4 ms\n"}));
  CHECK(once.not_compared == 1);  // by its words alone
  CHECK_FALSE(once.difference);
}

TEST_CASE("driver/measure/lines_that_differ_in_part") {
  const auto is_excused = [](const std::vector<std::string>& original, const char* changed) {
    return !compare(output_of(original), output_of({changed})).difference.has_value();
  };
  const char* passed = "PASS: 0 errors, kernel time 5.0 us";
  CHECK(is_excused({passed}, "PASS: 0 errors, kernel time  15.1 us"));
  CHECK(is_excused({passed}, "PASS: 0 errors, kernel time 1.1 ms"));
  CHECK_FALSE(is_excused({passed}, "FAIL: 0 errors, kernel time 5.1 us"));
  CHECK_FALSE(is_excused({passed}, "PASS: 12 errors, kernel time 5.0 us"));
  CHECK_FALSE(is_excused({passed, "PASS: 0 errors, kernel time 6 us"}, "PASS: 12 errors, kernel time 5.0 us"));
  CHECK_FALSE(is_excused({"5 ms, 0 errors"}, "5 ms, 12 errors"));
  CHECK_FALSE(is_excused({"timestep 3 residual 2"}, "timestep 3 residual nan"));
  CHECK_FALSE(is_excused({"time step 3 error 0"}, "time step 3 error 5"));
  CHECK(is_excused({"seed 1", "seed 2"}, "seed 3"));
  CHECK_FALSE(is_excused({"seed 1", "seed 2"}, "no seed 3"));
  CHECK(is_excused({"at 0x1f", "at 0xa0"}, "at 0xbc"));
  CHECK(is_excused({"red", "green"}, "blue"));
}

TEST_CASE("driver/measure/other_output") {
  const auto original = output_of({"sum 1\nsum 2\n", "sum 1\nsum 2\n"});
  const auto difference = [&](const std::vector<std::string>& runs) {
    return compare(original, output_of(runs)).difference.value_or("none");
  };
  CHECK(difference({"sum 1\nsum 2\n"}) == "none");
  CHECK(difference({"sum 1\nsum 3\n"}) == "line 2 of stdout is 'sum 3' instead of 'sum 2'");
  CHECK(difference({"sum 1\n"}) == "stdout has 1 line instead of 2");
  CHECK(difference({"sum 1\nsum 2\n", "sum 1\nsum 3\n"}) == "line 2 of stdout differs from run to run");
  CHECK(difference({"sum 1\nsum 2\n", "sum 1\n"}) == "the number of lines of stdout differs from run to run");
  // How many lines the original has is chance: nothing can be compared.
  const ComparedOutput chance = compare(output_of({"a\n", "a\nb\n"}), output_of({"c\n"}));
  CHECK_FALSE(chance.difference);
  CHECK(chance.equal == 0);
}

TEST_CASE("driver/measure/gain") {
  const std::vector<double> steady(10, 100), faster(10, 90), noisy{80, 120, 90, 110, 100, 85, 115, 95, 105, 100};
  CHECK(gain_of(samples_of(steady), samples_of(faster)) == Gain::faster);
  CHECK(gain_of(samples_of(faster), samples_of(steady)) == Gain::slower);
  CHECK(gain_of(samples_of(noisy), samples_of(faster)) == Gain::none);
  CHECK(gain_of(samples_of(steady), samples_of(std::vector<double>(10, 99.6))) == Gain::none);
  CHECK(gain_of(samples_of(steady), samples_of(std::vector<double>(10, 99.4))) == Gain::faster);
  CHECK(gain_of(samples_of(steady), samples_of({90, 90, 90, 90})) == Gain::unknown);
}

TEST_CASE("driver/measure/fastest") {
  const std::vector<double> as_it_is{100, 101, 99, 100, 102, 98}, fast{80, 81, 79, 80, 82, 78},
      as_fast{79, 80, 78, 79, 81, 77}, fastest(6, 50), near{99, 100, 98, 99, 101, 97};
  const auto verdict = [](const std::vector<std::vector<double>>& versions) {
    MeasuredVersions list;
    for (const auto& samples : versions) list.push_back(measured(samples));
    return verdict_on(list, 0);
  };
  CHECK(verdict({as_it_is, fast, as_fast}).fastest == 1);  // equal within the noise: the higher rank
  CHECK(verdict({as_it_is, fast, fastest}).fastest == 2);
  CHECK(verdict({as_it_is, near, as_it_is}).gain == Gain::none);
  CHECK(verdict({as_it_is, {}, fast}).fastest == 2);
  CHECK(verdict({as_it_is, {}, {}}).fastest == 0);
  CHECK(verdict({{}, fast}).fastest == 0);  // without the original nothing follows

  MeasuredVersions rejected{measured(as_it_is), measured(fastest), measured(fast)};
  rejected[1].version.rejected = "other results";
  CHECK(verdict_on(rejected, 0).fastest == 2);
  rejected[2].kernels[0].problem = "2 launches instead of 1";
  CHECK(verdict_on(rejected, 0).fastest == 0);
}

// Two instances of a template have one text: a change that is good for one and bad for the other does not pay.
TEST_CASE("driver/measure/slows_another_instance") {
  const std::vector<double> as_it_is{100, 101, 99, 100, 102, 98}, fast{80, 81, 79, 80, 82, 78},
      slow{120, 121, 119, 120, 122, 118};
  const auto slowed = [&](const std::vector<double>& other, std::size_t place) {
    std::vector<KernelFitReport> fits(2);
    for (KernelFitReport& fit : fits) {
      fit.fit.arrays.emplace_back().chosen = 1;
      fit.sources.emplace_back(ArraySource{.path = "k.cu"});
    }
    fits[1].sources.front()->declaration.at = place;
    MeasuredVersions versions{measured(as_it_is), measured(fast)};
    for (MeasuredVersion& version : versions) version.version.kernels = {fits[0], std::nullopt};
    versions[0].kernels.push_back(samples_of(as_it_is));
    versions[1].kernels.push_back(samples_of(other));
    std::vector<KernelVerdict> verdicts{verdict_on(versions, 0), verdict_on(versions, 1)};
    std::vector<KernelReport> kernels(2);
    kernels[1].name = "other";
    name_slowed(versions, kernels, fits, verdicts);
    CHECK(verdicts[0].gain == Gain::faster);
    CHECK(verdicts[0].pays() == verdicts[0].slows.empty());
    return verdicts[0].slows;
  };
  CHECK(slowed(slow, 0) == "other");
  CHECK(slowed(as_it_is, 0).empty());
  CHECK(slowed(slow, 7).empty());  // declared elsewhere
}

TEST_CASE("driver/measure/copy_of_work_tree") {
  namespace fs = std::filesystem;
  const ScratchDirectory scratch, target;
  const fs::path root = scratch.path() / "a tree", copy = target.path() / "copy";
  fs::create_directories(root / "src" / "deep");
  fs::create_directories(root / "build");
  std::ofstream(root / "src" / "k.cu") << "tracked\n";
  std::ofstream(root / "src" / "deep" / "new \n name") << "untracked\n";
  std::ofstream(root / "build" / "data") << "ignored\n";
  std::ofstream(root / "build" / "object") << "ignored\n";
  std::ofstream(root / ".gitignore") << "build\n";
  std::ofstream(target.path() / "outside") << "outside\n";
  fs::create_symlink("src/k.cu", root / "inside");
  fs::create_symlink(target.path() / "outside", root / "outside");
  fs::create_symlink(root / "src" / "k.cu", root / "absolute");
  const std::string git = "cd '" + root.string() + "' && git init -q && git add src/k.cu .gitignore";
  REQUIRE(std::system(git.c_str()) == 0);

  const cuda::SourceTree tree = cuda::find_tree(root / "src", {"../build/data"});
  CHECK(tree.root == fs::canonical(root));
  cuda::copy_tree(tree, copy);
  CHECK(text_of(copy / "src" / "k.cu") == "tracked\n");
  CHECK(text_of(copy / "src" / "deep" / "new \n name") == "untracked\n");
  CHECK(text_of(copy / "build" / "data") == "ignored\n");
  CHECK_FALSE(fs::exists(copy / "build" / "object"));
  CHECK_FALSE(fs::exists(copy / ".git"));
  CHECK(fs::canonical(copy / "inside") == fs::canonical(copy / "src" / "k.cu"));
  CHECK(fs::canonical(copy / "absolute") == fs::canonical(copy / "src" / "k.cu"));
  CHECK(text_of(copy / "outside") == "outside\n");
  CHECK(fs::last_write_time(copy / "src" / "k.cu") == fs::last_write_time(root / "src" / "k.cu"));
  CHECK_THROWS_WITH(cuda::find_tree(root, {"nothing"}), has("--copy 'nothing': it does not exist"));
  CHECK_THROWS_WITH(cuda::find_tree(root, {target.path().string()}), has("it does not lie in "));
}

TEST_CASE("driver/measure/copy_of_directory") {
  namespace fs = std::filesystem;
  const ScratchDirectory scratch, target;
  const fs::path root = scratch.path(), copy = target.path() / "copy";
  fs::create_directories(root / "sub" / ".git");
  std::ofstream(root / "sub" / ".git" / "config") << "kept by git\n";
  std::ofstream(root / "sub" / "k.cu") << "text\n";
  fs::permissions(root / "sub" / "k.cu", fs::perms::owner_read);
  REQUIRE(std::system(("mkfifo '" + (root / "pipe").string() + "'").c_str()) == 0);
  cuda::copy_tree(cuda::find_tree(root, {}), copy);
  CHECK(text_of(copy / "sub" / "k.cu") == "text\n");
  CHECK_FALSE(fs::exists(copy / "sub" / ".git"));
  CHECK_FALSE(fs::exists(copy / "pipe"));
  std::ofstream changed(copy / "sub" / "k.cu");
  CHECK(changed.good());

  fs::create_directories(root / "tmp" / "copies");
  const fs::path inside = root / "tmp" / "copies" / "0";
  cuda::copy_tree(cuda::find_tree(root, {}), inside);
  CHECK(text_of(inside / "sub" / "k.cu") == "text\n");
  CHECK(fs::is_empty(inside / "tmp"));

  std::ofstream(root / "large") << "";
  fs::resize_file(root / "large", cuda::most_bytes + 1);  // sparse
  CHECK_THROWS_WITH(cuda::find_tree(root, {}), has("or 512 MiB: run bankcheck in the directory of"));
}
