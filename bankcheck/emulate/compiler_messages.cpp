// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace bankwise::emulate {
namespace {

struct Message {
  std::string_view place;  ///< "main.cu:12"
  std::string_view text;
};

/// "main.cu:12:5: error: text", also "fatal error".
std::optional<Message> parse_error(std::string_view line) {
  for (const std::string_view mark : {": error: ", ": fatal error: "}) {
    const auto at = line.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view place = line.substr(0, at);
    const auto column = place.rfind(':');
    const bool has_column = column != std::string_view::npos && column + 1 < place.size() &&
                            place.find_first_not_of("0123456789", column + 1) == std::string_view::npos;
    if (has_column && place.find(':') != column) place = place.substr(0, column);
    return Message{place, line.substr(at + mark.size())};
  }
  return std::nullopt;
}

/// The text between the first pair of quotes, as g++ writes them in any locale.
std::string_view quoted(std::string_view text) {
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"\u2018", "\u2019"}, {"'", "'"}}) {
    const auto begin = text.find(open);
    if (begin == std::string_view::npos) continue;
    const auto end = text.find(close, begin + open.size());
    if (end == std::string_view::npos) continue;
    return text.substr(begin + open.size(), end - begin - open.size());
  }
  return "";
}

/// Names that CUDA and its libraries use.
bool is_of_cuda(std::string_view name) {
  constexpr std::array prefixes{"cuda",  "CUDA",     "cublas",   "CUBLAS",   "curand",   "CURAND", "cufft",
                                "CUFFT", "cusparse", "CUSPARSE", "cusolver", "CUSOLVER", "cudnn",  "CUDNN",
                                "nvtx",  "nvml",     "nvrtc",    "nccl",     "thrust",   "cub",    "nvcuda",
                                "cute",  "cutlass",  "tex",      "surf",     "__"};
  const bool library =
      std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
  const bool driver =
      name.size() > 2 && (name.starts_with("cu") || name.starts_with("CU")) && name[2] >= 'A' && name[2] <= 'Z';
  return library || driver;
}

std::string sentence_for(const Message& message) {
  constexpr std::string_view attribute = "declared with attribute error: ";
  if (const auto at = message.text.find(attribute); at != std::string_view::npos) {
    return std::string(message.text.substr(at + attribute.size()));
  }
  constexpr std::string_view absent = ": No such file or directory";
  if (message.text.ends_with(absent)) {
    return fmt::format("there is no file {}", message.text.substr(0, message.text.size() - absent.size()));
  }
  if (message.text.find("is not emulated") != std::string_view::npos) return std::string(message.text);
  constexpr std::array unknown{"was not declared",   "has not been declared", "does not name a type",
                               "is not a member of", "has no member named",   "is not a type",
                               "undeclared"};
  const bool is_unknown = std::any_of(unknown.begin(), unknown.end(), [&](std::string_view phrase) {
    return message.text.find(phrase) != std::string_view::npos;
  });
  const std::string_view name = quoted(message.text);
  if (is_unknown && is_of_cuda(name)) return fmt::format("{} is not emulated", name);
  return "";
}

template <class Visit>
void for_each_error(std::string_view messages, Visit visit) {
  for (std::size_t at = 0; at < messages.size();) {
    const auto end = std::min(messages.find('\n', at), messages.size());
    if (const auto error = parse_error(messages.substr(at, end - at)); error && !visit(*error)) return;
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> missing_in(std::string_view messages) {
  std::vector<std::string> sentences, seen;
  for_each_error(messages, [&](const Message& message) {
    const std::string sentence = sentence_for(message);
    if (!sentence.empty() && std::find(seen.begin(), seen.end(), sentence) == seen.end()) {
      seen.push_back(sentence);
      sentences.push_back(fmt::format("{}: {}", message.place, sentence));
    }
    return true;
  });
  return sentences;
}

std::string first_error_in(std::string_view messages) {
  std::string first;
  for_each_error(messages, [&](const Message& message) {
    first = fmt::format("{}: {}", message.place, message.text);
    return false;
  });
  return first;
}

}  // namespace bankwise::emulate
