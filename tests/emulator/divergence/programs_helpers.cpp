// SPDX-License-Identifier: MIT
#include "lockstep_programs.hpp"
#include "program_words.hpp"

namespace lockstep {
namespace {

const Variable at{"at"}, from{"from"};

/// Of the array "path", as short_step().
Function walk() {
  const Array path{"path"};
  const Variable steps{"steps"};
  return {{from, steps},
          {
              set(at, from),
              loop_for(set(i, 0), i < steps, i += 1, {at += path[(at + i) % words] % 64}),
              return_now(at),
          }};
}

Function short_step() {
  const Array path{"path"};
  return {{from},
          {
              set(at, from),
              loop_while(path[at % words] % 4 != 0 && at < from + 5, {at += 1}),
              return_now(at),
          }};
}

Function long_step() {
  const Array turn{"turn"};
  return {{from},
          {
              set(at, call("short_step", {from})),
              when(turn[at % words] % 2 == 0, {at += call("short_step", {7 * at})}),
              return_now(at + call("short_step", {3 * at + 1})),
          }};
}

Function ping() {
  const Array to{"to"};
  const Variable ball{"ball"}, left{"left"};
  return {{ball, left},
          {
              set(value, to[(ball + left) % words]),
              when(left == 0, {return_now(value)}),
              return_now(value + call("pong", {value % 97, left - 1})),
          }};
}

Function pong() {
  const Array fro{"fro"};
  const Variable ball{"ball"}, left{"left"};
  return {{ball, left},
          {
              set(value, ball),
              when(left > 0, {value += call("ping", {3 * ball + 1, left - 1})}),
              return_now(value ^ fro[(value + left) % words]),
          }};
}

Function climb() {
  const Array leaf{"leaf"}, down{"down"}, up{"up"};
  const Variable height{"height"}, node{"node"};
  return {{height, node},
          {
              when(height < 2, {return_now(leaf[node % words])}),
              set(sum, down[(node + height) % words]),
              sum += call("climb", {height - 1, 2 * node + 1}),
              sum ^= call("climb", {height - 2, 2 * node + 2}),
              return_now(sum + up[(sum + height) % words]),
          }};
}

Function search() {
  const Array first{"first"}, next{"next"}, last{"last"};
  const Variable wanted{"wanted"};
  return {{from},
          {
              set(wanted, first[from % words] % 4),
              when(wanted == 0, {return_now(from)}),
              loop_for(set(i, 0), i < 5, i += 1,
                       {
                           set(value, next[(from + 17 * i) % words]),
                           when(value % 8 == wanted, {return_now(value)}),
                           when(value % 8 == 7, {return_now(value + last[(from + i) % words])}),
                       }),
              return_now(wanted),
          }};
}

}  // namespace

Program helper() {
  const Array path{"path"}, between{"between"}, some{"some"}, after{"after"};
  const Block body{
      set(sum, call("walk", {t, input(t) % 5})),
      sum += between[sum % words],
      when(sum % 3 != 0,
           {
               sum += call("walk", {sum, sum % 4}),
               set(some[own(0)], sum),
           }),
      sum ^= call("walk", {3 * t, 1 + sum % 3}),
      set(after[own(1)], sum),
      output(t, sum),
  };
  Program program = filled({path, between, some, after}, body);
  program.functions = {{"walk", walk()}};
  return program;
}

Program helper_in_both_arms() {
  const Array path{"path"}, join{"join"};
  const Block body{
      set(sum, input(t)),
      loop_for(set(i, 0), i < 3, i += 1,
               {
                   when((sum + t) % 2 == 0,
                        {
                            sum += call("walk", {t + 64 * i, 1 + sum % 3}),
                        },
                        {
                            sum ^= call("walk", {5 * t + i, 2 + sum % 2}),
                        }),
                   sum += join[(sum + i) % words],
               }),
      output(t, sum),
  };
  Program program = filled({path, join}, body);
  program.functions = {{"walk", walk()}};
  return program;
}

Program helpers_two_deep() {
  const Array path{"path"}, turn{"turn"}, after{"after"};
  const Block body{
      set(sum, input(t) % 64),
      loop_for(set(i, 0), i < 3, i += 1,
               {
                   sum += call("long_step", {sum + t}),
                   when(sum % 3 == 0, {sum += call("short_step", {sum + 5 * i})}),
                   set(after[own(i)], sum),
               }),
      output(t, sum),
  };
  Program program = filled({path, turn, after}, body);
  program.functions = {{"short_step", short_step()}, {"long_step", long_step()}};
  return program;
}

Program mutual_recursion() {
  const Array to{"to"}, fro{"fro"}, after{"after"};
  const Block body{
      set(sum, call("ping", {t, input(t) % 7})),
      set(after[own(0)], sum),
      when(sum % 2 == 0, {sum += call("pong", {sum % 89, sum % 3})}),
      output(t, sum),
  };
  Program program = filled({to, fro, after}, body);
  program.functions = {{"ping", ping()}, {"pong", pong()}};
  return program;
}

Program recursion() {
  const Array leaf{"leaf"}, down{"down"}, up{"up"}, after{"after"};
  const Block body{
      set(sum, call("climb", {input(t) % 6, t})),
      set(after[own(0)], sum),
      output(t, sum),
  };
  Program program = filled({leaf, down, up, after}, body);
  program.functions = {{"climb", climb()}};
  return program;
}

Program helper_with_returns() {
  const Array first{"first"}, next{"next"}, last{"last"}, after{"after"};
  const Block body{
      set(sum, input(t)),
      loop_for(set(i, 0), i < 4, i += 1,
               {
                   sum += call("search", {sum % 128 + t}),
                   when(sum % 7 == 0, {break_out()}),
                   set(after[own(i)], sum),
               }),
      output(t, sum),
  };
  Program program = filled({first, next, last, after}, body);
  program.functions = {{"search", search()}};
  return program;
}

}  // namespace lockstep
