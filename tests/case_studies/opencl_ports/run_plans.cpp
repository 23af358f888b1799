// Runs the OpenCL plans of a case study once, on the first OpenCL device, and verifies the results.
//
//   run_plans CASE HEIGHT WIDTH DEPTH [FOLDER]
//
// FOLDER  the .cl files of the case study, in place of those in the program
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include <bankwise/bench/program.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/support/exit_code.hpp>
#include "port_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;

int main(int argc, char** argv) try {
  if (argc < 5 || argc > 6) throw support::UsageError("usage: run_plans CASE HEIGHT WIDTH DEPTH [FOLDER]");
  const CaseStudy& built_in = ported_study(argv[1]);
  std::optional<KernelDirectory> folder;
  if (argc == 6) folder.emplace(built_in, argv[5]);
  const CaseStudy& study = folder ? folder->study() : built_in;

  const auto session = open_first_opencl();
  const Extent extent{std::stoull(argv[2]), std::stoull(argv[3]), std::stoull(argv[4])};
  Workbench bench(study, extent, *session);
  int code = support::exit_ok;
  for (const Variant& variant : variants_of_all_kernels(study, extent, ported_units)) {
    PreparedVariant prepared = bench.prepare(study.plan(variant, extent, ported_units));
    prepared.variant = &variant;
    const std::string wrong = bench.verify(prepared);
    if (wrong.empty()) continue;
    std::fprintf(stderr, "run_plans: %s %s: %s\n", argv[1], std::string(variant.name).c_str(), wrong.c_str());
    code = support::exit_wrong;
  }
  return code;
} catch (const std::exception& error) {
  std::fprintf(stderr, "run_plans: %s\n", error.what());
  return support::exit_device;
}
