#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include <bankwise/report/busy.hpp>
#include <bankwise/report/kernel_text.hpp>
#include <bankwise/trace/report.hpp>
#include "bankcheck/cuda/cubin/cubin.hpp"
#include "bankcheck/driver/source_finder.hpp"

namespace bankwise::driver {

/// What the memories of a GPU need for a kernel, on an architecture, beside the time that it took there.
struct MemoryTime {
  report::GpuRates gpu;
  report::Work work;
  report::Busy busy;
  std::optional<double> measured_ns;  ///< all launches together, in a run without watching; the numbers of `gpu` fit it
  bool was_asked_for = false;         ///< the user named the GPU

  /// What the conflicts, or sectors beyond the ideal, of a line or of the kernel probably take.
  double likely_ns(std::uint64_t conflicts, std::uint64_t extra_sectors) const {
    return report::likely_ns(conflicts, extra_sectors, work, gpu);
  }
  /// The most of the measured time that they can take; empty without a time, or if it is not known.
  std::optional<double> most_share(std::uint64_t conflicts, std::uint64_t extra_sectors) const;
};

/// On the GPU where the kernel was timed, if it is of the architecture; else on `gpu`, if that is not null, else on the
/// first model of the architecture, which is good enough to compare costs. Nothing if no model is known. `is_first`: it
/// is the report's first architecture, which is taken for that of a GPU that the table lacks.
std::optional<MemoryTime> memory_time(const trace::KernelTrace& trace, const trace::Report& report,
                                      const banks::GpuModel* gpu, bool is_first);

/// How much faster a kernel with a measured time can become at most.
struct Bound {
  std::optional<double> without_conflicts, without_extra_sectors;  ///< empty: it has none, or nothing limits it
};
Bound bound_of(const MemoryTime& time, const trace::KernelTrace& trace, const trace::Report& report);

/// "DRAM busy at least 86 % of the time, shared memory 48 %: without any conflict at most 1.14 x faster". Without a
/// measured time, on a GPU that the user named: "an NVIDIA H200 needs at least 98.7 us for shared memory, ...". ""
/// otherwise. `is_part`: the kernel may have done more, so there is no bound.
std::string time_text(const MemoryTime& time, const trace::KernelTrace& trace, const trace::Report& report,
                      bool is_part);

/// Why a measured time says nothing: "" if it does, or if there is none.
std::string unusable_time(const trace::KernelTrace& trace);

// Evidence for one of a report's two counts: the instructions that a device compiler emitted for a line.

/// The help of --cubin.
inline constexpr const char* cubin_help =
    "Cubin of the kernels (nvcc -cubin -lineinfo): for each line whose accesses a compiler may merge, report whether "
    "the instructions match the merged accesses or those of the source";

using cuda::EmittedLine;

struct EmittedEvidence {
  std::map<std::string, std::uint64_t> opcodes;  ///< those of the same kind of access
  std::string_view agrees;                       ///< with which of the two counts: source, merged, both or neither
};

/// Bytes per lane of "LDS.U16", "STS.128", "LDS".
unsigned width_of_opcode(std::string_view opcode);

/// The evidence for a line of a report: the widths of its instructions. Nothing for atomics, and if the code has no
/// line of the file. Files are compared by their names without directories.
std::optional<EmittedEvidence> evidence_for(const trace::LineReport& line, const std::vector<EmittedLine>& emitted);

/// "2 LDS, 8 LDS.128: merged".
std::string to_text(const EmittedEvidence& evidence);

/// A source line of a kernel, at the place where the user finds it.
struct PlacedLine {
  SourcePlace place;
  std::string text;                    ///< "" if unknown
  bool is_file = false;                ///< `place` is in a file below the searched directory
  std::size_t at = std::string::npos;  ///< where in `text` the access is, if the compiler told
};

/// All launches of a kernel together.
struct KernelReport {
  std::string name;          ///< if several programs have a kernel of this name: followed by build options or "#2"
  trace::KernelTrace trace;  ///< without its patterns
  std::vector<trace::Report> reports;             ///< per architecture; lines sorted by place
  std::vector<std::string> same_sources;          ///< files that contain its source equally well, if several do
  std::map<SourcePlace, PlacedLine> places;       ///< of lines and diagnoses, by the compiler's names for them
  std::vector<std::optional<MemoryTime>> times;   ///< per architecture
  std::size_t number = 0;                         ///< index into the kernels of the whole trace
  std::size_t kernels = 1;                        ///< how many kernels it stands for, see grouped()
  std::optional<std::uint64_t> watched_launches;  ///< if what is missing is whole launches

  /// Where the user finds a site of a line or a diagnosis; any other site itself.
  PlacedLine placed(const trace::Site& site) const;

  /// The most conflicts on any of the architectures, and whether some accesses have no known cost.
  std::uint64_t conflicts() const;
  bool has_unknown() const;
  /// Whether so many sectors are beyond the ideal on any architecture that it is worth a look.
  bool is_uncoalesced() const;
  /// Whether those of the first architecture probably take more time than its conflicts.
  bool is_global_first() const;
  /// What conflicts and sectors beyond the ideal probably take, on the architecture where that is most.
  double likely_ns() const;
  /// Indices of the trace's diagnoses that are faults and no notes: all races within warps of one function most likely
  /// lack one __syncwarp().
  std::vector<std::vector<std::size_t>> faults_by_cause() const;
};

/// The report of one run of a program.
struct RunReport {
  std::vector<KernelReport> kernels;  ///< in the order of their first launches
  std::vector<std::string> command;   ///< the checked program and its arguments
  trace::Maker maker = trace::Maker::other;
  std::vector<std::string>
      incomplete;                    ///< why kernels may have done more than the numbers show: one sentence per reason
  std::vector<std::string> gaps;     ///< the same in short: one sentence per cause, with counts
  bool failed = false;               ///< the run failed; why is told elsewhere
  bool cut_short = false;            ///< a reason concerns the whole run: any kernel may have done more
  bool is_shared_open = false;       ///< a reason concerns shared memory: a limit on conflicts cannot be confirmed
  bool is_global_open = false;       ///< likewise of global memory, as far as it was watched, and a limit on sectors
  std::vector<EmittedLine> emitted;  ///< what a device compiler made, if its machine code is known
};

/// The words of the program's language.
struct Terms {
  std::string_view block, blocks, threads, memory, copies;
  std::string_view blocks_key;  ///< in JSON
  bool simulated;               ///< Oclgrind ran the lanes, one after another
};
const Terms& terms_of(trace::Maker maker);

/// `gpus`: the GPU that the user named for each architecture, or null; or nothing. Error: UsageError for an
/// architecture whose warp width the trace does not support.
std::vector<KernelReport> kernel_reports(const trace::Trace& trace,
                                         const std::vector<const banks::Architecture*>& architectures,
                                         SourceFinder& finder, const std::vector<const banks::GpuModel*>& gpus = {});

/// The name of a kernel with `*` for the sizes of tiles, other numbers and hashes: "nvjet_tst_*_v_bz_TNT".
std::string name_without_sizes(std::string_view name);

/// A name of more than 120 bytes without its middle: those of templates often differ at their ends.
std::string shortened_name(std::string_view name);

/// The report for readers: kernels of libraries whose names differ in these alone are one, "... (3 kernels)", without
/// places of its lines. Other kernels, and those with source files or faults, stay as they are.
RunReport grouped(const RunReport& report);

/// How many kernels these are, with those of groups.
std::size_t number_of(const std::vector<KernelReport>& kernels);

/// Whether a kernel may have done more than its numbers on an architecture, or on any, show.
bool is_incomplete(const RunReport& report, const KernelReport& kernel, const trace::Report& on);
bool is_incomplete(const RunReport& report, const KernelReport& kernel);
/// The same for its numbers of global memory.
bool is_global_incomplete(const RunReport& report, const KernelReport& kernel, const trace::Report& on);

/// The options that make a recorder watch less.
struct WatchLimits {
  std::string typed;               ///< "--max-launches 1, --max-groups 8"; "" without
  std::uint64_t max_launches = 0;  ///< of each size, if this is the only limit
};

/// "8.4 million", "12,345".
std::string about(std::uint64_t count);

/// The kernels that have one of some parts: "k" or "3 kernels".
std::string whose(const std::vector<std::string_view>& kernels);

/// Fills in KernelReport::watched_launches, as far as the limits tell.
void count_watched_launches(std::vector<KernelReport>& kernels, const WatchLimits& limits);

/// "6 of 12 blocks of k were not watched (--max-groups 3)"; "" if nothing is missing.
std::string not_watched(std::span<const KernelReport> kernels, const Terms& terms, const WatchLimits& limits);

/// RunReport::gaps. `told` are those of the sentences that are no more than counts of the trace.
std::vector<std::string> gaps_of(const RunReport& report, std::vector<std::string> told, const WatchLimits& limits);

/// How much of a report its text has: faults, gaps and limits; also the answer; also tables; everything.
enum class Detail { quiet, summary, usual, verbose };

struct TextOptions {
  unsigned columns = 120;  ///< of the terminal; tables are no wider
  unsigned wrap = ~0U;     ///< where sentences are broken: a log has whole ones
  Detail detail = Detail::usual;
  bool colour = false;
  bool after_program = false;  ///< the program has written to the same output before
  bool fits_only = false;      ///< nothing but gaps and fits
  std::string fit_command;     ///< what to type for a fit; "" if this is one
  std::string next;            ///< what to type next if there are conflicts; "" for nothing
};

/// Parts of the text: gaps and faults.
std::string gaps_text(const RunReport& report, const TextOptions& options);
std::string faults_text(const RunReport& report, const TextOptions& options);

/// The kernels by the time that conflicts and extra sectors probably take, most first: their indices. By conflicts if
/// global memory plays no part.
std::vector<std::size_t> worst_first(const std::vector<KernelReport>& kernels);

/// Architectures, by their index, that have the same value.
template <class Value>
struct Alike {
  std::vector<std::size_t> architectures;
  Value value;
};

/// The values of so many architectures, in the order in which they first occur.
template <class ValueOf>
auto alike(std::size_t architectures, ValueOf value_of) {
  std::vector<Alike<decltype(value_of(std::size_t{0}))>> values;
  for (std::size_t a = 0; a < architectures; ++a) {
    auto value = value_of(a);
    const auto same = std::ranges::find_if(values, [&](const auto& other) { return other.value == value; });
    if (same == values.end()) {
      values.push_back({{a}, std::move(value)});
    } else {
      same->architectures.push_back(a);
    }
  }
  return values;
}

/// "sm_80, sm_90".
std::string names_of(const KernelReport& kernel, const std::vector<std::size_t>& architectures);

/// The lines of a kernel as tables show them.
report::ShownLine shown_line(const KernelReport& kernel, const trace::Site& site);
template <class Line>
std::vector<report::ShownLine> shown_lines(const KernelReport& kernel, const std::vector<Line>& lines) {
  std::vector<report::ShownLine> shown;
  for (const Line& line : lines) shown.push_back(shown_line(kernel, line.site));
  return shown;
}

// Engines (wgmma, bulk copies, TMA) and the shared memory of other blocks in the text.

/// "1,024 accesses to shared memory, 64 by wgmma, TMA load". `memory` may be "".
std::string accesses_text(const trace::Report& on, std::string_view memory);

/// "no conflicts"; of a kernel that accesses other blocks' shared memory, "no conflicts in its own shared memory".
std::string no_conflicts_text(const KernelReport& kernel, bool is_part);

/// "50.0 % are by wgmma, TMA load", of all passes; "" without engines.
std::string engine_share(const trace::Report& on);

/// What to know of a kernel's engines and of its accesses to other blocks: a sentence each.
std::vector<std::string> engine_notes(const KernelReport& kernel);

/// "2 kernels access the shared memory of other blocks: conflicts in the banks there are not known"; "" if none does.
std::string remote_sentence(const std::vector<KernelReport>& kernels);

/// "64 accesses to the shared memory of other blocks, no extra sectors"; "" without any.
std::string remote_summary(const RunReport& report, const KernelReport& kernel);

// Global memory in the text.

/// Which part of the bytes that sectors move is used; nothing where the size of a sector is not known.
std::optional<double> used_share(const banks::SectorTally& tally, const banks::Architecture& architecture);

/// A line of global memory that costs more than it must.
bool is_uncoalesced(const banks::SectorTally& tally);

/// The table of a memory, once for the architectures on which it is the same; "" if nothing is worth a row.
std::string sector_tables(const RunReport& report, const KernelReport& kernel, trace::SectorMemory memory,
                          const TextOptions& options);

/// "12.5 % of the bytes moved are used: k.cu:12 load 4, lanes 4,096 bytes apart (a column)", and what the kernel moves:
/// "8,192 sectors where 1,024 would do". Empty if the kernel is not uncoalesced on any architecture.
std::vector<std::string> global_answer(const RunReport& report, const KernelReport& kernel);

/// "64 accesses to global memory, no extra sectors"; "" if it was not watched or not accessed.
std::string global_summary(const RunReport& report, const KernelReport& kernel);

/// What the memories are busy with, a sentence for each architecture where that is known.
std::vector<std::string> time_sentences(const RunReport& report, const KernelReport& kernel);

/// A text of at most so many bytes, with "…" where it is cut: at its end, or around what is `wanted` in it.
std::string cut(std::string_view text, std::size_t longest, std::string_view wanted = "");

/// As a shell reads it as one word.
std::string shell_word(const std::string& word);

/// "k.cl:12:7"; without a line, the offset of the instruction in the kernel: "+0x1a0".
std::string where(const PlacedLine& line, const trace::Site& site);
std::string where(const KernelReport& kernel, const trace::Site& site);

/// "3 launches, 15 blocks of 16 x 16 threads", "1 of 2 launches watched, ...", "1 launch, 3 of 6 blocks ... watched".
std::string launches_text(const KernelReport& kernel, const Terms& terms);

/// "load 4".
std::string access_text(const trace::LineReport& line);

/// The order of a report's lines, which does not depend on which launch ran first.
inline std::tuple<const trace::Site&, const std::string&, const banks::Operation&, const unsigned&> line_key(
    const trace::LineReport& line) {
  return {line.site, line.array, line.operation, line.width};
}
void sort_by_place(trace::Report& report);
/// The same for a line of global memory.
const trace::GlobalLineReport* same_line(const trace::Report& report, const trace::GlobalLineReport& wanted,
                                         trace::SectorMemory memory = trace::SectorMemory::global);

/// The row of a sorted report for the same place, array, operation and width; null if there is none. All architectures
/// have the same rows, because the accesses are the same.
const trace::LineReport* same_line(const trace::Report& report, const trace::LineReport& wanted);
/// The same row, or one without accesses.
const trace::LineReport& line_on(const trace::Report& report, const trace::LineReport& wanted);

/// Whether the second count, of accesses as a device compiler may merge them, has columns.
bool has_merged(const std::vector<trace::Report>& reports);

/// Whether any line of the kernel accesses shared memory, with lanes or without, or global memory.
bool has_accesses(const KernelReport& kernel);
bool has_global_accesses(const KernelReport& kernel);

/// How many accesses of a kernel have no known cost on an architecture: a sentence each.
std::vector<std::string> unknown_sentences(const KernelReport& kernel);

/// What to know about a kernel's numbers: a sentence each.
std::vector<std::string> notes_on(const KernelReport& kernel, const Terms& terms);

/// The traffic that no number has: "64 bytes of shared memory moved by TMA"; "" if there is none.
std::string copied_text(std::uint64_t bytes, const Terms& terms);

/// How many percent of the passes the conflicts are: "87.5"; "" if the cost is not known, or zero.
std::string conflict_share(const trace::Report& report);

/// The worst access of a line, which must have one and outlive it, and its cost.
std::pair<banks::Access, banks::Cost> worst_cost(const banks::Architecture& architecture,
                                                 const trace::LineReport& line);

/// "first in block 0, level 1, warp 3: passes 16, ideal 1".
std::string worst_text(const trace::WorstAccess& worst, const banks::Cost& cost, const Terms& terms);

/// The 8 of an 8-way conflict: the passes of a line's worst access over its ideal, rounded up. Nothing if they are not
/// known.
std::optional<unsigned> ways(const banks::Architecture& architecture, const trace::LineReport& line);

struct SourceExcerpt {
  std::string file;  ///< as in the places of the kernel's lines
  /// Numbers and texts, sorted: each line with an access and the lines around it, as far as they can be read. A line
  /// whose number is not known, 0, has no text.
  std::vector<std::pair<unsigned, std::string>> lines;
};

/// One for each file with an access, in the order of their paths. `trace`: the trace that the kernel is from.
std::vector<SourceExcerpt> source_excerpts(const KernelReport& kernel, const trace::Trace& trace,
                                           const SourceFinder& finder);

/// The build options of an OpenCL program without those that depend on where it is installed: include paths, and
/// options that name a folder by `/`, `./`, `../` or `~/`. The others are separated by single spaces.
std::string without_folders(std::string_view options);

}  // namespace bankwise::driver
