// The pictures of banks, the expressions for an index, and the commands `bankcheck archs` and `bankcheck predict`.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/sectors.hpp>

namespace CLI {
class App;
}

namespace bankwise::predict {

/// The lanes that each bank serves in one lane group, pass by pass: `turns[t][bank]` are the lanes of row t.
struct LaneGroupPicture {
  std::string title;             ///< "lanes 0-31: 1 pass"
  unsigned passes_per_turn = 1;  ///< 2 for atomic.cas: rows are then labelled pass 1, pass 3, ...
  std::vector<std::vector<std::vector<unsigned>>> turns;
};

/// The picture of an access that has the cost `cost`.
struct BankPicture {
  unsigned banks = 0;
  std::vector<LaneGroupPicture> lane_groups;
};
/// Without lane groups for copies: in which pass they serve a lane is not known.
BankPicture picture(const banks::Architecture& architecture, const banks::Access& access, const banks::Cost& cost);

/// The label of a row: "pass 1".
std::string pass_label(const LaneGroupPicture& lane_group, std::size_t turn);

/// Whether a bank serves the lane group in more than one row.
bool collides(const LaneGroupPicture& lane_group, std::size_t bank);

/// The text of a cell for its lanes, at least one: the first lane, followed by a plus if there are more.
std::string cell_text(const std::vector<unsigned>& lanes);

/// The lanes of a mask as ranges: "0-7, 16, 18-20".
std::string lane_ranges(std::uint64_t lanes);

/// The picture for a terminal of `columns` columns: banks across, lanes in the cells. The cells of a bank that needs
/// more than one row are marked by '!'. Shows at most `max_turns` rows of each lane group.
std::string to_text(const BankPicture& picture, unsigned columns, unsigned max_turns = ~0U);

/// A text with such pictures: marked cells are red, and idle ones are dim.
std::string coloured(std::string_view text);

/// The same picture as an SVG file.
std::string to_svg(const BankPicture& picture, const std::string& title);

/// An invalid index expression; what() is one sentence.
struct ExpressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What an index may name besides functions.
struct IndexNames {
  std::array<unsigned, 3> block{};                            ///< threads in x, y and z; 0: not given
  std::map<std::string, std::int64_t, std::less<>> values{};  ///< of variables and constants
  bool any_lane_name = false;  ///< one unknown name is the lane number if no known name of it occurs
};

/// An integer formula in the lane number, with the types, the precedence and the values of CUDA C++ and OpenCL C:
/// ( ), + - * / %, << >>, & ^ | ~, comparisons, && || ! and ?:, min, max and abs.
///
/// Numbers are decimal or hexadecimal, with the suffixes u, l and ll; a long has 64 bits. These names are the lane
/// number: tid, lane and laneid as an int, get_sub_group_local_id() as an unsigned. The thread's position in its block:
/// tx, ty and tz as an int, threadIdx.x, .y and .z as an unsigned, get_local_id(0), (1) and (2) as a 64-bit size_t; the
/// block's size: blockDim.x, get_local_size(0) and so on. Lanes are the first threads of the block, x first; without
/// the shape of a block, x is the lane number. abs has the type of its operand.
///
/// What C leaves undefined is an error: a signed + - * / % that overflows, a division by zero, a shift by a negative
/// number or by at least the width of its left operand. << drops the bits that it shifts out, also of a signed number,
/// as in OpenCL C and in C++20. A number that begins with 0, octal in C, is an error, too.
class IndexExpression {
 public:
  /// Error: ExpressionError.
  explicit IndexExpression(std::string text, IndexNames names = {});

  /// Error: ExpressionError, with the lane: what C leaves undefined, or a value that is not below 2^63.
  std::int64_t operator()(unsigned tid) const;

  /// The unknown name that is taken for the lane number; "" if there is none.
  const std::string& other_lane() const { return other_lane_; }

 private:
  std::string text_;
  IndexNames names_;
  std::string other_lane_;
};

/// An array as a kernel declares it. `bytes`: of an element. `extents`: of each dimension; 0: not known.
struct ArrayDeclaration {
  std::string name;
  unsigned bytes = 0;
  std::vector<std::uint64_t> extents;
};

/// Reads "__shared__ float tile[32][TILE + 1];", with the values of constants. Error: UsageError.
ArrayDeclaration array_declared(const std::string& text, const IndexNames& names);

/// "tile[ty][tx + 1]" as an expression for the number of the element: "(ty) * 33ll + (tx + 1)". Other texts are
/// returned as they are. Error: ExpressionError if it does not fit the declaration; without one, one subscript fits.
std::string element_number(const std::string& index, const std::optional<ArrayDeclaration>& array);

/// Words of a declaration that are no part of the type as a user would name it.
bool is_decoration(std::string_view word);

/// Bytes of the types that CUDA C++ and OpenCL C have, without vectors of three, which differ: 0, as for others.
std::uint64_t bytes_of_type(const std::string& type);

/// The same for an element of a layout, whose type may also be named as CuTe, Triton and NumPy do: "half_t", "f16",
/// "float16", which is then no vector of OpenCL.
std::uint64_t bytes_of_element(const std::string& type);

/// A layout of CuTe: a function from coordinates to offsets, both in elements. These forms are read, as CUTLASS prints
/// and writes them, with _8 and Int<8>{} for 8, and nested as CuTe nests:
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

/// The memory that an access is to.
enum class Space { shared, global };

/// An access that is given as an index formula, and its cost.
struct Prediction {
  const banks::Architecture* architecture = nullptr;
  std::string index;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;      ///< bytes per lane
  std::uint64_t mask = 0;  ///< active lanes
  std::vector<std::uint32_t> addresses;
  banks::Cost cost{};
  std::string other_lane{};  ///< the name in the index that was taken for the lane number
  /// Of an access to global memory, for which `cost` means nothing.
  std::optional<banks::SectorCost> sectors{};

  banks::Access access() const { return {operation, width, mask, addresses}; }
};

/// The cost of one access in which each lane of `mask` accesses the element `index` of the array: an IndexExpression,
/// or the array's name with subscripts. Without an array, elements have `width` bytes. Errors: UsageError for an
/// invalid expression, for an element past the array's end or 4 GiB, and for an operation, a width or a lane that the
/// architecture lacks. The array begins at byte `base`; in global memory that counts from a cache line's beginning.
Prediction predict_index(const banks::Architecture& architecture, banks::Operation operation, unsigned width,
                         std::uint64_t mask, const std::string& index, const IndexNames& names = {},
                         const std::optional<ArrayDeclaration>& array = std::nullopt, Space space = Space::shared,
                         std::uint32_t base = 0);

/// Fills in the cost in this space. Error: UsageError for an access that the architecture lacks. Only copies to shared
/// memory need `sources`.
void find_cost(Prediction& prediction, Space space, std::span<const std::uint32_t> sources = {});

/// The cost of an access to global memory, or one sentence on why it has none: a matrix operation, a width that no
/// instruction has, a lane without an address or with a misaligned one, or sectors that are not known.
std::variant<banks::SectorCost, std::string> sectors_or_refusal(const banks::Architecture& architecture,
                                                                const banks::Access& access);

/// Four neighbouring sectors of which lanes touch some (NVIDIA: a cache line).
struct SectorRow {
  std::uint64_t first_byte = 0;
  std::array<std::uint64_t, 4> lanes{};  ///< the lanes that touch each sector
  unsigned bytes = 0;                    ///< different bytes that they ask for
};

/// The picture of an access to global memory, whose sectors are known: the rows that lanes touch, in order.
std::vector<SectorRow> sector_rows(const banks::Architecture& architecture, const banks::Access& access);

/// Bytes asked for, in percent of the bytes moved; 100 if nothing moves.
double used_percent(std::uint64_t bytes, std::uint64_t moved);

/// text_of() and json_of() for an access to global memory.
std::string global_text_of(const Prediction& prediction, unsigned columns);
std::string global_json_of(const Prediction& prediction);

/// The report for a terminal: numbers, lane groups, the picture of the banks, of which it shows the beginning if it is
/// long.
std::string text_of(const Prediction& prediction, unsigned columns);
/// The picture of the banks alone; `hint` follows the number of lane groups that are left out.
std::string picture_text(const Prediction& prediction, unsigned columns, std::string_view hint);
std::string json_of(const Prediction& prediction);
std::string svg_of(const Prediction& prediction);

/// A row that is malformed, or that has no known cost.
struct BadRow {
  std::uint64_t line;  ///< the header is line 1
  std::string sentence;
};

enum class CostFormat { csv, json };

/// Reads accesses, one per line, and writes the cost of each immediately: memory use does not grow with the input.
///
/// Input: a header with the columns id, op, width, mask (hexadecimal), a0 ... a31 or a0 ... a63 (byte offsets, decimal
/// or 0x...), in any order. Copies (cp.async) also need the columns s0 ... s31: byte addresses in global memory, modulo
/// any multiple of 128. Other columns, blank lines, and the addresses of inactive lanes are ignored. Output, in the
/// order of the input: id, passes, ideal, conflicts, and passes_max, conflicts_max where the hardware may choose
/// (compute capability 1.x); for global memory, id, sectors, ideal, lines, bytes, and the addresses of copies are their
/// sources. Stops at the first bad row, after writing the rows before it. The caller checks the state of `out`.
std::optional<BadRow> predict_csv(const banks::Architecture& architecture, std::istream& in, std::ostream& out,
                                  CostFormat format, Space space = Space::shared);

struct PredictOptions {
  const CLI::App* command = nullptr;  ///< knows which options were given
  std::vector<std::string> architectures{"sm_90"}, values;
  std::string accesses, index, array, block, operation = "load", mask, svg, space = "shared";
  unsigned width = 0, lanes = 0;  // 0: the default
  std::uint32_t base = 0;
  std::optional<std::uint64_t> max_conflicts, max_sectors;
  bool json = false;
};

struct ArchsOptions {
  std::vector<std::string> architectures;
  bool rules = false, json = false;
};

/// `bankcheck archs`: a table of the architectures; or, for those that are named or with --rules, their bank rules: per
/// operation, which lanes are served together in which banks, with evidence and source. Returns exit_ok. Error:
/// UsageError for a name that no architecture has.
void declare_archs(CLI::App& command, ArchsOptions& options);
int archs(ArchsOptions& options);

/// The options of `bankcheck predict`.
void declare_predict(CLI::App& command, PredictOptions& options);

/// Runs it. Returns exit_ok, or exit_wrong if a limit is exceeded. Errors: UsageError; std::runtime_error for an output
/// that cannot be written.
int predict(PredictOptions& options);

}  // namespace bankwise::predict
