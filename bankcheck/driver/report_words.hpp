// SPDX-License-Identifier: MIT
//
// The sentences that reports for people have in common: the text report and the HTML report.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {

/// The words of the program's language.
struct Terms {
  std::string_view block, blocks, threads, memory, copies;
  std::string_view blocks_key;  ///< in JSON
  bool simulated;               ///< Oclgrind ran the lanes, one after another
};
const Terms& terms_of(trace::Maker maker);

/// "k.cl:12:7"; without a line, the offset of the instruction in the kernel: "+0x1a0".
std::string where(const PlacedLine& line, const trace::Site& site);

/// "3 launches, 15 blocks of 16 x 16 threads".
std::string launches_text(const trace::KernelTrace& trace, const Terms& terms);

/// "load 4".
std::string access_text(const trace::LineReport& line);

/// The row of a report for the same place, array, operation and width; null if there is none. All architectures have
/// the same rows, because the accesses are the same.
const trace::LineReport* same_line(const trace::Report& report, const trace::LineReport& wanted);

/// Whether the second count, of accesses as a device compiler may merge them, has columns.
bool has_merged(const std::vector<trace::Report>& reports);

/// Whether any line of the kernel accesses shared memory.
bool has_accesses(const KernelReport& kernel);

/// What to know about a kernel's numbers: a sentence each.
std::vector<std::string> notes_on(const KernelReport& kernel, const Terms& terms);

/// The traffic that no number has: "64 bytes of shared memory moved by TMA"; "" if there is none.
std::string not_counted(const KernelReport& kernel, const Terms& terms);

/// How many percent of the passes the conflicts are: "87.5"; "" if the cost is not known, or zero.
std::string conflict_share(const trace::Report& report);

/// The worst access of a line, and its cost.
struct WorstCost {
  banks::Access access;
  banks::Cost cost;
};
/// The line must have a worst access, and outlive the result.
WorstCost worst_cost(const banks::Architecture& architecture, const trace::LineReport& line);

/// "first in block 0, level 1, warp 3: passes 16, ideal 1".
std::string worst_text(const trace::WorstAccess& worst, const banks::Cost& cost, const Terms& terms);

}  // namespace bankwise::driver
