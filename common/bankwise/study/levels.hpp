// What the bank model says of a variant's CUDA kernels, which the emulator runs: the work of the lanes per level (the
// interval between two barriers), and a prediction of the hardware counters of a whole job.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/emulator/core/launch.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/report/busy.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::study {

/// A kernel that accesses shared memory, of which one block was emulated.
struct KernelLevels {
  std::string name;
  trace::KernelTrace trace;
  trace::Report report;
  std::vector<std::string> level_names;  ///< one for each level of the report
};

/// The kernels of a variant, with every total that is known.
struct VariantLevels {
  std::string_view variant;
  const banks::Architecture* architecture = nullptr;
  gpu::GroupShape group;
  std::vector<KernelLevels> kernels;  ///< in the order of the plan
  // Totals over all kernels, one block each.
  std::optional<double> alu_utilization;  ///< empty if shared memory is not accessed
  std::optional<double> simt_efficiency;
  std::optional<banks::Tally> costs;  ///< empty if an access has no known cost, or nothing was emulated
  std::string reason;                 ///< one sentence, if `costs` is empty
};

/// The launches of a variant's plan on the CPU, with the memory that they refer to. Only pages that are touched take
/// memory, so a buffer may be larger than the machine's memory. Each input begins with its real words; the rest reads
/// as zeros, so a kernel whose shared-memory addresses depend on data sees zeros there.
class EmulatedPlan {
 public:
  /// Error: std::runtime_error, also for a library, which has no kernel to emulate.
  EmulatedPlan(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units);

  std::span<const KernelLaunch> launches() const { return launches_; }
  /// Runs block 0 of a launch, in warps of `warp` lanes; `record_order` as in emulator::Launch. Error: any fault that
  /// the emulator finds, as an exception with a sentence.
  trace::KernelTrace trace(const KernelLaunch& launch, unsigned warp, bool record_order) const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, Unmap>;
  static Memory reserve(std::uint64_t bytes);

  const CaseStudy& study_;
  std::vector<KernelLaunch> launches_;
  std::map<Slot, Memory> memory_;
};

/// The architecture of the bank model: the selected one, otherwise the device's if the model knows it, otherwise sm_90.
const banks::Architecture& model_architecture(const banks::Architecture* wanted, std::string_view own);

/// Emulates block 0 of each kernel in the variants' plans, launched as for `extent`. Takes memory only for what that
/// block touches. Any failure of a variant becomes its reason.
std::vector<VariantLevels> levels_of(const CaseStudy& study, std::span<const Variant* const> variants, Extent extent,
                                     const banks::Architecture& architecture);

/// All launches of a job, assuming that every block of a launch behaves like its block 0: exact if all tiles are full.
struct JobModel {
  const banks::Architecture* architecture = nullptr;
  std::optional<banks::Tally> loads, stores, atomics;  ///< empty where the model lacks the cost of an access
  std::optional<report::Work> work, conflict_free;     ///< in shared memory, as it is and without conflicts
  std::optional<double> simt_efficiency;               ///< for g++'s instructions of the kernel, not for the GPU's
  std::string reason;                                  ///< one sentence, if something is empty
};

/// Emulates block 0 of each launch in the plan for a device with `units` compute units, or of the first `launches`
/// ones. Any failure becomes the reason.
JobModel job_model(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
                   const banks::Architecture& architecture, std::size_t launches = ~std::size_t{0});

/// One run of the whole job, without repeated sections, in the block scope, too.
struct CounterResult {
  std::optional<gpu::Counters> counted;
  std::string reason;             ///< why there are no counters, and what to do about it
  std::optional<JobModel> model;  ///< empty if there is nothing to emulate, or nothing to compare it with
};

/// A counter of shared memory and the model's number for it.
struct CounterNumber {
  std::string_view key;  ///< in JSON
  gpu::Counters::Count counted, model;
  /// Counted minus model.
  std::optional<std::int64_t> difference() const;
};
std::array<CounterNumber, 6> shared_memory_numbers(const CounterResult& result);

/// Active lanes ÷ all lanes, over the instructions of all warps. Empty if nothing was executed, or nothing counted.
std::optional<double> simt_efficiency(const gpu::Counters& counters);

/// Counted passes ÷ the passes that the same accesses take without conflicts.
std::optional<double> counted_over_ideal(const gpu::Counters& counters);

}  // namespace bankwise::study
