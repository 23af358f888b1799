#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>

#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {

bool PtxInstruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string PtxInstruction::text() const {
  std::string text = name;
  for (const std::string& modifier : modifiers) text += "." + modifier;
  return text;
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.'; }

std::optional<PtxType> type_named(const std::string& name) {
  static const std::map<std::string_view, PtxType> others{{"pred", {'p', 1}},
                                                          {"bf16", {'h', 16}},
                                                          {"bf16x2", {'h', 32, true}},
                                                          {"f16x2", {'f', 32, true}},
                                                          {"tf32", {'t', 32}}};
  if (const auto other = others.find(name); other != others.end()) return other->second;
  if (name.size() < 2 || std::string_view("busf").find(name[0]) == std::string_view::npos) return std::nullopt;
  const auto bits = unsigned(std::atoi(name.c_str() + 1));
  for (const unsigned known : {8u, 16u, 32u, 64u}) {
    if (bits == known && name.substr(1) == std::to_string(known)) return PtxType{name[0], bits};
  }
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  PtxProgram operator()() {
    while (!at_end()) {
      if (!take(';') && !take('{') && !take('}')) statement();
    }
    for (const auto& [instruction, label] : targets_) {
      const auto target = labels_.find(label);
      if (target == labels_.end()) throw UnsupportedPtx("bra to a label outside of its asm statement");
      program_.instructions[instruction].target = target->second;
    }
    return std::move(program_);
  }

 private:
  /// The next characters, without spaces and comments.
  std::string_view rest() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      const std::string_view start = text_.substr(at_, 2);
      if (start != "//" && start != "/*") return text_.substr(at_);
      const auto end = text_.find(start == "//" ? "\n" : "*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + (start == "//" ? 0 : 2);
    }
  }
  bool at_end() { return rest().empty(); }
  bool take(std::string_view token) {
    if (rest().substr(0, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  void need(char c) {
    if (take(c)) return;
    throw UnsupportedPtx("\"" + std::string(text_.substr(at_, 20)) + "\", where '" + c + "' should be");
  }
  bool at_digit() { return !at_end() && is_digit(text_[at_]); }
  std::string word() {
    const std::string_view start = rest();
    const auto length = std::size_t(std::find_if_not(start.begin(), start.end(), is_word) - start.begin());
    if (length == 0) throw UnsupportedPtx("\"" + std::string(start.substr(0, 20)) + "\"");
    at_ += length;
    return std::string(start.substr(0, length));
  }

  void statement() {
    PtxInstruction op;
    if (take('@')) {
      op.guard_negated = take('!');
      const PtxOperand predicate = operand();
      if (predicate.kind != PtxOperand::Kind::local) throw UnsupportedPtx("a predicate that is no local register");
      op.guard = int(predicate.index);
    }
    std::string name = word();
    if (name == ".reg") return declaration();
    if (name[0] == '.') throw UnsupportedPtx(name);
    while (take("::")) name += "::" + word();  // .shared::cta
    if (take(':')) {
      labels_[name] = int(program_.instructions.size());
      return;
    }
    bool unknown_type = false;
    for (std::size_t begin = 0, end = 0; begin <= name.size(); begin = end + 1) {
      end = std::min(name.find('.', begin), name.size());
      const std::string part = name.substr(begin, end - begin);
      if (begin == 0) {
        op.name = part;
      } else {
        op.modifiers.push_back(part);
        const auto type = type_named(part);
        if (type) op.types.push_back(*type);
        unknown_type |= part == "b128" || (!type && part.size() > 2 && (part.ends_with("x2") || part.ends_with("x4")));
      }
    }
    op.handler = handler_of(op.name);
    if (op.handler == nullptr || unknown_type) throw UnsupportedPtx(op.text());
    if (op.name == "bra") {
      targets_[program_.instructions.size()] = word();
    } else if (!at_end() && text_[at_] != ';' && text_[at_] != '}') {
      op.operands = operands();
    }
    if (!at_end() && text_[at_] != '}') need(';');
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
        for (int i = 0; i < count && i < 1024; ++i) locals_[name + std::to_string(i)] = program_.locals++;
      } else {
        locals_[name] = program_.locals++;
      }
    } while (take(','));
    need(';');
  }

  std::vector<PtxOperand> operands() {
    std::vector<PtxOperand> list;
    do list.push_back(operand());
    while (take(','));
    return list;
  }

  PtxOperand operand() {
    if (take('!')) {
      PtxOperand negated = operand();
      negated.negated = true;
      return negated;
    }
    if (take('{')) {
      PtxOperand list{.kind = PtxOperand::Kind::list, .parts = operands()};
      need('}');
      return list;
    }
    if (take('[')) {
      PtxOperand address{.kind = PtxOperand::Kind::address, .parts = {operand()}};
      if (take('+')) address.bits = operand().bits;
      while (take(',')) address.parts.push_back(operand());
      need(']');
      return address;
    }
    PtxOperand op = simple();
    if (take('|')) op.parts.push_back(operand());
    return op;
  }

  PtxOperand simple() {
    const bool is_register = take('%');
    const bool escaped = is_register && take('%');
    if (is_register && !escaped && at_digit()) {
      return {.kind = PtxOperand::Kind::given, .index = unsigned(std::atoi(word().c_str()))};
    }
    const bool minus = !is_register && take('-');
    if (!is_register && at_digit()) return number(minus);
    const std::string name = word();
    if (name == "_") return {};
    if (const int special = special_register(name); special >= 0) {
      return {.kind = PtxOperand::Kind::special, .index = unsigned(special)};
    }
    const auto variable = locals_.find(name);
    if (variable == locals_.end()) throw UnsupportedPtx("the name " + name);
    return {.kind = PtxOperand::Kind::local, .index = variable->second};
  }

  PtxOperand number(bool minus) {
    const std::string digits = word();
    const char prefix = digits.size() > 2 && digits[0] == '0' ? char(std::tolower(digits[1])) : ' ';
    const char* const behind = digits.c_str() + 2;
    const auto real = [&](double value) {
      return PtxOperand{.kind = PtxOperand::Kind::real, .bits = std::bit_cast<std::uint64_t>(minus ? -value : value)};
    };
    if (prefix == 'f') return real(std::bit_cast<float>(std::uint32_t(std::strtoul(behind, nullptr, 16))));
    if (prefix == 'd') return real(std::bit_cast<double>(std::uint64_t(std::strtoull(behind, nullptr, 16))));
    if (prefix != 'x' && digits.find('.') != std::string::npos) return real(std::atof(digits.c_str()));
    const std::uint64_t value =
        prefix == 'b' ? std::strtoull(behind, nullptr, 2) : std::strtoull(digits.c_str(), nullptr, 0);
    return {.kind = PtxOperand::Kind::number, .bits = minus ? 0 - value : value};
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
