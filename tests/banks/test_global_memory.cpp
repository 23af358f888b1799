// Global memory: sectors of an access, and what it looks like in words.
#include <bankwise/banks/address_shape.hpp>
#include <bankwise/banks/sectors.hpp>
#include "slow_banks.hpp"
#include "tests/banks/random_accesses.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::first_lanes, banks::shape_in_words;

namespace {

std::vector<std::uint32_t> addresses_of(const banks::ByteOf& byte_of) {
  std::vector<std::uint32_t> addresses(32);
  for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = byte_of(lane);
  return addresses;
}

/// Of a warp of 32 lanes.
std::string shape(unsigned width, const banks::ByteOf& byte_of, std::uint64_t mask = first_lanes(32)) {
  return shape_in_words(width, mask, addresses_of(byte_of));
}

/// Bytes without a pattern, below `range`.
std::uint32_t scattered(unsigned lane, unsigned range) { return (lane * 2654435761U >> 8) % (range / 4) * 4; }

/// Random accesses, half of them moved to an alignment that their width does not have, some with lanes moved apart.
banks::RandomAccess next_global(banks::RandomAccesses& random, unsigned lanes) {
  banks::RandomAccess access = random.next(lanes);
  const unsigned kind = random.below(4), offset = random.below(256);
  for (std::uint32_t& address : access.addresses) address += kind < 2 ? 0 : kind == 2 ? offset : random.below(64);
  return access;
}

slow::SlowSectors sectors_by_model(const banks::Architecture& architecture, const banks::Access& access) {
  const auto cost = banks::sectors(architecture, access);
  if (!cost) return {.refused = true};
  return {cost->sectors, cost->ideal, cost->lines, cost->bytes};
}

/// Random accesses for which a change of the architecture or of the access changes the cost.
unsigned noticed(std::string_view name, const std::function<void(banks::Architecture&, banks::Access&)>& change) {
  const banks::Architecture& whole = *banks::find_architecture(name);
  banks::RandomAccesses random(7);
  unsigned different = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    const banks::RandomAccess access = next_global(random, whole.lanes);
    banks::Architecture changed = whole;
    banks::Access seen = access.access();
    change(changed, seen);
    different +=
        sectors_by_model(changed, seen) != slow::sectors(name, access.width, access.mask, access.addresses) ? 1 : 0;
  }
  return different;
}

}  // namespace

TEST_CASE("banks/sectors/second_model_agrees") {
  unsigned known = 0;
  for (const banks::Architecture& architecture : banks::architectures()) {
    INFO(architecture.name);
    banks::RandomAccesses random(3);
    const unsigned count = architecture.name == "sm_90" ? 100000 : 1000;
    unsigned wrong = 0;
    std::string first;
    for (unsigned i = 0; i < count; ++i) {
      const banks::RandomAccess access = next_global(random, architecture.lanes);
      const auto rules = slow::sectors(architecture.name, access.width, access.mask, access.addresses);
      if (sectors_by_model(architecture, access.access()) != rules && ++wrong == 1) first = to_text(access);
    }
    INFO(first);
    CHECK(wrong == 0);
    known += architecture.sectors.fact ? 1 : 0;
  }
  CHECK(known == 20);
}

TEST_CASE("banks/sectors/detects_broken_rule") {
  using banks::Access, banks::Architecture;
  CHECK(noticed("sm_90", [](Architecture&, Access&) {}) == 0);
  const auto sized = [](unsigned sector, unsigned line) {
    return [=](Architecture& changed, Access&) { changed.sectors.fact = {sector, line, {}, "changed"}; };
  };
  CHECK(noticed("sm_90", sized(64, 128)) > 200);
  CHECK(noticed("sm_90", sized(16, 128)) > 200);
  CHECK(noticed("sm_90", sized(32, 64)) > 200);
  CHECK(noticed("gfx90a", sized(128, 128)) > 200);
  CHECK(noticed("sm_90", [](Architecture&, Access& access) { access.width = 1; }) > 200);
  CHECK(noticed("sm_90", [](Architecture&, Access& access) { access.mask = access.mask == 0 ? 0 : ~0U; }) > 200);
  CHECK(noticed("sm_90", [](Architecture&, Access& access) { access.mask &= ~0U << 1; }) > 200);
  // 12 bytes whole, as on AMD's GPUs.
  CHECK(noticed("sm_90", [](Architecture& changed, Access&) {
          changed.rules = banks::find_architecture("gfx942")->rules;
        }) > 60);
}

TEST_CASE("banks/sectors/worked_numbers") {
  const auto cost = [](std::string_view name, unsigned width, const banks::ByteOf& byte_of) {
    return sectors_by_model(*banks::find_architecture(name),
                            {banks::Operation::load, width, first_lanes(32), addresses_of(byte_of)});
  };
  // A column of a matrix of 1,024 floats a row: 32 sectors, of which an eighth is used.
  CHECK(cost("sm_90", 4, [](unsigned lane) { return 4096 * lane; }) == slow::SlowSectors{32, 4, 32, 128});
  CHECK(cost("sm_90", 4, [](unsigned lane) { return 4 * lane; }) == slow::SlowSectors{4, 4, 1, 128});
  CHECK(cost("sm_90", 4, [](unsigned lane) { return 4 + 4 * lane; }) == slow::SlowSectors{5, 4, 2, 128});
  CHECK(cost("sm_90", 4, [](unsigned) { return 4; }) == slow::SlowSectors{1, 1, 1, 4});
  CHECK(cost("sm_90", 12, [](unsigned lane) { return 12 * lane; }) == slow::SlowSectors{36, 12, 9, 384});
  CHECK(cost("gfx942", 12, [](unsigned lane) { return 12 * lane; }) == slow::SlowSectors{3, 3, 3, 384});
  CHECK(cost("intel_xe", 4, [](unsigned lane) { return 12 * lane; }) == slow::SlowSectors{6, 2, 6, 128});
  CHECK(cost("sm_20", 4, [](unsigned lane) { return 4 * lane; }).refused);
}

TEST_CASE("banks/shape/consecutive") {
  CHECK(shape(4, [](unsigned lane) { return 4 * lane; }) == "consecutive");
  CHECK(shape(4, [](unsigned lane) { return 128 + 4 * lane; }) == "consecutive");
  CHECK(shape(1, [](unsigned lane) { return 31 - lane; }) == "consecutive, in reverse order");
  CHECK(shape(8, [](unsigned lane) { return 8 * (lane ^ 5); }) == "consecutive, permuted");
  CHECK(shape(12, [](unsigned lane) { return 12 * lane; }) == "consecutive");
  CHECK(shape(4, [](unsigned lane) { return lane / 2 * 4; }) == "consecutive, 2 lanes per address");
  CHECK(shape(
            4, [](unsigned lane) { return 4 * lane; }, 0x55555555) == "consecutive, with inactive lanes between");
  // Active lanes that pack what they write.
  CHECK(shape(
            4, [](unsigned lane) { return lane / 2 * 4; }, 0x55555555) == "consecutive");
  // Near misses: one lane elsewhere, and two lanes exchanged with a hole.
  CHECK(shape(4, [](unsigned lane) { return lane == 9 ? 4096 : 4 * lane; }) == "mostly consecutive");
  CHECK(shape(4, [](unsigned lane) { return 4 * std::min(lane, 30U); }) == "mostly consecutive");
}

TEST_CASE("banks/shape/misaligned") {
  const auto from = [](unsigned first) { return [=](unsigned lane) { return first + 4 * lane; }; };
  CHECK(shape(4, from(4)) == "consecutive, misaligned by 4 bytes: one sector more");
  CHECK(shape(4, from(124)) == "consecutive, misaligned by 28 bytes: one sector more");
  CHECK(shape(4, from(32)) == "consecutive");  // at a sector, not at a cache line
  CHECK(shape(1, [](unsigned lane) { return 1 + lane; }) == "consecutive, misaligned by 1 byte: one sector more");
  CHECK(shape(4, [](unsigned lane) { return 4 + 4 * (31 - lane); }) ==
        "consecutive, in reverse order, misaligned by 4 bytes: one sector more");
  // 7 lanes fit into the sector anyway.
  CHECK(shape(4, from(4), first_lanes(7)) == "consecutive");
  CHECK(shape(4, from(4), first_lanes(8)) == "consecutive, misaligned by 4 bytes: one sector more");
  CHECK(shape(4, [](unsigned lane) { return 16 + lane / 8 * 512 + lane % 8 * 4; }) ==
        "rows of 8 lanes 512 bytes apart, misaligned by 16 bytes: 4 sectors more");
  const auto words = addresses_of(from(32));
  CHECK(shape_in_words(4, first_lanes(32), words, 64) == "consecutive, misaligned by 32 bytes: one sector more");
}

TEST_CASE("banks/shape/strides") {
  const auto by = [](unsigned bytes) { return [=](unsigned lane) { return bytes * lane; }; };
  CHECK(shape(4, by(4096)) == "lanes 4,096 bytes apart (a column)");
  CHECK(shape(4, by(128)) == "lanes 128 bytes apart (a column)");
  CHECK(shape(8, by(4194304)) == "lanes 4,194,304 bytes apart (a column)");
  CHECK(shape(4, by(12)) == "stride of 3 words (array of structures)");
  CHECK(shape(4, by(124)) == "stride of 31 words (array of structures)");
  CHECK(shape(16, by(64)) == "16 of every 64 bytes (array of structures)");
  CHECK(shape(1, by(4)) == "1 of every 4 bytes (array of structures)");
  CHECK(shape(4, [](unsigned lane) { return 12 * (31 - lane); }) ==
        "stride of 3 words (array of structures), in reverse order");
  CHECK(shape(4, [](unsigned lane) { return 4096 * (31 - lane); }) ==
        "lanes 4,096 bytes apart (a column), in reverse order");
  CHECK(shape(16, by(4)) == "overlapping lanes 4 bytes apart");
  CHECK(shape(4, by(4096), 0xf0f0) == "lanes 4,096 bytes apart (a column)");
  CHECK(shape(4, by(4096), 0x9) == "two lanes 12,288 bytes apart");
  // A near miss: one lane is not in its row.
  CHECK(shape(4, [](unsigned lane) { return 4096 * lane + (lane == 30 ? 4 : 0); }) == "ascending, with irregular gaps");
}

TEST_CASE("banks/shape/few_addresses") {
  CHECK(shape(4, [](unsigned) { return 4000U; }) == "broadcast");
  CHECK(shape(
            4, [](unsigned lane) { return lane; }, 1U << 7) == "one lane");
  CHECK(shape(4, [](unsigned lane) { return lane / 16 * 512; }) == "two addresses 512 bytes apart");
  CHECK(shape(4, [](unsigned lane) { return lane == 5 ? 512U : 0U; }) == "two addresses 512 bytes apart");
  CHECK(shape(4, [](unsigned lane) { return lane % 2 * 512; }) == "two addresses 512 bytes apart");
  CHECK(shape(4, [](unsigned lane) { return lane / 8 * 512; }) == "8 lanes per address, addresses 512 bytes apart");
  CHECK(shape(4, [](unsigned lane) { return scattered(lane % 8, 1 << 20); }) == "8 addresses");
  CHECK(shape(4, [](unsigned lane) { return scattered(lane * lane % 7, 1 << 20); }) == "4 addresses");
  CHECK(shape(
            4, [](unsigned) { return 0U; }, 0)
            .empty());
}

TEST_CASE("banks/shape/rows") {
  const auto rows_of = [](unsigned lanes, unsigned pitch, unsigned before) {
    return [=](unsigned lane) { return (lane + before) / lanes * pitch + (lane + before) % lanes * 4; };
  };
  CHECK(shape(4, rows_of(16, 512, 0)) == "rows of 16 lanes 512 bytes apart");
  CHECK(shape(4, rows_of(8, 4096, 0)) == "rows of 8 lanes 4,096 bytes apart");
  CHECK(shape(4, rows_of(10, 400, 0)) == "rows of 10 lanes 400 bytes apart");
  CHECK(shape(4, rows_of(10, 400, 2)) == "rows of 10 lanes 400 bytes apart, misaligned by 8 bytes: one sector more");
  CHECK(shape(4, [](unsigned lane) { return lane % 8 * 4096 + lane / 8 * 4; }) ==
        "columns side by side: 8 lanes 4,096 bytes apart");
  CHECK(shape(4, [](unsigned lane) { return lane % 8 * 4; }) == "every 8 lanes the same consecutive addresses");
  CHECK(shape(4, [](unsigned lane) { return lane % 8 * 4096; }) ==
        "every 8 lanes the same addresses, 4,096 bytes apart");
  CHECK(shape(4, [](unsigned lane) { return lane % 8 * 64 + lane / 8 * 4096; }) ==
        "rows of 8 lanes 4,096 bytes apart, with lanes 64 bytes apart");
  // Rows anywhere, as those of a table that an index selects.
  CHECK(shape(4, [](unsigned lane) { return scattered(lane / 8, 1 << 20) / 128 * 128 + lane % 8 * 4; }) ==
        "runs of 8 consecutive lanes");
  CHECK(shape(4, rows_of(20, 512, 0)) == "two runs of consecutive lanes");
  // A near miss: a lane of the second row is one word off.
  CHECK(shape(4, [](unsigned lane) { return lane / 16 * 512 + lane % 16 * 4 + (lane == 20 ? 256 : 0); }) ==
        "mostly consecutive");
}

TEST_CASE("banks/shape/irregular") {
  CHECK(shape(4, [](unsigned lane) { return scattered(lane, 1 << 24); }) == "random");
  CHECK(shape(4, [](unsigned lane) { return scattered(lane, 1024); }).starts_with("random within "));
  CHECK(shape(4, [](unsigned lane) { return lane * lane * 4; }) == "ascending, with irregular gaps");
  const std::vector<std::uint32_t> too_few(7);
  CHECK(shape_in_words(4, first_lanes(8), too_few).empty());
}
