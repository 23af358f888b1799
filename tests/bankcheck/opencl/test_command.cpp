#include <sstream>

#include "checked_program.hpp"
#include "tests/catch_any.hpp"

using nlohmann::json;

namespace {

const std::string two_kernels = program("cmd_two_kernels");
const std::string says = "program says:\n";
const std::string head = "kernel,architecture,accesses,conflicts,unknown\n";

Outcome on_two_kernels(const std::string& options, const std::string& before = "") {
  return bankcheck("opencl " + options + " -- " + two_kernels, before);
}

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

/// Checks that the command is rejected before the program runs, which would leave a file.
void check_refused_at_once(const std::string& options, const std::string& words) {
  const ScratchDirectory scratch;
  const auto trace = scratch.path() / "trace";
  check_fails("opencl " + options + " -- touch " + trace.string(), 2, words);
  CHECK_FALSE(std::filesystem::exists(trace));
}

std::vector<std::string> kernels_in(const json& report) {
  std::vector<std::string> names;
  for (const auto& kernel : report.at("kernels")) names.push_back(kernel.at("kernel"));
  return names;
}

}  // namespace

TEST_CASE("opencl/command/help") {
  const Outcome outcome = ended(0, bankcheck("opencl --help"));
  CHECK(outcome.err.empty());
  for (const char* words :
       {"--arch", "--max-conflicts", "--baseline", "--update-baseline", "--json", "--sarif", "--kernel", "--sources",
        "--local-memory", "--trace", "Exit codes: 0 ok, 1 more conflicts than allowed, or ", "follow the options"}) {
    CHECK_THAT(outcome.out, has(words));
  }
}

TEST_CASE("opencl/command/report") {
  const Outcome outcome = ended(0, on_two_kernels(""));
  CHECK(outcome.err.empty());
  CHECK(outcome.out.starts_with(
      says + "-- bankcheck opencl: 2 launches of 2 kernels --\ncolumn   1 line with 32-way conflicts: "));
  CHECK_THAT(outcome.out, has("\ncolumn: 1 launch, 1 work-group of 64 work-items\n"));
  CHECK_THAT(outcome.out, has("\nrow: 1 launch, 1 work-group of 64 work-items; 4 accesses"));
  CHECK_THAT(outcome.out, has("tile[32 * i] = (int)i;"));
  CHECK_THAT(outcome.out, has("worst on sm_90: "));
  const Checked checked = check(two_kernels);
  CHECK(checked.outcome.code == 0);
  CHECK(kernels_in(checked.json) == std::vector<std::string>{"column", "row"});
  check_members(checked.on("column"), R"({"conflicts": 62, "accesses": 2})");
  check_members(checked.on("row"), R"({"conflicts": 0, "accesses": 4})");
}

TEST_CASE("opencl/command/max_conflicts") {
  for (const auto& [limit, code] : {std::pair{"0", 1}, {"61", 1}, {"62", 0}, {"18446744073709551615", 0}}) {
    INFO(limit);
    const Outcome outcome = ended(code, on_two_kernels(std::string("--max-conflicts ") + limit));
    CHECK(outcome.err ==
          (code == 0
               ? ""
               : std::string("bankcheck: column has 62 conflicts on sm_90; --max-conflicts allows ") + limit + "\n"));
    CHECK(outcome.out.starts_with(says + "-- bankcheck opencl: "));  // the report is printed as well
  }
  CHECK(count(ended(1, on_two_kernels("--max-conflicts 0 --arch sm_90,gfx942")).err, "bankcheck: column has ") == 2);
}

TEST_CASE("opencl/command/several_architectures") {
  const Checked checked = check(two_kernels, "--arch sm_90,gfx941 --arch SM_90,gfx942,sm_90a");
  CHECK(checked.outcome.code == 0);
  std::vector<std::string> names;
  for (const auto& architecture : checked.kernel("column").at("architectures"))
    names.push_back(architecture.at("architecture"));
  CHECK(names == std::vector<std::string>{"sm_90", "gfx942"});
  CHECK(checked.on("column", 0).at("warp_width") == 32);
  check_members(checked.on("column", 1), R"({"warp_width": 64, "accesses": 1})");
  // Their names are in the first lines, in order.
  CHECK(checked.outcome.out.find("sm_90") < checked.outcome.out.find("gfx942"));
}

TEST_CASE("opencl/command/invalid_values") {
  check_refused_at_once("--arch sm_9O", "there is no architecture 'sm_9O'; did you mean 'sm_90'?");
  check_refused_at_once("--max-conflicts many", "--max-conflicts");
  check_refused_at_once("--max-conflicts 1.5", "--max-conflicts");
  check_refused_at_once("--max-conflicts 1 --max-conflicts 2", "--max-conflicts");
  check_refused_at_once("--local-memory 0", "--local-memory");
  check_refused_at_once("--local-memory 2000000000", "--local-memory");
  check_refused_at_once("--max-conflicts 0 --baseline b.csv", "--max-conflicts excludes --baseline");
  check_refused_at_once("--nonsense", "--nonsense");
  check_refused_at_once("--sources /nowhere/at/all", "--sources '/nowhere/at/all' is not a directory");
  check_refused_at_once("--baseline /nowhere/b.csv", "cannot read /nowhere/b.csv");
  for (const char* two : {"--json - --sarif -", "--sarif - --update-baseline -", "--json - --html -"}) {
    check_refused_at_once(two, "only one of --json, --sarif, --html, --patch and --update-baseline can be stdout");
  }
  const ScratchDirectory scratch;
  write(scratch.path() / "b.csv", head + "k,sm_90,1\n");
  check_refused_at_once("--baseline " + (scratch.path() / "b.csv").string(), "b.csv:2: not a line of a baseline");
  for (const char* nothing : {"opencl", "opencl --", "opencl --arch sm_90 --"}) {
    check_fails(nothing, 2, "no program to check");
  }
  for (const char* number : {"-1", "18446744073709551616", "99999999999999999999999"}) {
    check_refused_at_once(std::string("--max-conflicts ") + number, "--max-conflicts");
  }
  for (const char* option : {"--baseline", "--update-baseline", "--json", "--sarif"}) {
    check_refused_at_once(std::string(option) + " ''", option);
  }
}

TEST_CASE("opencl/command/unwritable_outputs") {
  const ScratchDirectory scratch;
  for (const char* option : {"--json", "--sarif", "--html", "--update-baseline"}) {
    check_refused_at_once(option + (" " + (scratch.path() / "none" / "x").string()),
                          std::string("cannot write ") + option);
    check_refused_at_once(option + (" " + scratch.path().string()), "it is a directory");
  }
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("opencl/command/two_outputs_one_file") {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "x").string();
  for (const char* options :
       {"--json FILE --sarif FILE", "--json FILE --update-baseline FILE", "--sarif FILE --update-baseline FILE",
        "--trace FILE --json FILE", "--trace FILE --json LINK"}) {
    std::filesystem::remove(file + "2");
    std::filesystem::create_symlink(file, file + "2");
    std::string flags = options;
    for (const auto& [word, path] : {std::pair("FILE", file), {"LINK", file + "2"}}) {
      for (auto at = flags.find(word); at != std::string::npos; at = flags.find(word)) flags.replace(at, 4, path);
    }
    check_refused_at_once(flags, "name the same file " + file);
  }
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(on_two_kernels("--json /dev/null --sarif /dev/null").code == 0);
}

TEST_CASE("opencl/command/symbolic_links") {
  const ScratchDirectory scratch;
  const auto link = scratch.path() / "link", file = scratch.path() / "file";
  std::filesystem::create_symlink("file", link);
  CHECK(on_two_kernels("--json " + link.string()).code == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(json::parse(text_of(file)).at("kernels").size() == 2);
}

TEST_CASE("opencl/command/source_in_several_files") {
  const ScratchDirectory scratch;
  for (const char* name : {"a.c", "b.c"}) {
    std::filesystem::copy(PROGRAM_SOURCES "/cmd_two_kernels.c", scratch.path() / name);
  }
  const Outcome outcome = on_two_kernels("--sources " + scratch.path().string());
  CHECK_THAT(outcome.out, has("kernel source:"));
  CHECK_THAT(outcome.out, has("a.c contains this source, and so does "));
  std::filesystem::remove(scratch.path() / "b.c");
  CHECK_THAT(on_two_kernels("--sources " + scratch.path().string()).out, !has("kernel source:"));
}

TEST_CASE("opencl/command/stdout_alone") {
  const ScratchDirectory scratch;
  const Outcome as_json = ended(0, on_two_kernels("--json -"));
  CHECK(kernels_in(json::parse(as_json.out)).size() == 2);
  CHECK(as_json.err == says);  // the program's output
  const Outcome as_sarif = ended(0, on_two_kernels("--sarif - --sources '" PROGRAM_SOURCES "'"));
  CHECK(json::parse(as_sarif.out).at("runs").at(0).at("results").size() == 1);
  CHECK(as_sarif.err == says);
  const Outcome as_csv = ended(1, on_two_kernels("--memory shared --update-baseline - --max-conflicts 0"));
  CHECK(as_csv.out == head + "column,sm_90,2,62,0\nrow,sm_90,4,0,0\n");
  CHECK(as_csv.err.starts_with(says + "bankcheck: column has 62 conflicts"));
}

TEST_CASE("opencl/command/kernel_filter") {
  const Checked row = check(two_kernels, "--kernel row --max-conflicts 0");
  CHECK(row.outcome.code == 0);
  CHECK(kernels_in(row.json) == std::vector<std::string>{"row"});
  CHECK_THAT(row.outcome.out, !has("column: "));
  const Checked both = check(two_kernels, "--kernel row --kernel column --max-conflicts 0");
  CHECK(both.outcome.code == 1);
  CHECK(kernels_in(both.json) == std::vector<std::string>{"column", "row"});
  // A kernel that did not run.
  const ScratchDirectory scratch;
  const auto report = scratch.path() / "report.json";
  const Outcome outcome = ended(2, on_two_kernels("--kernel row --kernel colum --json " + report.string()));
  CHECK(outcome.err == "bankcheck: no kernel 'colum' ran; the kernels that ran: column, row\n");
  CHECK(outcome.out == says);
  CHECK_FALSE(std::filesystem::exists(report));
}

TEST_CASE("opencl/command/baseline") {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "b.csv";
  const std::string path = file.string(), kept = "column,gfx942,1,62,0\n";
  CHECK(on_two_kernels("--memory shared --update-baseline " + path).code == 0);
  CHECK(text_of(file) == head + "column,sm_90,2,62,0\nrow,sm_90,4,0,0\n");

  CHECK(ended(0, on_two_kernels("--baseline " + path)).err.empty());

  write(file, head + kept + "column,sm_90,2,61,0\nlost,sm_90,1,1,0\nrow,sm_90,4,0,0\n");
  const Outcome worse = ended(1, on_two_kernels("--baseline " + path));
  CHECK(worse.err == "bankcheck: lost on sm_90 is in " + path +
                         " but did not run\nbankcheck: column has 62 conflicts on sm_90, and 61 in " + path + "\n");
  CHECK(text_of(file) == head + kept + "column,sm_90,2,61,0\nlost,sm_90,1,1,0\nrow,sm_90,4,0,0\n");

  // Selecting one kernel leaves the other rows unchanged; the verdict uses the old file.
  const Outcome both =
      ended(1, on_two_kernels("--memory shared --kernel column --baseline " + path + " --update-baseline " + path));
  CHECK_THAT(both.err, has("and 61 in "));
  CHECK(text_of(file) == head + kept + "column,sm_90,2,62,0\nlost,sm_90,1,1,0\nrow,sm_90,4,0,0\n");
  CHECK(on_two_kernels("--memory shared --update-baseline " + path).code == 0);
  CHECK(text_of(file) == head + kept + "column,sm_90,2,62,0\nrow,sm_90,4,0,0\n");

  write(file, head + "column,sm_90,2,63,0\n");
  const Outcome better = ended(0, on_two_kernels("--baseline " + path));
  CHECK_THAT(better.err, has("column has 62 conflicts on sm_90, and 63 in " + path + ": better"));
  write(file, head + "row,sm_90,4,0,0\n");
  const Outcome unknown = ended(1, on_two_kernels("--baseline " + path));
  CHECK(unknown.err == "bankcheck: column has 62 conflicts on sm_90, and " + path + " does not list it\n");
  write(file, "my notes\n");
  CHECK_THAT(ended(2, on_two_kernels("--update-baseline " + path)).err, has("b.csv:1: not a line of a baseline"));
  CHECK(text_of(file) == "my notes\n");
}

TEST_CASE("opencl/command/sources_and_sarif") {
  const auto places = [](const Checked& checked) {
    std::vector<std::string> files;
    for (const auto& line : checked.on("column").at("lines")) {
      files.push_back(line.at("is_file").get<bool>() ? line.at("file").get<std::string>() : "none");
    }
    return files;
  };
  const Checked report = check(two_kernels, "--sources '" PROGRAM_SOURCES "'");
  REQUIRE(places(report).size() == 1);
  CHECK(places(report).front().ends_with("/cmd_two_kernels.c"));
  // The line of the C file that holds the access, and the column in it.
  const auto& line = report.on("column").at("lines").at(0);
  std::istringstream file(text_of(std::filesystem::path(PROGRAM_SOURCES) / "cmd_two_kernels.c"));
  std::string text;
  for (unsigned i = 0; i < line.at("line").get<unsigned>(); ++i) std::getline(file, text);
  CHECK_THAT(text, has("tile[32 * i] = (int)i;"));
  CHECK(text.substr(line.at("column").get<unsigned>() - 1).starts_with("= (int)i;"));
  const ScratchDirectory empty;
  const Checked none = check(two_kernels, "--sources " + empty.path().string());
  CHECK(places(none) == std::vector<std::string>{"none"});
  CHECK_THAT(none.outcome.out, has("kernel source:4:16"));
  const Outcome sarif = on_two_kernels("--sarif - --sources " + empty.path().string());
  CHECK(json::parse(sarif.out).at("runs").at(0).at("results").empty());
  CHECK_THAT(sarif.err, has("--sarif omits 1 line with conflicts"));
  for (const auto& [limit, level] :
       {std::pair{"--max-conflicts 0", "error"}, {"--max-conflicts 62", "warning"}, {"", "warning"}}) {
    const Outcome limited = on_two_kernels(std::string(limit) + " --sarif - --sources '" PROGRAM_SOURCES "'");
    CHECK(json::parse(limited.out).at("runs").at(0).at("results").at(0).at("level") == level);
  }
}

TEST_CASE("opencl/command/arguments") {
  const auto out = [](const std::string& arguments, const std::string& options = "", const std::string& before = "") {
    return ended(0, bankcheck("opencl " + options + " -- " + two_kernels + " " + arguments, before)).out;
  };
  CHECK(out("--json - --help -- --arch x '' 'a b' opencl")
            .starts_with("program says: [--json] [-] [--help] [--] [--arch] [x] [] [a b] [opencl]\n-- bankcheck"));
  CHECK(out("'[a,b]' '{}' 'c,d' '[]' '\"e\"'").starts_with("program says: [[a,b]] [{}] [c,d] [[]] [\"e\"]\n"));
  CHECK(out("--copy-stdin", "", "printf 'one\\ntwo\\n' |")
            .starts_with("program says: [--copy-stdin]\none\ntwo\n-- bankcheck"));
  for (const char* option :
       {"--arch sm_80", "--kernel row", "--max-conflicts 62", "--sources .", "--local-memory 65536"}) {
    INFO(option);
    CHECK(out("--help --arch x", option).starts_with("program says: [--help] [--arch] [x]\n"));
  }
  const Checked checked = check(two_kernels + " --json 'a b'");
  CHECK(checked.json.at("command").at(1) == "--json");
  CHECK(checked.json.at("command").at(2) == "a b");
}

TEST_CASE("opencl/command/several_outputs") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  const Outcome outcome =
      ended(0, on_two_kernels("--json " + folder + "/j --sarif " + folder + "/s --update-baseline " + folder +
                              "/b --sources '" PROGRAM_SOURCES "'"));
  CHECK(files_in(scratch.path()) == 3);
  CHECK(kernels_in(json::parse(text_of(scratch.path() / "j"))).size() == 2);
  CHECK(json::parse(text_of(scratch.path() / "s")).at("version") == "2.1.0");
  CHECK(text_of(scratch.path() / "b") ==
        "kernel,architecture,accesses,conflicts,unknown,global_accesses,extra_sectors,global_unknown\n"
        "column,sm_90,2,62,0,2,0,0\nrow,sm_90,4,0,0,2,0,0\n");
}

TEST_CASE("opencl/command/failure_keeps_outputs") {
  const ScratchDirectory scratch;
  const std::string folder = scratch.path().string();
  for (const char* name : {"j", "s"}) write(scratch.path() / name, "old");
  write(scratch.path() / "b", head);
  const Outcome outcome = bankcheck("opencl --json " + folder + "/j --sarif " + folder + "/s --update-baseline " +
                                    folder + "/b -- sh -c " + "\"" + two_kernels + "; exit 4\"");
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err, has("bankcheck: the program 'sh' failed with exit code 4"));
  CHECK_THAT(outcome.out, has("column: 1 launch"));  // the kernels before the failure
  CHECK(files_in(scratch.path()) == 3);
  CHECK(text_of(scratch.path() / "j") == "old");
  CHECK(text_of(scratch.path() / "s") == "old");
  CHECK(text_of(scratch.path() / "b") == head);
}
