// Accesses of machine code that the compiler has merged from neighbouring elements, and what is left of them in another
// layout: it merges only what it knows to be neighbours, and aligned.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "bankcheck/fit/index.hpp"
#include "bankcheck/fit/uses.hpp"

namespace bankwise::fit {

bool is_one_of(const std::vector<std::uint32_t>& arrays, std::uint32_t array);

/// Whether no use is in the argument of a function or of a macro, which may have such a cast.
bool are_plain(std::string_view source, const std::vector<Use>& uses);

/// The bytes that one access still has after the change, at most `widest`. Longer rows keep the neighbours that stay
/// aligned, and so do rows in another order. Any other new index parts all: of `i ^ ((i >> 4) & 14)` and the same of
/// i + 1, nvcc 13.0 does not see that they are neighbours (bits that are known to be 0 excepted), and of
/// `i + (i >> 5) * 2` not that they are aligned.
unsigned merged_bytes(const Change& change, const ArrayShape& shape, unsigned widest);

/// The bytes of the widest access to these arrays that was merged; 0 if none was, or if that is not certain.
unsigned widest_merged(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays,
                       const ArrayShape& shape);

/// Whether a compiler may have made an access from several elements, or the source by a cast.
bool may_be_merged(const trace::Pattern& pattern, const ArrayShape& shape);

/// Adds an access as several of `bytes`, or as it is if it has fewer.
void add_parts(trace::Pattern pattern, unsigned bytes, std::vector<trace::Pattern>& patterns);

/// The trace with each wider access to these arrays as several of `bytes`.
trace::KernelTrace split_accesses(trace::KernelTrace trace, const std::vector<std::uint32_t>& arrays, unsigned bytes);

// Loads of the source that machine code does not make, because the compiler knows that the stores before them go to
// other elements. With an index that hides this it loads again.

/// Elements of an array that the lanes of all warps accessed in a line.
struct LineAccesses {
  std::uint64_t loads = 0, stores = 0;
};
using AccessesByLine = std::map<unsigned, LineAccesses>;

struct SavedLoads {
  /// The same elements are accessed there.
  struct Place {
    unsigned line = 0;
    bool by_store = false;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  bool complete = true;  ///< false: there may be more, of elements that are not known
};

/// Of the array whose declaration has its name at `at`. `executed`: by machine code, in the lines of the source.
SavedLoads saved_loads(std::string_view source, std::size_t at, const std::vector<Use>& uses,
                       const AccessesByLine& executed);

}  // namespace bankwise::fit
