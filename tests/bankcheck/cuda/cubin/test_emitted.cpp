// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/cubin.hpp"

#include "tests/bankcheck/cuda/cubin/recorded.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise::cuda;

TEST_CASE("cuda/cubin/emitted/equals_nvdisasm") {
  for (const char* name : {"turing", "ampere", "hopper", "blackwell"}) {
    INFO(name);
    std::map<std::pair<std::string, unsigned>, std::map<std::string, std::uint64_t>> expected, emitted;
    for (const auto& instruction : recorded::expected(name)) {
      const std::string kind = instruction.opcode.substr(0, instruction.opcode.find('.'));
      if ((kind != "LDS" && kind != "STS" && kind != "ATOMS") || instruction.places.empty()) continue;
      const std::string& place = instruction.places.front();
      const auto colon = place.rfind(':');
      ++expected[{place.substr(0, colon), unsigned(std::stoul(place.substr(colon + 1)))}][instruction.opcode];
    }
    CHECK_FALSE(expected.empty());
    for (const EmittedLine& line : emitted_in(Cubin(recorded::cubin(name))))
      emitted[{line.file, line.line}] = line.opcodes;
    CHECK(emitted == expected);
  }
  CHECK(emitted_in(Cubin(recorded::cubin("no_lines"))).empty());
}
