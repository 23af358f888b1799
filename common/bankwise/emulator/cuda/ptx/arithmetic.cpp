// PTX instructions that compute: integers, floating-point numbers, comparisons, conversions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/ptx/machine.hpp>
#include <bankwise/emulator/cuda/small_float_bits.hpp>

namespace bankwise::emulator::ptx {
namespace {

using device::Binary;
using device::RoundingMode;
using device::Unary;
using small_floats::in_mode;
using small_floats::opaque;
__extension__ using Wide = __int128;

RoundingMode mode_of(const Machine& m) {
  if (m.has("rz") || m.has("rzi")) return RoundingMode::rz;
  if (m.has("rm") || m.has("rmi")) return RoundingMode::rd;
  if (m.has("rp") || m.has("rpi")) return RoundingMode::ru;
  return RoundingMode::rn;
}

template <class T>
T between_ends(Wide value) {
  return T(std::clamp<Wide>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// The result of `operation` on one small float, or on each half of two: (format, number(i) of operand i).
template <class Operation>
void on_small(Machine& m, Operation operation) {
  const PtxType type = m.type();
  const auto half = [&](unsigned shift) {
    auto bits = operation(type.format(), [&](unsigned i) { return std::uint16_t(m.word(i) >> shift); });
    if (m.has("sat")) bits = device::small_limit(type.format(), device::Limit::to_unit_interval, bits);
    if (m.has("relu")) bits = device::small_limit(type.format(), device::Limit::to_positive, bits);
    return std::uint32_t(bits);
  };
  m.result(type.pair ? half(16) << 16 | half(0) : half(0));
}

/// The result of an operation on floating-point numbers in the instruction's rounding mode.
template <class T, class Operation>
void on_real(Machine& m, Operation operation) {
  T result = in_mode(mode_of(m), operation);
  if (m.has("sat")) result = result > 0 ? std::min(result, T(1)) : T(0);  // NaN: 0
  if (sizeof(T) == 4 && std::isnan(result)) return m.result(0x7FFFFFFF);  // as all NaNs of .f32
  m.result_of(result);
}

/// d = a operation b. Integers wrap, or with .sat stay at the ends of their type.
template <class Operation>
void two(Machine& m, Binary small, Operation operation) {
  if (m.type().is_small()) {
    return on_small(m, [&](auto format, auto number) { return small_binary(format, small, number(1), number(2)); });
  }
  const bool known = with_number(m.type(), [&](auto zero) {
    using T = decltype(zero);
    const T a = m.number<T>(1), b = m.number<T>(2);
    if constexpr (std::is_floating_point_v<T>) {
      on_real<T>(m, [&] { return operation(opaque(a), opaque(b)); });
    } else {
      const Wide result = operation(Wide(a), Wide(b));
      m.result_of(m.has("sat") ? between_ends<T>(result) : T(result));
    }
  });
  if (!known) m.refuse();
}

template <class T>
T extreme_of(T a, T b, bool greatest, bool keeps_nan) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool a_nan = std::isnan(a), b_nan = std::isnan(b);
    if (a_nan || b_nan) return keeps_nan || a_nan == b_nan ? std::numeric_limits<T>::quiet_NaN() : a_nan ? b : a;
    if (a == b) return std::signbit(a) == greatest ? b : a;  // -0 is less than +0
  }
  return (a < b) == greatest ? b : a;
}
void extreme(Machine& m, bool greatest) {
  if (m.has("xorsign")) m.refuse();
  const bool keeps_nan = m.has("NaN");
  constexpr Binary small[2][2]{{Binary::minimum, Binary::minimum_nan}, {Binary::maximum, Binary::maximum_nan}};
  two(m, small[greatest][keeps_nan], [&](auto a, auto b) { return extreme_of(a, b, greatest, keeps_nan); });
}

/// Division of an integer by zero gives all bits, and its remainder the number itself.
void divide(Machine& m) {
  two(m, Binary::div, []<class T>(T a, T b) { return std::is_same_v<T, Wide> && b == 0 ? T(-1) : T(a / b); });
}
void remainder(Machine& m) {
  if (m.type().is_real()) m.refuse();
  two(m, Binary::div, []<class T>(T a, T b) {
    if constexpr (std::is_same_v<T, Wide>) return b == 0 ? a : a % b;
    return a;
  });
}

/// mul and mad of integers: .lo, .hi or .wide of the product.
void multiply_integers(Machine& m, bool adds) {
  const bool known = with_integer(m.type(), [&](auto zero) {
    using T = decltype(zero);
    __extension__ using Unsigned = unsigned __int128;
    const auto product = Unsigned(Wide(m.number<T>(1))) * Unsigned(Wide(m.number<T>(2)));
    if (m.has("wide")) {
      const auto sum = std::uint64_t(product) + (adds ? m.read(m.operand(3)) : 0);
      return m.result(sizeof(T) == 2 ? std::uint32_t(sum) : sum);
    }
    const T part = T(m.has("hi") ? product >> 8 * sizeof(T) : product);
    const Wide sum = Wide(part) + (adds ? Wide(m.number<T>(3)) : 0);
    m.result_of(m.has("sat") ? between_ends<T>(sum) : T(sum));
  });
  if (!known) m.refuse();
}

void multiply(Machine& m) {
  if (!m.type().is_real()) return multiply_integers(m, false);
  two(m, Binary::mul, [](auto a, auto b) { return a * b; });
}

void fused(Machine& m) {
  const PtxType type = m.type();
  if (!type.is_real()) return multiply_integers(m, true);
  if (type.is_small()) {
    return on_small(m, [](auto format, auto number) { return small_fma(format, number(1), number(2), number(3)); });
  }
  with_number(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const T a = m.number<T>(1), b = m.number<T>(2), c = m.number<T>(3);
      on_real<T>(m, [&] { return std::fma(opaque(a), opaque(b), opaque(c)); });
    }
  });
}

/// Functions of one number; the device's approximations are computed exactly here.
template <double (*function)(double), Unary small>
void unary(Machine& m) {
  if (m.type().is_small()) {
    return on_small(m, [](auto format, auto number) { return small_unary(format, small, number(1)); });
  }
  with_number(m.type(), [&](auto zero) {
    using T = decltype(zero);
    const auto a = double(m.number<T>(1));
    if constexpr (std::is_floating_point_v<T>) on_real<T>(m, [&] { return T(function(opaque(a))); });
  });
}
double reciprocal(double x) { return 1 / x; }

/// abs and neg. The sign of a floating-point number is a bit.
template <bool absolute>
void change_sign(Machine& m) {
  const PtxType type = m.type();
  if (!type.is_real()) {
    with_integer(type, [&](auto zero) {
      const auto value = m.number<decltype(zero)>(1);
      m.result_of(absolute && value >= 0 ? value : decltype(zero)(0 - std::uint64_t(value)));
    });
    return;
  }
  const std::uint64_t signs = type.pair ? 0x80008000u : std::uint64_t{1} << (type.bits - 1);
  const std::uint64_t bits = absolute ? m.bits(1) & ~signs : m.bits(1) ^ signs;
  if (type.is_small() || type.bits == 64) return m.result(bits);
  m.result_of(std::bit_cast<float>(std::uint32_t(bits)));
}

// --- comparisons ---

/// One of the operators of set and setp. The suffix u of floating-point numbers: or unordered.
template <class T>
bool compare(std::string_view how, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool unordered = std::isnan(a) || std::isnan(b);
    if (how == "num") return !unordered;
    if (how == "nan") return unordered;
    if (unordered) return how.size() == 3;
    how = how.substr(0, 2);
  }
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  if (how == "gt" || how == "hi") return a > b;
  return a >= b;
}

bool compared(Machine& m) {
  const PtxType type = m.type();
  const std::string_view how = m.instruction->modifiers.at(0);
  if (type.is_small() && !type.pair) {
    const auto value = [&](unsigned i) { return small_floats::value_of(type.format(), std::uint16_t(m.word(i))); };
    return compare(how, value(1), value(2));
  }
  bool result = false;
  const bool known = with_number(
      type, [&](auto zero) { result = compare(how, m.number<decltype(zero)>(1), m.number<decltype(zero)>(2)); });
  if (!known) m.refuse();
  return result;
}
/// Combined with the predicate of a third operand, if there is one.
bool combined(Machine& m, bool result) {
  if (m.count() <= 3) return result;
  const bool third = m.predicate(3);
  return m.has("or") ? result || third : m.has("xor") ? result != third : result && third;
}

void set_predicate(Machine& m) {
  const bool result = compared(m);
  const bool first = combined(m, result), second = combined(m, !result);
  m.result(first);
  m.second_result(second);
}
void set(Machine& m) {
  const PtxType to = m.instruction->types.at(0);
  const std::uint64_t yes = to.is_small()  ? small_floats::rounded(to.format(), 1.0, RoundingMode::rn)
                            : to.is_real() ? std::bit_cast<std::uint32_t>(1.0f)
                                           : 0xFFFFFFFFu;
  m.result(combined(m, compared(m)) ? yes : 0);
}
void select(Machine& m) { m.result(m.bits(m.predicate(3) ? 1 : 2)); }
void select_by_sign(Machine& m) {
  const bool first = m.type().kind == 'f' ? m.number<float>(3) >= 0 : m.number<std::int32_t>(3) >= 0;
  m.result(m.read(m.operand(first ? 1 : 2), m.instruction->types.at(0)));
}

// --- conversions ---

double real_of(const Machine& m, const PtxOperand& operand, PtxType type) {
  if (type.is_small()) return small_floats::value_of(type.format(), std::uint16_t(m.read(operand)));
  return type.bits == 64 ? m.number<double>(operand) : double(m.number<float>(operand));
}
std::uint64_t bits_of_real(const Machine& m, double value, PtxType type) {
  const RoundingMode mode = mode_of(m);
  if (m.has("sat")) value = value > 0 ? std::min(value, 1.0) : 0.0;
  if (m.has("relu") && value < 0) value = 0;
  if (m.has("rni") || m.has("rzi") || m.has("rmi") || m.has("rpi")) value = small_floats::to_whole(value, mode);
  if (type.is_small()) return small_floats::rounded(type.format(), value, mode);
  if (type.bits == 64) return std::bit_cast<std::uint64_t>(value);
  const auto bits = std::bit_cast<std::uint32_t>(m.flushed(in_mode(mode, [&] { return float(opaque(value)); })));
  if (type.kind != 't' || std::isnan(value)) return bits;
  return (bits + 0x1000u) & 0xFFFFE000u;  // 10 bits after the point, to nearest, ties away from zero
}

template <class T>
std::uint64_t bits_of_integer(const Machine& m, T value, PtxType to) {
  using Widest = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
  const RoundingMode mode = mode_of(m);
  if (m.has("sat")) value = value > 0 ? 1 : 0;
  if (to.is_small()) return device::small_from_integer(to.format(), mode, Widest(value));
  if (to.bits == 64) return std::bit_cast<std::uint64_t>(in_mode(mode, [&] { return double(opaque(value)); }));
  return std::bit_cast<std::uint32_t>(in_mode(mode, [&] { return float(opaque(value)); }));
}

void to_integer(Machine& m, double value, bool wide, PtxType to) {
  const std::uint64_t bits = small_floats::to_integer(value, mode_of(m), to.bits, to.kind == 's', wide);
  with_integer(to, [&](auto zero) { m.result_of(decltype(zero)(bits)); });
}

void convert(Machine& m) {
  const PtxType to = m.instruction->types.at(0), from = m.instruction->types.at(m.instruction->types.size() - 1);
  if (to.pair) {  // cvt.rn.f16x2.f32 d, high, low
    const auto half = [&](unsigned i) { return bits_of_real(m, real_of(m, m.operand(i), from), {to.kind, 16}); };
    return m.result(half(1) << 16 | half(2));
  }
  if (from.is_real()) {
    const double value = real_of(m, m.operand(1), from);
    return to.is_real() ? m.result(bits_of_real(m, value, to)) : to_integer(m, value, from.bits == 64, to);
  }
  with_integer(from, [&](auto zero) {
    const auto value = m.number<decltype(zero)>(1);
    if (to.is_real()) return m.result(bits_of_integer(m, value, to));
    with_integer(to, [&](auto other) {
      using To = decltype(other);
      m.result_of(m.has("sat") ? between_ends<To>(value) : To(value));
    });
  });
}

void move(Machine& m) {
  const PtxOperand &to = m.operand(0), &from = m.operand(1);
  const auto part_bits = [&](const PtxOperand& list) { return unsigned(m.type().bits / list.parts.size()); };
  if (to.kind == PtxOperand::Kind::list) {  // mov.b64 {low, high}, d
    const unsigned each = part_bits(to);
    for (unsigned i = 0; i < to.parts.size(); ++i)
      m.write(to.parts[i], m.read(from) >> (i * each) & PtxType{'b', each}.mask());
  } else if (from.kind == PtxOperand::Kind::list) {
    const unsigned each = part_bits(from);
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < from.parts.size(); ++i) bits |= m.read(from.parts[i], {'b', each}) << (i * each);
    m.result(bits);
  } else {
    m.result(m.bits(1));
  }
}

void dot_of_bytes(Machine& m) {
  const auto is_signed = [&](std::size_t i) { return m.instruction->types.at(i).kind == 's'; };
  m.result(device::dot_of_bytes(m.word(1), is_signed(0), m.word(2), is_signed(1), m.word(3)));
}
void sum_of_difference(Machine& m) {
  with_integer(m.type(), [&](auto zero) {
    using T = decltype(zero);
    const T a = m.number<T>(1), b = m.number<T>(2);
    const auto difference = std::uint64_t(std::max(a, b)) - std::uint64_t(std::min(a, b));
    m.result_of(T(difference + std::uint64_t(m.number<T>(3))));
  });
}

constexpr Entry arithmetic_entries[]{
    {"add", [](Machine& m) { two(m, Binary::add, [](auto a, auto b) { return a + b; }); }},
    {"sub", [](Machine& m) { two(m, Binary::sub, [](auto a, auto b) { return a - b; }); }},
    {"min", [](Machine& m) { extreme(m, false); }},
    {"max", [](Machine& m) { extreme(m, true); }},
    {"div", divide},
    {"rem", remainder},
    {"mul", multiply},
    {"mad", fused},
    {"fma", fused},
    {"abs", change_sign<true>},
    {"neg", change_sign<false>},
    {"sqrt", unary<std::sqrt, Unary::sqrt>},
    {"rsqrt", unary<device::reciprocal_root, Unary::rsqrt>},
    {"rcp", unary<reciprocal, Unary::rcp>},
    {"sin", unary<std::sin, Unary::sin>},
    {"cos", unary<std::cos, Unary::cos>},
    {"ex2", unary<std::exp2, Unary::exp2>},
    {"lg2", unary<std::log2, Unary::log2>},
    {"tanh", unary<std::tanh, Unary::tanh>},
    {"setp", set_predicate},
    {"set", set},
    {"selp", select},
    {"slct", select_by_sign},
    {"cvt", convert},
    {"mov", move},
    {"dp4a", dot_of_bytes},
    {"sad", sum_of_difference}};

}  // namespace

std::span<const Entry> arithmetic_instructions() { return arithmetic_entries; }

}  // namespace bankwise::emulator::ptx
