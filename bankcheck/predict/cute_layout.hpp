// Layouts of CuTe: functions from coordinates to offsets, as CUTLASS prints and writes them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bankwise::predict {

/// Offsets and coordinates count elements. These forms are read, with _8 and Int<8>{} for 8, and nested as CuTe nests:
///   (8,64):(64,1)
///   Swizzle<3,3,3> o (8,64):(64,1)             also Sw<3,3,3> o _0 o (_8,_64):(_64,_1)
///   Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)   here the swizzle applies to bytes
///   Layout<Shape<_8, _64>, Stride<_64, _1>>{}, make_layout(make_shape(8, 64), make_stride(64, 1))
///   composition(Swizzle<3,3,3>{}, Layout<...>{})
/// Without strides, or with LayoutLeft, the first mode is contiguous; with LayoutRight the last one is.
class CuteLayout {
 public:
  /// Error: ExpressionError.
  explicit CuteLayout(std::string_view text);

  /// The numbers of elements of each mode.
  const std::vector<std::uint64_t>& sizes() const { return sizes_; }
  std::uint64_t size() const;
  /// One more than the largest offset, not counting the swizzle.
  std::uint64_t extent() const;
  /// Bytes of an element, if the text says them: smem_ptr[16b]. Otherwise 0.
  unsigned element_bytes() const { return element_bytes_; }
  bool is_swizzled() const { return swizzle_.bits > 0; }
  CuteLayout without_swizzle() const;

  /// The offset of a coordinate: one number for each mode, or one for the whole layout, whose first mode counts
  /// fastest. Error: ExpressionError for a coordinate outside of the layout.
  std::uint64_t operator()(std::span<const std::uint64_t> coordinate) const;

 private:
  friend class CuteParser;
  struct Leaf {
    std::uint64_t size, stride;
  };
  /// x becomes x ^ (x >> shift & mask) for a mask of `bits` bits from bit `base`; << for a negative shift.
  struct Swizzle {
    unsigned bits = 0, base = 0;
    int shift = 0;
  };
  std::uint64_t swizzled(std::uint64_t offset) const;

  std::vector<std::vector<Leaf>> modes_;
  std::vector<std::uint64_t> sizes_;
  Swizzle swizzle_;
  std::uint64_t start_ = 0;  // added before the swizzle
  unsigned element_bytes_ = 0;
};

/// Whether a text is meant as a layout: no index expression looks like one.
bool looks_like_cute_layout(std::string_view text);

}  // namespace bankwise::predict
