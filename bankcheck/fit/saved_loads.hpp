// Loads of the source that machine code does not make, because the compiler knows that the stores before them go to
// other elements. With an index that hides this it loads again.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "bankcheck/fit/uses.hpp"

namespace bankwise::fit {

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
