// What bankcheck fit finds for the kernels of a trace, with the sources of their arrays.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <bankwise/support/stop_rule.hpp>
#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/fit/edits.hpp"
#include "bankcheck/fit/fit.hpp"
#include "bankcheck/fit/uses.hpp"

namespace bankwise::driver {

struct FitOptions {
  bool fit = false, only = false;  ///< only: without the report
  std::optional<std::uint64_t> max_shared;
  bool keep_occupancy = false;
};

using Edits = std::variant<std::vector<fit::Edit>, std::string>;  ///< or why there are none

/// A source that declares an array.
struct ArraySource {
  std::string path;  ///< the file, if there is one; an OpenCL program in a string has none
  std::string text;
  fit::Declaration declaration;
  Edits edits;  ///< for the chosen change
  /// The other shapes that other instances of its template give it, with what is declared there.
  std::vector<std::pair<fit::Declaration, fit::ArrayShape>> instances;
  /// The source accesses one element at a time: fit::ArrayShape::merges.
  bool one_by_one = false;
  std::optional<std::vector<fit::Use>> uses;  ///< nothing if there may be others
  std::string seen_as;                        ///< the path that the trace has
  std::uint32_t used_row = 0;                 ///< bytes of a row, from its begin, that some kernel uses; 0: all
};

/// The edits in the source of an array; null without any.
inline const std::vector<fit::Edit>* edits_in(const std::optional<ArraySource>& source) {
  return source ? std::get_if<std::vector<fit::Edit>>(&source->edits) : nullptr;
}

/// A kernel in one version of the program that --measure has run.
struct MeasuredLayouts {
  std::string version;                           ///< "as it is" or "A"
  std::string changes;                           ///< of its arrays, in one line; "" as it is
  fit::Prediction passes;                        ///< as it is, those that were counted
  std::optional<support::MedianAndNoise> times;  ///< nanoseconds of a launch; nothing if they do not count
  std::optional<double> speedup;                 ///< over the kernel as it is
  std::optional<std::string> problem;            ///< why the times do not count: a sentence
};

/// What --measure has found for a kernel.
struct MeasuredKernel {
  std::string verdict;       ///< on the fastest: "faster", "slower", "none" (equal within the noise), "unknown"
  std::string fastest;       ///< the version with the fastest change; "" if no change was measured
  std::string slows;         ///< a kernel that shares the changed code, and is slower with it; "" if there is none
  std::string not_measured;  ///< why no version has a change of it: a sentence
  std::vector<MeasuredLayouts> versions;      ///< the first is the program as it is
  std::optional<std::uint64_t> passes_again;  ///< of the fastest, watched, on the first architecture
};

/// A kernel whose code the patch changes.
struct PatchedKernel {
  std::string with;  ///< the kernel whose changes these are, because they share the code; "": its own
  fit::Prediction passes;
};

struct KernelFitReport {
  fit::KernelFit fit;
  std::vector<std::optional<ArraySource>> sources;  ///< one for each array of the fit
  bool is_opencl = false;
  std::optional<MeasuredKernel> measured;
  std::optional<PatchedKernel> patched;  ///< nothing: the patch leaves it as it is
};

/// One for each of the kernels. `finder` knows which files may be read. `incomplete`: the trace is, so that nothing is
/// claimed to be the best. Error: UsageError for an architecture whose warps the trace's do not split into.
std::vector<KernelFitReport> fit_reports(const trace::Trace& trace, const std::vector<KernelReport>& kernels,
                                         const fit::Architectures& architectures, const FitOptions& options,
                                         const SourceFinder& finder, bool incomplete);

/// Chooses other layouts: `options` has one for each array of the fit. KernelFit::after remains that of the proposal.
void choose(KernelFitReport& report, const std::vector<fit::PricedOption>& options);

/// Sets KernelFitReport::patched.
void note_patched(std::vector<KernelFitReport>& reports, const trace::Trace& trace,
                  const std::vector<KernelReport>& kernels, const fit::Architectures& architectures);

/// "8,192", "8,192 to 9,216", "at least 8,192".
std::string passes_text(const fit::Prediction& prediction, std::size_t architecture);

/// Looks for the arrays' declarations in the text that the program gives to its OpenCL driver, and not in files.
void declare_in_own_text(KernelFitReport& report, const KernelReport& kernel, const trace::Trace& trace);

struct FitTextOptions {
  unsigned columns = 0;       ///< of the terminal
  bool after_report = false;  ///< the reader has seen the report, and the picture of the worst access
  bool everything = false;    ///< all layouts that were compared, not only the ends of the frontier
};
/// Results, the code to paste, then tables.
std::string fit_text(const KernelReport& kernel, const KernelFitReport& report, const FitTextOptions& options);

/// Drops cures that the source refutes, and says the others in the words of the program's language.
void adapt_cures(KernelFitReport& report, const KernelReport& kernel, trace::Maker maker);

/// Cures that are no layout: for each its places, what it saves, and a sentence; "" without any. `everything`: all of
/// them, not only those that save most.
std::string cures_text(const KernelReport& kernel, const KernelFitReport& report, bool everything);

/// One line: "tile[y][x] -> tile[y][x ^ y]: no conflict left, 0 bytes more", or why no layout helps; "" if there are no
/// conflicts.
std::string fit_summary(const KernelFitReport& report);

/// With `fits`, one for each kernel, each kernel has one more member, "fit".
std::string to_json(const RunReport& report, const std::vector<KernelFitReport>& fits = {});

// The edits that make the chosen changes, and the places that several kernels share.

/// Writes the edits of the chosen changes of a kernel, or why they cannot be made.
void set_all_edits(KernelFitReport& report);

/// Where an array is declared: the file, or the text without one, and the place.
using Place = std::pair<std::string_view, std::size_t>;
Place place_of(const ArraySource& source);

/// The arrays of all kernels, by where they are declared.
using ArrayNumber = std::pair<std::size_t, std::size_t>;  // of the report and of its array
std::map<Place, std::vector<ArrayNumber>> arrays_by_place(const std::vector<KernelFitReport>& reports);

/// The user's own lines before and after the chosen changes, as far as they can be rewritten.
std::string diffs_text(const KernelFitReport& report);

using EditedFiles = std::map<std::string, fit::EditedFile>;  ///< by path, "" for a source without a file

/// The edits of all changed arrays that have some. `by_text`: by the text of the source instead of its path.
EditedFiles edited_files(const KernelFitReport& report, bool by_text = false);

struct FixedSources {
  EditedFiles edits;                         ///< of the kernels that are changed
  std::map<std::string, std::string> files;  ///< new texts, by path; or by the old text
  std::vector<std::size_t> kernels;          ///< indices of the kernels that are changed as predicted
  std::vector<std::string> left_out;         ///< which kernels cannot be changed automatically, and why
};

/// A kernel is changed if all of its changes can be, in files, and if no other kernel, or other instance of a template,
/// needs other text there. `by_text`: in texts without a file instead.
FixedSources fixed_sources(const std::vector<KernelReport>& kernels, const std::vector<KernelFitReport>& fits,
                           bool by_text = false);

}  // namespace bankwise::driver
