// The recorded cubins of tests/data/cubins and what nvdisasm says about them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace recorded {

inline std::filesystem::path folder() { return CUBIN_DATA; }

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string cubin(const std::string& name) { return bytes_of(folder() / (name + ".cubin")); }

/// A line that nvdisasm wrote about an instruction.
struct Expected {
  std::string function, opcode;
  std::uint64_t pc = 0;
  std::vector<std::string> places;  // "file:line", innermost first
  bool is_cut = false;              // callers were not printed
};

inline std::vector<Expected> expected(const std::string& name) {
  std::ifstream file(folder() / (name + ".txt"));
  std::vector<Expected> instructions;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Expected instruction;
    words >> instruction.function >> std::hex >> instruction.pc >> instruction.opcode;
    for (std::string place; words >> place;) {
      if (place == "?") instruction.is_cut = true;
      if (place != "?") instruction.places.push_back(place);
    }
    instructions.push_back(instruction);
  }
  return instructions;
}

}  // namespace recorded
