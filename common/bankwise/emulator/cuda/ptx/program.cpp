// SPDX-License-Identifier: MIT
#include <bankwise/emulator/cuda/ptx/machine.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <optional>

namespace bankwise::emulator::ptx {

const std::vector<std::string_view> special_registers{
    "laneid",      "warpid",      "tid.x",       "tid.y",       "tid.z",          "ntid.x",
    "ntid.y",      "ntid.z",      "ctaid.x",     "ctaid.y",     "ctaid.z",        "nctaid.x",
    "nctaid.y",    "nctaid.z",    "smid",        "nsmid",       "clock",          "clock64",
    "globaltimer", "gridid",      "nwarpid",     "clock_hi",    "globaltimer_lo", "globaltimer_hi",
    "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt",    "WARP_SZ"};

bool PtxInstruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string PtxInstruction::text() const {
  std::string text = name;
  for (const std::string& modifier : modifiers) text += "." + modifier;
  return text;
}

namespace {

std::optional<PtxType> type_named(std::string_view name) {
  if (name == "pred") return PtxType{'p', 1};
  if (name == "bf16") return PtxType{'h', 16};
  if (name == "bf16x2") return PtxType{'h', 32, true};
  if (name == "f16x2") return PtxType{'f', 32, true};
  if (name == "tf32") return PtxType{'t', 32};
  if (name.size() < 2 || std::string_view("busf").find(name[0]) == std::string_view::npos) return std::nullopt;
  unsigned bits = 0;
  for (const char c : name.substr(1)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    bits = 10 * bits + unsigned(c - '0');
  }
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) return std::nullopt;
  return PtxType{name[0], bits};
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  PtxProgram operator()() {
    for (;;) {
      skip();
      if (at_ == text_.size()) break;
      if (take(';') || take('{') || take('}')) continue;
      statement();
    }
    for (PtxInstruction& op : program_.instructions) {
      if (op.name != "bra") continue;
      const auto label = labels_.find(targets_[std::size_t(&op - program_.instructions.data())]);
      if (label == labels_.end()) throw UnsupportedPtx("bra to a label outside of its asm statement");
      op.target = label->second;
    }
    return std::move(program_);
  }

 private:
  void skip() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const auto end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) {
      throw UnsupportedPtx("\"" + std::string(text_.substr(at_, 20)) + "\", where '" + std::string(1, c) +
                           "' should be");
    }
  }
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (begin == at_) throw UnsupportedPtx("\"" + std::string(text_.substr(begin, 20)) + "\"");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void statement() {
    PtxInstruction op;
    if (take('@')) {
      op.guard_negated = take('!');
      const Operand predicate = operand();
      if (predicate.kind != Operand::Kind::local) throw UnsupportedPtx("a predicate that is no local register");
      op.guard = int(predicate.index);
    }
    std::string name = word();
    if (name == ".reg") return declaration();
    if (name[0] == '.') throw UnsupportedPtx(name);
    skip();
    if (at_ < text_.size() && text_[at_] == ':' && text_.substr(at_, 2) != "::") {
      ++at_;
      labels_[name] = int(program_.instructions.size());
      return;
    }
    while (text_.substr(at_, 2) == "::") {  // .shared::cta
      at_ += 2;
      name += "::" + word();
    }
    std::size_t begin = 0;
    for (bool first = true; begin <= name.size(); first = false) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      if (first) {
        op.name = part;
      } else {
        op.modifiers.push_back(part);
        if (const auto type = type_named(part)) op.types.push_back(*type);
      }
      begin = end + 1;
    }
    op.handler = handler_of(op.name);
    if (op.handler == nullptr) throw UnsupportedPtx(op.text());
    if (op.name == "bra") {
      targets_[program_.instructions.size()] = word();
    } else if (skip(), at_ < text_.size() && text_[at_] != ';' && text_[at_] != '}') {
      do op.operands.push_back(operand());
      while (take(','));
    }
    skip();
    if (at_ < text_.size() && text_[at_] != '}') need(';');
    program_.instructions.push_back(std::move(op));
  }

  /// .reg .b32 a, b, r<4>;
  void declaration() {
    word();
    do {
      take('%');
      const std::string name = word();
      if (take('<')) {
        const int count = std::atoi(word().c_str());
        need('>');
        for (int i = 0; i < count && i < 1024; ++i) declare(name + std::to_string(i));
      } else {
        declare(name);
      }
    } while (take(','));
    need(';');
  }
  void declare(const std::string& name) { locals_[name] = program_.locals++; }

  Operand list(char end) {
    Operand elements{.kind = Operand::Kind::list};
    do elements.parts.push_back(operand());
    while (take(','));
    need(end);
    return elements;
  }

  Operand operand() {
    skip();
    if (take('!')) {
      Operand negated = operand();
      negated.negated = true;
      return negated;
    }
    if (take('{')) return list('}');
    if (take('[')) {
      Operand address{.kind = Operand::Kind::address, .parts = {operand()}};
      if (take('+')) address.bits = operand().bits;
      while (take(',')) address.parts.push_back(operand());
      need(']');
      return address;
    }
    Operand op = simple();
    if (take('|')) op.parts.push_back(operand());
    return op;
  }

  Operand simple() {
    if (take('%')) {
      const bool escaped = take('%');
      if (!escaped && at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
        return {.kind = Operand::Kind::given, .index = unsigned(std::atoi(word().c_str()))};
      }
      const std::string name = word();
      const auto special = std::find(special_registers.begin(), special_registers.end(), name);
      if (special != special_registers.end()) {
        return {.kind = Operand::Kind::special, .index = unsigned(special - special_registers.begin())};
      }
      return local(name);
    }
    skip();
    const bool minus = take('-');
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number(minus);
    const std::string name = word();
    if (name == "_") return {};
    const auto special = std::find(special_registers.begin(), special_registers.end(), name);
    if (special != special_registers.end()) {
      return {.kind = Operand::Kind::special, .index = unsigned(special - special_registers.begin())};
    }
    return local(name);
  }
  Operand local(const std::string& name) {
    const auto variable = locals_.find(name);
    if (variable == locals_.end()) throw UnsupportedPtx("the name " + name);
    return {.kind = Operand::Kind::local, .index = variable->second};
  }

  Operand number(bool minus) {
    std::string digits = word();
    const std::string prefix = digits.substr(0, 2);
    if (prefix == "0f" || prefix == "0F") {
      const auto bits = std::uint32_t(std::strtoul(digits.c_str() + 2, nullptr, 16));
      return {.kind = Operand::Kind::real, .bits = std::bit_cast<std::uint64_t>(double(std::bit_cast<float>(bits)))};
    }
    if (prefix == "0d" || prefix == "0D") {
      return {.kind = Operand::Kind::real, .bits = std::strtoull(digits.c_str() + 2, nullptr, 16)};
    }
    if (prefix != "0x" && prefix != "0X" && digits.find('.') != std::string::npos) {
      const double value = std::atof(digits.c_str());
      return {.kind = Operand::Kind::real, .bits = std::bit_cast<std::uint64_t>(minus ? -value : value)};
    }
    if (digits.back() == 'U') digits.pop_back();
    const std::uint64_t value = prefix == "0b" || prefix == "0B" ? std::strtoull(digits.c_str() + 2, nullptr, 2)
                                                                 : std::strtoull(digits.c_str(), nullptr, 0);
    return {.kind = Operand::Kind::number, .bits = minus ? 0 - value : value};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  PtxProgram program_;
  std::map<std::string, unsigned> locals_;
  std::map<std::string, int> labels_;
  std::map<std::size_t, std::string> targets_;
};

}  // namespace

PtxProgram parse(std::string_view text) { return Parser(text)(); }

}  // namespace bankwise::emulator::ptx
