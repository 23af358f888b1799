// SPDX-License-Identifier: MIT
//
// What the lanes of a kernel did with shared memory: recorded once, costed for any architecture (report.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <bankwise/banks/access.hpp>

namespace bankwise::emulator {

/// Sizes and positions as CUDA counts them; x runs fastest.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr Dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

/// A place in the kernel's source. Where that is not known, the file is "?" and the line 0.
struct Site {
  std::string file;
  unsigned line = 0;
  std::string function;  ///< as C++ writes it, without its parameters
  bool operator==(const Site&) const = default;
};

/// An array in shared memory.
struct SharedArray {
  std::string name;  ///< "tile"; of all dynamic shared memory "dynamic shared memory"
  std::uint32_t offset = 0, bytes = 0;
};

/// One access of one warp: what its lanes did together. Its cost is banks::cost()'s.
struct Access {
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;           ///< bytes per lane
  unsigned warp = 0;            ///< of the block
  std::uint32_t level = 0;      ///< barriers that the block had passed
  std::uint32_t site = 0;       ///< index into Trace::sites
  std::uint32_t array = 0;      ///< index into Trace::arrays
  std::uint64_t block = 0;      ///< linear number in the grid
  std::uint64_t mask = 0;       ///< active lanes
  std::uint64_t addresses = 0;  ///< index into Trace::addresses of lane 0's; each lane of the warp has one
  bool is_loop = false;  ///< an atomic that the device has no instruction for, but a loop of several: it has no cost
};

/// How often warps executed one basic block of the kernel in one level.
struct BasicBlock {
  std::uint64_t block = 0;  ///< linear number in the grid
  std::uint32_t level = 0;
  std::uint32_t site = 0;    ///< index into Trace::sites
  std::uint64_t issued = 0;  ///< by a warp, counting each time
  std::uint64_t lanes = 0;   ///< active then, added up
};

/// The record of the traced blocks. Accesses stand in the order of their blocks, then in the order they were made.
struct Trace {
  std::string kernel;  ///< its name; "?" where the program has no symbols
  unsigned warp = 32;  ///< lanes of a warp
  Dim3 grid, block;
  std::vector<std::uint64_t> blocks;  ///< the traced ones
  std::uint32_t levels = 0;           ///< of the traced block that has most: barriers + 1
  std::vector<Access> accesses;
  std::vector<std::uint32_t> addresses;  ///< bytes from the start of shared memory
  std::vector<BasicBlock> basic_blocks;
  std::vector<Site> sites;
  std::vector<SharedArray> arrays;

  /// As the bank model takes it. The trace must outlive it.
  banks::Access of_model(const Access& access) const {
    return {access.operation, access.width, access.mask, std::span(addresses).subspan(access.addresses, warp)};
  }
};

}  // namespace bankwise::emulator
