// A program that others wrote, built and packaged: Debian's clfft-client. Skipped if it is not installed.
#include <cstdlib>

#include "checked_program.hpp"
#include "tests/skipping_main.hpp"

TEST_CASE("opencl/packaged_program/clfft_64") {
  // Its input is known, and it verifies its result.
  const Checked c = check("clFFT-client -x 64 -b 1 -p 1", "--arch sm_90,gfx942");
  INFO(c.outcome.err);
  REQUIRE(c.outcome.code == 0);
  CHECK_THAT(c.outcome.out, has("PASS"));
  // One transform is 16 lanes with 4 points each, in 3 stages of radix 4. Between the stages the real parts and then
  // the imaginary parts go through local memory: 4 stores and 4 loads, each 4 bytes wide.
  //   After the first stage, lane m stores at 4 m + k: 16 lanes on 8 banks, 2 passes.
  //   After the second stage, at 16 (m / 4) + m % 4 + 4 k: lanes 0 to 3 meet 8 to 11, 4 to 7 meet 12 to 15: 2 passes.
  //   All loads are at m + 16 k: 1 pass.
  for (const std::size_t architecture : {0U, 1U}) {
    const nlohmann::json& kernel = c.on("fft_fwd", architecture);
    CHECK(numbers(kernel) == Numbers{2 * 2 * (4 + 4), 16 * 32, 2 * 2 * (4 * 2 + 4), 2 * 2 * (4 + 4), 2 * 2 * 4});
    for (const auto& line : kernel.at("lines")) {
      INFO(line.dump());
      check_members(line, R"({"array": "lds", "width": 4, "accesses": 1})");
      CHECK(line.at("conflicts") == (line.at("operation") == "store" ? 1 : 0));
    }
  }
}

std::string reason_to_skip() {
  if (std::system("command -v clFFT-client >/dev/null") == 0) return "";
  return "clFFT-client is not installed (Debian, Ubuntu: apt-get install clfft-client)";
}
