// SPDX-License-Identifier: MIT
//
// Invalid files: the line number, an error message with the cause, and the results of the rows before it.
#include <streambuf>

#include "accesses_csv.hpp"

using namespace bankwise;
using namespace bankwise::predict;

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

TEST_CASE("predict/csv_rows/field_count") {
  check_bad_row("x,load,4,ffffffff\n", "the row has 4 fields, the header 36");
  check_bad_row(csv_row("x,load,4,ffffffff", 4, 33), "the row has 37 fields, the header 36");
  check_bad_row("  \n", "the row has 1 fields");
  check_bad_row("\r\r\n", "the row has 1 fields");
  check_bad_row(std::string(1, '\0') + "\n", "the row has 1 fields");
}

TEST_CASE("predict/csv_rows/quotes") {
  check_bad_row(csv_row("\"x,load,4,f", 4), "quote");
  check_bad_row(csv_row("\"x\"y,load,4,f", 4), "quote");
  check_bad_row(csv_row("x\"y\",load,4,f", 4), "quote");
}

TEST_CASE("predict/csv_rows/operation") {
  check_bad_row(csv_row("x,laod,4,f", 4), "'laod' is not an operation");
  check_bad_row(csv_row("x,,4,f", 4), "'' is not an operation");
  check_bad_row(csv_row("x,LOAD,4,f", 4), "'LOAD' is not an operation");
  check_bad_row(csv_row("x, load,4,f", 4), "' load' is not an operation");
  // An error message contains no control characters of the file, and only the beginning of a long field.
  check_bad_row(csv_row("x,\x1B[31m\xC3\xA9,4,f", 4), "'?[31m\?\?' is not an operation");
  check_bad_row(csv_row("x," + std::string(1000, 'y') + ",4,f", 4), "'" + std::string(40, 'y') + "...'");
}

TEST_CASE("predict/csv_rows/width") {
  for (const char* width : {"four", "", "4.0", "-4", "+4", " 4", "4 ", "99999999999", "0x"}) {
    check_bad_row(csv_row("x,load," + std::string(width) + ",f", 4), "the width '" + std::string(width) + "'");
  }
  check_bad_row(csv_row("x,load,3,f", 4), "sm_90 has no 3-byte load");
  check_bad_row(csv_row("x,load,0,f", 4), "sm_90 has no 0-byte load");
  check_bad_row(csv_row("x,load,4294967295,f", 4), "sm_90 has no 4294967295-byte load");
  check_bad_row(csv_row("x,ldmatrix.x1,4,ffffffff", 4), "sm_90 has no 4-byte ldmatrix.x1, only of 16");
  check_bad_row(csv_row("x,atomic,8,f", 8), "no cost for 8-byte atomic");
}

TEST_CASE("predict/csv_rows/mask") {
  for (const char* mask : {"", "0x", "g", "-1", "0xx1", "1 ", "10000000000000000", "1h"}) {
    check_bad_row(csv_row("x,load,4," + std::string(mask), 4), "the mask '" + std::string(mask) + "'");
  }
}

TEST_CASE("predict/csv_rows/address") {
  for (const char* address : {"", "x", "-4", "+4", " 4", "4.0", "1e3", "4294967296", "0x100000000", "0x", "ff"}) {
    check_bad_row(with_address(address), "the address of lane 17, '" + std::string(address) + "'");
  }
  check_bad_row(with_address("70"), "the address of lane 17, 70, is not a multiple of 4");
}

TEST_CASE("predict/csv_rows/absent_lanes") {
  check_bad_row(csv_row("x,load,4,100000000", 4), "lane 32 is active");
  check_bad_row(csv_row("x,ldmatrix.x4,16,7fffffff", 16), "lane 31 gives the address of a row, but is not active");
  const auto* gfx = banks::find_architecture("gfx942");
  std::istringstream in(csv_header() + csv_row("x,load,4,8000000000", 4));
  std::ostringstream out;
  const auto bad = predict_csv(*gfx, in, out, CostFormat::csv);
  REQUIRE(bad.has_value());
  CHECK(bad->sentence == "lane 39 is active but has no address");
}

TEST_CASE("predict/csv_rows/header") {
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
}

TEST_CASE("predict/csv_rows/two_columns") {
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

BadRow from_failing_disk(const std::string& text) {
  FailingDisk disk(text);
  std::istream in(&disk);
  std::ostringstream out;
  const auto bad = predict_csv(*banks::find_architecture("sm_90"), in, out, CostFormat::csv);
  REQUIRE(bad.has_value());
  return *bad;
}

}  // namespace

TEST_CASE("predict/csv_rows/read_error") {
  const BadRow later = from_failing_disk(csv_header() + good);
  CHECK(later.line == 3);
  CHECK(later.sentence == "the file cannot be read any further");
  const BadRow within = from_failing_disk(csv_header() + good + "0,load,4");
  CHECK(within.line == 3);
  CHECK(within.sentence == "the file cannot be read any further");
  const BadRow at_once = from_failing_disk("");
  CHECK(at_once.line == 1);
  CHECK(at_once.sentence == "the file cannot be read any further");
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
  CHECK(in_again.tellg() == std::streamoff(-1));
}
