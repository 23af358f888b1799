//   write_counters PAGE.md
//   write_counters SECTORS.csv
#include <fstream>
#include <iostream>
#include <string_view>

#include "counters.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: write_counters PAGE.md or SECTORS.csv");
  std::ofstream page(argv[1]);
  const bool is_table = std::string_view(argv[1]).ends_with(".csv");
  page << (is_table ? sectors_table(counted_kernels()) : counters_page(counted_kernels()));
  return page.flush() ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << "write_counters: " << error.what() << '\n';
  return 2;
}
