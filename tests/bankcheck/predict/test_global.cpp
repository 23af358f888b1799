// Accesses to global memory: sectors instead of passes.
#include <nlohmann/json.hpp>
#include <sstream>

#include "bankcheck/predict/predict.hpp"
#include "tests/bankcheck/sentences.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"

using namespace bankwise;
using namespace bankwise::predict;
using banks::Operation;

namespace {

Prediction in_global(const std::string& index, const char* architecture = "sm_90", unsigned width = 4,
                     std::uint32_t base = 0, Operation operation = Operation::load) {
  return predict_index(*banks::find_architecture(architecture), operation, width, 0xffffffff, index, {}, {},
                       Space::global, base);
}

std::string global_refusal(const std::string& index, const char* architecture = "sm_90", unsigned width = 4,
                           std::uint32_t base = 0, Operation operation = Operation::load) {
  return sentence_of([&] { (void)in_global(index, architecture, width, base, operation); });
}

std::string csv_costs(const std::string& rows, CostFormat format = CostFormat::csv) {
  std::string header = "id,op,width,mask";
  for (const char letter : {'a', 's'}) {
    for (int lane = 0; lane < 32; ++lane) header += "," + std::string(1, letter) + std::to_string(lane);
  }
  std::istringstream in(header + "\n" + rows);
  std::ostringstream out;
  const auto bad = predict_csv(*banks::find_architecture("sm_90"), in, out, format, Space::global);
  return out.str() + (bad ? std::to_string(bad->line) + ": " + bad->sentence : "");
}

/// The fields of 64 columns: lane l accesses byte l * `bytes` and copies from l * `source_bytes`.
std::string row(const std::string& start, int bytes, int source_bytes = 0) {
  std::string text = start;
  for (int lane = 0; lane < 32; ++lane) text += "," + std::to_string(lane * bytes);
  for (int lane = 0; lane < 32; ++lane) text += "," + std::to_string(lane * source_bytes);
  return text + "\n";
}

}  // namespace

TEST_CASE("predict/global/text") {
  CHECK(text_of(in_global("1024*(tid%3)"), 80) ==
        "sm_90, global memory: 4-byte load, element 1024*(tid%3)\n"
        "sectors 3, ideal 1, cache lines 3; of 96 bytes moved, used 12.5 %\n"
        "3 addresses\n"
        "rule: sectors of 32 bytes, cache lines of 128; hardware counters of an H200: tests/data/h200_sectors.csv "
        "(measured here)\n"
        "\n"
        "  byte         +0            +32           +64           +96              used\n"
        "  0            11 lanes      .             .             .              12.5 %\n"
        "  4,096        11 lanes      .             .             .              12.5 %\n"
        "  8,192        10 lanes      .             .             .              12.5 %\n");
  const std::string column = text_of(in_global("1024*tid"), 80);
  INFO(column);
  CHECK_THAT(column, has("\nlanes 4,096 bytes apart (a column)\n"));
  CHECK(
      column.ends_with("  28,672       7             .             .             .              12.5 %\n"
                       "  and 24 more rows\n"));
  const std::string of_amd = text_of(in_global("tid", "gfx90a"), 80);
  CHECK_THAT(of_amd, has("rule: sectors of 64 bytes, cache lines of 128; "));
  CHECK_THAT(of_amd, has("  byte         +0            +64           +128          +192             used\n"));
  CHECK_THAT(text_of(in_global("tid", "sm_90", 12), 80), has("three accesses of 4 bytes"));
  CHECK_THAT(text_of(in_global("tid", "gfx942", 12), 80), !has("three accesses of 4 bytes"));
  CHECK_THAT(text_of(in_global("tid"), 80), !has("passes"));
}

TEST_CASE("predict/global/base") {
  CHECK(in_global("tid").sectors->sectors == 4);
  const Prediction moved = in_global("tid", "sm_90", 4, 4);
  CHECK(moved.sectors->sectors == 5);
  CHECK(moved.addresses[1] == 8);
  const std::string text = text_of(moved, 80);
  INFO(text);
  CHECK_THAT(text, has("\nconsecutive, misaligned by 4 bytes: one sector more\n"));
  CHECK_THAT(text, has("  128          31            .             .             .              12.5 %\n"));
  CHECK_THAT(global_refusal("tid", "sm_90", 4, 0xffffffc0), has("has no address below 4 GiB"));
}

TEST_CASE("predict/global/json") {
  const auto json = nlohmann::json::parse(json_of(in_global("tid*3%96", "sm_90", 4, 0, Operation::store)));
  check_members(json, R"({"schema_version": 1, "architecture": "sm_90", "space": "global", "operation": "store",
                          "width": 4, "index": "tid*3%96", "mask": "0xffffffff", "sectors": 12, "ideal": 4, "lines": 3,
                          "bytes": 128, "bytes_moved": 384, "sector_bytes": 32, "line_bytes": 128,
                          "evidence": "measured here"})");
  CHECK(json["shape"] == "stride of 3 words (array of structures)");
  CHECK(json["used_percent"].get<double>() == Approx(100.0 / 3));
  REQUIRE(json["touched"].size() == 12);
  CHECK(json["touched"][1] == nlohmann::json{{"first_byte", 32}, {"lanes", "3-5"}});
}

TEST_CASE("predict/global/refused") {
  CHECK(global_refusal("tid").empty());
  CHECK(global_refusal("tid", "sm_90", 4, 2) == "the address of lane 0, 2, is not a multiple of 4");
  CHECK(global_refusal("tid", "sm_90", 16, 0, Operation::ldmatrix_x4) == "ldmatrix.x4 accesses shared memory only");
  CHECK(global_refusal("tid", "sm_20").starts_with("no cost for global memory on sm_20: compute capability 2.x"));
  CHECK_THAT(global_refusal("tid", "sm_90", 3), has("only 1, 2, 4, 8, 12 or 16"));
}

TEST_CASE("predict/global/csv") {
  const std::string header = "id,sectors,ideal,lines,bytes\n";
  CHECK(csv_costs(row("a,load,4,ffffffff", 4) + row("b,store,4,ffffffff", 4096) + row("c,atomic,4,ffffffff", 0)) ==
        header + "a,4,4,1,128\nb,32,4,32,128\nc,1,1,1,4\n");
  // Of a copy, the addresses in global memory count.
  CHECK(csv_costs(row("d,cp.async,16,ffffffff", 16, 512)) == header + "d,32,16,32,512\n");
  CHECK(csv_costs(row("e,load,4,ffffffff", 4) + row("f,load,4,ffffffff", 6)) ==
        header + "e,4,4,1,128\n3: the address of lane 1, 6, is not a multiple of 4");
  const auto json = nlohmann::json::parse(csv_costs(row("a,load,4,ffffffff", 8), CostFormat::json));
  CHECK(json["results"] == nlohmann::json::parse(R"([{"id":"a","sectors":8,"ideal":4,"lines":2,"bytes":128}])"));
}
