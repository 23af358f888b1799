// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace bankwise::emulator::runtime {

/// A GPU whose properties programs read.
struct Gpu {
  std::string_view architecture, name;
  int major, minor, multiprocessors, clock_khz, memory_khz, bus_bits;
  unsigned memory_gib, l2_kib, shared_kib,
      shared_block_kib;  ///< shared memory per multiprocessor and at most per block
  int threads, blocks;   ///< per multiprocessor, at most
};

std::span<const Gpu> gpus();
/// The GPU of an architecture of the bank model; that of sm_90 for architectures of other makers.
const Gpu& gpu_of(std::string_view architecture);
/// Set before main() in a program that launches cooperative kernels.
extern bool few_multiprocessors;
/// The GPU that this program runs on: that of BANKWISE_EMULATE_ARCH, with 8 multiprocessors if few_multiprocessors.
const Gpu& this_gpu();

}  // namespace bankwise::emulator::runtime
