#include <bankwise/emulator/runtime/blas.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <bankwise/emulator/cuda/small_float_bits.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/skipped.hpp>

namespace bankwise::emulator::runtime {
namespace {

std::size_t at(int row, int column, int rows) { return std::size_t(column) * std::size_t(rows) + std::size_t(row); }
std::size_t at(int i, int step) { return std::size_t(i) * std::size_t(step); }

// Values of cudaDataType_t.
constexpr int type_64f = 1, type_16f = 2, type_16bf = 14, type_32f = 0;

/// Calls `work(numbers, decode, encode)` with the type of a matrix's numbers.
template <class T, class Work>
void with_type(const TypedMatrix& matrix, Work work) {
  void* const data = const_cast<void*>(matrix.data);
  const auto small = [&](device::FloatFormat format) {
    work(
        static_cast<std::uint16_t*>(data), [=](auto bits) { return T(small_floats::value_of(format, bits)); },
        [=](T number) { return small_floats::rounded(format, number, device::RoundingMode::rn); });
  };
  const auto plain = [&]<class Number>(Number* numbers) {
    work(
        numbers, [](Number number) { return T(number); }, [](T number) { return Number(number); });
  };
  switch (matrix.type) {
    case type_16f: return small(device::FloatFormat::half);
    case type_16bf: return small(device::FloatFormat::bfloat16);
    case type_32f: return plain(static_cast<float*>(data));
    default: return plain(static_cast<double*>(data));
  }
}

/// The columns of op(matrix), one after another, as numbers of T.
template <class T>
std::vector<T> numbers_of(const TypedMatrix& matrix, bool transpose, int rows, int columns) {
  std::vector<T> numbers(std::size_t(rows) * std::size_t(columns));
  with_type<T>(matrix, [&](auto* data, auto decode, auto) {
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        const std::size_t place = transpose ? at(j, i, matrix.ld) : at(i, j, matrix.ld);
        numbers[at(i, j, rows)] = decode(data[matrix.offset + place]);
      }
    }
  });
  return numbers;
}

template <class T>
void gemm(bool ta, bool tb, int m, int n, int k, T alpha, const TypedMatrix& a, const TypedMatrix& b, T beta,
          const TypedMatrix& c) {
  const std::vector<T> left = numbers_of<T>(a, ta, m, k), right = numbers_of<T>(b, tb, k, n);
  std::vector<T> before(std::size_t(m) * std::size_t(n));
  if (beta != T(0)) before = numbers_of<T>(c, false, m, n);  // C may be uninitialized
  std::vector<T> column(static_cast<std::size_t>(m));
  with_type<T>(c, [&](auto* data, auto, auto encode) {
    for (int j = 0; j < n; ++j) {
      column.assign(column.size(), T(0));
      for (int p = 0; p < k; ++p) {
        const T factor = right[at(p, j, k)];
        const T* from = left.data() + at(0, p, m);
        for (std::size_t i = 0; i < column.size(); ++i) column[i] += factor * from[i];
      }
      for (int i = 0; i < m; ++i) {
        const T sum = alpha * column[std::size_t(i)] + (beta == T(0) ? T(0) : beta * before[at(i, j, m)]);
        data[c.offset + at(i, j, c.ld)] = encode(sum);
      }
    }
  });
}

}  // namespace

template <class T>
void blas_gemv(bool transpose, int m, int n, T alpha, const T* a, int lda, const T* x, int step_x, T beta, T* y,
               int step_y) {
  blas_writes(y);
  const int rows = transpose ? n : m, terms = transpose ? m : n;
  for (int i = 0; i < rows; ++i) {
    double sum = 0;  // as near as cuBLAS's sums of parts
    for (int p = 0; p < terms; ++p) sum += double(a[transpose ? at(p, i, lda) : at(i, p, lda)]) * x[at(p, step_x)];
    T& to = y[at(i, step_y)];
    to = alpha * T(sum) + (beta == T(0) ? T(0) : beta * to);
  }
}

template <class T>
void blas_geam(bool transpose_a, bool transpose_b, int m, int n, T alpha, const T* a, int lda, T beta, const T* b,
               int ldb, T* c, int ldc) {
  blas_writes(c);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      const T left = alpha == T(0) ? T(0) : alpha * a[transpose_a ? at(j, i, lda) : at(i, j, lda)];
      const T right = beta == T(0) ? T(0) : beta * b[transpose_b ? at(j, i, ldb) : at(i, j, ldb)];
      c[at(i, j, ldc)] = left + right;
    }
  }
}

template void blas_gemv(bool, int, int, float, const float*, int, const float*, int, float, float*, int);
template void blas_gemv(bool, int, int, double, const double*, int, const double*, int, double, double*, int);
template void blas_geam(bool, bool, int, int, float, const float*, int, float, const float*, int, float*, int);
template void blas_geam(bool, bool, int, int, double, const double*, int, double, const double*, int, double*, int);

void blas_writes(const void* vector) {
  note_library();
  note_write(vector);
}

void blas_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, double alpha, const TypedMatrix& a,
               const TypedMatrix& b, double beta, const TypedMatrix& c) {
  blas_writes(c.data);
  if (a.type == type_64f || b.type == type_64f || c.type == type_64f) {
    gemm<double>(transpose_a, transpose_b, m, n, k, alpha, a, b, beta, c);
  } else {
    gemm<float>(transpose_a, transpose_b, m, n, k, float(alpha), a, b, float(beta), c);
  }
}

}  // namespace bankwise::emulator::runtime
