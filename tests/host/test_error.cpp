// SPDX-License-Identifier: MIT
#include <cstring>

#include "bankwise/gpu/error.hpp"
#include "catch_any.hpp"

using namespace bankwise::gpu;

namespace {

Place called_from(Place where = Place::here()) {
  return where;
}

}  // namespace

TEST_CASE("a place is the caller's") {
  const Place place = called_from();
  CHECK(place.line == __LINE__ - 1);
  CHECK(std::strcmp(place.file, __FILE__) == 0);
}

TEST_CASE("an error holds the call, its name and the place, without the folder") {
  const Error error("cudaMalloc(&p, 5)", "cudaErrorMemoryAllocation (out of memory)", {"a/b/session.cpp", 17});
  CHECK(std::string(error.what()) == "cudaMalloc(&p, 5): cudaErrorMemoryAllocation (out of memory) (session.cpp:17)");
}
