#include <nlohmann/json.hpp>
#include <streambuf>

#include "accesses_csv.hpp"

using namespace bankwise;
using namespace bankwise::predict;

// Valid files, in every spelling that spreadsheets and scripts produce.

namespace {

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size()) {
    text.replace(at, old.size(), by);
  }
  return text;
}

const std::string two_rows = csv_header() + csv_row("first,load,4,ffffffff", 4) + csv_row("second,load,4,ffffffff", 8);
const std::string two_costs = "first,1,1,0\nsecond,2,1,1\n";

}  // namespace

TEST_CASE("predict/csv/costs") {
  check_rows(two_rows, two_costs);
  check_rows(csv_header() + csv_row("s,store,16,ffffffff", 16) + csv_row("c,atomic.cas,4,f", 0) +
                 csv_row("l,load,16,ffffffff", 512) + csv_row("m,ldmatrix.x4,16,ffffffff", 128) +
                 csv_row("none,load,4,0", 4),
             "s,4,4,0\nc,8,2,3\nl,32,4,28\nm,32,4,28\nnone,0,0,0\n");
  check_rows(csv_header(), "");
}

TEST_CASE("predict/csv/column_order") {
  std::string header = "comment,a0", row = "\"no, nothing\",0";
  for (int lane = 31; lane >= 1; --lane) {
    header += ",a" + std::to_string(lane);
    row += "," + std::to_string(128 * lane);
  }
  check_rows(header + ",mask,passes,op,id,width\n" + row + ",ffffffff,99,load,x,4\n", "x,32,1,31\n");
  check_rows(replaced(replaced(two_rows, "\n", ",\n"), "a31,", "a31,a33"),
             two_costs);  // without a32, a33 is just another column
}

TEST_CASE("predict/csv/line_endings") {
  check_rows(replaced(two_rows, "\n", "\r\n"), two_costs);
  check_rows(replaced(two_rows, "\n", "\n\n"), two_costs);
  check_rows(replaced(two_rows, "\n", "\r\n\r\n\r\n"), two_costs);
  check_rows("\n\r\n" + two_rows, two_costs);
  check_rows(two_rows.substr(0, two_rows.size() - 1), two_costs);
  check_rows(replaced(two_rows, "\n", "\r\n").substr(0, two_rows.size() + 2), two_costs);
  check_rows("\xEF\xBB\xBF" + two_rows, two_costs);
  // Elsewhere it is not a byte order mark but part of a name.
  check_bad("\n\xEF\xBB\xBF" + two_rows, 2, "no column 'id'");
}

TEST_CASE("predict/csv/64_lanes") {
  const std::string full(16, 'f');
  check_rows(csv_header(64) + csv_row("w,load,4," + full, 4, 64) + csv_row("h,load,4,ffffffff00000000", 128, 64) +
                 csv_row("x,load,16," + full, 16, 64),
             "w,2,2,0\nh,32,1,31\nx,8,8,0\n", "gfx942");
  check_rows(csv_header(64) + csv_row("w,load,4,ffffffff", 4, 64), "w,1,1,0\n");  // 64 columns for a warp of 32
  check_bad(csv_header(64) + csv_row("w,load,4,1ffffffff", 4, 64), 2, "lane 32");
}

TEST_CASE("predict/csv/inactive_lanes") {
  const auto garbage = [](unsigned lane) {
    const std::string kinds[]{"", "x", "-1", "3", "99999999999999999999", "\"a,b\"", "\xFF", "1.5"};
    return lane < 4 ? std::to_string(8 * lane) : kinds[lane % 8];
  };
  check_rows(csv_header() + csv_row("g,load,8,f", garbage), "g,1,1,0\n");
  // The negative control: with one more active lane, its field is read.
  check_bad(csv_header() + csv_row("g,load,8,1f", garbage), 2, "lane 4");
}

TEST_CASE("predict/csv/copies") {
  std::string header = csv_header();
  header.pop_back();
  for (unsigned lane = 0; lane < 32; ++lane) header += ",s" + std::to_string(lane);
  const auto copy = [](const std::string& start, unsigned to, unsigned from) {
    const std::string row = csv_row(start, to);
    return csv_row(row.substr(0, row.size() - 1), from);
  };
  const std::string rows = copy("c,cp.async,4,ffffffff", 4, 4) + copy("d,cp.async,4,ffffffff", 4, 8) +
                           copy("e,cp.async,16,ffffffff", 128, 16) + copy("l,load,4,ffffffff", 8, 3);
  check_rows(header + "\n" + rows, "c,1,1,0\nd,2,1,1\ne,32,4,28\nl,2,1,1\n");
  check_bad(header + "\n" + copy("g,cp.async,2,ffffffff", 16, 16), 2, "no 2-byte cp.async, only of 4, 8, 16");
  check_bad(replaced(header, ",s5", ",t5") + "\n" + rows, 2, "that lane 0 reads is not known");
  check_bad(csv_header() + csv_row("c,cp.async,4,fffffff0", 4), 2, "that lane 4 reads is not known");
  check_bad(header + "\n" + replaced(copy("c,cp.async,4,f", 4, 256), ",512,", ",x,"), 2, "the source of lane 2, 'x'");
  check_bad(header + ",s31\n", 1, "two columns 's31'");
  // More sources than lanes are other columns.
  for (unsigned lane = 32; lane < 100; ++lane) header += ",s" + std::to_string(lane);
  const std::string row = copy("c,cp.async,4,ffffffff", 4, 4);
  check_rows(header + "\n" + row.substr(0, row.size() - 1) + std::string(68, ',') + "\n", "c,1,1,0\n");
}

TEST_CASE("predict/csv/spellings") {
  for (const char* mask : {"f", "F", "0xf", "0XF", "0000000f", "0x000000000000000000000f"}) {
    check_rows(csv_header() + csv_row(std::string("m,load,4,") + mask, 128), "m,4,1,3\n");
  }
  const auto spelled = [](unsigned lane) {
    const char* same[]{"4096", "0x1000", "0X1000", "04096", "0x00001000"};
    return std::string(same[lane % 5]);
  };
  check_rows(csv_header() + csv_row("a,load,4,ffffffff", spelled), "a,1,1,0\n");
  const auto top = [](unsigned lane) { return lane == 0 ? std::string("4294967292") : std::string("0xFFFFFF7C"); };
  check_rows(csv_header() + csv_row("top,load,4,3", top), "top,2,1,1\n");
  for (const char* id : {R"("a,b")", R"("say ""so""")", "\xC3\xA9\xE2\x82\xAC", "", " ", "=1+1", R"("""")"}) {
    check_rows(csv_header() + csv_row(id + std::string(",load,4,1"), 4), id + std::string(",1,1,0\n"));
  }
}

TEST_CASE("predict/csv/worst_choice") {
  const std::string rows = csv_row("s,load,4,ffff", 8) + csv_row("b,load,4,ffff", [](unsigned lane) {
                             return std::to_string(lane < 8 ? 0 : 4 * lane);
                           });
  const Predicted predicted = predict_rows(csv_header() + rows, "sm_13");
  CHECK_FALSE(predicted.bad.has_value());
  CHECK(predicted.out == "id,passes,ideal,conflicts,passes_max,conflicts_max\ns,2,1,1,2,1\nb,1,1,0,2,1\n");
  CHECK(predict_rows(csv_header() + rows, "sm_20").out == "id,passes,ideal,conflicts\ns,1,1,0\nb,1,1,0\n");
}

TEST_CASE("predict/csv/json") {
  const std::string csv = csv_header() + csv_row(R"("a ""b""",load,4,ffffffff)", 8) + csv_row("\xC3\xA9,load,4,1", 4) +
                          csv_row("\xFF\x01,load,4,1", 4);
  const Predicted predicted = predict_rows(csv, "sm_90", CostFormat::json);
  CHECK_FALSE(predicted.bad.has_value());
  const auto json = nlohmann::json::parse(predicted.out);
  CHECK(json["schema_version"] == 1);
  CHECK(json["architecture"] == "sm_90");
  REQUIRE(json["results"].size() == 3);
  CHECK(json["results"][0] == nlohmann::json{{"id", "a \"b\""}, {"passes", 2}, {"ideal", 1}, {"conflicts", 1}});
  CHECK(json["results"][1]["id"] == "\xC3\xA9");
  CHECK(json["results"][2]["id"] == "\xEF\xBF\xBD\x01");  // invalid UTF-8 is replaced
  CHECK_FALSE(json.contains("error"));

  const auto choice = nlohmann::json::parse(predict_rows(csv, "sm_13", CostFormat::json).out);
  CHECK(choice["results"][0]["passes_max"] == 4);
  CHECK(choice["results"][0]["conflicts_max"] == 2);
  CHECK(nlohmann::json::parse(predict_rows(csv_header(), "sm_90", CostFormat::json).out)["results"].empty());
}

TEST_CASE("predict/csv/json_after_bad_row") {
  const std::string good = csv_row("0,load,4,1", 4), bad = csv_row(R"(1,"lo""ad",4,1)", 4);
  const Predicted predicted = predict_rows(csv_header() + good + bad + good, "sm_90", CostFormat::json);
  REQUIRE(predicted.bad.has_value());
  const auto json = nlohmann::json::parse(predicted.out);
  CHECK(json["results"].size() == 1);
  CHECK(json["error"]["line"] == 3);
  CHECK(json["error"]["sentence"] == predicted.bad->sentence);
  const auto empty = nlohmann::json::parse(predict_rows("", "sm_90", CostFormat::json).out);
  CHECK(empty["results"].empty());
  CHECK(empty["error"]["line"] == 1);
}

// Invalid files: the line number, an error message with the cause, and the results of the rows before it.

namespace {

const std::string good = csv_row("g,load,4,ffffffff", 8);
const std::string good_cost = "g,2,1,1\n";

/// Checks the bad row as the third line, and again after blank lines.
void check_bad_row(const std::string& row, const std::string& words) {
  check_bad(csv_header() + good + row + good, 3, words, good_cost);
  check_bad(csv_header() + "\n" + good + "\r\n\n" + good + row, 7, words, good_cost + good_cost);
}

std::string with_address(const std::string& address) {
  return csv_row("b,load,4,ffffffff", [&](unsigned lane) { return lane == 17 ? address : std::to_string(4 * lane); });
}

}  // namespace

TEST_CASE("predict/csv_rows/fields") {
  check_bad_row("x,load,4,ffffffff\n", "the row has 4 fields, the header 36");
  check_bad_row(csv_row("x,load,4,ffffffff", 4, 33), "the row has 37 fields, the header 36");
  check_bad_row("  \n", "the row has 1 fields");
  check_bad_row("\r\r\n", "the row has 1 fields");
  check_bad_row(std::string(1, '\0') + "\n", "the row has 1 fields");
  check_bad_row(csv_row("\"x,load,4,f", 4), "quote");
  check_bad_row(csv_row("\"x\"y,load,4,f", 4), "quote");
  check_bad_row(csv_row("x\"y\",load,4,f", 4), "quote");
  check_bad_row(csv_row("x,laod,4,f", 4), "'laod' is not an operation");
  check_bad_row(csv_row("x,,4,f", 4), "'' is not an operation");
  check_bad_row(csv_row("x,LOAD,4,f", 4), "'LOAD' is not an operation");
  check_bad_row(csv_row("x, load,4,f", 4), "' load' is not an operation");
  // An error message contains no control characters of the file, and only the beginning of a long field.
  check_bad_row(csv_row("x,\x1B[31m\xC3\xA9,4,f", 4), "'?[31m\?\?' is not an operation");
  check_bad_row(csv_row("x," + std::string(1000, 'y') + ",4,f", 4), "'" + std::string(40, 'y') + "...'");
}

TEST_CASE("predict/csv_rows/numbers") {
  for (const char* width : {"four", "", "4.0", "-4", "+4", " 4", "4 ", "99999999999", "0x"}) {
    check_bad_row(csv_row("x,load," + std::string(width) + ",f", 4), "the width '" + std::string(width) + "'");
  }
  check_bad_row(csv_row("x,load,3,f", 4), "sm_90 has no 3-byte load");
  check_bad_row(csv_row("x,load,0,f", 4), "sm_90 has no 0-byte load");
  check_bad_row(csv_row("x,load,4294967295,f", 4), "sm_90 has no 4294967295-byte load");
  check_bad_row(csv_row("x,ldmatrix.x1,4,ffffffff", 4), "sm_90 has no 4-byte ldmatrix.x1, only of 16");
  check_bad_row(csv_row("x,atomic,2,f", 2), "no cost for 2-byte atomic");
  for (const char* mask : {"", "0x", "g", "-1", "0xx1", "1 ", "10000000000000000", "1h"}) {
    check_bad_row(csv_row("x,load,4," + std::string(mask), 4), "the mask '" + std::string(mask) + "'");
  }
  for (const char* address : {"", "x", "-4", "+4", " 4", "4.0", "1e3", "4294967296", "0x100000000", "0x", "ff"}) {
    check_bad_row(with_address(address), "the address of lane 17, '" + std::string(address) + "'");
  }
  check_bad_row(with_address("70"), "the address of lane 17, 70, is not a multiple of 4");
}

TEST_CASE("predict/csv_rows/absent_lanes") {
  check_bad_row(csv_row("x,load,4,100000000", 4), "lane 32 is active");
  check_bad_row(csv_row("x,ldmatrix.x4,16,7fffffff", 16), "lane 31 gives the address of a row, but is not active");
  const auto bad = predict_rows(csv_header() + csv_row("x,load,4,8000000000", 4), "gfx942").bad;
  REQUIRE(bad.has_value());
  CHECK(bad->sentence == "lane 39 is active but has no address");
}

TEST_CASE("predict/csv_rows/columns") {
  check_bad("", 1, "the file is empty");
  check_bad("\n\r\n\n", 1, "the file is empty");
  check_bad("\xEF\xBB\xBF", 1, "the file is empty");
  for (const char* name : {"id", "op", "width", "mask"}) {
    std::string header = csv_header();
    header.replace(header.find(name), 1, "X");
    check_bad(header + good, 1, "no column '" + std::string(name) + "'");
    check_bad(name + ("," + csv_header()) + good, 1, "two columns '" + std::string(name) + "'");
  }
  check_bad("ID" + csv_header().substr(2), 1, "no column 'id'");
  check_bad("id;op;width;mask\n", 1, "no column 'id'");
  check_bad("\n\n" + csv_header(31), 3, "31 columns for lanes");
  check_bad(csv_header(33), 1, "33 columns for lanes");
  check_bad(csv_header(65), 1, "65 columns for lanes");
  check_bad("id,op,width,mask\n", 1, "0 columns for lanes");
  check_bad("\"id,op\n", 1, "quote");
  check_bad("a7," + csv_header() + "0," + good, 1, "two columns 'a7'");
  check_bad(csv_header().substr(0, csv_header().size() - 1) + ",a31\n", 1, "two columns 'a31'");
}

TEST_CASE("predict/csv_rows/long_line") {
  constexpr std::size_t longest = 65535;
  const auto padded = [](std::size_t length) {
    const std::string row = csv_row(",load,4,ffffffff", 8);
    return std::string(length + 1 - row.size(), 'i') + row;
  };
  const std::string id(longest - csv_row(",load,4,ffffffff", 8).size() + 1, 'i');
  check_rows(csv_header() + good + padded(longest) + good, good_cost + id + ",2,1,1\n" + good_cost);
  check_bad(csv_header() + good + padded(longest + 1) + good, 3, "longer than 65535 bytes", good_cost);
  check_bad(csv_header() + good + padded(longest + 2) + good, 3, "longer than 65535 bytes", good_cost);
  check_bad(csv_header() + good + std::string(1 << 20, 'x'), 3, "longer than 65535 bytes", good_cost);
  check_bad(std::string(1 << 20, 'x'), 1, "longer than 65535 bytes");
}

namespace {

/// A file on a failing disk: it returns its content, then an error.
class FailingDisk : public std::streambuf {
 public:
  explicit FailingDisk(std::string text) : text_(std::move(text)) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

 protected:
  int_type underflow() override { throw std::runtime_error("input/output error"); }

 private:
  std::string text_;
};

}  // namespace

TEST_CASE("predict/csv_rows/read_error") {
  for (const auto& [text, line] :
       {std::pair(csv_header() + good, 3U), {csv_header() + good + "0,load,4", 3U}, {"", 1U}}) {
    FailingDisk disk(text);
    std::istream in(&disk);
    std::ostringstream out;
    const auto bad = predict_csv(*banks::find_architecture("sm_90"), in, out, CostFormat::csv);
    REQUIRE(bad.has_value());
    CHECK(bad->line == line);
    CHECK(bad->sentence == "the file cannot be read any further");
  }
}

TEST_CASE("predict/csv_rows/output_error") {
  std::string text = csv_header();
  for (int i = 0; i < 1000; ++i) text += good;
  std::istringstream in(text), in_again(text);
  std::ostringstream out, full_disk;
  full_disk.setstate(std::ios::badbit);
  const auto& architecture = *banks::find_architecture("sm_90");
  (void)predict_csv(architecture, in, full_disk, CostFormat::csv);
  CHECK(in.tellg() >= 0);
  CHECK(in.tellg() < std::streamoff(text.size() / 2));
  // The negative control: a good output.
  (void)predict_csv(architecture, in_again, out, CostFormat::csv);
  CHECK(in_again.tellg() == std::streamoff(text.size()));
}
