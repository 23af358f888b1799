#include "bankcheck/cuda/cubin/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "tests/bankcheck/cuda/cubin/recorded.hpp"
#include "tests/catch_any.hpp"

using bankwise::cuda::Cubin;

namespace {

const std::map<std::string, unsigned> architectures{{"turing", 75},     {"ampere", 80},       {"hopper", 90},
                                                    {"blackwell", 120}, {"named_arrays", 90}, {"no_lines", 100},
                                                    {"copies", 90}};

std::vector<std::string> places_of(const std::vector<bankwise::cuda::SourceFrame>& frames) {
  std::vector<std::string> places;
  for (const auto& frame : frames) places.push_back(fmt::format("{}:{}", frame.file, frame.line));
  return places;
}

/// What the cubin says about the instruction, as the recorded text has it.
recorded::Expected instruction_in(const Cubin& cubin, const recorded::Expected& expected) {
  recorded::Expected actual = expected;
  actual.opcode = cubin.opcode_at(expected.function, expected.pc).value_or("none");
  actual.places = places_of(cubin.source_of(expected.function, expected.pc));
  if (expected.is_cut && actual.places.size() > 1) actual.places.resize(1);
  return actual;
}

}  // namespace

TEST_CASE("cuda/cubin/equals_nvdisasm") {
  for (const auto& [name, sm] : architectures) {
    INFO(name);
    const Cubin cubin(recorded::cubin(name));
    CHECK(cubin.sm() == sm);
    CHECK(cubin.line_error() == "");
    const auto instructions = recorded::expected(name);
    REQUIRE(instructions.size() >= 4);
    for (const auto& expected : instructions) {
      INFO(expected.function << " " << expected.pc);
      CHECK(instruction_in(cubin, expected).opcode == expected.opcode);
      CHECK(instruction_in(cubin, expected).places == expected.places);
    }
  }
}

TEST_CASE("cuda/cubin/no_other_access_in_nvdisasm") {
  for (const auto& [name, sm] : architectures) {
    INFO(name);
    std::set<std::pair<std::string, std::uint64_t>> listed, named;
    for (const auto& expected : recorded::expected(name)) listed.emplace(expected.function, expected.pc);
    const Cubin cubin(recorded::cubin(name));
    for (const auto& function : cubin.functions()) {
      for (std::uint64_t pc = 0; pc < function.bytes; pc += 16) {
        if (cubin.opcode_at(function.name, pc)) named.emplace(function.name, pc);
      }
    }
    CHECK(named == listed);
  }
}

TEST_CASE("cuda/cubin/inlined_calls") {
  std::size_t deepest = 0;
  for (const auto& expected : recorded::expected("hopper")) deepest = std::max(deepest, expected.places.size());
  CHECK(deepest >= 2);
  const Cubin cubin(recorded::cubin("hopper"));
  std::set<std::string> functions;
  for (const auto& expected : recorded::expected("hopper")) {
    const auto frames = cubin.source_of(expected.function, expected.pc);
    REQUIRE(!frames.empty());
    CHECK(frames.back().function == expected.function);
    for (const auto& frame : frames) functions.insert(frame.function);
  }
  const auto is_inlined = [](const std::string& name) { return name.find("atomicAdd") != std::string::npos; };
  CHECK(std::any_of(functions.begin(), functions.end(), is_inlined));
}

TEST_CASE("cuda/cubin/lists_functions") {
  const auto functions = Cubin(recorded::cubin("turing")).functions();
  REQUIRE(functions.size() == 2);
  CHECK(functions[0].name == "_Z10more_bytesPKjPj");
  CHECK(functions[1].name == "_Z23transpose_tile32_paddedPKjPjmm");
  CHECK(functions[0].bytes % 16 == 0);
  CHECK(functions[0].bytes > 0);
}

TEST_CASE("cuda/cubin/arrays_of_debug_builds") {
  const auto arrays = Cubin(recorded::cubin("named_arrays")).shared_arrays("_Z10more_queuePKjPj");
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].name == "_ZZ10more_queuePKjPjE6length");
  CHECK(arrays[0].offset == 1024);
  CHECK(arrays[0].bytes == 4);
  CHECK(arrays[1].name == "_ZZ10more_queuePKjPjE5queue");
  CHECK(arrays[1].offset == 1028);
  CHECK(arrays[1].bytes == 4096);
  CHECK(Cubin(recorded::cubin("named_arrays")).shared_arrays("missing").empty());
}

TEST_CASE("cuda/cubin/arrays_in_ptx") {
  const auto arrays = Cubin(recorded::cubin("ampere")).shared_arrays("_Z10more_queuePKjPj");
  REQUIRE(arrays.size() == 2);  // in the order of the declarations, and not of the debug build
  CHECK(arrays[0].name == "_ZZ10more_queuePKjPjE5queue");
  CHECK(arrays[0].offset == 1024);
  CHECK(arrays[0].bytes == 4096);
  CHECK(arrays[1].name == "_ZZ10more_queuePKjPjE6length");
  CHECK(arrays[1].offset == 5120);
  CHECK(arrays[1].bytes == 4);
  const Cubin turing(recorded::cubin("turing"));
  const auto table = turing.shared_arrays("_Z10more_bytesPKjPj");
  REQUIRE(table.size() == 1);
  CHECK(table[0].offset == 0);
  CHECK(table[0].bytes == 256);
  CHECK(turing.shared_arrays("_Z10more_bytes").empty());
  CHECK(Cubin(recorded::cubin("no_lines")).shared_arrays("_Z10more_bytesPKjPj").empty());
}

TEST_CASE("cuda/cubin/absent_is_empty") {
  const Cubin cubin(recorded::cubin("turing"));
  const std::string kernel = cubin.functions().front().name;
  CHECK(cubin.source_of("missing", 0).empty());
  CHECK(!cubin.opcode_at("missing", 0));
  for (const std::uint64_t pc : {std::uint64_t{1} << 20, ~std::uint64_t{0}, ~std::uint64_t{15}}) {
    CHECK(cubin.source_of(kernel, pc).empty());
    CHECK(!cubin.opcode_at(kernel, pc));
  }
  CHECK(!cubin.opcode_at(kernel, 8));  // in the middle of an instruction
}

TEST_CASE("cuda/cubin/moved_outlives_cubin") {
  auto cubin = std::make_unique<Cubin>(recorded::cubin("turing"));
  const Cubin moved = std::move(*cubin);
  cubin.reset();
  const auto expected = recorded::expected("turing").front();
  CHECK(instruction_in(moved, expected).places == expected.places);
}

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
    for (const auto& line : bankwise::cuda::emitted_in(Cubin(recorded::cubin(name))))
      emitted[{line.file, line.line}] = line.opcodes;
    CHECK(emitted == expected);
  }
  CHECK(bankwise::cuda::emitted_in(Cubin(recorded::cubin("no_lines"))).empty());
}

#ifdef COMPILED_CUBINS
namespace {

struct Mark {
  std::string opcode;
  unsigned line = 0, first_sm = 75;
};

/// The opcodes behind "//=" in the source of the compiled cubins.
std::vector<Mark> marks() {
  std::ifstream file(recorded::folder() / "more_accesses.cu");
  const std::regex pattern("//= (\\S+)(?: from (\\d+))?");
  std::vector<Mark> marks;
  unsigned number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_search(line, match, pattern)) continue;
    marks.push_back({match[1], number, match[2].matched ? unsigned(std::stoul(match[2])) : 75U});
  }
  return marks;
}

/// Per line of more_accesses.cu, the opcodes of its instructions.
std::map<unsigned, std::set<std::string>> opcodes_by_line(const Cubin& cubin) {
  std::map<unsigned, std::set<std::string>> opcodes;
  for (const auto& function : cubin.functions()) {
    for (std::uint64_t pc = 0; pc < function.bytes; pc += 16) {
      const auto named = cubin.opcode_at(function.name, pc);
      if (!named) continue;
      std::string opcode = *named;
      if (opcode.starts_with("LDS.U") && cubin.sm() == 75) opcode.erase(3, 2);
      for (const auto& frame : cubin.source_of(function.name, pc)) {
        if (frame.file.ends_with("more_accesses.cu")) opcodes[frame.line].insert(opcode);
      }
    }
  }
  return opcodes;
}

}  // namespace

TEST_CASE("cuda/cubin/compiled_here") {
  unsigned cubins = 0;
  for (const auto& entry : std::filesystem::directory_iterator(COMPILED_CUBINS)) {
    if (entry.path().extension() != ".cubin") continue;
    INFO(entry.path().filename().string());
    const Cubin cubin(recorded::bytes_of(entry.path()));
    auto opcodes = opcodes_by_line(cubin);
    ++cubins;
    unsigned checked = 0;
    for (const Mark& mark : marks()) {
      if (cubin.sm() < mark.first_sm) continue;
      INFO("line " << mark.line << ": " << mark.opcode);
      CHECK(opcodes[mark.line].contains(mark.opcode));
      ++checked;
    }
    CHECK(checked >= 34);
  }
  CHECK(cubins >= 1);
}
#endif
