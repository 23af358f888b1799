// SPDX-License-Identifier: MIT
//
// Run by the build: breaks a kernel on purpose (tests/case_studies/mutations.hpp).
//
//   make_mutant FILE.cuh OUTPUT.cuh MUTATION
//
// Line numbers stay the same, because tests check the line of the fault. Errors: one sentence, exit 2.
#include <fstream>
#include <iostream>
#include <iterator>

#include "tests/case_studies/mutations.hpp"

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("usage: make_mutant FILE.cuh OUTPUT.cuh MUTATION");
  std::ifstream file(argv[1]);
  const std::string source(std::istreambuf_iterator<char>(file), {});
  std::ofstream output(argv[2]);
  output << mutate(source, mutation(argv[3]));
  return output.flush() ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << "make_mutant: " << error.what() << '\n';
  return 2;
}
