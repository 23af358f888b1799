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

}  // namespace

TEST_CASE("driver/html_report/numbers_and_order") {
  const RunReport report = report_of({kernel_of("calm", 4, 5), kernel_of("few", 8, 5), kernel_of("many", 128, 7)});
  const std::string html = to_html(report, {});
  INFO(html);
  CHECK_THAT(html, has("<td>224<td>7<td>217<td class=bar style=\"--share:96.9%\">96.9&nbsp;%"));  // 7 * 32
  CHECK_THAT(html, has("4-byte load of tile</b>: 32-way conflict, 224 passes where 7 would do on sm_90"));
  CHECK_THAT(html, has("4-byte load of tile</b>: 5 passes, no conflict</p>"));
  CHECK(html.find(">many<") < html.find(">few<"));
  CHECK(html.find(">few<") < html.find(">calm<"));
  CHECK_THAT(html,
             has("<section class=\"box fine\"><h2><b>Complete:</b> all 3 blocks of 3 launches were watched, and every "
                 "access has a cost</h2>"));
}

TEST_CASE("driver/html_report/answer_first") {
  trace::KernelTrace worst = kernel_of("worst", 128, 70'000);
  const RunReport report =
      report_of({kernel_of("calm", 4, 5), kernel_of("few", 8, 5), std::move(worst)}, {"sm_90", "sm_80"});
  const std::string html = to_html(report, {.date = "2026-01-31 17:20 UTC"});
  INFO(html);
  const std::string answer =
      "<p><b>32-way conflict at <a href=\"#k2a0\">k.cu:3</a></b>: 2,240,000 passes where 70,000 would do; 96.9 % of <a "
      "href=\"#k2\">worst</a>'s passes are conflicts <span class=on>on sm_90, sm_80</span>";
  REQUIRE_THAT(html, has(answer));
  CHECK(html.find(answer) < html.find("2-way conflict at <a href=\"#k1a0\">"));
  CHECK(html.find("2-way conflict at") < html.find("1 more kernel has no conflicts</b>"));
  CHECK(html.find("1 more kernel has no conflicts") < html.find("<section id=kernels>"));
  CHECK(html.find("<section class=\"kernel\" id=k2") < html.find("<section class=legend id=reading>"));
  CHECK(count(html, "<code>--fit</code> looks for") == 1);
  CHECK_THAT(html, has("<p>of <code>./program</code>"));
  CHECK_THAT(html, has("Costs on sm_90 (Hopper: H100, H200), sm_80 ("));
  CHECK_THAT(html, has(" · 2026-01-31 17:20 UTC"));
}

TEST_CASE("driver/html_report/words_of_command_line") {
  RunReport report = report_of({kernel_of("k", 4, 1)});
  report.command = {"./a.out", "--n=3", "two words", "it's", ""};
  CHECK_THAT(to_html(report, {}),
             has("<code>./a.out --n=3 &#39;two words&#39; &#39;it&#39;\\&#39;&#39;s&#39; &#39;&#39;</code>"));
}

TEST_CASE("driver/html_report/never_green_with_faults") {
  trace::KernelTrace kernel = kernel_of("k", 4, 7);
  kernel.diagnoses.push_back({.fault = trace::Fault::lanes_collide, .site = 0, .text = "lane 1 ...", .count = 1});
  CHECK_THAT(to_html(report_of({kernel}), {}), has("box fine"));  // a note
  kernel.diagnoses.push_back({.fault = trace::Fault::race, .site = 0, .text = "thread 3 writes", .count = 2});
  const std::string html = to_html(report_of({kernel}), {});
  INFO(html);
  CHECK_THAT(
      html,
      has("<section class=\"box wrong\"><h2>1 fault in the program</h2><ul><li><a href=\"#k0\">k</a>: race at k.cu:3"));
  CHECK_THAT(html, !has("box fine"));
  CHECK_THAT(html, has("<li class=wrong>k.cu:3: race: thread 3 writes; 2 times"));
  CHECK_THAT(to_html(report_of(std::vector<trace::KernelTrace>()), {}), !has("box fine"));  // no kernel ran
}

TEST_CASE("driver/html_report/gaps_in_one_line") {
  std::vector<trace::KernelTrace> kernels{kernel_of("a", 4, 1), kernel_of("b", 4, 1)};
  for (auto& kernel : kernels) kernel.copied_bytes = 1024, kernel.shapes[0].threads[0] = 32 * 2000;
  RunReport report = report_of(kernels);
  report.incomplete = {"1 of the 2000 blocks of a were watched", "1 of the 2000 blocks of b were watched"};
  report.gaps = {"3,998 of 4,000 blocks of 2 kernels were not watched"};
  const std::string html = to_html(report, {});
  INFO(html);
  CHECK_THAT(
      html, has("<b>Not watched:</b> 3,998 of 4,000 blocks of 2 kernels were not watched; 2,048 bytes of shared memory "
                "moved by bulk copies, TMA and wgmma are not counted. Numbers are lower bounds (≥)</h2><details>"));
  CHECK(count(html, "<li>1 of the 2000 blocks") == 2);
  CHECK(count(html, "<li>a: not counted: 1,024 bytes") == 1);
  CHECK_THAT(html, has("<b>No bank conflicts</b> in what was watched"));
}

TEST_CASE("driver/html_report/fix_as_diff") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "k.cu";
  std::ofstream(path) << "__shared__ float tile[64][32];\nk() {\n  x = tile[threadIdx.x][0] < 1;\n}\n";
  trace::Builder builder = builder_of();
  builder.add(access_of(builder, site_at(3, path.string()), 128, 1000));
  const trace::Trace trace{.maker = trace::Maker::cuda, .kernels = {builder.take()}};
  SourceFinder finder(scratch.path());
  const RunReport report = report_of(trace, {"sm_90"}, finder);
  const auto fits = fit_reports(trace, report.kernels, {banks::find_architecture("sm_90")}, {}, finder, false);
  const std::string html = to_html(report, {.fits = fits});
  INFO(html);
  CHECK_THAT(html, has("<p><b><a href=\"#k0fix\">Fix</a></b>: tile[y][x] -&gt; tile["));
  CHECK_THAT(html, has("<h3 id=k0fix>Fix</h3>"));
  CHECK_THAT(html, has("<p>4,000 passes instead of 32,000 <span class=on>on sm_90</span></p>"));
  CHECK_THAT(html, has("<del>-   x = tile[threadIdx.x][0] &lt; 1;</del>"));
  CHECK(count(html, "<ins>+ ") == 2);  // a comment beside the declaration, too
  CHECK_THAT(html, !has("<code>--fit</code> looks for"));
}

TEST_CASE("driver/html_report/equal_levels_are_one_row") {
  trace::Builder builder = builder_of();
  for (unsigned level = 0; level < 40; ++level) {
    trace::Pattern pattern = access_of(builder, site_at(3), level % 2 == 0 ? 4 : 128, 1);
    pattern.level = level;
    builder.add(pattern);
  }
  trace::KernelTrace kernel = builder.take();
  kernel.levels = 40;
  const std::string html = to_html(report_of({kernel}), {});
  CHECK_THAT(html, has("<tr><th scope=row>0, 2, … 38: each of 20 levels<td>100<td>1<td>1"));
  CHECK_THAT(html, has("<tr><th scope=row>1, 3, … 39: each of 20 levels<td>100<td>32<td>1"));
}

TEST_CASE("driver/html_report/long_lines_are_marked") {
  RunReport report = report_of({kernel_of("k", 128, 1)});
  report.kernels[0].places.begin()->second.text = std::string(200, 'a') + " = tile[i];";
  const std::string html = to_html(report, {});
  CHECK_THAT(html, has("<code>… aaa"));
  CHECK_THAT(html, has(" = tile[i];</code>"));
  report.kernels[0].places.begin()->second.text = "tile[i] = " + std::string(199, 'a') + "ä";
  CHECK_THAT(to_html(report, {}), has("aaa …</code>"));
}

TEST_CASE("driver/html_report/pictures") {
  const std::string html = to_html(report_of({kernel_of("k", 8, 1)}, {"sm_90", "sm_80"}), {});
  CHECK_THAT(html, has("<figcaption><b>sm_90 (Hopper: H100, H200), sm_80 ("));  // the same on both
  CHECK(count(html, "<table class=banks") == 1);
  CHECK(count(html, ">lanes 0-31: 2 passes<") == 1);
  // Lane 16 is in the second pass of bank 0; every second bank is idle.
  CHECK(count(html, "<tr><th scope=row>pass 2<td class=x>16<td class=i><td class=x>17<td class=i>") == 1);
  const std::string folded = to_html(report_of({kernel_of("k", 128, 1)}), {});
  CHECK(count(folded, "<tr><th scope=row>pass ") == 6);
  CHECK_THAT(folded, has("26 more passes, with 1 of 32 banks busy in each<tr><th scope=row>pass 32<"));
}

TEST_CASE("driver/html_report/incomplete_on_top") {
  RunReport report = report_of({kernel_of("k", 128, 7)});
  report.incomplete = {"3 of the 4 blocks of <k> were watched"};
  report.cut_short = true;
  const std::string html = to_html(report, {.only = {"scan_*"}, .exceeded = {"k has 217 conflicts on sm_90"}});
  CHECK_THAT(
      html,
      has("<section class=\"box warn\"><h2><b>Not watched:</b> 3 of the 4 blocks of &lt;k&gt; were watched; only"));
  CHECK(html.find("3 of the 4") < html.find("passes"));
  CHECK_THAT(html, has("watched; only kernels named scan_* are shown. Numbers are lower bounds (≥)</h2></section>"));
  CHECK_THAT(html, has("<h2>1 limit is exceeded</h2><ul><li>k has 217 conflicts on sm_90"));
  CHECK_THAT(html, has("<td>\u2265224<td>\u22657"));
  CHECK_THAT(html, !has("box fine"));
}

TEST_CASE("driver/html_report/unknown_cost") {
  trace::KernelTrace kernel = kernel_of("k", 128, 7);
  kernel.patterns[0].operation = banks::Operation::atomic_cas;
  kernel.patterns[0].width = 2;
  for (auto& address : kernel.patterns[0].addresses) address *= 2;
  const std::string html = to_html(report_of({kernel}), {});
  CHECK_THAT(html, has("<li>7 accesses of k have no known cost on sm_90</li>"));
  CHECK_THAT(html, has("<td>?<td>?<td class=h0>?"));
  CHECK_THAT(html, has("<p>the cost is not known <span class=on>on sm_90</span></p>"));
  CHECK_THAT(html, !has("no conflict"));
  CHECK_THAT(html, !has("box fine"));
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
  const std::string html =
      to_html(report, {.sources = {{{evil, {{3, evil}}}}}, .only = {evil}, .exceeded = {evil}, .date = evil});
  CHECK(count(html, "<script") == 0);
  CHECK(count(html, "alert(1)") >= 10);
  CHECK(count(html, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;") ==
        count(html, "alert(1)") - 2);  // the command, with its quote escaped for a shell
  CHECK_THAT(html, has("default-src 'none'"));
}

TEST_CASE("driver/html_report/source_excerpts") {
  const ScratchDirectory scratch;
  std::string text;
  for (int line = 1; line <= 100; ++line) {  // the function of line 90 ends with line 91
    text += (line == 91   ? "}"
             : line == 89 ? ""
             : line == 88 ? "#include <x>"
                          : "line " + std::to_string(line)) +
            "\r\n";
  }
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
  REQUIRE(lines.size() == 7 + 2);
  CHECK(lines.front() == std::pair(17U, std::string("line 17")));
  CHECK(lines.back() == std::pair(91U, std::string("}")));
  const std::string html = to_html(report, {.sources = {excerpts}});
  CHECK_THAT(html, has("<tr class=gap><th scope=row>…<td colspan=2>66 more lines"));
  CHECK_THAT(html, has("<td class=h5>31<td><code>line 20</code>"));
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
  CHECK(count(html, "<table class=banks") >= 150);
  CHECK(html.size() < 2'000'000);
  CHECK(html.size() > 300'000);
}

TEST_CASE("driver/html_report/global_memory") {
  const RunReport report = report_of({kernel_with_columns("k", 5, 0), kernel_of("calm", 4, 5)});
  const std::string html = to_html(report, {});
  INFO(html);
  CHECK_THAT(html,
             has("<b><a href=\"#k0g0\">Global memory</a></b>: 12.5 % of the bytes moved are used: k.cu:7 load 4"));
  CHECK_THAT(html,
             has("<details id=k0g0 open><summary><b>4-byte load of global memory</b>: 160 sectors where 20 would do"));
  CHECK(count(html, "class=moved") == 8);  // of 32 cache lines
  CHECK_THAT(html, has("and 24 more cache lines"));
  CHECK_THAT(html, has("<text x=0 y=41>+4,096</text>"));
  CHECK(count(html, "id=k0g1>") == count(html, "<p class=calm id=k0g1>"));
  CHECK_THAT(html, has("<th scope=col>extra sectors"));
  CHECK_THAT(to_html(report_of({kernel_of("calm", 4, 5)}), {}), !has("lobal memory"));
}
