// SPDX-License-Identifier: MIT
//
// Kernels by name, for programs that launch kernels from a list.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <bankwise/emulator/core/emulate.hpp>

namespace bankwise::emulator {

/// Memory, or a 64-bit number.
using Argument = std::variant<void*, std::uint64_t>;

/// A kernel compiled for the emulator, or the reason why it is not.
struct NamedKernel {
  std::string_view name;  ///< the name of the function
  trace::KernelTrace (*run)(const Launch& launch, std::span<const Argument> arguments) = nullptr;
  std::string_view why_not;  ///< one sentence, if `run` is null
};

struct NamedKernels {
  std::span<const NamedKernel* const> kernels;
};

namespace detail {

template <class Parameter>
Parameter parameter(const Argument& argument) {
  if constexpr (std::is_pointer_v<Parameter>) {
    return static_cast<Parameter>(std::get<void*>(argument));
  } else {
    return static_cast<Parameter>(std::get<std::uint64_t>(argument));
  }
}

template <auto kernel, class... Parameters>
trace::KernelTrace run_by_list(void (*)(Parameters...), const Launch& launch, std::span<const Argument> arguments) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return emulate(kernel, launch, parameter<Parameters>(arguments[i])...);
  }
  (std::index_sequence_for<Parameters...>());
}

}  // namespace detail

/// Runs `kernel`, whose parameters are pointers and integers, with a list of arguments.
template <auto kernel>
trace::KernelTrace run_by_list(const Launch& launch, std::span<const Argument> arguments) {
  return detail::run_by_list<kernel>(kernel, launch, arguments);
}

}  // namespace bankwise::emulator
