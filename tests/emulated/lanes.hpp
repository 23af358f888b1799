// SPDX-License-Identifier: MIT
//
// Runs the blocks of a CUDA kernel's own source on the CPU, one thread of the host for each lane, and records every
// access to shared memory. Enough for kernels whose lanes do the same accesses in the same order between two barriers,
// or none: that is how the accesses of a warp are matched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bankwise/gpu/session.hpp"
#include "bankwise/runner/case_study.hpp"

namespace lanes {

/// One access of one lane. `phase` counts the barriers before it, `address` bytes into shared memory.
struct Access {
  std::size_t phase, address, size;
  bool write;
};

/// What a block did: the accesses of lane l, in its order.
using Trace = std::vector<std::vector<Access>>;

using Argument = std::variant<void*, std::uint64_t>;
using Kernel = std::function<void(const std::vector<Argument>&)>;

/// Every kernel that was compiled for lanes, by name. Broken ones have a name of their own.
std::map<std::string, Kernel>& kernels();

/// Puts a kernel into kernels() while the program starts.
struct Registration {
  template <class... Parameters>
  Registration(const char* name, void (*kernel)(Parameters...)) {
    kernels()[name] = [kernel](const std::vector<Argument>& arguments) {
      call(kernel, arguments, std::index_sequence_for<Parameters...>());
    };
  }

 private:
  template <class... Parameters, std::size_t... index>
  static void call(void (*kernel)(Parameters...), const std::vector<Argument>& arguments,
                   std::index_sequence<index...>) {
    kernel(as<Parameters>(arguments.at(index))...);
  }
  template <class Parameter>
  static Parameter as(const Argument& argument) {
    if constexpr (std::is_pointer_v<Parameter>) {
      return static_cast<Parameter>(std::get<void*>(argument));
    } else {
      return static_cast<Parameter>(std::get<std::uint64_t>(argument));
    }
  }
};

/// Runs one block to its end.
Trace run_block(const Kernel& kernel, std::uint64_t block, bankwise::gpu::GroupShape shape,
                const std::vector<Argument>& arguments);

/// Runs a whole job; kernel names found in `instead` are replaced. Returns the output and the trace of the first block
/// of the first launch.
std::pair<bankwise::Words, Trace> run_plan(const bankwise::CaseStudy& study, const bankwise::Variant& variant,
                                           bankwise::Extent extent, const bankwise::Words& input,
                                           const std::map<std::string, std::string>& instead = {});

struct Cost {
  std::size_t passes = 0, ideal = 0;
  bool operator==(const Cost&) const = default;
};

/// Passes of all accesses of a trace, by common/banks for compute capability 9.0. Error: std::runtime_error if the lanes of a warp cannot be matched.
Cost cost(const Trace& trace);

/// Two lanes that touch one word between the same two barriers, one of them writing; empty if there are none.
std::string find_race(const Trace& trace);

}  // namespace lanes
