// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/byte_reader.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace bankwise::cuda {

std::string_view part_of(std::string_view bytes, std::uint64_t offset, std::uint64_t size, const char* name) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    throw std::runtime_error(fmt::format("{} reaches past the end of the cubin", name));
  }
  return bytes.substr(std::size_t(offset), std::size_t(size));
}

std::string_view string_at(std::string_view bytes, std::uint64_t offset, std::size_t max_bytes) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(std::size_t(offset), max_bytes);
  return rest.substr(0, rest.find('\0'));
}

std::string_view ByteReader::take(std::uint64_t size) {
  if (size > left()) throw std::runtime_error(fmt::format("{} ends too early", name_));
  const std::string_view taken = bytes_.substr(position_, std::size_t(size));
  position_ += taken.size();
  return taken;
}

std::uint64_t ByteReader::number(unsigned bytes) {
  std::uint64_t number = 0;
  unsigned shift = 0;
  for (const char byte : take(bytes)) {
    number |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
    shift += 8;
  }
  return number;
}

std::uint64_t ByteReader::uleb() {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = u8();
    if (shift < 64) number |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) return number;
  }
}

std::int64_t ByteReader::sleb() {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = u8();
    if (shift < 64) number |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) != 0) continue;
    const bool is_negative = (byte & 0x40U) != 0;
    if (is_negative && shift + 7 < 64) number |= ~std::uint64_t{0} << (shift + 7);
    return std::int64_t(number);
  }
}

std::string_view ByteReader::string() {
  const std::size_t zero = bytes_.find('\0', position_);
  if (zero == std::string_view::npos) throw std::runtime_error(fmt::format("{} ends in the middle of a name", name_));
  const std::string_view text = take(zero - position_);
  ++position_;
  return text;
}

}  // namespace bankwise::cuda
