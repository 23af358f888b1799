#include <unistd.h>

#include <map>

#include <bankwise/support/watch_request.hpp>
#include "bankcheck/cuda/injection/record_writer.hpp"
#include "tests/catch_any.hpp"
#include "tests/programs.hpp"

using namespace bankwise::cuda;

namespace {

std::filesystem::path record_in(const std::filesystem::path& folder) {
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".record") return file.path();
  }
  return {};
}

const std::string HEAD = "bankwise_cuda_record 3\nprocess " + std::to_string(getpid()) + " " +
                         std::to_string(getppid()) + "\nmemory shared,global\n";

}  // namespace

TEST_CASE("cuda/injection/record_writer/line_of_each_thing") {
  const ScratchDirectory folder;
  RecordWriter writer(folder.path());
  writer.start();
  writer.device(2, 9, 0, "NVIDIA H200");
  writer.module(7, 2, 123456);
  writer.kernel(4, 7, 0x7fab00, 0x180, "_Z1kv");
  const LaunchDimensions shape{.grid = {1, 2, 3}, .block = {32, 4, 5}, .dynamic_bytes = 1024};
  writer.launch(4, shape, 10, 60);
  const std::uint32_t addresses[] = {0x400, 0x4ff};
  writer.pattern(4, 0x1a0, "load", 16, 1, 0x80000001, 12345678901, addresses);
  writer.cost(4, 0x1a8, "atomic", 4, 3, {.lanes = 32, .ideal = 1, .passes = 5, .lane_passes = 7}, 12);
  writer.bulk(4, 0x1b0, "wgmma", 9, addresses);
  writer.lost(4, "shared", 77);
  writer.error("two\nlines");
  writer.end();
  writer.error("too late");
  CHECK(text_of(record_in(folder.path())) == HEAD +
                                                 "device 2 9 0 NVIDIA H200\n"
                                                 "module 7 2 123456\n"
                                                 "kernel 4 7 7fab00 180 _Z1kv\n"
                                                 "launch 4 1 2 3 32 4 5 1024 10 60\n"
                                                 "pattern 4 1a0 load 16 1 80000001 12345678901 400 4ff\n"
                                                 "cost 4 1a8 atomic 4 3 32 1 5 7 12\n"
                                                 "bulk 4 1b0 wgmma 9 400 4ff\n"
                                                 "lost 4 shared 77\n"
                                                 "error two lines\n"
                                                 "end\n");
}

TEST_CASE("cuda/injection/record_writer/written_immediately") {
  const ScratchDirectory folder;
  RecordWriter writer(folder.path());
  writer.start();
  const auto record = record_in(folder.path());
  CHECK(text_of(record) == HEAD);
  writer.module(1, 0, 5);
  CHECK(text_of(record) == HEAD + "module 1 0 5\n");
  writer.bulk(0, 16, "wgmma", 1);
  CHECK(text_of(record) == HEAD + "module 1 0 5\n");
  writer.flush();
  CHECK(text_of(record) == HEAD + "module 1 0 5\nbulk 0 10 wgmma 1\n");
}

TEST_CASE("cuda/injection/record_writer/error_once") {
  const ScratchDirectory folder;
  RecordWriter writer(folder.path());
  for (const char* sentence : {"one", "other", "one"}) writer.error(sentence);
  CHECK(text_of(record_in(folder.path())) == HEAD + "error one\nerror other\n");
  // Without a record there is no file.
  const ScratchDirectory empty;
  {
    RecordWriter idle(empty.path());
    idle.flush();
    idle.end();
  }
  CHECK(files_in(empty.path()) == 0);
}

TEST_CASE("cuda/injection/record_writer/cubins_next_to_record") {
  const ScratchDirectory folder;
  RecordWriter writer(folder.path());
  writer.start();
  const std::string bytes("a\0b", 3);
  REQUIRE(writer.write_cubin(3, bytes));
  auto path = record_in(folder.path());
  path.replace_extension("3.cubin");
  CHECK(text_of(path) == bytes);
  writer.remove_cubin(3);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("cuda/injection/record_writer/missing_folder") {
  RecordWriter writer("/no/such/folder");
  CHECK_THROWS_WITH(writer.start(), has("cannot write /no/such/folder/") && has("No such file or directory"));
  CHECK_FALSE(writer.write_cubin(0, "x"));
  writer.error("nothing happens");
}

TEST_CASE("cuda/injection/record_writer/access_kinds") {
  constexpr std::uint32_t READ = 1, WRITE = 2, SYSTEM = 4, CTA_SCOPE = 16, WRITE_ONLY_ATOMIC = 256;
  const auto kind = [](AccessSource source, std::uint32_t flags) {
    return kind_of_access(pack_what(source, 4, flags));
  };
  CHECK(kind(AccessSource::shared, READ) == "load");
  CHECK(kind(AccessSource::shared, READ | CTA_SCOPE) == "load");
  CHECK(kind(AccessSource::shared, WRITE) == "store");
  CHECK(kind(AccessSource::shared, READ | WRITE) == "atomic");
  CHECK(kind(AccessSource::shared, WRITE | WRITE_ONLY_ATOMIC) == "atomic");
  CHECK(kind(AccessSource::shared, READ | SYSTEM) == "atomic");
  CHECK(kind(AccessSource::matrix, READ | 1 << 8) == "ldmatrix");
  CHECK(kind(AccessSource::matrix, WRITE | 4 << 8) == "stmatrix");
  CHECK(kind(AccessSource::remote, READ) == "remote_load");
  CHECK(kind(AccessSource::remote, WRITE) == "remote_store");
  CHECK(kind(AccessSource::remote, READ | WRITE) == "remote_atomic");
  CHECK(kind(AccessSource::async_copy, 0) == "async");
  CHECK(kind(AccessSource::async_store, 0) == "remote_store");
  CHECK(kind(AccessSource::async_reduction, 0) == "remote_atomic");
  CHECK(kind(AccessSource::global, WRITE | WRITE_ONLY_ATOMIC) == "global_atomic");
  CHECK(kind(AccessSource::global_copy, 0) == "global_copy");
  CHECK(kind(AccessSource::local, WRITE) == "local_store");
  CHECK(kind_of_access(pack_what(AccessSource::global, 4, READ) | COSTED) == "global_load");
  CHECK(kind(AccessSource::end, 0) == "unknown");
  CHECK(name_of_bulk(pack_what(AccessSource::async_reduction, 4, 0)) == "");
  CHECK(name_of_bulk(pack_what(AccessSource::bulk_global_to_shared, 0, 0)) == "bulk_global_to_shared");
  CHECK(name_of_bulk(pack_what(AccessSource::wgmma, 0, 0)) == "wgmma");
  CHECK(name_of_bulk(pack_what(AccessSource::end, 0, 0)) == "");
}

TEST_CASE("cuda/injection/record_writer/prefetches") {
  CHECK(is_prefetch(8));
  CHECK(is_prefetch(8 | 64));
  CHECK_FALSE(is_prefetch(1));
  CHECK_FALSE(is_prefetch(8 | 1));  // a load with a hint
  CHECK_FALSE(is_prefetch(0));
}

TEST_CASE("cuda/injection/record_writer/copy_address") {
  CHECK(pack_copy(0x400, 0x7f0012345600, 0, 4) == 0x400);
  CHECK(pack_copy(0x480, 0x7f001234567c, 0, 4) == 0xf8000480);
  CHECK(pack_copy(0x3ffff, 0x84, 0, 8) == (1U << 27 | 0x3ffff));
  CHECK(pack_copy(0x3ffff, 0x90, 31, 16) == (31U << 27 | 4U << 22 | 0x3ffff));
  for (const std::uint32_t width : {4U, 16U}) CHECK(pack_copy(0xf1100480, 0, 3, width) == (COPY_ZEROS | 0x100480));
  // A step between lanes stays one when the source enters another line.
  for (const std::uint32_t width : {4U, 8U, 16U}) {
    const auto packed = [&](std::uint32_t at) { return pack_copy(512 + at, 64 + at, (64 + at) / 128, width); };
    const std::uint32_t step = packed(width) - packed(0);
    for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(packed(width * lane) == packed(0) + step * lane);
  }
}

TEST_CASE("cuda/injection/record_writer/patch_of_every_source") {
  const auto patches_of = [](bankwise::support::MemorySpaces memory) {
    std::map<int, std::string> patches;
    for (const auto& point : patch_points(memory)) patches[point.instruction] = point.function;
    CHECK(patches.size() == patch_points(memory).size());
    return patches;
  };
  constexpr int GLOBAL = 3, SHARED = 4, LOCAL = 5, COPY = 14, TMA_LOAD = 43;
  const auto patches = patches_of({true, true});
  CHECK(patches.size() == std::size_t(AccessSource::sectors_read) - 1);  // a copy is patched once
  CHECK(patches.at(COPY) == "bankwise_async_copy_and_read");
  const auto shared = patches_of({true, false});
  CHECK(shared.size() == patches.size() - 2);
  CHECK(shared.at(COPY) == "bankwise_async_copy");
  CHECK((!shared.contains(GLOBAL) && !shared.contains(LOCAL)));
  const auto global = patches_of({false, true});
  CHECK(global.at(COPY) == "bankwise_async_read");
  CHECK((global.contains(TMA_LOAD) && global.contains(LOCAL) && !global.contains(SHARED)));
  for (auto source = std::size_t(AccessSource::first_bulk); source < std::size_t(AccessSource::sectors_read);
       ++source) {
    const std::string name(name_of_bulk(pack_what(AccessSource(source), 0, 0)));
    CHECK(std::count_if(patches.begin(), patches.end(),
                        [&](const auto& patch) { return patch.second == "bankwise_" + name; }) == 1);
  }
}

using Request = bankwise::support::CudaRequest;
constexpr auto read_request = bankwise::support::read_request<Request>;

TEST_CASE("cuda/injection/record_writer/settings_from_environment") {
  const auto set = [](const char* name, const char* value) { setenv(name, value, 1); };
  unsetenv("BANKWISE_CUDA_RECORDS");
  set("BANKWISE_SANITIZER_LIBRARY", "/lib/x.so");
  CHECK_THROWS_WITH(read_request(), "BANKWISE_CUDA_RECORDS is not set");
  set("BANKWISE_CUDA_RECORDS", "/records");
  set("BANKWISE_CUDA_KERNELS", "a*\n\nb c\n");
  set("BANKWISE_CUDA_MAX_GROUPS", "12");
  const auto settings = read_request();
  CHECK(settings.folder == "/records");
  CHECK(settings.sanitizer == "/lib/x.so");
  CHECK(settings.kernels == std::vector<std::string>{"a*", "b c"});
  CHECK(settings.max_blocks == 12);
  CHECK(settings.table_bytes == 256 << 20);
  write_request(Request{.folder = "/there", .sanitizer = "x", .kernels = {"c", "d"}, .max_launches = 3});
  CHECK(read_request().folder == "/there");
  CHECK(read_request().kernels == bankwise::support::Lines{"c", "d"});
  CHECK(read_request().max_launches == 3);
  CHECK(read_request().max_blocks == 0);
  set("BANKWISE_CUDA_TABLE_BYTES", "12k");
  CHECK_THROWS_WITH(read_request(), "BANKWISE_CUDA_TABLE_BYTES is not a number: 12k");
  for (const char* name : {"BANKWISE_CUDA_RECORDS", "BANKWISE_SANITIZER_LIBRARY", "BANKWISE_CUDA_KERNELS",
                           "BANKWISE_CUDA_MAX_GROUPS", "BANKWISE_CUDA_TABLE_BYTES"}) {
    unsetenv(name);
  }
}
