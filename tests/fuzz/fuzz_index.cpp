// One byte each for architecture, operation, width and mask; the rest is the expression, or a CuTe layout.
#include <cstdint>
#include <nlohmann/json.hpp>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/predict/predict.hpp"
#include "fuzz.hpp"

using namespace bankwise;
using namespace bankwise::predict;

namespace {

/// The mask: a warp for 0, otherwise the bits of the byte spread over all lanes; 0xff selects all 64.
std::uint64_t mask_of(const banks::Architecture& architecture, unsigned byte) {
  if (byte == 0) return ~std::uint64_t{0} >> (banks::max_lanes - architecture.warp);
  return byte * std::uint64_t{0x0101010101010101} & (byte == 0xff ? ~std::uint64_t{0} : 0xffffffff);
}

void check(const Prediction& prediction) {
  const banks::Cost& cost = prediction.cost;
  fuzz::require(cost.passes >= cost.ideal && cost.passes_max >= cost.passes, "ideal, passes, passes_max ascend");
  for (const unsigned columns : {0U, 80U, 1000U}) {
    fuzz::require(text_of(prediction, columns).back() == '\n', "the text ends with a newline");
  }
  const auto json = nlohmann::json::parse(json_of(prediction), nullptr, false);
  fuzz::require(!json.is_discarded(), "the output is JSON");
  fuzz::require(json["passes"] == cost.passes && json["index"] == prediction.index, "JSON contains the request");
  const std::string svg = svg_of(prediction);
  fuzz::require(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "the picture is complete");
  fuzz::require(std::count(svg.begin(), svg.end(), '<') == std::count(svg.begin(), svg.end(), '>'), "tags are closed");
}

void check_layout(const std::string& text) {
  try {
    const CuteLayout layout(text);
    fuzz::require(layout.size() > 0 && layout.sizes().size() > 0, "a layout has elements");
    for (std::uint64_t number = 0; number < std::min<std::uint64_t>(layout.size(), 64); ++number) {
      fuzz::require(layout({&number, 1}) < std::uint64_t{1} << 33, "an offset is bounded");
    }
  } catch (const ExpressionError& error) {
    fuzz::require(fuzz::is_sentence(error.what()), "one sentence", error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const auto& architecture = fuzz::architecture(bytes.next());
  const auto operation = banks::Operation(bytes.next() % banks::operation_count);
  constexpr unsigned widths[]{4, 8, 16, 1, 2, 12, 0, 3};
  const unsigned width = widths[bytes.next() % std::size(widths)];
  const std::uint64_t mask = mask_of(architecture, bytes.next());
  const std::string text = bytes.rest();
  check_layout(text);
  try {
    check(predict_index(architecture, operation, width, mask, text));
  } catch (const support::UsageError& error) {
    fuzz::require(fuzz::is_sentence(error.what()), "one sentence", error.what());
  }
  return 0;
}
