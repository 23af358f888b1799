// The program as a whole: exit codes, and one error message for each invalid command line.
#include <nlohmann/json.hpp>

#include "bankcheck_program.hpp"
#include "tests/bankcheck/predict/accesses_csv.hpp"
#include "tests/bankcheck/predict/well_formed.hpp"

namespace {

const std::string good_rows = csv_header() + csv_row("a,load,4,ffffffff", 8) + csv_row("b,load,4,ffffffff", 4);
const std::string good_costs = "id,passes,ideal,conflicts\na,2,1,1\nb,1,1,0\n";

class Files {
 public:
  /// The path of a new file with this text.
  std::string add(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string path(const std::string& name) const { return (scratch_.path() / name).string(); }
  std::size_t count() const { return files_in(scratch_.path()); }

 private:
  ScratchDirectory scratch_;
};

void check_refused_at_once(const std::string& arguments, const std::string& words) {
  CHECK(check_fails(arguments, 2, words).out == "");
}

}  // namespace

TEST_CASE("bankcheck/command_line/help") {
  for (const char* arguments : {"--help", "predict --help", "archs --help", "--version", "archs"}) {
    const Outcome outcome = bankcheck(arguments);
    INFO(arguments);
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "");
    CHECK_FALSE(outcome.out.empty());
  }
  const auto json = nlohmann::json::parse(bankcheck("archs --json").out);
  const std::string text = bankcheck("archs").out;
  CHECK(json["architectures"].size() == bankwise::banks::architectures().size());
  for (const auto& architecture : json["architectures"]) {
    CHECK_THAT(text, has(architecture["name"].get<std::string>()));
    CHECK_FALSE(architecture["rules"].empty());
  }
}

TEST_CASE("bankcheck/command_line/bare") {
  const Outcome outcome = ended(2, bankcheck(""));
  CHECK(outcome.out == bankcheck("--help").out);
  CHECK(outcome.err == "");
}

TEST_CASE("bankcheck/command_line/without_proc") {
  const std::string hidden =
      "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"'";
  if (in_shell(hidden, "true").code != 0) {
    WARN("no user namespaces; not tested");
    return;
  }
  check_fails("emulate kernel.cu", 3, "bankcheck cannot find its own files: no /proc/self/exe", hidden);
}

TEST_CASE("bankcheck/command_line/help_fits") {
  for (const char* command : {"", "archs", "predict", "opencl", "cuda", "emulate", "nvcc", "hipcc", "report", "fit"}) {
    const std::string help = ended(0, bankcheck(std::string(command) + " --help")).out;
    INFO(command << '\n' << help);
    check_fits(help);
    CHECK_THAT(help, !has("Options:"));  // each has a group
    for (const char* word : {"TEXT", "UINT", "FLOAT", " [sm_90]"}) CHECK_THAT(help, !has(word));
  }
  CHECK(count(bankcheck("report --help").out,
              "\n  --max-conflicts N         Fail if a kernel has more conflicts than "
              "this on any architecture,\n                            summed over") == 1);
  CHECK(count(bankcheck("predict --help").out, "stmatrix.x4, cp.async, cp.async.cg, ds_read_tr\n") == 1);
  CHECK(count(bankcheck("predict --help").out, " less; 1 to 64)\n") == 1);
}

TEST_CASE("bankcheck/command_line/archs") {
  const std::string table = bankcheck("archs").out;
  INFO(table);
  CHECK(
      table.starts_with("  name              GPUs                                     warp  banks  bytes  evidence\n"));
  CHECK(count(table,
              "\n  sm_90             Hopper: H100, H200                         32     32      4  measured here\n") ==
        1);
  CHECK(count(table, "\n  sm_30_eight_byte  Kepler, 8-byte banks                       32     32      8  vendor\n") ==
        1);
  CHECK(std::size_t(std::count(table.begin(), table.end(), '\n')) == bankwise::banks::architectures().size() + 4);
  check_fits(table);
  check_fits(bankcheck("archs --rules").out);
  const std::string hopper = ended(0, bankcheck("archs h100")).out;
  CHECK(hopper.starts_with("sm_90, Hopper: H100, H200; warps of 32 lanes\n"));
  CHECK(count(hopper, "      measured here: hardware counters of an H200: tests/data/h200_cp_async.csv\n") == 3);
  CHECK(bankcheck("archs sm_90 mi300x").out == hopper + '\n' + bankcheck("archs gfx942").out);
  CHECK(count(bankcheck("archs --rules").out, hopper) == 1);
  CHECK(nlohmann::json::parse(bankcheck("archs --json h200").out)["architectures"].size() == 1);
  CHECK(count(hopper, "  global memory: sectors of 32 bytes, cache lines of 128\n      measured here: hardware") == 1);
  CHECK(count(bankcheck("archs sm_20").out, "  global memory: compute capability 2.x moves") == 1);
}

// A program needs no -- in front, and what follows it belongs to it.
TEST_CASE("bankcheck/command_line/program_without_dashes") {
  for (const char* command : {"opencl", "cuda"}) {
    for (const char* arguments :
         {" no/such --max-conflicts x", " --arch sm_90 no/such --help", " --arch=h100 no/such -- 1",
          " --kernel a* --fit -- no/such --help", " --max-launches 3 no/such a b"}) {
      const Outcome outcome = bankcheck(command + std::string(arguments));
      INFO(command << arguments << ": " << outcome.err);
      CHECK(outcome.code == 3);
      CHECK(outcome.out == "");
      const bool is_built = outcome.err.find("bankcheck was built without") == std::string::npos &&
                            outcome.err.find("not installed") == std::string::npos;
      if (is_built) CHECK(outcome.err == "bankcheck: cannot run 'no/such': No such file or directory\n");
    }
  }
}

TEST_CASE("bankcheck/command_line/invalid") {
  check_refused_at_once("nonsense", "there is no command 'nonsense'; bankcheck --help shows all");
  check_refused_at_once("predit --index tid",
                        "no command 'predit'; did you mean 'predict'? bankcheck --help shows all");
  check_refused_at_once("--jsn", "no option '--jsn'; bankcheck --help shows all");
  check_refused_at_once("--json archs", "--json comes after bankcheck archs; see bankcheck archs --help");
  check_refused_at_once("archs --jsn", "no option '--jsn'; did you mean '--json'? bankcheck archs --help shows all");
  check_refused_at_once("archs surplus", "no architecture 'surplus'");
  check_refused_at_once("report", "TRACE is required; see bankcheck report --help");
  check_refused_at_once("report a b --sarif c", "'b' is not expected; see bankcheck report --help");
  check_refused_at_once("fit a b c", "'b' 'c' are not expected; see bankcheck fit --help");
  check_refused_at_once("emulate --max-conflict=0 a.cu", "'--max-conflict'; did you mean '--max-conflicts'?");
  check_refused_at_once("opencl --max-conflict 0 -- x", "did you mean '--max-conflicts'? bankcheck opencl --help");
  for (const char* list : {"''", "shared,", "shared,texture"}) {
    check_refused_at_once("emulate --memory " + std::string(list) + " a.cu",
                          "is not a list of memory spaces: shared, global, or shared,global");
  }
  check_refused_at_once("opencl --arch sm_90", "no program to check: give it after the options");
  check_refused_at_once("cuda --", "no program to check: give it after the options");
  check_refused_at_once("predict", "either a CSV file of accesses or --index");
  check_refused_at_once("predict --index tid a.csv", "either a CSV file of accesses or --index");
  check_refused_at_once("predict a.csv b.csv", "b.csv");
  check_refused_at_once("predict --index", "--index needs a value; see bankcheck predict --help");
  check_refused_at_once("predict --index ''", "--index");
  check_refused_at_once("predict --index tid --mask ''", "--mask");
  check_refused_at_once("predict --index tid --svg ''", "--svg");
  check_refused_at_once("predict --arch sm_91 --index tid", "no architecture 'sm_91'; did you mean 'sm_90'?");
  check_refused_at_once("predict --arch gfx943 --index tid", "did you mean 'gfx942'?");
  check_refused_at_once("predict --arch '' --index tid", "no architecture ''");
  check_refused_at_once("predict --index tid --width 3", "--width");
  check_refused_at_once("predict --index tid --width four", "--width");
  check_refused_at_once("predict --index tid --lanes 65", "--lanes");
  check_refused_at_once("predict --index tid --lanes 0", "--lanes");
  check_refused_at_once("predict --index tid --lanes 2 --mask 3", "--mask");
  check_refused_at_once("predict --index tid --op lod", "did you mean 'load'? see bankcheck predict --help");
  for (const char* mask : {"zz", "0x", "-1", "+1", "' 1'", "1ffffffffffffffff", "1,2"}) {
    check_refused_at_once("predict --index tid --mask " + std::string(mask), "--mask");
  }
  for (const char* option : {"--op load", "--width 4", "--lanes 3", "--mask 3", "--svg x"}) {
    check_refused_at_once("predict a.csv " + std::string(option), "needs --index");
  }
  // Formulas.
  check_refused_at_once("predict --index tid --max-sectors 4", "--max-sectors needs --space global");
  check_refused_at_once("predict --index tid --space global --max-conflicts 4", "--max-conflicts needs --space shared");
  check_refused_at_once("predict --index tid --space global --svg -", "--svg needs --space shared");
  check_refused_at_once("predict --index tid --space local", "--space");
  check_refused_at_once("predict --index tid --base -4", "--base");
  check_refused_at_once("predict --index 1/0", "--index '1/0': it divides by zero");
  check_refused_at_once("predict --index ' '", "it is empty");
  check_refused_at_once("predict --index=-1", "element -1 of lane 0");
  check_refused_at_once("predict --index 'tid*2^'", "--index 'tid*2^': ");
  check_refused_at_once("predict --index tid --lanes 33", "lane 32 is active, but sm_90 has lanes 0 to 31");
  check_refused_at_once("predict --index tid --op atomic --width 2", "no cost for 2-byte atomic");
  check_refused_at_once("predict --index \"$(printf 'tid\\n*2')\"", "--index 'tid?*2'");
  check_refused_at_once("predict --index '" + std::string(10000, 'x') + "'", "longer than");
}

TEST_CASE("bankcheck/command_line/predict_input") {
  const Files files;
  const std::string csv = files.add("good.csv", good_rows);
  for (const std::string& arguments : {csv, "- < " + csv, "--arch sm_90 " + csv, "--arch SM_90A " + csv}) {
    const Outcome outcome = bankcheck("predict " + arguments);
    INFO(arguments << ": " << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out == good_costs);
    CHECK(outcome.err == "");
  }
  CHECK(bankcheck("predict -", "cat " + csv + " |").out == good_costs);
  CHECK_THAT(bankcheck("predict --arch sm_13 " + csv).out, has("passes_max"));
  CHECK(bankcheck("predict --space global " + csv).out.starts_with("id,sectors,"));
  CHECK(bankcheck("predict --space global --index '32*tid' --max-sectors 31").err ==
        "bankcheck: sm_90: 32 sectors exceed --max-sectors 31\n");
  CHECK(nlohmann::json::parse(bankcheck("predict --json " + csv).out)["results"].size() == 2);
}

TEST_CASE("bankcheck/command_line/unreadable_files") {
  const Files files;
  check_refused_at_once("predict /no/such/file", "cannot read /no/such/file: No such file");
  check_refused_at_once("predict ''", "cannot read");
  check_refused_at_once("predict " + files.path(""), "directory");
  check_refused_at_once("predict " + std::string(5000, 'x'), "cannot read");
  check_fails("predict " + files.add("empty.csv", ""), 2, "empty.csv:1: the file is empty");
  check_fails("predict - < /dev/null", 2, "stdin:1: the file is empty");
  // A path that is not a file is not an empty file.
  check_fails("predict - < /", 2, "cannot be read");
  check_fails("predict - <&-", 2, "cannot be read");
}

TEST_CASE("bankcheck/command_line/bad_row") {
  const Files files;
  const std::string bad = files.add("bad.csv", good_rows + csv_row("c,laod,4,1", 4) + csv_row("d,load,4,1", 4));
  CHECK(check_fails("predict " + bad, 2, bad + ":4: 'laod' is not an operation").out == good_costs);
  CHECK(check_fails("predict - < " + bad, 2, "stdin:4: ").out == good_costs);
  const auto json = nlohmann::json::parse(check_fails("predict --json " + bad, 2, ":4: ").out);
  CHECK(json["results"].size() == 2);
  CHECK(json["error"]["line"] == 4);
  check_fails("predict " + files.add("binary.csv", std::string(100000, '\0')), 2, "binary.csv:1: ");
}

TEST_CASE("bankcheck/command_line/unwritable_output") {
  const Files files;
  const std::string csv = files.add("good.csv", good_rows);
  for (const std::string& arguments : {"predict " + csv, "predict --json " + csv, std::string("archs"),
                                       std::string("archs --json"), std::string("--help"), std::string("--version")}) {
    check_fails(arguments + " > /dev/full", 3, "cannot write stdout");
    check_fails(arguments + " >&-", 3, "cannot write stdout");
  }
}

TEST_CASE("bankcheck/command_line/measured_rows") {
  const std::string measured = SOURCE_DIRECTORY "/tests/data/h200_wavefronts.csv";
  // The fields of each row that have these numbers.
  const auto fields_of = [](const std::string& text, const std::vector<std::size_t>& numbers) {
    std::vector<std::string> rows;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::vector<std::string> fields{""};
      for (const char c : line) c == ',' ? fields.emplace_back() : fields.back() += c;
      std::string& row = rows.emplace_back();
      for (const std::size_t number : numbers) row += fields.at(number) + ' ';
    }
    return rows;
  };
  const Outcome outcome = ended(0, bankcheck("predict --arch sm_90 '" + measured + "'"));
  const auto wanted = fields_of(text_of(measured), {0, 36, 37});
  CHECK(wanted.size() == 2480);
  CHECK((fields_of(outcome.out, {0, 1, 3}) == wanted));  // in parentheses, so that Catch2 does not print them
  CHECK((fields_of(outcome.out, {0, 2, 3}) != wanted));  // the negative control: ideal differs from the measured values
}

TEST_CASE("bankcheck/command_line/predict_index") {
  const Outcome text = ended(0, bankcheck("predict --index 'tid*2'"));
  CHECK(text.err == "");
  CHECK_THAT(text.out, has("passes 2, ideal 1, conflicts 1\n"));
  CHECK_THAT(text.out, !has("\033"));  // stdout is not a terminal
  const auto json = nlohmann::json::parse(bankcheck("predict --json --index tid --arch gfx942 --width 16").out);
  CHECK(json["mask"] == "0xffffffffffffffff");
  CHECK(json["passes"] == 8);
  const auto lanes = [](const std::string& option) {
    return nlohmann::json::parse(bankcheck("predict --json --index tid " + option).out)["lane_groups"][0]["lanes"];
  };
  CHECK(lanes("") == "0-31");
  CHECK(lanes("--lanes 5") == "0-4");
  CHECK(lanes("--mask 0x50") == "4, 6");
  CHECK(lanes("--mask f0") == "4-7");
  CHECK(lanes("--arch gfx1100") == "0-31");
  CHECK(bankcheck("predict --arch gfx1100 --lanes 64 --index tid").code == 0);
}

TEST_CASE("bankcheck/command_line/predict_code") {
  const std::string tile = "predict --index 'tile[threadIdx.x][3]' --block 32x8 --array 'float tile[32][";
  CHECK(count(ended(0, bankcheck(tile + "33]'")).out, "\npasses 1, ideal 1, conflicts 0\n") == 1);
  CHECK(count(ended(0, bankcheck(tile + "32]'")).out, "\npasses 32, ideal 1, conflicts 31\n") == 1);
  CHECK(count(ended(0, bankcheck(tile + "N + 1]' --let N=32")).out, "passes 1, ") == 1);
  CHECK(nlohmann::json::parse(bankcheck("predict --index ty --json --block 8x2").out)["mask"] == "0xffff");
  CHECK(nlohmann::json::parse(bankcheck("predict --json --index 'd[tid]' --array 'double d[64]'").out)["width"] == 8);

  const Outcome exceeded = bankcheck(tile + "32]' --max-conflicts 30");
  CHECK(exceeded.code == 1);
  CHECK(exceeded.err == "bankcheck: sm_90: 31 conflicts exceed --max-conflicts 30\n");
  CHECK(ended(0, bankcheck(tile + "32]' --max-conflicts 31")).err == "");

  CHECK(ended(0, bankcheck("predict --index 2*tid --arch h100,gfx942")).out ==
        bankcheck("predict --index 2*tid").out + '\n' + bankcheck("predict --arch gfx942 --index 2*tid").out);
  const auto json = nlohmann::json::parse(bankcheck("predict --json --index 2*tid --arch sm_90,gfx942").out);
  REQUIRE(json.size() == 2);
  CHECK(json[1]["architecture"] == "gfx942");

  check_refused_at_once("predict --index tid --arch sm_90,sm_80 --svg x", "--svg needs one architecture");
  check_refused_at_once("predict --arch sm_90,sm_80 x.csv", "a CSV file needs one architecture");
  check_refused_at_once("predict x.csv --block 32x8", "--block needs --index");
  for (const char* block : {"0", "32x", "x8", "1x2x3x4", "2000", "-1", "8,8", "''"}) {
    check_refused_at_once("predict --index tid --block " + std::string(block), "--block");
  }
  for (const char* value : {"n", "=3", "n=", "n=x", "n=99999999999999999999", "n=--1"}) {
    check_refused_at_once("predict --index tid --let " + std::string(value), "is not NAME=NUMBER");
  }
}

TEST_CASE("bankcheck/command_line/svg") {
  const Files files;
  const std::string path = files.path("picture.svg");
  const Outcome both = ended(0, bankcheck("predict --index 'tid<3 ? 0 : tid' --svg " + path));
  CHECK(both.out == bankcheck("predict --index 'tid<3 ? 0 : tid'").out);
  const std::string svg = text_of(path);
  CHECK(what_is_malformed(svg) == "");
  CHECK(files.count() == 1);
  CHECK(bankcheck("predict --index 'tid<3 ? 0 : tid' --svg -").out == svg);
  CHECK(bankcheck("predict --json --index 'tid<3 ? 0 : tid' --svg -").out == svg);

  check_refused_at_once("predict --index tid --svg /no/such/folder/x.svg", "cannot write --svg /no/such/folder/x.svg");
  check_refused_at_once("predict --index tid --svg " + files.path(""), "directory");
  CHECK(check_fails("predict --index tid --svg /dev/full", 3, "cannot write --svg /dev/full").out == "");
  // A rejected expression leaves the old picture unchanged.
  check_refused_at_once("predict --index 1/0 --svg " + path, "divides by zero");
  CHECK(text_of(path) == svg);
  for (const char* option : {"", " --json", " --svg -"}) {
    check_fails("predict --index tid" + std::string(option) + " > /dev/full", 3, "cannot write");
    check_fails("predict --index tid" + std::string(option) + " >&-", 3, "cannot write");
  }
}
