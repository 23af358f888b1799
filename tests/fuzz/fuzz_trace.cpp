// The input is a file. Either it is rejected with an error message that has a line number, or it is a trace: then it is
// written, read and written again with the same result, and reported on every architecture that supports its warps.
#include <sstream>
#include <stdexcept>

#include <bankwise/report/kernel_text.hpp>
#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/report.hpp>
#include "fuzz.hpp"

using namespace bankwise;

namespace {

/// Whether the kernel is small enough for the time of one run.
bool is_small(const trace::KernelTrace& kernel) { return kernel.levels <= 1000 && kernel.patterns.size() <= 100; }

void check_report(const trace::KernelTrace& kernel, const banks::Architecture& architecture) {
  try {
    const trace::Report report = trace::report(kernel, architecture);
    fuzz::require(report.all.passes >= report.all.ideal, "passes are at least ideal");
    fuzz::require(report.all.unknown == 0 || !report.unknown.empty() || !kernel.excess.empty(),
                  "a reason for each unknown cost");
    banks::Tally levels, parts = report.with_lanes();
    for (const auto& level : report.levels) levels.add(level.costs);
    fuzz::require(levels == parts, "levels add up to lines");
    parts.add(report.engines);
    const std::uint64_t remote = report.remote.unknown;
    parts.add({.accesses = remote, .unknown = remote, .without_lanes = remote});
    fuzz::require(parts == report.all, "lines, engines and unknown accesses add up to all");
    fuzz::require(report.accesses >= report.all.accesses + trace::total(kernel.left_out), "no access is lost");
    (void)report::to_text(report);
  } catch (const std::invalid_argument&) {  // warps of another width
    fuzz::require(!kernel.splits || kernel.warp % architecture.warp != 0,
                  "warps that divide the trace's have a report");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  trace::TraceFile found;
  try {
    found = trace::read_json_lines(file, "f");
  } catch (const trace::BadLine& bad) {
    const std::string place = "f:" + std::to_string(bad.line) + ": ";
    fuzz::require(std::string_view(bad.what()).starts_with(place), "the message begins with the line", bad.what());
    fuzz::require(fuzz::is_sentence(bad.what()), "one sentence", bad.what());
    return 0;
  }
  const std::string once = to_json_lines(found.trace);
  std::istringstream again(once);
  const trace::TraceFile same = trace::read_json_lines(again, "again");
  fuzz::require(same.closed && same.cut_line == 0, "the written trace is complete", once);
  fuzz::require(to_json_lines(same.trace) == once, "the written trace is read back unchanged", once);
  for (const trace::KernelTrace& kernel : found.trace.kernels) {
    if (!is_small(kernel)) continue;
    for (const banks::Architecture& architecture : banks::architectures()) check_report(kernel, architecture);
  }
  return 0;
}
