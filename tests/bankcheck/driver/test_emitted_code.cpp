// SPDX-License-Identifier: MIT
#include "bankcheck/driver/emitted_code.hpp"

#include <nlohmann/json.hpp>

#include "tests/bankcheck/driver/made_report.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::driver;

namespace {

/// Evidence for words of one line, of which every four become an access of `width` bytes; 4: nothing changes; 0: they
/// are dropped.
std::optional<Evidence> evidence_of(unsigned width, const std::vector<EmittedLine>& emitted,
                                    banks::Operation operation = banks::Operation::load) {
  trace::LineReport line{.site = {.file = "/a/k.cu", .line = 12}, .array = "tile", .operation = operation};
  line.costs = {8, 256, 8, 8, 0, 0};
  line.merged = width == 4 ? line.costs : width == 0 ? banks::Tally{} : banks::Tally{2, 64, 8, 8, 0, 0};
  line.widest = width;
  return evidence_for(line, emitted);
}

std::string column(unsigned width, std::map<std::string, std::uint64_t> opcodes,
                   banks::Operation operation = banks::Operation::load) {
  const auto evidence = evidence_of(width, {{"b/k.cu", 12, std::move(opcodes)}}, operation);
  REQUIRE(evidence);
  return std::string(to_string(evidence->column));
}

}  // namespace

TEST_CASE("driver/emitted_code/width") {
  for (const auto& [opcode, width] : std::vector<std::pair<const char*, unsigned>>{
           {"LDS", 4}, {"LDS.U", 4}, {"LDS.64", 8}, {"LDS.128", 16}, {"STS.U16", 2}, {"LDS.S8", 1}, {"STS.U8", 1}}) {
    INFO(opcode);
    CHECK(width_of_opcode(opcode) == width);
  }
}

TEST_CASE("driver/emitted_code/widest_instruction") {
  CHECK(column(16, {{"LDS.128", 2}}) == "merged");
  CHECK(column(16, {{"LDS", 1}, {"LDS.128", 2}}) == "merged");
  CHECK(column(16, {{"LDS", 8}}) == "source");
  CHECK(column(16, {{"LDS.64", 4}}) == "neither");
  CHECK(column(0, {}) == "merged");  // another line has them
  CHECK(column(0, {{"LDS", 2}}) == "source");
  CHECK(column(16, {}) == "neither");
  CHECK(column(4, {{"LDS", 8}}) == "both");
  CHECK(column(16, {{"STS.128", 2}, {"LDS", 4}}, banks::Operation::store) == "merged");
  // No evidence.
  CHECK_FALSE(evidence_of(16, {}));
  CHECK_FALSE(evidence_of(16, {{"other.cu", 12, {{"LDS", 1}}}}));
  CHECK_FALSE(evidence_of(16, {{"k.cu", 12, {{"ATOMS", 1}}}}, banks::Operation::atomic));
}

TEST_CASE("driver/emitted_code/in_report") {
  trace::Builder builder = builder_of();
  const trace::Pattern narrow = access_of(builder, {.file = "k.cu", .line = 12}, 16, 4);
  trace::Pattern wide = narrow;
  wide.width = 16;
  wide.count = 1;
  builder.add(narrow);
  builder.set_merged({wide});
  RunReport report = report_of({builder.take()});
  CHECK(to_text(report, 120).find("machine code") == std::string::npos);
  report.emitted = {{"/x/k.cu", 12, {{"LDS.128", 1}}}};
  const std::string text = to_text(report, 120);
  INFO(text);
  CHECK(text.find("\n  k.cu:12 load tile: 1 LDS.128: merged\n") != std::string::npos);
  const auto lines = nlohmann::json::parse(to_json(report)).at("kernels")[0].at("architectures")[0].at("lines");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].at("emitted") == nlohmann::json{{"LDS.128", 1}});
  CHECK(lines[0].at("emitted_agrees") == "merged");
  CHECK(lines[0].at("passes") == 16);
  CHECK(lines[0].at("merged").at("passes") == 4);
}
