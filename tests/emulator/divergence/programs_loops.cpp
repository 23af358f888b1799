// SPDX-License-Identifier: MIT
#include "lockstep_programs.hpp"
#include "program_words.hpp"

namespace lockstep {

Program nested_loops() {
  const Array inner{"inner"}, outer{"outer"};
  const Variable round{"round"};
  const Block body{
      set(sum, 0),
      loop_for(
          set(round, 0), round < 4, round += 1,
          {
              loop_for(set(i, 0), i < 1 + (t + round) % 4, i += 1, {sum += inner[(t + 64 * i + 16 * round) % words]}),
              set(outer[own(round)], sum),
          }),
      output(t, sum),
  };
  return filled({inner, outer}, body);
}

Program triple_nesting() {
  const Array bound{"bound"}, middle{"middle"}, innermost{"innermost"}, record{"record"};
  const Variable first{"first"}, second{"second"}, third{"third"};
  const Block body{
      set(sum, input(t)),
      set(first, input(t) % 4),
      loop_for(set(i, 0), i < first, i += 1,
               {
                   set(second, bound[(3 * t + i) % words] % 4),
                   loop_for(set(j, 0), j < second, j += 1,
                            {
                                sum += middle[(t + 5 * j + 20 * i) % words],
                                set(third, sum % 3),
                                loop_for(set(k, 0), k < third, k += 1,
                                         {sum ^= innermost[(7 * t + k + 3 * j + 9 * i) % words]}),
                                sum += third,
                            }),
                   set(record[own(i)], sum),
               }),
      output(t, sum),
  };
  return filled({bound, middle, innermost, record}, body);
}

Program break_and_continue() {
  const Array tried{"tried"}, even{"even"}, kept{"kept"}, after{"after"};
  const Block body{
      set(sum, input(t)),
      loop_for(set(i, 0), i < 6, i += 1,
               {
                   when((t + i) % 3 == 0, {continue_loop()}),
                   loop_for(set(j, 0), j < 6, j += 1,
                            {
                                set(value, tried[(t + 11 * j + 67 * i) % words]),
                                when(value % 7 == 0, {break_out()}),
                                when(value % 2 == 0, {sum += even[(value + j) % words], continue_loop()}),
                                sum ^= kept[(value + 3 * i) % words],
                            }),
                   set(after[own(i)], sum),
                   when(sum % 11 == 0, {break_out()}),
                   sum += i,
               }),
      output(t, sum),
  };
  return filled({tried, even, kept, after}, body);
}

Program break_in_the_middle() {
  const Array before{"before"}, behind{"behind"}, left{"left"};
  const Block body{
      set(sum, 0),
      set(i, 0),
      loop_while(1,
                 {
                     set(value, before[(t + 37 * i) % words]),
                     when(value % 4 == 0 || i == 9, {break_out()}),
                     sum += behind[(value + i) % words],
                     i += 1,
                 }),
      set(left[own(i)], sum),
      output(t, sum),
  };
  return filled({before, behind, left}, body);
}

Program do_while_loop() {
  const Array body{"body"}, odd{"odd"}, condition{"condition"}, left{"left"};
  const Block kernel{
      set(sum, 0),
      set(i, 0),
      do_while(
          {
              i += 1,
              set(value, body[(t + 29 * i) % words]),
              when(value % 3 == 0, {continue_loop()}),
              sum += odd[(value + i) % words],
          },
          i < 8 && condition[(5 * t + i) % words] % 4 != 0),
      set(left[own(i)], sum),
      output(t, sum),
  };
  return filled({body, odd, condition, left}, kernel);
}

Program drop_out_then_together() {
  const Array looking{"looking"}, found{"found"}, together{"together"};
  const Block body{
      set(sum, input(t)),
      loop_for(set(i, 0), i < 12, i += 1,
               {
                   set(value, looking[(t + 19 * i) % words]),
                   when(value % 5 == t % 5, {set(found[own(i)], value), break_out()}),
                   sum += value,
               }),
      sum += together[sum % words],
      output(t, sum),
  };
  return filled({looking, found, together}, body);
}

Program loops_in_arms() {
  const Array up{"up"}, down{"down"}, record{"record"};
  const Block body{
      set(sum, input(t)),
      loop_for(set(i, 0), i < 4, i += 1,
               {
                   when((t + i) % 5 < 2,
                        {
                            loop_for(set(j, 0), j <= t % 3, j += 1, {sum += up[(t + 3 * j + 64 * i) % words]}),
                        },
                        {
                            set(j, 1 + sum % 4),
                            loop_while(j > 0, {sum += down[(2 * t + 5 * j + 32 * i) % words], set(j, j - 1)}),
                        }),
                   set(record[own(i)], sum),
               }),
      output(t, sum),
  };
  return filled({up, down, record}, body);
}

}  // namespace lockstep
