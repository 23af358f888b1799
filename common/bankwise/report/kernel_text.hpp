#pragma once

#include <string>

#include <bankwise/trace/report.hpp>

namespace bankwise::report {

/// A kernel's report as text, for tests of kernels: one line per source line, and the totals.
std::string to_text(const trace::Report& report);

}  // namespace bankwise::report
