// Run by the build: breaks a kernel on purpose (study.json of the folder).
//
//   make_mutant FOLDER MUTATION OUTPUT.cuh
//
// Line numbers stay the same, because tests check the line of the fault. Errors: one sentence, exit 2.
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/case_studies/mutations.hpp"

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("usage: make_mutant FOLDER MUTATION OUTPUT.cuh");
  const Mutation change = mutation(argv[1], argv[2]);
  std::ifstream file(SOURCE_DIRECTORY / change.file);
  const std::string source(std::istreambuf_iterator<char>(file), {});
  std::ofstream output(argv[3]);
  output << mutate(source, change);
  return output.flush() ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << "make_mutant: " << error.what() << '\n';
  return 2;
}
