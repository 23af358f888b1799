// No parser library, because in C each operand has one of four integer types, on which the value depends: -1/2 is 0,
// but -1/2u is 2147483647. muParser, the usual choice, computes with doubles, which have no such types and are exact
// only up to 2^53. Its ?: also evaluates only one side, but in C the type depends on both.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/predict/c_integers.hpp"

namespace bankwise::predict {
namespace {

/// What a name stands for: the number in the warp; the thread's position in its block, or the block's size, on an axis.
enum class Quantity : std::uint8_t { function, lane, thread, block };

/// A name and what follows it in the list of names.
struct KnownName {
  std::string_view name, rest;
  unsigned arguments;
  const BinaryOperator* function;
  IntType type;  // of other quantities
  Quantity quantity = Quantity::function;
  unsigned axis = 0;  // without arguments
};
constexpr KnownName known_names[]{
    {"tid", "", 0, nullptr, int32, Quantity::lane},
    {"lane", "", 0, nullptr, int32, Quantity::lane},
    {"laneid", "", 0, nullptr, int32, Quantity::lane},
    {"tx", "", 0, nullptr, int32, Quantity::thread, 0},
    {"ty", "", 0, nullptr, int32, Quantity::thread, 1},
    {"tz", "", 0, nullptr, int32, Quantity::thread, 2},
    {"threadIdx.x", "", 0, nullptr, uint32, Quantity::thread, 0},
    {"threadIdx.y", "", 0, nullptr, uint32, Quantity::thread, 1},
    {"threadIdx.z", "", 0, nullptr, uint32, Quantity::thread, 2},
    {"blockDim.x", "", 0, nullptr, uint32, Quantity::block, 0},
    {"blockDim.y", "", 0, nullptr, uint32, Quantity::block, 1},
    {"blockDim.z", "", 0, nullptr, uint32, Quantity::block, 2},
    {"get_local_id", "(0)", 1, nullptr, uint64, Quantity::thread},
    {"get_local_size", "(0)", 1, nullptr, uint64, Quantity::block},
    {"get_sub_group_local_id", "()", 0, nullptr, uint32, Quantity::lane},
    {"min", "(a, b)", 2, &minimum, {}},
    {"max", "(a, b)", 2, &maximum, {}},
    {"abs", "(a)", 1, &magnitude, {}},
};

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// The first of C's types for a number of this form that holds it.
IntType type_of(Bits number, bool has_l, bool has_u, bool is_hexadecimal) {
  for (const IntType type : {int32, uint32, int64, uint64}) {
    const bool is_allowed = (type.is_wide || !has_l) && (type.is_unsigned ? has_u || is_hexadecimal : !has_u);
    const Bits largest = (type.is_wide ? ~Bits{0} : Bits{0xffffffff}) >> (type.is_unsigned ? 0 : 1);
    if (is_allowed && number <= largest) return type;
  }
  throw ExpressionError("a number without u is not below 2^63");
}

/// A value while an expression is computed. `is_number`: the expression is a number, and no more than that.
struct TypedValue {
  IntType type;
  Bits bits = 0;
  bool is_number = false;
};

/// "2tid": "; did you mean '2*tid'?"
std::string product_in(std::string_view word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const bool is_name = std::ranges::find(known_names, word.substr(digits), &KnownName::name) != std::end(known_names);
  return is_name ? fmt::format("; did you mean '{}*{}'?", word.substr(0, digits), word.substr(digits)) : "";
}

TypedValue number(std::string_view word) {
  const bool is_hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  const std::string_view digits = word.substr(is_hexadecimal ? 2 : 0);
  Bits bits = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bits, is_hexadecimal ? 16 : 10);
  std::string suffix(digits.substr(std::size_t(end - digits.data())));
  std::ranges::replace(suffix, 'U', 'u');
  const bool has_u = suffix.find('u') != std::string::npos, has_l = suffix.find_first_of("lL") != std::string::npos;
  constexpr std::string_view suffixes[]{"",    "u", "l",  "ll", "ul",  "ull", "lu",
                                        "llu", "L", "LL", "uL", "uLL", "Lu",  "LLu"};
  if (end == digits.data() || std::ranges::find(suffixes, suffix) == std::end(suffixes))
    throw ExpressionError(support::in_quotes(word) + " is not an integer" + product_in(word));
  if (digits.size() == word.size() && word[0] == '0' && end - digits.data() > 1)
    throw ExpressionError("a number begins with 0: octal or decimal?");
  if (error != std::errc{}) throw ExpressionError("a number is not below 2^64");
  return {type_of(bits, has_l, has_u, is_hexadecimal), bits, true};
}

/// Recursive descent. Each function takes its part from the front of the text and returns its value for a lane. Without
/// a lane nothing is computed, and only the syntax is checked.
class IndexParser {
 public:
  IndexParser(std::string_view text, const IndexNames& names, std::optional<unsigned> lane)
      : text_(text), names_(names), lane_(lane.value_or(0)), computes_(lane.has_value()) {}

  TypedValue whole() {
    const TypedValue value = conditional();
    if (rest().empty() && !other_lane_.empty() && has_thread_) throw ExpressionError(unknown(other_lane_));
    if (rest().empty()) return value;
    if (in_name(text_[0]) || text_[0] == '(') throw ExpressionError("an operator is missing " + place());
    throw ExpressionError(support::in_quotes(text_.substr(0, 1)) + " is unexpected");
  }

  std::string_view other_lane_name() const { return other_lane_; }

 private:
  void enter() {
    constexpr unsigned deepest = 2000;  // two per parenthesis; few enough for the stack
    if (++depth_ > deepest) throw ExpressionError("it is nested too deep");
  }

  std::string_view rest() {
    text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size()));
    return text_;
  }
  bool accept(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) throw ExpressionError(fmt::format("a '{}' is missing {}", token, place()));
  }
  std::string place() { return rest().empty() ? "at the end" : "before " + support::in_quotes(text_, 20); }

  TypedValue applied(const BinaryOperator& operation, const TypedValue& left, const TypedValue& right) const {
    const bool is_shift = operation.conversion == Conversion::left;
    const IntType type = is_shift ? left.type : common_type(left.type, right.type);
    const bool is_truth = operation.conversion == Conversion::comparison || operation.conversion == Conversion::logical;
    TypedValue result{is_truth ? int32 : type};
    if (!computes_) return result;
    const Bits count_or_operand = is_shift ? right.bits : converted(type, right.bits);
    result.bits = operation.value(type, converted(type, left.bits), count_or_operand);
    return result;
  }

  /// Takes a part whose value is computed only if it is `needed`.
  template <class Take>
  TypedValue taken_if(bool needed, Take take) {
    const bool computes = std::exchange(computes_, computes_ && needed);
    const TypedValue value = take();
    computes_ = computes;
    return value;
  }

  // Recursion: enter() limits the depth.
  TypedValue conditional() {
    enter();
    TypedValue value = binary(precedence_of_or);
    if (accept("?")) {
      const bool condition = value.bits != 0;
      const TypedValue yes = taken_if(condition, [&] { return conditional(); });
      expect(":");
      const TypedValue no = taken_if(!condition, [&] { return conditional(); });
      const IntType type = common_type(yes.type, no.type);
      value = {type, converted(type, condition ? yes.bits : no.bits)};
    }
    --depth_;
    return value;
  }

  /// Operators of at least this precedence, from left to right.
  TypedValue binary(int precedence) {
    TypedValue left = unary();
    for (;;) {
      check_no_increment();
      const auto* const operation =
          std::ranges::find_if(binary_operators, [&](const auto& each) { return rest().starts_with(each.name); });
      if (operation == std::end(binary_operators) || operation->precedence < precedence) return left;
      text_.remove_prefix(operation->name.size());
      const bool decides = operation->conversion == Conversion::logical &&
                           (left.bits != 0) == (operation->precedence == precedence_of_or);
      left = applied(*operation, left, taken_if(!decides, [&] { return binary(operation->precedence + 1); }));
    }
  }
  // Without a blank between them, two signs are one operator in C.
  void check_no_increment() {
    if (rest().starts_with("++") || text_.starts_with("--"))
      throw ExpressionError(fmt::format("there is no operator {}", text_.substr(0, 2)));
  }

  TypedValue unary() {
    enter();
    check_no_increment();
    const TypedValue value = accept("+")   ? unary()
                             : accept("-") ? applied(negated, {int32, 0}, unary())
                             : accept("~") ? applied(inverted, {int32, ~Bits{0}}, unary())
                             : accept("!") ? applied(is_zero, {int32, 0}, unary())
                                           : operand();
    --depth_;
    return value;
  }

  TypedValue operand() {
    if (accept("(")) {
      const TypedValue inner = conditional();
      expect(")");
      return inner;
    }
    const bool is_word = !rest().empty() && in_name(text_[0]);
    if (!is_word) throw ExpressionError("an operand is missing " + place());
    const auto end = std::ranges::find_if_not(text_, in_name);
    const std::string_view word = text_.substr(0, std::size_t(end - text_.begin()));
    text_.remove_prefix(word.size());
    return word[0] <= '9' ? number(word) : name(word);  // the digits and . precede the letters and _
  }

  TypedValue name(std::string_view word) {
    if (const auto given = names_.values.find(word); given != names_.values.end()) {
      const bool is_int = std::int64_t(std::int32_t(given->second)) == given->second;
      return {is_int ? int32 : int64, Bits(given->second)};
    }
    const auto* const known = std::ranges::find(known_names, word, &KnownName::name);
    if (known == std::end(known_names)) return other_lane(word);
    std::vector<TypedValue> arguments;
    if (!known->rest.empty()) {
      bool is_call = accept("(");
      if (is_call && !accept(")")) {
        do arguments.push_back(conditional());
        while (accept(","));
        expect(")");
      }
      is_call = is_call && arguments.size() == known->arguments;
      const auto is_axis = [](const TypedValue& value) { return value.is_number && value.bits < 3; };
      if (!is_call || (known->function == nullptr && !arguments.empty() && !is_axis(arguments[0]))) {
        const char* others =
            known->quantity == Quantity::thread || known->quantity == Quantity::block ? ", (1), (2)" : "";
        throw ExpressionError(fmt::format("{} is understood as {}{}{} only", word, known->name, known->rest, others));
      }
    }
    if (known->function == nullptr)
      return quantity(*known, arguments.empty() ? known->axis : unsigned(arguments[0].bits));
    if (arguments.size() == 1) arguments.insert(arguments.begin(), {int32, 0});
    return applied(*known->function, arguments[0], arguments[1]);
  }

  TypedValue quantity(const KnownName& known, unsigned axis) {
    if (known.quantity != Quantity::block) has_thread_ = true;
    if (known.quantity == Quantity::lane) return {known.type, lane_};
    const auto& block = names_.block;
    if (block[0] == 0 && known.quantity == Quantity::thread && axis == 0) return {known.type, lane_};
    if (block[0] == 0) {
      throw ExpressionError(fmt::format("{} needs the shape of the block, for example --block 32x8", known.name));
    }
    if (known.quantity == Quantity::block) return {known.type, block[axis]};
    const unsigned thread[]{lane_ % block[0], lane_ / block[0] % block[1], lane_ / block[0] / block[1]};
    return {known.type, thread[axis]};
  }

  /// A name of the lane number that is not in the table: it is the only one, and not a known one mistyped.
  TypedValue other_lane(std::string_view word) {
    const bool is_variable = word.find('.') == std::string_view::npos && !rest().starts_with('(');
    const bool is_only = other_lane_.empty() || other_lane_ == word;
    if (!names_.any_lane_name || !is_variable || !is_only || !support::nearest(word, all_names()).empty())
      throw ExpressionError(unknown(word));
    other_lane_ = word;
    return {int32, lane_};
  }

  static std::vector<std::string_view> all_names() {
    std::vector<std::string_view> names;
    for (const KnownName& each : known_names) names.push_back(each.name);
    return names;
  }

  std::string unknown(std::string_view word) const {
    std::string list;
    for (const KnownName& each : known_names) {
      if (each.axis > 0 && each.name.find('.') != std::string_view::npos) continue;  // threadIdx.x stands for all
      list += fmt::format("{}{}{}", list.empty() ? "" : ", ", each.name, each.rest);
    }
    const std::string let = names_.any_lane_name ? fmt::format("; --let {}=1 gives it a value", word) : "";
    return support::no_such_but("name", word, all_names(), "the names are " + list + let);
  }

  std::string_view text_;
  const IndexNames& names_;
  unsigned lane_;
  bool computes_;
  unsigned depth_ = 0;
  std::string_view other_lane_;  // taken for the lane number
  bool has_thread_ = false;      // a known name of the lane or thread occurs
};

}  // namespace

IndexExpression::IndexExpression(std::string text, IndexNames names)
    : text_(std::move(text)), names_(std::move(names)) {
  constexpr std::size_t longest = 4096;
  if (text_.find_first_not_of(" \t") == std::string::npos) throw ExpressionError("it is empty");
  if (text_.size() > longest) throw ExpressionError(fmt::format("it is longer than {} characters", longest));
  const auto printable = [](unsigned char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(text_, printable))
    throw ExpressionError("it contains characters other than printable ASCII");
  IndexParser parser(text_, names_, std::nullopt);
  (void)parser.whole();
  other_lane_ = parser.other_lane_name();
}

std::int64_t IndexExpression::operator()(unsigned tid) const {
  try {
    const TypedValue result = IndexParser(text_, names_, tid).whole();
    if (result.type.is_unsigned && std::int64_t(result.bits) < 0)
      throw ExpressionError(fmt::format("the value {} is not below 2^63", result.bits));
    return std::int64_t(result.bits);
  } catch (const ExpressionError& error) {
    throw ExpressionError(fmt::format("{} (tid {})", error.what(), tid));
  }
}

}  // namespace bankwise::predict
