// The trace of a stranger: what its report may show, and what it may cost.
#include <algorithm>
#include <fstream>

#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/catch_any.hpp"

namespace {

const std::string header = R"({"bankwise_trace":1,"maker":"bankcheck cuda","revision":"","command":["a"]})"
                           "\n";

std::string kernel_record(const std::string& name) {
  return R"({"record":"kernel","kernel":0,"name":")" + name +
         R"(","options":"","warp":32,"splits":false,"knows_code":true})"
         "\n";
}
std::string site(unsigned number, const std::string& file, unsigned line) {
  return R"({"record":"site","kernel":0,"site":)" + std::to_string(number) + R"(,"file":")" + file + R"(","line":)" +
         std::to_string(line) +
         R"(,"column":0,"function":"f"})"
         "\n";
}
std::string array(const std::string& name, unsigned number = 0) {
  return R"({"record":"array","kernel":0,"array":)" + std::to_string(number) + R"(,"name":")" + name +
         R"(","offset":)" + std::to_string(1024 * number) +
         R"(,"bytes":0})"
         "\n";
}
std::string pattern(unsigned number, unsigned level = 0, unsigned in_array = 0) {
  const std::string n = std::to_string(number);
  return R"({"record":"pattern","kernel":0,"pattern":)" + n + R"(,"site":)" + n + R"(,"array":)" +
         std::to_string(in_array) + R"(,"operation":"load","width":4,"level":)" + std::to_string(level) +
         R"(,"mask":"ff","address":)" + std::to_string(1024 * in_array) +
         R"(,"step":128})"
         "\n";
}
std::string launch(unsigned patterns, unsigned levels = 1, const std::string& more = "") {
  std::string rows;
  for (unsigned i = 0; i < patterns; ++i) rows += (i > 0 ? ",[" : "[") + std::to_string(i) + ",1,0,0,0,0]";
  return R"({"record":"launch","kernel":0,"patterns":[)" + rows +
         R"(],"shapes":[[[32,1,1],[32,1,1],1]],"blocks":1,"levels":)" + std::to_string(levels) +
         R"(,"participants":[])" + more + "}\n";
}

struct Stranger {
  ScratchDirectory scratch;
  std::string path = (scratch.path() / "t.jsonl").string();
  explicit Stranger(const std::string& text) {
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    std::ofstream(path, std::ios::binary) << header << text << R"({"record":"end","lines":)" << lines << "}\n";
  }

  /// All forms of a report, with little memory and time.
  std::string reports(const std::string& options = "") const {
    std::string all;
    for (const char* form : {"", "--json -", "--html -"}) {
      const Outcome outcome =
          bankcheck("report " + options + " " + form + " " + path, "ulimit -v 600000; ulimit -t 60;");
      INFO(form << outcome.err.substr(0, 500));
      CHECK(outcome.code == 0);
      CHECK(outcome.out.size() < 64'000'000);
      all += outcome.out + outcome.err;
    }
    return all;
  }
};

}  // namespace

TEST_CASE("driver/hostile_traces/no_line_of_other_files") {
  for (const char* file : {"/etc/passwd", "../../../../../../../../etc/passwd", "/proc/self/status", "secret.cu"}) {
    INFO(file);
    const Stranger stranger(kernel_record("k") + site(0, file, 1) + array("a") + pattern(0) + launch(1));
    std::ofstream(stranger.scratch.path() / "secret.cu") << "root:x\nName:\n";
    std::filesystem::create_directory(stranger.scratch.path() / "sources");
    const std::string text = stranger.reports("--fit --sources " + (stranger.scratch.path() / "sources").string());
    for (const char* secret : {"root:", "Name:"}) CHECK_THAT(text, !has(secret));
  }
}

TEST_CASE("driver/hostile_traces/hidden_characters") {
  const Stranger stranger(R"({"record":"error","text":"e\u0000\r"})"
                          "\n" +
                          kernel_record(R"(k\u001b[31m)") + site(0, R"(\u202e.cu)", 1) + array(R"(a\u0007)") +
                          pattern(0) + launch(1, 1, R"(,"diagnoses":[["race",0,null,false,1,0,0,0,"d\u009b"]])"));
  const Outcome outcome = bankcheck("report --max-conflicts 0 " + stranger.path);
  CHECK(outcome.code == 1);
  for (const std::string& text : {outcome.out, outcome.err}) {
    CHECK(std::ranges::none_of(text, [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7F; }));
    CHECK_THAT(text, !has("\xC2\x9B") && !has("\xE2\x80\xAE"));
    CHECK_THAT(text, has("k[U+001B][31m"));
  }
  for (const char* shown : {"[U+202E].cu", "a[U+0007]", "d[U+009B]", "e[U+0000][U+000D]"}) {
    CHECK_THAT(outcome.out, has(shown));
  }
  std::ofstream(stranger.scratch.path() / "\xE2\x80\xAE.cu") << "a[8 * t]\n";  // SARIF has only lines of files
  for (const std::string form : {"--json -", "--sarif -"}) {
    const std::string text =
        bankcheck("report --sources " + stranger.scratch.path().string() + " " + form + " " + stranger.path).out;
    INFO(text);
    CHECK(std::ranges::all_of(text, [](unsigned char c) { return (c >= ' ' && c < 0x7F) || c == '\n'; }));
    CHECK_THAT(text, has("k\\u001b[31m") && has("\\u009b"));
  }
}

TEST_CASE("driver/hostile_traces/memory_and_time") {
  const std::string levels =
      kernel_record("k") + site(0, "k.cu", 1) + array("a") + pattern(0, 1048574) + launch(1, 1048575);
  CHECK_THAT(Stranger(levels).reports(), has("more levels"));
  std::string wide = kernel_record("k") + array(std::string(1 << 20, 'x')), many = kernel_record("k") + array("a");
  for (unsigned i = 0; i < 3000; ++i) wide += site(i, "k.cu", i + 1) + pattern(i);
  for (unsigned i = 0; i < 20'000; ++i) many += site(i, "k.cu", i + 1) + pattern(i);
  CHECK_THAT(Stranger(wide + launch(3000)).reports(), has("1048576 bytes"));
  CHECK_THAT(Stranger(many + launch(20'000)).reports(), has("19000 more lines"));
  std::string arrays = kernel_record("k");
  for (unsigned i = 0; i < 4000; ++i) arrays += site(i, "k.cu", i + 1) + array("a", i) + pattern(i, 0, i);
  CHECK_THAT(Stranger(arrays + launch(4000)).reports("--fit"), has("a (4,000 arrays, changed alike) has"));
}

TEST_CASE("driver/hostile_traces/devices_end") {
  const Stranger stranger(kernel_record("k") + site(0, "k.cu", 1) + array("a") + pattern(0) + launch(1));
  check_fails("report --baseline /dev/zero " + stranger.path, 2, "it is neither a file nor a pipe");
  check_fails("report --update-baseline /dev/full " + stranger.path, 3, "cannot write --update-baseline /dev/full");
  check_fails("report --cubin /dev/zero " + stranger.path, 2, "it cannot be read");
  check_fails("report /dev/zero", 2, "the line has more than 33554432 bytes");
}

TEST_CASE("driver/hostile_traces/date_of_page") {
  const Stranger stranger(kernel_record("k") + site(0, "k.cu", 1) + array("a") + pattern(0) + launch(1));
  const auto page = [&](const std::string& date) {
    return bankcheck("report --html - " + stranger.path, "SOURCE_DATE_EPOCH=" + date).out;
  };
  CHECK_THAT(page("1769880000"), has("2026-01-31 17:20 UTC") && has("<code>a</code>"));
  CHECK(page("1769880000") == page("1769880000"));
  CHECK_THAT(page("1e99"), !has("1970-"));  // not a number of seconds
}
