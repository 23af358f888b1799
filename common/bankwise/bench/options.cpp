#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include <bankwise/bench/program.hpp>
#include <bankwise/support/command_line.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::bench {

using namespace study;

namespace {

constexpr const char* footer =
    "Counts may end in K, M, G (powers of 1000) or Ki, Mi, Gi (of 1024), or be written 2^20.\n"
    "Exit codes: 0 ok, 1 wrong result, 2 usage, 3 device or build error, 77 nothing to run here.";

/// The values of an option that has few, keyed by the names that the reports use.
template <class Value>
std::map<std::string, Value> named(std::initializer_list<Value> values) {
  std::map<std::string, Value> names;
  for (const Value value : values) names.emplace(std::string(to_string(value)), value);
  return names;
}

/// Values that CLI11 reads and parse_options() still has to interpret.
struct RawOptions {
  std::string api = "all", scope = "memory", cache;
  std::map<std::string_view, std::string> lengths;  // by Side::name
  double max_noise_percent = 1;
};

void declare(CLI::App& app, const CaseStudy& study, const Offered& offered, Options& options, RawOptions& raw) {
  app.formatter(std::make_shared<support::HelpText>());
  app.footer(footer);
  app.set_version_flag("--version", std::string(support::revision()));
  app.option_defaults()->group("Input");
  app.add_flag("--list", options.list, "List the variants");
  app.add_flag("--devices", options.list_devices, "List the devices");
  app.add_option("--api", raw.api, "API to run on")
      ->type_name("API")
      ->check(CLI::IsMember({"cuda", "opencl", "all"}))
      ->capture_default_str();
  app.add_option("--device", options.device,
                 "Device: index in --devices, or part of its name (default: the best device of each API)")
      ->type_name("DEVICE");
  app.add_option("--variant", options.variants, "Variants, separated by commas (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  for (const Side& side : study.sides) {
    const std::string description =
        side.help.empty() ? fmt::format("Number of {}", study.element) : std::string(side.help);
    app.add_option_function<std::string>(
           fmt::format("--{}", side.name), [&](const std::string& text) { raw.lengths[side.name] = text; },
           fmt::format("{} (default: {}{})", description,
                       study.sides.size() > 2   ? "equal to the first side that is given; without any, "
                       : study.sides.size() > 1 ? "equal to the other side; without both, "
                                                : "",
                       offered.scopes ? "depends on device and scope" : "depends on the device"))
        ->type_name("N");
  }
  app.option_defaults()->group("Measurement");
  if (offered.scopes) {
    app.add_option("--scope", raw.scope,
                   "What limits the measured time: shared memory (block), the L2 cache (l2), or DRAM (memory)")
        ->type_name("SCOPE")
        ->check(CLI::IsMember({"block", "l2", "memory"}))
        ->capture_default_str();
    app.add_option("--cache", raw.cache,
                   "State of the caches before each sample (default: cold in the memory scope, otherwise hot)")
        ->type_name("STATE")
        ->check(CLI::IsMember({"cold", "hot"}));
  }
  app.option_defaults()->group("Bank model");
  app.add_option_function<std::string>(
         "--arch", [&](const std::string& name) { options.architecture = &architecture_named(name); },
         "Architecture of the bank model, see bankcheck archs (default: the device's, otherwise sm_90)")
      ->type_name("ARCH");
  if (offered.levels) {
    app.add_flag("--levels,!--no-levels", options.levels,
                 "Emulate the CUDA kernels, and show passes and active lanes of each level, the interval between two "
                 "barriers (default: yes)");
  }
  app.option_defaults()->group("Measurement");
  if (offered.bandwidth) {
    app.add_flag("--bandwidth", options.bandwidth,
                 "Instead measure how fast the GPU reads from its L2 cache and from DRAM, and keep both for bankcheck");
  }
  app.add_flag("--counters", options.counters,
               "Read hardware counters after measuring (CUDA on NVIDIA), and compare them with the bank model");
  app.add_option("--min-time", options.limits.min_time,
                 "Minimum seconds to measure each variant, unless 1024 samples are reached earlier")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--max-noise", raw.max_noise_percent,
                 "Noise, in percent, at or below which the measurement of a variant may end")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--timeout", options.limits.timeout, "Maximum seconds to measure each variant")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.option_defaults()->group("Output");
  for (report::Output& output : options.outputs) {
    if (output.option != nullptr) app.add_option(output.option, output.path, output.help)->type_name("FILE");
  }
  app.add_option("--compare", options.compare, "Compare with the JSON file of an earlier run")->type_name("FILE");
  app.option_defaults()->group("Input");
  app.add_option(
         "--kernel-dir", options.kernel_directory,
         "Read the .cl files from this folder instead of those in the program; runs only OpenCL, without levels")
      ->type_name("DIR");
  app.option_defaults()->group("Measurement");
  app.add_flag("--profile", options.profile, "Launch each variant once, without checks or timing: for profilers");
}

/// A side that is not given is as long as the first one that is: a single side means a square.
Extent read_extent(const CaseStudy& study, const RawOptions& raw) {
  Extent extent;
  for (const Side& side : study.sides) {
    const auto given = raw.lengths.find(side.name);
    const std::string& text = given != raw.lengths.end() ? given->second : raw.lengths.begin()->second;
    const std::string flag = fmt::format("--{}", side.name);
    extent.*side.length = support::parse_count(flag, text, max_elements);
    if (extent.*side.length < side.least)
      throw support::UsageError(fmt::format("{} must be at least {}", flag, side.least));
  }
  std::uint64_t left = max_elements;
  for (const std::uint64_t length : {extent.height, extent.width, extent.depth}) {
    if (length > left) {
      throw support::UsageError(fmt::format("{} is too large; at most {} {} are possible", lengths_text(study, extent),
                                            support::grouped(max_elements), study.element));
    }
    if (length > 0) left /= length;
  }
  return extent;
}

void check_variants(const CaseStudy& study, const std::vector<std::string>& wanted) {
  for (const auto& name : wanted) {
    if (std::ranges::find(study.variants, name, &Variant::name) != study.variants.end()) continue;
    std::vector<std::string_view> known;
    for (const Variant& variant : study.variants) known.push_back(variant.name);
    throw support::UsageError(support::no_such("variant", name, known, "--list"));
  }
}

/// Whether the command line has a flag. The program need not offer it.
bool is_there(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

/// A launch for a profiler must be the only one, and edited OpenCL kernels have no CUDA counterparts.
void check_levels(const CLI::App& app, Options& options) {
  const bool asked = is_there(app, "--levels") && options.levels;
  const char* against = !options.levels                     ? "--no-levels"
                        : options.profile                   ? "--profile"
                        : !options.kernel_directory.empty() ? "--kernel-dir"
                                                            : nullptr;
  if (against == nullptr) return;
  if (asked || !report::path_of(options.outputs, "--levels-svg").empty()) {
    throw support::UsageError(fmt::format("{} emulates the CUDA kernels of the program; leave out {}",
                                          asked ? "--levels" : "--levels-svg", against));
  }
  options.levels = false;
}

}  // namespace

std::optional<Options> parse_options(const CaseStudy& study, int argc, const char* const* argv,
                                     const Offered& offered) {
  Options options;
  RawOptions raw;
  CLI::App app(std::string(study.summary), std::string(study.name));
  options.levels = offered.levels;
  options.outputs = offered.outputs;
  declare(app, study, offered, options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw support::UsageError(support::sentence_for(app, error));
    app.exit(error);
    return std::nullopt;
  }

  if (raw.api != "all") options.api = named({gpu::Api::cuda, gpu::Api::opencl}).at(raw.api);
  options.scope = named({Scope::block, Scope::l2, Scope::memory}).at(raw.scope);
  options.cache = offered.scopes && options.scope == Scope::memory ? Cache::cold : Cache::hot;
  if (raw.cache == "cold" && options.scope != Scope::memory) {
    throw support::UsageError(fmt::format("--scope {} measures with hot caches; leave out --cache cold", raw.scope));
  }
  if (!raw.cache.empty()) options.cache = named({Cache::cold, Cache::hot}).at(raw.cache);
  options.limits.max_noise = raw.max_noise_percent / 100;
  for (const double limit : {options.limits.min_time, options.limits.timeout, options.limits.max_noise}) {
    if (!std::isfinite(limit)) throw support::UsageError("--min-time, --timeout and --max-noise must be numbers");
  }
  if (options.limits.min_time > options.limits.timeout) {
    throw support::UsageError(
        fmt::format("--min-time {} is more than --timeout {}", options.limits.min_time, options.limits.timeout));
  }
  const auto require_value = [&](const char* name, const std::string& value) {
    if (value.empty() && is_there(app, name)) throw support::UsageError(fmt::format("{} needs a value", name));
  };
  for (const auto& [option, help, path] : options.outputs) {
    if (option != nullptr) require_value(option, path);
  }
  require_value("--compare", options.compare);
  require_value("--kernel-dir", options.kernel_directory);
  require_value("--device", options.device);
  if (!raw.lengths.empty()) options.extent = read_extent(study, raw);
  check_variants(study, options.variants);
  if (!options.kernel_directory.empty()) {
    if (options.api == gpu::Api::cuda) {
      throw support::UsageError(
          "--kernel-dir holds OpenCL sources; CUDA kernels are compiled into the program: leave out --api cuda");
    }
    options.api = gpu::Api::opencl;
  }
  check_levels(app, options);
  if (options.counters && options.profile) {
    throw support::UsageError("--profile launches each variant once, for other profilers; leave out --counters");
  }
  return options;
}

}  // namespace bankwise::bench
