// One byte each for architecture, operation, width and the number of addresses, eight bytes for the mask, four for each
// address, and for a copy four for each source. From 128 addresses on, all are rounded down to multiples of the width,
// so that most accesses have a cost.
#include <cstdint>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include "fuzz.hpp"
#include "tests/bankcheck/predict/layout_agrees.hpp"

using namespace bankwise;

namespace {

void check(const banks::Architecture& architecture, const banks::Access& access, const banks::Cost& cost) {
  fuzz::require(cost.passes >= cost.ideal && cost.passes_max >= cost.passes, "ideal, passes, passes_max ascend");
  fuzz::require(cost.conflicts_max >= cost.conflicts, "conflicts ascend");
  fuzz::require(cost.passes >= cost.conflicts, "a conflict takes at least one pass");
  fuzz::require(cost.lane_group_count <= cost.lane_groups.size(), "the lane groups fit the array");
  fuzz::require((cost.passes == 0) == (access.mask == 0), "an access has no cost if and only if it has no lanes");
  const std::string wrong = what_is_wrong(architecture, access, cost, banks::layout(architecture, access, cost));
  fuzz::require(wrong.empty(), "the layout adds up to the cost", wrong);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes(data, size);
  const auto& architecture = fuzz::architecture(bytes.next());
  const auto operation = banks::Operation(bytes.next() % banks::operation_count);
  const unsigned width = bytes.next(), count = bytes.next();
  std::uint64_t mask = bytes.next(8);
  const bool tidy = count >= 128;
  if (tidy) mask &= ~std::uint64_t{0} >> (banks::max_lanes - architecture.lanes);
  const unsigned unit = width == 0 ? 1 : width == 12 ? 4 : width;
  std::vector<std::uint32_t> addresses(count % 128);
  for (auto& address : addresses) {
    address = std::uint32_t(bytes.next(4));
    if (tidy) address -= address % unit;
  }
  std::vector<std::uint32_t> sources(banks::is_copy(operation) ? addresses.size() : 0);
  for (auto& source : sources) source = std::uint32_t(bytes.next(4));
  const banks::Access access{operation, width, mask, addresses, sources};
  const auto outcome = banks::cost(architecture, access);
  if (const auto* refusal = std::get_if<banks::Refusal>(&outcome)) {
    const std::string text = banks::sentence(architecture, access, *refusal);
    fuzz::require(fuzz::is_sentence(text), "one sentence", text);
  } else {
    check(architecture, access, std::get<banks::Cost>(outcome));
  }
  return 0;
}
