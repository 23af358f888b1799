// Engines, the shared memory of other blocks, and what has no cost: in every output, nothing of it is a false zero.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include <bankwise/trace/codec.hpp>
#include "bankcheck/driver/baseline.hpp"
#include "bankcheck/driver/fit_report.hpp"
#include "made_report.hpp"
#include "tests/bankcheck/bankcheck_program.hpp"
#include "tests/catch_any.hpp"
#include "tests/json_members.hpp"

using namespace bankwise;
using namespace bankwise::driver;
using nlohmann::json;

namespace {

/// A kernel with one access without conflicts, and what `add` adds.
template <class Add>
trace::KernelTrace kernel_with(Add add) {
  trace::Builder builder = builder_of();
  builder.add(access_of(builder, {.file = "k.cu", .line = 3}, 4, 10));
  add(builder);
  return builder.take();
}

trace::EngineAccesses engine(banks::Engine engine, std::uint64_t bytes, std::uint32_t row_bytes, std::uint64_t count) {
  return {0, {engine, bytes, row_bytes}, count};
}

}  // namespace

TEST_CASE("driver/engines/passes") {
  const auto kernel = kernel_with([](trace::Builder& builder) {
    builder.add(access_of(builder, {.file = "k.cu", .line = 3}, 128, 2));
    builder.add(engine(banks::Engine::wgmma, 12'800, 0, 3));
  });
  const RunReport report = report_of({kernel});
  const trace::Report& on = report.kernels[0].reports[0];
  CHECK(on.all.passes == 10 + 2 * 32 + 3 * 100);
  CHECK(on.all.conflicts == 2 * 31);
  CHECK(on.with_lanes().passes == 10 + 2 * 32);
  CHECK(on.accesses == 15);
  CHECK(report.kernels[0].times[0]->work.passes == on.all.passes);  // so shared memory is busy with them, too
  const auto parsed = json::parse(to_json(report)).at("kernels").at(0).at("architectures").at(0);
  check_members(parsed, R"({"alu_utilization": 1, "passes": 374, "without_cost": {}})");  // wgmma has no lanes
  check_members(parsed.at("engine_lines").at(0), R"({"engine": "wgmma", "passes": 300, "conflicts": 0})");
  const std::string text = to_text(report), html = to_html(report, {});
  CHECK_THAT(text, has("374 passes where 312 would do; 16.6 % are conflicts, 80.2 % are by wgmma"));
  CHECK_THAT(html, has("16.6 % are conflicts, 80.2 % are by wgmma <span"));
  CHECK_THAT(html, has("<h3>Engines</h3>") && has("<td class=t>wgmma<td>3<td>38,400"));
  CHECK_FALSE(report.kernels[0].has_unknown());
}

TEST_CASE("driver/engines/many_lines") {
  const RunReport report = report_of({kernel_with([](trace::Builder& builder) {
    for (unsigned line = 1; line <= 30; ++line) {
      builder.add(access_of(builder, {.file = "?", .pc = 16 * line}, 8, line));
      builder.add(trace::EngineAccesses{
          builder.site({.file = "?", .pc = 1600 + 16 * line}), {banks::Engine::wgmma, 128, 0}, line});
    }
  })});
  const std::string text = to_text(report), everything = to_text(report, {.detail = Detail::verbose});
  // The ten lines with the fewest conflicts and that of kernel_with(): 65 accesses.
  CHECK_THAT(text, has("  11 other lines                       65") && has("  +0x7e0 ") && has("  10 other lines "));
  CHECK_THAT(everything, !has("other lines"));
}

TEST_CASE("driver/engines/who_conflicts") {
  const auto note = [](banks::Operation operation, std::uint32_t step) {
    const RunReport report = report_of({kernel_with([&](trace::Builder& builder) {
      trace::Pattern pattern = access_of(builder, {.file = "k.cu", .line = 5}, step, 2);
      pattern.operation = operation;
      builder.add(pattern);
      builder.add(engine(banks::Engine::wgmma, 12'800, 0, 3));
    })});
    const std::string text = to_text(report);
    const auto at = text.find("wgmma reads its operands without conflicts");
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  CHECK_THAT(note(banks::Operation::store, 128), has("stores do at k.cu:5"));
  CHECK(note(banks::Operation::store, 4).empty());   // nothing conflicts
  CHECK(note(banks::Operation::load, 128).empty());  // no operand is written with conflicts
}

TEST_CASE("driver/engines/narrow_rows") {
  const auto text_of_rows = [](std::uint32_t bytes) {
    return to_text(report_of({kernel_with([&](trace::Builder& builder) {
      builder.add(engine(banks::Engine::tensor_load, std::uint64_t{64} * bytes, bytes, 1));
    })}));
  };
  constexpr std::uint64_t bytes = 1 << 16;
  const auto cost = banks::cost(*banks::find_architecture("sm_90"), {banks::Engine::tensor_load, bytes, 16});
  CHECK_THAT(text_of_rows(16), has("rows of 16 bytes use ") &&
                                   has(fmt::format("TMA load moves {:.1f} bytes per cycle", bytes / cost->cycles)));
  CHECK_THAT(text_of_rows(64), !has("rows of 64 bytes use"));
}

TEST_CASE("driver/engines/no_false_zero") {
  using banks::Engine;
  struct Case {
    const char* cause;
    trace::KernelTrace kernel;
    const char* architecture = "sm_90";
  };
  const auto left_out = [](const char* cause) {
    return kernel_with([&](trace::Builder& builder) { builder.trace().left_out[cause] = 7; });
  };
  const auto with_engine = [](Engine kind) {
    return kernel_with([&](trace::Builder& builder) { builder.add(engine(kind, 4096, 0, 7)); });
  };
  const auto with_pattern = [](banks::Operation operation, bool is_loop) {
    return kernel_with([&](trace::Builder& builder) {
      trace::Pattern pattern = access_of(builder, {.file = "k.cu", .line = 5}, 4, 7);
      pattern.operation = operation;
      pattern.is_loop = is_loop;
      builder.add(pattern);
    });
  };
  const auto remote = kernel_with([](trace::Builder& builder) {
    builder.add_global({.mask = 1, .addresses = {4}, .count = 7}, trace::SectorMemory::remote);
  });
  const auto remote_excess = kernel_with([](trace::Builder& builder) { builder.trace().remote_excess_accesses = 7; });
  for (const Case& unknown : {Case{"cp.async", left_out("cp.async")},
                              {"tcgen05.ld", left_out("tcgen05.ld")},
                              {"TMA", left_out("TMA")},
                              {"unknown", left_out("")},
                              {"wgmma", with_engine(Engine::wgmma), "sm_100"},
                              {"cp.async.bulk load", with_engine(Engine::bulk_load), "sm_100"},
                              {"TMA load", with_engine(Engine::tensor_load), "sm_80"},
                              {"cp.async", with_pattern(banks::Operation::cp_async, false)},
                              {"atomic.cas in a loop", with_pattern(banks::Operation::atomic_cas, true), "sm_13"},
                              {"shared memory of other blocks", remote, "sm_20"},
                              {"shared memory of other blocks", remote_excess}}) {
    INFO(unknown.cause << " on " << unknown.architecture);
    const ScratchDirectory scratch;
    std::ofstream(scratch.path() / "t.jsonl")
        << trace::to_json_lines({.maker = trace::Maker::cuda, .kernels = {unknown.kernel}});
    const Outcome outcome = bankcheck(
        "report --max-conflicts 0 --html h --json j --sarif s --arch " + std::string(unknown.architecture) + " t.jsonl",
        "cd '" + scratch.path().string() + "';");
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.out, has("incomplete: 41 % of the accesses to shared memory have no cost: " +
                                std::string(unknown.cause) + " (in k)\n"));
    const std::string html = text_of(scratch.path() / "h"), sarif = text_of(scratch.path() / "s");
    for (const std::string* text : {&outcome.out, &html}) {
      CHECK_THAT(*text, !has("no bank conflicts") && !has("No bank conflicts</b></section>") &&
                            !has("accesses, no conflicts\n") && !has("Complete:"));
    }
    const auto parsed = json::parse(text_of(scratch.path() / "j"));
    const auto& on = parsed.at("kernels").at(0).at("architectures").at(0);
    CHECK(on.at("without_cost").at(unknown.cause) == 7);
    CHECK((on.at("unknown") != 0 || !on.at("incomplete").empty()));
    CHECK(json::parse(sarif).at("runs").at(0).at("invocations").at(0).at("toolExecutionNotifications").size() == 1);
    CHECK_THROWS(conflicts(unknown.kernel, unknown.architecture));
  }
}

TEST_CASE("driver/engines/unknown_number") {
  auto kernel = kernel_with([](trace::Builder& builder) { builder.trace().left_out["TMA stores"]; });
  const auto on_terminal = [&](const char* options) {
    const ScratchDirectory scratch;
    std::ofstream(scratch.path() / "t.jsonl")
        << trace::to_json_lines({.maker = trace::Maker::cuda, .kernels = {kernel}});
    return bankcheck("report " + std::string(options) + " t.jsonl", "cd '" + scratch.path().string() + "';");
  };
  const Outcome outcome = on_terminal("--max-conflicts 0");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, has("incomplete: some of the accesses to shared memory have no cost: TMA "
                              "stores (unknown number) (in k)\n") &&
                              has("no conflict in what was watched"));
  kernel.left_out["\033[2Jcause\nof <b>a</b> stranger"];
  CHECK_THAT(on_terminal("").out, !has("\033") && has("[U+001B][2Jcause of <b>a</b> stranger (unknown"));
  kernel.left_out = {{"TMA stores", 0}, {"cp.async", 10}};
  CHECK_THAT(on_terminal("").out, has("incomplete: at least 50 % of the accesses to shared memory have no "
                                      "cost: cp.async 50 %, TMA stores (unknown number) (in k)\n"));
  CHECK_THAT(on_terminal("--verbose").out, has("incomplete: 10 accesses of k have no cost: cp.async 10, "
                                               "TMA stores (unknown number); the numbers are "));
}

TEST_CASE("driver/engines/remote_atomics") {
  // All lanes add to a word, whose sector moves once for each of them in another block, and once in global memory.
  const auto kernel = kernel_with([](trace::Builder& builder) {
    const trace::Pattern same = global_access_of(builder, {.file = "k.cu", .line = 9}, 0, 3, banks::Operation::atomic);
    builder.add_global(same, trace::SectorMemory::remote);
    builder.add_global(same, trace::SectorMemory::global);
  });
  const RunReport report = report_of({kernel});
  CHECK(report.kernels[0].reports[0].remote.sectors == 3 * 32);
  CHECK(report.kernels[0].reports[0].global.sectors == 3);
}

TEST_CASE("driver/engines/remote") {
  const auto kernel = kernel_with([](trace::Builder& builder) {
    trace::Pattern spread = global_access_of(builder, {.file = "k.cu", .line = 9}, 128, 4);
    builder.trace().watches_global = false;
    builder.add_global(spread, trace::SectorMemory::remote);
  });
  const RunReport report = report_of({kernel});
  const trace::Report& on = report.kernels[0].reports[0];
  CHECK(on.remote.sectors == 4 * 32);
  CHECK(on.remote.ideal == 4 * 4);
  CHECK(on.global.accesses == 0);
  CHECK(on.all.passes == 10);
  CHECK(on.accesses == 14);
  const std::string text = to_text(report), html = to_html(report, {});
  CHECK_THAT(text, has("no conflicts in its own shared memory; 4 accesses to the shared memory of other "
                       "blocks, 12.5 % of the bytes moved are used") &&
                       has("  note: 4 accesses to the shared memory of other blocks cost sectors; "));
  CHECK_THAT(html, has("<h3>Shared memory of other blocks, the lines with"));
  const auto parsed = json::parse(to_json(report)).at("kernels").at(0).at("architectures").at(0);
  CHECK(parsed.at("remote").at("sectors") == 128);
  CHECK(parsed.at("remote_lines").at(0).at("pattern") == "lanes 128 bytes apart (a column)");
  CHECK(parsed.at("global").is_null());
  // The conflicts in the other blocks' banks are not known, so nothing says that there are none.
  CHECK_THAT(html, has("<b>Not watched:</b> ") && !has("<b>Complete:</b>"));
  CHECK_THAT(to_sarif(report, {}), has("conflicts in the banks there are not known"));
  CHECK(baseline_of(report.kernels).at({"k", "sm_90"}).unknown == 4);
  CHECK_THROWS_WITH(conflicts(kernel, "sm_90"), has("shared memory of other blocks are not known"));
}

TEST_CASE("driver/groups/names") {
  for (const auto& [name, group] :
       {std::pair("nvjet_tst_128x64_64x8_2x1_v_bz_TNT", "nvjet_tst_*_v_bz_TNT"),
        {"triton_poi_fused_add_0", "triton_poi_fused_add_*"},
        {"_attn_fwd_0d1d2d34d5de", "_attn_fwd_*"},
        {"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64_32x6_tn_align8>(Params)",
         "void cutlass::Kernel2<cutlass_*_tensorop_f16_s16816gemm_relu_f16_*_tn_align*>(Params)"},
        {"at::vectorized<4, Fill<float>>", "at::vectorized<*, Fill<float>>"},
        {"sm90_xmma_gemm_f16f16_tilesize64x64x64_stage3", "sm90_xmma_gemm_f16f16_tilesize*_stage*"},
        {"deadbeef_8c1f09ab3e", "deadbeef_*"},
        {"at::native::elementwise_kernel<...>#12", "at::native::elementwise_kernel<...>"},
        {"a#b", "a#b"},
        {"reduce", "reduce"},
        {"", ""}})
    CHECK(name_without_sizes(name) == group);
}

TEST_CASE("driver/groups/long_names") {
  CHECK(shortened_name(std::string(120, 'x')) == std::string(120, 'x'));
  CHECK(shortened_name(std::string(100, 'x') + std::string(100, 'y')) ==
        std::string(80, 'x') + "..." + std::string(30, 'y'));
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\u00e4";
  CHECK(shortened_name("x" + wide).size() == 79 + 3 + 30);   // whole characters
  CHECK(shortened_name(std::string(200, '\x80')) == "...");  // of no character
}

TEST_CASE("driver/groups/added_up") {
  std::vector<trace::KernelTrace> kernels;
  for (const char* name : {"nvjet_64x8_T", "nvjet_128x8_T", "mine<8>", "mine<16>", "nvjet_64x8_N"}) {
    trace::Builder builder = builder_of(name);
    builder.add(access_of(builder, {.file = "?", .pc = 16 * kernels.size()}, 128, 1 + kernels.size()));
    builder.add(engine(banks::Engine::wgmma, 1280, 0, 1));
    kernels.push_back(builder.take());
  }
  kernels[1].left_out["cp.async"] = 3;
  const RunReport report = report_of(kernels), groups = grouped(report);
  REQUIRE(groups.kernels.size() == 4);
  const KernelReport& group = groups.kernels[0];
  CHECK(group.name == "nvjet_*_T (2 kernels)");
  REQUIRE(group.reports[0].lines.size() == 1);
  CHECK(group.reports[0].all.passes == 3 * 32 + 2 * 10);
  CHECK(group.reports[0].lines[0].costs.conflicts == 3 * 31);
  CHECK(group.reports[0].engine_lines.at(0).costs.accesses == 2);
  CHECK(group.reports[0].without_cost.at("cp.async") == 3);
  CHECK_FALSE(group.reports[0].incomplete.empty());
  CHECK(launches_of(group.trace) == 2);
  CHECK(number_of(groups.kernels) == 5);
  CHECK(groups.kernels[1].name == "mine<8>");  // nobody's library
  CHECK_THAT(to_text(groups), has("all 5 kernels on sm_90: at least ") && has("  2 kernels  load 4 "));
  CHECK(json::parse(to_json(report)).at("kernels").size() == 5);
}

TEST_CASE("driver/groups/bound") {
  for (const auto& [levels, groups] : {std::pair(2000U, 1U), {3000U, 2U}}) {
    std::vector<trace::KernelTrace> kernels;
    for (const char* name : {"gemm<1>", "gemm<2>"}) {
      trace::Builder builder = builder_of(name);
      trace::Pattern access = access_of(builder, {.file = "?", .pc = 16}, 4, 1);
      for (access.level = 0; access.level < levels; ++access.level) builder.add(access);
      kernels.push_back(builder.take());
    }
    const RunReport report = grouped(report_of(kernels));
    INFO(levels);
    CHECK(report.kernels.size() == groups);
    CHECK(number_of(report.kernels) == 2);  // none is lost
  }
}

TEST_CASE("driver/groups/with_source") {
  std::vector<trace::KernelTrace> kernels;
  for (const char* name : {"gemm<1>", "gemm<2>"}) {
    trace::Builder builder = builder_of(name);
    trace::EngineAccesses copies = engine(banks::Engine::tensor_load, 1024, 64, 1);
    copies.site = builder.site({.file = "k.cu", .line = 3});
    builder.add(copies);
    kernels.push_back(builder.take());
  }
  RunReport report = report_of(kernels);
  CHECK(grouped(report).kernels.size() == 1);
  for (KernelReport& kernel : report.kernels) kernel.places.begin()->second.is_file = true;
  CHECK(grouped(report).kernels.size() == 2);  // the user has their source
}
