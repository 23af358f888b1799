// SPDX-License-Identifier: MIT
//
// Lanes in lock-step do not need __syncwarp(). t ^ distance stays in the lane's warp.
#include "lockstep_programs.hpp"
#include "program_words.hpp"

namespace lockstep {

Program syncwarp() {
  const Array mail{"mail"};
  const Variable distance{"distance"};
  const auto round = [&](unsigned lanes) {
    return Block{
        set(distance, lanes),
        set(mail[own(distance)], sum),
        sum += mail[distance % 4 * 64 + (t ^ distance)],
    };
  };
  const Block body{
      set(sum, input(t)), sequence(round(8)), sequence(round(4)),
      sequence(round(2)), sequence(round(1)), output(t, sum),
  };
  return filled({mail}, body);
}

Program syncwarp_of_some() {
  const Array mail{"mail"}, alone{"alone"}, after{"after"};
  const Block body{
      set(sum, input(t)),
      when(t % 4 < 2,
           {
               loop_for(set(i, 0), i < 4, i += 1, {set(mail[own(i)], sum), sum += mail[i * 64 + (t ^ 1)]}),
           },
           {
               loop_for(set(i, 0), i < sum % 5, i += 1, {sum += alone[(t + 64 * i + 7 * sum) % words]}),
           }),
      set(after[own(0)], sum),
      output(t, sum),
  };
  return filled({mail, alone, after}, body);
}

}  // namespace lockstep
