// cp.async, with the numbers that programs/copies.cu derives. One run of all its kernels.
#include "watched_program.hpp"

namespace {

constexpr unsigned copying_blocks = 3;

const Checked& copies() {
  static const Checked checked = watched(program("copies"));
  return checked;
}

}  // namespace

TEST_CASE("cuda/gpu/copies/passes", "[copies]") {
  if (!has_capability(80)) return;
  struct Row {
    const char *kernel, *operation;
    unsigned width, passes, ideal, lanes = 32;
  };
  for (const Row row : {Row{"through_4", "cp.async", 4, 2, 1}, Row{"through_8", "cp.async", 8, 4, 2},
                        Row{"through_16", "cp.async", 16, 32, 4}, Row{"through_zeros", "cp.async", 4, 16, 1},
                        Row{"past_lines", "cp.async.cg", 16, 5, 4}, Row{"past_tile", "cp.async.cg", 16, 8, 4},
                        Row{"past_gather", "cp.async.cg", 16, 32, 4}, Row{"past_idle", "cp.async.cg", 16, 2, 2, 12},
                        Row{"past_zeros", "cp.async.cg", 16, 6, 6}}) {
    INFO(row.kernel);
    check_launches(copies(), row.kernel, 1, copying_blocks);
    CHECK(numbers(copies().on(row.kernel), "", row.operation) ==
          times(copying_blocks, row.passes, row.ideal, row.lanes));
    for (const auto& line : rows(copies().on(row.kernel), "", row.operation)) CHECK(line.at("width") == row.width);
  }
  CHECK(numbers(copies().on("past_stages"), "", "cp.async.cg") == times(std::uint64_t{copying_blocks} * 4 * 8, 4, 4));
}

TEST_CASE("cuda/gpu/copies/without_cost", "[copies]") {
  if (!has_capability(80)) return;
  CHECK(copies().json.at("incomplete").get<std::vector<std::string>>() ==
        std::vector<std::string>{
            "3 accesses of past_filling have no cost: cp.async.cg with ZFILL 3; the numbers are lower bounds"});
}

TEST_CASE("cuda/gpu/copies/full_table", "[copies]") {
  if (!has_capability(80)) return;
  // The smallest table has room for 8,000 to 9,000 different copies. Of the others the GPU computes the cost.
  const Checked small = watched(program("copies"), "--table 8");
  for (const auto& [kernel, operation] :
       {std::pair("through_anywhere", "cp.async"), std::pair("past_anywhere", "cp.async.cg")}) {
    INFO(kernel);
    const Numbers expected = numbers(copies().on(kernel), "", operation);
    CHECK(expected.front() == std::uint64_t{copying_blocks} * 4 * 1024);
    CHECK(expected.back() > expected.front());
    CHECK(numbers(small.on(kernel), "", operation) == expected);
    CHECK(small.on(kernel).at("without_cost").empty());
  }
}
