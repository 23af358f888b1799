// One byte selects the architecture; then lines: the layout, the shape, the strides, the type, and a copy on each more.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/layouts/layouts.hpp"
#include "fuzz.hpp"

using namespace bankwise;
using namespace bankwise::layouts;

namespace {

void check(const LayoutReport& report) {
  const CopyCost& cost = report.costs.front().front();
  fuzz::require(cost.passes >= cost.ideal && cost.passes_max >= cost.passes, "ideal, passes, passes_max ascend");
  const Certificate& certificate = report.certificates.front();
  std::uint64_t passes = 0;
  for (const auto& costs : report.costs) passes += costs.front().passes;
  fuzz::require(certificate.any_layout <= passes, "no layout has fewer passes than the certificate says");
  fuzz::require(certificate.linear.value_or(passes) >= certificate.any_layout, "linear layouts are layouts");
  fuzz::require(text_of(report, 80).back() == '\n', "the text ends with a newline");
  fuzz::require(!nlohmann::json::parse(json_of(report), nullptr, false).is_discarded(), "the output is JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  LayoutOptions options;
  options.architectures = {std::string(fuzz::architecture(bytes.next()).name)};
  std::istringstream lines(bytes.rest());
  for (std::string* part : {&options.tile.layout, &options.tile.shape, &options.tile.strides, &options.tile.type})
    std::getline(lines, *part);
  options.copies.clear();
  for (std::string line; std::getline(lines, line) && options.copies.size() < 3;) options.copies.push_back(line);
  if (options.copies.empty()) options.copies = {"load"};
  try {
    constexpr std::size_t most = 2048;  // elements, for speed
    if (read_tile(options.tile).offsets.size() <= most) check(layout_report(options));
  } catch (const support::UsageError& error) {
    fuzz::require(fuzz::is_sentence(error.what()), "one sentence", error.what());
  }
  return 0;
}
