// Runs a case study's plans on memory that the test controls: many sizes on one state, buffers without guard words past
// their end (compute-sanitizer reports accesses there), or no copy of everything on the host.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/session.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise {

struct Memory {
  std::map<study::Slot, std::unique_ptr<gpu::Buffer>> buffers;
  gpu::Buffer& at(study::Slot slot) const { return *buffers.at(slot); }
};

/// Words past the end of a result that must not change.
inline constexpr std::uint64_t words_beyond = 64;

/// Allocates exactly what the plan requires, plus `beyond` words past the end of each output. The state is zero; the
/// rest is uninitialized.
Memory memory_for(gpu::Session& session, const study::CaseStudy& study, study::Extent extent, const study::Plan& plan,
                  std::uint64_t beyond = 0);

/// Builds the plan's kernels; `form` is that of the first launch. Errors: as gpu::Session::prepare.
void prepare(gpu::Session& session, const study::CaseStudy& study, const study::Plan& plan,
             gpu::Form form = gpu::Form::once);

/// Enqueues all launches of the plan.
void launch(gpu::Session& session, const study::CaseStudy& study, const study::Plan& plan, const Memory& memory,
            gpu::Form form = gpu::Form::once);

/// Whether the kernels of a variant exist for an API, and this device can run them; a library has none.
bool runs_on(const gpu::Session& session, const study::CaseStudy& study, const study::Variant& variant);

/// How a case study's result follows from the formula: the key "formula" of its study.json.
struct Law {
  const study::CaseStudy* study;
  std::uint64_t stride;  ///< distance in words of the elements that are summed; 0: nothing is summed
  bool total;            ///< the result is the total, not the prefix sums
};
Law law_of(const study::CaseStudy& study);

/// Of all case studies that follow the formula.
std::vector<Law> laws();

/// Inputs that look random and whose results follow from a formula (telescoping_sum/formula.cuh). The device generates
/// and checks them, so neither 10,000 runs nor 34 gigabytes occupy the host.
class TelescopingSum {
 public:
  explicit TelescopingSum(gpu::Session& session);

  /// These enqueue. A seed is less than 2^24.
  void fill(const Law& law, const Memory& memory, study::Extent extent, std::uint64_t seed);
  /// The output and `beyond` words past its end must hold POISON; they hold it again afterwards.
  void check(const Law& law, const Memory& memory, study::Extent extent, std::uint64_t seed, std::uint64_t beyond = 0,
             std::uint64_t run = 0);
  void poison(const Memory& memory);

  /// Waits. Empty if all checks so far passed, otherwise one line about the first that failed.
  std::string verdict();

 private:
  void launch(std::string_view kernel, std::vector<gpu::KernelArgument> arguments);

  gpu::Session& session_;
  std::unique_ptr<gpu::Buffer> report_;
};

}  // namespace bankwise
