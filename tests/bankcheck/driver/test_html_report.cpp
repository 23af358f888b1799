// The text of the HTML report; tests/browser has the tests in a browser.
#include "bankcheck/predict/predict.hpp"
#include "tests/bankcheck/driver/made_report.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::driver;

namespace {

trace::Site site_at(unsigned line, const std::string& file = "/no/such/k.cu") { return {.file = file, .line = line}; }

trace::KernelTrace kernel_of(const std::string& name, std::uint32_t step, std::uint64_t times) {
  trace::Builder builder = builder_of(name);
  builder.add(access_of(builder, site_at(3), step, times));
  return builder.take();
}

bool has(const std::string& html, const std::string& part) { return html.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("driver/html_report/numbers_and_order") {
  const RunReport report = report_of({kernel_of("calm", 4, 5), kernel_of("few", 8, 5), kernel_of("many", 128, 7)});
  const std::string html = to_html(report, {});
  INFO(html);
  CHECK(has(html, "<td>224<td>7<td>217<td class=bar style=\"--share:96.9%\">96.9&nbsp;%"));  // 7 * 32
  CHECK(has(html, "4-byte load of tile</b>: 224 passes, ideal 7 on sm_90"));
  CHECK(has(html, "4-byte load of tile</b>: no conflict, 5 passes on sm_90"));
  CHECK(html.find(">many<") < html.find(">few<"));
  CHECK(html.find(">few<") < html.find(">calm<"));
  CHECK(has(html, "<section class=\"box fine\"><h2>What was not watched</h2><p>Nothing"));
}

TEST_CASE("driver/html_report/pictures") {
  const std::string html = to_html(report_of({kernel_of("k", 8, 1)}, {"sm_90", "sm_80"}), {});
  CHECK(count(html, "<table class=banks") == 2);
  CHECK(count(html, ">lanes 0-31: 2 passes<") == 2);
  // Lane 16 is in the second pass of bank 0; every second bank is idle.
  CHECK(count(html, "<tr><th scope=row>pass 2<td class=x>16<td class=i><td class=x>17<td class=i>") == 2);
}

TEST_CASE("driver/html_report/incomplete_on_top") {
  RunReport report = report_of({kernel_of("k", 128, 7)});
  report.incomplete = {"3 of the 4 blocks of <k> were watched"};
  const std::string html = to_html(report, {{}, {"pad <tile>"}, {"scan_*"}, {"k has 217 conflicts on sm_90"}});
  CHECK(has(html, "<pre>pad &lt;tile&gt;</pre>"));
  CHECK(has(html, "<section class=\"box warn\"><h2>What was not watched</h2><ul><li>3 of the 4 blocks of &lt;k&gt;"));
  CHECK(html.find("3 of the 4") < html.find("passes"));
  CHECK(has(html, "<li>only kernels named scan_* are shown</li>"));
  CHECK(has(html, "<h2>Limits that are exceeded</h2><ul><li>k has 217 conflicts on sm_90</li>"));
  CHECK(has(html, "<td>\u2265224<td>\u22657"));
  CHECK_FALSE(has(html, "box fine"));
}

TEST_CASE("driver/html_report/unknown_cost") {
  trace::KernelTrace kernel = kernel_of("k", 128, 7);
  kernel.patterns[0].operation = banks::Operation::atomic_cas;
  kernel.patterns[0].width = 8;
  kernel.patterns[0].is_loop = true;
  for (auto& address : kernel.patterns[0].addresses) address *= 2;
  const std::string html = to_html(report_of({kernel}), {});
  INFO(html);
  CHECK(has(html, "<li>7 accesses of k have no known cost on sm_90</li>"));
  CHECK(has(html, "<td>?<td>?<td>?"));
  CHECK_FALSE(has(html, "no conflict,"));
  CHECK_FALSE(has(html, "box fine"));
}

TEST_CASE("driver/html_report/escaped") {
  const std::string evil = "<script>alert(1)</script>\"'&";
  trace::Builder builder = builder_of(evil, evil);
  trace::Pattern pattern = access_of(builder, site_at(3, evil), 128, 1);
  pattern.array = builder.array({evil, 0, 8192});
  builder.add(pattern);
  RunReport report = report_of({builder.take()});
  report.command = {evil};
  report.incomplete = {evil};
  const std::string html = to_html(report, {{{{evil, {{3, evil}}}}}, {evil}, {evil}, {evil}});
  CHECK(count(html, "<script") == 0);
  CHECK(count(html, "alert(1)") >= 10);
  CHECK(count(html, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;") == count(html, "alert(1)"));
  CHECK(has(html, "default-src 'none'"));
}

TEST_CASE("driver/html_report/source_excerpts") {
  const ScratchDirectory scratch;
  std::string text;
  for (int line = 1; line <= 100; ++line) text += "line " + std::to_string(line) + "\r\n";
  const auto path = scratch.path() / "k.cu";
  std::ofstream(path) << text;
  trace::Builder builder = builder_of();
  for (const unsigned line : {20U, 90U}) builder.add(access_of(builder, site_at(line, path.string()), 128, 1));
  const trace::Trace trace{.maker = trace::Maker::cuda, .kernels = {builder.take()}};
  SourceFinder finder(scratch.path());
  const RunReport report = report_of(trace, {"sm_90"}, finder);
  const auto excerpts = source_excerpts(report.kernels[0], trace, finder);
  REQUIRE(excerpts.size() == 1);
  const auto& lines = excerpts[0].lines;
  REQUIRE(lines.size() == 25 + 23);
  CHECK(lines.front() == std::pair(8U, std::string("line 8")));
  CHECK(lines.back() == std::pair(100U, std::string("line 100")));
  const std::string html = to_html(report, {.sources = {excerpts}});
  CHECK(has(html, "<tr class=gap><td colspan=3>45 more lines"));
  CHECK(has(html, "<td class=h5>31<td><code>line 20</code>"));
}

TEST_CASE("driver/html_report/no_source_files") {
  const ScratchDirectory scratch;
  for (const char* name : {"id_rsa", "k.cl"}) std::ofstream(scratch.path() / name) << "one\ntwo\n";
  const SourceFinder finder(scratch.path());
  CHECK(finder.lines_of_file((scratch.path() / "id_rsa").string(), false).empty());
  CHECK(finder.lines_of_file("k.cl", false) == std::vector<std::string>{"one", "two"});
  CHECK(finder.lines_of_file("no.cl", false).empty());
}

TEST_CASE("driver/html_report/size_limit") {
  trace::Builder builder = builder_of();
  std::vector<std::pair<unsigned, std::string>> lines;
  for (unsigned line = 1; line <= 1000; ++line) lines.emplace_back(line, std::string(80, 'x'));
  for (unsigned i = 0; i < 200; ++i) {
    trace::Pattern pattern = access_of(builder, site_at(5 * i + 1), 4 << i % 6, 1);  // up to 32 lanes in a bank
    pattern.width = i % 3 == 0 && i % 6 >= 2 ? 16 : 4;
    builder.add(pattern);
  }
  const RunReport report = report_of({builder.take()}, {"sm_90", "sm_80"});
  const std::string html = to_html(report, {.sources = {{{"/no/such/k.cu", lines}}}});
  CHECK(count(html, "<table class=banks") >= 300);
  CHECK(html.size() < 2'000'000);
  CHECK(html.size() > 300'000);
}
