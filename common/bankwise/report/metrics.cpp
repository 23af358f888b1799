#include <bankwise/report/metrics.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/support/numbers.hpp>

namespace bankwise::report {
namespace {

std::optional<double> quotient(std::uint64_t part, std::uint64_t whole, unsigned times = 1) {
  if (whole == 0) return std::nullopt;
  return double(part) / (double(whole) * times);
}

std::string number(const auto& tally, std::uint64_t least, std::uint64_t more = 0) {
  if (tally.unknown > 0) return "?";
  const std::string from = support::grouped(least);
  return more == 0 ? from : fmt::format("{}-{}", from, support::grouped(least + more));
}

}  // namespace

std::optional<double> alu_utilization(const banks::Tally& tally, unsigned warp) {
  return quotient(tally.lanes, tally.accesses - tally.without_lanes, warp);
}

std::optional<double> simt_efficiency(std::uint64_t active_lanes, std::uint64_t executions, unsigned warp) {
  return quotient(active_lanes, executions, warp);
}

std::optional<double> lanes_per_access(const banks::Tally& tally) {
  return quotient(tally.lanes, tally.accesses - tally.without_lanes);
}
std::optional<double> lanes_per_access(const banks::SectorTally& tally) {
  return quotient(tally.lanes, tally.accesses);
}

std::uint64_t extra_sectors(const banks::SectorTally& tally) {
  return tally.sectors - std::min(tally.sectors, tally.ideal);
}

std::optional<double> extra_share(const banks::SectorTally& tally) {
  return tally.unknown > 0 ? std::nullopt : quotient(extra_sectors(tally), tally.sectors);
}

std::optional<double> used_share(const banks::SectorTally& tally, unsigned sector_bytes) {
  return tally.unknown > 0 ? std::nullopt : quotient(tally.bytes, tally.sectors, sector_bytes);
}

std::uint64_t most_conflicts(const banks::Tally& tally) { return tally.conflicts + tally.more_conflicts; }

std::optional<double> conflict_share(const banks::Tally& tally) {
  return tally.unknown > 0 ? std::nullopt : quotient(tally.conflicts, tally.passes);
}

std::optional<double> passes_over_ideal(std::uint64_t passes, std::uint64_t ideal) { return quotient(passes, ideal); }

std::optional<banks::Tally> known(const banks::Tally& tally) {
  return tally.unknown > 0 ? std::nullopt : std::optional(tally);
}

std::string passes_number(const banks::Tally& tally) { return number(tally, tally.passes, tally.more_passes); }
std::string ideal_number(const banks::Tally& tally) { return number(tally, tally.ideal); }
std::string conflicts_number(const banks::Tally& tally) { return number(tally, tally.conflicts, tally.more_conflicts); }

std::string sectors_number(const banks::SectorTally& tally) { return number(tally, tally.sectors); }
std::string ideal_number(const banks::SectorTally& tally) { return number(tally, tally.ideal); }

std::string passes_text(const banks::Tally& tally) {
  if (tally.unknown > 0) return "?";
  if (most_conflicts(tally) == 0) return support::grouped(tally.passes);
  return fmt::format("{}/{}", passes_number(tally), ideal_number(tally));
}

std::string percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:.1f} %", 100 * *fraction) : "-";
}

std::string percent_text(const std::optional<double>& fraction) {
  if (!fraction) return "-";
  std::string number = fmt::format("{:.1f}", 100 * *fraction);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number;
}

}  // namespace bankwise::report
