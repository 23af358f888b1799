// The edits that make the chosen changes, and the places that several kernels share.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {

using Edits = std::variant<std::vector<fit::Edit>, std::string>;  ///< or why there are none

/// Writes the edits of the chosen changes of a kernel, or why they cannot be made.
void set_all_edits(KernelFitReport& report);

/// Where an array is declared: the file, or the text without one, and the place.
using Place = std::pair<std::string_view, std::size_t>;
Place place_of(const ArraySource& source);

/// The arrays of all kernels, by where they are declared.
using ArrayNumber = std::pair<std::size_t, std::size_t>;  // of the report and of its array
std::map<Place, std::vector<ArrayNumber>> arrays_by_place(const std::vector<KernelFitReport>& reports);

}  // namespace bankwise::driver
