#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/bench/sampling.hpp>
#include <bankwise/report/sink.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise::bench {

/// The command line of a case study, parsed and checked as far as possible without a device.
struct Options {
  bool list = false;
  bool list_devices = false;
  std::optional<gpu::Api> api;          ///< empty: both
  std::string device;                   ///< index or part of a name; empty: the best device of each API
  std::vector<std::string> variants;    ///< empty: all
  std::optional<study::Extent> extent;  ///< empty: a default that suits the device and the scope
  study::Scope scope = study::Scope::memory;
  study::Cache cache = study::Cache::cold;
  StopLimits limits;
  bool profile = false;
  bool levels = true;     ///< emulate the CUDA kernels and report their passes and active lanes
  bool counters = false;  ///< read hardware counters after measuring
  const banks::Architecture* architecture = nullptr;  ///< for the bank model; null: the device's architecture
  std::vector<report::Output> outputs;
  std::string compare, kernel_directory;
};

/// Flags that not every program offers.
struct Offered {
  bool scopes = true;  ///< --scope and --cache; programs without them measure with hot caches
  bool levels = true;  ///< --levels
  std::vector<report::Output> outputs{};
};

/// Reads the command line. Empty after --help or --version, which this function answers.
/// Errors: UsageError.
std::optional<Options> parse_options(const study::CaseStudy& study, int argc, const char* const* argv,
                                     const Offered& offered = {});

}  // namespace bankwise::bench
