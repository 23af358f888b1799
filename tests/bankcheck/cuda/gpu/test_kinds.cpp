// Each kind of access to shared memory, with the numbers that programs/kinds.cu derives. One run of all its kernels.
#include "watched_program.hpp"

namespace {

constexpr unsigned blocks = 3;

const Checked& kinds() {
  static const Checked checked = watched(program("kinds"));
  return checked;
}

/// The sentences about what the report of a kernel lacks.
std::vector<std::string> lacking(const std::string& kernel) {
  std::vector<std::string> sentences;
  for (const std::string sentence : kinds().json.at("incomplete")) {
    if (sentence.find(" of " + kernel) != std::string::npos) sentences.push_back(sentence);
  }
  return sentences;
}

void check_width(const std::string& kernel, const std::string& operation, unsigned width) {
  INFO(kernel);
  for (const auto& row : rows(kinds().on(kernel), "", operation)) CHECK(row.at("width") == width);
}

/// Accesses, passes, ideal passes and conflicts.
void check_matrix(const std::string& kernel, const std::string& operation, unsigned passes, unsigned ideal) {
  INFO(kernel);
  Numbers actual = numbers(kinds().on(kernel), "", operation);
  actual.erase(actual.begin() + 1);
  CHECK(actual == Numbers{blocks, std::uint64_t{blocks} * passes, std::uint64_t{blocks} * ideal,
                          std::uint64_t{blocks} * (passes - ideal)});
  CHECK(lacking(kernel).empty());
}

}  // namespace

TEST_CASE("cuda/gpu/kinds/widths", "[kinds]") {
  struct Row {
    const char* kernel;
    unsigned width, passes, ideal;
  };
  for (const Row row : {Row{"bytes_1", 1, 32, 1}, Row{"bytes_2", 2, 4, 1}, Row{"bytes_4", 4, 2, 1},
                        Row{"bytes_8", 8, 4, 2}, Row{"bytes_16", 16, 8, 4}}) {
    INFO(row.kernel);
    check_launches(kinds(), row.kernel, 1, blocks);
    for (const char* operation : {"store", "load"}) {
      CHECK(numbers(kinds().on(row.kernel), "", operation) == times(blocks, row.passes, row.ideal));
      check_width(row.kernel, operation, row.width);
    }
    CHECK(numbers(kinds().on(row.kernel)) == times(std::uint64_t{2} * blocks, row.passes, row.ideal));
    CHECK(lacking(row.kernel).empty());
  }
  CHECK(numbers(kinds().on("three_words"), "", "load") == times(blocks, 2, 2));
  check_width("three_words", "load", 16);
}

TEST_CASE("cuda/gpu/kinds/atomics", "[kinds]") {
  CHECK(numbers(kinds().on("add_unused"), "", "atomic") == times(blocks, 2));
  CHECK(numbers(kinds().on("add_used"), "", "atomic") == times(blocks, 4));
  CHECK(numbers(kinds().on("increments"), "", "atomic.inc") == times(blocks, 16));
  // 4 passes, ideal 2, and each conflict takes two passes.
  CHECK(numbers(kinds().on("swaps"), "", "atomic.cas") == Numbers{blocks, 32 * blocks, 4 * blocks, 2 * blocks, blocks});
  CHECK(numbers(kinds().on("float_adds"), "", "atomic.cas") == times(blocks, 2, 2));
  CHECK(numbers(kinds().on("half_adds"), "", "atomic.cas") ==
        Numbers{2 * blocks, (32 + 15) * blocks, (4 + 2) * blocks, (2 + 2) * blocks, blocks});
  for (const char* kernel : {"add_unused", "add_used", "increments", "swaps", "float_adds", "half_adds"}) {
    INFO(kernel);
    CHECK(lacking(kernel).empty());
    CHECK(kinds().on(kernel).at("why_unknown").empty());
  }
}

TEST_CASE("cuda/gpu/kinds/matrix_rows", "[kinds]") {
  check_matrix("ldmatrix_1", "ldmatrix.x1", 8, 1);
  check_matrix("ldmatrix_2", "ldmatrix.x2", 4, 2);
  check_matrix("ldmatrix_4", "ldmatrix.x4", 16, 4);
  check_matrix("ldmatrix_4_transposed", "ldmatrix.x4", 4, 4);
  if (has_capability(90)) {
    check_matrix("stmatrix_1", "stmatrix.x1", 8, 1);
    check_matrix("stmatrix_4", "stmatrix.x4", 8, 4);
  }
}

TEST_CASE("cuda/gpu/kinds/remote_shared_memory", "[kinds]") {
  if (!has_capability(90)) return;
  CHECK(lacking("remote").empty());
  CHECK(kinds().on("remote").at("remote").at("sectors") == 4 * 3 * 4);
  check_launches(kinds(), "remote", 1, 4);
  CHECK(numbers(kinds().on("remote")) == Numbers(5, 0));
}

TEST_CASE("cuda/gpu/kinds/inactive_lanes_and_generic_loads", "[kinds]") {
  for (const char* operation : {"store", "load"}) {
    CHECK(numbers(kinds().on("two_thirds"), "", operation) == times(blocks, 21, 1, 21));
    CHECK(numbers(kinds().on("part_of_warp"), "", operation) == times(blocks, 17, 1, 17));
  }
  CHECK(numbers(kinds().on("anywhere"), "// store", "store") == times(blocks, 4));
  CHECK(numbers(kinds().on("anywhere"), "generic load", "load") == times(blocks, 4));
  CHECK(numbers(kinds().on("anywhere")) == times(std::uint64_t{2} * blocks, 4));
}
