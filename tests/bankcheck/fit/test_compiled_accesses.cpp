#include "bankcheck/fit/compiled_accesses.hpp"
#include "tests/bankcheck/fit/declared.hpp"
#include "tests/bankcheck/fit/fit_traces.hpp"
#include "tests/catch_any.hpp"

namespace {

using namespace fit_traces;
using fit::ArrayShape;
using fit::Change;
using fit::Pad;

/// Pairs of 8 bytes, stored and loaded together: by lanes a row of 256 bytes apart, and by neighbours.
trace::KernelTrace pairs_of_doubles() {
  trace::KernelTrace trace = kernel(16384);
  trace.patterns = {access(
                        banks::Operation::store, 16, [](auto lane) { return 256 * lane; }, 0xFFFFFFFF, 8),
                    access(
                        banks::Operation::load, 16, [](auto lane) { return 16 * lane; }, 0xFFFFFFFF, 8)};
  return trace;
}

std::uint64_t passes_after(const trace::KernelTrace& trace, const Change& change) {
  const fit::Placement placement(trace, {{0, change, trace.arrays[0].bytes}});
  return trace::report(moved(trace, placement), *sm_90.front()).all.passes;
}

TEST_CASE("fit/merged/plain_uses", "[fit]") {
  const auto are_plain = [](const std::string& text) {
    std::vector<fit::Use> uses;
    for (auto at = text.find("t["); at != text.npos; at = text.find("t[", at + 1)) uses.push_back({.begin = at + 1});
    return fit::are_plain(text, uses);
  };
  for (const char* text : {"t[i] = 0;", "x = (t[i] + t[j]) * f(i);", "if (t[i] > f(a)) b;",
                           "for (int i = t[0]; t[i];) a;", "f(a); t[f(i)] = g(b);", "return (t[i]);"}) {
    CAPTURE(text);
    CHECK(are_plain(text));
  }
  for (const char* text : {"F4(t[i]) = a;", "f(a, (t[i]))", "as<float4>(t[i])", "x = y + f(g, h(a) + t[i]);"}) {
    CAPTURE(text);
    CHECK_FALSE(are_plain(text));
  }
}

TEST_CASE("fit/merged/bytes_after_a_change", "[fit]") {
  const ArrayShape line{4, {1024}}, rows{4, {16, 64}};
  CHECK(merged_bytes({}, rows, 16) == 16);
  CHECK(merged_bytes(padded(256, 16), rows, 16) == 16);
  CHECK(merged_bytes(padded(256, 8), rows, 16) == 8);
  CHECK(merged_bytes(padded(256, 4), rows, 16) == 4);
  CHECK(merged_bytes({.rows = {256, 240}}, rows, 16) == 16);
  CHECK(merged_bytes({{256, 3, 4}, {}}, rows, 16) == 4);                   // an XOR hides the neighbours
  CHECK(merged_bytes(padded(256, 16), line, 16) == 4);                     // a formula hides the alignment
  CHECK(merged_bytes({{64, 1, 5}, {}}, ArrayShape{4, {8, 8}}, 16) == 16);  // neighbours in a row stay
  CHECK(merged_bytes({{16, 2, 3}, {}}, ArrayShape{4, {8, 2}}, 16) == 8);
}

TEST_CASE("fit/merged/split", "[fit]") {
  trace::KernelTrace trace = pairs_of_doubles();
  trace.arrays.push_back({"other", 16384, 512});
  trace.patterns.push_back(trace.patterns[1]);
  trace.patterns.back().array = 1;
  const trace::KernelTrace split = fit::split_accesses(trace, {0}, 4);
  REQUIRE(split.patterns.size() == 9);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(split.patterns[i].width == 4);
    CHECK(split.patterns[i].count == 8);
    CHECK(split.patterns[i].addresses[3] == trace.patterns[i / 4].addresses[3] + 4 * (i % 4));
  }
  CHECK(split.patterns[8].width == 16);
}

TEST_CASE("fit/merged/widest", "[fit]") {
  trace::KernelTrace trace = pairs_of_doubles();
  CHECK(fit::widest_merged(trace, {0}, {8, {2048}, true}) == 16);
  CHECK(fit::widest_merged(trace, {0}, {8, {2048}, false}) == 0);
  CHECK(fit::widest_merged(trace, {0}, {16, {1024}, true}) == 0);
  CHECK(fit::widest_merged(trace, {1}, {8, {2048}, true}) == 0);
  trace.patterns[1].operation = banks::Operation::cp_async;
  CHECK(fit::widest_merged(trace, {0}, {8, {2048}, true}) == 0);
}

TEST_CASE("fit/merged/passes", "[fit]") {
  const trace::KernelTrace trace = pairs_of_doubles();
  const trace::KernelTrace split = fit::split_accesses(trace, {0}, 8);
  const Change swizzle{{256, 3, 4}, {}};
  fit::Accesses accesses(trace, {0}, sm_90);
  CHECK(*accesses.passes(swizzle) == passes_after(trace, swizzle));
  accesses.expect_merged({8, {2048}, true});
  CHECK(*accesses.passes({}) == passes_after(trace, {}));
  for (const Change& change : {swizzle, padded(256, 8), padded(256, 16), padded(128, 8)}) {
    CHECK(*accesses.passes(change) == passes_after(split, change));
    CHECK(accesses.passes_by_architecture(change).front() == *accesses.passes(change));
    CHECK(accesses.after(change).facts().executions == 2 * accesses.facts().executions);
  }
  CHECK(*accesses.passes(swizzle) == 2 * passes_after(trace, swizzle));
  fit::Accesses in_rows(trace, {0}, sm_90);
  in_rows.expect_merged({8, {64, 32}, true});
  CHECK(*in_rows.passes(padded(256, 16)) == passes_after(trace, padded(256, 16)));
  CHECK(*in_rows.passes(padded(256, 8)) == passes_after(split, padded(256, 8)));
}

TEST_CASE("fit/merged/proposals", "[fit]") {
  const trace::KernelTrace trace = pairs_of_doubles();
  const auto fit_of = [&](std::vector<std::uint64_t> lengths, bool merges) {
    return fit::fit_kernel(trace, sm_90, {{0, {8, std::move(lengths), merges}}}, {});
  };
  for (const bool merges : {false, true}) {
    for (const std::vector<std::uint64_t>& lengths : {std::vector<std::uint64_t>{2048}, {64, 32}}) {
      const fit::KernelFit kernel = fit_of(lengths, merges);
      const fit::ArrayFit& array = kernel.arrays.front();
      CHECK(array.chosen > 0);
      CHECK(kernel.after.front().all.passes == array.after().option.passes);
      CHECK(array.parted == (merges && lengths.size() == 1 ? 16 : 0));
    }
  }
  // Rows keep the pairs together.
  CHECK(fit_of({64, 32}, true).arrays.front().after().option.change == padded(256, 16));
}

}  // namespace
