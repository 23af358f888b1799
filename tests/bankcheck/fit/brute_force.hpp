// A second implementation of the search: every change of the family, written out as formulas, on every access, with
// bank conflicts counted from the definition. It shares no code with bankcheck/fit, except for layouts(): that takes
// the price of an index from there, which test_prices.cpp compares with nvcc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "bankcheck/fit/index.hpp"

namespace brute_force {

/// A store of a full warp on sm_90: no broadcast of neighbours merges lane groups of stores.
struct Store {
  unsigned width = 4;
  std::vector<std::uint32_t> addresses;  ///< one for each of the 32 lanes
  std::uint64_t count = 1;
};

/// `map`: the new offset of a byte.
template <class Map>
std::uint64_t passes(const std::vector<Store>& stores, const Map& map) {
  std::uint64_t sum = 0;
  for (const Store& store : stores) {
    const std::size_t together = store.width <= 4 ? 32 : 128 / store.width;
    for (std::size_t first = 0; first < 32; first += together) {
      std::uint64_t words[32][32];  // the different words of each bank
      std::uint8_t count[32]{}, most = 0;
      for (std::size_t lane = first; lane < first + together; ++lane) {
        const std::uint64_t begin = map(store.addresses[lane]) / 4, words_of_lane = std::max(store.width / 4, 1U);
        for (std::uint64_t word = begin; word < begin + words_of_lane; ++word) {
          std::uint64_t *const here = words[word % 32], *const end = here + count[word % 32];
          if (std::find(here, end, word) != end) continue;
          *end = word;
          most = std::max(most, ++count[word % 32]);
        }
      }
      sum += store.count * most;
    }
  }
  return sum;
}

/// The XORs of an offset with bits that the XOR changes, too: row, values and unit of x ^ (x / row % values) * unit.
inline std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> folds_of(std::uint64_t bytes,
                                                                                     std::uint64_t width) {
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> folds;
  for (std::uint64_t unit = width; unit < 128; unit *= 2) {
    for (std::uint64_t values = 2; unit * values <= 128; values *= 2) {
      for (std::uint64_t row = 2 * unit; row < unit * values && row < bytes; row *= 2)
        folds.emplace_back(row, values, unit);
    }
  }
  return folds;
}

struct Answer {
  std::uint64_t passes = 0, bytes = 0;
  std::size_t tried = 0;
};

/// The fewest passes, and the fewest bytes with them, of an array of `bytes` bytes with accesses of `width` bytes.
/// `strides` are tried as lengths, too.
inline Answer best(const std::vector<Store>& stores, std::uint64_t bytes, std::uint64_t width,
                   const std::vector<std::uint64_t>& strides) {
  std::set<std::uint64_t> lengths;
  for (std::uint64_t k = width; k < bytes; k *= 2) lengths.insert(k);
  for (const std::uint64_t k : strides) {
    if (k >= width && k % width == 0 && k < bytes) lengths.insert(k);
  }
  struct Xor {
    std::uint64_t row, values, unit;  // x ^ (x / row % values) * unit
  };
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> xors;
  for (const std::uint64_t length : lengths) {
    for (const std::uint64_t row : {length, 2 * length}) {
      for (std::uint64_t unit = width; unit < 128; unit *= 2) {
        for (std::uint64_t values = 2; unit * values <= 128; values *= 2) {
          if (row < bytes && row % (unit * values) == 0) xors.insert({row, values, unit});
        }
      }
    }
  }
  const auto folds = folds_of(bytes, width);
  Answer answer{passes(stores, [](std::uint64_t x) { return x; }), bytes, 1};
  const auto offer = [&](std::uint64_t needed, const auto& map) {
    ++answer.tried;
    const std::uint64_t cost = passes(stores, map);
    if (std::tuple(cost, needed) < std::tuple(answer.passes, answer.bytes)) {
      answer.passes = cost;
      answer.bytes = needed;
    }
  };
  const auto up = [](std::uint64_t x, std::uint64_t unit) { return (x + unit - 1) / unit; };
  for (const auto& [row, values, unit] : folds) {
    offer(up(bytes, unit * values) * unit * values,
          [row = row, values = values, unit = unit](std::uint64_t x) { return x ^ (x / row % values) * unit; });
  }
  for (const auto& [row, values, unit] : xors) {
    const auto swizzled = [row = row, values = values, unit = unit](std::uint64_t x) {
      return x ^ (x / row % values) * unit;
    };
    const std::uint64_t whole = up(bytes, unit * values) * unit * values;
    offer(whole, swizzled);
    for (const std::uint64_t k : lengths) {
      for (std::uint64_t p = width; p < 128; p *= 2) {
        offer(whole + whole / k * p, [&](std::uint64_t x) { return swizzled(x) + swizzled(x) / k * p; });
      }
    }
  }
  for (const std::uint64_t k : lengths) {
    for (std::uint64_t p = width; p < 128; p += width) {
      offer(bytes + bytes / k * p, [&](std::uint64_t x) { return x + x / k * p; });
    }
    for (std::uint64_t p = width; p < 128; p *= 2) {
      for (const std::uint64_t l : lengths) {
        for (std::uint64_t q = width; l > k && q < 128; q *= 2) {
          offer(bytes + bytes / k * p + bytes / l * q, [&](std::uint64_t x) { return x + x / k * p + x / l * q; });
        }
      }
    }
  }
  return answer;
}

/// What a layout costs.
struct Layout {
  std::uint64_t bytes = 0, passes = 0;
  double instructions = 0;
  int parts = 0;           ///< an XOR and pads
  bool is_plain = false;   ///< only one declared length changes
  unsigned operators = 0;  ///< of the index
  bool divides = false;    ///< by a number that is no power of two
};

/// Every layout of the family for an array of `lengths` elements of `width` bytes, 4, 8 or 16, in one to three
/// dimensions. Of each row `used` bytes are accessed. By what bankcheck/fit calls them.
inline std::map<bankwise::fit::Change, Layout> layouts(const std::vector<Store>& stores,
                                                       const std::vector<std::uint64_t>& lengths, std::uint64_t width,
                                                       std::uint64_t used, const std::vector<std::uint64_t>& strides) {
  using bankwise::fit::Change;
  std::map<Change, Layout> all;
  const bankwise::fit::ArrayShape shape{width, lengths};
  std::uint64_t bytes = width;
  for (const std::uint64_t length : lengths) bytes *= length;
  const std::uint64_t row = lengths.back() * width, height = lengths.size() > 1 ? lengths[lengths.size() - 2] : 1,
                      planes = lengths.size() > 2 ? lengths[0] : 1;
  const auto u32 = [](std::uint64_t x) { return std::uint32_t(x); };
  const auto add = [&](const Change& change, std::uint64_t needed, const auto& map) {
    if (all.contains(change) || !form_of(change, shape)) return;
    const auto layout = all.try_emplace(change).first;
    const int parts = int(change.swizzle.bits > 0) + int(change.pads[0].every > 0) + int(change.pads[1].every > 0);
    const bool changes_index = form_of(change, shape) == bankwise::fit::IndexForm::flat ||
                               form_of(change, shape) == bankwise::fit::IndexForm::columns;
    bool divides = false;
    for (const auto& pad : change.pads) {
      const std::uint64_t every = pad.every / width;
      divides = divides || (changes_index && (every & (every - 1)) != 0 && every != 0);
    }
    layout->second = {
        needed,
        passes(stores, map),
        double(index_instructions(change, shape)),
        parts,
        parts + int(change.rows.from > 0) == 1 && form_of(change, shape) == bankwise::fit::IndexForm::rows,
        index_operators(change, shape),
        divides};
  };
  const auto up = [](std::uint64_t x, std::uint64_t unit) { return (x + unit - 1) / unit; };
  const auto log2 = [](std::uint64_t x) {
    unsigned bits = 0;
    while (std::uint64_t{1} << bits < x) ++bits;
    return bits;
  };
  add({}, bytes, [](std::uint64_t x) { return x; });

  // Changes of the offset.
  std::set<std::uint64_t> steps;
  for (std::uint64_t k = width; k < bytes; k *= 2) steps.insert(k);
  for (const std::uint64_t k : strides) {
    if (k >= width && k % width == 0 && k < bytes) steps.insert(k);
  }
  for (const std::uint64_t k : steps) {
    for (std::uint64_t p = width; p < 128; p += width) {
      add({{}, {{{u32(k), u32(p)}, {}}}}, bytes + bytes / k * p, [=](std::uint64_t x) { return x + x / k * p; });
    }
    for (std::uint64_t p = width; p < 128; p *= 2) {
      for (const std::uint64_t l : steps) {
        for (std::uint64_t q = width; l > k && q < 128; q *= 2) {
          add({{}, {{{u32(k), u32(p)}, {u32(l), u32(q)}}}}, bytes + bytes / k * p + bytes / l * q,
              [=](std::uint64_t x) { return x + x / k * p + x / l * q; });
        }
      }
    }
    for (const std::uint64_t each : {k, 2 * k}) {
      for (std::uint64_t unit = width; unit < 128; unit *= 2) {
        for (std::uint64_t values = 2; unit * values <= 128; values *= 2) {
          if (each >= bytes || each % (unit * values) != 0) continue;
          const auto swizzled = [=](std::uint64_t x) { return x ^ (x / each % values) * unit; };
          const std::uint64_t whole = up(bytes, unit * values) * unit * values;
          const bankwise::fit::RowXor name{u32(each), log2(values), log2(unit)};
          add({name, {}}, whole, swizzled);
          for (const std::uint64_t l : steps) {
            for (std::uint64_t p = width; p < 128; p *= 2) {
              add({name, {{{u32(l), u32(p)}, {}}}}, whole + whole / l * p,
                  [=](std::uint64_t x) { return swizzled(x) + swizzled(x) / l * p; });
            }
          }
        }
      }
    }
  }
  for (const auto& [each, values, unit] : folds_of(bytes, width)) {
    add({{u32(each), log2(values), log2(unit)}, {}}, up(bytes, unit * values) * unit * values,
        [each = each, values = values, unit = unit](std::uint64_t x) { return x ^ (x / each % values) * unit; });
  }
  if (lengths.size() < 2 || row == bytes) return all;

  // Changes of the indices: rows of `pitch` bytes, `more` rows more in each plane, and an XOR of z or y into x.
  struct Index {
    std::uint64_t z, y, x;  // x in bytes
  };
  const auto indices = [=](std::uint64_t at) { return Index{at / (row * height), at / row % height, at % row}; };
  const auto more_rows = [&](std::uint64_t pitch) {
    std::vector<std::uint64_t> counts{0};
    for (std::uint64_t more = 1; planes > 1 && more <= 8; ++more) {
      if (more * pitch < bytes) counts.push_back(more);
      if (more * pitch % 128 == 0) break;
    }
    return counts;
  };
  const auto rows_named = [&](std::uint64_t pitch) {
    return pitch == row ? bankwise::fit::Repitch{} : bankwise::fit::Repitch{u32(row), u32(pitch)};
  };
  for (std::uint64_t pitch = used; pitch < row + 128; pitch += width) {
    if (pitch + 128 < row) continue;
    for (const std::uint64_t more : more_rows(std::min(pitch, row))) {
      if (pitch == row && more == 0) continue;
      Change name{{}, {}, rows_named(std::min(pitch, row))};
      std::size_t pads = 0;
      if (pitch > row) name.pads[pads++] = {u32(row), u32(pitch - row)};
      if (more > 0) name.pads[pads] = {u32(height * std::min(pitch, row)), u32(more * pitch)};
      add(name, planes * (height + more) * pitch, [=](std::uint64_t at) {
        const Index i = indices(at);
        return (i.z * (height + more) + i.y) * pitch + i.x;
      });
    }
  }
  std::set<std::uint64_t> pitches{row};
  for (std::uint64_t unit = 2 * width; unit <= 128; unit *= 2) pitches.insert(up(used, unit) * unit);
  for (const std::uint64_t pitch : pitches) {
    for (std::size_t of = 0; of + 1 < lengths.size(); ++of) {  // the index that is XORed in
      const bool is_y = of + 2 == lengths.size();
      for (std::uint64_t shift = 1; shift <= 4 && shift < lengths[of]; shift *= 2) {
        for (std::uint64_t unit = width; unit < 128; unit *= 2) {
          std::uint64_t rounded_up = 1;
          while (rounded_up < lengths[of]) rounded_up *= 2;
          for (std::uint64_t values = 2; unit * values <= 128 || (shift == 1 && unit == width); values *= 2) {
            if (unit * values > 128 && values > rounded_up) break;
            if (pitch % (unit * values) != 0 || (unit * values > 128 && values != rounded_up)) continue;
            const std::uint64_t plane = is_y && lengths.size() > 2 ? height * pitch : 0;
            const std::uint64_t each = (is_y ? pitch : height * pitch) * shift;
            const bankwise::fit::RowXor swizzle{u32(each), log2(values), log2(unit),
                                                u32(plane % (each * values) == 0 ? 0 : plane)};
            const auto offer = [&](std::uint64_t longer, std::uint64_t more) {
              Change name{swizzle, {}, rows_named(pitch)};
              if (longer > 0) name.pads[0] = {u32(pitch), u32(longer)};
              if (more > 0) name.pads[0] = {u32(height * pitch), u32(more * pitch)};
              add(name, planes * (height + more) * (pitch + longer), [=](std::uint64_t at) {
                const Index i = indices(at);
                return (i.z * (height + more) + i.y) * (pitch + longer) +
                       (i.x ^ ((is_y ? i.y : i.z) / shift % values) * unit);
              });
            };
            for (const std::uint64_t more : more_rows(pitch)) offer(0, more);
            for (std::uint64_t longer = width; longer < 128; longer *= 2) offer(longer, 0);
          }
        }
      }
    }
  }
  return all;
}

/// The proposal: of those within 2 % of the fewest cycles that save cycles and 1 % of the passes, or 25 % if the index
/// has a division, or with one instruction more, and no more passes and operators, one with the fewest passes of all,
/// one that only changes one declared length (this also if it saves 95 % of the cycles that can be saved), or the one
/// with the fewest operators, then bytes. Only those of one part
/// compete if one of them is within 2 %, or saves 65 % of the cycles that can be saved. More than 1.25 times the bytes,
/// and more than twice, must each save a tenth more than the best with fewer, in one part.
struct Proposal {
  std::uint64_t bytes = 0, passes = 0;
  double cycles = 0;
  int parts = 0;
  bool is_plain = false;
  double instructions = 0;
  unsigned operators = 0;
  bool divides = false;
};
inline Proposal proposal(const std::vector<Store>& stores, const std::map<bankwise::fit::Change, Layout>& layouts) {
  double executions = 0;
  for (const Store& store : stores) executions += double(store.count);
  std::vector<Proposal> priced;
  for (const auto& [name, layout] : layouts) {
    const std::uint64_t cost = layout.passes;
    const double issued = executions * (1 + layout.instructions) / 4;
    priced.push_back({layout.bytes, cost, std::max(double(cost), issued) + layout.instructions * executions / 16,
                      layout.parts, layout.is_plain, layout.instructions, layout.operators, layout.divides});
  }
  const Proposal before = priced.front();  // as it is: the first name
  std::uint64_t fewest_passes = before.passes;
  for (const Proposal& each : priced) fewest_passes = std::min(fewest_passes, each.passes);
  const auto best_of = [&](std::vector<Proposal> some) {
    std::erase_if(some, [&](const Proposal& each) {
      return each.cycles >= before.cycles || double(each.passes) > (each.divides ? 0.75 : 0.99) * double(before.passes);
    });
    const auto quicker = [](const Proposal& a, const Proposal& b) {
      return std::tuple(a.cycles, a.passes, a.instructions, a.operators) <
             std::tuple(b.cycles, b.passes, b.instructions, b.operators);
    };
    if (some.empty()) return before;
    Proposal quickest = *std::min_element(some.begin(), some.end(), quicker);
    std::vector<Proposal> simple = some;
    std::erase_if(simple, [](const Proposal& each) { return each.parts > 1; });
    const double gain = before.cycles - quickest.cycles;
    const auto best = std::min_element(simple.begin(), simple.end(), quicker);
    if (best != simple.end() && best->cycles <= std::max(1.02 * quickest.cycles, before.cycles - 0.65 * gain)) {
      quickest = *best;
      some = simple;
    }
    const auto is_enough = [&](const Proposal& each) {
      return each.is_plain && before.cycles - each.cycles >= 0.95 * (before.cycles - quickest.cycles);
    };
    std::erase_if(some, [&](const Proposal& each) {
      const bool is_as_easy = each.passes <= quickest.passes && each.instructions <= quickest.instructions + 1 &&
                              each.operators <= quickest.operators;
      return each.cycles > 1.02 * quickest.cycles && !is_as_easy && !is_enough(each);
    });
    const auto rank = [&](const Proposal& p) {
      const bool leaves = p.passes > fewest_passes;
      return std::tuple(leaves && !is_enough(p), !p.is_plain, leaves, p.operators, p.bytes, p.cycles, p.passes);
    };
    const auto chosen = std::min_element(some.begin(), some.end(), [&](auto& a, auto& b) { return rank(a) < rank(b); });
    return chosen == some.end() ? before : *chosen;
  };
  std::vector<Proposal> small, medium;
  for (const Proposal& each : priced) {
    if (4 * each.bytes <= 5 * before.bytes) small.push_back(each);
    if (each.bytes <= 2 * before.bytes && each.parts <= 1) medium.push_back(each);
  }
  std::erase_if(priced, [](const Proposal& each) { return each.parts > 1; });
  Proposal chosen = best_of(small);
  if (const Proposal other = best_of(medium); other.cycles < 0.9 * chosen.cycles) chosen = other;
  if (const Proposal other = best_of(priced); other.cycles < 0.9 * chosen.cycles) chosen = other;
  return chosen;
}

}  // namespace brute_force
