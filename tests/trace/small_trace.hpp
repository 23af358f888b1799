// Traces that are small enough to work out by hand.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/builder.hpp>
#include <bankwise/trace/codec.hpp>

namespace small {

using namespace bankwise;

inline const banks::Architecture& on(const char* name) { return *banks::find_architecture(name); }

/// Loads of words, so many bytes apart, by the lanes of the mask; site and array 0.
inline trace::Pattern loads(std::uint32_t step, std::uint64_t mask = 0xFFFFFFFF, std::uint64_t count = 1) {
  trace::Pattern pattern{.mask = mask, .count = count};
  for (std::uint32_t lane = 0; lane < banks::max_lanes; ++lane) pattern.addresses.push_back(step * lane);
  normalize(pattern);
  return pattern;
}

/// A builder with a site and an array.
inline trace::Builder builder(unsigned warp = 32, bool splits = false, trace::Bound bound = {}) {
  trace::Builder builder({.kernel = "k", .warp = warp, .splits = splits}, std::move(bound));
  builder.site({.file = "k.cl", .line = 3, .column = 5, .function = "k"});
  builder.array({"tile", 0, 4096});
  builder.add(trace::LaunchShape{{64, 1, 1}, {64, 1, 1}, 1});
  builder.trace().blocks = 1;
  return builder;
}

/// A kernel whose members all differ from their defaults, in the order in which a reader puts them.
inline trace::KernelTrace full_kernel() {
  trace::Builder all({.kernel = "transpose<\"x\">",
                      .options = "-D N=3",
                      .source = 0,
                      .warp = 64,
                      .splits = true,
                      .knows_code = false,
                      .blocks = 7,
                      .levels = 9,
                      .watches_shared = false,
                      .watches_global = true,
                      .global_excess_accesses = 16,
                      .global_left_out = 14,
                      .remote_excess_accesses = 12,
                      .sectors_read = 38,
                      .sectors_written = 39,
                      .time = trace::KernelTime{3, 4500, 1980000, "NVIDIA \"H200\"", true, 132, 62914560, 4916736},
                      .copied_bytes = 11,
                      .left_out = {{"", 4}, {"TMA \"load\"", 9}, {"TMA stores", 0}},
                      .excess_accesses = 15},
                     {});
  all.site({.file = "/a b/k.cl", .line = 12, .column = 34, .function = "f"});
  all.site({.file = "?", .function = "g", .pc = 0x120});
  all.array({"tile", 0, 1000, 4, {10, 25}});
  all.array({"work", 65536, 0});
  trace::Pattern first = loads(128, ~std::uint64_t{0}, 17);
  first.first = {5, 1, 0, 40};
  trace::Pattern narrow = first, wide = first;
  narrow.count = 1;
  wide.width = 16;
  wide.count = 8;
  trace::Pattern second{.site = 1,
                        .array = 1,
                        .operation = banks::Operation::atomic_cas,
                        .width = 8,
                        .level = 8,
                        .mask = 0x8000000000000005,
                        .is_loop = true,
                        .addresses = std::vector<std::uint32_t>(64),
                        .lane_arrays = std::vector<std::uint32_t>(64),
                        .count = 19,
                        .first = {6, 2, 1, 41}};
  second.addresses[0] = 65540, second.addresses[2] = 0xFFFFFFF8, second.addresses[63] = 12;
  second.lane_arrays[0] = 1, second.lane_arrays[2] = 1;
  const trace::Pattern third{.operation = banks::Operation::cp_async,
                             .mask = 5,
                             .addresses = {512, 0, 640},
                             .sources = {124, 0, banks::no_source},
                             .count = 20,
                             .first = {6, 2, 1, 42}};
  for (const trace::Pattern& pattern : {first, second, third}) all.add(pattern);
  all.set_merged({narrow, wide, second, third});
  all.add_global({.site = 1,
                  .operation = banks::Operation::atomic,
                  .width = 2,
                  .mask = 0b101,
                  .addresses = {2, 0, 96},
                  .count = 22,
                  .first = {5, 0, 1, 3}});
  all.add(trace::GlobalExcess{0, banks::Operation::store, 8, "sm_90", 16, {40, 400, 90, 80, 50, 2500, 4}});
  all.add_global(
      {.operation = banks::Operation::load, .mask = 1, .addresses = {132}, .count = 25, .first = {1, 0, 1, 4}},
      trace::SectorMemory::remote);
  all.add(trace::GlobalExcess{1, banks::Operation::store, 16, "sm_90", 12, {12, 120, 40, 40, 12, 1200, 0}},
          trace::SectorMemory::remote);
  all.add(trace::EngineAccesses{0, {banks::Engine::wgmma, 24576, 0}, 26});
  all.add(trace::EngineAccesses{1, {banks::Engine::tensor_load, 4096, 64}, 27});
  all.add(trace::LocalAccesses{1, banks::Operation::load, 16, 24, 70});
  all.add(trace::Participants{8, 0xF0F, 21});
  all.add(trace::BasicBlock{1, 2, 23, 29});
  all.add(trace::Excess{
      0, 1, banks::Operation::store, 2, 3, "gfx942", 15, 1, {30, 31, 36, 33, 3, 4}, "the rule is unknown."});
  all.add(trace::DiagnosisRecord{
      trace::Fault::race, 0, 1, false, "lane 3 of block (5, 0, 0) of \"k\" reads", 37, {5, 1, 1, 0}});
  all.add(trace::DiagnosisRecord{trace::Fault::trap, 1, {}, true, "lane 4 stops", 1, {6, 2, 2, 0}});
  all.add(trace::LaunchShape{{64, 2, 1}, {32, 2, 1}, 2});
  all.add(trace::LaunchShape{{65, 1, 3}, {32, 1, 1}, 1});
  return all.take();
}

inline trace::Trace full_trace() {
  return {trace::Maker::opencl, "1.2.3",       {"./program", "a b", ""}, {"kernel void k() {}\n// \"quoted\"\n"},
          {full_kernel()},      {"it crashed"}};
}

inline trace::TraceFile read(const std::string& text) {
  std::istringstream file(text);
  return trace::read_json_lines(file, "f");
}

}  // namespace small
