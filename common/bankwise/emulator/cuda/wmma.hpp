// nvcuda::wmma: fragments as nvcc lays them out from compute capability 8.0 on, those of mma.sync. From shared memory,
// matrices of 16-bit numbers are loaded with ldmatrix, and all others with a load for each register, as in nvcc's code.
#pragma once

#include <cstdint>
#include <type_traits>

#include <bankwise/emulator/cuda/bfloat16.hpp>
#include <bankwise/emulator/cuda/half.hpp>

namespace bankwise::emulator::device {

enum class Number : std::uint8_t { half, bfloat16, tf32, int8, uint8, float32, float64, int32, none };
/// How a fragment lies in memory.
struct Fragment {
  enum Use : std::uint8_t { a, b, accumulator } use;
  Number type;
  std::uint8_t m, n, k;
  bool column_major;
};
/// Its registers, 32 bits each (64 for float64), and the distance between rows or columns, in elements.
void load_fragment(const Fragment& fragment, std::uint64_t* registers, const void* from, unsigned stride) noexcept;
void store_fragment(const Fragment& fragment, const std::uint64_t* registers, void* to, unsigned stride) noexcept;
/// c += a b
void multiply_fragments(const Fragment& a, const Fragment& b, const Fragment& c, const std::uint64_t* a_registers,
                        const std::uint64_t* b_registers, std::uint64_t* c_registers) noexcept;

}  // namespace bankwise::emulator::device

namespace nvcuda::wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision

namespace detail {

using bankwise::emulator::device::Number;

/// The type of elements in memory.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;
template <class T>
inline constexpr Number number_of = std::is_same_v<T, __half>            ? Number::half
                                    : std::is_same_v<T, __nv_bfloat16>   ? Number::bfloat16
                                    : std::is_same_v<T, precision::tf32> ? Number::tf32
                                    : std::is_same_v<T, signed char>     ? Number::int8
                                    : std::is_same_v<T, unsigned char>   ? Number::uint8
                                    : std::is_same_v<T, float>           ? Number::float32
                                    : std::is_same_v<T, double>          ? Number::float64
                                    : std::is_same_v<T, int>             ? Number::int32
                                                                         : Number::none;

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static constexpr bool of_a = std::is_same_v<Use, matrix_a>, of_b = std::is_same_v<Use, matrix_b>;
  static_assert(detail::number_of<T> != detail::Number::none, "wmma fragments of fewer than 8 bits are not emulated");
  static_assert((m == 16 && n == 16 && (k == 16 || k == 8)) || (m == 8 && n == 32 && k == 16) ||
                    (m == 32 && n == 8 && k == 16) || (m == 8 && n == 8 && k == 4),
                "wmma fragments of this shape are not emulated");

 public:
  using element_type = T;
  using storage_element_type = detail::Stored<T>;
  static constexpr int num_elements = (of_a ? m * k : of_b ? k * n : m * n) / 32;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];

  static constexpr int registers =
      sizeof(storage_element_type) == 8 ? num_elements : (num_elements * int(sizeof(storage_element_type)) + 3) / 4;
  static constexpr bankwise::emulator::device::Fragment shape(bool column_major) {
    using bankwise::emulator::device::Fragment;
    constexpr auto use = of_a ? Fragment::a : of_b ? Fragment::b : Fragment::accumulator;
    return {use, detail::number_of<T>, m, n, k, column_major};
  }
  BANKWISE_DEVICE void give(std::uint64_t* to) const {
    Register bits[registers];
    __builtin_memcpy(bits, x, sizeof x);
    for (int i = 0; i < registers; ++i) to[i] = bits[i];
  }
  BANKWISE_DEVICE void take(const std::uint64_t* from) {
    Register bits[registers];
    for (int i = 0; i < registers; ++i) bits[i] = Register(from[i]);
    __builtin_memcpy(x, bits, sizeof x);
  }

 private:
  using Register = std::conditional_t<sizeof(storage_element_type) == 8, std::uint64_t, std::uint32_t>;
};

template <class Use, int m, int n, int k, class T, class Layout, class Value>
BANKWISE_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout>& to, const Value& value) {
  for (auto& element : to.x) element = value;
}

namespace detail {

template <class Fragment, class From>
BANKWISE_DEVICE void load(Fragment& to, const From* from, unsigned stride, bool column_major) {
  std::uint64_t registers[Fragment::registers];
  bankwise::emulator::device::load_fragment(to.shape(column_major), registers, from, stride);
  to.take(registers);
}

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout, class From>
BANKWISE_DEVICE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& to, const From* from, unsigned stride) {
  static_assert(!std::is_same_v<Use, accumulator>, "accumulators are loaded with a layout_t");
  detail::load(to, from, stride, std::is_same_v<Layout, col_major>);
}
template <int m, int n, int k, class T, class From>
BANKWISE_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const From* from, unsigned stride,
                                      layout_t layout) {
  detail::load(to, from, stride, layout == mem_col_major);
}
template <int m, int n, int k, class T, class To>
BANKWISE_DEVICE void store_matrix_sync(To* to, const fragment<accumulator, m, n, k, T>& from, unsigned stride,
                                       layout_t layout) {
  std::uint64_t registers[fragment<accumulator, m, n, k, T>::registers];
  from.give(registers);
  bankwise::emulator::device::store_fragment(from.shape(layout == mem_col_major), registers, to, stride);
}

template <int m, int n, int k, class T, class LayoutA, class LayoutB, class C, class D>
BANKWISE_DEVICE void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                              const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                              const fragment<accumulator, m, n, k, C>& c, bool saturate = false) {
  static_assert(std::is_same_v<C, D>, "wmma with two types of accumulators is not emulated");
  (void)saturate;
  std::uint64_t a_registers[a.registers], b_registers[b.registers], c_registers[c.registers];
  a.give(a_registers);
  b.give(b_registers);
  c.give(c_registers);
  bankwise::emulator::device::multiply_fragments(a.shape(false), b.shape(false), c.shape(false), a_registers,
                                                 b_registers, c_registers);
  d.take(c_registers);
}

BANKWISE_DEVICE float __float_to_tf32(float value) {
  // 10 bits after the point, to nearest, ties away from zero.
  return bankwise::emulator::device::from_bits<float>((bankwise::emulator::device::to_bits(value) + 0x1000u) &
                                                      0xFFFFE000u);
}

}  // namespace nvcuda::wmma

namespace nvcuda {
using wmma::__float_to_tf32;
}  // namespace nvcuda
