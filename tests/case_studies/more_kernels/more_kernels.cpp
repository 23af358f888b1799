// Compiled without contraction of floating-point expressions, so each operation is rounded separately.
#include "variants.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

namespace bankwise::gpu {
extern const KernelSet more_kernels_kernels;
}
namespace bankwise::emulator {
extern const NamedKernels more_kernels_emulated;
}

namespace bankwise::more_kernels {

using namespace study;

namespace {

struct Point {
  float re, im;
};

Point operator*(Point a, Point b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

/// The lower or the upper half of a word, signed.
float half_of(std::uint32_t word, unsigned which) { return float(std::int16_t(word >> (16 * which))); }

/// Flat areas in every fourth row of 64 words: equal keys, and bins that many lanes update simultaneously.
std::uint32_t input_word(std::uint64_t i) { return hashed_word(i / 64 % 4 == 3 ? i / 16 * 16 : i); }

std::uint64_t input_words(Extent extent) { return extent.width * input_slice; }

std::uint64_t output_words(Extent extent) { return extent.width * output_slice; }

std::vector<Words> reference(Extent extent, std::span<const Words> inputs, const Variant& variant) {
  const auto kernel = std::find_if(std::begin(kernels), std::end(kernels),
                                   [&](const Kernel& k) { return k.variant.name == variant.name; });
  Words output(output_words(extent));
  for (std::uint64_t block = 0; block < extent.width; ++block) {
    const Input slice(inputs[0].data() + block * input_slice, input_slice);
    kernel->reference(slice, Output(output.data() + block * output_slice, output_slice));
  }
  return {output};
}

constexpr Operand input_arrays[]{{.name = "input", .count = input_words, .word = input_word}};
constexpr Operand output_arrays[]{{"output", output_words}};

Plan plan(const Variant& variant, Extent extent, unsigned) {
  if (extent.width == 0) return {};
  return {
      {},
      {KernelLaunch{"more_" + std::string(variant.name), extent.width, variant.group, {input_slot, output_slot}}},
  };
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> list;
    for (const Kernel& kernel : kernels) list.push_back(kernel.variant);
    return list;
  }();
  return all;
}

}  // namespace

void count_channels(Input in, Output out) {
  std::fill(out.begin(), out.end(), 0);
  for (const std::uint32_t pixel : in) {
    for (std::size_t channel = 0; channel < 4; ++channel) ++out[channel * 256 + (pixel >> (8 * channel) & 0xFF)];
  }
}

void add_weights(Input in, Output out) {
  std::fill(out.begin(), out.end(), 0);
  for (const std::uint32_t sample : in) out[sample & 1023] += sample >> 10;
}

void sort_tiles(Input in, Output out) {
  constexpr std::ptrdiff_t tile = 512;
  std::copy_n(in.begin(), out.size(), out.begin());
  for (auto first = out.begin(); first != out.end(); first += tile) std::sort(first, first + tile);
}

void multiply(Input in, Output out) {
  constexpr std::size_t side = 32, depth = 64;
  const auto a = in.first<side * depth>(), b = in.last<side * depth>();
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < side; ++j) {
      const auto row = a.subspan(i * depth, depth), column = b.subspan(j * depth, depth);
      out[i * side + j] = std::inner_product(row.begin(), row.end(), column.begin(), 0U);
    }
  }
}

void weigh_neighbours(Input in, Output out) {
  constexpr std::array<std::uint32_t, 9> weights{3, 5, 7, 11, 13, 17, 19, 23, 29};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = std::inner_product(weights.begin(), weights.end(), in.begin() + std::ptrdiff_t(i), 0U);
  }
}

void add_up(Input in, Output out) { std::partial_sum(in.begin(), in.begin() + output_slice, out.begin()); }

void convolve(Input in, Output out) {
  constexpr std::size_t width = 64, tile = 32, window = 5;
  constexpr int weights[window * window] = {1,  -2, 3,  -2, 1, -4, 7,  9, 7,  -4, 5,  11, 40,
                                            11, 5,  -4, 7,  9, 7,  -4, 1, -3, 2,  -3, 1};
  for (std::size_t i = 0; i < out.size(); ++i) {
    int sum = 0;
    for (std::size_t w = 0; w < window * window; ++w) {
      const std::size_t row = i / tile + w / window, column = i % tile + w % window;
      sum += weights[w] * int(in[row * width + column] & 0xFF);
    }
    out[i] = std::uint32_t(sum);
  }
}

/// The sums over odd and even indices, by recursion: the butterflies of the kernel, called in another order.
std::vector<Point> transformed(const std::vector<Point>& points, const std::vector<Point>& roots) {
  const std::size_t n = points.size();
  if (n == 1) return {points.front()};
  std::vector<Point> parts[2];
  for (std::size_t i = 0; i < n; ++i) parts[i % 2].push_back(points[i]);
  const std::vector<Point> even = transformed(parts[0], roots), odd = transformed(parts[1], roots);
  std::vector<Point> whole(n);
  for (std::size_t i = 0; i < n / 2; ++i) {
    const Point turned = odd[i] * roots[i * (2 * roots.size() / n)];
    whole[i] = {even[i].re + turned.re, even[i].im + turned.im};
    whole[i + n / 2] = {even[i].re - turned.re, even[i].im - turned.im};
  }
  return whole;
}

void transform(Input in, Output out) {
  constexpr std::size_t n = output_slice / 2;
  constexpr Point powers[]{{0.9999247f, -0.012271538f},  {0.9996988f, -0.024541229f},
                           {0.99879545f, -0.049067676f}, {0.9951847f, -0.09801714f},
                           {0.98078525f, -0.19509032f},  {0.9238795f, -0.38268343f},
                           {0.70710677f, -0.70710677f},  {0.0f, -1.0f}};
  std::vector<Point> roots(n / 2, {1, 0}), points;
  for (std::size_t k = 0; k < n / 2; ++k) {
    for (std::size_t b = 0; b < std::size(powers); ++b) {
      if (k >> b & 1) roots[k] = roots[k] * powers[b];
    }
  }
  for (std::size_t i = 0; i < n; ++i) points.push_back({half_of(in[i], 0), half_of(in[i], 1)});
  const std::vector<Point> result = transformed(points, roots);
  std::memcpy(out.data(), result.data(), out.size_bytes());
}

/// In double precision: the kernels' sums are exact in single precision.
void drift(Input in, Output out) {
  constexpr std::size_t count = 128, fields = 7, lists = 1024, neighbours = 8;
  double all[fields][count];
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      all[axis][i] = in[axis * count + i] & 1023;
      all[3 + axis][i] = double(in[(3 + axis) * count + i] & 255) - 128;
    }
    all[6][i] = 1 + (in[6 * count + i] & 15);
  }
  for (std::size_t i = 0; i < count; ++i) {
    double near = 0;
    double result[fields + 1];
    for (std::size_t k = 0; k < neighbours; ++k) {
      const std::size_t n = in[lists + k * count + i] % count;
      near += std::hypot(all[0][n] - all[0][i], all[1][n] - all[1][i], all[2][n] - all[2][i]) < 512 ? 1 : 0;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double pull = 0, others = 0;
      for (std::size_t k = 0; k < neighbours; ++k) {
        const std::size_t n = in[lists + k * count + i] % count;
        pull += all[6][n] * (all[axis][n] - all[axis][i]);
        others += all[3 + axis][n] - all[3 + axis][i];
      }
      result[3 + axis] = all[3 + axis][i] + pull / 64 + others / 16;
      result[axis] = all[axis][i] + result[3 + axis] / 16;
    }
    result[6] = all[6][i];
    result[7] = near;
    for (std::size_t field = 0; field <= fields; ++field) {
      out[field * count + i] = std::bit_cast<std::uint32_t>(float(result[field]));
    }
  }
}

void turn_differences(Input in, Output out) {
  constexpr std::size_t rows = 16, columns = 32;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const double difference = double(in[row * columns + column]) - double(in[row * columns]);
      std::memcpy(&out[2 * (column * rows + row)], &difference, sizeof difference);
    }
  }
}

/// In double precision, which has a negative zero like the kernels' numbers.
void find_normals(Input in, Output out) {
  constexpr std::size_t count = 256, list = 1024;
  for (std::size_t i = 0; i < count; ++i) {
    const auto coordinate = [&](std::size_t corner, std::size_t axis) {
      return double(in[3 * (in[list + 3 * i + corner] % count) + axis] % 1024);
    };
    double ab[3], ac[3], square = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      ab[axis] = coordinate(1, axis) - coordinate(0, axis);
      ac[axis] = coordinate(2, axis) - coordinate(0, axis);
      square += ab[axis] * ab[axis];
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t next = (axis + 1) % 3, last = (axis + 2) % 3;
      out[4 * i + axis] = std::bit_cast<std::uint32_t>(float(ab[next] * ac[last] - ab[last] * ac[next]));
    }
    out[4 * i + 3] = std::bit_cast<std::uint32_t>(float(square));
  }
}

void follow_chains(Input in, Output out) {
  constexpr std::size_t cells = 512, starts = 1024, lanes = 32;
  for (std::size_t chain = 0; chain < out.size(); ++chain) {
    out[chain] = 0;
    for (std::size_t cell = in [starts + chain] % cells; cell < cells; cell += 1 + in[cell] % 31)
      out[chain] += in[cell];
  }
  for (auto warp = out.begin(); warp != out.end(); warp += lanes) {
    const std::uint32_t total = std::accumulate(warp, warp + lanes, 0U);
    for (auto sum = warp; sum != warp + lanes; ++sum) *sum = total - *sum;
  }
}

void replace_bytes(Input in, Output out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) out[i] += (in[in[1024 + i] >> shift & 0xFF] & 0xFF) << shift;
  }
}

void work_off_hard(Input in, Output out) {
  std::transform(in.begin(), in.begin() + output_slice, out.begin(), [](std::uint32_t word) {
    if ((word & 3) != 0) return word;
    for (std::uint32_t round = 0; round < 24; ++round) {
      word ^= word << 13;
      word ^= word >> 17;
      word ^= word << 5;
      word += round;
    }
    return word;
  });
}

void work_by_kind(Input in, Output out) {
  std::transform(in.begin(), in.begin() + output_slice, out.begin(), [](std::uint32_t word) {
    for (std::uint32_t left = word % 4 + 1; left > 0; --left) word = word * 0x9E3779B1U + (word >> 15);
    return word;
  });
}

void blend_mirrored(Input in, Output out) {
  constexpr std::size_t side = 16;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t component = i % 4, column = i / 4 / side, row = i / 4 % side;
    const auto pixel = [&](std::size_t x) { return double(in[4 * (row * side + x) + component] & 0xFFFF); };
    out[i] = std::bit_cast<std::uint32_t>(float((pixel(column) + pixel(side - 1 - column)) / 2));
  }
}

const CaseStudy& case_study() {
  static const CaseStudy study{
      .name = "more_kernels",
      .summary = "Kernels of other kinds, one block or many: the emulator compared with hardware counters",
      .kernel_prefix = "more_",
      .element = "blocks",
      .variants = variants(),
      .kernels = &gpu::more_kernels_kernels,
      .emulated = &emulator::more_kernels_emulated,
      .inputs = input_arrays,
      .outputs = output_arrays,
      .extent_for =
          [](std::uint64_t bytes) {
            return Extent{1, std::max<std::uint64_t>(1, bytes / (4 * (input_slice + output_slice)))};
          },
      .reference = reference,
      .one_result = false,
      .plan = plan,
  };
  return study;
}

}  // namespace bankwise::more_kernels
