// SPDX-License-Identifier: MIT
//
// The numbers of two independent programs for a kernel, in one format.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include <bankwise/study/case_study.hpp>
#include <bankwise/trace/report.hpp>

/// Sums over all blocks of all launches of a kernel.
struct PortNumbers {
  nlohmann::json levels = nlohmann::json::array();  ///< by number of barriers
  nlohmann::json kinds = nlohmann::json::object();  ///< by operation and width: "load 4"
};

using AllPortNumbers = std::map<std::string, PortNumbers>;  ///< by kernel

/// Adds the emulator's report of a launch with all blocks traced.
void add_report(PortNumbers& numbers, const bankwise::trace::Report& report);

/// The CUDA kernels in the emulator: every variant's plan once, in warps of the architecture's width.
AllPortNumbers emulated_numbers(const bankwise::CaseStudy& study, bankwise::Extent extent,
                                const bankwise::banks::Architecture& architecture);

/// The OpenCL kernels, from the report of `bankcheck opencl`, on the architecture of this name.
AllPortNumbers checked_numbers(const nlohmann::json& report, std::string_view architecture);
