#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/kernel_image.hpp>
#include <bankwise/study/plan.hpp>

namespace bankwise::emulator {
struct NamedKernels;
}

namespace bankwise::study {

/// The size of a problem, in elements. A vector of n elements is one row; sides that a case study lacks are 1.
struct Extent {
  std::uint64_t height = 1, width = 0, depth = 1;
  std::uint64_t count() const { return height * width * depth; }
  bool operator==(const Extent&) const = default;
};

/// The largest extent that the programs accept, so no size in bytes overflows 64 bits.
inline constexpr std::uint64_t max_elements = std::uint64_t{1} << 40;

/// A side of an extent, as the command line and the reports call it.
struct Side {
  std::string_view name;  ///< "width": the flag --width, and a key in JSON
  std::uint64_t Extent::*length;
  std::string_view help;    ///< empty: "Number of" and the case study's element
  std::uint64_t least = 0;  ///< the smallest length that makes sense
};
inline constexpr Side vector_sides[]{{"n", &Extent::width, ""}};
inline constexpr Side matrix_sides[]{{"width", &Extent::width, "Columns of the input", 1},
                                     {"height", &Extent::height, "Rows of the input", 1}};

/// Traits that most variants do not have. The case study's plan reads them.
struct VariantTraits {
  bool library = false;  ///< a vendor's routine (KernelSet::library) instead of one of our kernels; CUDA only
  /// Elements that a block processes per tile. For a matrix: words along each side of its square tile. 0: as many as
  /// the block has threads; for a matrix, as a row of the block has, GroupShape::x.
  std::uint64_t tile = 0;
  unsigned blocks_per_unit =
      0;  ///< persistent blocks per compute unit, which process tile after tile; 0: one block per tile
  bool single_pass = false;  ///< one launch does everything; its blocks communicate through Plan::state_bytes
};

/// One line of a case study's table of contents: {"vectorized", {32, 16}, "a 64 x 64 tile", {.tile = 64}}.
struct Variant : VariantTraits {
  std::string_view name;  ///< stem of its files, suffix of its kernel, value of --variant
  gpu::GroupShape group;  ///< the block that its kernel is written for; unused by a library
  std::string_view idea;  ///< what distinguishes it, in a few words

  constexpr Variant(std::string_view name_, gpu::GroupShape group_, std::string_view idea_, VariantTraits traits = {})
      : VariantTraits(traits), name(name_), group(group_), idea(idea_) {}
};

/// The type of an array's elements.
enum class Element : unsigned char { u32, u64, f16, f32, f64 };
constexpr unsigned bytes_of(Element element) {
  constexpr unsigned bytes[]{4, 8, 2, 4, 8};
  return bytes[int(element)];
}

/// A 32-bit hash of i.
std::uint32_t hashed_word(std::uint64_t i);

/// An array in device memory that the kernels read or write.
struct Operand {
  std::string_view name;                     ///< in messages: "output word 3 is 0x00000001, not 0x00000000"
  std::uint64_t (*count)(Extent) = nullptr;  ///< elements
  Element element = Element::u32;
  /// Word i of an input: reproducible, and not compressible by the memory system.
  std::uint32_t (*word)(std::uint64_t i) = hashed_word;

  /// The words of 32 bits that hold all elements.
  std::uint64_t words(Extent extent) const;
};

struct RankStudy;

/// A problem with its variants: data and plain functions for all, independent of CUDA and OpenCL. Every bit counts.
struct CaseStudy {
  std::string_view name;                       ///< "reduction"
  std::string_view summary;                    ///< one line for --help
  std::string_view kernel_prefix;              ///< "reduce_"
  std::string_view element;                    ///< what an extent counts: "uint4 records"
  std::span<const Side> sides = vector_sides;  ///< the sides of an extent
  std::span<const Variant> variants;
  std::string_view baseline;  ///< the variant that speedups are relative to; empty: none, and reports omit speedups
  const gpu::KernelSet* kernels = nullptr;
  const emulator::NamedKernels* emulated = nullptr;  ///< the CUDA kernels, compiled for the CPU; null: there are none

  std::span<const Operand> inputs, outputs;
  /// A round problem size with about `bytes` of compulsory traffic.
  Extent (*extent_for)(std::uint64_t bytes) = nullptr;
  /// The words of each output that a variant must write, from the simplest possible code.
  std::vector<Words> (*reference)(Extent, std::span<const Words> inputs, const Variant&) = nullptr;
  bool one_result = true;  ///< the expected output is the same for all variants; false: each has its own
  /// `units` is the number of the device's compute units, for variants with persistent blocks.
  Plan (*plan)(const Variant&, Extent, unsigned units) = nullptr;
  /// The work of a variant's kernel up to its first barrier, between that and the next, and so on, in a word or two
  /// each. A number among them is the count of lanes with work, out of a whole block. Empty or null: numbers.
  std::vector<std::string> (*level_names)(const Variant&, std::string_view kernel) = nullptr;
  const RankStudy* ranks = nullptr;  ///< how several processes solve it together; null: they cannot
};

/// One of the processes that solve a problem together, one device each. MPI numbers them: rank 0, rank 1 and so on.
struct Rank {
  unsigned index = 0, ranks = 1;
};

/// Each rank holds consecutive items; the first n % ranks ranks hold one more than the others. Returns the first
/// item of a rank; for rank == ranks, n.
constexpr std::uint64_t first_item(std::uint64_t n, unsigned rank, unsigned ranks) {
  return n / ranks * rank + std::min<std::uint64_t>(rank, n % ranks);
}
constexpr std::uint64_t items(std::uint64_t n, unsigned rank, unsigned ranks) {
  return first_item(n, rank + 1, ranks) - first_item(n, rank, ranks);
}

/// What a rank holds: consecutive words of the whole input and of the whole output; or, of both, blocks of `block`
/// words, one in every `stride` words (block-cyclic).
struct Share {
  std::uint64_t input_first = 0, input_words = 0, output_first = 0, output_words = 0;
  std::uint64_t block = 0, stride = 0;  ///< in words; 0: consecutive

  bool operator==(const Share&) const = default;
};

/// The index in the whole input, or output, of word i of a share that begins at `first`.
constexpr std::uint64_t whole_index(const Share& share, std::uint64_t first, std::uint64_t i) {
  return share.block == 0 ? first + i : first + i / share.block * share.stride + i % share.block;
}

/// The expected words of a buffer, for example of a rank's share of the output: writes the words [first, first +
/// words.size()). Called in ascending order, from 0, without gaps.
using Expected = std::function<void(std::uint64_t first, std::span<std::uint32_t> words)>;

/// What a case study of one input and one output adds for several ranks. Extents are the whole problem's.
struct RankStudy {
  std::span<const Variant> variants;        ///< VariantTraits::library: unused
  const gpu::KernelSet* kernels = nullptr;  ///< those of the case study itself may also be launched
  /// What a single device runs with a rank's share, the reference for weak scaling: the first variant that it supports.
  std::span<const std::string_view> alone;

  /// Variants may divide the words in different ways. The first one's way is that of `alone` and of reports.
  Share (*share)(const Variant&, Extent, Rank) = nullptr;
  /// A rank's input as a separate problem, for `alone`.
  Extent (*alone_extent)(Extent, Rank) = nullptr;
  /// Bytes that a rank's device must read from and write to its memory, and bytes that leave the rank.
  std::uint64_t (*memory_bytes)(const Variant&, Extent, Rank) = nullptr;
  std::uint64_t (*link_bytes)(Extent, Rank) = nullptr;
  Plan (*plan)(const Variant&, Extent, Rank, unsigned units) = nullptr;

  /// The expected output may depend on the sums of all inputs: of the words i, i + sums, i + 2 * sums, ... of each
  /// rank's share. 0: it does not.
  std::size_t sums = 0;
  /// `before`: the sums over all lower ranks; `all_sums`: over all ranks; both as if the words were divided as for the
  /// first variant. The result may use `threads` threads.
  Expected (*expected)(const CaseStudy&, const Variant&, Extent, Rank, const Words& before, const Words& all_sums,
                       unsigned threads) = nullptr;
};

/// Words [first, first + words.size()) of an input. Faster than one call per word.
void input_words(const Operand& input, std::uint64_t first, std::span<std::uint32_t> words);

/// All words of each input.
std::vector<Words> all_inputs(const CaseStudy& study, Extent extent);

/// Traffic with memory that no implementation can avoid: every input is read once, every output written once.
std::uint64_t compulsory_bytes(const CaseStudy& study, Extent extent);

/// The number of blocks of a variant for so many tiles: one per tile, or a fixed number per compute unit.
std::uint64_t blocks(const Variant& variant, std::uint64_t tiles, unsigned units);

/// ceil(count / tile), at least `least`.
std::uint64_t tiles(std::uint64_t count, std::uint64_t tile, std::uint64_t least = 0);

/// The next multiple of `multiple`; bytes that a buffer of whole words needs, for example.
constexpr std::uint64_t round_up(std::uint64_t count, std::uint64_t multiple) {
  return (count / multiple + (count % multiple != 0)) * multiple;
}

/// "1024 x 1024": the case study's sides, in the order height, width, depth.
std::string lengths_text(const CaseStudy& study, Extent extent);

/// "1,048,576 words", or "1024 x 1024 words".
std::string size_text(const CaseStudy& study, Extent extent);

/// The image called `name`, of the kernels for one device or for several ranks; null if there is none.
const gpu::KernelImage* find_image(const CaseStudy& study, std::string_view name);

}  // namespace bankwise::study
