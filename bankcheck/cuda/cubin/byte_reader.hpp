#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace bankwise::cuda {

/// A position in little-endian bytes that may be hostile; it only moves forward. Every read throws std::runtime_error
/// with one sentence if the bytes end before what is read.
class ByteReader {
 public:
  /// `name` stands for the bytes in the sentences of errors and outlives the reader.
  ByteReader(std::string_view bytes, const char* name) : bytes_(bytes), name_(name) {}

  /// A number of `bytes` bytes, at most 8.
  std::uint64_t number(unsigned bytes) {
    std::uint64_t number = 0;
    unsigned shift = 0;
    for (const char byte : take(bytes)) number |= std::uint64_t{static_cast<unsigned char>(byte)} << 8 * shift++;
    return number;
  }
  std::uint8_t u8() { return std::uint8_t(number(1)); }
  std::uint16_t u16() { return std::uint16_t(number(2)); }
  std::uint32_t u32() { return std::uint32_t(number(4)); }
  std::uint64_t u64() { return number(8); }

  /// A number in LEB128, unsigned or signed (DWARF 5, section 7.6). Bits past the 64th are dropped.
  std::uint64_t uleb() { return leb(false); }
  std::int64_t sleb() { return std::int64_t(leb(true)); }

  /// Up to the next zero byte, which is skipped.
  std::string_view string() {
    const std::size_t zero = bytes_.find('\0', position_);
    if (zero == std::string_view::npos) throw std::runtime_error(fmt::format("{} ends in the middle of a name", name_));
    const std::size_t size = zero - position_;
    return take(size + 1).substr(0, size);
  }
  std::string_view take(std::uint64_t size) {
    if (size > left()) throw std::runtime_error(fmt::format("{} ends too early", name_));
    const std::string_view taken = bytes_.substr(position_, std::size_t(size));
    position_ += taken.size();
    return taken;
  }

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  bool at_end() const { return left() == 0; }

 private:
  std::uint64_t leb(bool is_signed) {
    std::uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) number |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) != 0) continue;
      if (is_signed && (byte & 0x40U) != 0 && shift + 7 < 64) number |= ~std::uint64_t{0} << (shift + 7);
      return number;
    }
  }

  std::string_view bytes_;
  const char* name_;
  std::size_t position_ = 0;
};

}  // namespace bankwise::cuda
