// A source with declarations, for the tests of what is found and edited there, and changes.
#pragma once

#include <string>
#include <vector>

#include "bankcheck/fit/change.hpp"
#include "bankcheck/fit/declaration.hpp"
#include "tests/catch_any.hpp"

inline const std::string source_with_tiles = R"(
#define ROWS 16
constexpr unsigned TILE = ROWS * 2;
__global__ void other() { __shared__ int tile[8]; tile[0] = 1; }
__global__ void k(const float* in, float* out) {
  __shared__ __align__(16) float tile[TILE][TILE], more[2][3][4];
  extern __shared__ unsigned char bytes[];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * TILE + x];  // tile[a][b]
  __syncthreads();
  out[x * TILE + y] = tile[x][y + 0];
}
__global__ void after(int* tile) { tile[3] = 4; }
)";

inline bankwise::fit::Declaration declared(const std::string& text, const bankwise::fit::SoughtArray& array) {
  const auto declaration = find_declaration(text, array);
  REQUIRE(declaration.has_value());
  return *declaration;
}

inline bankwise::fit::Change padded(std::uint32_t every, std::uint32_t bytes) {
  return {{}, {bankwise::fit::Pad{every, bytes}, bankwise::fit::Pad{}}};
}
inline const bankwise::fit::Change swizzle{{128, 5, 2}, {}};  // of rows of 32 words
