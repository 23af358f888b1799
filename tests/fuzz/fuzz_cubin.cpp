// The input is a cubin or none, which is said in one sentence. Of a cubin everything is asked: each function's
// instructions, lines and arrays, and names for people.
#include <algorithm>
#include <stdexcept>

#include "bankcheck/cuda/cubin/cubin.hpp"
#include "fuzz.hpp"

using bankwise::cuda::Cubin;

namespace {

// As much as a test has time for.
constexpr std::size_t max_functions = 20;
constexpr std::uint64_t max_bytes = 4096;  // of a function

void check_instruction(const Cubin& cubin, const std::string& function, std::uint64_t pc) {
  const auto frames = cubin.source_of(function, pc);
  fuzz::require(frames.size() <= 200, "a chain of calls has an end");
  const auto opcode = cubin.opcode_at(function, pc);
  fuzz::require(!opcode || pc % 16 == 0, "instructions have 16 bytes");
  fuzz::require(!opcode || fuzz::is_sentence(*opcode), "an opcode is a word");
  fuzz::require(!opcode || opcode->find('?') == std::string::npos, "an opcode is no guess");
}

void check_function(const Cubin& cubin, const Cubin::Function& function) {
  for (const std::size_t width : {std::size_t{8}, std::size_t{80}}) {
    fuzz::require(bankwise::cuda::demangled(function.name, width).size() <= width, "a name fits", function.name);
  }
  for (std::uint64_t pc = 0; pc < std::min(function.bytes, max_bytes); pc += 8) {
    check_instruction(cubin, function.name, pc);
  }
  check_instruction(cubin, function.name, function.bytes);
  check_instruction(cubin, function.name, ~std::uint64_t{15});
  std::uint32_t offset = 0;
  for (const auto& array : cubin.shared_arrays(function.name)) {
    fuzz::require(array.offset >= offset, "arrays are in order", array.name);
    fuzz::require(array.bytes != 0 && array.offset + array.bytes > array.offset, "arrays have an end", array.name);
    offset = array.offset;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const char*>(data);
  try {
    const Cubin cubin(std::string(bytes, bytes + size));
    const std::string& error = cubin.line_error();
    fuzz::require(error.empty() || fuzz::is_sentence(error), "one sentence", error);
    const auto functions = cubin.functions();
    for (std::size_t i = 0; i < std::min(functions.size(), max_functions); ++i) check_function(cubin, functions[i]);
    for (const auto& line : bankwise::cuda::emitted_in(cubin)) {
      fuzz::require(line.line != 0 && !line.opcodes.empty(), "a place has a line and instructions", line.file);
    }
  } catch (const std::runtime_error& error) {
    fuzz::require(fuzz::is_sentence(error.what()), "one sentence", error.what());
  }
  return 0;
}
