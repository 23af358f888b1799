#include <bankwise/support/bandwidths.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <bankwise/support/csv.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/numbers.hpp>

namespace bankwise::support {
namespace {

constexpr std::uintmax_t largest_file = 1 << 20;
constexpr double fastest = 1e9;

std::filesystem::path bandwidths_file() { return cache_folder() / "bandwidths.csv"; }

/// Calls `visit(gpu, bandwidths, line)` for each line of the file: a name, bandwidth of L2 and of DRAM.
void for_each_kept(const std::function<void(std::string_view, const Bandwidths&, const std::string&)>& visit) {
  std::istringstream lines(read_file(bandwidths_file(), largest_file).value_or(""));
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  for (std::string line; std::getline(lines, line);) {
    Bandwidths kept;
    if (!split_csv(line, fields, unquoted) || fields.size() != 3) continue;
    if (!parse_number(fields[1], kept.l2) || !parse_number(fields[2], kept.dram)) continue;
    if (kept.l2 > 0 && kept.l2 < fastest && kept.dram > 0 && kept.dram < fastest) visit(fields[0], kept, line);
  }
}

}  // namespace

std::optional<Bandwidths> measured_bandwidths(std::string_view gpu) {
  std::optional<Bandwidths> found;
  for_each_kept([&](std::string_view name, const Bandwidths& kept, const std::string&) {
    if (name == gpu) found = kept;
  });
  return found;
}

std::string keep_bandwidths(std::string_view gpu, const Bandwidths& bandwidths) {
  std::string lines;
  for_each_kept([&](std::string_view name, const Bandwidths&, const std::string& line) {
    if (name != gpu) lines += line + '\n';
  });
  lines += fmt::format("{},{:.1f},{:.1f}\n", csv_field(gpu), bandwidths.l2, bandwidths.dram);
  std::filesystem::create_directories(cache_folder());
  const std::string file = bandwidths_file().string();
  OutputFile("", file).write(lines);
  return file;
}

}  // namespace bankwise::support
