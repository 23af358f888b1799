// SPDX-License-Identifier: MIT
//
// Run by the build: makes the C++ source that compiles a .cuh file for lanes, as it is or with a mutation.
//
//   make_lanes KERNEL FILE.cuh OUTPUT.cpp [MUTATION]
#include <fstream>
#include <iostream>
#include <iterator>

#include "../negative/mutations.hpp"

int main(int argc, char** argv) try {
  if (argc < 4) throw std::runtime_error("usage: make_lanes KERNEL FILE.cuh OUTPUT.cpp [MUTATION]");
  const std::string kernel = argv[1];
  const std::string name = argc > 4 ? argv[4] : kernel;
  std::string source;
  if (argc > 4) {
    std::ifstream file(argv[2]);
    source =
        "#define " + kernel + " " + name + "\n" + mutate({std::istreambuf_iterator<char>(file), {}}, mutation(name));
  } else {
    source = "#include \"" + std::string(argv[2]) + "\"\n";
  }
  std::ofstream output(argv[3]);
  output << "#include \"cuda_words.hpp\"\n#include \"lanes.hpp\"\n"
         << source << "static const lanes::Registration registration(\"" << name << "\", &" << name << ");\n";
  return output.flush() ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << "make_lanes: " << error.what() << '\n';
  return 2;
}
