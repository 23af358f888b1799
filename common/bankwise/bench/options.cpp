// SPDX-License-Identifier: MIT
#include <bankwise/bench/options.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/quantity.hpp>
#include <bankwise/support/revision.hpp>
#include <bankwise/support/suggestion.hpp>
#include <bankwise/trace/architecture_named.hpp>

namespace bankwise {
namespace {

constexpr const char* footer =
    "Counts may end in K, M, G (powers of 1000) or Ki, Mi, Gi (of 1024), or be written 2^20.\n"
    "Exit codes: 0 ok, 1 wrong result, 2 usage, 3 device or build error, 77 nothing to run here.";

/// The values of an option that has few, by the names that the reports use.
template <class Value>
std::map<std::string, Value> named(std::initializer_list<Value> values) {
  std::map<std::string, Value> names;
  for (const Value value : values) names.emplace(std::string(to_string(value)), value);
  return names;
}

/// What CLI11 reads and the runner still has to understand.
struct RawOptions {
  std::string api = "all", scope = "memory", cache;
  std::optional<std::string> n, width, height;
  double max_noise_percent = 1;
};

void declare(CLI::App& app, const CaseStudy& study, Options& options, RawOptions& raw) {
  app.footer(footer);
  app.set_version_flag("--version", std::string(revision()));
  app.add_flag("--list", options.list, "List the variants");
  app.add_flag("--devices", options.list_devices, "List the devices");
  app.add_option("--api", raw.api, "Which API")->check(CLI::IsMember({"cuda", "opencl", "all"}))->capture_default_str();
  app.add_option("--device", options.device, "Index in --devices, or part of a name (default: the best of each API)");
  app.add_option("--variant", options.variants, "Variants, separated by commas (default: all)")->delimiter(',');
  if (study.is_matrix) {
    app.add_option("--width", raw.width, "Columns of the input (default: by device and scope)");
    app.add_option("--height", raw.height, "Rows of the input (default: as many as columns)");
  } else {
    app.add_option("--n", raw.n, fmt::format("How many {} (default: by device and scope)", study.element));
  }
  if (study.access != nullptr) {
    raw.scope = "block";  // there is no other for single accesses
  } else {
    app.add_option("--scope", raw.scope, "Where the time goes: the section in shared memory, the L2 cache, memory")
        ->check(CLI::IsMember({"block", "l2", "memory"}))
        ->capture_default_str();
    app.add_option("--cache", raw.cache, "Caches before each sample (default: cold in the memory scope, else hot)")
        ->check(CLI::IsMember({"cold", "hot"}));
  }
  app.add_option_function<std::string>(
      "--arch", [&](const std::string& name) { options.architecture = &architecture_named(name); },
      "Architecture of the bank model, see bankcheck archs (default: the device's, else sm_90)");
  app.add_flag("--levels,!--no-levels", options.levels,
               "Passes and lanes at work between barriers, by emulating the CUDA kernels (default: yes)");
  app.add_option("--levels-svg", options.levels_svg, "Draw them to this file: lanes by levels, coloured by conflicts");
  app.add_flag("--counters", options.counters,
               "Read hardware counters after measuring (CUDA on NVIDIA), and show them beside the bank model");
  app.add_option("--min-time", options.limits.min_time, "Seconds to measure each variant at least, or 1024 samples")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--max-noise", raw.max_noise_percent, "Percent of noise at which a variant counts as quiet")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--timeout", options.limits.timeout, "Seconds to measure each variant at most")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--json", options.json, "Write the results to this file; - is stdout, and then nothing else is");
  app.add_option("--csv", options.csv, "Likewise, one line a variant");
  app.add_option("--compare", options.compare, "Compare with the JSON file of an earlier run");
  app.add_option("--kernel-dir", options.kernel_directory,
                 "Read the .cl files from here instead of the program; OpenCL alone, without levels");
  app.add_flag("--profile", options.profile, "Launch each variant once, nothing else: for profilers");
}

Extent read_extent(const RawOptions& raw) {
  if (raw.n) return {1, parse_count("--n", *raw.n, max_elements)};
  // One side alone means a square.
  const std::uint64_t width = parse_count("--width", raw.width ? *raw.width : *raw.height, max_elements);
  const std::uint64_t height = parse_count("--height", raw.height ? *raw.height : *raw.width, max_elements);
  if (width == 0 || height == 0) {
    throw UsageError(fmt::format(
        "a matrix of {} x {} has nothing to transpose; --height and --width must be at least 1", height, width));
  }
  if (height > max_elements / width) {
    throw UsageError(fmt::format("--height {} times --width {} is too large; at most {} words are possible", height,
                                 width, format_count(max_elements)));
  }
  return {height, width};
}

void check_variants(const CaseStudy& study, const std::vector<std::string>& wanted) {
  for (const auto& name : wanted) {
    const auto has_name = [&](const Variant& variant) { return variant.name == name; };
    if (std::any_of(study.variants.begin(), study.variants.end(), has_name)) continue;
    std::vector<std::string_view> known;
    for (const Variant& variant : study.variants) known.push_back(variant.name);
    throw UsageError(no_such("variant", name, known, "--list"));
  }
}

/// Each output has a place of its own.
void check_outputs(const std::vector<std::pair<std::string_view, std::string>>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = i + 1; k < outputs.size(); ++k) {
      const auto& [name, path] = outputs[i];
      const auto& [other, other_path] = outputs[k];
      if (path.empty() || path != other_path) continue;
      if (path == "-") throw UsageError(fmt::format("{} - and {} - cannot both have stdout", name, other));
      throw UsageError(fmt::format("{} and {} cannot both write {}", name, other, path));
    }
  }
}

/// A launch for a profiler stands alone, and edited OpenCL kernels have no CUDA counterparts.
void check_levels(const CLI::App& app, Options& options) {
  const bool asked = app.count("--levels") > 0 && options.levels;
  const char* against = !options.levels                     ? "--no-levels"
                        : options.profile                   ? "--profile"
                        : !options.kernel_directory.empty() ? "--kernel-dir"
                                                            : nullptr;
  if (against == nullptr) return;
  if (asked || !options.levels_svg.empty()) {
    throw UsageError(fmt::format("{} emulates the CUDA kernels of the program; leave out {}",
                                 asked ? "--levels" : "--levels-svg", against));
  }
  options.levels = false;
}

}  // namespace

std::optional<Options> parse_options(const CaseStudy& study, int argc, const char* const* argv) {
  Options options;
  RawOptions raw;
  CLI::App app(std::string(study.summary), std::string(study.name));
  declare(app, study, options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(fmt::format("{}; see {} --help", error.what(), study.name));
    app.exit(error);
    return std::nullopt;
  }

  if (raw.api != "all") options.api = named({gpu::Api::cuda, gpu::Api::opencl}).at(raw.api);
  options.scope = named({Scope::block, Scope::l2, Scope::memory}).at(raw.scope);
  options.cache = options.scope == Scope::memory ? Cache::cold : Cache::hot;
  if (raw.cache == "cold" && options.scope != Scope::memory) {
    throw UsageError(fmt::format("--scope {} measures with hot caches; leave out --cache cold", raw.scope));
  }
  if (!raw.cache.empty()) options.cache = named({Cache::cold, Cache::hot}).at(raw.cache);
  options.limits.max_noise = raw.max_noise_percent / 100;
  for (const double limit : {options.limits.min_time, options.limits.timeout, options.limits.max_noise}) {
    if (!std::isfinite(limit)) throw UsageError("--min-time, --timeout and --max-noise must be numbers");
  }
  if (options.limits.min_time > options.limits.timeout) {
    throw UsageError(
        fmt::format("--min-time {} is more than --timeout {}", options.limits.min_time, options.limits.timeout));
  }
  for (const char* name : {"--json", "--csv", "--levels-svg", "--compare", "--kernel-dir", "--device"}) {
    if (app.count(name) > 0 && app.get_option(name)->as<std::string>().empty()) {
      throw UsageError(fmt::format("{} needs a value", name));
    }
  }
  if (raw.n || raw.width || raw.height) options.extent = read_extent(raw);
  check_outputs({{"--json", options.json}, {"--csv", options.csv}, {"--levels-svg", options.levels_svg}});
  check_variants(study, options.variants);
  if (!options.kernel_directory.empty()) {
    if (options.api == gpu::Api::cuda) {
      throw UsageError(
          "--kernel-dir holds OpenCL sources; CUDA kernels are compiled into the program: leave out --api cuda");
    }
    options.api = gpu::Api::opencl;
  }
  check_levels(app, options);
  if (options.counters && options.profile) {
    throw UsageError("--profile launches each variant once, for other profilers; leave out --counters");
  }
  return options;
}

}  // namespace bankwise
