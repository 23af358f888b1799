// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/cubin.hpp"

#include "tests/bankcheck/cuda/cubin/recorded.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise::cuda;

TEST_CASE("cuda/cubin/emitted/equals_nvdisasm") {
  for (const char* name : {"turing", "ampere", "hopper", "blackwell"}) {
    INFO(name);
    std::map<EmittedAt, std::map<std::string, std::uint64_t>> expected;
    for (const auto& instruction : recorded::expected(name)) {
      const std::string kind = instruction.opcode.substr(0, instruction.opcode.find('.'));
      if ((kind != "LDS" && kind != "STS" && kind != "ATOMS") || instruction.places.empty()) continue;
      const std::string& place = instruction.places.front();
      const auto colon = place.rfind(':');
      ++expected[{place.substr(0, colon), unsigned(std::stoul(place.substr(colon + 1)))}][instruction.opcode];
    }
    CHECK_FALSE(expected.empty());
    CHECK(emitted_in(Cubin(recorded::cubin(name))) == expected);
  }
  CHECK(emitted_in(Cubin(recorded::cubin("no_lines"))).empty());
}
