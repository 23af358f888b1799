// CUB's algorithms of the whole device. They run on the host, without a trace, in the order of the elements; sums of
// float are made in double. cub.cuh includes this header. Compiles as C++17.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include <bankwise/emulator/cuda/qualifiers.hpp>
#include <bankwise/emulator/runtime/captures.hpp>
#include <bankwise/emulator/runtime/device.hpp>
#include <bankwise/emulator/runtime/memory.hpp>

namespace cub {
namespace on_host {

template <class Iterator>
using Value = typename std::iterator_traits<Iterator>::value_type;
/// The type of a sum of elements that begins with a `First`.
template <class In, class First = Value<In>>
using PlainSum = std::decay_t<decltype(std::declval<First>() + std::declval<Value<In>>())>;
template <class In, class First = Value<In>>
using Sum = std::conditional_t<std::is_same_v<PlainSum<In, First>, float>, double, PlainSum<In, First>>;
/// That of a sum that begins with an element of the output, if it has a type.
template <class In, class Out>
using SumInOutput = Sum<In, std::conditional_t<std::is_void_v<Value<Out>>, Value<In>, Value<Out>>>;

inline constexpr auto smaller = [](const auto& a, const auto& b) { return b < a ? b : a; };
inline constexpr auto greater = [](const auto& a, const auto& b) { return a < b ? b : a; };

/// An algorithm that is called without temporary memory only tells how much it needs.
template <class Algorithm>
cudaError_t run(void* temporary, size_t& bytes, cudaStream_t stream, Algorithm algorithm) {
  namespace runtime = bankwise::emulator::runtime;
  if (temporary == nullptr) return bytes = 1, cudaSuccess;
  if (const cudaError_t error = cudaPeekAtLastError(); error != cudaSuccess) return error;
  return runtime::give_to(stream, cudaGraphNodeTypeKernel, [=]() mutable {
    const runtime::LibraryCall call;
    algorithm();
    return cudaSuccess;
  });
}

/// In the type that the operator returns.
template <class T, class In, class N, class Operator>
auto reduced(In in, N first, N end, Operator combine, T init) {
  std::decay_t<std::invoke_result_t<Operator&, T, Value<In>>> sum = init;
  for (N i = first; i < end; ++i) sum = combine(sum, in[i]);
  return sum;
}

/// `is_exclusive`: element i is without in[i]. The input may be the output.
template <class T, class In, class Out, class N, class Operator>
cudaError_t scan(void* temporary, size_t& bytes, cudaStream_t stream, In in, Out out, N n, Operator combine, T first,
                 bool is_exclusive, bool has_first = true) {
  return run(temporary, bytes, stream, [=]() mutable {
    T sum = first;
    for (N i = 0; i < n; ++i) {
      const Value<In> value = in[i];
      if (is_exclusive) out[i] = sum;
      sum = has_first || i > 0 ? T(combine(sum, value)) : T(value);
      if (!is_exclusive) out[i] = sum;
    }
  });
}

/// A key as CUB sorts it: bits whose order as a number is the key's.
template <class Key>
unsigned long long sorted_bits(const Key& key, int begin, int end) {
  static_assert(sizeof(Key) <= 8, "keys of more than 8 bytes are not emulated");
  constexpr unsigned long long top = 1ULL << (8 * sizeof(Key) - 1);
  unsigned long long bits = 0;
  std::memcpy(&bits, &key, sizeof key);
  if constexpr (!std::is_integral_v<Key>) {  // also half
    if (bits == top) bits = 0;               // -0 and 0 are equal
    bits = (bits & top) != 0 ? ~bits & (top | (top - 1)) : bits | top;
  } else if constexpr (std::is_signed_v<Key>) {
    bits ^= top;
  }
  bits >>= begin;
  return end - begin < 64 ? bits & ((1ULL << (end - begin)) - 1) : bits;
}

/// The order of keys, stable.
template <class In, class N>
std::vector<N> order_of(In keys, N n, int begin, int end, bool descending) {
  std::vector<unsigned long long> bits(static_cast<size_t>(n));
  std::vector<N> order(static_cast<size_t>(n));
  for (N i = 0; i < n; ++i) {
    bits[size_t(i)] = sorted_bits<Value<In>>(keys[i], begin, end);
    order[size_t(i)] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](N a, N b) {
    return descending ? bits[size_t(b)] < bits[size_t(a)] : bits[size_t(a)] < bits[size_t(b)];
  });
  return order;
}

template <class N, class In, class Out>
void permute(const std::vector<N>& order, In in, Out out) {
  std::vector<Value<In>> values;
  values.reserve(order.size());
  for (const N i : order) values.push_back(in[i]);
  for (size_t i = 0; i < order.size(); ++i) out[i] = values[i];
}

/// Copies elements for which `is_selected(i)`, and counts them; the others, if `keeps_rest`, behind them in reverse.
template <class In, class Out, class Count, class N, class Selects>
cudaError_t select(void* temporary, size_t& bytes, cudaStream_t stream, In in, Out out, Count count, N n,
                   bool keeps_rest, Selects is_selected) {
  return run(temporary, bytes, stream, [=]() mutable {
    N selected = 0, last = n;
    for (N i = 0; i < n; ++i) {
      const Value<In> value = in[i];
      if (is_selected(i)) {
        out[selected++] = value;
      } else if (keeps_rest) {
        out[--last] = value;
      }
    }
    *count = selected;
  });
}

/// Stores the number and the value of the first element that none is before.
template <class In, class Out, class Before>
void store_first(In in, Out out, int n, Before is_before) {
  int best = 0;
  for (int i = 1; i < n; ++i) {
    if (is_before(in[i], in[best])) best = i;
  }
  std::decay_t<decltype(*out)> pair;
  pair.key = best;
  pair.value = in[best];
  *out = pair;
}

}  // namespace on_host

struct DeviceReduce {
  template <class In, class Out, class N, class Operator, class T>
  static cudaError_t Reduce(void* temporary, size_t& bytes, In in, Out out, N n, Operator combine, T first,
                            cudaStream_t stream = nullptr, bool = false) {
    return on_host::run(temporary, bytes, stream,
                        [=]() mutable { *out = on_host::reduced(in, N(0), n, combine, first); });
  }
  template <class In, class Out, class N>
  static cudaError_t Sum(void* temporary, size_t& bytes, In in, Out out, N n, cudaStream_t stream = nullptr,
                         bool = false) {
    return Reduce(temporary, bytes, in, out, n, std::plus<>{}, on_host::SumInOutput<In, Out>{}, stream);
  }
  template <class In, class Out, class N>
  static cudaError_t Min(void* temporary, size_t& bytes, In in, Out out, N n, cudaStream_t stream = nullptr,
                         bool = false) {
    return Reduce(temporary, bytes, in, out, n, on_host::smaller, std::numeric_limits<on_host::Value<In>>::max(),
                  stream);
  }
  template <class In, class Out, class N>
  static cudaError_t Max(void* temporary, size_t& bytes, In in, Out out, N n, cudaStream_t stream = nullptr,
                         bool = false) {
    return Reduce(temporary, bytes, in, out, n, on_host::greater, std::numeric_limits<on_host::Value<In>>::lowest(),
                  stream);
  }
  template <class In, class Out>
  static cudaError_t ArgMin(void* temporary, size_t& bytes, In in, Out out, int n, cudaStream_t stream = nullptr,
                            bool = false) {
    return on_host::run(temporary, bytes, stream, [=]() mutable { on_host::store_first(in, out, n, std::less<>{}); });
  }
  template <class In, class Out>
  static cudaError_t ArgMax(void* temporary, size_t& bytes, In in, Out out, int n, cudaStream_t stream = nullptr,
                            bool = false) {
    return on_host::run(temporary, bytes, stream,
                        [=]() mutable { on_host::store_first(in, out, n, std::greater<>{}); });
  }
};

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begin, class End, class Operator, class T>
  static cudaError_t Reduce(void* temporary, size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                            Operator combine, T first, cudaStream_t stream = nullptr, bool = false) {
    return on_host::run(temporary, bytes, stream, [=]() mutable {
      for (int s = 0; s < segments; ++s)
        out[s] = on_host::reduced(in, (long long)(begin[s]), (long long)(end[s]), combine, first);
    });
  }
  template <class In, class Out, class Begin, class End>
  static cudaError_t Sum(void* temporary, size_t& bytes, In in, Out out, int segments, Begin begin, End end,
                         cudaStream_t stream = nullptr, bool = false) {
    return Reduce(temporary, bytes, in, out, segments, begin, end, std::plus<>{}, on_host::SumInOutput<In, Out>{},
                  stream);
  }
};

struct DeviceScan {
  template <class In, class Out, class Operator, class T, class N>
  static cudaError_t ExclusiveScan(void* temporary, size_t& bytes, In in, Out out, Operator combine, T first, N n,
                                   cudaStream_t stream = nullptr, bool = false) {
    return on_host::scan<T>(temporary, bytes, stream, in, out, n, combine, first, true);
  }
  template <class In, class Out, class Operator, class N>
  static cudaError_t InclusiveScan(void* temporary, size_t& bytes, In in, Out out, Operator combine, N n,
                                   cudaStream_t stream = nullptr, bool = false) {
    return on_host::scan<on_host::Value<In>>(temporary, bytes, stream, in, out, n, combine, {}, false, false);
  }
  template <class In, class Out, class N, class = std::enable_if_t<!std::is_integral_v<Out>>>
  static cudaError_t ExclusiveSum(void* temporary, size_t& bytes, In in, Out out, N n, cudaStream_t stream = nullptr,
                                  bool = false) {
    return ExclusiveScan(temporary, bytes, in, out, std::plus<>{}, on_host::Sum<In>{}, n, stream);
  }
  template <class In, class Out, class N, class = std::enable_if_t<!std::is_integral_v<Out>>>
  static cudaError_t InclusiveSum(void* temporary, size_t& bytes, In in, Out out, N n, cudaStream_t stream = nullptr,
                                  bool = false) {
    return on_host::scan<on_host::Sum<In>>(temporary, bytes, stream, in, out, n, std::plus<>{}, {}, false);
  }
  template <class Data, class N, class = std::enable_if_t<std::is_integral_v<N>>>
  static cudaError_t ExclusiveSum(void* temporary, size_t& bytes, Data data, N n, cudaStream_t stream = nullptr) {
    return ExclusiveSum(temporary, bytes, data, data, n, stream);
  }
  template <class Data, class N, class = std::enable_if_t<std::is_integral_v<N>>>
  static cudaError_t InclusiveSum(void* temporary, size_t& bytes, Data data, N n, cudaStream_t stream = nullptr) {
    return InclusiveSum(temporary, bytes, data, data, n, stream);
  }
};

#if !defined(BANKWISE_TOOLKIT_CUB)
template <class Key, class Value>
struct KeyValuePair {
  Key key;
  Value value;
};

template <class T>
struct DoubleBuffer {
  T* d_buffers[2]{};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct CachingDeviceAllocator {
  template <class... Limits>
  explicit CachingDeviceAllocator(Limits...) {}
  cudaError_t DeviceAllocate(void** pointer, size_t bytes, cudaStream_t = nullptr) {
    return cudaMalloc(pointer, bytes);
  }
  cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
};
#endif

struct DeviceRadixSort {
#define BANKWISE_SORTS(keys_name, pairs_name, descending)                                                            \
  template <class Key, class N>                                                                                      \
  static cudaError_t keys_name(void* temporary, size_t& bytes, const Key* in, Key* out, N n, int begin = 0,          \
                               int end = 8 * sizeof(Key), cudaStream_t stream = nullptr, bool = false) {             \
    return on_host::run(temporary, bytes, stream, [=]() mutable {                                                    \
      on_host::permute(on_host::order_of(in, n, begin, end, descending), in, out);                                   \
    });                                                                                                              \
  }                                                                                                                  \
  template <class Key, class N>                                                                                      \
  static cudaError_t keys_name(void* temporary, size_t& bytes, DoubleBuffer<Key>& keys, N n, int begin = 0,          \
                               int end = 8 * sizeof(Key), cudaStream_t stream = nullptr, bool = false) {             \
    const auto error = keys_name(temporary, bytes, keys.Current(), keys.Alternate(), n, begin, end, stream);         \
    if (temporary != nullptr) keys.selector ^= 1;                                                                    \
    return error;                                                                                                    \
  }                                                                                                                  \
  template <class Key, class Item, class N>                                                                          \
  static cudaError_t pairs_name(void* temporary, size_t& bytes, const Key* in, Key* out, const Item* values,         \
                                Item* values_out, N n, int begin = 0, int end = 8 * sizeof(Key),                     \
                                cudaStream_t stream = nullptr, bool = false) {                                       \
    return on_host::run(temporary, bytes, stream, [=]() mutable {                                                    \
      const auto order = on_host::order_of(in, n, begin, end, descending);                                           \
      on_host::permute(order, in, out);                                                                              \
      on_host::permute(order, values, values_out);                                                                   \
    });                                                                                                              \
  }                                                                                                                  \
  template <class Key, class Item, class N>                                                                          \
  static cudaError_t pairs_name(void* temporary, size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Item>& values, \
                                N n, int begin = 0, int end = 8 * sizeof(Key), cudaStream_t stream = nullptr,        \
                                bool = false) {                                                                      \
    const auto error = pairs_name(temporary, bytes, keys.Current(), keys.Alternate(), values.Current(),              \
                                  values.Alternate(), n, begin, end, stream);                                        \
    if (temporary != nullptr) keys.selector ^= 1, values.selector ^= 1;                                              \
    return error;                                                                                                    \
  }
  BANKWISE_SORTS(SortKeys, SortPairs, false)
  BANKWISE_SORTS(SortKeysDescending, SortPairsDescending, true)
#undef BANKWISE_SORTS
};

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count, class N>
  static cudaError_t Flagged(void* temporary, size_t& bytes, In in, Flags flags, Out out, Count count, N n,
                             cudaStream_t stream = nullptr, bool = false) {
    return on_host::select(temporary, bytes, stream, in, out, count, n, false, [=](N i) { return bool(flags[i]); });
  }
  template <class In, class Out, class Count, class N, class Predicate>
  static cudaError_t If(void* temporary, size_t& bytes, In in, Out out, Count count, N n, Predicate predicate,
                        cudaStream_t stream = nullptr, bool = false) {
    return on_host::select(temporary, bytes, stream, in, out, count, n, false, [=](N i) { return predicate(in[i]); });
  }
  template <class In, class Out, class Count, class N>
  static cudaError_t Unique(void* temporary, size_t& bytes, In in, Out out, Count count, N n,
                            cudaStream_t stream = nullptr, bool = false) {
    const auto is_new = [=](N i) { return i == 0 || !(in[i] == in[i - 1]); };
    return on_host::select(temporary, bytes, stream, in, out, count, n, false, is_new);
  }
};

struct DevicePartition {
  template <class In, class Out, class Count, class N, class Predicate>
  static cudaError_t If(void* temporary, size_t& bytes, In in, Out out, Count count, N n, Predicate predicate,
                        cudaStream_t stream = nullptr, bool = false) {
    return on_host::select(temporary, bytes, stream, in, out, count, n, true, [=](N i) { return predicate(in[i]); });
  }
  template <class In, class Flags, class Out, class Count, class N>
  static cudaError_t Flagged(void* temporary, size_t& bytes, In in, Flags flags, Out out, Count count, N n,
                             cudaStream_t stream = nullptr, bool = false) {
    return on_host::select(temporary, bytes, stream, in, out, count, n, true, [=](N i) { return bool(flags[i]); });
  }
};

struct DeviceRunLengthEncode {
  template <class In, class Out, class Lengths, class Count, class N>
  static cudaError_t Encode(void* temporary, size_t& bytes, In in, Out out, Lengths lengths, Count count, N n,
                            cudaStream_t stream = nullptr, bool = false) {
    return on_host::run(temporary, bytes, stream, [=]() mutable {
      N runs = 0;
      for (N i = 0; i < n; ++i) {
        if (i == 0 || !(in[i] == in[i - 1])) {
          out[runs] = in[i];
          lengths[runs++] = 0;
        }
        ++lengths[runs - 1];
      }
      *count = runs;
    });
  }
};

struct DeviceHistogram {
  template <class In, class Counter, class Level, class N>
  static cudaError_t HistogramEven(void* temporary, size_t& bytes, In in, Counter* histogram, int levels, Level lower,
                                   Level upper, N n, cudaStream_t stream = nullptr, bool = false) {
    return on_host::run(temporary, bytes, stream, [=]() mutable {
      std::fill(histogram, histogram + levels - 1, Counter(0));
      for (N i = 0; i < n; ++i) {
        const auto value = in[i];
        if (value < lower || !(value < upper)) continue;
        ++histogram[size_t(double(value - lower) * (levels - 1) / double(upper - lower))];
      }
    });
  }
};

#if !defined(BANKWISE_TOOLKIT_CUB) || CUB_VERSION >= 300000  // CUB 3 has dropped them, but programs still use them

/// An iterator whose element i is made from i.
#define BANKWISE_ITERATOR(Self, Type)                                                   \
  using iterator_category = std::random_access_iterator_tag;                            \
  using value_type = Type;                                                              \
  using difference_type = std::ptrdiff_t;                                               \
  using pointer = Type*;                                                                \
  using reference = Type;                                                               \
  BANKWISE_DEVICE Type operator*() const { return (*this)[0]; }                         \
  template <class Distance>                                                             \
  BANKWISE_DEVICE Self operator+(Distance distance) const {                             \
    Self moved = *this;                                                                 \
    moved.at_ = at_ + distance;                                                         \
    return moved;                                                                       \
  }                                                                                     \
  BANKWISE_DEVICE Self& operator++() { return at_ = at_ + 1, *this; }                   \
  BANKWISE_DEVICE bool operator==(const Self& other) const { return at_ == other.at_; } \
  BANKWISE_DEVICE bool operator!=(const Self& other) const { return !(at_ == other.at_); }

template <class T, class Offset = std::ptrdiff_t>
class CountingInputIterator {
 public:
  BANKWISE_DEVICE explicit CountingInputIterator(T first) : at_(first) {}
  BANKWISE_DEVICE T operator[](Offset i) const { return T(at_ + T(i)); }
  BANKWISE_ITERATOR(CountingInputIterator, T)

 private:
  T at_;
};

template <class T, class Conversion, class In, class Offset = std::ptrdiff_t>
class TransformInputIterator {
 public:
  BANKWISE_DEVICE TransformInputIterator(In in, Conversion convert) : at_(in), convert_(convert) {}
  BANKWISE_DEVICE T operator[](Offset i) const { return convert_(at_[i]); }
  BANKWISE_ITERATOR(TransformInputIterator, T)

 private:
  In at_;
  Conversion convert_;
};

template <class T, class Offset = std::ptrdiff_t>
class ConstantInputIterator {
 public:
  BANKWISE_DEVICE explicit ConstantInputIterator(T value, Offset at = 0) : at_(at), value_(value) {}
  BANKWISE_DEVICE T operator[](Offset) const { return value_; }
  BANKWISE_ITERATOR(ConstantInputIterator, T)

 private:
  Offset at_;
  T value_;
};

#undef BANKWISE_ITERATOR
#endif

}  // namespace cub
