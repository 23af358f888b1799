// The program of a case study, with the last of the faults.
#include <bankwise/run.hpp>

#include "broken_studies.hpp"

int main(int argc, char** argv) {
  const BrokenStudy broken(all_faults().back());
  return bankwise::run(broken.study(), argc, argv);
}
