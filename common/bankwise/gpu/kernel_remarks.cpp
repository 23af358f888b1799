#include <bankwise/gpu/kernel_remarks.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <stdexcept>

namespace bankwise::gpu {
namespace {

/// The integer constants of a kernel file: `constexpr unsigned NAME = …;` and `#define NAME …`.
class Constants {
 public:
  explicit Constants(const std::string& code) {
    const std::regex constant(R"((?:constexpr unsigned|#define) (\w+)(?: = | +)([^;\n]+))");
    for (std::sregex_iterator match(code.begin(), code.end(), constant), end; match != end; ++match)
      texts_[(*match)[1]] = (*match)[2];
  }

  /// Numbers and names, multiplied and divided from left to right. Error: std::invalid_argument.
  unsigned value(const std::string& expression) const {
    const std::regex token(R"((?:\w+::)*(\w+)|[*/])");
    unsigned value = 1;
    bool divides = false;
    for (std::sregex_iterator match(expression.begin(), expression.end(), token), end; match != end; ++match) {
      if ((*match)[1].matched) {
        const unsigned factor = std::max(factor_of((*match)[1]), 1U);
        value = divides ? value / factor : value * factor;
      }
      divides = match->str() == "/";
    }
    return value;
  }

 private:
  unsigned factor_of(const std::string& word) const {
    if (const auto text = texts_.find(word); text != texts_.end()) return value(text->second);
    if (word == "one") return 1;
    if (word.find_first_not_of("0123456789u") == std::string::npos) return unsigned(std::stoul(word));
    throw std::invalid_argument("'" + word + "' is not a constant of the file");
  }

  std::map<std::string, std::string> texts_;
};

std::string in_words(GroupShape block) { return std::to_string(block.x) + " x " + std::to_string(block.y); }

void replace_only(std::string& text, std::string_view marker, std::string_view replacement) {
  const auto at = text.find(marker);
  if (at == std::string::npos || text.find(marker, at + 1) != std::string::npos) {
    throw std::invalid_argument("a kernel marks its section with exactly one line '" + std::string(marker) + "'");
  }
  text.replace(at, marker.size(), replacement);
}

}  // namespace

bool has_section(std::string_view source) { return source.find(section_begin) != std::string_view::npos; }

std::string repeat_section(std::string_view source, Api api, unsigned repeats) {
  std::string text(source);
  replace_only(text, section_begin, "for (int turn = 0; turn < " + std::to_string(repeats) + "; ++turn) {");
  replace_only(text, section_end, api == Api::cuda ? "__syncthreads(); }" : "barrier(CLK_LOCAL_MEM_FENCE); }");
  return text;
}

std::string remark(std::string_view source, std::string_view begin) {
  const std::string line = "\n// " + std::string(begin);
  const auto at = source.find(line);
  if (at == std::string_view::npos) return "";
  const auto from = at + line.size();
  std::string_view text = source.substr(from, source.find('\n', from) - from);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return std::string(text);
}

unsigned needed_capability(std::string_view source) {
  const std::string needs = remark(source, "Needs: compute capability ");
  if (needs.empty()) return 0;
  try {
    return unsigned(std::lround(10 * std::stod(needs)));
  } catch (const std::logic_error&) {
    throw std::invalid_argument("'" + needs + "' is not a compute capability");
  }
}

std::string why_not_ported(std::string_view source) {
  const std::string reason = remark(source, "No OpenCL port: ");
  return reason.empty() ? remark(source, "No CUDA counterpart: ") : reason;
}

std::vector<std::string> kernel_stems(std::string_view source, const std::string& stem) {
  const std::string list = remark(source, "Kernels: ");
  if (list.empty()) return {stem};
  const std::regex separator(", *");
  return {std::sregex_token_iterator(list.begin(), list.end(), separator, -1), std::sregex_token_iterator()};
}

std::optional<GroupShape> block_of_contract(std::string_view source) {
  const auto begin = source.find("\n// Contract");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string contract = std::regex_replace(std::string(source.substr(begin)), std::regex("\n// *"), " ");
  std::smatch stated, bound;
  const std::regex blocks(R"((?:blocks?|groups?) of (?:exactly )?(\w+)(?: x (\w+))? (?:threads?|work-items?))");
  if (!std::regex_search(contract, stated, blocks)) return std::nullopt;
  const std::string code = std::regex_replace(std::string(source), std::regex("//[^\n]*"), "");  // without comments
  const Constants constants(code);
  const GroupShape block{constants.value(stated[1].str()), stated[2].matched ? constants.value(stated[2].str()) : 1};
  const auto refuse = [&](const std::string& attribute) {
    throw std::invalid_argument("the Contract states blocks of " + in_words(block) + ", but the kernel's " + attribute);
  };
  if (std::regex_search(code, bound, std::regex(R"(__launch_bounds__\(([^,)]+))")) &&
      constants.value(bound[1].str()) != block.size())
    refuse(bound[0].str() + ") is another");
  const std::regex required(R"(reqd_work_group_size\(([^,]+),([^,]+),)");
  if (std::regex_search(code, bound, required)) {
    const GroupShape size{constants.value(bound[1].str()), constants.value(bound[2].str())};
    if (size.x != block.x || size.y != block.y) refuse("reqd_work_group_size is " + in_words(size));
  }
  return block;
}

}  // namespace bankwise::gpu
