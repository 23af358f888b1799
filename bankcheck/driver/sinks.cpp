#include "bankcheck/driver/sinks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <bankwise/support/numbers.hpp>

namespace bankwise::driver {
namespace {

/// What --fit finds belongs to single kernels.
RunReport for_readers(const SinkInput& input) { return input.fits.empty() ? grouped(input.report) : input.report; }

std::string write_text(const SinkInput& input) {
  if (input.text.detail == Detail::verbose) return to_text(input.report, input.text, input.fits);
  RunReport report = for_readers(input);
  for (KernelReport& kernel : report.kernels) kernel.name = shortened_name(kernel.name);
  return to_text(report, input.text, input.fits);
}

std::string write_json(const SinkInput& input) { return to_json(input.report, input.fits); }

/// "2026-01-31 17:20 UTC". SOURCE_DATE_EPOCH, with which builds become reproducible, replaces the time of day.
std::string date_of_report() {
  std::int64_t seconds = 0;
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH");
      fixed == nullptr || !support::parse_number(fixed, seconds)) {
    seconds = std::time(nullptr);
  }
  const std::time_t time = seconds;
  std::tm parts{};
  char text[64] = "";
  if (gmtime_r(&time, &parts) == nullptr) return "";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts)};
}

std::string write_html(const SinkInput& input) {
  HtmlExtras extras{{}, input.fits, input.only, input.exceeded(input.report.kernels), date_of_report()};
  const RunReport report = for_readers(input);
  for (const KernelReport& kernel : report.kernels) {
    extras.sources.push_back(source_excerpts(kernel, input.trace, input.finder));
  }
  return to_html(report, extras);
}

namespace fs = std::filesystem;

/// The path below the directory of --sources, where `git apply` and `patch` will look for it; "" if it is elsewhere.
std::string path_below(const std::string& root, const std::string& path) {
  std::error_code error;
  const fs::path below = fs::weakly_canonical(path, error).lexically_relative(fs::weakly_canonical(root, error));
  return below.empty() || *below.begin() == ".." ? "" : below.generic_string();
}

/// The proposals of --fit as a unified diff of files below the directory of --sources, with paths relative to it.
std::string write_patch(const SinkInput& input) {
  std::string patch;
  for (const auto& [path, file] : fixed_sources(input.fits).edits) {
    const std::string below = path_below(input.sources, path);
    if (!below.empty()) patch += fit::unified_diff(below, file);
  }
  return patch;
}

/// A kernel whose changes cannot all be made is left out, and the remark says why.
std::string remark_on_patch(const SinkInput& input) {
  const FixedSources fixed = fixed_sources(input.fits);
  std::vector<std::string> lacks = fixed.left_out;
  for (const auto& [path, file] : fixed.files) {
    if (path_below(input.sources, path).empty())
      lacks.push_back(fmt::format("{} is not below the directory of --sources, {}", path, input.sources));
  }
  if (!lacks.empty()) return fmt::format("--patch lacks changes: {}", fmt::join(lacks, "; "));
  return fixed.files.empty() ? "--patch is empty: no change is proposed" : "";
}

constexpr report::Sink<SinkInput> table[]{
    {nullptr, nullptr, write_text},
    {"--json", "Write all numbers to this file; - writes them to stdout and prints nothing else", write_json},
    {"--sarif", "Write the lines with conflicts to this file, as SARIF 2.1.0 for code review", write_sarif,
     remark_on_sarif},
    {"--html", "Write the report to this file as a page for a browser, with the source and pictures of the banks",
     write_html},
    {"--patch", "Write the changes that --fit proposes to this file, for git apply; implies --fit", write_patch,
     remark_on_patch},
};

}  // namespace

std::span<const report::Sink<SinkInput>> sinks() { return table; }

}  // namespace bankwise::driver
