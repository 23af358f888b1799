// Every metric of the reports, each computed in one place, and how reports write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <bankwise/banks/cost.hpp>
#include <bankwise/banks/sectors.hpp>

namespace bankwise::report {

/// Active lanes ÷ (accesses * warp), over the accesses to shared memory that have lanes. Empty without them.
std::optional<double> alu_utilization(const banks::Tally& tally, unsigned warp);

/// The same ratio over all executed instructions. Empty if nothing was executed, or if that is not known.
std::optional<double> simt_efficiency(std::uint64_t active_lanes, std::uint64_t executions, unsigned warp);

/// Active lanes of an access, on average. Empty without accesses.
std::optional<double> lanes_per_access(const banks::Tally& tally);
std::optional<double> lanes_per_access(const banks::SectorTally& tally);

/// Conflicts; the upper end where the tally has a range.
std::uint64_t most_conflicts(const banks::Tally& tally);

/// Conflicts ÷ passes. Empty if an access has no known cost, or without passes.
std::optional<double> conflict_share(const banks::Tally& tally);

/// Passes ÷ ideal. Empty if shared memory is not accessed.
std::optional<double> passes_over_ideal(std::uint64_t passes, std::uint64_t ideal);

// Global memory. Nothing is known of accesses whose sectors are not known.

/// Sectors beyond the ideal.
std::uint64_t extra_sectors(const banks::SectorTally& tally);

/// Extra sectors ÷ sectors. Empty if an access has no known cost, or without sectors.
std::optional<double> extra_share(const banks::SectorTally& tally);

/// Different bytes that the lanes of each access ask for ÷ bytes moved. Empty as above.
std::optional<double> used_share(const banks::SectorTally& tally, unsigned sector_bytes);

/// The sum of costs; nothing if an access has no known cost, because the sum would be too small.
std::optional<banks::Tally> known(const banks::Tally& tally);

/// "24", or "48/24" for 48 passes with an ideal of 24, so a slash marks conflicts; "?" if the model has no cost.
std::string passes_text(const banks::Tally& tally);

/// Columns of a table: "1,024", "24-96" for a range, "?" if the model has no cost.
std::string passes_number(const banks::Tally& tally);
std::string ideal_number(const banks::Tally& tally);
std::string conflicts_number(const banks::Tally& tally);
std::string sectors_number(const banks::SectorTally& tally);
std::string ideal_number(const banks::SectorTally& tally);

/// "61.4 %"; "-" for nothing.
std::string percent(const std::optional<double>& fraction);

/// "100", "12.5"; "-" for nothing.
std::string percent_text(const std::optional<double>& fraction);

}  // namespace bankwise::report
