// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/opcode.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include "tests/bankcheck/cuda/cubin/recorded.hpp"
#include "tests/catch_any.hpp"

using bankwise::cuda::InstructionBits;
using bankwise::cuda::shared_opcode;

namespace {

struct Row {
  unsigned sm = 0;
  InstructionBits bits;
  std::string opcode;  // as nvdisasm says
};

std::vector<Row> rows() {
  std::ifstream file(recorded::folder() / "encodings.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Row row;
    words >> std::dec >> row.sm >> std::hex >> row.bits.low >> row.bits.high >> row.opcode;
    rows.push_back(row);
  }
  return rows;
}

/// nvdisasm cannot name a part of the opcode.
bool is_unknown(const std::string& opcode) {
  return opcode.find('?') != std::string::npos || opcode.find("INVALID") != std::string::npos;
}

}  // namespace

TEST_CASE("cuda/cubin/opcode/equals_nvdisasm") {
  std::map<unsigned, unsigned> named, unnamed;
  for (const Row& row : rows()) {
    INFO(row.sm << " " << std::hex << row.bits.low << " " << row.bits.high);
    const auto opcode = shared_opcode(row.sm, row.bits);
    if (is_unknown(row.opcode)) CHECK(opcode == std::nullopt);
    if (opcode) CHECK(*opcode == row.opcode);
    if (!is_unknown(row.opcode)) ++(opcode ? named : unnamed)[row.sm];
  }
  REQUIRE(named.size() == 7);
  for (const auto& [sm, count] : named) {
    INFO(sm);
    CHECK(count >= 40);
    CHECK(unnamed[sm] * 10 <= count);  // combinations that no compiler was seen to write
  }
}

TEST_CASE("cuda/cubin/opcode/encodings_by_architecture") {
  const InstructionBits load{0x0000002804007984, 0x001FE20008000C00};
  CHECK(shared_opcode(90, load) == "LDS.128");
  for (const unsigned sm : {0U, 70U, 72U, 122U, 200U}) CHECK(!shared_opcode(sm, load));
  for (const Row& row : rows()) {
    if (row.sm != 80 || row.opcode != "ATOMS.POPC.INC.32") continue;
    CHECK(shared_opcode(80, row.bits) == "ATOMS.POPC.INC.32");
    CHECK(shared_opcode(90, row.bits) != "ATOMS.POPC.INC.32");
    return;
  }
  FAIL("no such row");
}

TEST_CASE("cuda/cubin/opcode/uniform_addresses") {
  unsigned compared = 0;
  for (const Row& row : rows()) {
    if (row.sm < 90 || ((row.bits.low & 0xFFF) != 0x3A2 && (row.bits.low & 0xFFF) != 0x9A2)) continue;
    for (const std::uint64_t code : {0x3A2, 0x9A2}) {
      const auto opcode = shared_opcode(row.sm, {(row.bits.low & ~std::uint64_t{0xFFF}) | code, row.bits.high});
      CHECK(opcode == shared_opcode(row.sm, row.bits));
      compared += opcode ? 1 : 0;
    }
  }
  CHECK(compared > 0);
}

TEST_CASE("cuda/cubin/opcode/others_not_shared") {
  CHECK(!shared_opcode(90, {0x0000000000007918, 0x000FC00000000000}));  // NOP
  CHECK(!shared_opcode(90, {0x0000000402047981, 0x000EA2000C1E1900}));  // LDG.E, from global memory
  CHECK(!shared_opcode(90, {0, 0}));
}
