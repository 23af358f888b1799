// Lanes that run alone, against masks worked out by hand.
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

/// A function, because __builtin_LINE() is the same everywhere in a macro's arguments.
void check(auto body, const Masks& expected) { CHECK(masks(body) == expected); }

using A = const Words&;

unsigned returns_early(A a, A b, unsigned n) {
  if (n == 0) return 64;
  a[threadIdx.x] = n;
  if (n % 2 == 0) return n;
  b[threadIdx.x] = n;
  return n + 8;
}

unsigned recurses(A a, A b, unsigned n) {
  if (n % 4 == 0) return threadIdx.x;
  a[threadIdx.x] = n;
  const unsigned value = CALL(recurses(a, b, n - 1));
  b[threadIdx.x] = n;
  return value;
}

/// 0 and 4 start at a, 1 and 5 at b, 2 and 6 at the default, which 3 and 7 skip.
template <bool has_default>
void switches(A a, A b, A c, unsigned t) {
  switch (t % 4) {
    case 0: a[t] = 1; [[fallthrough]];
    case 1: b[t] = 1; break;
    default:
      if (!has_default) break;
      c[t] = 1;
      [[fallthrough]];
    case 3: a[t] = 2;
  }
  c[t] = 2;
}

}  // namespace

TEST_CASE("emulator/divergence/path_reference/branch") {
  check(
      [](A a, A b, A c, unsigned t) {
        if (t < 3) {
          a[t] = 1;
        } else {
          b[t] = 1;
        }
        c[t] = 1;
      },
      {"a 07", "b f8", "c ff"});
}

TEST_CASE("emulator/divergence/path_reference/loop") {
  check(
      [](A a, A b, A, unsigned t) {
        FOR(unsigned i = 0, i < t % 4, ++i) a[t + 8 * i] = 1;
        b[t] = 1;
      },
      {"a ee", "a cc", "a 88", "b ff"});
  check(
      [](A a, A b, A, unsigned t) {
        unsigned i = 0;
        {
          LOOP;
          do {
            ITERATION;
            a[t] = 1;
            ++i;
          } while (i < t % 4);
        }
        b[t] = 1;
      },
      {"a ff", "a cc", "a 88", "b ff"});
}

TEST_CASE("emulator/divergence/path_reference/break_and_continue") {
  check(
      [](A a, A b, A, unsigned t) {
        FOR(unsigned i = 0, i < 3, ++i) {
          if (t == i) break;
          if (t % 2 == 0) continue;
          a[t] = 1;
        }
        b[t] = 1;
      },
      {"a aa", "a a8", "a a8", "b ff"});
  // of the inner loop, while the outer loop continues
  check(
      [](A a, A b, A, unsigned t) {
        FOR(unsigned i = 0, i < 2, ++i) {
          WHILE(true) {
            if (t < 4) break;
            a[t] = 1;
            break;
          }
          b[t] = 1;
        }
      },
      {"a f0", "b ff", "a f0", "b ff"});
}

TEST_CASE("emulator/divergence/path_reference/switch") {
  check([](A a, A b, A c, unsigned t) { switches<true>(a, b, c, t); }, {"a 11", "b 33", "c 44", "a cc", "c ff"});
  check([](A a, A b, A c, unsigned t) { switches<false>(a, b, c, t); }, {"a 11", "b 33", "a 88", "c ff"});
}

TEST_CASE("emulator/divergence/path_reference/short_circuit") {
  check(
      [](A a, A b, A c, unsigned t) {
        a[t] = t % 2;
        b[t] = t % 3;
        if (a[t] && b[t]) c[t] = 1;
      },
      {"a ff", "b ff", "a ff", "b aa", "c a2"});
  check(
      [](A a, A b, A c, unsigned t) {
        a[t] = t % 2;
        b[t] = t % 3;
        if (a[t] || b[t]) c[t] = 1;
        [[maybe_unused]] const unsigned value = t < 2 ? a[t] : b[t];
      },
      {"a ff", "b ff", "a ff", "b 55", "c be", "a 03", "b fc"});
}

TEST_CASE("emulator/divergence/path_reference/return") {
  check(
      [](A a, A b, A c, unsigned t) {
        const unsigned result = CALL(returns_early(a, b, t));
        c[result] = 1;
      },
      {"a fe", "b aa", "c ff"});
  check(
      [](A a, A b, A c, unsigned t) {
        const unsigned result = CALL(recurses(a, b, t));
        c[result] = 1;
      },
      {"a ee", "a cc", "a 88", "b 88", "b cc", "b ee", "c ff"});
}

TEST_CASE("emulator/divergence/path_reference/barrier") {
  check(
      [](A a, A b, A c, unsigned t) {
        FOR(unsigned i = 0, i < 2, ++i) {
          if (t == i) return;
          a[t] = 1;
        }
        b[t] = 1;
        __syncthreads();
        c[t] = 1;
      },
      {"a fe", "a fc", "b fc", "c fc"});
  const Kernel reverse = [](const unsigned* in, unsigned* out) {
    __shared__ Words a;
    FILL(a);
    a[threadIdx.x] = threadIdx.x * threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = a[blockDim.x - 1 - threadIdx.x];
  };
  const Outcome outcome = run_alone(reverse, 5, 2, no_input);
  CHECK(outcome.output == std::vector<unsigned>{16, 9, 4, 1, 0});
  REQUIRE(outcome.warps.size() == 3);
  const Masks last = lines(outcome.warps[2], Order::all);
  CHECK(Masks(last.end() - 2, last.end()) == Masks{"1 store a 0000000000000001: 16", "2 load a 0000000000000001: 0"});
}

TEST_CASE("emulator/divergence/path_reference/unmarked_loop") {
  CHECK_THROWS_AS(masks([](A a, A, A, unsigned t) {
                    for (unsigned i = 0; i < 2; ++i) a[t] = i;
                  }),
                  std::runtime_error);
}
