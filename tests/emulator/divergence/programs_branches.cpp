// SPDX-License-Identifier: MIT
#include "lockstep_programs.hpp"
#include "program_words.hpp"

namespace lockstep {

Program early_return() {
  const Array first{"first"}, second{"second"}, third{"third"};
  const Block body{
      when(input(t) % 3 == 0, {return_now()}),
      set(sum, first[(5 * t + 1) % words]),
      when(sum % 2 == 0, {set(second[own(0)], sum), return_now()}),
      sum += third[(3 * t + 2) % words],
      output(t, sum),
  };
  return filled({first, second, third}, body);
}

Program return_in_a_loop() {
  const Array looking{"looking"}, kept{"kept"}, left{"left"};
  // The language has no division. i / 2 of an even number is counted instead
  const Variable half{"half"};
  const Block body{
      set(sum, 0),
      set(half, 0),
      loop_for(set(i, 0), i < 8, i += 1,
               {
                   set(value, looking[(t + 41 * i) % words]),
                   when(value % 9 == 0, {output(t, sum), return_now()}),
                   when(i % 2 == 0, {set(kept[own(half)], value), half += 1}),
                   sum += value,
               }),
      sum ^= left[sum % words],
      output(t, sum),
  };
  return filled({looking, kept, left}, body);
}

Program switch_statement() {
  const Array zero{"zero"}, one{"one"}, two{"two"}, four{"four"}, other{"other"}, five{"five"}, after{"after"};
  const Block body{
      set(sum, input(t)),
      loop_for(set(i, 0), i < 4, i += 1,
               {
                   switch_on((sum + i) % 8,
                             {
                                 case_of(0, {sum += zero[(t + 64 * i) % words]}),
                                 case_of(1, {sum += one[(3 * t + 64 * i) % words], break_out()}),
                                 case_of(2, {sum += two[(5 * t + 64 * i) % words], break_out()}),
                                 case_of(4, {sum += four[(7 * t + 64 * i) % words]}),
                                 default_case({sum += other[(9 * t + 64 * i) % words]}),
                                 case_of(5, {sum += five[(11 * t + 64 * i) % words]}),
                             }),
                   set(after[own(i)], sum),
               }),
      output(t, sum),
  };
  return filled({zero, one, two, four, other, five, after}, body);
}

Program else_if() {
  const Array fives{"fives"}, threes{"threes"}, twos{"twos"}, rest{"rest"}, join{"join"};
  const Statement chain = when(sum % 5 == 0, {set(fives[own(i)], sum)},  //
                               {when(sum % 3 == 0, {sum += threes[(3 * t + 64 * i) % words]},
                                     {when(sum % 2 == 0, {sum += twos[(5 * t + 64 * i) % words]},  //
                                           {set(rest[own(i)], sum)})})});
  const Block body{
      set(sum, input(t)),
      loop_for(set(i, 0), i < 4, i += 1, {chain, sum += join[(sum + i) % words]}),
      output(t, sum),
  };
  return filled({fives, threes, twos, rest, join}, body);
}

Program short_circuit() {
  const Array a{"a"}, b{"b"}, c{"c"}, d{"d"}, both{"both"}, neither{"neither"};
  const Block body{
      set(sum, input(t)),
      loop_for(
          set(i, 0), i < 4, i += 1,
          {
              when(a[(t + 64 * i) % words] % 2 == 0 && b[(3 * t + 64 * i) % words] % 3 != 0,
                   {set(both[own(i)], sum)},  //
                   {sum += 1 + i}),
              when(c[(5 * t + 64 * i) % words] % 2 == 0 || d[(7 * t + 64 * i) % words] % 3 == 0, {sum ^= 5 * i},  //
                   {set(neither[own(i)], sum)}),
          }),
      output(t, sum),
  };
  return filled({a, b, c, d, both, neither}, body);
}

Program short_circuit_of_a_loop() {
  const Array a{"a"}, b{"b"}, c{"c"}, d{"d"};
  const Block body{
      set(sum, input(t)),
      set(i, 0),
      loop_while(i < 7 && (a[(sum + 3 * i) % words] % 2 == 0 || b[(sum + 5 * i) % words] % 3 == 0), {i += 1}),
      sum += i,
      set(i, 0),
      loop_while(i < 7 && c[(sum + 3 * i) % words] % 8 != 0 && d[(sum + 5 * i) % words] % 8 != 0, {i += 1}),
      output(t, sum + i),
  };
  return filled({a, b, c, d}, body);
}

Program state_machine() {
  const Array start{"start"}, read{"read"}, count{"count"}, finish{"finish"}, left{"left"};
  const Variable state{"state"};
  const Block body{
      set(sum, input(t)),
      set(state, 0),
      set(i, 0),
      loop_while(
          state != 4 && i < 16,
          {
              i += 1,
              switch_on(state,
                        {
                            case_of(0,
                                    {
                                        sum += start[(t + 13 * i) % words],
                                        set(state, 1 + sum % 2),
                                        break_out(),
                                    }),
                            case_of(1,
                                    {
                                        sum ^= read[(3 * t + 13 * i) % words],
                                        when(sum % 4 == 0, {continue_loop()}),
                                        set(state, select(sum % 3 == 0, 3, 2)),
                                        break_out(),
                                    }),
                            case_of(2,
                                    {
                                        sum += count[(5 * t + 13 * i) % words],
                                        set(state, sum % 4),
                                        break_out(),
                                    }),
                            default_case({
                                set(finish[own(i)], sum),
                                set(state, 4),
                                break_out(),
                            }),
                        }),
          }),
      set(left[own(i)], sum),
      output(t, sum),
  };
  return filled({start, read, count, finish, left}, body);
}

Program conditional_operator() {
  const Array yes{"yes"}, no{"no"}, left{"left"}, middle{"middle"}, right{"right"};
  const Block body{
      set(sum, input(t)),
      loop_for(
          set(i, 0), i < 4, i += 1,
          {
              sum += select(sum % 3 == 0, yes[(t + 64 * i) % words], no[(3 * t + 64 * i) % words]),
              sum ^= select(sum % 2 == 0, left[(5 * t + 64 * i) % words],
                            select(sum % 5 == 0, middle[(7 * t + 64 * i) % words], right[(9 * t + 64 * i) % words])),
          }),
      output(t, sum),
  };
  return filled({yes, no, left, middle, right}, body);
}

}  // namespace lockstep
