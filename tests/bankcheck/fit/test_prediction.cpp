#include "bankcheck/fit/compiled_accesses.hpp"
#include "bankcheck/fit/fit.hpp"
#include "tests/bankcheck/fit/declared.hpp"
#include "tests/bankcheck/fit/fit_traces.hpp"
#include "tests/catch_any.hpp"

namespace {

using namespace fit_traces;
using fit::ArrayShape;
using fit::Change;
using fit::CompiledLoads;
using fit::Pad;
using fit::SavedLoads;

// --- What the source says of loads that machine code does not make ---

/// The text of a kernel that declares `__shared__ float t[1024];` in line 1 and has these lines from line 2 on.
std::string kernel_text(const std::string& lines) {
  return "__global__ void k() { __shared__ float t[1024];\n" + lines + "\n}\n";
}

SavedLoads saved_in(const std::string& lines, const fit::AccessesByLine& executed) {
  const std::string text = kernel_text(lines);
  fit::Declaration declaration{.qualifier = "__shared__", .type = "float", .name = "t", .dimensions = {"1024"}};
  declaration.at = text.find("t[1024]");
  const fit::Uses uses = uses_of(text, declaration, true);
  REQUIRE(uses.why.empty());
  return fit::saved_loads(text, declaration.at, uses.uses, executed);
}

TEST_CASE("fit/prediction/saved_load_of_a_scan", "[fit]") {
  const std::string lines = "if (i < d) {\nfloat x = t[a];\nt[a] = t[b];\nt[b] += x;\n}";
  // The load of t[b] in the last line is saved: two loads for two stores, where the source has three. The line before
  // loads the same elements.
  const SavedLoads saved = saved_in(lines, {{3, {32, 0}}, {4, {32, 32}}, {5, {0, 32}}});
  CHECK(saved.complete);
  CHECK(saved.places == std::vector{SavedLoads::Place{4, false}});
  // Nothing is saved.
  const SavedLoads all = saved_in(lines, {{3, {32, 0}}, {4, {32, 32}}, {5, {32, 32}}});
  CHECK(all.complete);
  CHECK(all.places.empty());
}

TEST_CASE("fit/prediction/loads_that_no_store_can_change", "[fit]") {
  for (const char* lines :
       {"t[i] = 1;\n__syncthreads();\nfloat x = t[j];",  // a barrier
        "float x = t[a], y = t[a];\nt[b] = x + y;",      // no store between
        "if (t[a] > t[b]) {\nx = t[a];\nt[a] = t[b];\nt[b] = x; }", "t[i] += t[i + d];\n__syncthreads();",
        "for (int j = 0; j < n; ++j) t[i] += t[j + 32];\n__syncthreads();"}) {
    CAPTURE(lines);
    const SavedLoads saved = saved_in(lines, {{2, {8, 32}}, {3, {8, 32}}, {4, {8, 32}}, {5, {8, 32}}});
    CHECK(saved.complete);
    CHECK(saved.places.empty());
  }
  // A load in the next iteration, of which no other access tells the elements.
  CHECK_FALSE(saved_in("for (int j = 0; j < n; ++j)\nt[j] = t[0];", {{3, {1, 32}}}).complete);
  CHECK(saved_in("for (int j = 0; j < n; ++j)\nt[j] = t[0];", {{3, {32, 32}}}).complete);
}

TEST_CASE("fit/prediction/loads_are_not_known_in_functions", "[fit]") {
  const std::string text = "__device__ void f(float* t) { t[1] = t[0]; }\n" + kernel_text("f(t);");
  fit::Declaration declaration{.qualifier = "__shared__", .type = "float", .name = "t", .dimensions = {"1024"}};
  declaration.at = text.find("t[1024]");
  const fit::Uses uses = uses_of(text, declaration, true);
  REQUIRE(uses.why.empty());
  REQUIRE(uses.uses.size() == 2);
  CHECK_FALSE(fit::saved_loads(text, declaration.at, uses.uses, {}).complete);
  CHECK(fit::saved_loads(text, text.find("float* t"), uses.uses, {}).complete);
}

TEST_CASE("fit/prediction/loads_are_not_known_through_addresses", "[fit]") {
  CHECK_FALSE(saved_in("atomicAdd(&t[i], 1);\nt[j] = t[i];", {}).complete);
}

// --- Ranges ---

constexpr std::uint64_t pc_step = 16;

/// Pairs of floats that machine code loads at once, and stores one by one: an instruction per pattern.
trace::KernelTrace pairs(std::uint32_t stride) {
  trace::KernelTrace trace = kernel(8192);
  trace.patterns = {access(banks::Operation::load, 8, [=](auto lane) { return stride * lane; }),
                    access(banks::Operation::store, 4, [=](auto lane) { return stride * lane; })};
  trace.sites = {trace.sites[0], trace.sites[0]};
  for (std::uint32_t i = 0; i < 2; ++i) {
    trace.sites[i].pc = i * pc_step;
    trace.patterns[i].site = i;
  }
  return trace;
}

struct Predicted {
  std::uint64_t passes = 0;
  fit::Prediction range;
};

Predicted predicted(const trace::KernelTrace& trace, const ArrayShape& shape, const Change& change) {
  fit::Accesses accesses(trace, {0}, sm_90);
  accesses.expect_merged(shape);
  const std::vector<std::uint32_t> arrays{0};
  const auto passes = accesses.passes_by_architecture(change);
  return {passes[0], fit::Predictor(trace, arrays, shape, sm_90)(change, passes)};
}

ArrayShape compiled(std::vector<std::uint64_t> lengths, bool merges, CompiledLoads loads = {.complete = true}) {
  return {4, std::move(lengths), merges, std::move(loads)};
}

TEST_CASE("fit/prediction/merged_accesses", "[fit]") {
  const trace::KernelTrace trace = pairs(8);
  // The pad of one element tears some pairs, so the compiler cannot keep them: the passes are certain.
  const auto torn = predicted(trace, compiled({2048}, true), padded(128, 4));
  CHECK(torn.range.is_exact());
  CHECK(torn.passes == torn.range.least[0]);
  // A pad of two elements keeps all pairs whole: perhaps the compiler sees that.
  const auto whole = predicted(trace, compiled({2048}, true), padded(128, 8));
  REQUIRE(whole.range.most);
  CHECK(whole.range.least[0] < (*whole.range.most)[0]);
  CHECK((*whole.range.most)[0] == whole.passes);
  fit::Accesses merged(trace, {0}, sm_90);
  CHECK(whole.range.least[0] == *merged.passes(padded(128, 8)));
  // An instruction that tears some pairs is several for all; without its place in the code, each access counts alone.
  trace::KernelTrace two = trace;
  two.patterns[1] = access(
      banks::Operation::load, 8, [](auto lane) { return 8 * lane; }, 0xFFFF);
  CHECK(predicted(two, compiled({2048}, true), padded(128, 4)).range.least[0] == 4);
  for (trace::Site& site : two.sites) site.pc.reset();
  CHECK(predicted(two, compiled({2048}, true), padded(128, 4)).range.least[0] == 3);
  // In longer rows they stay neighbours.
  CHECK(predicted(trace, compiled({64, 32}, true), padded(128, 8)).range.is_exact());
  // A trace that no compiler has made.
  CHECK(predicted(trace, {4, {2048}, false, {}}, padded(128, 8)).range.is_exact());
}

TEST_CASE("fit/prediction/casts_or_merges", "[fit]") {
  // Whether the source has a cast is not known: with another index the pairs may stay, or be parted.
  const auto unknown = predicted(pairs(8), compiled({2048}, false), padded(128, 8));
  REQUIRE(unknown.range.most);
  CHECK(unknown.passes == unknown.range.least[0]);
  CHECK((*unknown.range.most)[0] > unknown.passes);
  CHECK_FALSE(unknown.range.is_exact());
}

TEST_CASE("fit/prediction/rows_that_become_aligned", "[fit]") {
  trace::KernelTrace trace = kernel(4 * 33 * 32);
  for (const std::uint32_t column : {0U, 1U}) {
    trace.patterns.push_back(access(banks::Operation::load, 4, [=](auto lane) { return lane * 132 + 4 * column; }));
  }
  const auto even = predicted(trace, compiled({32, 33}, true), padded(132, 4));
  CHECK(even.range.least[0] < even.passes);
  CHECK(predicted(trace, compiled({32, 33}, true), padded(132, 8)).range.is_exact());
  trace.patterns.pop_back();
  CHECK(predicted(trace, compiled({32, 33}, true), padded(132, 4)).range.is_exact());
}

TEST_CASE("fit/prediction/saved_loads", "[fit]") {
  const trace::KernelTrace trace = pairs(4);
  const CompiledLoads by_store{{{1, true}}, true};
  const Change change = padded(128, 4);
  const auto none = predicted(trace, compiled({2048}, true), change);
  const auto some = predicted(trace, compiled({2048}, true, by_store), change);
  REQUIRE(some.range.most);
  CHECK(some.range.least == none.range.least);
  CHECK((*some.range.most)[0] == (*none.range.most)[0] + 1);
  CHECK_FALSE(predicted(trace, compiled({2048}, true, CompiledLoads{}), change).range.most);
  // Longer rows hide nothing from the compiler.
  CHECK(predicted(trace, compiled({64, 32}, true, CompiledLoads{}), padded(128, 8)).range.most);
}

TEST_CASE("fit/prediction/full_table", "[fit]") {
  trace::KernelTrace trace = pairs(8);
  trace.excess_accesses = 5;
  const auto of_kernel = predicted(trace, {4, {2048}}, padded(128, 4));
  CHECK(of_kernel.range.of_recorded);
  CHECK_FALSE(of_kernel.range.is_exact());
  CHECK_FALSE(holds(of_kernel.range, 0, of_kernel.passes));
  CHECK(predicted(trace, {4, {2048}}, {}).range.is_exact());
  trace.excess.push_back({.array = 1, .accesses = 5});
  CHECK(predicted(trace, {4, {2048}}, padded(128, 4)).range.is_exact());
  trace.excess.front().array = 0;
  CHECK(predicted(trace, {4, {2048}}, padded(128, 4)).range.of_recorded);
}

TEST_CASE("fit/prediction/holds", "[fit]") {
  const fit::Prediction range{{10}, std::vector<std::uint64_t>{12}}, open{{10}, std::nullopt};
  CHECK(holds(range, 0, 12) == true);
  CHECK(holds(range, 0, 13) == false);
  CHECK(holds(open, 0, 13) == true);
  CHECK(holds(open, 0, 9) == false);
}

}  // namespace
