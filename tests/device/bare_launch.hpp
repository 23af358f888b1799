// SPDX-License-Identifier: MIT
//
// Runs a case study's plans on memory that the test controls: many sizes on one state, buffers without guard words past
// their end (compute-sanitizer reports accesses there), or no copy of everything on the host.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <bankwise/gpu/session.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise {

struct Memory {
  std::map<Slot, std::unique_ptr<gpu::Buffer>> buffers;
  gpu::Buffer& at(Slot slot) const { return *buffers.at(slot); }
};

/// Allocates exactly what the plan requires, plus `beyond` words past the end of each output. The state is zero; the
/// rest is uninitialized.
Memory memory_for(gpu::Session& session, const CaseStudy& study, Extent extent, const Plan& plan,
                  std::uint64_t beyond = 0);

/// Builds the plan's kernels; `form` is that of the first launch. Errors: as gpu::Session::prepare.
void prepare(gpu::Session& session, const CaseStudy& study, const Plan& plan, gpu::Form form = gpu::Form::once);

/// Enqueues all launches of the plan.
void launch(gpu::Session& session, const CaseStudy& study, const Plan& plan, const Memory& memory,
            gpu::Form form = gpu::Form::once);

/// Whether the kernels of a variant exist for an API, and this device can run them; a library has none.
bool runs_on(const gpu::Session& session, const CaseStudy& study, const Variant& variant);

}  // namespace bankwise
