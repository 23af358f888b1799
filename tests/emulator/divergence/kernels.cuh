#pragma once

#include "branches.cuh"
#include "helpers.cuh"
#include "loops.cuh"

/// All kernels, and lockstep::Order of their requests. The order in which a branch's arms run is not specified: a
/// compiler may place `else` before `then`, and the emulator follows the compiler. So if two arms have accesses, only
/// the order within each statement is compared, and if two arms call one function, not even that. Lanes, addresses and
/// the number of accesses are always compared.
#define FOR_EACH_DIVERGENCE(X)          \
  X(nested_loops, all)                  \
  X(triple_nesting, all)                \
  X(break_and_continue, of_statement)   \
  X(break_in_the_middle, all)           \
  X(do_while, all)                      \
  X(drop_out_then_together, all)        \
  X(loops_in_arms, of_statement)        \
  X(early_return, of_statement)         \
  X(return_in_a_loop, all)              \
  X(switch, of_statement)               \
  X(else_if, of_statement)              \
  X(short_circuit, all)                 \
  X(short_circuit_of_a_loop, all)       \
  X(state_machine, of_statement)        \
  X(conditional_operator, of_statement) \
  X(helper, all)                        \
  X(helper_in_both_arms, none)          \
  X(helpers_two_deep, all)              \
  X(mutual_recursion, all)              \
  X(recursion, of_statement)            \
  X(helper_with_returns, all)           \
  X(syncwarp, all)                      \
  X(syncwarp_of_some, of_statement)
