// Lanes that run alone, against masks worked out by hand: one example of all that is part of a path. That the emulator
// finds the same is the test of the rest.
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch_any.hpp"
// The last, because it defines words of CUDA.
#include "path_reference.hpp"

using namespace lockstep;

namespace {

using Masks = std::vector<std::string>;
const std::vector<unsigned> no_input(words);

/// One line per request after the barrier, "a 0f", of a block whose only warp has eight lanes.
template <class Body>
Masks masks(Body) {
  const Kernel kernel = [](const unsigned* in, unsigned*) {
    __shared__ Words a, b, c;
    FILL(a, b, c);
    Body()(a, b, c, threadIdx.x);
  };
  Masks masks;
  for (const auto& line : lines(run_alone(kernel, 8, 8, no_input).warps.at(0), Order::all)) {
    const auto end = line.find(':'), name = line.find(' ', 2) + 1;
    if (!line.starts_with("0 ")) masks.push_back(line.substr(name, 1) + ' ' + line.substr(end - 2, 2));
  }
  return masks;
}

using A = const Words&;

unsigned recurses(A a, A b, unsigned n) {
  if (n % 4 == 0) return threadIdx.x;
  a[threadIdx.x] = n;
  const unsigned value = CALL(recurses(a, b, n - 1));
  b[threadIdx.x] = n;
  return value;
}

}  // namespace

TEST_CASE("emulator/divergence/path_reference/masks") {
  const Masks found = masks([](A a, A b, A c, unsigned t) {
    FOR(unsigned i = 0, i < 2, ++i) {
      WHILE(true) {
        if (t < 4) break;
        a[t] = 1;
        break;
      }
      b[t] = 1;
      if (t == i) return;
    }
    __syncthreads();
    const unsigned result = CALL(recurses(a, b, t));
    c[result] = 1;
  });
  const Masks in_loops{"a f0", "b ff", "a f0", "b fe"};
  const Masks in_calls{"a ec", "a cc", "a 88", "b 88", "b cc", "b ec", "c fc"};
  CHECK(Masks(found.begin(), found.begin() + 4) == in_loops);
  CHECK(Masks(found.begin() + 4, found.end()) == in_calls);
}

TEST_CASE("emulator/divergence/path_reference/unmarked_loop") {
  CHECK_THROWS_AS(masks([](A a, A, A, unsigned t) {
                    for (unsigned i = 0; i < 2; ++i) a[t] = i;
                  }),
                  std::runtime_error);
}
