// SPDX-License-Identifier: MIT
#include <bankwise/bench/workbench.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/gpu/error.hpp>
#include <bankwise/support/quantity.hpp>

namespace bankwise {
namespace {

std::uint64_t whole_words(std::uint64_t bytes) {
  return round_up(bytes, sizeof(std::uint32_t));
}

/// Bytes to copy, each read once and written once, for the compulsory traffic.
std::uint64_t bytes_to_copy(const CaseStudy& study, Extent extent) {
  return std::min(study.compulsory_bytes(extent) / 2, bytes_of(study.input_words(extent))) / 4 * 4;
}

}  // namespace

std::string shortage(const CaseStudy& study, Extent extent, const gpu::DeviceInfo& device) {
  // Scratch memory is left out: it is small compared with the input, and its allocation reports its own error.
  const std::uint64_t input = bytes_of(study.input_words(extent)), output = bytes_of(study.output_words(extent));
  const std::uint64_t largest = std::max(input, output) + guard_bytes;
  const std::uint64_t total =
      input + output + bytes_to_copy(study, extent) + 3 * guard_bytes + (device.is_gpu ? 0 : input + output);
  std::string advice = "choose a smaller";
  for (const Side& side : study.sides) {
    advice += fmt::format("{} --{}", &side == study.sides.data() ? "" : " and", side.name);
  }
  if (largest > device.max_allocation) {
    return fmt::format("{} allocates at most {} per buffer and this needs {}; {}", device.name,
                       format_bytes(double(device.max_allocation)), format_bytes(double(largest)), advice);
  }
  if (total > device.global_memory) {
    return fmt::format("{} has {} and this needs {}; {}", device.name, format_bytes(double(device.global_memory)),
                       format_bytes(double(total)), advice);
  }
  return {};
}

Workbench::Workbench(const CaseStudy& study, Extent extent, gpu::Session& session)
    : study_(study), extent_(extent), session_(session), input_words_(study.input_words(extent)) {
  input_words(study, 0, input_words_);
  if (study.one_result) expected_ = study.reference(extent, input_words_, study.variants.front());
  input_ = allocate_guarded(session, bytes_of(input_words_.size()));
  output_ = allocate_guarded(session, bytes_of(study.output_words(extent)));
  copy_ = session.allocate(std::max<std::uint64_t>(1, bytes_to_copy(study, extent)));
  if (!input_words_.empty()) session.write(*input_, 0, std::as_bytes(std::span(input_words_)));
}

PreparedVariant Workbench::prepare(const Variant& variant, Scope scope) {
  PreparedVariant prepared;
  prepared.variant = &variant;
  if (variant.library) {
    const gpu::Library* library = study_.kernels->library;
    if (session_.info().api != gpu::Api::cuda) throw gpu::Unsupported("the library exists only for CUDA");
    if (library == nullptr) {
      throw gpu::Unsupported("this build is without the library; configure with -D BANKWISE_CUDA_LIBRARIES=ON");
    }
    if (scope == Scope::block) throw gpu::Unsupported("a library's section in shared memory cannot be repeated");
    prepared.plan.scratch_bytes = {library->workspace_bytes(extent_.height, extent_.width)};
  } else {
    prepared.plan = study_.plan(variant, extent_, session_.info().compute_units);
    if (scope == Scope::block) prepared.first_form = gpu::Form::repeated;
    for (std::size_t i = 0; i < prepared.plan.launches.size(); ++i) {
      const Launch& launch = prepared.plan.launches[i];
      const gpu::KernelImage* image = find_image(study_, launch.kernel);
      if (image == nullptr) throw gpu::Unsupported(fmt::format("there is no kernel {}", launch.kernel));
      const gpu::Form form = i == 0 ? prepared.first_form : gpu::Form::once;
      if (form == gpu::Form::repeated && !image->has_section) {
        throw gpu::Unsupported("it has no section in shared memory to repeat");
      }
      session_.prepare(*image, form, launch.group);
    }
  }
  if (prepared.plan.state_bytes > 0) prepared.state = allocate_zeroed(session_, prepared.plan.state_bytes);
  for (const auto bytes : prepared.plan.scratch_bytes)
    prepared.scratch.push_back(allocate_guarded(session_, whole_words(bytes)));
  return prepared;
}

gpu::Buffer& Workbench::buffer(const PreparedVariant& prepared, Slot slot) {
  if (slot.index == input_slot.index) return *input_;
  if (slot.index == output_slot.index) return *output_;
  if (slot.index == state_slot.index) return *prepared.state;
  return *prepared.scratch.at(slot.index - scratch_slot(0).index);
}

std::size_t Workbench::launches(const PreparedVariant& prepared) const {
  return prepared.variant->library ? 1 : prepared.plan.launches.size();
}

void Workbench::enqueue(const PreparedVariant& prepared, std::size_t first, std::size_t last) {
  if (prepared.variant->library) {
    if (first > 0) return;
    session_.launch(*study_.kernels->library, *input_, *output_, *prepared.scratch.front(), extent_.height,
                    extent_.width);
    return;
  }
  last = std::min(last, prepared.plan.launches.size());
  for (std::size_t i = first; i < last; ++i) {
    const Launch& launch = prepared.plan.launches[i];
    std::vector<gpu::KernelArgument> arguments;
    for (const auto& argument : launch.arguments) {
      if (const auto* slot = std::get_if<Slot>(&argument)) {
        arguments.emplace_back(&buffer(prepared, *slot));
      } else {
        arguments.emplace_back(std::get<std::uint64_t>(argument));
      }
    }
    session_.launch(*find_image(study_, launch.kernel), i == 0 ? prepared.first_form : gpu::Form::once, launch.groups,
                    launch.group, arguments);
  }
}

void Workbench::read_scratch(const PreparedVariant& prepared, std::size_t buffer, std::span<std::byte> data) {
  session_.read(*prepared.scratch.at(buffer), 0, data);
}

std::uint64_t Workbench::copied_bytes() const {
  return bytes_to_copy(study_, extent_);
}

void Workbench::enqueue_copy() {
  session_.copy(*input_, *copy_, copied_bytes());
}

std::string Workbench::compare(const gpu::Buffer& buffer, const Words& expected, std::string_view name) {
  return difference(session_, buffer, name, expected.size(), [&](std::uint64_t first, std::span<std::uint32_t> words) {
    std::copy_n(expected.begin() + std::ptrdiff_t(first), words.size(), words.begin());
  });
}

std::string Workbench::verify(const PreparedVariant& prepared, Scratch scratch) {
  poison(session_, *output_);
  if (scratch == Scratch::poisoned) {
    for (const auto& buffer : prepared.scratch) poison(session_, *buffer);
  }
  enqueue(prepared);
  session_.wait();
  if (!study_.one_result) expected_ = study_.reference(extent_, input_words_, *prepared.variant);
  if (auto wrong = compare(*output_, expected_, "output"); !wrong.empty()) return wrong;
  if (auto wrong = compare(*input_, input_words_, "input"); !wrong.empty()) return wrong;
  for (const auto& buffer : prepared.scratch) {
    if (auto wrong = compare(*buffer, {}, "scratch memory"); !wrong.empty()) return wrong;
  }
  if (prepared.state != nullptr) return compare(*prepared.state, {}, "state");
  return {};
}

}  // namespace bankwise
