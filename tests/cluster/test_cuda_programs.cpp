// SPDX-License-Identifier: MIT
//
// The programs on the devices of this machine, one rank per device: sizes at the edges of tiles, chunks and blocks. The
// programs verify every word.
#include "tests/device/devices_under_test.hpp"
#include "tests/programs.hpp"

namespace {

std::string on_all_devices(const std::string& program, const std::string& size) {
  const auto devices = devices_under_test();
  const Outcome outcome = run(program, "--api " + std::string(to_string(devices.front().api)) + " --cache hot " + size,
                              MPIRUN " -n " + std::to_string(std::min<std::size_t>(devices.size(), 4)) + " ");
  return outcome.code == 0 ? "" : outcome.out + outcome.err;
}

}  // namespace

TEST_CASE("cluster/cuda_programs/reductions_and_scans", "[edges]") {
  for (const std::uint64_t n : {0, 1, 5, 8191, 8193, (1 << 20) - 1, (1 << 20) + 1, 3 * (1 << 20) + 5}) {
    for (const char* program : {"reduction", "prefix_sum"}) {
      INFO(program << " of " << n);
      CHECK(on_all_devices(program, "--n " + std::to_string(n)) == "");
    }
  }
}

TEST_CASE("cluster/cuda_programs/transposes", "[edges]") {
  constexpr std::pair<int, int> shapes[]{{1, 1}, {3, 70}, {62, 129}, {129, 66}, {131, 67}, {1001, 2003}};
  for (const auto& [height, width] : shapes) {
    INFO(height << " x " << width);
    CHECK(on_all_devices("transpose", "--height " + std::to_string(height) + " --width " + std::to_string(width)) ==
          "");
  }
}
