// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/opcode.hpp"

#include <algorithm>

namespace bankwise::cuda {

namespace {

/// `width` bits from `bit` on, which are all in one half.
std::uint64_t field_of(InstructionBits bits, unsigned bit, unsigned width) {
  const std::uint64_t half = bit < 64 ? bits.low : bits.high;
  return half >> bit % 64 & ((std::uint64_t{1} << width) - 1);
}

bool matches(const OpcodePattern& pattern, unsigned sm, std::uint64_t code) {
  return pattern.first_sm <= sm && sm <= pattern.last_sm &&
         std::find(pattern.codes.begin(), pattern.codes.end(), code) != pattern.codes.end();
}

std::optional<std::string> text_of(const OpcodePattern& pattern, InstructionBits bits) {
  std::string text(pattern.name);
  for (const OpcodeField& field : pattern.fields) {
    const std::uint64_t value = field_of(bits, field.bit, field.width);
    if (value >= field.words.size() || field.words[value] == unknown_word) return {};
    text += field.words[value];
  }
  return text;
}

}  // namespace

std::optional<std::string> shared_opcode(unsigned sm, InstructionBits bits) {
  const std::uint64_t code = field_of(bits, 0, 12);
  for (const OpcodePattern& pattern : opcode_patterns()) {
    if (!matches(pattern, sm, code)) continue;
    if (auto text = text_of(pattern, bits)) return text;
  }
  return {};
}

}  // namespace bankwise::cuda
