#include <algorithm>
#include <fstream>
#include <map>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/cuda/resolve_parts.hpp"
#include "bankcheck/driver/reporting.hpp"
#include "tests/bankcheck/cuda/cubin/made_cubin.hpp"
#include "tests/bankcheck/cuda/resolved.hpp"
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace resolved;
using cuda::Kind;
using driver::emitted_lines;

// From program counters to source lines and operations, with the machine code of a recorded cubin.

TEST_CASE("cuda/resolve/source_line") {
  const auto resolved =
      resolved_from({record_of({pattern(store_pc, Kind::store, 4, 10), pattern(store_pc, Kind::store, 128, 3),
                                pattern(increment_pc, Kind::atomic, 4, 5)})});
  CHECK(resolved.trace.errors.empty());
  CHECK(resolved.trace.kernels.at(0).left_out.empty());
  REQUIRE(resolved.trace.kernels.size() == 1);
  const trace::KernelTrace& kernel = resolved.trace.kernels[0];
  CHECK(kernel.kernel == "more_histogram");
  CHECK(kernel.blocks == 8);
  CHECK(kernel.shapes.at(0).threads[0] == 512);
  const trace::Report report = report_of(resolved);
  REQUIRE(report.lines.size() == 2);
  CHECK(report.lines[0].site.file.ends_with("histogram.cuh"));
  CHECK(report.lines[0].site.line == 25);
  CHECK(report.lines[0].costs.accesses == 13);
  CHECK(report.lines[0].costs.passes == 10 + 3 * 32);  // at a stride of 128 bytes all lanes share a bank
  CHECK(report.lines[1].site.line == 31);              // and not the line of the toolkit's header
  CHECK(report.lines[1].operation == banks::Operation::atomic_inc);
}

TEST_CASE("cuda/resolve/line_of_the_user") {
  const cuda::SourceFrame toolkit{"/usr/local/cuda/include/sm_32_intrinsics.hpp", 1, ""};
  const cuda::SourceFrame warp{"/venv/lib/python3.12/site-packages/warp/native/tile.h", 2, ""};
  const cuda::SourceFrame package{"/usr/lib/python3/dist-packages/kernels/softmax.py", 3, ""};
  const cuda::SourceFrame no_line{"transpose.py", 0, ""}, user{"transpose.py", 4, ""}, caller{"transpose.py", 5, ""};
  const auto line_of = [](const std::vector<cuda::SourceFrame>& frames) {
    const cuda::SourceFrame* frame = cuda::reported_frame(frames);
    return frame == nullptr ? 0 : frame->line;
  };
  CHECK(line_of({toolkit, warp, user, caller}) == 4);
  CHECK(line_of({user, warp}) == 4);
  CHECK(line_of({toolkit, warp, package}) == 2);  // a kernel that is part of a package
  CHECK(line_of({toolkit, no_line}) == 0);
  CHECK(line_of({}) == 0);
}

TEST_CASE("cuda/resolve/several_processes") {
  const auto once = record_of({pattern(store_pc, Kind::store, 128, 3)});
  const auto resolved = resolved_from({once, once});
  REQUIRE(resolved.trace.kernels.size() == 1);
  CHECK(launches_of(resolved.trace.kernels[0]) == 4);
  CHECK(report_of(resolved).all.passes == 2 * 3 * 32);
}

TEST_CASE("cuda/resolve/access_without_rule") {
  cuda::RecordedPattern copy = pattern(store_pc, Kind::async, 16, 6);  // the machine code has none there
  copy.width = 16;
  const auto resolved = resolved_from({record_of({pattern(store_pc, Kind::store, 4, 1), copy})});
  CHECK(resolved.trace.kernels.at(0).left_out == trace::LeftOut{{"cp.async of unknown opcode", 6}});
  CHECK(report_of(resolved).incomplete.size() == 1);
  CHECK_THROWS(conflicts(resolved.trace.kernels[0], "sm_90"));
}

TEST_CASE("cuda/resolve/copies") {
  using namespace made;
  using banks::Operation;
  struct Row {
    const char* opcode;
    std::uint64_t high;  ///< half of its bits
    unsigned width;
    std::optional<Operation> operation;
  };
  const Row forms[]{{"LDGSTS.E", 0xfe8000b921844, 4, Operation::cp_async},
                    {"LDGSTS.E.64.ZFILL", 0xfe80008161a44, 8, Operation::cp_async},
                    {"LDGSTS.E.128", 0xfe8000b921c44, 16, Operation::cp_async},
                    {"LDGSTS.E.128.ZFILL", 0xfe80008161c44, 16, Operation::cp_async},
                    {"LDGSTS.E.BYPASS.LTC128B.128", 0xfe8000b901d44, 16, Operation::cp_async_cg},
                    {"LDGSTS.E.BYPASS.128.ZFILL", 0xfe80008141c44, 16, std::nullopt}};
  std::string code;
  std::vector<cuda::RecordedPattern> patterns;
  std::vector<cuda::RecordedCost> costs;
  for (const Row& form : forms) {
    const std::uint64_t low = 0x02057fae, pc = code.size();
    CHECK(cuda::shared_opcode(90, {low, form.high}) == form.opcode);
    code += u64(low) + u64(form.high);
    // In shared memory one after another; in global memory each from its own line, but for two lanes.
    cuda::RecordedPattern copy = pattern(pc, Kind::async, form.width, 3);
    copy.width = form.width;
    for (std::uint32_t lane = 0; lane < 32; ++lane) copy.sources.push_back(128 * lane);
    copy.sources[7] = copy.sources[6];
    copy.sources[3] = banks::no_source;
    patterns.push_back(copy);
    cuda::RecordedCost cost{
        .pc = pc, .kind = Kind::async, .width = form.width, .lanes = 32, .ideal = 1, .passes = 4, .lane_passes = 4};
    cost.count = 2;
    costs.push_back(cost);
    if (form.width < 16) continue;
    cost.flags = cuda::past_l1;
    cost.passes = cost.lane_passes = 9;
    costs.push_back(cost);
  }
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "made.cubin";
  std::ofstream(path, std::ios::binary) << elf(
      {{".text.k", code}}, symbol(0, 0, 0, 0, 0) + symbol(1, 2, 4, 0, code.size()), '\0' + made::text("k"));
  cuda::ProcessRecord record = record_of(patterns);
  record.modules[0].cubin = path;
  record.kernels[0].name = "k";
  record.kernels[0].costs = costs;
  const auto resolved = resolved_from({record});
  const trace::KernelTrace& kernel = resolved.trace.kernels.at(0);
  CHECK(kernel.left_out == trace::LeftOut{{"cp.async.cg with ZFILL", 5}});
  REQUIRE(kernel.patterns.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    INFO(forms[i].opcode);
    const trace::Pattern& copy = kernel.patterns[i];
    CHECK(copy.operation == forms[i].operation);
    CHECK(copy.width == forms[i].width);
    CHECK(copy.count == 3);
    const auto lines = std::uint32_t(copy.operation == Operation::cp_async_cg ? 29 : 0);
    CHECK(copy.sources[31] == 128 * lines);  // without the line of lane 7, and of lane 3
    CHECK(copy.sources[3] == banks::no_source);
  }
  const trace::Report report = report_of(resolved);
  // Lanes of a lane group that read one bank; then 4 passes of zeros, and 30 lines, of which lane 7 reads one again.
  const std::uint64_t passes[]{31, 15 + 16, 7 + 3 * 8, 7 + 3 * 8, 4 + 31};
  std::uint64_t all = 0;
  for (const std::uint64_t of_form : passes) all += 3 * of_form;
  all += 2 * (4 * 4 + 9);  // those whose addresses had no room, with the cost of their way
  CHECK(report.all.passes == all);
  CHECK(report.all.accesses == 5 * (3 + 2));
  CHECK(report.all.unknown == 0);
  // Without the machine code, only the width tells that a copy goes through the L1 cache.
  record.modules.clear();
  record.kernels[0].costs.clear();
  const trace::KernelTrace bare = resolved_from({record}).trace.kernels.at(0);
  CHECK(bare.patterns.size() == 2);
  CHECK(bare.left_out == trace::LeftOut{{"cp.async of unknown opcode", 4 * 3}});
}

TEST_CASE("cuda/resolve/remote_shared_memory") {
  cuda::RecordedPattern two_blocks = pattern(store_pc, Kind::remote_store, 4, 6);
  for (std::size_t lane = 16; lane < 32; ++lane) two_blocks.addresses[lane] ^= 0x1000000;
  cuda::RecordedPattern wide = pattern(store_pc, Kind::remote_load, 32, 2);
  wide.width = 32;  // which a trace does not know
  cuda::ProcessRecord record = record_of({two_blocks, pattern(store_pc, Kind::remote_atomic, 128, 3), wide});
  record.kernels[0].costs = {{.pc = store_pc,
                              .kind = Kind::remote_load,
                              .width = 4,
                              .lanes = 32,
                              .ideal = 2,
                              .passes = 5,
                              .lane_passes = 8,
                              .count = 10}};
  const auto resolved = resolved_from({record});
  const trace::KernelTrace& kernel = resolved.trace.kernels.at(0);
  REQUIRE(kernel.remote_patterns.size() == 2);
  CHECK(kernel.global_patterns.empty());
  CHECK(kernel.remote_patterns[0].operation == banks::Operation::store);
  CHECK(kernel.remote_patterns[0].addresses[31] == 0x1000000 + 1024 + 124);
  CHECK(kernel.remote_patterns[1].operation == banks::Operation::atomic);
  CHECK(kernel.remote_excess_accesses == 10);
  CHECK(kernel.left_out == trace::LeftOut{{"shared memory of other blocks", 2}});
  CHECK(report_of(resolved).remote.sectors == 6 * 4 + 3 * 32 + 10 * 5);
}

TEST_CASE("cuda/resolve/excess_is_incomplete") {
  cuda::ProcessRecord record = record_of({pattern(store_pc, Kind::store, 4, 1)});
  record.kernels[0].lost = 11;
  const auto report = report_of(resolved_from({record}));
  REQUIRE(report.incomplete.size() == 1);
  CHECK(report.incomplete[0].starts_with("11 accesses of more_histogram did not fit"));
  // Costs on a GPU that the bank model does not know.
  cuda::ProcessRecord future = record_of({});
  future.devices[0] = {99, 0, "future"};
  future.kernels[0].costs = {
      {.pc = store_pc, .kind = Kind::store, .ideal = 1, .passes = 1, .lane_passes = 1, .count = 6}};
  const auto unknown = report_of(resolved_from({future}));
  CHECK(unknown.all.passes == 0);
  CHECK(unknown.incomplete.at(0).starts_with("6 accesses of more_histogram did not fit"));
}

TEST_CASE("cuda/resolve/excess_costed_on_gpu") {
  cuda::ProcessRecord record = record_of({pattern(store_pc, Kind::store, 4, 1)});
  record.kernels[0].costs = {
      {.pc = store_pc,
       .kind = Kind::store,
       .width = 4,
       .lanes = 32,
       .ideal = 1,
       .passes = 7,
       .lane_passes = 9,
       .count = 10},
      {.pc = increment_pc, .kind = Kind::atomic, .lanes = 3, .ideal = 1, .passes = 2, .lane_passes = 3, .count = 100},
      {.pc = store_pc, .kind = Kind::async, .width = 16, .lanes = 32, .count = 5}};
  const std::vector<const banks::Architecture*> asked{hopper[0], banks::find_architecture("sm_80"),
                                                      banks::find_architecture("gfx942")};
  const auto resolved = cuda::resolve({record}, asked);
  const trace::KernelTrace& kernel = resolved.trace.kernels.at(0);
  for (const char* name : {"sm_90", "sm_80"}) {
    INFO(name);
    const trace::Report report = trace::report(kernel, *banks::find_architecture(name));
    CHECK(report.all.accesses == 1 + 10 + 100);
    CHECK(report.stores.passes == 1 + 10 * 7);
    CHECK(report.stores.lanes == 32 + 10 * 32);
    CHECK(report.stores.conflicts == 10 * 6);
    CHECK(report.atomics.passes == 100 * 2);  // ATOMS.POPC.INC serves the lanes of one word together
    CHECK(report.lines.at(0).site.line == 25);
    REQUIRE(report.incomplete.size() == 1);  // the copies
    CHECK(report.incomplete[0].starts_with("5 accesses of more_histogram have no cost"));
  }
  CHECK(kernel.excess_accesses == 110);
  CHECK(incompleteness(kernel, *asked[2]).at(0).starts_with("110 accesses of more_histogram did not fit"));
}

TEST_CASE("cuda/resolve/excess_atomics_queue") {
  cuda::ProcessRecord record = record_of({});
  record.modules[0].cubin = std::filesystem::path(CUBIN_DATA) / "ampere.cubin";
  record.kernels[0].name = "_Z10more_queuePKjPj";
  constexpr std::uint64_t add_pc = 0x230;  // ATOMS.ADD, says nvdisasm
  record.kernels[0].costs = {
      {.pc = add_pc, .kind = Kind::atomic, .lanes = 8, .ideal = 1, .passes = 2, .lane_passes = 5, .count = 10}};
  const auto report = report_of(resolved_from({record}));
  CHECK(report.atomics.passes == 10 * 5);
  CHECK(report.atomics.conflicts == 10 * 4);
}

TEST_CASE("cuda/resolve/global_memory") {
  constexpr std::uint64_t load_pc = 0x100;
  cuda::RecordedPattern column = pattern(store_pc, Kind::global_store, 4096, 6);
  // Addresses below the lowest lane's, and lanes 1.5 GiB apart.
  const cuda::RecordedPattern below{.pc = load_pc,
                                    .kind = Kind::global_load,
                                    .width = 8,
                                    .mask = 7,
                                    .count = 5,
                                    .addresses = {8, std::uint32_t(-256), 0x60000000}};
  const cuda::RecordedPattern copy{
      .pc = load_pc, .kind = Kind::global_copy, .width = 16, .mask = 1, .count = 4, .addresses = {0}};
  cuda::ProcessRecord record = record_of({column, below, copy, pattern(store_pc, Kind::store, 4, 1)});
  record.memory = {true, true};
  cuda::RecordedKernel& kernel = record.kernels[0];
  kernel.costs = {{.pc = load_pc,
                   .kind = Kind::global_atomic,
                   .width = 4,
                   .lanes = 32,
                   .ideal = 3,
                   .passes = 12,
                   .lane_passes = 20,
                   .count = 10},
                  {.pc = load_pc, .kind = Kind::local_store, .width = 4, .lanes = 17, .count = 2},
                  {.pc = load_pc, .kind = Kind::local_store, .width = 4, .lanes = 3, .count = 1}};
  kernel.bulk = {{0, 3, "tma_load"}, {0, 40, "sectors_read"}, {0, 7, "sectors_written"}, {0, 2, "sectors_written"}};
  kernel.global_lost = 11;
  const auto resolved = cuda::resolve({record}, {hopper[0], banks::find_architecture("gfx942")});
  const trace::KernelTrace& trace = resolved.trace.kernels.at(0);
  CHECK(trace.watches_global);
  CHECK(trace.watches_shared);
  REQUIRE(trace.global_patterns.size() == 3);
  CHECK(trace.global_patterns[0].operation == banks::Operation::store);
  CHECK(trace.global_patterns[0].addresses[31] == 31 * 4096);
  CHECK(trace.global_patterns[1].addresses == std::vector<std::uint32_t>{264, 0, (16 << 20) + 256 + 128});
  CHECK(trace.global_patterns[2].operation == banks::Operation::cp_async);
  CHECK(trace.sites.at(trace.global_patterns[0].site).line == 25);
  CHECK(trace.sectors_read == 40);
  CHECK(trace.sectors_written == 9);
  CHECK(trace.global_left_out == 3 + 11);
  CHECK(trace.left_out == trace::LeftOut{{"TMA loads", 3}});  // in both memories
  REQUIRE(trace.local_accesses.size() == 1);
  CHECK(trace.local_accesses[0].accesses == 3);
  CHECK(trace.local_accesses[0].lanes == 2 * 17 + 3);
  CHECK(trace.global_excess_accesses == 10);
  const trace::Report report = report_of(resolved);
  CHECK(report.global.accesses == 6 + 5 + 4 + 10);
  CHECK(report.global.sectors == 6 * 32 + 5 * 3 + 4 + 10 * 12);
  CHECK(report.global.ideal == 6 * 4 + 5 * 1 + 4 + 10 * 3);
  CHECK(report.global.bytes == 6 * 128 + 5 * 24 + 4 * 16 + 10 * 80);
  CHECK(report.all.accesses == 1);
  // 32-byte sectors say nothing of a GPU with others.
  const auto amd = trace::global_incompleteness(trace, *banks::find_architecture("gfx942"));
  CHECK(std::any_of(amd.begin(), amd.end(), [](const std::string& sentence) {
    return sentence.starts_with("10 accesses to global memory of more_histogram did not fit");
  }));
}

TEST_CASE("cuda/resolve/memory_spaces") {
  cuda::ProcessRecord record = record_of({pattern(store_pc, Kind::global_load, 4, 6)});
  record.kernels[0].bulk = {{0, 3, "tma_load"}, {0, 4, "wgmma"}};
  record.memory = {false, true};
  const trace::KernelTrace global = resolved_from({record}).trace.kernels.at(0);
  CHECK_FALSE(global.watches_shared);
  CHECK(global.left_out.empty());
  CHECK(global.global_left_out == 3);
  CHECK(global.global_patterns.size() == 1);
  record.memory = {true, false};
  const trace::KernelTrace shared = resolved_from({record}).trace.kernels.at(0);
  CHECK_FALSE(shared.watches_global);
  CHECK(shared.global_left_out == 0);
  CHECK(trace::total(shared.left_out) == 3 + 4 / 4);  // a wgmma is one instruction of four warps
  // Loads of 32 bytes, of compute capability 10.0, which a trace does not know.
  cuda::RecordedPattern wide = pattern(store_pc, Kind::global_load, 32, 6);
  wide.width = 32;
  cuda::ProcessRecord blackwell = record_of({wide});
  blackwell.memory = {true, true};
  CHECK(resolved_from({blackwell}).trace.kernels.at(0).global_left_out == 6);
}

TEST_CASE("cuda/resolve/unfinished_record_or_bad_cubin") {
  cuda::ProcessRecord record =
      record_of({pattern(store_pc, Kind::store, 128, 3), pattern(increment_pc, Kind::atomic, 4, 5)});
  record.ended = false;
  record.modules[0].cubin = std::filesystem::path(CUBIN_DATA) / "no_such.cubin";
  const auto resolved = resolved_from({record});
  REQUIRE(resolved.trace.errors.size() == 2);
  CHECK(std::any_of(resolved.trace.errors.begin(), resolved.trace.errors.end(),
                    [](const auto& sentence) { return sentence.find("process 7 did not end in order") == 0; }));
  CHECK(std::any_of(resolved.trace.errors.begin(), resolved.trace.errors.end(),
                    [](const auto& sentence) { return sentence.find("no_such.cubin") != std::string::npos; }));
  const trace::KernelTrace& kernel = resolved.trace.kernels.at(0);
  CHECK(kernel.sites.at(0).pc == store_pc);  // a load or store needs no opcode
  // Which atomic it was is in the machine code.
  CHECK(kernel.left_out == trace::LeftOut{{"atomics of unknown opcode", 5}});
}

TEST_CASE("cuda/machine_code/lines") {
  CHECK(emitted_lines("").empty());
  const auto lines = emitted_lines(CUBIN_DATA "/hopper.cubin");
  const auto stores = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.file.ends_with("more_kernels/histogram.cuh") && line.line == 25;
  });
  REQUIRE(stores != lines.end());
  CHECK(stores->opcodes == std::map<std::string, std::uint64_t>{{"STS", 4}});
  CHECK_THROWS_WITH(emitted_lines("/no/such/file"), "--cubin '/no/such/file': it cannot be read");
  CHECK_THROWS_WITH(emitted_lines("/"), "--cubin '/': it cannot be read");
  CHECK_THROWS_AS(emitted_lines(CUBIN_DATA "/hopper.txt"), support::UsageError);
  CHECK_THROWS_WITH(emitted_lines(CUBIN_DATA "/no_lines.cubin"), has("-lineinfo"));
}
