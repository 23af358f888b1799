// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/fault.hpp>
#include <bankwise/trace/report.hpp>
#include <bankwise/trace/trace.hpp>
#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::trace;

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
