// SPDX-License-Identifier: MIT
#include "interpreter.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace lockstep {
namespace {

constexpr unsigned words = 256;
constexpr unsigned max_lanes = 64;
constexpr std::uint64_t max_steps = 10'000'000;

using Mask = std::uint64_t;
using Values = std::array<unsigned, max_lanes>;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

struct Machine {
  const Program& program;
  const std::vector<unsigned>& input;
  unsigned threads;
  std::map<std::string, std::vector<unsigned>> shared = {};
  std::vector<unsigned> output = std::vector<unsigned>(threads);
  std::uint64_t steps = 0;
};

/// The state of one call of a function, or of the kernel, for all lanes that are in it.
struct Frame {
  std::map<std::string, Values> variables = {};
  Values returned = {};
  Mask broken = 0, continued = 0;  ///< lanes that wait at the end of the innermost loop, and at that of its body
};

struct Warp {
  unsigned first_thread = 0;
  unsigned level = 0;
  Mask alive = 0;  ///< lanes that have not returned from the kernel
  Frame frame = {};
  Requests requests = {};
};

template <class Function>
void each_lane(Mask mask, const Function& function) {
  for (unsigned lane = 0; lane < max_lanes; ++lane) {
    if ((mask >> lane & 1) == 1) function(lane);
  }
}

Mask nonzero(const Values& values, Mask among) {
  Mask mask = 0;
  each_lane(among, [&](unsigned lane) { mask |= Mask{values[lane] != 0} << lane; });
  return mask;
}

unsigned apply(Operator operation, unsigned left, unsigned right) {
  switch (operation) {
    case Operator::add: return left + right;
    case Operator::subtract: return left - right;
    case Operator::multiply: return left * right;
    case Operator::modulo: return left % right;
    case Operator::exclusive_or: return left ^ right;
    case Operator::equal: return unsigned(left == right);
    case Operator::unequal: return unsigned(left != right);
    case Operator::less: return unsigned(left < right);
    case Operator::less_or_equal: return unsigned(left <= right);
    case Operator::greater: return unsigned(left > right);
  }
  return 0;
}

// Statements contain statements, so the interpreter's functions call each other.
Values evaluate(Machine& machine, Warp& warp, Frame& frame, const Expression& expression, Mask mask);
Mask execute(Machine& machine, Warp& warp, Frame& frame, const Block& block, Mask mask);

/// Records the request, and returns the address of each lane's word. Without lanes there is no request.
std::array<unsigned*, max_lanes> request(Machine& machine, Warp& warp, const std::string& array, bool store,
                                         const Values& index, Mask mask) {
  std::array<unsigned*, max_lanes> found{};
  if (mask == 0) return found;
  auto& content = machine.shared.try_emplace(array, words).first->second;
  Request made{array, store, warp.level, mask, {}};
  each_lane(mask, [&](unsigned lane) {
    if (index[lane] >= words) throw std::runtime_error(array + ": an access outside of it");
    made.addresses.push_back(4 * index[lane]);
    found[lane] = &content[index[lane]];
  });
  warp.requests.push_back(made);
  return found;
}

Values call_function(Machine& machine, Warp& warp, Frame& frame, const Call& call, Mask mask) {
  const Function& function = machine.program.functions.at(call.function);
  Frame callee;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    callee.variables[function.parameters[i].name] = evaluate(machine, warp, frame, call.arguments.at(i), mask);
  }
  execute(machine, warp, callee, function.body, mask);
  return callee.returned;
}

Values evaluate(Machine& machine, Warp& warp, Frame& frame, const Expression& expression, Mask mask) {
  Values result{};
  if (mask == 0) return result;
  const auto value_of = [&](const Expression& operand, Mask active) {
    return evaluate(machine, warp, frame, operand, active);
  };
  const auto fill = [&](Mask active, const auto& value) {
    each_lane(active, [&](unsigned lane) { result[lane] = value(lane); });
  };
  const Overloaded kinds{
      [&](const Constant& constant) { result.fill(constant.value); },
      [&](const Thread&) { fill(mask, [&](unsigned lane) { return warp.first_thread + lane; }); },
      [&](const BlockSize&) { result.fill(machine.threads); },
      [&](const Variable& variable) { result = frame.variables[variable.name]; },
      [&](const Place& place) {
        const Values index = value_of(place.index, mask);
        const auto found = request(machine, warp, place.array, false, index, mask);
        fill(mask, [&](unsigned lane) { return *found[lane]; });
      },
      [&](const Input& input) {
        const Values index = value_of(input.index, mask);
        fill(mask, [&](unsigned lane) { return machine.input.at(index[lane]); });
      },
      [&](const Binary& binary) {
        const Values left = value_of(binary.left, mask), right = value_of(binary.right, mask);
        fill(mask, [&](unsigned lane) { return apply(binary.operation, left[lane], right[lane]); });
      },
      [&](const ShortCircuit& both) {
        const Mask left = nonzero(value_of(both.left, mask), mask);
        const Mask undecided = both.conjunction ? left : mask & ~left;
        const Mask right = nonzero(value_of(both.right, undecided), undecided);
        fill(both.conjunction ? right : left | right, [](unsigned) { return 1U; });
      },
      [&](const Select& select) {
        const Mask yes_mask = nonzero(value_of(select.condition, mask), mask);
        const Values yes = value_of(select.yes, yes_mask), no = value_of(select.no, mask & ~yes_mask);
        fill(yes_mask, [&](unsigned lane) { return yes[lane]; });
        fill(mask & ~yes_mask, [&](unsigned lane) { return no[lane]; });
      },
      [&](const Call& call) { result = call_function(machine, warp, frame, call, mask); },
  };
  std::visit(kinds, expression.node->kind);
  return result;
}

/// Returns the lanes that continue after the loop once no lane is left in it.
Mask execute_loop(Machine& machine, Warp& warp, Frame& frame, const Loop& loop, Mask mask) {
  const Mask broken_outside = std::exchange(frame.broken, 0), continued_outside = std::exchange(frame.continued, 0);
  const auto hold = [&](Mask among) { return nonzero(evaluate(machine, warp, frame, loop.condition, among), among); };
  Mask inside = mask, behind = 0;
  if (!loop.body_first) {
    inside = hold(mask);
    behind = mask & ~inside;
  }
  while (inside != 0) {
    const Mask through = execute(machine, warp, frame, loop.body, inside);
    const Mask around = execute(machine, warp, frame, loop.next, through | std::exchange(frame.continued, 0));
    inside = hold(around);
    behind |= around & ~inside;
  }
  behind |= frame.broken;
  frame.broken = broken_outside;
  frame.continued = continued_outside;
  return behind;
}

/// Lanes that fall through run together with those that start there, because compiled code has the case only once.
Mask execute_switch(Machine& machine, Warp& warp, Frame& frame, const Switch& choice, Mask mask) {
  const Mask broken_outside = std::exchange(frame.broken, 0);
  const Values value = evaluate(machine, warp, frame, choice.value, mask);
  const auto lanes_of = [&](unsigned wanted) {
    Mask lanes = 0;
    each_lane(mask, [&](unsigned lane) { lanes |= Mask{value[lane] == wanted} << lane; });
    return lanes;
  };
  Mask unnamed = mask;
  bool has_default = false;
  for (const Case& one : choice.cases) {
    if (one.value) unnamed &= ~lanes_of(*one.value);
    has_default |= !one.value;
  }
  Mask inside = 0;
  for (const Case& one : choice.cases) {
    inside |= one.value ? lanes_of(*one.value) : unnamed;
    inside = execute(machine, warp, frame, one.block, inside);
  }
  const Mask behind = inside | frame.broken | (has_default ? 0 : unnamed);
  frame.broken = broken_outside;
  return behind;
}

/// Returns the lanes that reach its end.
Mask execute_one(Machine& machine, Warp& warp, Frame& frame, const Statement& statement, Mask mask) {
  const auto value_of = [&](const Expression& expression) { return evaluate(machine, warp, frame, expression, mask); };
  const Overloaded kinds{
      [&](const Set& set) {
        const Values value = value_of(set.value);
        each_lane(mask, [&](unsigned lane) { frame.variables[set.variable.name][lane] = value[lane]; });
        return mask;
      },
      [&](const Store& store) {
        const Values value = value_of(store.value), index = value_of(store.place.index);
        const auto found = request(machine, warp, store.place.array, true, index, mask);
        each_lane(mask, [&](unsigned lane) { *found[lane] = value[lane]; });
        return mask;
      },
      [&](const Output& output) {
        const Values value = value_of(output.value), index = value_of(output.index);
        each_lane(mask, [&](unsigned lane) { machine.output.at(index[lane]) = value[lane]; });
        return mask;
      },
      [&](const If& branch) {
        const Mask then = nonzero(value_of(branch.condition), mask);
        const Mask first = execute(machine, warp, frame, branch.then, then);
        return first | execute(machine, warp, frame, branch.otherwise, mask & ~then);
      },
      [&](const Loop& loop) { return execute_loop(machine, warp, frame, loop, mask); },
      [&](const Switch& choice) { return execute_switch(machine, warp, frame, choice, mask); },
      [&](const Break&) {
        frame.broken |= mask;
        return Mask{0};
      },
      [&](const Continue&) {
        frame.continued |= mask;
        return Mask{0};
      },
      [&](const Return& result) {
        const Values value = value_of(result.value);
        each_lane(mask, [&](unsigned lane) { frame.returned[lane] = value[lane]; });
        return Mask{0};
      },
      [&](const Sequence& sequence) { return execute(machine, warp, frame, sequence.block, mask); },
      [&](const Barrier&) -> Mask { throw std::runtime_error("a barrier inside of another statement"); },
  };
  return std::visit(kinds, statement.step->kind);
}

Mask execute(Machine& machine, Warp& warp, Frame& frame, const Block& block, Mask mask) {
  for (const Statement& statement : block) {
    if (mask == 0) break;
    if (++machine.steps > max_steps) throw std::runtime_error("a step without end");
    mask = execute_one(machine, warp, frame, statement, mask);
  }
  return mask;
}

/// Splits a program at its barriers.
std::vector<Block> levels(const Block& body) {
  std::vector<Block> result(1);
  for (const Statement& statement : body) {
    if (std::holds_alternative<Barrier>(statement.step->kind)) {
      result.emplace_back();
    } else {
      result.back().push_back(statement);
    }
  }
  return result;
}

}  // namespace

Outcome interpret(const Program& program, unsigned threads, unsigned warp_size, const std::vector<unsigned>& input) {
  if (warp_size == 0 || warp_size > max_lanes) throw std::runtime_error("warps of 1 to 64 lanes");
  Machine machine{program, input, threads};
  std::vector<Warp> warps;
  for (unsigned first = 0; first < threads; first += warp_size) {
    const unsigned lanes = std::min(warp_size, threads - first);
    warps.push_back({first, 0, ~Mask{0} >> (max_lanes - lanes)});
  }
  for (const Block& level : levels(program.body)) {
    for (Warp& warp : warps) {
      warp.alive = execute(machine, warp, warp.frame, level, warp.alive);
      ++warp.level;
    }
  }
  Outcome outcome{{}, machine.output};
  for (Warp& warp : warps) outcome.warps.push_back(std::move(warp.requests));
  return outcome;
}

}  // namespace lockstep
