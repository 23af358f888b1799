// SPDX-License-Identifier: MIT
//
// PTX instructions that compute: integers, floating-point numbers, comparisons, conversions.
#include <algorithm>
#include <cmath>
#include <limits>

#include <bankwise/emulator/cuda/ptx/machine.hpp>
#include <bankwise/emulator/cuda/small_float_bits.hpp>

namespace bankwise::emulator::ptx {
namespace {

template <class T>
using Wider = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

/// Without overflow that C++ leaves undefined.
template <class T>
T wrapped(auto operation, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return operation(a, b);
  } else {
    using U = std::make_unsigned_t<T>;
    return T(operation(std::uint64_t(U(a)), std::uint64_t(U(b))));
  }
}

/// d = a operation b for one or two small floats; `small` is the operation.
void small_two(Machine& m, const PtxInstruction& op, device::Binary small) {
  const PtxType type = op.type();
  const auto a = std::uint32_t(m.read(op.operands.at(1))), b = std::uint32_t(m.read(op.operands.at(2)));
  const auto low = device::small_binary(format_of(type), small, std::uint16_t(a), std::uint16_t(b));
  const auto high =
      type.pair ? device::small_binary(format_of(type), small, std::uint16_t(a >> 16), std::uint16_t(b >> 16)) : 0;
  m.write(op.operands[0], std::uint32_t(high) << 16 | low);
}

template <class Operation>
void two(Machine& m, const PtxInstruction& op, device::Binary small, Operation operation) {
  if (is_small(op.type())) return small_two(m, op, small);
  const bool known = with_number(op.type(), [&](auto zero) {
    using T = decltype(zero);
    T result = operation(m.read_as<T>(op.operands.at(1)), m.read_as<T>(op.operands.at(2)));
    if constexpr (std::is_floating_point_v<T>) {
      if (op.has("sat")) result = std::min(std::max(result, T(0)), T(1));
    }
    m.write_as(op.operands[0], result);
  });
  if (!known) refuse(m, op);
}

void add(Machine& m, const PtxInstruction& op) {
  two(m, op, device::Binary::add,
      []<class T>(T a, T b) { return wrapped<T>([](auto x, auto y) { return x + y; }, a, b); });
}
void sub(Machine& m, const PtxInstruction& op) {
  two(m, op, device::Binary::sub,
      []<class T>(T a, T b) { return wrapped<T>([](auto x, auto y) { return x - y; }, a, b); });
}
void minimum(Machine& m, const PtxInstruction& op) {
  two(m, op, op.has("NaN") ? device::Binary::minimum_nan : device::Binary::minimum, []<class T>(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return T(std::fmin(a, b));
    return std::min(a, b);
  });
}
void maximum(Machine& m, const PtxInstruction& op) {
  two(m, op, op.has("NaN") ? device::Binary::maximum_nan : device::Binary::maximum, []<class T>(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return T(std::fmax(a, b));
    return std::max(a, b);
  });
}
void divide(Machine& m, const PtxInstruction& op) {
  two(m, op, device::Binary::div, []<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>) return b == 0 ? T(-1) : T(a / b);
    return T(a / b);
  });
}
void remainder(Machine& m, const PtxInstruction& op) {
  two(m, op, device::Binary::div, []<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>) return b == 0 ? a : T(a % b);
    return T(std::fmod(double(a), double(b)));
  });
}

/// The product in full, as mul.wide; .hi and .lo take a half.
template <class T>
auto product(T a, T b) {
  __extension__ using Signed = __int128;
  __extension__ using Unsigned = unsigned __int128;
  if constexpr (std::is_signed_v<T>) {
    return Unsigned(Signed(a) * Signed(b));
  } else {
    return Unsigned(a) * Unsigned(b);
  }
}

/// mul and mad of integers.
bool integer_product(Machine& m, const PtxInstruction& op, bool adds) {
  return with_integer(op.type(), [&](auto zero) {
    using T = decltype(zero);
    const auto whole_product = product(m.read_as<T>(op.operands.at(1)), m.read_as<T>(op.operands.at(2)));
    const unsigned bits = 8 * sizeof(T);
    auto result = std::uint64_t(op.has("hi") ? whole_product >> bits : whole_product);
    if (adds) result += std::uint64_t(std::int64_t(m.read_as<T>(op.operands.at(3))));
    if (op.has("wide")) {
      if (adds) result = std::uint64_t(whole_product) + m.read(op.operands.at(3));
      m.write(op.operands[0], bits == 16 ? std::uint32_t(result) : result);
    } else {
      m.write_as(op.operands[0], T(result));
    }
  });
}

void multiply_numbers(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  if (type.kind != 'f' && type.kind != 'h') {
    if (!integer_product(m, op, false)) refuse(m, op);
    return;
  }
  two(m, op, device::Binary::mul, []<class T>(T a, T b) { return T(a * b); });
}

void fused(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  const auto& args = op.operands;
  if (is_small(type)) {
    const auto a = std::uint32_t(m.read(args.at(1))), b = std::uint32_t(m.read(args.at(2))),
               c = std::uint32_t(m.read(args.at(3)));
    const auto of = [&](unsigned shift) {
      auto result = device::small_fma(format_of(type), std::uint16_t(a >> shift), std::uint16_t(b >> shift),
                                      std::uint16_t(c >> shift));
      if (op.has("relu")) result = device::small_limit(format_of(type), device::Limit::to_positive, result);
      return std::uint32_t(result);
    };
    m.write(args[0], type.pair ? of(16) << 16 | of(0) : of(0));
    return;
  }
  if (type.kind != 'f') {
    if (!integer_product(m, op, true)) refuse(m, op);
    return;
  }
  with_number(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      m.write_as(args[0], T(std::fma(m.read_as<T>(args.at(1)), m.read_as<T>(args.at(2)), m.read_as<T>(args.at(3)))));
    }
  });
}

/// Functions of one number; the device's approximations are computed exactly here.
template <double (*function)(double), device::Unary small>
void unary(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  if (is_small(type)) {
    const auto a = std::uint32_t(m.read(op.operands.at(1)));
    const auto low = device::small_unary(format_of(type), small, std::uint16_t(a));
    const auto high = type.pair ? device::small_unary(format_of(type), small, std::uint16_t(a >> 16)) : 0;
    m.write(op.operands[0], std::uint32_t(high) << 16 | low);
  } else if (type.bits == 64) {
    m.write_as(op.operands[0], function(m.read_as<double>(op.operands.at(1))));
  } else {
    m.write_as(op.operands[0], float(function(double(m.read_as<float>(op.operands.at(1))))));
  }
}
double reciprocal(double x) { return 1 / x; }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }

void absolute(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  const std::uint64_t bits = m.read(op.operands.at(1));
  if (is_small(type)) return m.write(op.operands[0], bits & (type.pair ? 0x7FFF7FFFu : 0x7FFFu));
  with_number(type, [&](auto zero) {
    using T = decltype(zero);
    const T value = m.read_as<T>(op.operands[1]);
    m.write_as(op.operands[0], value < T(0)                  ? T(0 - value)
                               : std::is_floating_point_v<T> ? T(std::fabs(double(value)))
                                                             : value);
  });
}
void negate(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  const std::uint64_t bits = m.read(op.operands.at(1), type);
  if (is_small(type)) return m.write(op.operands[0], bits ^ (type.pair ? 0x80008000u : 0x8000u));
  if (type.kind == 'f') return m.write(op.operands[0], bits ^ std::uint64_t{1} << (type.bits - 1));
  with_integer(type, [&](auto zero) { m.write_as(op.operands[0], decltype(zero)(0 - bits)); });
}

// --- comparisons ---

/// One of the operators of setp. The suffix u of floating-point numbers: or unordered.
template <class T>
bool compare(const std::string& how, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const bool unordered = std::isnan(a) || std::isnan(b);
    if (how == "num") return !unordered;
    if (how == "nan") return unordered;
    if (how.size() == 3 && how[2] == 'u') return unordered || compare(how.substr(0, 2), a, b);
    if (how == "ne") return a < b || a > b;
  }
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  if (how == "gt" || how == "hi") return a > b;
  return a >= b;
}

bool compared(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  bool result = false;
  const std::string& how = op.modifiers.at(0);
  if (is_small(type) && !type.pair) {
    const auto value = [&](const Operand& operand) {
      return small_floats::value_of(format_of(type), std::uint16_t(m.read(operand)));
    };
    result = compare(how, value(op.operands.at(1)), value(op.operands.at(2)));
  } else if (!with_number(type, [&](auto zero) {
               using T = decltype(zero);
               result = compare(how, m.read_as<T>(op.operands.at(1)), m.read_as<T>(op.operands.at(2)));
             })) {
    refuse(m, op);
  }
  return result;
}

void set_predicate(Machine& m, const PtxInstruction& op) {
  bool result = compared(m, op), other = !result;
  if (op.operands.size() > 3) {  // combined with another predicate
    const bool third = m.predicate(op.operands[3]);
    const auto combined = [&](bool a) { return op.has("or") ? a || third : op.has("xor") ? a != third : a && third; };
    result = combined(result);
    other = combined(other);
  }
  m.write(op.operands.at(0), result ? 1 : 0);
  if (!op.operands[0].parts.empty()) m.write(op.operands[0].parts[0], other ? 1 : 0);
}
void set(Machine& m, const PtxInstruction& op) {
  const bool result = compared(m, op);
  const bool real = op.types.at(0).kind == 'f';
  m.write(op.operands.at(0), !result ? 0 : real ? std::bit_cast<std::uint32_t>(1.0f) : 0xFFFFFFFFu);
}
void select(Machine& m, const PtxInstruction& op) {
  const bool first = m.predicate(op.operands.at(3));
  m.write(op.operands[0], m.read(op.operands[first ? 1 : 2], op.type()));
}
void select_by_sign(Machine& m, const PtxInstruction& op) {
  const bool first = op.type().kind == 'f' ? m.read_as<float>(op.operands.at(3)) >= 0
                                           : m.read_as<std::int32_t>(op.operands.at(3)) >= 0;
  m.write(op.operands[0], m.read(op.operands[first ? 1 : 2], op.types.at(0)));
}

// --- conversions ---

device::RoundingMode mode_of(const PtxInstruction& op) {
  if (op.has("rz") || op.has("rzi")) return device::RoundingMode::rz;
  if (op.has("rm") || op.has("rmi")) return device::RoundingMode::rd;
  if (op.has("rp") || op.has("rpi")) return device::RoundingMode::ru;
  return device::RoundingMode::rn;
}
double to_whole(double value, device::RoundingMode mode) {
  switch (mode) {
    case device::RoundingMode::rz:
      return std::trunc(value);
    case device::RoundingMode::rd:
      return std::floor(value);
    case device::RoundingMode::ru:
      return std::ceil(value);
    case device::RoundingMode::rn:
      break;
  }
  return std::nearbyint(value);
}

double real_of(Machine& m, const Operand& operand, PtxType type) {
  if (is_small(type)) return small_floats::value_of(format_of(type), std::uint16_t(m.read(operand)));
  return type.bits == 64 ? m.read_as<double>(operand) : double(m.read_as<float>(operand));
}
std::uint64_t bits_of_real(const PtxInstruction& op, double value, PtxType type) {
  if (op.has("sat")) value = value > 0 ? std::min(value, 1.0) : 0.0;
  if (op.has("relu") && value < 0) value = 0;
  const bool whole = op.has("rni") || op.has("rzi") || op.has("rmi") || op.has("rpi");
  if (whole) value = to_whole(value, mode_of(op));
  if (is_small(type)) return small_floats::rounded(format_of(type), value, mode_of(op));
  if (type.kind == 't') {  // 10 bits after the point, to nearest, ties away from zero
    return (std::bit_cast<std::uint32_t>(float(value)) + 0x1000u) & 0xFFFFE000u;
  }
  if (type.bits == 64) return std::bit_cast<std::uint64_t>(value);
  auto rounded = float(value);
  const device::RoundingMode mode = mode_of(op);
  const bool up = mode == device::RoundingMode::ru || (mode == device::RoundingMode::rz && value < 0);
  if (mode != device::RoundingMode::rn && double(rounded) != value && (double(rounded) < value) == up) {
    rounded = std::nextafter(rounded, up ? HUGE_VALF : -HUGE_VALF);
  }
  return std::bit_cast<std::uint32_t>(rounded);
}

void convert(Machine& m, const PtxInstruction& op) {
  const auto& args = op.operands;
  const PtxType to = op.types.at(0), from = op.types.at(op.types.size() - 1);
  const auto is_real = [](PtxType type) { return type.kind == 'f' || type.kind == 'h' || type.kind == 't'; };
  if (to.pair) {  // cvt.rn.f16x2.f32 d, high, low
    const auto high = bits_of_real(op, real_of(m, args.at(1), from), {to.kind, 16});
    const auto low = bits_of_real(op, real_of(m, args.at(2), from), {to.kind, 16});
    return m.write(args[0], high << 16 | low);
  }
  if (is_real(from) && is_real(to)) return m.write(args.at(0), bits_of_real(op, real_of(m, args.at(1), from), to));
  if (is_real(from)) {
    const double whole = to_whole(real_of(m, args.at(1), from), mode_of(op));
    with_integer(to, [&](auto zero) {
      using T = decltype(zero);
      constexpr auto beyond = 2.0 * double(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
      const T result = whole != whole                                   ? T(0)
                       : whole >= beyond                                ? std::numeric_limits<T>::max()
                       : whole <= double(std::numeric_limits<T>::min()) ? std::numeric_limits<T>::min()
                                                                        : T(whole);
      m.write_as(args[0], result);
    });
    return;
  }
  with_integer(from, [&](auto zero) {
    using From = decltype(zero);
    const From value = m.read_as<From>(args.at(1));
    if (is_real(to)) return m.write(args[0], bits_of_real(op, double(value), to));
    with_integer(to, [&](auto other) {
      using To = decltype(other);
      To result = To(value);
      if (op.has("sat")) {
        __extension__ using Wide = __int128;
        const auto low = Wide(std::numeric_limits<To>::min()), high = Wide(std::numeric_limits<To>::max());
        result = To(std::clamp(Wide(value), low, high));
      }
      m.write(args[0], std::uint64_t(std::int64_t(result)) & (sizeof(To) == 8 ? ~0ull : 0xFFFFFFFFull));
    });
  });
}

void move(Machine& m, const PtxInstruction& op) {
  const Operand &to = op.operands.at(0), &from = op.operands.at(1);
  const unsigned whole = op.type().bits;
  if (to.kind == Operand::Kind::list) {  // mov.b64 {low, high}, d
    const auto each = unsigned(whole / to.parts.size());
    const std::uint64_t bits = m.read(from);
    for (unsigned i = 0; i < to.parts.size(); ++i) m.write(to.parts[i], bits >> (i * each) & (~0ull >> (64 - each)));
  } else if (from.kind == Operand::Kind::list) {
    const auto each = unsigned(whole / from.parts.size());
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < from.parts.size(); ++i) {
      bits |= (m.read(from.parts[i]) & (~0ull >> (64 - each))) << (i * each);
    }
    m.write(to, bits);
  } else {
    m.write(to, m.read(from, op.type()));
  }
}

constexpr Entry arithmetic_entries[]{{"add", add},
                                     {"sub", sub},
                                     {"min", minimum},
                                     {"max", maximum},
                                     {"div", divide},
                                     {"rem", remainder},
                                     {"mul", multiply_numbers},
                                     {"mad", fused},
                                     {"fma", fused},
                                     {"abs", absolute},
                                     {"neg", negate},
                                     {"sqrt", unary<std::sqrt, device::Unary::sqrt>},
                                     {"rsqrt", unary<reciprocal_root, device::Unary::rsqrt>},
                                     {"rcp", unary<reciprocal, device::Unary::rcp>},
                                     {"sin", unary<std::sin, device::Unary::sin>},
                                     {"cos", unary<std::cos, device::Unary::cos>},
                                     {"ex2", unary<std::exp2, device::Unary::exp2>},
                                     {"lg2", unary<std::log2, device::Unary::log2>},
                                     {"tanh", unary<std::tanh, device::Unary::tanh>},
                                     {"setp", set_predicate},
                                     {"set", set},
                                     {"selp", select},
                                     {"slct", select_by_sign},
                                     {"cvt", convert},
                                     {"mov", move}};

}  // namespace

std::span<const Entry> arithmetic_instructions() { return arithmetic_entries; }

}  // namespace bankwise::emulator::ptx
