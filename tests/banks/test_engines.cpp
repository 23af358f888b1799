// Engines and the shared memory of other blocks: the model equals what an H200 counted and timed, and near misses of
// the rules do not.
#include <cmath>
#include <functional>
#include <set>

#include <bankwise/banks/engines.hpp>
#include <bankwise/banks/remote.hpp>
#include "tests/banks/measured_fields.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::Engine;

namespace {

const banks::Architecture& sm_90() { return *banks::find_architecture("sm_90"); }

/// sm_90 with rules of engines that are changed.
std::uint64_t wrong_with(const std::function<void(banks::EngineRule&)>& change,
                         const std::function<std::uint64_t(const banks::Architecture&)>& wrong) {
  std::vector<banks::EngineRule> rules(sm_90().engines.begin(), sm_90().engines.end());
  for (banks::EngineRule& rule : rules) change(rule);
  banks::Architecture changed = sm_90();
  changed.engines = rules;
  return wrong(changed);
}

/// The bytes of shared memory that a wgmma reads, from its shape.
std::uint64_t operand_bytes(const Fields& row) {
  static const std::map<std::string, std::uint64_t> bits{{"tf32", 32}, {"f16", 16}, {"bf16", 16}, {"b1", 1}};
  const auto type = bits.find(row.text("a"));
  const std::uint64_t of_element = type == bits.end() ? 8 : type->second, depth = row.number("k") * of_element / 8;
  const std::uint64_t a = row.number("m") * depth / (row.number("sparse") == 1 ? 2 : 1);
  return (row.text("a_in") == "shared" ? a : 0) + row.number("n") * depth;
}

std::uint64_t wgmma_passes(const banks::Architecture& architecture, const Fields& row) {
  return banks::cost(architecture, {Engine::wgmma, operand_bytes(row)}).value().passes;
}

/// Rows whose counters the model does not equal, and how many have counters.
std::uint64_t wrong_wgmmas(const banks::Architecture& architecture, std::uint64_t& counted) {
  std::uint64_t wrong = counted = 0;
  for (const Fields& row : rows_in("h200_wgmma.csv")) {
    if (row.text("passes").empty()) continue;
    ++counted;
    const bool is_equal = row.number("passes") == row.number("instructions") * wgmma_passes(architecture, row) &&
                          row.number("conflicts") == 0;
    wrong += is_equal ? 0 : 1;
  }
  return wrong;
}

/// The engine of a row of h200_bulk.csv. Nothing for what has no rule: a reduction in the shared memory of another
/// block, an interleaved box, and a multicast of rows of 16 bytes, which takes 1.27 cycles per row and not one.
std::optional<Engine> engine_of(const Fields& row) {
  const std::string& direction = row.text("direction");
  const bool is_tensor = row.text("space") != "bytes", reduces = !row.text("operation").empty();
  if (direction == "multicast" && row.text("row_bytes") == "16") return std::nullopt;
  if (!row.text("interleave").empty()) return std::nullopt;
  if (direction == "copy") return reduces ? std::nullopt : std::optional(Engine::bulk_copy);
  if (direction != "store") return is_tensor ? Engine::tensor_load : Engine::bulk_load;
  if (reduces) return is_tensor ? Engine::tensor_reduce : Engine::bulk_reduce;
  return is_tensor ? Engine::tensor_store : Engine::bulk_store;
}

double measured_cycles(const Fields& row) {
  const auto more = double(row.number("clocks_of_three")) - double(row.number("clocks"));
  return more / (2 * double(row.number("instructions")));
}

double modelled_cycles(const banks::Architecture& architecture, Engine engine, const Fields& row) {
  const auto row_bytes = std::uint32_t(row.number("row_bytes"));
  const banks::RowPlacement placement{
      .global_offset = std::uint32_t(row.number("global_offset")),
      .shared_offset = std::uint32_t(row.number("shared_offset")),
      .shared_pitch = row.text("swizzle") == "none" ? row_bytes : 0,
  };
  return banks::cost(architecture, {engine, row.number("bytes"), row_bytes}, placement).value().cycles;
}

/// Copies whose time the model misses by more than this share and a cycle.
std::uint64_t wrong_copies(const banks::Architecture& architecture, const std::function<bool(Engine)>& is_asked,
                           double share, std::uint64_t* count = nullptr) {
  std::uint64_t wrong = 0;
  for (const Fields& row : rows_in("h200_bulk.csv")) {
    const auto engine = engine_of(row);
    if (!engine || !is_asked(*engine)) continue;
    if (count != nullptr) ++*count;
    const double measured = measured_cycles(row);
    wrong += std::abs(measured - modelled_cycles(architecture, *engine, row)) > share * measured + 1 ? 1 : 0;
  }
  return wrong;
}

bool is_global(Engine engine) { return engine != Engine::bulk_copy; }

// The shared memory of another block.

bool is_plain(const Fields& row) { return row.text("operation") == "load" || row.text("operation") == "store"; }

/// Accesses to a block's own shared memory are those of other instructions, except for asynchronous ones.
bool is_remote(const Fields& row) {
  return row.number("target") != 0 || row.text("operation").find("async") != std::string::npos;
}

unsigned remote_sectors(const Fields& row) {
  const auto addresses = row.lanes("a");
  const auto operation = is_plain(row) ? banks::Operation::load : banks::Operation::atomic;
  const banks::Access access{operation, unsigned(row.number("width")), row.number("mask"), addresses};
  return banks::remote_sectors(sm_90(), access).value().sectors;
}

/// Wavefronts of the tag stage: each looks up a cache line in each of four banks of tags.
unsigned tag_wavefronts(const Fields& row, unsigned masks[2]) {
  constexpr unsigned line_of_first_byte = 8;  // the system takes the first 1,024 bytes of a block's shared memory
  std::set<unsigned> lines;
  const auto addresses = row.lanes("a");
  banks::for_each_lane(row.number("mask"), [&](unsigned lane) { lines.insert(addresses[lane] / 128); });
  std::array<unsigned, 4> of_bank{};
  for (const unsigned offset : lines) {
    const unsigned line = offset + line_of_first_byte;
    ++of_bank[(std::popcount(line & masks[0]) & 1) * 2 + (std::popcount(line & masks[1]) & 1)];
  }
  return *std::max_element(of_bank.begin(), of_bank.end());
}

}  // namespace

TEST_CASE("banks/engines/names") {
  for (int i = 0; i < banks::engine_count; ++i) {
    const auto engine = Engine(i);
    CHECK(banks::engine_named(to_string(engine)) == engine);
  }
  CHECK_FALSE(banks::engine_named("wgmma "));
  CHECK_FALSE(banks::engine_named(""));
}

TEST_CASE("banks/engines/only_measured_gpus") {
  for (const banks::Architecture& architecture : banks::architectures()) {
    for (int i = 0; i < banks::engine_count; ++i) {
      INFO(architecture.name << ", " << to_string(Engine(i)));
      const bool is_measured = architecture.name == "sm_90" && Engine(i) != Engine::bulk_fill;
      CHECK(banks::cost(architecture, {Engine(i), 4096}).has_value() == is_measured);
    }
  }
}

TEST_CASE("banks/engines/any_size") {
  // Sizes as a trace of unknown origin may have them.
  constexpr std::uint64_t most = ~std::uint64_t{0};
  for (int i = 0; i < banks::engine_count; ++i) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{17}, most}) {
      for (const std::uint32_t row : {0U, 1U, 48U, ~0U}) {
        const auto cost = banks::cost(sm_90(), {Engine(i), bytes, row}, {~0U, ~0U, ~0U});
        CHECK((!cost || (cost->cycles >= 0 && std::isfinite(cost->cycles))));
      }
    }
  }
  CHECK(banks::cost(sm_90(), {Engine::wgmma, most})->passes == (most >> 7) + 1);
}

TEST_CASE("banks/engines/wgmma_counted") {
  std::uint64_t counted = 0;
  CHECK(wrong_wgmmas(sm_90(), counted) == 0);
  CHECK(counted == 1304);
  // The negative controls.
  const auto wrong_if = [&](unsigned pass_bytes) {
    return wrong_with([&](banks::EngineRule& rule) { rule.pass_bytes = pass_bytes; },
                      [&](const banks::Architecture& changed) { return wrong_wgmmas(changed, counted); });
  };
  CHECK(wrong_if(64) == counted);
  CHECK(wrong_if(256) > 300);
}

TEST_CASE("banks/engines/wgmma_clocks") {
  // With A in shared memory a wgmma takes as many clocks as it has passes, or as its arithmetic, whatever the layout:
  // so no row hides a conflict.
  std::uint64_t rows = 0, bound_by_passes = 0;
  for (const Fields& row : rows_in("h200_wgmma.csv")) {
    if (row.text("clocks").empty() || !row.text("beside").empty()) continue;
    ++rows;
    const std::uint64_t passes = wgmma_passes(sm_90(), row), arithmetic = row.number("n") / 2;
    const double clocks = double(row.number("clocks")) / 256;
    INFO(row.text("a") << " n" << row.number("n") << ' ' << row.text("a_in") << ' ' << row.text("swizzle"));
    const double expected = double(std::max(passes, arithmetic));
    CHECK(clocks >= expected);
    bound_by_passes += passes > arithmetic ? 1 : 0;
    if (row.text("a_in") == "shared") {
      CHECK(clocks <= expected + 0.6);
    } else {
      CHECK(clocks <= std::max(expected, 20.2) + 0.95);  // A from registers takes up to 21 clocks
    }
  }
  CHECK(rows >= 300);
  CHECK(bound_by_passes >= 100);
}

TEST_CASE("banks/engines/wgmma_beside_stores") {
  // The passes of stores without a pause and those of a wgmma add up.
  std::uint64_t rows = 0;
  for (const Fields& row : rows_in("h200_wgmma.csv")) {
    if (row.text("beside") != "store_conflicts") continue;
    ++rows;
    const std::uint64_t stores = 256 * 8 * 4 * 32, of_wgmma = 256 * wgmma_passes(sm_90(), row);
    const auto clocks = double(row.number("clocks_beside"));
    CHECK(std::abs(clocks - double(stores + of_wgmma)) < 0.02 * clocks);
    CHECK(std::abs(clocks - double(stores)) > 0.01 * clocks);
  }
  CHECK(rows == 8);
}

TEST_CASE("banks/engines/copies_timed") {
  std::uint64_t count = 0;
  // Narrow rows of floating-point numbers are faster than others: 16 bytes of f16, bf16 and f32 reduce in one cycle.
  const std::uint64_t wrong = wrong_copies(sm_90(), is_global, 0.06, &count);
  CHECK(wrong <= count / 100);
  CHECK(count >= 500);
  CHECK(wrong_copies(sm_90(), std::not_fn(is_global), 0.15) == 0);
}

TEST_CASE("banks/engines/copies_counted") {
  // The engine moves every word once, and the accesses of warps, which start and await the copies, take the same few
  // passes whether 16 bytes move or 256 KiB.
  std::uint64_t rows = 0, large = 0;
  for (const Fields& row : rows_in("h200_bulk.csv")) {
    if (row.text("lsu_passes").empty()) continue;
    ++rows;
    INFO(row.text("direction") << ' ' << row.text("space") << ' ' << row.text("box") << ' ' << row.number("bytes"));
    const bool is_multicast = row.text("direction") == "multicast", is_store = row.text("direction") == "store";
    const std::uint64_t bytes = row.number("bytes") * row.number("instructions") * (is_multicast ? 2 : 1);
    const std::uint64_t words = row.number(is_store ? "bank_reads" : "bank_writes");
    CHECK(words >= bytes / 4);
    CHECK(words <= bytes / 4 + 10);
    const bool is_cluster = is_multicast || row.text("direction") == "copy";
    CHECK(row.number("lsu_passes") <= (is_cluster ? 65 : 17));
    CHECK(row.number("lsu_conflicts") <= 1);
    large += bytes / 128 > 4 * row.number("lsu_passes") ? 1 : 0;
    if (const auto engine = engine_of(row)) CHECK(banks::cost(sm_90(), {*engine, row.number("bytes")})->passes == 0);
  }
  CHECK(rows >= 60);
  CHECK(large >= 40);
}

TEST_CASE("banks/engines/near_rules_disagree") {
  const auto wrong_if = [](const std::function<void(banks::EngineRule&)>& change) {
    return wrong_with(change, [](const banks::Architecture& a) { return wrong_copies(a, is_global, 0.06); });
  };
  using banks::Pieces;
  CHECK(wrong_if([](banks::EngineRule&) {}) < 7);
  CHECK(wrong_if([](banks::EngineRule& rule) { rule.pieces = Pieces::none; }) > 150);
  CHECK(wrong_if([](banks::EngineRule& rule) { rule.pieces = Pieces::requests; }) > 80);
  CHECK(wrong_if([](banks::EngineRule& rule) { rule.pieces = Pieces::sectors; }) > 100);
  CHECK(wrong_if([](banks::EngineRule& rule) { rule.pieces = Pieces::headed_sectors; }) > 100);
  CHECK(wrong_if([](banks::EngineRule& rule) { rule.instruction_cycles = 0; }) > 50);
  CHECK(wrong_if([](banks::EngineRule& rule) { rule.bytes_per_cycle = 1000; }) > 10);
}

TEST_CASE("banks/engines/rows") {
  const auto cycles = [](Engine engine, std::uint32_t row, std::uint32_t pitch = 0) {
    return banks::cost(sm_90(), {engine, std::uint64_t{256} * row, row}, {.shared_pitch = pitch})->cycles;
  };
  // A row of up to 64 bytes takes a clock, so one of 16 bytes uses an eighth of 128 bytes.
  for (const std::uint32_t row : {16, 32, 64}) CHECK(cycles(Engine::tensor_load, row) == 256);
  CHECK(cycles(Engine::tensor_load, 48) == 512);
  CHECK(cycles(Engine::tensor_load, 48, 48) == 544);  // some rows cross a cache line of shared memory
  CHECK(cycles(Engine::tensor_load, 112, 112) == 800);
  CHECK(cycles(Engine::tensor_store, 16) == 512);
  CHECK(cycles(Engine::tensor_store, 32) == 256);
  CHECK(cycles(Engine::tensor_store, 80, 80) == 1152);
  CHECK(cycles(Engine::tensor_reduce, 128) == 1280);
}

TEST_CASE("banks/remote/loads_and_stores") {
  std::uint64_t rows = 0, own = 0, wrong_tags = 0, near_tags = 0;
  unsigned masks[]{0x76f, 0x2b5}, near_masks[]{0x6f, 0xb5};
  for (const Fields& row : rows_in("h200_dsmem.csv")) {
    if (!is_plain(row)) continue;
    INFO(row.text("operation") << ' ' << row.number("width") << ", " << row.text("pattern"));
    if (!is_remote(row)) {
      ++own;
      CHECK(row.number("sectors") == 0);
      continue;
    }
    ++rows;
    CHECK(remote_sectors(row) == row.number("sectors"));
    wrong_tags += tag_wavefronts(row, masks) == row.number("output_wavefronts") ? 0 : 1;
    near_tags += tag_wavefronts(row, near_masks) == row.number("output_wavefronts") ? 0 : 1;
  }
  CHECK(rows == 242);
  CHECK(own == 10);
  CHECK(wrong_tags == 0);
  CHECK(near_tags > rows / 10);
}

TEST_CASE("banks/remote/atomics") {
  // Lanes that share a word move its sector one after another. Sums of f32 are loops, whose instructions count.
  std::uint64_t rows = 0, wrong = 0, wrong_without_turns = 0;
  for (const Fields& row : rows_in("h200_dsmem.csv")) {
    if (is_plain(row) || !is_remote(row) || row.text("operation") == "atom.add.f32") continue;
    ++rows;
    const auto addresses = row.lanes("a");
    const banks::Access access{banks::Operation::load, unsigned(row.number("width")), row.number("mask"), addresses};
    wrong += remote_sectors(row) == row.number("sectors") ? 0 : 1;
    wrong_without_turns += banks::remote_sectors(sm_90(), access)->sectors == row.number("sectors") ? 0 : 1;
  }
  CHECK(rows == 91);
  CHECK(wrong <= rows / 50);
  CHECK(wrong_without_turns > rows / 6);
}

TEST_CASE("banks/remote/turns") {
  const auto sectors = [](banks::Operation operation, const std::vector<std::uint32_t>& addresses, std::uint64_t mask) {
    return banks::remote_sectors(sm_90(), {operation, 4, mask, addresses})->sectors;
  };
  using banks::Operation;
  CHECK(sectors(Operation::atomic, {0, 0, 0, 4}, 0xF) == 3);
  CHECK(sectors(Operation::atomic, {0, 4, 0, 4}, 0xF) == 2);
  CHECK(sectors(Operation::atomic, {0, 32, 0, 36}, 0xF) == 3);
  CHECK(sectors(Operation::atomic, {64, 0, 0, 64}, 0xB) == 3);
  CHECK(sectors(Operation::atomic_cas, {8, 8}, 3) == 2);
  CHECK(sectors(Operation::atomic_inc, {8, 8}, 3) == 2);
  CHECK(sectors(Operation::store, {8, 8}, 3) == 1);
  CHECK(sectors(Operation::atomic, {8, 8}, 0) == 0);
  CHECK_FALSE(banks::remote_sectors(*banks::find_architecture("sm_90"), {Operation::atomic, 4, 1, {}}));
}
