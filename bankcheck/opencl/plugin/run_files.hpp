// SPDX-License-Identifier: MIT
//
// The files that bankcheck reads, during the run and after it. Environment variables name them:
//   BANKWISE_RECORD      the trace, to append to
//   BANKWISE_LAUNCHES    the launch log (launch_log.hpp), to append to
//   BANKWISE_UNFINISHED  with ".<process>": what is recorded of the launch that has not ended
//   BANKWISE_PROGRESS    <bankwise/support/progress.hpp>; not set without a terminal
#pragma once

#include <string>

#include <bankwise/trace/json_lines.hpp>

namespace bankwise::opencl {

void append_to_record(const std::string& lines);

/// Adds a line to the launch log.
void note(const std::string& event, const std::string& text = "");

/// The writer of this process. A forked process gets its own writer.
trace::Writer& writer();

/// Replaces what is saved of the launch that has not ended.
void save_unfinished(const trace::KernelTrace& launch, const std::string& source);
/// The launch has ended, and the record has it.
void forget_unfinished();

}  // namespace bankwise::opencl
