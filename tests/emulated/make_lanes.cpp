// SPDX-License-Identifier: MIT
//
// Run by the build: makes the C++ source that compiles a .cuh file for lanes, as it is or with a mutation.
//
//   make_lanes KERNEL FILE.cuh OUTPUT.cpp [MUTATION]
//
// Errors: one sentence, exit 2.
#include <fstream>
#include <iostream>
#include <iterator>

#include "../negative/mutations.hpp"

int main(int argc, char** argv) try {
  if (argc < 4) throw std::runtime_error("usage: make_lanes KERNEL FILE.cuh OUTPUT.cpp [MUTATION]");
  const std::string kernel = argv[1], path = argv[2];
  const std::string name = argc > 4 ? argv[4] : kernel;
  std::ifstream file(path);
  std::string source(std::istreambuf_iterator<char>(file), {});
  if (argc > 4) source = mutate(source, mutation(name));
  // Another name than the one that nvcc gives its host function in the same program.
  std::ofstream output(argv[3]);
  output << "#include \"cuda_words.hpp\"\n#include \"lanes.hpp\"\n#define " << kernel << " lanes_" << name
         << "\n#line 1 \"" << path << "\"\n"
         << source << "static const lanes::Registration registration(\"" << name << "\", &lanes_" << name << ");\n";
  return output.flush() ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << "make_lanes: " << error.what() << '\n';
  return 2;
}
