// SPDX-License-Identifier: MIT
//
// The interpreter alone, against masks worked out by hand.
#include "interpreter.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "lockstep_programs.hpp"
#include "program_words.hpp"
#include "tests/catch_any.hpp"

using namespace lockstep;

namespace {

const std::vector<unsigned> no_input(words);
const Array a{"a"}, b{"b"}, c{"c"};

/// "a 00ff": one line per request of the block's only warp, which has eight lanes.
std::vector<std::string> masks(const Program& program) {
  std::vector<std::string> result;
  for (const auto& line : lines(interpret(program, 8, 8, no_input).warps.at(0), Order::all)) {
    const auto end = line.find(':'), name = line.find(' ', 2) + 1;
    result.push_back(line.substr(name, 1) + ' ' + line.substr(end - 2, 2));
  }
  return result;
}

Program kernel(Block body) { return {std::move(body), {}}; }

using Masks = std::vector<std::string>;

}  // namespace

TEST_CASE("emulator/divergence/interpreter/branch") {
  CHECK(masks(kernel({
            when(t < 3, {set(a[t], 1)}, {set(b[t], 1)}),
            set(c[t], 1),
        })) == Masks{"a 07", "b f8", "c ff"});
  CHECK(masks(kernel({when(t < 8, {set(a[t], 1)}, {set(b[t], 1)})})) == Masks{"a ff"});
}

TEST_CASE("emulator/divergence/interpreter/loop") {
  CHECK(masks(kernel({
            loop_for(set(i, 0), i < t % 4, i += 1, {set(a[t + 8 * i], 1)}),
            set(b[t], 1),
        })) == Masks{"a ee", "a cc", "a 88", "b ff"});
  CHECK(masks(kernel({
            do_while({set(a[t], 1), i += 1}, i < t % 4),
            set(b[t], 1),
        })) == Masks{"a ff", "a cc", "a 88", "b ff"});
}

TEST_CASE("emulator/divergence/interpreter/break_and_continue") {
  CHECK(masks(kernel({
            loop_for(set(i, 0), i < 3, i += 1,
                     {
                         when(t == i, {break_out()}),
                         when(t % 2 == 0, {continue_loop()}),
                         set(a[t], 1),
                     }),
            set(b[t], 1),
        })) == Masks{"a aa", "a a8", "a a8", "b ff"});
  // of the inner loop, while the outer loop continues
  CHECK(masks(kernel({
            loop_for(set(i, 0), i < 2, i += 1,
                     {
                         loop_while(1, {when(t < 4, {break_out()}), set(a[t], 1), break_out()}),
                         set(b[t], 1),
                     }),
        })) == Masks{"a f0", "b ff", "a f0", "b ff"});
}

TEST_CASE("emulator/divergence/interpreter/switch") {
  // 0 and 4 start at a, 1 and 5 at b, 2 and 6 at c, the default, which 3 and 7 skip
  const auto program = [](bool with_default) {
    std::vector<Case> cases{
        case_of(0, {set(a[t], 1)}),
        case_of(1, {set(b[t], 1), break_out()}),
    };
    if (with_default) cases.push_back(default_case({set(c[t], 1)}));
    cases.push_back(case_of(3, {set(a[t], 2)}));
    return kernel({switch_on(t % 4, cases), set(c[t], 2)});
  };
  CHECK(masks(program(true)) == Masks{"a 11", "b 33", "c 44", "a cc", "c ff"});
  CHECK(masks(program(false)) == Masks{"a 11", "b 33", "a 88", "c ff"});
}

TEST_CASE("emulator/divergence/interpreter/short_circuit") {
  CHECK(masks(kernel({
            set(a[t], t % 2),
            set(b[t], t % 3),
            when(a[t] && b[t], {set(c[t], 1)}),
        })) == Masks{"a ff", "b ff", "a ff", "b aa", "c a2"});
  CHECK(masks(kernel({
            set(a[t], t % 2),
            set(b[t], t % 3),
            when(a[t] || b[t], {set(c[t], 1)}),
            set(sum, select(t < 2, a[t], b[t])),
        })) == Masks{"a ff", "b ff", "a ff", "b 55", "c be", "a 03", "b fc"});
}

TEST_CASE("emulator/divergence/interpreter/return") {
  Program program = kernel({
      set(sum, call("f", {t})),
      set(c[sum], 1),
  });
  const Variable n{"n"};
  program.functions["f"] = {{n},
                            {
                                when(n == 0, {return_now(64)}),
                                set(a[t], n),
                                when(n % 2 == 0, {return_now(n)}),
                                set(b[t], n),
                                return_now(n + 8),
                            }};
  CHECK(masks(program) == Masks{"a fe", "b aa", "c ff"});
  CHECK(interpret(program, 8, 8, no_input).warps[0][2].addresses ==
        std::vector<std::uint32_t>{256, 36, 8, 44, 16, 52, 24, 60});

  program.functions["f"] = {{n},
                            {
                                when(n % 4 == 0, {return_now(t)}),
                                set(a[t], n),
                                set(value, call("f", {n - 1})),
                                set(b[t], n),
                                return_now(value),
                            }};
  CHECK(masks(program) == Masks{"a ee", "a cc", "a 88", "b 88", "b cc", "b ee", "c ff"});
}

TEST_CASE("emulator/divergence/interpreter/returned_lanes") {
  CHECK(masks(kernel({
            loop_for(set(i, 0), i < 2, i += 1, {when(t == i, {return_now()}), set(a[t], 1)}),
            set(b[t], 1),
            barrier(),
            set(c[t], 1),
        })) == Masks{"a fe", "a fc", "b fc", "c fc"});
}

TEST_CASE("emulator/divergence/interpreter/barrier") {
  const auto outcome = interpret(kernel({
                                     set(a[t], t * t),
                                     barrier(),
                                     output(t, a[block_size() - 1 - t]),
                                 }),
                                 5, 2, no_input);
  CHECK(outcome.output == std::vector<unsigned>{16, 9, 4, 1, 0});
  REQUIRE(outcome.warps.size() == 3);
  CHECK(lines(outcome.warps[2], Order::all) == std::vector<std::string>{"0 store a 0000000000000001: 16",  //
                                                                        "1 load a 0000000000000001: 0"});
}

TEST_CASE("emulator/divergence/interpreter/matching_by_count") {
  // four outer iterations with trip counts of one to four in each of 128 warps
  const auto outcome =
      interpret(kernel({
                    loop_for(set(i, 0), i < 4, i += 1,
                             {
                                 loop_for(set(j, 0), j < 1 + (t + i) % 4, j += 1, {sum += a[(t + j) % words]}),
                             }),
                }),
                4096, 32, no_input);
  std::size_t right = 0, wrong = 0;
  std::uint64_t lanes_of_right = 0, lanes_of_wrong = 0;
  for (const Requests& warp : outcome.warps) {
    const Requests matched = matched_by_count(warp);
    right += warp.size();
    wrong += matched.size();
    lanes_of_right += lanes(warp);
    lanes_of_wrong += lanes(matched);
  }
  CHECK(right == 2048);
  CHECK(lanes_of_right == 2048 * 20);
  CHECK(wrong == 1280);
  CHECK(lanes_of_wrong == 1280 * 32);
}

TEST_CASE("emulator/divergence/interpreter/invalid_programs") {
  CHECK_THROWS_AS(interpret(kernel({set(a[256], 1)}), 8, 8, no_input), std::runtime_error);
  CHECK_THROWS_AS(interpret(kernel({when(t < 4, {barrier()})}), 8, 8, no_input), std::runtime_error);
  CHECK_THROWS_AS(interpret(kernel({loop_while(1, {i += 1})}), 8, 8, no_input), std::runtime_error);
  CHECK_THROWS_AS(interpret(kernel({}), 8, 65, no_input), std::runtime_error);
}
