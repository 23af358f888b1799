#include <sstream>

#include "bankcheck/cuda/injection/device_table.hpp"
#include "bankcheck/cuda/injection/idle_watch.hpp"
#include "bankcheck/cuda/injection/selection.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise::cuda;

namespace {

// void ns::transpose<float, 32>(float*)
const std::string TRANSPOSE = "_ZN2ns9transposeIfLi32EEEvPT_";

std::string cubin_with(const std::vector<std::string>& kernels) {
  std::string bytes(
      "\x7f"
      "ELF\0",
      5);
  for (const std::string& kernel : kernels) bytes += ".text." + kernel + '\0';
  return bytes + ".nv.info";
}

}  // namespace

TEST_CASE("cuda/injection/selection/bare_name") {
  CHECK(bare_name("void ns::transpose<float, 32>(float*)") == "ns::transpose");
  CHECK(bare_name("kernel") == "kernel");
  CHECK(bare_name("kernel(int, float (*)(int))") == "kernel");
  CHECK(bare_name("void outer<int>::inner<Pair<A, B<C> > >(A)") == "outer<int>::inner");
  CHECK(bare_name("void (anonymous namespace)::kernel(float*)") == "(anonymous namespace)::kernel");
  CHECK(bare_name("void run<void (*)(int)>(int)") == "run");
  CHECK(bare_name("") == "");
}

TEST_CASE("cuda/injection/selection/accepted_kernels") {
  CHECK(KernelFilter().accepts(TRANSPOSE));
  for (const char* glob : {"ns::transpose", "*transpose*", "_ZN2ns9trans*", "void ns::transpose<float, 32>(float?)"}) {
    INFO(glob);
    CHECK(KernelFilter({"nothing", glob}).accepts(TRANSPOSE));
  }
  for (const char* glob : {"transpose", "ns::transpos", "reduce*", ""}) {
    INFO(glob);
    CHECK_FALSE(KernelFilter({glob}).accepts(TRANSPOSE));
  }
  // Of a cubin.
  const std::string cubin = cubin_with({"_Z5otherv", TRANSPOSE});
  CHECK(KernelFilter().accepts_some_kernel(cubin));
  CHECK(KernelFilter({"ns::*"}).accepts_some_kernel(cubin));
  CHECK(KernelFilter({"other"}).accepts_some_kernel(cubin));
  CHECK_FALSE(KernelFilter({"reduce*"}).accepts_some_kernel(cubin));
  // Nothing is known of its kernels.
  const KernelFilter filter({"ns::*"});
  CHECK(filter.accepts_some_kernel(""));
  CHECK(filter.accepts_some_kernel("no cubin"));
  CHECK(filter.accepts_some_kernel("cut short: .text.abc"));
}

TEST_CASE("cuda/injection/selection/host_counts_as_patch") {
  for (const std::uint32_t threshold : {0u, 1u, 12345u, 1u << 20, 1u << 31, ALL_BLOCKS - 1, ALL_BLOCKS}) {
    std::uint64_t watched = 0;
    for (std::uint32_t block = 0; block < 3000; ++block) {
      INFO("threshold " << threshold << ", " << block << " blocks");
      REQUIRE(count_watched_blocks(block, threshold) == watched);
      watched += is_watched_block(block, threshold) ? 1 : 0;
    }
  }
  // Numbers of more than 32 bits.
  constexpr std::uint64_t PERIOD = std::uint64_t(1) << 32;
  CHECK(count_watched_blocks(PERIOD, 1000) == 1000);
  CHECK(count_watched_blocks(5 * PERIOD + 17, 1000) == 5000 + count_watched_blocks(17, 1000));
}

TEST_CASE("cuda/injection/selection/sample_size") {
  CHECK(sample_blocks(1000, 0).threshold == ALL_BLOCKS);
  CHECK(sample_blocks(1000, 0).blocks == 1000);
  CHECK(sample_blocks(1000, 1000).threshold == ALL_BLOCKS);
  CHECK(sample_blocks(1001, 1000).threshold != ALL_BLOCKS);
  for (const std::uint64_t blocks : {1001ull, 4096ull, 123457ull, 1ull << 31, (1ull << 31) * 65535}) {
    for (const std::uint64_t most : {1ull, 10ull, 1000ull}) {
      const BlockSample sample = sample_blocks(blocks, most);
      INFO(blocks << " blocks, at most " << most);
      CHECK(sample.blocks == count_watched_blocks(blocks, sample.threshold));
      CHECK(sample.blocks >= 1);
      // Of the largest grids, even the smallest threshold watches one block in each 2^32.
      if (blocks >> 32 <= most) {
        CHECK(sample.blocks <= most);
        CHECK(sample.blocks * 10 >= most * 8);
      }
    }
  }
}

TEST_CASE("cuda/injection/selection/not_aligned_with_columns") {
  constexpr std::uint32_t SIDE = 64;
  const BlockSample sample = sample_blocks(SIDE * SIDE, SIDE * 8);
  std::vector<unsigned> in_column(SIDE), in_row(SIDE);
  for (std::uint32_t block = 0; block < SIDE * SIDE; ++block) {
    if (!is_watched_block(block, sample.threshold)) continue;
    ++in_column[block % SIDE];
    ++in_row[block / SIDE];
  }
  for (std::uint32_t i = 0; i < SIDE; ++i) {
    INFO("row or column " << i);
    CHECK(in_column[i] >= 4);
    CHECK(in_column[i] <= 12);
    CHECK(in_row[i] >= 4);
    CHECK(in_row[i] <= 12);
  }
}

// When no launch is in progress.

namespace {

/// Events of threads 1, 2 ... and streams a, b ...: "L1a" a launch, "B1a" its begin, "E1" its end, "S1a" a
/// synchronization with the stream, "S1" with the context. "idle" and "busy" are what the watch must say then.
struct Story {
  const char *name, *events;
};
constexpr Story stories[]{
    {"a thread covers its own launches", "idle L1a busy S1a idle"},
    {"another thread covers them with its second synchronization", "L1a S2a busy S3a busy S2a idle"},
    {"another thread has launched in the stream", "L1a L2a S1a busy S1a idle"},
    {"after a later launch it starts anew", "L1a S2a L1a S2a busy S2 idle"},
    {"a stream is not the context", "L1a L1b S1a S1a S1a busy S1 idle"},
    {"a launch that has begun is not covered", "B1a S2a S2a S2a busy E1 busy S2a S2a idle"},
    {"a failed launch", "B1a S1a idle"},
};

void play(bankwise::cuda::IdleWatch<char, int>& watch, const std::string& event) {
  const char kind = event[0];
  const int thread = event[1] - '0';
  const auto stream = event.size() > 2 ? std::optional(event[2]) : std::nullopt;
  if (kind == 'L' || kind == 'B') watch.launch_begins(thread, *stream);
  if (kind == 'L' || kind == 'E') watch.launch_ends(thread);
  if (kind == 'S') watch.synchronized(thread, stream);
}

}  // namespace

TEST_CASE("cuda/injection/idle_watch/stories") {
  for (const auto& [name, events] : stories) {
    bankwise::cuda::IdleWatch<char, int> watch;
    std::istringstream words(events);
    std::string so_far;
    for (std::string event; words >> event;) {
      so_far += " " + event;
      INFO(name << ":" << so_far);
      if (event == "idle" || event == "busy") {
        CHECK(watch.idle() == (event == "idle"));
      } else {
        play(watch, event);
      }
    }
  }
}
