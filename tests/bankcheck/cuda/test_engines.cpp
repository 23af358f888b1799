// Instructions without addresses of lanes: what their record says, and tensor maps, by what NVIDIA's driver made.
#include <array>
#include <fstream>
#include <sstream>

#include "bankcheck/cuda/resolve_parts.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::Engine;
using banks::EngineWork;
using cuda::BulkCopies;
using cuda::work_of;

namespace {

using Words = std::vector<std::uint32_t>;

/// A row of h200_tensor_maps.csv: the parameters of cuTensorMapEncodeTiled() or cuTensorMapEncodeIm2col() on an H200
/// with driver 580.159, and four words of the map that it made. Sizes are those of the box; im2col: channels per pixel,
/// pixels per column.
struct Map {
  bool im2col = false;
  unsigned type = 0, rank = 0, interleave = 0, swizzle = 0;
  std::array<unsigned, 5> sizes{}, steps{};
  std::array<std::uint32_t, 4> words{};
};

std::vector<Map> maps() {
  std::ifstream file(CUBIN_DATA "/../h200_tensor_maps.csv");
  std::vector<Map> maps;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    Map map;
    std::string mode;
    fields >> mode >> map.type >> map.rank;
    for (unsigned& size : map.sizes) fields >> size;
    for (unsigned& step : map.steps) fields >> step;
    fields >> map.interleave >> map.swizzle >> std::hex;
    for (std::uint32_t& word : map.words) fields >> word;
    REQUIRE(fields);
    map.im2col = mode == "im2col";
    maps.push_back(map);
  }
  return maps;
}

/// By the documentation of these functions.
EngineWork expected_of(const Map& map) {
  constexpr unsigned bytes[]{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};  // in the order of CUtensorMapDataType
  EngineWork work{.engine = Engine::tensor_load, .bytes = map.sizes[0] * bytes[map.type]};
  work.row_bytes = std::uint32_t(work.bytes);
  if (map.im2col) {
    work.bytes *= map.sizes[1];
  } else {
    for (unsigned i = 1; i < map.rank; ++i) work.bytes *= (map.sizes[i] + map.steps[i] - 1) / map.steps[i];
  }
  return work;
}

BulkCopies load_with(std::uint32_t mode, const std::array<std::uint32_t, 4>& map, std::uint32_t targets = 1) {
  return {0, 1, "tma_load", {mode, targets, map[0], map[1], map[2], map[3]}};
}

}  // namespace

TEST_CASE("cuda/engines/maps_of_driver") {
  constexpr std::uint64_t shared_memory = 228 << 10;
  unsigned fitting = 0, copies = 0;
  for (const Map& map : maps()) {
    const EngineWork expected = expected_of(map);
    INFO((map.im2col ? "im2col " : "tiled ") << map.type << " " << std::hex << map.words[0] << " " << map.words[1]);
    const auto work = work_of(load_with(map.im2col ? 1 : 0, map.words));
    ++copies;
    if (expected.bytes > shared_memory) {
      CHECK(work == std::nullopt);
      continue;
    }
    ++fitting;
    CHECK(work == expected);
    CHECK(work_of(load_with(map.im2col ? 1 : 0, map.words, 2))->bytes == 2 * expected.bytes);
    CHECK(work_of(load_with(map.im2col ? 0 : 1, map.words)) == std::nullopt);  // the map is of the other mode
  }
  CHECK(copies == 1180);
  CHECK(fitting >= 1100);
}

/// Maps that the libraries of PyTorch 2.11 made on an H200, each for a part of a tile, as the kernel's name and its
/// multicast tell.
TEST_CASE("cuda/engines/maps_of_libraries") {
  struct LibraryMap {
    std::uint32_t mode, targets;
    std::array<std::uint32_t, 4> words;
    std::uint64_t bytes;  ///< that it writes in one block
  };
  constexpr std::uint32_t line = 128;
  const LibraryMap maps[]{
      // nvjet_sm90_hsh_64x48_64x15_2x4: a quarter of 64 rows for 4 blocks, and half of 48 for 2
      {0, 4, {0x46322, 0x3f000000, 0xf, 0}, 16 * line},
      {0, 2, {0x46322, 0x3f000000, 0x17, 0}, 24 * line},
      // nvjet_sm90_qqtst_64x8_128x16_2x4: half of 8 rows
      {0, 2, {0x46022, 0x7f000000, 3, 0}, 4 * line},
      // cudnn_generated_…_flash_fprop_…_64x128x64 and its backward: 128 and 64 rows, one batch of every 8
      {0, 1, {0x60b2, 0x3f000e00, 0x7f, 0}, 128 * line},
      {0, 1, {0x60b2, 0x3f000e00, 0x3f, 0}, 64 * line},
      // sm90_xmma_dgrad_implicit_gemm_f16f16_…_tilesize64x64x64: 64 pixels, and a quarter of 64 filters
      {1, 1, {0x46543, 0x3f000000, 0x3ff03ff, 0x3f}, 64 * line},
      {0, 4, {0x46542, 0x3f000000, 0xf000000, 0}, 16 * line},
      // sm90_xmma_wgrad_indexed_…_f32f32_…: 32 rows and 32 pixels
      {0, 1, {0x46392, 0x1f000000, 0x1f, 0}, 32 * line},
      {1, 1, {0x463c3, 0x1f000000, 0x3ff03ff, 0x1f}, 32 * line},
  };
  for (const LibraryMap& map : maps) {
    INFO(std::hex << map.words[0] << " " << map.words[1] << " " << map.words[2]);
    CHECK(work_of(load_with(map.mode, map.words, map.targets)) ==
          EngineWork{Engine::tensor_load, map.targets * map.bytes, line});
    CHECK(work_of(load_with(1 - map.mode, map.words, map.targets)) == std::nullopt);
  }
}

TEST_CASE("cuda/engines/unknown_maps") {
  constexpr std::array<std::uint32_t, 4> map{0x90, 31U << 24, 1, 0};  // 32 x 2 elements of 2 bytes
  CHECK(work_of(load_with(0, map)) == EngineWork{Engine::tensor_load, 128, 64});
  CHECK(work_of(load_with(0, map, 0)) == EngineWork{Engine::tensor_load, 0, 0});  // for no block
  for (const std::uint32_t mode : {1U, 2U, 3U, 4U}) CHECK(work_of(load_with(mode, map)) == std::nullopt);
  auto changed = map;
  changed[0] = 0xd0;  // rank 6
  CHECK(work_of(load_with(0, changed)) == std::nullopt);
  changed[0] = 0x590 | 0x100;  // an element of 4 bits
  CHECK(work_of(load_with(0, changed)) == std::nullopt);
  changed[0] = 0x94;  // a bit of the mode that no known map has
  CHECK(work_of(load_with(0, changed)) == std::nullopt);
  CHECK(work_of(load_with(4, changed)) == std::nullopt);
  changed = map;
  changed[1] = 30U << 24;  // rows of 62 bytes
  CHECK(work_of(load_with(0, changed)) == std::nullopt);
}

TEST_CASE("cuda/engines/other_instructions") {
  const auto work = [](const char* kind, const Words& words) { return work_of({0, 1, kind, words}); };
  CHECK(work("wgmma", {2048, 256, 0, 0, 0, 0}) == EngineWork{Engine::wgmma, 2304});
  CHECK(work("bulk_shared_to_global", {96, 16, 1, 0, 0, 0}) == EngineWork{Engine::bulk_store, 96});
  CHECK(work("bulk_reduce_shared_to_global", {96, 0, 1, 0, 0, 0}) == EngineWork{Engine::bulk_reduce, 96});
  CHECK(work("bulk_reduce_shared_to_shared", {96, 0, 1, 0, 0, 0}) == std::nullopt);
  CHECK(work("bulk_fill_shared", {64, 0, 1, 0, 0, 0}) == EngineWork{Engine::bulk_fill, 64});
  CHECK(work("wgmma", {}) == std::nullopt);
  CHECK(work("wgmma", {0, 0, 0, 0, 0, 0}) == std::nullopt);  // B is always in shared memory
  CHECK(work("wgmma", {~0U, ~0U, 0, 0, 0, 0}) == std::nullopt);
  CHECK(work("tma_store", {0, 0, 0, 0, 0, 0}) == std::nullopt);
  CHECK(work("tcgen05", {0, 0, 0, 0, 0, 0}) == std::nullopt);
}
