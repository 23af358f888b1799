// What bankcheck fit finds for the kernels of a trace, with the sources of their arrays.
#pragma once

#include <map>
#include <optional>
#include <set>
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
  std::string kernel;  ///< KernelReport::name
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

/// Results, the code to paste, then tables.
std::string fit_text(const KernelReport& kernel, const KernelFitReport& report, const TextOptions& options);

/// Drops cures that the source refutes, and says the others in the words of the program's language.
void adapt_cures(KernelFitReport& report, const KernelReport& kernel, trace::Maker maker);

/// Cures that are no layout: for each its places, what it saves, and a sentence; "" without any. `everything`: all of
/// them, not only those that save most.
std::string cures_text(const KernelReport& kernel, const KernelFitReport& report, bool everything);

/// One line: "tile[y][x] -> tile[y][x ^ y]: no conflict left, 0 bytes more", or why no layout helps; "" if there are no
/// conflicts.
std::string fit_summary(const KernelFitReport& report);

/// The report as text: the answer first. `fits` has one element for each kernel, or none.
std::string to_text(const RunReport& report, const TextOptions& options = {},
                    const std::vector<KernelFitReport>& fits = {});
/// A part of it: the worst line of each kernel and its fix.
std::string summary_text(const RunReport& report, const TextOptions& options, const std::vector<KernelFitReport>& fits);

/// With `fits`, each kernel has one more member, "fit".
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

/// The edits of all changed arrays that have some, without comments at the declarations that are `explained` already.
/// `by_text`: by the text of the source instead of its path.
EditedFiles edited_files(const KernelFitReport& report, bool by_text = false, const std::set<Place>& explained = {});

struct FixedSources {
  EditedFiles edits;                         ///< of the kernels that are changed
  std::map<std::string, std::string> files;  ///< new texts, by path; or by the old text
  std::vector<std::size_t> kernels;          ///< indices of the kernels that are changed as predicted
  std::vector<std::string> left_out;         ///< which kernels cannot be changed automatically, and why
};

/// A kernel is changed if all of its changes can be, in files, and if no other kernel, or other instance of a template,
/// needs other text there. `by_text`: in texts without a file instead.
FixedSources fixed_sources(const std::vector<KernelFitReport>& fits, bool by_text = false);

// --- Where the arrays of a trace are declared ---

/// The lines that use an array, in each file; those of the kernel's own text, as its compiler knew them, under "".
using UsedLines = std::map<std::string, std::set<unsigned>>;

/// Those of each array of a kernel.
std::vector<UsedLines> used_lines(const KernelReport& kernel, const trace::KernelTrace& kernel_trace);

/// Looks for declarations in the files that `finder` may read, then in the texts of OpenCL programs.
class ArraySources {
 public:
  ArraySources(const trace::Trace& trace, const SourceFinder& finder) : trace_(trace), finder_(finder) {}

  std::optional<ArraySource> find(const trace::KernelTrace& kernel_trace, const trace::Array& used_array,
                                  const UsedLines& files);

 private:
  void note_launches(ArraySource& source);
  const std::string& text_of(const std::string& path);
  const std::vector<std::string_view>& headers_of(const std::string& path);
  void add_includers(const std::string& path, std::vector<std::string_view>& headers);
  void add_headers(const std::string& path, std::string_view text, std::vector<std::string_view>& headers);

  const trace::Trace& trace_;
  const SourceFinder& finder_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::string_view>> headers_;  // of texts_, by path
  std::map<std::string, std::vector<std::string>> naming_;        // the files that name a function
};

/// Only in the text that the program gives to its OpenCL driver.
std::optional<ArraySource> find_in_own_text(const trace::Trace& trace, const trace::KernelTrace& kernel_trace,
                                            const trace::Array& used_array, const UsedLines& files);

/// Which loads of the source the machine code of a kernel saves.
fit::CompiledLoads compiled_loads(const KernelReport& kernel, const trace::KernelTrace& kernel_trace,
                                  const trace::Array& array, const ArraySource& source);

/// As far as the code says it. Nothing: what the accesses suggest.
std::optional<fit::ArrayShape> shape_of(const trace::Array& array, const std::optional<ArraySource>& source,
                                        bool is_opencl);

// --- A layout of an array as code to paste, as far as its declaration is known ---

/// How an array is written in code.
struct WrittenArray {
  std::string name, head;               ///< "tile"; "__shared__ float ", "" without a known declaration
  fit::ArrayShape shape;                ///< one dimension if the code needs the number of an element
  std::vector<std::string> dimensions;  ///< of the declaration, one for each of the shape; empty if they are not known
  std::vector<std::string> operands;    ///< the same, in parentheses where a larger expression needs them
  std::string pitch;                    ///< of an array with one dimension whose indices have rows; "": none
  bool by_number = false;               ///< its declaration has dimensions that the shape does not know
  bool dynamic = false;                 ///< the launch decides its size
};

/// Whether the launch decides the size of an array.
bool is_dynamic(std::string_view name, const std::optional<ArraySource>& source, bool is_opencl);

/// A layout as the changes of the code: each "" if there is none.
struct LayoutCode {
  std::string declaration;       ///< "tile[TILE][TILE + 1]", "1,056 elements", "elements of 20 bytes"
  std::string old_index, index;  ///< "tile[y][x]", "tile[y][x ^ y]"
  std::string number;            ///< what the i of the index is, if it has one: "y * 16 + x"
};

LayoutCode layout_code(const fit::ArrayFit& array, const WrittenArray& code, const fit::PricedOption& option);

/// "tile[TILE][TILE + 1], tile[y][x ^ y]": what a layout has of both.
std::string code_of(const LayoutCode& layout);

/// An array that gets another layout.
struct ChangedArray {
  const fit::ArrayFit& array;
  const std::optional<ArraySource>& source;
  bool is_opencl;
  WrittenArray written() const;
};
/// Those of a kernel, which must outlive them.
std::vector<ChangedArray> changed_arrays(const KernelFitReport& report);

/// What the chosen layout changes, in one line: "tile[y][x] -> tile[y][x ^ y]".
std::string chosen_text(const ChangedArray& changed);

/// The rest of the chosen layout, if the lines cannot be rewritten here: lines, indented by two blanks; "" otherwise.
std::string by_hand_text(const ChangedArray& changed);

}  // namespace bankwise::driver
