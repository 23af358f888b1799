// SPDX-License-Identifier: MIT
//
// Each kernel of this folder, translated by hand for the interpreter, statement by statement. Same names.
#pragma once

#include "language.hpp"

namespace lockstep {

// loops.cuh
Program nested_loops();
Program triple_nesting();
Program break_and_continue();
Program break_in_the_middle();
Program do_while_loop();
Program drop_out_then_together();
Program loops_in_arms();

// branches.cuh
Program early_return();
Program return_in_a_loop();
Program switch_statement();
Program else_if();
Program short_circuit();
Program short_circuit_of_a_loop();
Program state_machine();
Program conditional_operator();

// helpers.cuh
Program helper();
Program helper_in_both_arms();
Program helpers_two_deep();
Program mutual_recursion();
Program recursion();
Program helper_with_returns();

// warp_synchronous.cuh
Program syncwarp();
Program syncwarp_of_some();

}  // namespace lockstep
