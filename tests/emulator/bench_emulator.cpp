// The time of one run of a whole job, in seconds: by the emulator, or on the first OpenCL device, which under Oclgrind
// is Oclgrind. beside_oclgrind.py alternates between both; docs/emulator.md has the figures.
//
//   bench_emulator emulator|opencl CASE VARIANT HEIGHT WIDTH
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include <bankwise/bench/workbench.hpp>
#include "emulated_plan.hpp"
#include "tests/case_studies.hpp"
#include "tests/case_studies/opencl_ports/port_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;

namespace {

double seconds_of(const auto& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double emulated(const CaseStudy& study, const Variant& variant, Extent extent) {
  const std::vector<Words> inputs = all_inputs(study, extent);
  return seconds_of([&] { emulate_job(study, variant, extent, inputs, {.source_lines = false}); });
}

double by_opencl(const CaseStudy& study, const Variant& variant, Extent extent) {
  const auto session = open_first_opencl();
  Workbench bench(study, extent, *session);
  const auto prepared = bench.prepare(variant, Scope::memory);
  session->wait();
  return seconds_of([&] {
    bench.enqueue(prepared);
    session->wait();
  });
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) throw std::runtime_error("usage: bench_emulator emulator|opencl CASE VARIANT HEIGHT WIDTH");
  for (const CaseStudy* study : all_case_studies) {
    if (study->name != argv[2]) continue;
    const Extent extent{std::stoull(argv[4]), std::stoull(argv[5])};
    const Variant& variant = variant_of(*study, argv[3]);
    const auto side = argv[1] == std::string("opencl") ? by_opencl : emulated;
    fmt::print("{:.4f}\n", side(*study, variant, extent));
    return 0;
  }
  throw std::runtime_error(std::string("no case study ") + argv[2]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_emulator: %s\n", error.what());
  return 3;
}
