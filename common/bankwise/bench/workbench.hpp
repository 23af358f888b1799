// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <bankwise/bench/guarded_buffer.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise {

/// One sentence that says what to do if the buffers would not fit, otherwise empty. A CPU device shares its memory with
/// the host's copies.
std::string shortage(const CaseStudy& study, Extent extent, const gpu::DeviceInfo& device);

/// A variant that is ready to run on a device: kernels built, plan made, scratch memory allocated.
struct PreparedVariant {
  const Variant* variant = nullptr;
  Plan plan;
  gpu::Form first_form = gpu::Form::once;  ///< of the first launch; the others run as written
  std::vector<std::unique_ptr<gpu::Buffer>> scratch;
  std::unique_ptr<gpu::Buffer> state;  ///< null if the plan needs none
};

/// One problem on one device: its input, its output and the expected output.
class Workbench {
 public:
  /// Errors: gpu::Error; std::bad_alloc if the host has too little memory.
  Workbench(const CaseStudy& study, Extent extent, gpu::Session& session);

  /// Errors: gpu::Unsupported with the reason; gpu::BuildError; gpu::Error.
  PreparedVariant prepare(const Variant& variant, Scope scope);

  /// Enqueues the launches [first, last) of the plan; all by default.
  void enqueue(const PreparedVariant& prepared, std::size_t first = 0, std::size_t last = ~std::size_t{0});

  enum class Scratch { poisoned, as_it_is };

  /// Poisons the output, and optionally the scratch memory, runs the plan once and checks everything. Empty if all is
  /// correct, otherwise one line that says what is wrong.
  std::string verify(const PreparedVariant& prepared, Scratch scratch = Scratch::poisoned);

  /// The copy that serves as reference: its traffic, read and written, is the compulsory traffic. copied_bytes() may be
  /// 0; then there is nothing to enqueue.
  std::uint64_t copied_bytes() const;
  void enqueue_copy();

  std::size_t launches(const PreparedVariant& prepared) const;

  /// Reads what the last run left at the beginning of a scratch buffer.
  void read_scratch(const PreparedVariant& prepared, std::size_t buffer, std::span<std::byte> data);

 private:
  gpu::Buffer& buffer(const PreparedVariant& prepared, Slot slot);
  std::string compare(const gpu::Buffer& buffer, const Words& expected, std::string_view name);

  const CaseStudy& study_;
  Extent extent_;
  gpu::Session& session_;
  Words input_words_, expected_;
  std::unique_ptr<gpu::Buffer> input_, output_, copy_;
};

}  // namespace bankwise
