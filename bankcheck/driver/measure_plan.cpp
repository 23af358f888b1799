#include <fmt/format.h>

#include <algorithm>

#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/measure.hpp"

namespace bankwise::driver {
namespace {

using fit::PricedOption;

/// The layouts of an array to measure: what is proposed, then those that need more of one thing and less of another.
std::vector<PricedOption> candidates_of(const fit::ArrayFit& array) {
  std::vector<PricedOption> candidates{array.after()};  // which may serve other kernels, and save nothing here
  const auto add = [&](const PricedOption& option) {
    const bool is_known = std::ranges::any_of(
        candidates, [&](const PricedOption& known) { return known.option.change == option.option.change; });
    const bool saves = option.option.passes < array.before().option.passes;
    if (!is_known && saves && form_of(option.option.change, array.shape)) candidates.push_back(option);
  };
  for (const PricedOption& option : array.front) add(option);
  for (const PricedOption& option : array.options) add(option);
  return candidates;
}

/// The kernel with its n-th candidates: each array that fit changes has its n-th, or its last.
std::vector<KernelFitReport> candidates_of(const KernelFitReport& report) {
  std::vector<std::vector<PricedOption>> options;
  std::size_t count = 0;
  for (const fit::ArrayFit& array : report.fit.arrays) {
    options.push_back(array.chosen > 0 ? candidates_of(array) : std::vector<PricedOption>{});
    count = std::max(count, options.back().size());
    if (options.back().empty()) options.back().push_back(array.before());
  }
  std::vector<KernelFitReport> candidates;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<PricedOption> chosen;
    for (const auto& of_array : options) chosen.push_back(of_array[std::min(n, of_array.size() - 1)]);
    choose(candidates.emplace_back(report), chosen);
  }
  return candidates;
}

/// All kernels as they are, except those of the version.
std::vector<KernelFitReport> fits_of(const std::vector<KernelFitReport>& fits, const ProgramVersion& version) {
  std::vector<KernelFitReport> chosen;
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (version.kernels[k]) {
      chosen.push_back(*version.kernels[k]);
      continue;
    }
    for (fit::ArrayFit& array : chosen.emplace_back(fits[k]).fit.arrays) array.chosen = 0;
  }
  return chosen;
}

/// Sets the sources of a version, and leaves kernels as they are that need other code in another one's place.
void set_sources(const std::vector<KernelFitReport>& fits, ProgramVersion& version, bool by_text) {
  version.sources = fixed_sources(fits_of(fits, version), by_text);
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (std::ranges::find(version.sources.kernels, k) == version.sources.kernels.end()) version.kernels[k].reset();
  }
}

/// The proposals for a kernel that its sources allow, at most so many. Sets `why` if they do not.
std::vector<KernelFitReport> allowed_candidates(std::vector<KernelFitReport> proposed, std::size_t k, unsigned most,
                                                bool by_text, std::string& why) {
  std::vector<KernelFitReport> allowed;
  // Before the others, which may have to get the same change but cannot be in its way.
  std::swap(proposed.front(), proposed[k]);
  for (KernelFitReport& candidate : candidates_of(proposed.front())) {
    proposed.front() = candidate;
    const FixedSources fixed = fixed_sources(proposed, by_text);
    if (fixed.kernels.empty() || fixed.kernels.front() != 0) {
      if (!fixed.left_out.empty()) why = fixed.left_out.front();
    } else if (allowed.size() < most) {
      allowed.push_back(std::move(candidate));
    }
  }
  return allowed;
}

}  // namespace

PlannedVersions plan_versions(const std::vector<KernelReport>& kernels, const std::vector<KernelFitReport>& fits,
                              const trace::Trace& trace, unsigned candidates, bool by_text) {
  PlannedVersions planned;
  std::vector<std::vector<KernelFitReport>> of_kernels(fits.size());
  std::size_t count = 0;
  std::vector<KernelFitReport> declared = fits;
  for (std::size_t k = 0; by_text && k < fits.size(); ++k) declare_in_own_text(declared[k], kernels[k], trace);
  for (std::size_t k = 0; k < fits.size(); ++k) {
    if (!changes_something(fits[k].fit)) continue;
    const auto has_its_name = [&](const KernelReport& other) { return other.trace.kernel == kernels[k].trace.kernel; };
    if (std::ranges::count_if(kernels, has_its_name) > 1) {
      planned.left_out[k] =
          fmt::format("{}: several kernels have this name, so their times are not known", kernels[k].name);
      continue;
    }
    std::string why;
    of_kernels[k] = allowed_candidates(declared, k, candidates, by_text, why);
    if (of_kernels[k].empty() && !why.empty()) planned.left_out[k] = why;
    count = std::max(count, of_kernels[k].size());
  }
  planned.versions.push_back({"as it is", std::vector<std::optional<KernelFitReport>>(fits.size()), {}, {}});
  for (std::size_t n = 0; n < count; ++n) {
    ProgramVersion& version = planned.versions.emplace_back();
    version.name = std::string(1, char('A' + n));
    for (auto& of_kernel : of_kernels) {
      version.kernels.emplace_back();
      if (n < of_kernel.size()) version.kernels.back() = std::move(of_kernel[n]);
    }
    set_sources(fits, version, by_text);
  }
  return planned;
}

ProgramVersion combined(const std::vector<KernelFitReport>& fits,
                        std::vector<std::optional<KernelFitReport>> candidates, bool by_text) {
  ProgramVersion version{"combined", std::move(candidates), {}, {}};
  set_sources(fits, version, by_text);
  return version;
}

std::string changes_text(const KernelFitReport& fit) {
  std::string text;
  for (const ChangedArray& changed : changed_arrays(fit)) text += (text.empty() ? "" : "; ") + chosen_text(changed);
  return text;
}

}  // namespace bankwise::driver
