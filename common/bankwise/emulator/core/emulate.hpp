// Runs a CUDA kernel's unmodified source on the CPU, its warps in lock-step, and records its shared-memory accesses.
//
//   #include <bankwise/emulator/cuda.hpp>  // CUDA for g++
//   #include "my_kernel.cuh"
//   ...
//   const auto trace = bankwise::emulate(my_kernel, {.grid = 64, .block = {32, 8}}, in, out, n);
//   CHECK(bankwise::conflicts(trace, "sm_90") == 0);
//
// bankwise_emulate() of the CMake package compiles the source that holds the kernel for the emulator.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <bankwise/emulator/core/kernel_code.hpp>
#include <bankwise/emulator/core/launch.hpp>

namespace bankwise::emulator {

/// Runs the grid; several host threads may call it simultaneously. Errors: Diagnosis for a fault of the kernel;
/// std::invalid_argument for an invalid launch; std::runtime_error if the system has no stacks for a block.
trace::KernelTrace run(const Launch& launch, const BoundKernel& kernel);

/// The fault that ended a launch whose faults are not fatal, and its description. The kernel's results are then
/// incomplete, and a CUDA program gets an error. Nothing if the launch reached its end.
std::optional<trace::DiagnosisRecord> ended_by(const trace::KernelTrace& trace);

}  // namespace bankwise::emulator

namespace bankwise {

/// Runs a kernel. The arguments are converted to the types of its parameters; memory that pointers refer to must exist,
/// and is read and written as on a device. Errors: as emulator::run().
template <class... Parameters, class... Arguments>
trace::KernelTrace emulate(void (*kernel)(Parameters...), const emulator::Launch& launch, Arguments&&... arguments) {
  constexpr bool as_many = sizeof...(Parameters) == sizeof...(Arguments);
  static_assert(as_many,
                "bankwise::emulate(kernel, launch, arguments...): the kernel has another number of parameters");
  if constexpr (as_many) {
    constexpr bool convertible = (std::is_convertible_v<Arguments, Parameters> && ...);
    static_assert(convertible,
                  "bankwise::emulate(kernel, launch, arguments...): the kernel has a parameter of another type");
    if constexpr (convertible) {
      const auto lane = [kernel, ... values = static_cast<Parameters>(arguments)]()
                            BANKWISE_NOT_THE_KERNEL { kernel(values...); };
      using Body = decltype(lane);
      const auto call = [](const void* bound) BANKWISE_NOT_THE_KERNEL { (*static_cast<const Body*>(bound))(); };
      return emulator::run(launch, {call, &lane, reinterpret_cast<const void*>(kernel)});
    }
  }
}

}  // namespace bankwise

// --- Kernels by name, for programs that launch kernels from a list ---

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
