#include <bankwise/emulator/core/uses.hpp>

namespace bankwise::emulator {

void Uses::begin_block() {
  constexpr std::uint32_t max_intervals = 1U << 30;
  if (now_ > max_intervals) {
    words_.clear();
    bytes_.clear();
    now_ = 0;
  }
  block_began_ = ++now_;
}

template <class Part>
bool Uses::for_each_part(std::uint32_t offset, std::uint32_t bytes, Part part) {
  for (std::uint32_t at = offset; at < offset + bytes;) {
    const std::uint32_t end = std::min(offset + bytes, (at / 4 + 1) * 4);
    Use& word = words_[at / 4];
    const bool is_split = word.writer == by_bytes && is_of_block(word);
    if (!is_split) renew(word);
    if (!is_split && end - at == 4) {
      if (!part(word)) return false;
      at = end;
      continue;
    }
    if (!is_split) {
      for (std::uint32_t byte = at / 4 * 4; byte < at / 4 * 4 + 4; ++byte) bytes_[byte] = word;
      word.writer = by_bytes;
    }
    for (; at < end; ++at) {
      if (!part(bytes_[at])) return false;
    }
  }
  return true;
}

bool Uses::use_parts(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how) {
  return for_each_part(offset, bytes, [&](Use& part) { return use(part, std::uint16_t(lane + 1), how); });
}

void Uses::write_parts(std::uint32_t offset, std::uint32_t bytes) {
  for_each_part(offset, bytes, [&](Use& part) {
    renew(part);
    part.when |= 1;
    return true;
  });
}

}  // namespace bankwise::emulator
