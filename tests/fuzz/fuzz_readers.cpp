// Readers of small inputs, one for each target: FUZZED names its function. Without it, all have names for the replay.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include <bankwise/report/report.hpp>
#include <bankwise/support/exit_code.hpp>
#include "bankcheck/driver/baseline.hpp"
#include "bankcheck/driver/source_finder.hpp"
#include "bankcheck/emulate/build.hpp"
#include "bankcheck/fit/declaration.hpp"
#include "bankcheck/opencl/recorder.hpp"
#include "bankcheck/source/tokens.hpp"
#include "fuzz.hpp"

namespace {

using namespace bankwise;
using namespace bankwise::study;

/// A file in memory.
class File {
 public:
  explicit File(std::string_view text) : descriptor_(memfd_create("fuzzed", 0)) {
    fuzz::require(write(descriptor_, text.data(), text.size()) == ssize_t(text.size()), "there is memory for the file");
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// The file is refused, or is a baseline: then what is written is read back unchanged.
[[maybe_unused]] void try_baseline(std::string_view text) try {
  const std::string once = driver::to_csv(driver::read_baseline(File(text).path()));
  fuzz::require(driver::to_csv(driver::read_baseline(File(once).path())) == once, "a baseline is read back", once);
} catch (const support::UsageError&) {
}

/// Any text is a source: of OpenCL, of C++ with shared arrays, and of CUDA with launches.
[[maybe_unused]] void try_source(std::string_view text) {
  std::size_t end = 0;
  for (const source::Token& token : source::tokens_of(text)) {
    fuzz::require(token.begin >= end && token.begin < token.end && token.end <= text.size(), "tokens are in order");
    end = token.end;
  }
  const driver::SourceText lines(text);
  for (const auto& line : lines.lines()) {
    fuzz::require(line.text.size() <= text.size() && line.text.find('\n') == std::string::npos, "a line is a line");
  }
  for (const char* name : {"tile", "dynamic shared memory"}) {
    const auto found = fit::find_declaration(text, {.name = name,
                                                    .lines = {1, 1000},
                                                    .bytes = 4096,
                                                    .options = "-D TILE=32",
                                                    .kernel = "k<32>",
                                                    .headers = {text}});
    if (!found) continue;
    fuzz::require(found->at <= text.size(), "the declaration is in the source");
    for (const auto& [begin, past] : found->dimension_texts) {
      fuzz::require(begin <= past && past <= text.size(), "the dimensions are in the source");
    }
  }
  try {
    const std::string rewritten = emulate::rewritten(text);
    fuzz::require(std::ranges::count(rewritten, '\n') == std::ranges::count(text, '\n'), "lines keep their numbers");
  } catch (const emulate::BadLaunch& bad) {
    fuzz::require(bad.offset <= text.size(), "the launch is in the source");
  }
}

/// One KEY=VALUE in each line.
[[maybe_unused]] void try_device_info(std::string_view text) try {
  const auto lines = opencl::device_values(driver::lines_of(text), fuzz::architecture(0));
  fuzz::require(!lines.empty(), "the last line is the width of a warp");
  for (const auto& line : lines) fuzz::require(line.find('\n') == std::string::npos, "a property is one line", line);
} catch (const support::UsageError&) {
}

/// A report of an earlier run is refused, or compares with nothing.
[[maybe_unused]] void try_report_json(std::string_view text) try {
  CaseStudy reduction{};
  reduction.name = "reduction";
  study::RunResults now;
  now.study = &reduction;
  const std::string table = report::EarlierRun(reduction, File(text).path()).compare(now);
  fuzz::require(table.ends_with("0 only now\n"), "the last line counts the rows", table);
} catch (const support::UsageError&) {
}

}  // namespace

#define TARGET(name, function)                                      \
  extern "C" int name(const std::uint8_t* data, std::size_t size) { \
    function({reinterpret_cast<const char*>(data), size});          \
    return 0;                                                       \
  }
#ifdef FUZZED
TARGET(LLVMFuzzerTestOneInput, FUZZED)
#else
TARGET(fuzz_baseline, try_baseline)
TARGET(fuzz_source, try_source)
TARGET(fuzz_device_info, try_device_info)
TARGET(fuzz_report_json, try_report_json)
#endif
