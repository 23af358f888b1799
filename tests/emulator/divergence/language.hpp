// SPDX-License-Identifier: MIT
//
// A small structured language, written as C++ expressions, for programs equivalent to the kernels:
//
//   set(sum, 0),
//   loop_for(set(i, 0), i < t % 4, i += 1, {sum += inner[(t + i) % 256]}),
//   set(outer[t], sum),
//
// All values are unsigned, 32 bits wide. The operands of && || and select() are evaluated as in C++, those of other
// operators from left to right; set() evaluates the value, then the index.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep {

struct Node;
struct Step;

struct Variable;
struct Place;

struct Expression {
  Expression(unsigned constant);  // so that 1 + x can be written
  Expression(const Variable& variable);
  Expression(const Place& place);
  explicit Expression(Node node);
  std::shared_ptr<const Node> node;
};

struct Statement {
  std::shared_ptr<const Step> step;
};
using Block = std::vector<Statement>;

/// A local variable of the function that contains it. 0 before it is set.
struct Variable {
  std::string name;
};

/// A word of an array.
struct Place {
  std::string array;
  Expression index;
};

/// An array in shared memory; its words are 0 before they are stored.
struct Array {
  std::string name;
  Place operator[](const Expression& index) const { return {name, index}; }
};

enum class Operator { add, subtract, multiply, modulo, exclusive_or, equal, unequal, less, less_or_equal, greater };

// Nodes of expressions.
struct Constant {
  unsigned value;
};
struct Thread {};     // threadIdx.x
struct BlockSize {};  // blockDim.x
struct Input {
  Expression index;
};
struct Binary {
  Operator operation;
  Expression left, right;
};
struct ShortCircuit {
  bool conjunction;  // && rather than ||
  Expression left, right;
};
struct Select {
  Expression condition, yes, no;
};
struct Call {
  std::string function;
  std::vector<Expression> arguments;
};
struct Node {
  std::variant<Constant, Thread, BlockSize, Variable, Place, Input, Binary, ShortCircuit, Select, Call> kind;
};

// Statements.
struct Set {
  Variable variable;
  Expression value;
};
struct Store {
  Place place;
  Expression value;
};
struct Output {
  Expression index, value;
};
struct If {
  Expression condition;
  Block then, otherwise;
};
struct Loop {
  bool body_first;  // do-while
  Expression condition;
  Block body, next;  // `next` is the third expression of a for
};
struct Case {
  std::optional<unsigned> value;  // none: default
  Block block;
};
struct Switch {
  Expression value;
  std::vector<Case> cases;
};
struct Break {};
struct Continue {};
struct Return {
  Expression value;
};
struct Barrier {};
struct Sequence {
  Block block;
};
struct Step {
  std::variant<Set, Store, Output, If, Loop, Switch, Break, Continue, Return, Barrier, Sequence> kind;
};

struct Function {
  std::vector<Variable> parameters;
  Block body;
};

/// A kernel. Barriers are statements of `body`, not of its loops and branches.
struct Program {
  Block body;
  std::map<std::string, Function> functions;
};

// Constructors, which make programs look like their kernels.

inline Expression::Expression(Node node_) : node(std::make_shared<const Node>(std::move(node_))) {}
inline Expression::Expression(unsigned constant) : Expression(Node{Constant{constant}}) {}
inline Expression::Expression(const Variable& variable) : Expression(Node{variable}) {}
inline Expression::Expression(const Place& place) : Expression(Node{place}) {}

inline Expression binary(Operator operation, const Expression& left, const Expression& right) {
  return Expression(Node{Binary{operation, left, right}});
}
inline Expression operator+(const Expression& left, const Expression& right) {
  return binary(Operator::add, left, right);
}
inline Expression operator-(const Expression& left, const Expression& right) {
  return binary(Operator::subtract, left, right);
}
inline Expression operator*(const Expression& left, const Expression& right) {
  return binary(Operator::multiply, left, right);
}
inline Expression operator%(const Expression& left, const Expression& right) {
  return binary(Operator::modulo, left, right);
}
inline Expression operator^(const Expression& left, const Expression& right) {
  return binary(Operator::exclusive_or, left, right);
}
inline Expression operator==(const Expression& left, const Expression& right) {
  return binary(Operator::equal, left, right);
}
inline Expression operator!=(const Expression& left, const Expression& right) {
  return binary(Operator::unequal, left, right);
}
inline Expression operator<(const Expression& left, const Expression& right) {
  return binary(Operator::less, left, right);
}
inline Expression operator<=(const Expression& left, const Expression& right) {
  return binary(Operator::less_or_equal, left, right);
}
inline Expression operator>(const Expression& left, const Expression& right) {
  return binary(Operator::greater, left, right);
}
inline Expression operator&&(const Expression& left, const Expression& right) {
  return Expression(Node{ShortCircuit{true, left, right}});
}
inline Expression operator||(const Expression& left, const Expression& right) {
  return Expression(Node{ShortCircuit{false, left, right}});
}
inline Expression select(const Expression& condition, const Expression& yes, const Expression& no) {
  return Expression(Node{Select{condition, yes, no}});
}
inline Expression thread() { return Expression(Node{Thread{}}); }
inline Expression block_size() { return Expression(Node{BlockSize{}}); }
inline Expression input(const Expression& index) { return Expression(Node{Input{index}}); }
inline Expression call(std::string function, std::vector<Expression> arguments) {
  return Expression(Node{Call{std::move(function), std::move(arguments)}});
}

template <class Kind>
Statement statement(Kind kind) {
  return {std::make_shared<const Step>(Step{std::move(kind)})};
}
inline Statement set(const Variable& variable, const Expression& value) { return statement(Set{variable, value}); }
inline Statement set(const Place& place, const Expression& value) { return statement(Store{place, value}); }
inline Statement operator+=(const Variable& variable, const Expression& value) {
  return set(variable, variable + value);
}
inline Statement operator^=(const Variable& variable, const Expression& value) {
  return set(variable, variable ^ value);
}
inline Statement output(const Expression& index, const Expression& value) { return statement(Output{index, value}); }
inline Statement when(const Expression& condition, Block then, Block otherwise = {}) {
  return statement(If{condition, std::move(then), std::move(otherwise)});
}
inline Statement loop_while(const Expression& condition, Block body) {
  return statement(Loop{false, condition, std::move(body), {}});
}
inline Statement do_while(Block body, const Expression& condition) {
  return statement(Loop{true, condition, std::move(body), {}});
}
inline Statement loop_for(const Statement& first, const Expression& condition, const Statement& next, Block body) {
  return statement(Sequence{{first, statement(Loop{false, condition, std::move(body), {next}})}});
}
inline Statement switch_on(const Expression& value, std::vector<Case> cases) {
  return statement(Switch{value, std::move(cases)});
}
inline Case case_of(unsigned value, Block block) { return {value, std::move(block)}; }
inline Case default_case(Block block) { return {std::nullopt, std::move(block)}; }
inline Statement break_out() { return statement(Break{}); }
inline Statement continue_loop() { return statement(Continue{}); }
inline Statement return_now(const Expression& value = 0U) { return statement(Return{value}); }
inline Statement barrier() { return statement(Barrier{}); }
inline Statement sequence(Block block) { return statement(Sequence{std::move(block)}); }

}  // namespace lockstep
