// SPDX-License-Identifier: MIT
//
// The report as a page for a browser: one file that loads nothing and runs no script.
#pragma once

#include <string>
#include <vector>

#include "bankcheck/driver/kernel_report.hpp"
#include "bankcheck/driver/source_excerpt.hpp"

namespace bankwise::driver {

/// What the page shows besides the report.
struct HtmlExtras {
  std::vector<std::vector<SourceExcerpt>> sources;  ///< of each kernel; kernels past the end have none
  std::vector<std::string> fits;                    ///< of each kernel: what bankcheck fit proposes, as text
  std::vector<std::string> only;                    ///< names and globs, if not all kernels were asked for
  std::vector<std::string> exceeded;                ///< limits: one sentence each
};

/// A page in HTML 5, UTF-8. All texts of the report are escaped, and a Content Security Policy in the page forbids
/// scripts and requests.
std::string to_html(const RunReport& report, const HtmlExtras& extras);

}  // namespace bankwise::driver
