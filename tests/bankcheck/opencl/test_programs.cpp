// Plain OpenCL programs under `bankcheck opencl`, compared with numbers that the comments derive by hand, or that slow
// code in this file derives from the kernels. All of the programs verify their own results.
#include <map>
#include <set>

#include "checked_program.hpp"

namespace {

using Json = nlohmann::json;

constexpr std::size_t sm_90 = 0, gfx942 = 1;

Checked checked(const std::string& command) {
  auto result = check(command, "--arch sm_90,gfx942 --sources '" PROGRAM_SOURCES "'");
  INFO(result.outcome.err);
  REQUIRE(result.outcome.code == 0);
  return result;
}

/// Counts accesses of warps to words by the literal rule: 32 banks serve 32 lanes, then the next 32, and each bank
/// delivers one of its words per pass. Atomics that queue take one pass per lane instead.
struct SlowCount {
  bool queues = false;
  Numbers sum = Numbers(5, 0);

  void add(const std::map<unsigned, unsigned>& words) {
    if (words.empty()) return;
    std::uint64_t passes = 0, ideal = 0;
    for (const unsigned half : {0U, 1U}) {
      std::map<unsigned, std::multiset<unsigned>> banks;
      for (const auto& [lane, word] : words) {
        if (lane / 32 == half) banks[word % 32].insert(word);
      }
      std::uint64_t busiest = 0;
      for (const auto& [bank, bank_words] : banks) {
        const std::size_t different = std::set<unsigned>(bank_words.begin(), bank_words.end()).size();
        busiest = std::max<std::uint64_t>(busiest, queues ? bank_words.size() : different);
      }
      passes += busiest;
      ideal += busiest > 0 ? 1 : 0;
    }
    const Numbers access_numbers{1, words.size(), passes, ideal, passes - ideal};
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += access_numbers[i];
  }
};

/// Line and column, from 1, of the only place in a program's file that contains this text.
std::pair<unsigned, unsigned> place_of(const std::string& name, const std::string& part) {
  std::pair<unsigned, unsigned> place{0, 0};
  unsigned number = 0;
  for (const std::string& line : lines_in(text_of(PROGRAM_SOURCES "/" + name))) {
    ++number;
    const auto at = line.find(part);
    if (at == std::string::npos) continue;
    REQUIRE(place.first == 0);
    place = {number, unsigned(at + 1)};
  }
  return place;
}

}  // namespace

TEST_CASE("opencl/programs/transpose") {
  const Checked c = checked(program("transpose"));
  // 4 tiles of 32 rows: 128 warps of 32, or 64 of 64. Lane x reads word 32 x + y: always bank y, 32 passes for 32
  // lanes.
  CHECK(numbers(c.on("columns"), "tile[x][y]", "load") == Numbers{128, 4096, 4096, 128, 3968});
  CHECK(numbers(c.on("columns", gfx942), "tile[x][y]", "load") == Numbers{64, 4096, 4096, 128, 3968});
  CHECK(numbers(c.on("columns"), "tile[y][x] =", "store") == Numbers{128, 4096, 128, 128, 0});
  // 33 x + y, and 32 x + (y ^ x): one bank per lane.
  CHECK(numbers(c.on("padded"), "wide[x][y]", "load") == Numbers{128, 4096, 128, 128, 0});
  CHECK(numbers(c.on("swizzled"), "tile[x][y ^ x]", "load") == Numbers{128, 4096, 128, 128, 0});
  CHECK(numbers(c.on("swizzled", gfx942), "tile[y][x ^ y]", "store") == Numbers{64, 4096, 128, 128, 0});
  CHECK(numbers(c.on("columns")) == Numbers{256, 8192, 4224, 256, 3968});

  const Json worst = rows(c.on("columns"), "tile[x][y]", "load").at(0).at("worst");
  check_members(worst, R"({"conflicts": 31, "group": 0, "level": 1, "warp": 0, "mask": 4294967295})");
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(worst.at("addresses").at(lane) == 128 * lane);
  const auto place = place_of("transpose.c", "wide[x][y]");
  const Json line = rows(c.on("padded"), "wide[x][y]", "load").at(0);
  CHECK(line.at("worst").is_null());
  CHECK(line.at("file").get<std::string>().ends_with("/transpose.c"));
  check_members(line, R"({"is_file": true, "array": "wide"})");
  CHECK(line.at("line") == place.first);
  CHECK(line.at("column") == place.second);

  const ScratchDirectory empty;
  const Checked elsewhere = check(program("transpose"), "--sources " + empty.path().string());
  REQUIRE(elsewhere.outcome.code == 0);
  const Json unfound = rows(elsewhere.on("padded"), "wide[x][y]", "load").at(0);
  // The 6th line of the second kernel, after 7 of the first, and behind "  out[(left + y) * 64 + top + x] = ".
  check_members(unfound, R"({"is_file": false, "line": 13, "column": 36})");
}

TEST_CASE("opencl/programs/reduction") {
  const Checked c = checked(program("reduction"));
  // In each of the 16 groups 128, 64, ... 1 lanes add, in 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1 = 12 warps of 32. Strides of 2,
  // 4, 8, ... words: 4 warps x 2 passes, 2 x 4, 1 x 8, then 16 lanes on 2 banks, and 8, 4, 2, 1 lanes on one bank:
  // 8 + 8 + 8 + 8 + 8 + 4 + 2 + 1 = 47. Two loads and a store.
  CHECK(numbers(c.on("strided"), "sums[i] +=", "store") == Numbers{192, 255 * 16, 752, 192, 560});
  CHECK(numbers(c.on("strided"), "sums[i] +=", "load") == Numbers{384, 2 * 255 * 16, 1504, 384, 1120});
  CHECK(numbers(c.on("sequential"), "sums[t] +=", "load") == Numbers{384, 2 * 255 * 16, 384, 384, 0});
  // With 64 lanes: 2 + 1 + 1 + ... = 9 waves, of which the first 3 are two half-waves.
  CHECK(numbers(c.on("strided", gfx942), "sums[i] +=", "store") == Numbers{144, 255 * 16, 752, 192, 560});

  const Json levels = c.on("strided").at("levels");
  REQUIRE(levels.size() == 9);
  const Numbers lanes{256, 128, 64, 32, 16, 8, 4, 2, 1}, warps{8, 4, 2, 1, 1, 1, 1, 1, 1};
  const Numbers passes{8, 3 * 8, 3 * 8, 3 * 8, 3 * 8, 3 * 8, 3 * 4, 3 * 2, 3 * 1 + 1};  // the last includes sums[0]
  for (std::size_t i = 0; i < levels.size(); ++i) {
    INFO("level " << i);
    CHECK(levels.at(i).at("active_lanes") == 16 * lanes[i]);
    CHECK(levels.at(i).at("issued_warps") == 16 * warps[i]);
    CHECK(levels.at(i).at("passes") == 16 * passes[i]);
    CHECK(levels.at(i).at("alu_utilization") == Approx(double(lanes[i]) / (32.0 * double(warps[i]))));
  }
  // 8 passes instead of 1 first occur at a stride of 8 words, after the third barrier.
  const Json worst = rows(c.on("strided"), "sums[i] +=", "store").at(0).at("worst");
  check_members(worst, R"({"conflicts": 7, "level": 3})");
  CHECK(worst.at("addresses").at(31) == 31 * 8 * 4);
}

TEST_CASE("opencl/programs/widths") {
  const Checked c = checked(program("types"));
  const auto load = [&](const std::string& kernel, const std::string& part, unsigned width, std::size_t architecture) {
    for (const Json& row : rows(c.on(kernel, architecture), part, "load")) CHECK(row.at("width") == width);
    return numbers(c.on(kernel, architecture), part, "load");
  };
  // 64 lanes are 2 warps. Four scalar loads of records of 4 words: lanes 8 apart share a bank, 4 passes each.
  CHECK(load("records", "r[from].x + ", 4, sm_90) == Numbers{8, 256, 32, 8, 24});
  CHECK(load("records", "r[from].x + ", 4, gfx942) == Numbers{4, 256, 32, 8, 24});
  CHECK(load("planes", "p[0][from] + ", 4, sm_90) == Numbers{8, 256, 8, 8, 0});
  // Two words each: 16 lanes fill a row of banks. Four words: 8 lanes fill it.
  CHECK(load("doubles", "d[from]", 8, sm_90) == Numbers{2, 64, 4, 4, 0});
  CHECK(load("doubles", "d[from]", 8, gfx942) == Numbers{1, 64, 4, 4, 0});
  CHECK(load("quads", "q[from]", 16, sm_90) == Numbers{2, 64, 8, 8, 0});
  CHECK(load("triples", "three[from]", 16, sm_90) == Numbers{2, 64, 8, 8, 0});  // occupies as much as a float4
  // vload4 may only rely on the alignment of a float: four loads, like those of the records.
  CHECK(load("vloads", "vload4", 4, sm_90) == Numbers{8, 256, 32, 8, 24});
  CHECK(numbers(c.on("vloads"), "vstore4", "store") == Numbers{8, 256, 32, 8, 24});
  // Lanes of a word need one pass together; 128 bytes apart they share a bank, and 16 bytes apart every eighth lane
  // does.
  CHECK(load("chars", "= c[from]", 1, sm_90) == Numbers{2, 64, 2, 2, 0});
  CHECK(load("chars", "= far[128", 1, sm_90) == Numbers{2, 64, 64, 2, 62});
  CHECK(load("shorts", "= h[from]", 2, sm_90) == Numbers{2, 64, 2, 2, 0});
  CHECK(load("shorts", "= far[8", 2, sm_90) == Numbers{2, 64, 8, 2, 6});
  // Structs of 3 and of 5 words are moved word by word, and odd strides have no conflict.
  CHECK(load("copies_of_12", "b[t] = a[from]", 4, sm_90) == Numbers{6, 192, 6, 6, 0});
  CHECK(numbers(c.on("copies_of_12"), "b[t] = a[from]", "store") == Numbers{6, 192, 6, 6, 0});
  CHECK(load("copies_of_20", "b[t] = a[from]", 4, sm_90) == Numbers{10, 320, 10, 10, 0});
  // 16 bytes aligned to 8 are two halves; 16 lanes touch every other pair of banks, twice.
  CHECK(load("copies_of_16", "b[t] = a[from]", 8, sm_90) == Numbers{4, 128, 16, 8, 8});
  CHECK(numbers(c.on("copies_of_16", gfx942), "b[t] = a[from]", "store") == Numbers{2, 128, 16, 8, 8});
}

TEST_CASE("opencl/programs/atomics") {
  const Checked c = checked(program("histogram"));
  SlowCount merging, queuing{true, Numbers(5, 0)}, wide_queuing{true, Numbers(5, 0)};
  const auto datum = [](bool same, unsigned i) { return same ? 5 : (i * i * 3 + i / 7) % 64; };
  for (const bool same : {false, true}) {
    for (unsigned first = 0; first < 256; first += 32) {
      std::map<unsigned, unsigned> words, wide;
      for (unsigned lane = 0; lane < 32; ++lane) words[lane] = datum(same, first + lane);
      for (unsigned lane = 0; lane < 64; ++lane) wide[lane] = datum(same, first + lane);
      merging.add(words);
      queuing.add(words);
      if (first % 64 == 0) wide_queuing.add(wide);
    }
  }
  REQUIRE(merging.sum != queuing.sum);
  // sm_90 adds 1 for all lanes of a bin simultaneously if the old value is unused.
  CHECK(numbers(c.on("counts"), "atomic_inc", "atomic.inc") == merging.sum);
  CHECK(numbers(c.on("adds"), "atomic_add", "atomic.inc") == merging.sum);
  // Variables are in registers, as on a GPU: a result that goes to a dead one is unused, and the added value is 1.
  CHECK(numbers(c.on("unused"), "atomic_add", "atomic.inc") == merging.sum);
  CHECK(numbers(c.on("ranks"), "atomic_inc", "atomic") == queuing.sum);
  CHECK(numbers(c.on("weights"), "atomic_add", "atomic") == queuing.sum);
  // Compare-and-swap takes two passes per lane.
  const Numbers& q = queuing.sum;
  CHECK(numbers(c.on("swaps"), "atomic_cmpxchg", "atomic.cas") == Numbers{q[0], q[1], 2 * q[2], 2 * q[3], q[4]});
  CHECK(numbers(c.on("counts", gfx942), "atomic_inc", "atomic.inc") == wide_queuing.sum);
  CHECK(numbers(c.on("ranks", gfx942), "atomic_inc", "atomic") == wide_queuing.sum);
  // All 256 numbers are equal in the second launch: 8 warps x 31 conflicts if they queue, the worst case.
  CHECK(rows(c.on("ranks"), "atomic_inc", "atomic").at(0).at("worst").at("conflicts") == 31);
  // Without a rule there is no cost: 4 waves in each of 2 launches.
  const Json unknown = rows(c.on("swaps", gfx942), "atomic_cmpxchg", "atomic.cas").at(0);
  check_members(unknown, R"({"accesses": 8, "unknown": 8, "passes": 0})");
  CHECK(c.on("swaps", gfx942).at("why_unknown").size() == 1);
}

TEST_CASE("opencl/programs/loop_lengths") {
  const Checked c = checked(program("divergence"));
  const unsigned width = GENERATE(32U, 64U);
  const std::size_t architecture = width == 32 ? sm_90 : gfx942;
  SlowCount nested, jumps, search;
  std::uint64_t by_order = 0;  // the result of matching each lane's first, second, third ... access by order
  for (unsigned first = 0; first < 64; first += width) {
    std::map<unsigned, unsigned> words;
    const auto turns = [&](unsigned lane, unsigned i) { return ((first + lane) * 5 + i * 3) % 7; };
    for (unsigned i = 0; i < 6; ++i) {
      for (unsigned j = 0; j == 0 || !words.empty(); ++j) {
        words.clear();
        for (unsigned lane = 0; lane < width; ++lane) {
          if (j < turns(lane, i)) words[lane] = ((first + lane) * 3 + j * 5 + i) % 256;
        }
        nested.add(words);
      }
    }
    unsigned longest = 0;
    for (unsigned lane = 0; lane < width; ++lane) {
      unsigned lane_turns = 0;
      for (unsigned i = 0; i < 6; ++i) lane_turns += turns(lane, i);
      longest = std::max(longest, lane_turns);
    }
    by_order += longest;

    std::set<unsigned> gone;
    for (unsigned i = 0; i < 8; ++i) {
      words.clear();
      for (unsigned lane = 0; lane < width; ++lane) {
        const unsigned t = first + lane;
        if (gone.contains(lane) || (t + i) % 3 == 0) continue;
        if (i > t % 8) {
          gone.insert(lane);
        } else {
          words[lane] = 8 * t % 256 + i;
        }
      }
      jumps.add(words);
    }

    std::vector<unsigned> n(width);
    for (unsigned lane = 0; lane < width; ++lane) n[lane] = first + lane + 1;
    for (bool any = true; any;) {
      words.clear();
      for (unsigned lane = 0; lane < width; ++lane) {
        if (n[lane] == 1) continue;
        words[lane] = n[lane] % 256;
        n[lane] = n[lane] % 2 == 1 ? 3 * n[lane] + 1 : n[lane] / 2;
      }
      search.add(words);
      any = !words.empty();
    }
  }
  CHECK(numbers(c.on("nested", architecture), "j * 5", "load") == nested.sum);
  CHECK(by_order < nested.sum[0]);
  CHECK(numbers(c.on("jumps", architecture), "8 * t", "load") == jumps.sum);
  CHECK(numbers(c.on("search", architecture), "n % 256", "load") == search.sum);
  // After the loop all lanes have reconverged.
  CHECK(numbers(c.on("jumps", architecture), "s + a[t]", "load") == Numbers{64 / width, 64, 2, 2, 0});
}

TEST_CASE("opencl/programs/divergence") {
  const Checked c = checked(program("divergence"));
  // 24 lanes of 32 read every fourth word: 4 in each of 6 banks.
  CHECK(numbers(c.on("early"), "a[4 * t]", "load") == Numbers{2, 48, 8, 2, 6});
  // 8 lanes for each case; those of case 1 are 8 words apart, 2 on a bank; those of case 2 fall through to the last.
  CHECK(numbers(c.on("choice"), "case 0: s = a[t]", "load") == Numbers{2, 16, 2, 2, 0});
  CHECK(numbers(c.on("choice"), "case 1: s = a[2 * t]", "load") == Numbers{2, 16, 4, 2, 2});
  CHECK(numbers(c.on("choice"), "case 2: s = a[t]", "load") == Numbers{2, 16, 2, 2, 0});
  CHECK(numbers(c.on("choice"), "default: s += a[0]", "load") == Numbers{2, 32, 2, 2, 0});
  // 16 even lanes make 3 iterations in different banks; 16 odd lanes make 5 iterations 4 words apart, 2 on a bank:
  // 3 x 1 + 5 x 2 = 13 passes of 8 accesses per warp. The two calls are never matched.
  CHECK(numbers(c.on("helper"), "a[from + i]", "load") == Numbers{16, 256, 26, 16, 10});
  CHECK(numbers(c.on("helper", gfx942), "a[from + i]", "load") == Numbers{8, 256, 26, 16, 10});
  // A call of a built-in function in one arm does not keep the lanes apart: 2 words in each bank.
  CHECK(numbers(c.on("builtin"), "a[2 * t]", "load") == Numbers{2, 64, 4, 2, 2});
  // An irreducible loop.
  // Lane t jumps back n = t % 5 times. It passes the bottom n + 1 times, and the top n + 1 times if t is even,
  // otherwise n times.
  Numbers lanes{0, 0};
  for (unsigned t = 0; t < 64; ++t) {
    lanes[0] += t % 5 + (t % 2 == 0 ? 1 : 0);
    lanes[1] += t % 5 + 1;
  }
  const Numbers top = numbers(c.on("irreducible"), "s += a[t]", "load");
  const Numbers bottom = numbers(c.on("irreducible"), "a[255 - t]", "load");
  CHECK(top == Numbers{10, lanes[0], 10, 10, 0});  // 2 warps x the 5 times of lane 4, and of 34
  CHECK(bottom == Numbers{10, lanes[1], 10, 10, 0});
}

TEST_CASE("opencl/programs/same_name_two_contexts") {
  const Checked c = checked(program("apart") + " names");
  REQUIRE(c.json.at("kernels").size() == 2);
  CHECK(c.kernel("copy").at("launches") == 2);
  CHECK(c.kernel("copy#2").at("launches") == 2);
  CHECK(numbers(c.on("copy"), "= a[t]", "load") == Numbers{2, 64, 2, 2, 0});
  CHECK(numbers(c.on("copy#2"), "= far[2 * t]", "load") == Numbers{2, 64, 4, 2, 2});
  CHECK(rows(c.on("copy#2"), "= far[2 * t]", "load").at(0).at("line") == place_of("apart.c", "= far[").first);
  const Checked kept = checked(program("apart") + " kept");  // nothing is released
  CHECK(kept.kernel("copy").at("launches") == 2);
  CHECK(kept.kernel("copy#2").at("launches") == 1);
}

TEST_CASE("opencl/programs/loaded_at_run_time") {
  const Json twice = checked(program("dlopened")).on("twice");
  CHECK(numbers(twice, "= 3 * t", "store") == Numbers{1, 32, 2, 1, 1});  // every other bank, twice
}

TEST_CASE("opencl/programs/three_dimensions_and_arrays") {
  const Checked c = checked(program("shapes"));
  CHECK(c.kernel("blocks").at("local_size") == Numbers{5, 5, 3});
  SlowCount narrow, wide;
  for (const unsigned width : {32U, 64U}) {
    for (unsigned first = 0; first < 75; first += width) {
      std::map<unsigned, unsigned> words;
      for (unsigned t = first; t < std::min(first + width, 75U); ++t) {
        words[t - first] = t / 25 + 3 * (t / 5 % 5) + 15 * (t % 5);
      }
      (width == 32 ? narrow : wide).add(words);
    }
  }
  CHECK(narrow.sum[0] == 3);  // accesses of 32, 32 and 11 lanes
  CHECK(numbers(c.on("blocks"), "cells[z", "load") == narrow.sum);
  CHECK(numbers(c.on("blocks", gfx942), "cells[z", "load") == wide.sum);
  const Json level = c.on("blocks").at("levels").at(1);
  check_members(level, R"({"active_lanes": 75, "issued_warps": 3, "alu_utilization": 0.78125})");  // 75 of 96
  // Arrays whose size the host chooses.
  const auto sum_of = rows(c.on("chosen"), "first[63 - t] + second[2 * t]", "load");
  REQUIRE(sum_of.size() == 2);
  CHECK(sum_of[0].at("array") == "first");
  CHECK(numbers(sum_of[0]) == Numbers{2, 64, 2, 2, 0});
  CHECK(sum_of[1].at("array") == "second");
  CHECK(numbers(sum_of[1]) == Numbers{2, 64, 4, 2, 2});  // every other bank, twice
  CHECK(sum_of[1].at("mixed_arrays") == 0);
  // Neighbouring lanes read the same word of two arrays that both begin at bank 0.
  const auto mixed = rows(c.on("mixed"), "mine[t / 2]", "load");
  REQUIRE(mixed.size() == 1);
  CHECK(numbers(mixed[0]) == Numbers{2, 64, 4, 2, 2});
  check_members(mixed[0], R"({"mixed_arrays": 2, "array": "even"})");  // the first lane's
  CHECK(c.kernel("moved").at("copied_bytes") == 2 * 64 * 4);
  CHECK(numbers(c.on("moved")) == Numbers{4, 128, 4, 4, 0});  // the loads of 2 groups, without the copies
}

TEST_CASE("opencl/programs/inlined_functions") {
  // Two contexts, and 64 work-items of two warps in each: every line of the source has four accesses of 32 lanes.
  const auto result = checked(program("noalias"));
  CHECK(result.outcome.err.empty());
  const Numbers four{4, 128, 4, 4, 0}, eight{8, 256, 8, 8, 0};
  const Json &structs = result.on("result"), &restricts = result.on("arguments");
  CHECK(numbers(structs, "tile[i] = five", "store") == four);
  CHECK(numbers(structs, "out[i] = tile[i]", "load") == four);
  CHECK(numbers(restricts, "*to += *from", "load") == eight);
  CHECK(numbers(restricts, "*to += *from", "store") == four);
}
