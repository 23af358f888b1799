// Files that no writer produces: each is refused at the wrong line, in one sentence.
#include <nlohmann/json.hpp>
#include <set>

#include <bankwise/support/text.hpp>
#include <bankwise/trace/codec.hpp>
#include "small_trace.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace small;
using nlohmann::json;

namespace {

const std::string text = to_json_lines(full_trace());

std::vector<std::string> lines_of(const std::string& whole) {
  std::vector<std::string> lines;
  std::istringstream stream(whole);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string whole;
  for (const std::string& line : lines) whole += line + '\n';
  return whole;
}

/// The number of the first line of this kind, from 0.
std::size_t find(const std::string& record) {
  const auto lines = lines_of(text);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (json::parse(lines[i]).at("record") == record) return i;
  }
  FAIL("no " << record);
  return 0;
}

/// The file is refused at this line (from 0), with these words.
void check_refused(const std::vector<std::string>& lines, std::size_t line, const std::string& words) {
  try {
    read(joined(lines));
    FAIL("it was read, and should not for: " << words);
  } catch (const trace::BadLine& bad) {
    CHECK(bad.line == line + 1);
    CHECK_THAT(bad.what(), Catch::Matchers::StartsWith("f:" + std::to_string(line + 1) + ": "));
    CHECK_THAT(bad.what(), has(words));
    CHECK_THAT(bad.what(), !has("\n"));
  }
}

/// A record with one value changed, by its line.
void check_changed(std::size_t at, const std::string& pointer, const json& value, const std::string& words) {
  auto lines = lines_of(text);
  INFO(lines[at] << "\n" << pointer << " = " << value.dump());
  json changed = json::parse(lines[at]);
  changed[json::json_pointer(pointer)] = value;
  lines[at] = changed.dump();
  check_refused(lines, at, words);
}

/// The first record of a kind.
void check_changed(const std::string& record, const std::string& pointer, const json& value, const std::string& words) {
  check_changed(find(record), pointer, value, words);
}

}  // namespace

TEST_CASE("trace/refused_traces/not_a_trace_or_record") {
  for (const char* first : {"", "garbage", "{}", "[]", "3", "null", "{\"bankwise\":1}", "\xFF\xFE"}) {
    check_refused({first}, 0, "it is not a trace of bankwise");
  }
  check_refused({R"({"bankwise_trace":3})"}, 0, "it is a trace of version 3, and this program reads versions 1 to 2");
  check_refused({R"({"bankwise_trace":"1"})"}, 0, "bankwise_trace is not a whole number");
  check_refused({R"({"bankwise_trace":1})"}, 0, "it has no maker");
  for (const auto& [line, words] : std::vector<std::pair<const char*, const char*>>{
           {"garbage", "the line is not JSON"},
           {"", "the line is not JSON"},
           {"{\"record\":\"error\",\"text\":\"\xFF\"}", "the line is not JSON"},
           {"[]", "it is not an object"},
           {"{}", "it has no record"},
           {R"({"record":5})", "record is not a string"},
           {R"({"record":"dance"})", "there is no record 'dance'"},
           {R"({"record":"launch","kernel":5})", "there is no kernel 5 before it"},
           {R"({"record":"launch","process":1,"kernel":0})", "there is no kernel 0 before it"},
           {R"({"record":"again","kernel":-1})", "kernel is not a whole number"}}) {
    auto lines = lines_of(text);
    lines.insert(lines.begin() + 2, line);
    check_refused(lines, 2, words);
  }
}

TEST_CASE("trace/refused_traces/every_field") {
  // Removed, and with another type.
  const auto lines = lines_of(text);
  const std::string may_miss =
      "process pc source copied_bytes left_out_causes engines remote_patterns remote_excess "
      "remote_excess_accesses lane_arrays is_loop basic_blocks excess_accesses excess element lengths step "
      "sources diagnoses merged global_patterns global_excess global_excess_accesses global_left_out "
      "local_accesses time watches_shared";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const json whole = json::parse(lines[i]);
    for (const auto& [key, value] : whole.items()) {
      const auto check_with = [&, key = key](auto change) {
        INFO(lines[i] << "\n" << key);
        json part = whole;
        change(part);
        auto changed = lines;
        changed[i] = part.dump();
        CHECK_THROWS_AS(read(joined(changed)), trace::BadLine);
      };
      if (!support::has_word(may_miss, key) || key == "step")
        check_with([&, key = key](json& part) { part.erase(key); });
      for (const json& other : {value.is_string() ? json(1) : json("text"), json::object()}) {
        check_with([&, key = key](json& part) { part[key] = other; });
      }
    }
  }
}

TEST_CASE("trace/refused_traces/ranges") {
  check_changed("kernel", "/warp", 0, "warp is 0");
  check_changed("kernel", "/warp", 65, "warp is 65, more than 64");
  check_changed("kernel", "/source", 1, "there is no source 1 before it");
  check_changed("site", "/site", 1, "it is site 1, but 0 is next");
  check_changed("site", "/line", 4294967296, "line is 4294967296, more than 4294967295");
  check_changed("array", "/array", 7, "it is array 7, but 0 is next");
  const std::string contradiction = "lengths and element do not give the bytes of the array";
  check_changed("array", "/lengths", json::array({3}), contradiction);
  check_changed("array", "/lengths", json::array({0, 4}), contradiction);
  check_changed("array", "/lengths", json::array({4294967295U, 4294967295U, 4294967295U}), contradiction);
  check_changed("array", "/lengths", std::vector<int>(33, 1), "an array has too many dimensions");
  check_changed("array", "/lengths", json::array({-1}), "a length is not a whole number");
  check_changed("array", "/element", 4294967296, "element is 4294967296, more than 4294967295");
  check_changed("array", "/offset", -1, "offset is not a whole number");
  check_changed("pattern", "/site", 2, "there is no site 2 of its kernel before it");
  check_changed("pattern", "/array", 2, "there is no array 2 of its kernel before it");
  check_changed("pattern", "/width", 3, "width is not one of 1, 2, 4, 8, 12, 16");
  check_changed("pattern", "/width", 32, "width is 32, more than 16");
  check_changed("pattern", "/operation", "dance", "operation is unknown to the bank model");
  check_changed("pattern", "/level", 1 << 20, "level is 1048576, more than 1048575");
  check_changed("pattern", "/mask", "0", "mask has no lane");
  check_changed("pattern", "/mask", "12345678123456781", "mask is not a hexadecimal number");
  check_changed("pattern", "/mask", "0xff", "mask is not a hexadecimal number");
  check_changed("pattern", "/step", 4294967296, "step is not a 32-bit integer");
  check_changed("pattern", "/step", 4000000000, "step leaves the 32-bit address range");
  check_changed("pattern", "/step", -4, "step leaves the 32-bit address range");
  check_changed("launch", "/patterns/0/0", 9, "there is no pattern 9 of its kernel before it");
  check_changed("launch", "/patterns/1/0", 0, "pattern 0 is counted twice");
  check_changed("launch", "/patterns/0/1", 0, "a pattern's count is 0");
  check_changed("launch", "/patterns/0/2", 3, "a pattern's first launch is not one of these");
  check_changed("launch", "/patterns/0", json::array({1, 2}), "patterns has an element that is not a list of 6");
  check_changed("launch", "/shapes/0/2", 0xFFFFFFFFFFFF, "add up to too much");
  check_changed("launch", "/shapes/0/0", json::array({1, 2}), "shapes has a size that is not a list of 3");
  check_changed("launch", "/participants/0/1", "f0f0f0f0f0f0f0f0f", "mask is not a hexadecimal number");
  check_changed("launch", "/participants/0/0", 1048576, "level is 1048576");
  check_changed("launch", "/basic_blocks/0/0", 2, "there is no site 2");
  check_changed("launch", "/excess/0/5", "sm_9O", "an architecture that the bank model does not know");
  check_changed("launch", "/excess/0/8", json::array({30, 31, 3, 33, 3, 4}), "numbers contradict each other");
  check_changed("launch", "/excess/0/8", json::array({1, 65, 3, 3, 0, 0}), "numbers contradict each other");
  check_changed("launch", "/remote_patterns/0/0", 1, "there is no pattern 1");
  check_changed("launch", "/remote_excess/0/5/3", 41, "remote_excess has a tally whose numbers contradict each other");
  check_changed("launch", "/engines/0/0", 2, "there is no site 2");
  check_changed("launch", "/engines/0/1", "dance", "engine is unknown to the bank model");
  check_changed("launch", "/engines/0/2", (1 << 30) + 1, "bytes is 1073741825, more than");
  check_changed("launch", "/engines/1/3", 4097, "bytes of a row is 4097, more than 4096");
  check_changed("launch", "/engines/0/4", 0, "the count of an engine's instructions is 0");
  check_changed("launch", "/engines/0/4", 1ULL << 47, "its passes and the earlier ones add up to too much");
  check_changed("launch", "/left_out_causes/0/1", 14, "the causes of left_out add up to more");
  check_changed("launch", "/left_out_causes/0/1", -1, "count is not a whole number");
  check_changed("launch", "/left_out_causes", json(std::vector<json>(2, json::array({"a", 1}))),
                "left_out has a cause twice");
  check_changed("launch", "/left_out_causes", json(std::vector<json>(101, json::array({"a", 1}))),
                "more than 100 causes");
  check_changed("remote_pattern", "/remote_pattern", 1, "it is remote_pattern 1, but 0 is next");
  check_changed("launch", "/merged/0/0", 9, "there is no pattern 9");
  check_changed("launch", "/merged/1/0", 0, "pattern 0 is merged twice");
  check_changed("launch", "/merged/0/1", 0, "a pattern's change is 0");
  check_changed("launch", "/merged/0/1", -18, "fewer accesses than none remain");
  check_changed("launch", "/merged/0/1", 1.5, "change is not a whole number");
  check_changed("launch", "/merged/0/2", 3, "a pattern's first launch is not one of these");
  check_changed("launch", "/merged/1/1", 0xFFFFFFFFFFFF, "add up to too much");
  check_changed("launch", "/diagnoses/0/0", "dance", "fault is unknown");
  check_changed("launch", "/diagnoses/0/1", 2, "there is no site 2");
  check_changed("launch", "/diagnoses/0/2", 2, "there is no site 2");
  check_changed("launch", "/diagnoses/0/3", 1, "ended is neither true nor false");
  check_changed("launch", "/diagnoses/0/4", 0, "a diagnosis's count is 0");
  check_changed("launch", "/diagnoses/0/4", 0xFFFFFFFFFFFF, "add up to too much");
  check_changed("launch", "/diagnoses/0/5", 3, "a diagnosis's launch is not one of these");
  check_changed("launch", "/diagnoses/0/7", 1 << 20, "warp is 1048576, more than");
  check_changed("launch", "/diagnoses/0/8", 5, "text is not a string");
  check_changed("launch", "/diagnoses/0", json::array({"race", 0}), "diagnoses has an element that is not a list of 9");
  const json first = json::parse(lines_of(text)[find("launch")])["diagnoses"][0];
  check_changed("launch", "/diagnoses", json::array({first, first}), "a diagnosis is counted twice");
  check_changed("launch", "/blocks", 562949953421312, "blocks is 562949953421312, more than");
  check_changed("launch", "/shapes/0/1/1", 0, "shapes has a block or work-group without threads");
  check_changed("launch", "/shapes/0/1", {1ULL << 48, 1ULL << 48, 1}, "shapes has a block of more than 2^64 threads");
}

TEST_CASE("trace/refused_traces/lanes_and_lists") {
  auto lines = lines_of(text);
  const std::size_t kernel = find("kernel"), pattern = find("pattern");
  json narrow = json::parse(lines[kernel]);
  narrow["warp"] = 32;
  lines[kernel] = narrow.dump();
  check_refused(lines, pattern, "mask has lanes beyond the 32 of a warp");
  for (const std::string key : {"addresses", "lane_arrays"}) {
    json list = json::parse(lines_of(text)[pattern + 1])[key];
    list.erase(0);
    check_changed(pattern + 1, "/" + key, list, key + " has 2 numbers for 3 active lanes");
  }
  // Sources of copies.
  const std::size_t copy = find("pattern") + 2;
  REQUIRE(json::parse(lines_of(text)[copy])["operation"] == "cp.async");
  check_changed(copy, "/sources", {1, 2, 3}, "sources has 3 numbers for 2 active lanes");
  check_changed(copy, "/sources", json::array(), "sources has 0 numbers for 2 active lanes");
  check_changed(copy, "/sources", {0, 128}, "source is 128, more than 127");
  check_changed(copy, "/sources", {0, -4}, "source is not a whole number");
  auto past = lines_of(text);
  for (const std::uint32_t source : {8191U, 8192U}) {  // in the last of 64 lines, or beyond
    json changed = json::parse(past[copy]);
    changed["operation"] = "cp.async.cg";
    changed["sources"] = {nullptr, source};
    past[copy] = changed.dump();
    if (source == 8191) CHECK_NOTHROW(read(joined(past)));
  }
  check_refused(past, copy, "source is 8192, more than 8191");
  check_changed(copy, "/operation", "store", "a store has no sources");
  check_changed(copy, "/operation", "ldmatrix.x4", "a ldmatrix.x4 has no sources");
}

TEST_CASE("trace/refused_traces/overflow") {
  auto lines = lines_of(text);
  const std::size_t at = find("launch");
  json launch = json::parse(lines[at]);
  launch["patterns"][0][1] = std::uint64_t{1} << 48;
  lines[at] = launch.dump();
  check_refused(lines, at, "its counts and the earlier ones add up to too much");
  launch["patterns"][0][1] = std::uint64_t{1} << 47;
  lines[at] = launch.dump();
  CHECK_NOTHROW(read(joined({lines.begin(), lines.begin() + std::ptrdiff_t(at) + 1})));
  lines.insert(lines.begin() + std::ptrdiff_t(at) + 1, 3, R"({"record":"again","kernel":0})");
  CHECK_THROWS_AS(read(joined({lines.begin(), lines.begin() + std::ptrdiff_t(at) + 4})), trace::BadLine);
}

TEST_CASE("trace/refused_traces/duplicates") {
  const auto lines = lines_of(text);
  for (const char* record : {"source", "kernel", "site", "array", "pattern", "remote_pattern"}) {
    INFO(record);
    const std::size_t at = find(record);
    auto twice = lines;
    twice.insert(twice.begin() + std::ptrdiff_t(at), lines[at]);
    CHECK_THROWS_AS(read(joined(twice)), trace::BadLine);
    auto without = lines;
    without.erase(without.begin() + std::ptrdiff_t(at));
    CHECK_THROWS_AS(read(joined(without)), trace::BadLine);
  }
  auto without_error = lines;
  without_error.erase(without_error.begin() + std::ptrdiff_t(find("error")));
  check_refused(without_error, lines.size() - 2, "its line count does not match: lines are missing");
  auto more = lines;
  more.emplace_back(R"({"record":"error","text":"late"})");
  check_refused(more, lines.size(), "it stands after the end of the trace");
  auto alone = std::vector<std::string>{lines[0],
                                        R"({"record":"kernel","kernel":0,"name":"k","options":"","warp":32,)"
                                        R"("splits":false,"knows_code":true})",
                                        R"({"record":"again","kernel":0})"};
  check_refused(alone, 2, "its kernel has no launch before it");
  for (const char* keys : {R"("text":"b")", R"("new":1,"new":2)"}) {  // known or not, the last one does not win
    const std::string line = std::string(R"({"record":"error","text":"a",)") + keys + "}";
    check_refused({lines[0], line}, 1, "twice");
  }
}

TEST_CASE("trace/refused_traces/deep_and_long") {
  const std::string header = lines_of(text)[0];
  check_refused({header, std::string(1 << 18, '[')}, 1, "the line is not JSON");
  check_refused({header, std::string(1 << 18, '[') + std::string(1 << 18, ']')}, 1, "it is not an object");
  check_refused({header, std::string((32 << 20) + 1, ' ')}, 1, "the line has more than 33554432 bytes");
  const std::string deep(101, '['), record = R"({"record":"error","text":"","new":)";
  check_refused({header, record + deep + std::string(101, ']') + "}"}, 1, "it is nested too deep");
  check_refused({header, R"({"record":"launch","shapes":[{}]})"}, 1, "it is nested too deep");
  const auto read_lines = read(joined({header, record + R"([{"a":[[[[1]]]]}]})"}));  // a later version may have it
  CHECK(read_lines.trace.errors == std::vector<std::string>{""});
  // Long names are cut.
  auto lines = lines_of(text);
  std::set<std::string> names;
  for (const char* end : {"a", "b"}) {
    json array = json::parse(lines[find("array")]);
    array["name"] = std::string(1 << 20, 'x') + "\n" + end;
    lines[find("array")] = array.dump();
    const trace::TraceFile file = read(joined(lines));
    for (const trace::Array& read_array : file.trace.kernels.at(0).arrays) {
      CHECK(read_array.name.size() <= 1000);
      CHECK_THAT(read_array.name, !has("\n"));
      names.insert(read_array.name);
    }
  }
  CHECK(names.size() == full_trace().kernels.at(0).arrays.size() + 1);  // cut names are still distinct
}
