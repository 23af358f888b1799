// SPDX-License-Identifier: MIT
//
// A case study's plans on memory that the test has a say in: of many sizes on one state, without guard words behind it
// (compute-sanitizer sees what touches them as well), or without a copy of everything on the host.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <bankwise/gpu/session.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise {

struct Memory {
  std::unique_ptr<gpu::Buffer> in, out;
  std::unique_ptr<gpu::Buffer> state;  ///< null where the plan needs none
  std::vector<std::unique_ptr<gpu::Buffer>> scratch;
};

/// What the plan asks for and not a byte more, but `beyond` words more behind the output. The state is zero; the rest
/// is what it is.
Memory memory_for(gpu::Session& session, const CaseStudy& study, Extent extent, const Plan& plan,
                  std::uint64_t beyond = 0);

/// Builds the plan's kernels; `form` is that of the first launch. Errors: as gpu::Session::prepare.
void prepare(gpu::Session& session, const CaseStudy& study, const Plan& plan, gpu::Form form = gpu::Form::once);

/// Enqueues all launches of the plan.
void launch(gpu::Session& session, const CaseStudy& study, const Plan& plan, const Memory& memory,
            gpu::Form form = gpu::Form::once);

/// Whether the kernels of a variant are there for an API, and this device can run them; a library has none.
bool runs_on(const gpu::Session& session, const CaseStudy& study, const Variant& variant);

}  // namespace bankwise
