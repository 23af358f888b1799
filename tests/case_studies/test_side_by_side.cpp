// Every kernel file that the emulator can run, in one source, which compiles only if no two define the same name.
#include <bankwise/emulator/cuda.hpp>
#include "tests/catch_any.hpp"

namespace side_by_side {         // the case studies have them, too
#include "emulated_kernels.cuh"  // written by CMakeLists.txt
}  // namespace side_by_side

using bankwise::emulate;
using namespace side_by_side;

TEST_CASE("case_studies/side_by_side/one_translation_unit") {
  const std::vector<uint4> in(512, make_uint4(1, 2, 3, 4));
  // Half as many blocks where a block takes twice as much.
  for (const auto& [kernel, blocks] : {std::pair(&reduce_naive, 2U), {&reduce_packed, 2U}, {&reduce_shuffle, 1U}}) {
    std::vector<uint4> out(blocks);
    emulate(kernel, {.grid = blocks, .block = 256}, in.data(), out.data(), in.size());
    CHECK(out.back().w == 4 * 512 / blocks);
  }
  std::vector<unsigned> matrix(33 * 5), transposed(matrix.size());
  for (unsigned i = 0; i < matrix.size(); ++i) matrix[i] = i;
  for (const auto& kernel : {&transpose_output_order, &transpose_persisting}) {
    std::fill(transposed.begin(), transposed.end(), 0);
    emulate(kernel, {.grid = 1, .block = {32, 16}}, matrix.data(), transposed.data(), 5, 33);
    for (unsigned i = 0; i < matrix.size(); ++i) CHECK(transposed[i % 33 * 5 + i / 33] == i);
  }
}
