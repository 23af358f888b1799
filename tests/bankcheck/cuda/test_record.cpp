// Records of the injection library: what is read, and what a damaged one leaves.
#include <fstream>

#include "bankcheck/cuda/record.hpp"
#include "tests/catch_any.hpp"
#include "tests/scratch_directory.hpp"

using namespace bankwise::cuda;
using bankwise::banks::no_source;

namespace {

const std::string whole =
    "bankwise_cuda_record 3\n"
    "process 12 11\n"
    "memory global\n"
    "device 0 9 0 NVIDIA H200\n"
    "module 3 0 4096\n"
    "kernel 5 3 7f0000000000 580 _Z4copyPKfPf\n"
    "launch 5 4 2 1 32 8 1 1024 3 24\n"
    "pattern 5 150 store 4 2 80000001 7 400 f00047c\n"
    "pattern 5 160 ldmatrix 16 401 ff 2 0 10 20 30 40 50 60 70\n"
    "pattern 5 180 async 4 0 5 3 400 f8000480\n"
    "pattern 5 188 async 16 0 b 3 400 f200480 9000480\n"
    "cost 5 1c0 atomic 4 7 32 1 3 8 6\n"
    "pattern 5 190 global_load 4 1 3 8 ffffff00 7c\n"
    "cost 5 1d0 global_atomic 4 7 32 10 20 30 6\n"
    "cost 5 1e0 local_load 4 1 3 0 0 0 2\n"
    "lost 5 shared 9\n"
    "lost 5 global 3\n"
    "pattern 5 1f0 remote_load 4 1 3 2 400 12000400\n"
    "cost 5 1f0 remote_load 4 1 32 10 20 30 6\n"
    "bulk 5 170 wgmma 4 800 ffffffff\n"
    "error the table was full\n"
    "end\n";

ProcessRecord read(const std::string& text) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "1.2.record", std::ios::binary) << text;
  return read_record(scratch.path() / "1.2.record");
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = whole;
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("cuda/record/every_field") {
  const ProcessRecord record = read(whole);
  CHECK(record.process == 12);
  CHECK(record.ended);
  CHECK(record.errors == std::vector<std::string>{"the table was full"});
  CHECK(record.devices.at(0).major == 9);
  CHECK(record.devices.at(0).name == "NVIDIA H200");
  CHECK(record.modules.at(3).cubin.filename() == "1.2.3.cubin");
  const RecordedKernel& kernel = record.kernels.at(5);
  CHECK(kernel.module == 3);
  CHECK(kernel.bytes == 0x580);
  CHECK(kernel.name == "_Z4copyPKfPf");
  REQUIRE(kernel.shapes.size() == 1);
  CHECK(kernel.shapes[0].grid == std::array<std::uint64_t, 3>{4, 2, 1});
  CHECK(kernel.shapes[0].block == std::array<std::uint64_t, 3>{32, 8, 1});
  CHECK(kernel.shapes[0].launches == 3);
  CHECK(kernel.shapes[0].watched_blocks == 24);
  REQUIRE(kernel.patterns.size() == 6);
  CHECK(kernel.patterns[0].kind == Kind::store);
  CHECK(kernel.patterns[0].pc == 0x150);
  CHECK(kernel.patterns[0].count == 7);
  CHECK(kernel.patterns[0].addresses.size() == 32);
  CHECK(kernel.patterns[0].addresses.front() == 0x400);
  CHECK(kernel.patterns[0].addresses.back() == 0x47c);  // without the rank of the block, which is 15
  CHECK(kernel.patterns[1].addresses == std::vector<std::uint32_t>{0, 16, 32, 48, 64, 80, 96, 112});
  CHECK(kernel.patterns[1].sources.empty());
  CHECK(kernel.patterns[2].kind == Kind::async);
  CHECK(kernel.patterns[2].addresses == std::vector<std::uint32_t>{0x400, 0, 0x480});
  CHECK(kernel.patterns[2].sources == std::vector<std::uint32_t>{0, 0, 124});  // word 31 of its line
  CHECK(kernel.patterns[3].addresses == std::vector<std::uint32_t>{0x400, 0x480, 0, 0x480});
  CHECK(kernel.patterns[3].sources == std::vector<std::uint32_t>{0, no_source, 0, 128 + 16});
  CHECK(kernel.patterns[4].kind == Kind::global_load);
  CHECK(kernel.patterns[4].addresses == std::vector<std::uint32_t>{0xffffff00, 0x7c});
  CHECK(kernel.patterns[5].kind == Kind::remote_load);
  CHECK(kernel.patterns[5].addresses == std::vector<std::uint32_t>{0x400, 0x12000400});  // of two blocks
  CHECK_FALSE(record.memory.shared);
  CHECK(record.memory.global);
  CHECK(kernel.lost == 9);
  CHECK(kernel.global_lost == 3);
  REQUIRE(kernel.costs.size() == 4);
  CHECK(kernel.costs[1].kind == Kind::global_atomic);
  CHECK(kernel.costs[2].lanes == 3);
  CHECK(kernel.costs[0].kind == Kind::atomic);
  CHECK(kernel.costs[0].passes == 3);
  CHECK(kernel.costs[0].lane_passes == 8);
  CHECK(kernel.costs[0].count == 6);
  CHECK(kernel.bulk.at(0).kind == "wgmma");
  CHECK(kernel.bulk.at(0).words == std::vector<std::uint32_t>{0x800, 0xffffffff});
}

TEST_CASE("cuda/record/damaged") {
  for (std::size_t size = whole.find('\n') + 1; size < whole.size(); ++size) {
    INFO(whole.substr(0, size));
    CHECK_FALSE(read(whole.substr(0, size)).ended);
  }
  const std::pair<std::string, std::string> damages[]{
      {changed("store", "stare"), "line 8 of the record of process 12: there is no kind 'stare'"},
      {changed("pattern 5 150", "pattern 6 150"), "there is no kernel 6 before it"},
      {changed(" f00047c\n", "\n"), "it has no address"},
      {changed(" f00047c\n", " 10000480\n"), "'10000480' is no address"},  // only copies have more bits
      {changed(" f8000480\n", " 1f8000480\n"), "'1f8000480' is no address"},
      {changed(" f00047c\n", " 47c 480\n"), "it goes on after its last field"},
      {changed("24\n", "-24\n"), "'-24' is no number of blocks"},
      {changed("80000001 7", "80000001 99999999999999999999"), "is no count"},
      {changed("cost 5 1c0 atomic 4 7 32 1 3 8 6", "cost 5 1c0 atomic 4 7 32 1 3 2 6"), "passes contradict each other"},
      {changed("lost 5 shared 9", "lost 5 shared nine"), "'nine' is no number of accesses"},
      {changed("lost 5 shared 9", "lost 5 local 9"), "'local' is no memory space"},
      {changed("memory global", "memory glo"), "'glo' are no memory spaces"},
      {changed("32 10 20 30", "29 10 20 30"), "lines, sectors and lanes contradict each other"},
      {changed("32 10 20 30", "32 0 0 0"), "lines, sectors and lanes contradict each other"},
      {changed("remote_load 4 1 32 10", "remote_load 4 1 29 10"), "lines, sectors and lanes contradict each other"},
      {changed(" ffffffff\n", " 1ffffffff\n"), "'1ffffffff' is no word"},
      {changed("bulk 5", "hulk 5"), "there is no record 'hulk'"},
      {changed("_Z4copyPKfPf", std::string(70000, 'x')), "it is too long"},
  };
  for (const auto& [text, sentence] : damages) {
    const ProcessRecord record = read(text);
    INFO(sentence);
    CHECK_FALSE(record.ended);
    REQUIRE(record.errors.size() >= 1);
    INFO(record.errors.back());
    CHECK_THAT(record.errors.back(), has(sentence));
  }
  // Other files.
  CHECK_THROWS_WITH(read(""), Catch::Matchers::EndsWith("is no record of version 3"));
  CHECK_THROWS_WITH(read("bankwise_cuda_record 2\nend\n"), Catch::Matchers::EndsWith("is no record of version 3"));
  CHECK_THROWS_WITH(read_record("/no/such/file"), "cannot read '/no/such/file'");
}
