// Turns the syntax that only nvcc has into C++: launches of kernels.
//
//   kernel<a, b><<<grid, block, bytes, stream>>>(x, y);
//   ::bankwise::emulator::runtime::launching([&](auto&&... bankwise_a) ... { kernel<a, b>(bankwise_a...); })
//       .at(grid, block, bytes, stream)(x, y);
//
// Everything stays on its line. The arguments are evaluated once, before the launch, and the lambda calls the kernel
// for each lane: so overloads, deduced template arguments and default arguments are those of a call.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bankwise::emulate {

/// A launch that is not understood.
struct BadLaunch : std::runtime_error {
  BadLaunch(std::size_t offset_, const std::string& sentence) : std::runtime_error(sentence), offset(offset_) {}
  std::size_t offset;  ///< in the source
};

/// Rewrites a source: the whole of it after the preprocessor, or one that has not seen it. Error: BadLaunch.
std::string rewritten(std::string_view source);

/// "file.cu:12" for a place in a source that the preprocessor has written, by its line markers.
std::string place_in(std::string_view source, std::size_t offset, std::string_view name);

// Turns inline PTX into calls of the emulator (common/bankwise/emulator/cuda/ptx.hpp):
//
//   asm volatile("bfe.u32 %0, %1, 4, 8;" : "=r"(x) : "r"(y) : "memory")
//   ::bankwise::emulator::device::ptx<true>([] { return "bfe.u32 %0, %1, 4, 8;"; },
//       ::bankwise::emulator::device::ptx_out(x), ::bankwise::emulator::device::ptx_in(y))

/// `statement`: from `asm` to its closing parenthesis, as the preprocessor has left it. The result has as many lines.
/// Empty if it is no PTX: code for the host, a label in a declaration, an empty text.
std::optional<std::string> emulated_asm(std::string_view statement);

}  // namespace bankwise::emulate
