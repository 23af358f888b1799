// SPDX-License-Identifier: MIT
//
// What bankcheck asks of the plugin, and the files that bankcheck reads during the run and after it.
#pragma once

#include <string>

#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/codec.hpp>

namespace bankwise::opencl {

const support::OpenclRequest& request();

void append_to_record(const std::string& lines);

/// Adds an event (launch_log.hpp) to the launch log.
void note(const std::string& event, const std::string& text = "");

/// The writer of this process. A forked process gets its own writer.
trace::TraceWriter& writer();

/// Replaces what is saved of the launch that has not ended.
void save_unfinished(const trace::KernelTrace& launch, const std::string& source);
/// The launch has ended, and the record has it.
void forget_unfinished();

}  // namespace bankwise::opencl
