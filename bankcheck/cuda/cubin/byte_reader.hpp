// SPDX-License-Identifier: MIT
//
// Reads little-endian numbers from bytes that may be hostile: each read checks the bounds first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bankwise::cuda {

/// The part of `bytes` from `offset` on, `size` bytes long. Throws std::runtime_error with the sentence "<name> reaches
/// past the end of the cubin" if it is not inside.
std::string_view part_of(std::string_view bytes, std::uint64_t offset, std::uint64_t size, const char* name);

/// The string at `offset` without its closing zero; empty past the end. It is cut after `max_bytes`: many names that
/// share one endless string must not cost the square of a hostile file's size.
std::string_view string_at(std::string_view bytes, std::uint64_t offset, std::size_t max_bytes);

constexpr std::size_t max_symbol_bytes = 65536;  // mangled names of CUTLASS kernels take some thousand
constexpr std::size_t max_path_bytes = 4096;

/// A position in bytes that only moves forward. Every read throws std::runtime_error with one sentence if the bytes end
/// before what is read.
class ByteReader {
 public:
  /// `name` stands for the bytes in the sentences of errors and outlives the reader.
  ByteReader(std::string_view bytes, const char* name) : bytes_(bytes), name_(name) {}

  /// A number of `bytes` bytes, at most 8.
  std::uint64_t number(unsigned bytes);
  std::uint8_t u8() { return std::uint8_t(number(1)); }
  std::uint16_t u16() { return std::uint16_t(number(2)); }
  std::uint32_t u32() { return std::uint32_t(number(4)); }
  std::uint64_t u64() { return number(8); }

  /// A number in LEB128, unsigned or signed (DWARF 5, section 7.6). Bits past the 64th are dropped.
  std::uint64_t uleb();
  std::int64_t sleb();

  /// Up to the next zero byte, which is skipped.
  std::string_view string();
  std::string_view take(std::uint64_t size);

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  bool at_end() const { return left() == 0; }

 private:
  std::string_view bytes_;
  const char* name_;
  std::size_t position_ = 0;
};

}  // namespace bankwise::cuda
