// The passes of each kernel whose code the patch changes: with its own changes, or with those of another kernel that
// shares the code.
#include <fmt/format.h>

#include <algorithm>

#include <bankwise/support/numbers.hpp>
#include "bankcheck/driver/fit_edits.hpp"
#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {
namespace {

/// A change of a declaration that the patch makes.
struct PatchedPlace {
  std::size_t kernel = 0;
  fit::Change change;
  fit::ArrayShape shape;
};

fit::PricedOption priced(const trace::KernelTrace& trace, const fit::ArrayFit& array, const fit::Change& change,
                         const fit::Architectures& architectures) {
  fit::Accesses accesses(trace, array.arrays, architectures);
  accesses.expect_merged(array.shape);
  fit::PricedOption option{.option = {change}, .passes = accesses.passes_by_architecture(change), .prediction = {}};
  option.prediction = fit::Predictor(trace, array.arrays, array.shape, architectures)(change, option.passes);
  return option;
}

}  // namespace

void note_patched(std::vector<KernelFitReport>& reports, const trace::Trace& trace,
                  const std::vector<KernelReport>& kernels, const fit::Architectures& architectures) {
  const std::vector<std::size_t> changed = fixed_sources(kernels, reports).kernels;
  std::map<Place, PatchedPlace> places;
  for (const std::size_t k : changed) {
    reports[k].patched = PatchedKernel{"", prediction_of(reports[k].fit)};
    for (std::size_t i = 0; i < reports[k].sources.size(); ++i) {
      const fit::ArrayFit& array = reports[k].fit.arrays[i];
      if (array.chosen == 0) continue;
      const PatchedPlace place{k, array.after().option.change, array.shape};
      places.try_emplace(place_of(*reports[k].sources[i]), place);
    }
  }
  for (std::size_t k = 0; k < reports.size(); ++k) {
    const bool has_own = reports[k].patched.has_value();
    fit::KernelFit fit{.arrays = reports[k].fit.arrays, .before = reports[k].fit.before};
    std::optional<std::size_t> with;
    for (std::size_t i = 0; i < fit.arrays.size(); ++i) {
      fit::ArrayFit& array = fit.arrays[i];
      if (!has_own) array.chosen = 0;
      const auto place = reports[k].sources[i] ? places.find(place_of(*reports[k].sources[i])) : places.end();
      if (array.chosen > 0 || place == places.end()) continue;
      const auto change = same_code(place->second.change, place->second.shape, array.shape);
      if (!change) continue;
      array.options.push_back(priced(trace.kernels[kernels[k].number], array, *change, architectures));
      array.chosen = array.options.size() - 1;
      with = place->second.kernel;
    }
    if (with) reports[k].patched = PatchedKernel{kernels[*with].name, prediction_of(fit)};
  }
}

std::string passes_text(const fit::Prediction& prediction, std::size_t architecture) {
  const std::string least = support::grouped(prediction.least[architecture]);
  if (!prediction.most) return "at least " + least;
  const std::uint64_t most = (*prediction.most)[architecture];
  return most == prediction.least[architecture] ? least : fmt::format("{} to {}", least, support::grouped(most));
}

}  // namespace bankwise::driver
