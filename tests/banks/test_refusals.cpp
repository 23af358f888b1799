#include <set>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include "tests/bank_patterns.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::Operation;
using namespace bankwise::banks;

// An access without a known cost is refused with a sentence that gives the reason.

using Reason = banks::Refusal::Reason;

namespace {

bool one_line(const std::string& text) { return !text.empty() && text.find('\n') == std::string::npos; }

/// Finds "lane 5", but not as the beginning of "lane 57".
bool names_lane(const std::string& text, unsigned lane) {
  const std::string name = "lane " + std::to_string(lane);
  const auto at = text.find(name);
  if (at == std::string::npos) return false;
  const auto next = at + name.size();
  return next == text.size() || text[next] < '0' || text[next] > '9';
}

std::vector<std::uint32_t> ascending(unsigned width, unsigned lanes = banks::max_lanes) {
  std::vector<std::uint32_t> addresses;
  for (unsigned lane = 0; lane < lanes; ++lane) addresses.push_back(width * lane);
  return addresses;
}

bool has_cost(const char* name, const banks::Access& access) {
  return std::holds_alternative<banks::Cost>(banks::cost(*banks::find_architecture(name), access));
}

/// Why one lane cannot make this access.
std::string why_not(const char* name, Operation operation, unsigned width) {
  const auto addresses = ascending(width);
  const banks::Architecture& architecture = *banks::find_architecture(name);
  const banks::Access access{operation, width, 1, addresses, addresses};
  return sentence(architecture, access, std::get<banks::Refusal>(banks::cost(architecture, access)));
}

void check_refused(const char* name, const banks::Access& access, Reason reason, unsigned lane) {
  const banks::Architecture* architecture = banks::find_architecture(name);
  REQUIRE(architecture != nullptr);
  const auto outcome = banks::cost(*architecture, access);
  INFO(name << ", " << to_string(access.operation) << ", " << access.width << " bytes");
  REQUIRE(std::holds_alternative<banks::Refusal>(outcome));
  const auto refusal = std::get<banks::Refusal>(outcome);
  const std::string text = sentence(*architecture, access, refusal);
  INFO(text);
  CHECK(refusal.reason == reason);
  CHECK(refusal.lane == lane);
  CHECK(one_line(text));
  CHECK(names_lane(text, lane));
}

}  // namespace

TEST_CASE("banks/refusals/alignment") {
  for (const unsigned width : {2U, 4U, 8U, 12U, 16U}) {
    auto addresses = ascending(width);
    addresses[23] += width == 2 ? 1 : 2;
    addresses[29] += 1;
    const banks::Access access{Operation::load, width, ~std::uint32_t{0}, addresses};
    for (const char* name : {"sm_13", "sm_20", "sm_90", "gfx942", "gfx1100"}) {
      check_refused(name, access, Reason::misaligned, 23);
    }
  }
  auto addresses = ascending(16);
  addresses[3] += 8;
  check_refused("sm_90", {Operation::ldmatrix_x1, 16, ~std::uint32_t{0}, addresses}, Reason::misaligned, 3);
  // 12-byte elements require only the alignment of their words.
  CHECK(banks::cost_of("sm_90", Operation::load, 12, [](unsigned t) { return 4 + 12 * t; }).passes == 3);
  CHECK(banks::cost_of("gfx942", Operation::load, 12, 1, [](unsigned) { return 4; }).passes == 1);
}

TEST_CASE("banks/refusals/lane_beyond_warp") {
  const auto addresses = ascending(4);
  const std::uint64_t mask = std::uint64_t{1} << 41 | std::uint64_t{1} << 57 | 1;
  for (const char* name : {"sm_13", "sm_20", "sm_30", "sm_90", "intel_xe"}) {
    check_refused(name, {Operation::load, 4, mask, addresses}, Reason::lane_beyond_warp, 41);
  }
  for (const char* name : {"hd5870", "gcn", "gfx950", "gfx1030", "gfx1201"}) {
    CHECK(has_cost(name, {Operation::load, 4, mask, addresses}));
  }
}

TEST_CASE("banks/refusals/missing_address") {
  const auto addresses = ascending(4, 9);
  check_refused("sm_90", {Operation::load, 4, 0x1f0f, addresses}, Reason::address_missing, 9);
  check_refused("gfx1100", {Operation::store, 4, ~std::uint64_t{0}, addresses}, Reason::address_missing, 9);
  CHECK(has_cost("sm_90", {Operation::load, 4, 0x1ff, addresses}));
}

TEST_CASE("banks/refusals/unknown_sources") {
  const auto addresses = ascending(4);
  banks::Access copy{Operation::cp_async, 4, 0xffffff00, addresses};
  check_refused("sm_90", copy, Reason::source_missing, 8);
  copy.sources = std::span(addresses).first(20);
  check_refused("sm_80", copy, Reason::source_missing, 20);
  copy.sources = addresses;
  CHECK(has_cost("sm_90", copy));
  copy.mask = 0;
  copy.sources = {};
  CHECK(std::get<banks::Cost>(banks::cost(*banks::find_architecture("sm_90"), copy)).passes == 0);
}

TEST_CASE("banks/refusals/no_copies") {
  CHECK(why_not("sm_75", Operation::cp_async, 16) == "sm_75 has no 16-byte cp.async");
  CHECK(why_not("gfx942", Operation::cp_async, 4) == "gfx942 has no 4-byte cp.async");
  CHECK(why_not("intel_xe", Operation::cp_async, 16) == "intel_xe has no 16-byte cp.async");
  CHECK(why_not("sm_90", Operation::cp_async, 2) == "sm_90 has no 2-byte cp.async, only of 4, 8, 16");
}

TEST_CASE("banks/refusals/unpublished") {
  for (const char* name : {"gfx950", "gfx1250"}) {
    for (const unsigned width : {8U, 12U, 16U}) {
      CHECK_THAT(why_not(name, Operation::ds_read_tr, width), has("transposing load"));
    }
  }
  CHECK(why_not("gfx942", Operation::ds_read_tr, 8) == "gfx942 has no 8-byte ds_read_tr");
  for (const unsigned width : {8U, 12U, 16U}) {
    CHECK_THAT(why_not("gfx1250", Operation::store, width), has("wide store"));
  }
  const auto addresses = ascending(16);
  CHECK(has_cost("gfx1250", {Operation::store, 4, 0xffffffff, addresses}));
  CHECK(has_cost("gfx1250", {Operation::load, 16, 0xffffffff, addresses}));
}

TEST_CASE("banks/refusals/inactive_matrix_row") {
  const auto addresses = ascending(16);
  check_refused("sm_90", {Operation::ldmatrix_x1, 16, 0xffffffdf, addresses}, Reason::inactive_row, 5);
  check_refused("sm_90", {Operation::ldmatrix_x2, 16, 0xff, addresses}, Reason::inactive_row, 8);
  check_refused("sm_90", {Operation::stmatrix_x4, 16, 0x7fffffff, addresses}, Reason::inactive_row, 31);
  // The addresses of the other lanes are not read.
  auto wild = addresses;
  wild[8] = 3;
  CHECK(has_cost("sm_90", {Operation::ldmatrix_x1, 16, ~std::uint32_t{0}, wild}));
}

TEST_CASE("banks/refusals/unsupported") {
  unsigned refused = 0;
  for (const auto& architecture : banks::architectures()) {
    for (int i = 0; i < banks::operation_count; ++i) {
      for (unsigned width = 0; width <= 20; ++width) {
        const auto addresses = ascending(width);
        const banks::Access access{Operation(i), width, banks::first_lanes(architecture.warp), addresses, addresses};
        const auto outcome = banks::cost(architecture, access);
        const auto* refusal = std::get_if<banks::Refusal>(&outcome);
        INFO(architecture.name << ", " << to_string(access.operation) << ", " << width << " bytes");
        CHECK(
            (width == 1 || width == 2 || width == 4 || width == 8 || width == 12 || width == 16 || refusal != nullptr));
        if (refusal == nullptr) continue;
        ++refused;
        CHECK((refusal->reason == Reason::no_such_instruction || refusal->reason == Reason::unknown_rule));
        CHECK(one_line(sentence(architecture, access, *refusal)));
      }
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("banks/refusals/names") {
  const std::pair<const char*, std::vector<const char*>> names[] = {
      {"sm_30", {"k80"}},
      {"sm_70", {"v100"}},
      {"sm_75", {"t4"}},
      {"sm_80", {"sm_80a", "a100", "RTX 3090"}},
      {"sm_89", {"rtx4090", "RTX-4090", "L40S"}},
      {"sm_90", {"sm_90", "sm_90a", "h100", "H200", "sm90"}},
      {"sm_100", {"SM_100F", "b200"}},
      {"gfx90a", {"MI250X"}},
      {"gfx942", {"GFX942", "mi300x"}},
      {"gfx950", {"mi355x"}},
      {"gfx1100", {"rx7900"}},
      {"gfx1250", {"MI450"}},
      {"intel_xe", {"pvc", "arc"}},
      {"", {"sm_90b", "sm_90aa", "sm_", "sm_a", "gfx942a", "90a", "", "Hopper: H100", "h"}},
  };
  for (const auto& [expected, all_of_it] : names) {
    for (const char* name : all_of_it) {
      INFO(name);
      const Architecture* architecture = find_architecture(name);
      CHECK((architecture == nullptr ? "" : architecture->name) == std::string_view(expected));
    }
  }
}

TEST_CASE("banks/refusals/names_lead_to_one_row") {
  std::set<std::string> seen;
  for (const Architecture& architecture : architectures()) {
    for (const std::string& name : names_of(architecture)) {
      INFO(name << " of " << architecture.name);
      CHECK(find_architecture(name) == &architecture);
      CHECK(seen.insert(name).second);
      CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos);
    }
  }
}

// well_formed() tells tables that cost() can handle from those that it cannot.

namespace {

/// sm_90 with one rule, 4-byte loads, changed.
template <class Change>
bool accepted(Change change) {
  Architecture architecture = *find_architecture("sm_90");
  std::vector<Rule> rules{architecture.rules.front()};
  change(rules.front());
  architecture.rules = rules;
  return well_formed(architecture);
}

}  // namespace

TEST_CASE("banks/well_formed/table_and_malformed") {
  for (const Architecture& architecture : architectures()) CHECK((well_formed(architecture) && complete(architecture)));
  CHECK(accepted([](Rule&) {}));
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks.count = 24; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks.bytes = 0; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks = {128, 4, 512}; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.banks.row_bytes = 64; }));  // less than one unit of every bank
  CHECK_FALSE(accepted([](Rule& rule) { rule.rounds = 0; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.serving = Serving::one_broadcast; }));  // 32 lanes
  CHECK_FALSE(accepted([](Rule& rule) { rule.request_bytes = 3; }));                 // does not divide 4
  // Each lane is in one group.
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.count = 9; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.count = 0; }));
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.lanes[0] &= ~std::uint64_t{1}; }));  // lane 0 in none
  CHECK_FALSE(accepted([](Rule& rule) { rule.lane_groups.lanes[1] |= 1; }));                  // and in two
  CHECK_FALSE(accepted([](Rule& rule) {
    rule.lane_groups = consecutive(64);
    rule.merges = true;  // nothing to merge with
  }));
}

TEST_CASE("banks/well_formed/incomplete_row") {
  const auto complete_after = [](auto change) {
    Architecture row = *find_architecture("sm_90");
    change(row);
    return complete(row);
  };
  const Rule unsourced{.operations = 1, .widths = 1 << 4};
  CHECK(complete_after([](Architecture&) {}));
  CHECK_FALSE(complete_after([](Architecture& row) { row.rules = {}; }));
  CHECK_FALSE(complete_after([&](Architecture& row) { row.rules = {&unsourced, 1}; }));
  CHECK_FALSE(complete_after([](Architecture& row) { row.multiprocessor = {}; }));
  CHECK_FALSE(complete_after([](Architecture& row) { row.multiprocessor.fact->shared /= 2; }));  // unlike its model's
  CHECK_FALSE(complete_after([](Architecture& row) { row.models = {}; }));
  CHECK(complete_after([](Architecture& row) { row.models = {std::nullopt, "a reason"}; }));
}

TEST_CASE("banks/well_formed/resident_blocks") {
  const Multiprocessor& h100 = *find_architecture("sm_90")->multiprocessor.fact;
  CHECK(resident_blocks(h100, 48 << 10, 256) == 4);  // 228 / (48 + 1)
  CHECK(resident_blocks(h100, 4096, 256) == 8);      // 2048 threads
  CHECK(resident_blocks(h100, 0, 32) == 32);         // blocks
  CHECK(resident_blocks(h100, 228 << 10, 32) == 0);
  const std::uint64_t most = bytes_with_same_occupancy(h100, 48 << 10, 256);
  CHECK(resident_blocks(h100, most, 256) == 4);
  CHECK(resident_blocks(h100, most + 1, 256) == 3);
  CHECK_FALSE(find_architecture("intel_xe")->multiprocessor.fact);
}

TEST_CASE("banks/names/gpus") {
  const auto name_of = [](const char* wanted) -> std::string {
    const GpuModel* gpu = find_gpu(wanted);
    return gpu == nullptr ? "" : std::string(gpu->name);
  };
  CHECK(name_of("h200") == "NVIDIA H200");
  CHECK(name_of("H100") == "NVIDIA H100 80GB HBM3");
  CHECK(name_of("NVIDIA H100 80GB HBM3") == "NVIDIA H100 80GB HBM3");
  CHECK(name_of("rtx-4090") == "NVIDIA GeForce RTX 4090");
  CHECK(name_of("v100") == "Tesla V100-SXM2-16GB");
  CHECK(name_of("sm_86") == "NVIDIA GeForce RTX 3090");
  CHECK(name_of("sm_90a") == "NVIDIA H200");  // the first, which the emulator plays
  for (const char* none : {"a10", "l4", "sm_99", "mi300x", "", "nvidia h", "gfx942"}) CHECK(name_of(none).empty());
}
