#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <bankwise/report/kernel_text.hpp>
#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/fault.hpp>
#include <bankwise/trace/report.hpp>
#include <bankwise/trace/trace.hpp>
#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace small;
using trace::Trace;
using trace::TraceFile;
using trace::TraceWriter;
using namespace bankwise::trace;

namespace {

/// The file with these lines, without its last line.
std::string open_file(const std::string& lines) { return header_line(Trace{}) + lines; }

trace::KernelTrace launch(std::uint32_t step, std::uint64_t count = 1) {
  auto all = builder();
  auto one = loads(step, 0xFFFFFFFF, count);
  all.add(one);
  all.add(trace::Participants{0, 0xFFFFFFFF, count});
  return all.take();
}

}  // namespace

TEST_CASE("trace/json_lines/read_back") {
  const Trace written = full_trace();
  const std::string text = to_json_lines(written);
  const TraceFile file = read(text);
  CHECK(file.closed);
  CHECK(file.cut_line == 0);
  CHECK(to_json_lines(file.trace) == text);
  const Trace& trace = file.trace;
  CHECK(trace.maker == trace::Maker::opencl);
  CHECK(trace.revision == "1.2.3");
  CHECK(trace.command == written.command);
  CHECK(trace.sources == written.sources);
  CHECK(trace.errors == written.errors);
  REQUIRE(trace.kernels.size() == 1);
  const trace::KernelTrace &a = written.kernels[0], &b = trace.kernels[0];
  CHECK(b.kernel == a.kernel);
  CHECK(b.options == a.options);
  CHECK(b.source == 0);
  CHECK(b.warp == 64);
  CHECK(b.splits);
  CHECK_FALSE(b.knows_code);
  CHECK(b.blocks == 7);
  CHECK(b.levels == 9);
  CHECK(b.copied_bytes == 11);
  CHECK(b.left_out == a.left_out);
  CHECK(trace::total(b.left_out) == 13);
  CHECK_FALSE(b.watches_shared);
  CHECK(b.watches_global);
  REQUIRE(b.global_patterns.size() == 1);
  CHECK(b.global_patterns[0].addresses == std::vector<std::uint32_t>{2, 0, 96});
  CHECK(b.global_patterns[0].count == 22);
  CHECK(b.global_excess_accesses == 16);
  REQUIRE(b.global_excess.size() == 1);
  CHECK(b.global_excess[0].tally == a.global_excess[0].tally);
  CHECK(b.global_left_out == 14);
  REQUIRE(b.remote_patterns.size() == 1);
  CHECK(b.remote_patterns[0].addresses == std::vector<std::uint32_t>{132});
  CHECK(b.remote_patterns[0].count == 25);
  CHECK(b.remote_excess_accesses == 12);
  REQUIRE(b.remote_excess.size() == 1);
  CHECK(b.remote_excess[0].tally == a.remote_excess[0].tally);
  CHECK(b.sites.at(b.remote_excess[0].site).file == "?");
  REQUIRE(b.engines.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(b.sites.at(b.engines[i].site) == a.sites.at(a.engines[i].site));
    CHECK(b.engines[i].work == a.engines[i].work);
    CHECK(b.engines[i].count == 26 + i);
  }
  REQUIRE(b.local_accesses.size() == 1);
  CHECK(b.local_accesses[0].lanes == 70);
  CHECK(b.sectors_read == 38);
  CHECK(b.sectors_written == 39);
  CHECK(b.time == a.time);
  CHECK(b.excess_accesses == 15);
  CHECK(launches_of(b) == 3);
  CHECK(launched_blocks(b) == launched_blocks(a));
  REQUIRE(b.diagnoses.size() == 2);
  const auto parts_of = [](const trace::KernelTrace& kernel, const trace::DiagnosisRecord& record) {
    const auto other = record.other ? std::optional(kernel.sites[*record.other]) : std::nullopt;
    return std::tuple(record.fault, kernel.sites[record.site], other, record.ended, record.text, record.count,
                      record.first);
  };
  for (std::size_t i = 0; i < 2; ++i) CHECK((parts_of(a, a.diagnoses[i]) == parts_of(b, b.diagnoses[i])));
  REQUIRE(b.patterns.size() == 3);
  REQUIRE((b.merged && b.merged->size() == 4));
  const auto parts_of_pattern = [](const trace::KernelTrace& kernel, std::size_t i) {
    const trace::Pattern& pattern = i < 3 ? kernel.patterns[i] : kernel.merged->at(i - 3);
    return std::tuple(kernel.sites[pattern.site], kernel.arrays[pattern.array], pattern.operation, pattern.width,
                      pattern.level, pattern.mask, pattern.is_loop, pattern.addresses, pattern.sources, pattern.count,
                      pattern.first);
  };
  for (std::size_t i = 0; i < 7; ++i) {
    INFO("pattern " << i);
    CHECK((parts_of_pattern(a, i) == parts_of_pattern(b, i)));
  }
  CHECK(b.patterns[2].sources == std::vector<std::uint32_t>{124, 0, banks::no_source});
  REQUIRE(b.patterns[1].lane_arrays.size() == 64);
  CHECK(b.arrays[b.patterns[1].lane_arrays[2]].name == "work");
  CHECK(b.arrays[b.patterns[1].lane_arrays[63]].name == "tile");
  REQUIRE(b.participants.size() == 1);
  CHECK(b.participants[0].mask == 0xF0F);
  CHECK(b.participants[0].count == 21);
  REQUIRE(b.basic_blocks.size() == 1);
  CHECK(b.basic_blocks[0].lanes == 29);
  REQUIRE(b.excess.size() == 1);
  CHECK(b.excess[0].tally == banks::Tally{30, 31, 36, 33, 3, 4});
  CHECK(b.excess[0].architecture == "gfx942");
  CHECK(b.excess[0].why_unknown == "the rule is unknown.");
  CHECK(b.excess[0].accesses == 15);
  CHECK(b.excess[0].mixed == 1);
}

TEST_CASE("trace/json_lines/same_reports") {
  const TraceFile file = read(to_json_lines(full_trace()));
  for (const auto& architecture : banks::architectures()) {
    const auto a = trace::report(full_kernel(), architecture), b = trace::report(file.trace.kernels[0], architecture);
    CHECK(report::to_text(a) == report::to_text(b));
  }
}

TEST_CASE("trace/json_lines/written_once") {
  TraceWriter writer;
  const std::string first = writer.lines_of(launch(4), "source"), second = writer.lines_of(launch(4), "source"),
                    third = writer.lines_of(launch(8), "source");
  CHECK(std::count(first.begin(), first.end(), '\n') == 6);  // source, kernel, site, array, pattern, launch
  CHECK(second == "{\"record\":\"again\",\"kernel\":0}\n");
  CHECK(std::count(third.begin(), third.end(), '\n') == 2);  // pattern, launch
  std::string lines = first;
  for (int i = 0; i < 10000; ++i) lines += writer.lines_of(launch(4), "source");
  CHECK(lines.size() < 500000);
  const TraceFile file = read(open_file(lines));
  REQUIRE(file.trace.kernels.size() == 1);
  const trace::KernelTrace& kernel = file.trace.kernels[0];
  CHECK(launches_of(kernel) == 10001);
  CHECK(kernel.blocks == 10001);
  REQUIRE(kernel.patterns.size() == 1);
  CHECK(kernel.patterns[0].count == 10001);
  CHECK(kernel.patterns[0].first.launch == 0);
  CHECK(kernel.participants.at(0).count == 10001);
}

TEST_CASE("trace/json_lines/limited_memory") {
  TraceWriter writer(0, 3);
  std::string lines;
  for (std::uint32_t i = 0; i < 40; ++i) lines += writer.lines_of(launch(4 * (i % 10)), "");
  const TraceFile file = read(open_file(lines));
  REQUIRE(file.trace.kernels.size() == 1);
  CHECK(file.trace.kernels[0].patterns.size() == 10);
  for (const auto& pattern : file.trace.kernels[0].patterns) CHECK(pattern.count == 4);
  CHECK(launches_of(file.trace.kernels[0]) == 40);
}

TEST_CASE("trace/json_lines/processes") {
  TraceWriter parent(7), child(8), later(7);
  std::string lines = trace::process_line(7);
  lines += parent.lines_of(launch(4), "s");
  lines += trace::process_line(8);
  lines += child.lines_of(launch(8), "other");
  lines += parent.lines_of(launch(4), "s");
  lines += child.lines_of(launch(4), "s");
  lines += trace::process_line(7);
  lines += later.lines_of(launch(4, 3), "s");
  const TraceFile file = read(open_file(lines));
  CHECK(file.processes == 3);
  CHECK_FALSE(file.closed);
  REQUIRE(file.trace.kernels.size() == 2);  // by source
  CHECK(file.trace.sources == std::vector<std::string>{"s", "other"});
  CHECK(launches_of(file.trace.kernels[0]) == 4);
  REQUIRE(file.trace.kernels[0].patterns.size() == 1);
  CHECK(file.trace.kernels[0].patterns[0].count == 6);
  CHECK(launches_of(file.trace.kernels[1]) == 1);
}

TEST_CASE("trace/json_lines/truncated") {
  const std::string text = to_json_lines(full_trace());
  const auto lines = std::uint64_t(std::count(text.begin(), text.end(), '\n'));
  std::uint64_t line = 1;
  for (std::size_t length = 1; length < text.size(); ++length) {
    INFO(length);
    const bool at_line = text[length - 1] == '\n';
    line += at_line ? 1 : 0;
    if (line == 1) {
      if (length < text.find('\n')) REQUIRE_THROWS_AS(read(text.substr(0, length)), trace::BadLine);
      continue;
    }
    const TraceFile file = read(text.substr(0, length));
    REQUIRE_FALSE(file.closed);
    REQUIRE(file.cut_line == (at_line ? 0 : line));
    REQUIRE(file.trace.kernels.size() == (line >= lines - 1 ? 1U : 0U));  // the launch, the error and the end are last
  }
}

TEST_CASE("trace/json_lines/any_source") {
  const std::string text =
      "/* caf\xE9 */\nkernel void k() {\xFF\xC0}\n// \xE2\x82\xAC and " + std::string(1, '\0') + "\n";
  TraceWriter writer;
  const TraceFile file = read(open_file(writer.lines_of(launch(4), text) + trace::error_line("bad \xFF byte")));
  const std::string& source = file.trace.sources.at(0);
  CHECK(std::count(source.begin(), source.end(), '\n') == 3);
  CHECK(source.starts_with("/* caf\xEF\xBF\xBD"));  // U+FFFD in place of bytes that are not Unicode
  CHECK_THAT(source, has("// \xE2\x82\xAC and "));
  CHECK(source.ends_with(std::string("\0\n", 2)));
  CHECK(file.trace.errors.at(0) == "bad \xEF\xBF\xBD byte");
}

TEST_CASE("trace/json_lines/kernel_never_ran") {
  TraceWriter writer;
  const std::string lines = writer.lines_of(launch(4), "");
  CHECK(read(open_file(lines.substr(0, lines.find("{\"record\":\"launch\"")))).trace.kernels.empty());
  CHECK(read(open_file("")).trace.kernels.empty());
}

// Checks the example of docs/trace_format.md as a reader of that page would.

namespace {

/// The text of the page's first code block in this language.
std::string block(const std::string& language) {
  std::ifstream page(SOURCE_DIRECTORY "/docs/trace_format.md");
  std::string text, line;
  while (std::getline(page, line) && line != "```" + language) {
  }
  while (std::getline(page, line) && line != "```") text += line + '\n';
  return text;
}

}  // namespace

TEST_CASE("trace/format/example") {
  const auto file = small::read(block("json"));
  CHECK(small::read(to_json_lines(file.trace)).trace.kernels.at(0).patterns.size() ==
        file.trace.kernels[0].patterns.size());
  CHECK(file.closed);
  REQUIRE(file.trace.kernels.size() == 1);
  const trace::KernelTrace& kernel = file.trace.kernels[0];
  CHECK(launches_of(kernel) == 2);
  CHECK(launched_blocks(kernel) == kernel.blocks);
  CHECK(conflicts(kernel, "sm_90") == 124);
  CHECK(conflicts(kernel, "gfx942") == 124);
}

TEST_CASE("trace/fault/table") {
  std::set<std::string_view> ids, names;
  int next = 0;
  for (const FaultRow& row : faults()) {
    INFO(row.id);
    CHECK(int(row.fault) == next++);
    CHECK(&row_of(row.fault) == &row);
    CHECK(fault_named(row.id) == row.fault);
    CHECK(ids.insert(row.id).second);
    CHECK(names.insert(row.name).second);
    CHECK(row.meaning.ends_with('.'));
    CHECK(row.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    if (row.silenced_by.flag.starts_with("--allow")) {
      CHECK(row.silenced_by.flag == "--allow " + std::string(row.id));
    }
  }
  CHECK(int(Fault::global_race) + 1 == next);
  CHECK_FALSE(fault_named("dance"));
}

TEST_CASE("trace/sampling/equal_distances") {
  for (const std::uint64_t blocks : {1, 2, 7, 64, 1000, 4099}) {
    for (const std::uint64_t most : {1, 2, 3, 7, 63, 64, 999}) {
      INFO(most << " of " << blocks);
      std::uint64_t watched = 0, gap = 0, widest = 0;
      for (std::uint64_t block = 0; block < blocks; ++block) {
        ++gap;
        if (!trace::is_sampled(block, blocks, most)) continue;
        ++watched;
        widest = std::max(widest, gap);
        gap = 0;
      }
      const std::uint64_t wanted = std::min(most, blocks);
      CHECK(watched == wanted);
      CHECK(widest <= (blocks + wanted - 1) / wanted);
      CHECK(gap == 0);  // the last one is watched
    }
  }
  CHECK(trace::is_sampled(5, 10, 0));
  CHECK(trace::is_sampled(~std::uint64_t{0} - 1, ~std::uint64_t{0}, 1));
}

TEST_CASE("trace/json_lines/version_1") {
  // A trace of the first version has no global memory, which is not the same as no access to it.
  std::string text = to_json_lines({.kernels = {launch(4)}});
  const std::string version = "\"bankwise_trace\":2";
  REQUIRE_THAT(text, has(version));
  text.replace(text.find(version), version.size(), "\"bankwise_trace\":1");
  const TraceFile file = read(text);
  REQUIRE(file.trace.kernels.size() == 1);
  CHECK_FALSE(file.trace.kernels[0].watches_global);
}
