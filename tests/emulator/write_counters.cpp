//   write_counters PAGE.md
#include <fstream>
#include <iostream>

#include "counters.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: write_counters PAGE.md");
  std::ofstream page(argv[1]);
  page << counters_page(counted_kernels());
  return page.flush() ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << "write_counters: " << error.what() << '\n';
  return 2;
}
