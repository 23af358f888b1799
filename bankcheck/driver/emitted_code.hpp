// SPDX-License-Identifier: MIT
//
// Evidence for one of a report's two counts: the instructions that a device compiler emitted for a line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/trace/report.hpp>
#include "bankcheck/cuda/cubin/cubin.hpp"

namespace bankwise::driver {

/// The help of --cubin.
inline constexpr const char* cubin_help =
    "Cubin of the kernels (nvcc -cubin -lineinfo): for each line whose accesses a compiler may merge, report whether "
    "the instructions match the merged accesses or those of the source";

using cuda::EmittedLine;

/// Which of the two counts the instructions agree with.
enum class Column { source, merged, both, neither };
std::string_view to_string(Column column);

struct Evidence {
  std::map<std::string, std::uint64_t> opcodes;  ///< those of the same kind of access
  Column column = Column::both;
};

/// Bytes per lane of "LDS.U16", "STS.128", "LDS".
unsigned width_of_opcode(std::string_view opcode);

/// The evidence for a line of a report: the widths of its instructions. Nothing for atomics, and if the code has no
/// line of the file. Files are compared by their names without directories.
std::optional<Evidence> evidence_for(const trace::LineReport& line, const std::vector<EmittedLine>& emitted);

/// "2 LDS, 8 LDS.128: merged".
std::string to_text(const Evidence& evidence);

}  // namespace bankwise::driver
