#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <bankwise/cluster/engine.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise::bench {

// --- Device buffers with guard bytes at the end, and comparisons with expected words ---

/// Guard bytes past the end of every buffer, which must not change.
inline constexpr std::uint64_t guard_bytes = 256;

constexpr std::uint64_t bytes_of(std::uint64_t words) { return words * sizeof(std::uint32_t); }

/// `bytes` of uninitialized memory and guard bytes.
std::unique_ptr<gpu::Buffer> allocate_guarded(gpu::Session& session, std::uint64_t bytes);

/// The same, zeroed, of whole words.
std::unique_ptr<gpu::Buffer> allocate_zeroed(gpu::Session& session, std::uint64_t bytes);

inline constexpr std::uint32_t poison_word = 0xCDCDCDCD;

/// Overwrites all but the guard bytes: with words of poison_word.
void poison(gpu::Session& session, gpu::Buffer& buffer);

/// Compares the first `words` words and the guard bytes, on `threads` threads. Empty if all are right, otherwise one
/// line, in which `name` is the buffer's name: "output word 3 is 0x00000001, not 0x00000000".
std::string difference(gpu::Session& session, const gpu::Buffer& buffer, std::string_view name, std::uint64_t words = 0,
                       const study::Expected& expected = {}, unsigned threads = 1);

// --- A problem on a device ---

/// One sentence that says what to do if the buffers would not fit, or empty. A CPU shares its memory with the host.
std::string shortage(const study::CaseStudy& study, study::Extent extent, const gpu::DeviceInfo& device);

/// The ranks that solve a problem together, or this process alone: then nothing here waits or communicates.
struct Cluster {
  cluster::Communicator* communicator = nullptr;
  cluster::Engine* engine = nullptr;

  bool alone() const { return communicator == nullptr; }
  study::Rank rank() const {
    return alone() ? study::Rank{} : study::Rank{communicator->rank(), communicator->ranks()};
  }
  void barrier() const {
    if (!alone()) communicator->barrier();
  }
  /// The largest of all ranks' values.
  double max(double value) const { return alone() ? value : communicator->max(value); }
  /// Runs `step`; as cluster::agree().
  void agree(const std::function<void()>& step) const { alone() ? step() : cluster::agree(*communicator, step); }
  /// Runs `work`, which may wait for other ranks: `what` for the message if that takes too long.
  void wait_in(const std::string& operation, const std::function<void()>& work) const;
};

/// A plan that is ready to run on a device: kernels built, scratch memory allocated, peers' memory mapped.
struct PreparedVariant {
  const study::Variant* variant = nullptr;  ///< null: a plan that verify() cannot check
  study::Plan plan;
  gpu::Form first_form = gpu::Form::once;  ///< the form of the first launch; the others run as written
  std::vector<std::unique_ptr<gpu::Buffer>> scratch;
  std::unique_ptr<gpu::Buffer> state;                            ///< null if the plan needs none
  std::map<study::Slot, std::unique_ptr<cluster::Peers>> peers;  ///< destroyed before the buffers above
};

/// One problem on one device, or one rank's share of it: inputs, outputs and the expected outputs. All ranks have one,
/// and call the same functions in the same order.
class Workbench {
 public:
  /// Fills the inputs. Errors: gpu::Error; std::bad_alloc; cluster::Refused if a rank's device has too little memory.
  Workbench(const study::CaseStudy& study, study::Extent extent, gpu::Session& session, Cluster cluster = {});

  /// A variant; or, on several ranks, a plan for the input as it is, which verify() cannot check. Errors:
  /// gpu::Unsupported with the reason, of several ranks cluster::Refused; gpu::BuildError; gpu::Error.
  PreparedVariant prepare(const study::Variant& variant, study::Scope scope = study::Scope::memory);
  PreparedVariant prepare(study::Plan plan, gpu::Form first_form = gpu::Form::once);

  /// Enqueues the steps [first, last) of the plan; all by default.
  void enqueue(const PreparedVariant& prepared, std::size_t first = 0, std::size_t last = ~std::size_t{0});

  enum class Scratch { poisoned, as_it_is };

  /// Poisons the outputs, and optionally the scratch memory, runs the plan once and checks every word of this process,
  /// and that nothing else has changed. Returns one line that says what is wrong; empty if nothing is, on any rank.
  std::string verify(const PreparedVariant& prepared, Scratch scratch = Scratch::poisoned);

  /// The copy that serves as reference. On one device its traffic, read and written, is the compulsory traffic, and
  /// copied_bytes() may be 0; then there is nothing to enqueue.
  std::uint64_t copied_bytes() const { return copied_bytes_; }
  void enqueue_copy();
  /// The same into the memory of the next rank's device. Errors: as cluster::share_with_peers().
  void prepare_peer_copy();
  void enqueue_peer_copy();

  std::size_t launches(const PreparedVariant& prepared) const {
    return prepared.variant->library ? 1 : prepared.plan.steps.size();
  }

  /// Reads what the last run left at the beginning of a scratch buffer.
  void read_scratch(const PreparedVariant& prepared, std::size_t buffer, std::span<std::byte> data) {
    session_.read(*prepared.scratch.at(buffer), 0, data);
  }

 private:
  void fill_inputs(const study::Share& share);
  std::uint64_t words_of_input(std::size_t input) const;
  void inputs_at(std::size_t input, std::uint64_t first, std::span<std::uint32_t> words) const;
  study::Words sums_of_input() const;
  PreparedVariant prepare_library(const study::Variant& variant, study::Scope scope);
  gpu::Buffer& buffer(const PreparedVariant& prepared, study::Slot slot);
  void launch(const PreparedVariant& prepared, const study::KernelLaunch& launch, gpu::Form form);
  study::Expected expected(const study::Variant& variant, std::size_t output);
  std::string check(const PreparedVariant& prepared);

  const study::CaseStudy& study_;
  study::Extent extent_;
  gpu::Session& session_;
  Cluster cluster_;
  unsigned threads_;                     // host threads for this process
  std::vector<study::Words> expected_;   // the outputs of a process alone
  study::Share share_;                   // the words in the input, on several ranks
  study::Words sums_before_, all_sums_;  // RankStudy::sums
  std::uint64_t copied_bytes_;
  std::vector<std::unique_ptr<gpu::Buffer>> inputs_, outputs_;
  std::unique_ptr<gpu::Buffer> copied_from_, copied_to_;  // on one device the largest input is copied
  std::unique_ptr<cluster::Peers> copied_peers_;          // last: destroyed before its buffer
};

}  // namespace bankwise::bench
