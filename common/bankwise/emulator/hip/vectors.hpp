// Operators of HIP's vector types, component by component. Templates, as HIP's are: those that a program defines for a
// type take precedence.
#pragma once

#include <type_traits>

#include <bankwise/emulator/cuda/vector_types.hpp>

namespace bankwise::emulator::cuda {

/// How many components a vector type has; 0 for other types.
template <class>
inline constexpr int vector_length = 0;
#define BANKWISE_LENGTHS(type, prefix, ...)          \
  template <>                                        \
  inline constexpr int vector_length<prefix##1> = 1; \
  template <>                                        \
  inline constexpr int vector_length<prefix##2> = 2; \
  template <>                                        \
  inline constexpr int vector_length<prefix##3> = 3; \
  template <>                                        \
  inline constexpr int vector_length<prefix##4> = 4;
BANKWISE_VECTORS(BANKWISE_LENGTHS)
#undef BANKWISE_LENGTHS

template <class V, class Result = V>
using IfVector = std::enable_if_t<(vector_length<V> > 0), Result>;
template <class V, class S, class Result = V>
using IfVectorAndScalar = std::enable_if_t<(vector_length<V> > 0) && std::is_arithmetic_v<S>, Result>;

/// A vector whose components are all the same.
template <class V, class S>
BANKWISE_DEVICE constexpr V broadcast(S value) {
  using T = decltype(V::x);
  if constexpr (vector_length<V> == 1) return V{T(value)};
  if constexpr (vector_length<V> == 2) return V{T(value), T(value)};
  if constexpr (vector_length<V> == 3) return V{T(value), T(value), T(value)};
  if constexpr (vector_length<V> == 4) return V{T(value), T(value), T(value), T(value)};
}

#define BANKWISE_OPERATION(operation)                                                     \
  template <class V>                                                                      \
  BANKWISE_DEVICE constexpr IfVector<V>& operator operation##=(V& a, const V& b) {        \
    a.x operation## = b.x;                                                                \
    if constexpr (vector_length < V >> 1) a.y operation## = b.y;                          \
    if constexpr (vector_length < V >> 2) a.z operation## = b.z;                          \
    if constexpr (vector_length < V >> 3) a.w operation## = b.w;                          \
    return a;                                                                             \
  }                                                                                       \
  template <class V, class S>                                                             \
  BANKWISE_DEVICE constexpr IfVectorAndScalar<V, S>& operator operation##=(V& a, S b) {   \
    return a operation## = broadcast<V>(b);                                               \
  }                                                                                       \
  template <class V>                                                                      \
  BANKWISE_DEVICE constexpr IfVector<V> operator operation(V a, const V& b) {             \
    return a operation## = b;                                                             \
  }                                                                                       \
  template <class V, class S>                                                             \
  BANKWISE_DEVICE constexpr IfVectorAndScalar<V, S> operator operation(V a, S b) {        \
    return a operation## = broadcast<V>(b);                                               \
  }                                                                                       \
  template <class V, class S>                                                             \
  BANKWISE_DEVICE constexpr IfVectorAndScalar<V, S> operator operation(S a, const V& b) { \
    return broadcast<V>(a) operation b;                                                   \
  }
// clang-format off
BANKWISE_OPERATION(+) BANKWISE_OPERATION(-) BANKWISE_OPERATION(*) BANKWISE_OPERATION(/) BANKWISE_OPERATION(%)
BANKWISE_OPERATION(&) BANKWISE_OPERATION(|) BANKWISE_OPERATION(^) BANKWISE_OPERATION(<<) BANKWISE_OPERATION(>>)
// clang-format on
#undef BANKWISE_OPERATION

        template <class V>
        BANKWISE_DEVICE constexpr IfVector<V> operator-(const V& a) {
  return a * broadcast<V>(-1);
}
template <class V>
BANKWISE_DEVICE constexpr IfVector<V> operator~(const V& a) {
  return a ^ broadcast<V>(-1);
}
template <class V>
BANKWISE_DEVICE constexpr IfVector<V, bool> operator==(const V& a, const V& b) {
  bool same = a.x == b.x;
  if constexpr (vector_length < V >> 1) same = same & (a.y == b.y);
  if constexpr (vector_length < V >> 2) same = same & (a.z == b.z);
  if constexpr (vector_length < V >> 3) same = same & (a.w == b.w);
  return same;
}
template <class V>
BANKWISE_DEVICE constexpr IfVector<V, bool> operator!=(const V& a, const V& b) {
  return !(a == b);
}

}  // namespace bankwise::emulator::cuda
