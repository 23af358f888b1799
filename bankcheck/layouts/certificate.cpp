// How few passes any layout of a tile can have. A layout decides only in which bank each word lies.
//
// A layout that keeps W bytes together, those of the widest access, gives each such part of the tile one of s slots: s
// times W bytes are a row of all banks. The word w of a part lies in bank w of its slot. So of a lane group that needs
// the word w of n parts, some bank serves at least n / s of them: `any_layout`.
//
// In a linear layout the slot is C(x): x are the bits of the part's row and column, and C is a matrix over the field of
// two elements, with log2(s) rows. If a lane group needs the word w of the parts x0 + h for all h of a subspace H, then
// each slot that is used has 2^(dim H - rank C on H) of them. The fewest passes of all such layouts are the minimum of
// the sum of these powers over all matrices C. Only the subspaces H matter, and of C only its kernel.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "bankcheck/layouts/layouts.hpp"

namespace bankwise::layouts {
namespace {

using Bits = std::uint64_t;  ///< a vector over the field of two elements, or a set of its places

/// Vectors in echelon form: each has a highest bit that no other has.
class Span {
 public:
  /// What is left of a vector once those of the span are taken from it: 0 if it lies in the span.
  Bits reduced(Bits vector) const {
    for (const Bits other : basis_) vector = std::min(vector, vector ^ other);
    return vector;
  }
  /// Whether the vector was not in the span.
  bool add(Bits vector) {
    const Bits rest = reduced(vector);
    if (rest == 0) return false;
    for (Bits& other : basis_) other = std::min(other, other ^ rest);
    basis_.insert(std::ranges::lower_bound(basis_, rest, std::greater()), rest);
    return true;
  }
  unsigned dimension() const { return unsigned(basis_.size()); }
  const std::vector<Bits>& basis() const { return basis_; }  ///< the same for equal spans
  auto operator<=>(const Span&) const = default;

 private:
  std::vector<Bits> basis_;  // descending
};

/// A linear function on a span, from its values.
class LinearMap {
 public:
  /// Unless the vector is in the span of the ones before.
  void set(Bits vector, Bits image) {
    const auto [rest, value] = reduced(vector, image);
    if (rest == 0) return;
    values_.emplace_back(rest, value);
    std::ranges::sort(values_, std::greater());
  }
  Bits operator()(Bits vector) const { return reduced(vector, 0).second; }
  /// Whether a vector of the span has this as its highest bit.
  bool has_highest(unsigned bit) const {
    return std::ranges::any_of(values_, [&](auto& value) { return unsigned(std::bit_width(value.first)) == bit + 1; });
  }

 private:
  std::pair<Bits, Bits> reduced(Bits vector, Bits image) const {
    for (const auto& [other, of_other] : values_) {
      if ((vector ^ other) >= vector) continue;
      vector ^= other;
      image ^= of_other;
    }
    return {vector, image};
  }

  std::vector<std::pair<Bits, Bits>> values_;  // vectors, each with a highest bit of its own, descending; images
};

/// The subspace of the differences of some vectors; nothing if they are not all of x0 + H.
std::optional<Span> directions_of(const std::vector<Bits>& vectors) {
  Span span;
  for (const Bits vector : vectors) span.add(vector ^ vectors.front());
  if (vectors.size() != std::size_t{1} << span.dimension()) return std::nullopt;
  return span;
}

/// What the lane groups of all copies need. Lane groups with the same subspaces are one, with their number.
struct Needs {
  std::uint64_t any_layout = 0;
  std::uint64_t constant = 0;            // passes of lane groups that cannot conflict
  std::map<Span, std::uint64_t> spaces;  // by H: the lane groups
  bool is_linear = true;                 // all lane groups need such subspaces
};

/// The tile in the order of its parts: the number of an element by its bits.
struct Order {
  unsigned together = 4, element = 1;  // bytes
  std::uint64_t rows = 1, columns = 1;
  bool by_row = true;

  std::uint64_t byte(std::uint32_t place) const {
    const std::uint64_t row = place / columns, column = place % columns;
    return (by_row ? row * columns + column : column * rows + row) * element;
  }
};

/// Nothing if the layout itself tears such parts apart.
std::optional<Order> order_of(const Tile& tile, const std::vector<Copy>& copies) {
  Order order{std::max(4U, tile.element), tile.element, tile.rows, tile.columns, true};
  for (const Copy& copy : copies) order.together = std::max(order.together, copy.width);
  for (const Direction direction : {Direction::along_row, Direction::along_column}) {
    order.by_row = direction == Direction::along_row;
    if (keeps_together(tile, tile.offsets, order.together, direction)) return order;
  }
  return std::nullopt;
}

void add_lane_group(Needs& needs, const std::map<unsigned, std::set<Bits>>& parts_by_word, unsigned slots,
                    unsigned rounds) {
  std::uint64_t most = 0;
  std::optional<Span> space;
  for (const auto& [word, parts] : parts_by_word) {
    most = std::max<std::uint64_t>(most, (parts.size() + slots - 1) / slots);
    const auto directions = directions_of({parts.begin(), parts.end()});
    if (!directions || (space && *space != *directions)) needs.is_linear = false;
    space = directions;
  }
  needs.any_layout += most * rounds;
  if (!space) return;
  if (space->dimension() == 0) {
    needs.constant += rounds;
  } else {
    needs.spaces[*space] += rounds;
  }
}

void add_copy(Needs& needs, const banks::Architecture& architecture, const Tile& tile, const Copy& copy,
              const Order& order, const banks::Rule& rule) {
  const unsigned words = order.together / rule.banks.bytes, slots = rule.banks.count / words;
  const unsigned request = request_bytes(rule, copy.width);
  std::vector<std::uint32_t> bytes(tile.offsets.size());
  for (std::uint32_t place = 0; place < bytes.size(); ++place) bytes[place] = std::uint32_t(order.byte(place));
  for (const LaneElements& instruction : instructions_of(tile, copy, architecture.warp)) {
    const predict::Prediction access = access_of(architecture, copy, instruction, bytes);
    const auto cost = std::get<banks::Cost>(banks::cost(architecture, access.access()));  // for its lane groups
    for (unsigned i = 0; i < cost.lane_group_count; ++i) {
      std::map<unsigned, std::set<Bits>> parts_by_word;
      banks::for_each_lane(cost.lane_groups[i].lanes, [&](unsigned lane) {
        const std::uint64_t first = access.addresses[lane] + cost.lane_groups[i].first_byte;
        for (std::uint64_t byte = first; byte < first + request; byte += rule.banks.bytes) {
          const std::uint64_t word = byte / rule.banks.bytes;
          parts_by_word[unsigned(word % words)].insert(word / words);
        }
      });
      add_lane_group(needs, parts_by_word, slots, rule.rounds);
    }
  }
}

/// The matrix C with the fewest passes: a search over its values on a basis of the sum of all subspaces, one vector
/// after another. Matrices with one kernel count once: the first vector of each new dimension becomes the next unit
/// vector.
class MatrixSearch {
 public:
  MatrixSearch(const Needs& needs, unsigned slot_bits) : slot_bits_(slot_bits), constant_(needs.constant) {
    Span sum;
    for (const auto& [space, count] : needs.spaces) {
      spaces_.push_back({space.dimension(), count, {}});
      for (const Bits vector : space.basis()) {
        if (sum.add(vector)) basis_.push_back(vector);
      }
    }
    LinearMap coordinates;
    for (std::size_t i = 0; i < basis_.size(); ++i) coordinates.set(basis_[i], Bits{1} << i);
    // The vectors of each subspace by the last vector of the basis that they need, as sets of vectors of the basis.
    for (std::size_t i = 0; const auto& [space, count] : needs.spaces) {
      Span by_coordinates;  // in coordinates, reversed, so that the echelon form has distinct last vectors
      for (const Bits vector : space.basis()) by_coordinates.add(coordinates(vector));
      spaces_[i].steps.resize(basis_.size());
      for (const Bits step : by_coordinates.basis()) spaces_[i].steps[std::size_t(std::bit_width(step)) - 1] = step;
      ++i;
    }
    images_.resize(basis_.size());
  }

  /// Whether the search ended with the minimum.
  bool run() {
    std::vector<Progress> progress(spaces_.size());
    best_ = ~std::uint64_t{0};
    extend(0, 0, progress);
    return nodes_ <= max_nodes || best_ == least();
  }
  std::uint64_t best() const { return best_; }
  const std::vector<Bits>& basis() const { return basis_; }
  const std::vector<Bits>& images() const { return best_images_; }

 private:
  static constexpr std::uint64_t max_nodes = 2'000'000;
  struct Space {
    unsigned dimension;
    std::uint64_t count;
    std::vector<Bits> steps;  // by vector of the basis: that of the subspace which needs it last; 0: none does
  };
  struct Progress {
    Span images;
    unsigned lost = 0;  // vectors whose image is a sum of those of others
  };

  std::uint64_t passes(const std::vector<Progress>& progress) const {
    std::uint64_t sum = constant_;
    for (std::size_t i = 0; i < spaces_.size(); ++i) {
      const unsigned beyond = spaces_[i].dimension > slot_bits_ ? spaces_[i].dimension - slot_bits_ : 0;
      sum += spaces_[i].count << std::max(progress[i].lost, beyond);
    }
    return sum;
  }
  std::uint64_t least() const { return passes(std::vector<Progress>(spaces_.size())); }

  void extend(std::size_t vector, unsigned rank, const std::vector<Progress>& progress) {
    if (++nodes_ > max_nodes || best_ == least() || passes(progress) >= best_) return;
    if (vector == basis_.size()) {
      best_ = passes(progress);
      best_images_ = images_;
      return;
    }
    const Bits fresh = rank < slot_bits_ ? Bits{1} << rank : 0;
    if (fresh != 0) assign(vector, rank + 1, progress, fresh);
    for (Bits image = (Bits{1} << rank); image-- > 0;) assign(vector, rank, progress, image);
  }
  void assign(std::size_t vector, unsigned rank, std::vector<Progress> progress, Bits image) {
    images_[vector] = image;
    for (std::size_t i = 0; i < spaces_.size(); ++i) {
      Bits of_step = 0;
      if (spaces_[i].steps[vector] == 0) continue;
      banks::for_each_lane(spaces_[i].steps[vector], [&](unsigned other) { of_step ^= images_[other]; });
      if (!progress[i].images.add(of_step)) ++progress[i].lost;
    }
    extend(vector + 1, rank, progress);
  }

  unsigned slot_bits_;
  std::uint64_t constant_, best_ = 0, nodes_ = 0;
  std::vector<Space> spaces_;
  std::vector<Bits> basis_, images_, best_images_;
};

/// The rows of C as sets of bits of x, from its values on a basis of a subspace; the other bits are chosen so that the
/// rows are independent.
std::vector<Bits> rows_of(const MatrixSearch& search, unsigned bits, unsigned slot_bits) {
  LinearMap matrix;
  Span images;
  for (std::size_t i = 0; i < search.basis().size(); ++i) {
    matrix.set(search.basis()[i], search.images()[i]);
    images.add(search.images()[i]);
  }
  for (unsigned bit = 0; bit < bits; ++bit) {
    if (matrix.has_highest(bit)) continue;
    Bits image = 0;
    for (unsigned slot_bit = 0; slot_bit < slot_bits && image == 0; ++slot_bit) {
      if (images.reduced(Bits{1} << slot_bit) != 0) image = Bits{1} << slot_bit;
    }
    matrix.set(Bits{1} << bit, image);
    images.add(image);
  }
  std::vector<Bits> rows(slot_bits);
  for (unsigned bit = 0; bit < bits; ++bit) {
    const Bits image = matrix(Bits{1} << bit);
    for (unsigned slot_bit = 0; slot_bit < slot_bits; ++slot_bit) rows[slot_bit] |= (image >> slot_bit & 1) << bit;
  }
  return rows;
}

/// All rows of an invertible matrix that begins with these: the others are single bits, the highest ones last.
std::vector<Bits> completed(std::vector<Bits> rows, unsigned bits) {
  Span span;
  for (const Bits row : rows) span.add(row);
  std::vector<Bits> more;
  for (unsigned bit = bits; bit-- > 0;) {
    if (span.add(Bits{1} << bit)) more.push_back(Bits{1} << bit);
  }
  rows.insert(rows.end(), more.rbegin(), more.rend());
  return rows;
}

std::vector<std::string> names_of_bits(const Order& order) {
  std::vector<std::string> names;
  const auto add = [&](char letter, std::uint64_t count) {
    for (unsigned bit = 0; std::uint64_t{1} << bit < count; ++bit) names.push_back(fmt::format("{}{}", letter, bit));
  };
  add(order.by_row ? 'c' : 'r', order.by_row ? order.columns : order.rows);
  add(order.by_row ? 'r' : 'c', order.by_row ? order.rows : order.columns);
  return names;
}

}  // namespace

Certificate certificate(const banks::Architecture& architecture, const Tile& tile, const std::vector<Copy>& copies) {
  Certificate certificate;
  const std::optional<Order> order = order_of(tile, copies);
  if (tile.repeats || !order) {
    certificate.why = tile.repeats ? "elements share bytes" : "the layout separates the bytes of a word";
    return certificate;
  }
  certificate.together = order->together;
  certificate.direction = order->by_row ? Direction::along_row : Direction::along_column;
  Needs needs;
  unsigned banks = 0;
  for (const Copy& copy : copies) {
    const banks::Rule& rule = *banks::find_rule(architecture, copy.operation, copy.width);
    const bool is_known = rule.only_banks_matter() && rule.serving == banks::Serving::words;
    if (!is_known || (banks != 0 && banks != rule.banks.count)) {
      certificate.why = fmt::format("the rules of {} count more than the words of each bank", architecture.name);
      return certificate;
    }
    banks = rule.banks.count;
    add_copy(needs, architecture, tile, copy, *order, rule);
  }
  certificate.any_layout = needs.any_layout;
  const std::uint64_t bytes = tile.rows * tile.columns * tile.element;
  if (!std::has_single_bit(tile.rows) || !std::has_single_bit(tile.columns)) {
    certificate.why = "linear layouts need rows and columns that are powers of two";
    return certificate;
  }
  if (!needs.is_linear) {
    certificate.why = "the lanes that are served together form no subspace";
    return certificate;
  }
  const auto width = [](std::uint64_t power) { return unsigned(std::countr_zero(power)); };
  const unsigned bits = width(bytes / order->together);
  const unsigned slot_bits = std::min(bits, width(banks * 4 / order->together));
  MatrixSearch search(needs, slot_bits);
  if (!search.run()) {
    certificate.why = "there are too many matrices to try them all";
    return certificate;
  }
  certificate.linear = search.best();
  certificate.order = names_of_bits(*order);
  const unsigned inside = width(order->together / tile.element);
  for (unsigned bit = 0; bit < inside; ++bit) certificate.matrix.push_back(Bits{1} << bit);
  for (const Bits row : completed(rows_of(search, bits, slot_bits), bits)) certificate.matrix.push_back(row << inside);
  return certificate;
}

}  // namespace bankwise::layouts
