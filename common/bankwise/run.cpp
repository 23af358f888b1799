// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iostream>
#include <new>

#include <bankwise/bench/kernel_directory.hpp>
#include <bankwise/bench/measure.hpp>
#include <bankwise/bench/options.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/throttle.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/support/quantity.hpp>
#include <bankwise/support/table.hpp>

namespace bankwise {
namespace {

/// One line on stderr. fmt::print would throw where stderr is closed, and this is called when something went wrong.
void complain(const CaseStudy& study, std::string_view sentence) {
  const std::string line = fmt::format("{}: {}\n", study.name, sentence);
  std::fputs(line.c_str(), stderr);
}

/// Text on stdout. Error: std::runtime_error if it does not get there, a full disk for example.
void show(const std::string& text) {
  OutputFile("stdout", "-").write(text);
}

/// A bar on stderr, if a person is looking.
class ProgressBar {
 public:
  void show(std::string_view device, double done, std::string_view what) {
    if (!visible_) return;
    constexpr int width = 30;
    const std::string bar(std::size_t(width * done), '#');
    std::fputs(fmt::format("\r\033[K{} [{:<{}}] {}", device, bar, width, what).c_str(), stderr);
    std::fflush(stderr);
  }
  void clear() const {
    if (visible_) std::fputs("\r\033[K", stderr);
  }

 private:
  bool visible_ = isatty(STDERR_FILENO) != 0;
};

std::string variant_list(const CaseStudy& study) {
  std::vector<std::vector<std::string>> rows{{"variant", "APIs", "block", "idea"}};
  for (const Variant& variant : study.variants) {
    const Plan plan = variant.library ? Plan{} : study.plan(variant, {1, 1}, 1);
    const gpu::KernelImage* image = variant.library ? nullptr : find_image(study, plan.launches.front().kernel);
    std::string apis = variant.library && study.kernels->library != nullptr ? "cuda" : "";
    if (image != nullptr && image->cuda != nullptr) apis = "cuda";
    if (image != nullptr && !image->opencl_file.empty()) apis += apis.empty() ? "opencl" : ", opencl";
    rows.push_back({std::string(variant.name), apis.empty() ? "not built" : apis,
                    variant.library ? "-" : fmt::format("{} x {}", variant.group.x, variant.group.y),
                    std::string(variant.idea)});
  }
  return format_table(rows, 3, true);
}

std::string device_list(const gpu::Devices& devices) {
  std::vector<std::vector<std::string>> rows{{"index", "API", "name", "platform, driver", "units", "memory", "cache"}};
  for (const auto& device : devices.list) {
    rows.push_back({std::to_string(device.index), std::string(to_string(device.api)), device.name,
                    fmt::format("{}, {}", device.platform, device.driver), std::to_string(device.compute_units),
                    format_bytes(double(device.global_memory)), format_bytes(double(device.cache))});
  }
  std::string text = format_table(rows, 4);
  for (const auto& sentence : devices.missing) text += sentence + '\n';
  return text;
}

bool contains(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

/// The devices to run on: those named, or the best of each API, where a GPU is better than what is not.
/// Error: UsageError if --device fits none. Empty if the machine has none of the wanted API.
std::vector<gpu::DeviceInfo> choose(const gpu::Devices& devices, const Options& options) {
  std::vector<gpu::DeviceInfo> of_api, chosen;
  std::copy_if(devices.list.begin(), devices.list.end(), std::back_inserter(of_api),
               [&](const auto& device) { return !options.api || device.api == *options.api; });
  if (of_api.empty()) return {};
  if (!options.device.empty()) {
    const bool is_index =
        std::all_of(options.device.begin(), options.device.end(), [](unsigned char c) { return std::isdigit(c); });
    std::copy_if(of_api.begin(), of_api.end(), std::back_inserter(chosen), [&](const auto& device) {
      return is_index ? std::to_string(device.index) == options.device : contains(device.name, options.device);
    });
    if (chosen.empty()) {
      throw UsageError(fmt::format("there is no device '{}'{}; --devices shows all", options.device,
                                   options.api ? fmt::format(" for {}", to_string(*options.api)) : ""));
    }
    return chosen;
  }
  for (const auto& device : of_api) {
    const auto same_api =
        std::find_if(chosen.begin(), chosen.end(), [&](auto& other) { return other.api == device.api; });
    if (same_api == chosen.end()) {
      chosen.push_back(device);
    } else if (device.is_gpu && !same_api->is_gpu) {
      *same_api = device;
    }
  }
  return chosen;
}

/// A size that suits: a few blocks for each multiprocessor, half of the last cache, or well beyond any cache. Caches
/// of unlikely sizes are brought back to what GPUs have.
Extent default_extent(const CaseStudy& study, Scope scope, const gpu::DeviceInfo& device) {
  constexpr std::uint64_t KiB = 1 << 10, MiB = 1 << 20;
  if (study.access != nullptr) return study.extent_for(device.is_gpu ? 1024 * MiB : 2 * MiB);
  if (scope == Scope::block) return study.extent_for(device.compute_units * 64 * KiB);
  if (scope == Scope::l2) return study.extent_for(std::clamp(device.cache / 2, MiB, 32 * MiB));
  return study.extent_for(device.is_gpu ? 1024 * MiB : 64 * MiB);
}

int exit_code(const Report& report, bool profile) {
  const auto any = [&](Status status) {
    return std::any_of(report.results.begin(), report.results.end(), [&](auto& r) { return r.status == status; });
  };
  if (any(Status::wrong)) return exit_wrong;
  if (any(Status::error)) return exit_device;
  const auto ran = [&](const Result& result) {
    return result.variant != copy_row && (result.status == Status::ok || (profile && result.status == Status::skipped));
  };
  return std::any_of(report.results.begin(), report.results.end(), ran) ? exit_ok : exit_nothing;
}

/// Levels for each architecture that a device has or is taken to have.
std::vector<VariantLevels> all_levels(const CaseStudy& study, const Options& options,
                                      const std::vector<gpu::DeviceInfo>& devices, const std::vector<Extent>& extents) {
  std::vector<const Variant*> variants;
  for (const Variant& variant : study.variants) {
    const bool named =
        std::find(options.variants.begin(), options.variants.end(), variant.name) != options.variants.end();
    if (named || (options.variants.empty() && !variant.library)) variants.push_back(&variant);
  }
  std::vector<VariantLevels> all;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const banks::Architecture& architecture = model_architecture(options.architecture, devices[i].architecture);
    const auto is_there = [&](const VariantLevels& levels) { return levels.architecture == &architecture; };
    if (std::any_of(all.begin(), all.end(), is_there)) continue;
    std::ranges::move(levels_of(study, variants, extents[i], architecture), std::back_inserter(all));
  }
  return all;
}

int run_with(const CaseStudy& study, const Options& options, std::vector<std::string> command) {
  if (options.list) {
    show(variant_list(study));
    return exit_ok;
  }
  const gpu::Devices found = gpu::devices();
  if (options.list_devices) {
    show(device_list(found));
    return found.list.empty() ? exit_nothing : exit_ok;
  }
  Report report{&study, std::move(command), choose(found, options), {}, {}};
  if (report.devices.empty()) {
    for (const auto& sentence : found.missing) complain(study, sentence);
    return exit_nothing;
  }
  std::vector<Extent> extents;
  for (const auto& device : report.devices) {
    extents.push_back(options.extent.value_or(default_extent(study, options.scope, device)));
    if (const auto sentence = shortage(study, extents.back(), device); !sentence.empty()) {
      complain(study, sentence);
      return exit_device;
    }
  }
  std::optional<Baseline> baseline;
  if (!options.compare.empty()) baseline.emplace(study, options.compare);
  const OutputFile json("--json", options.json), csv("--csv", options.csv), svg("--levels-svg", options.levels_svg);
  // Nobody sees the levels of single accesses but in these files.
  const bool seen = study.access == nullptr || json || svg;
  if (options.levels && seen) report.levels = all_levels(study, options, report.devices, extents);

  ProgressBar bar;
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    const gpu::DeviceInfo& device = report.devices[i];
    const auto session = gpu::open(device);
    const auto throttle = device.throttling == "watched" ? gpu::open_throttle(device) : nullptr;
    auto results = measure(
        study, options, extents[i], *session,
        [&](double done, std::string_view what) { bar.show(device.name, done, what); }, throttle.get());
    for (auto& result : results) result.device = &device;  // the session's own copy goes with the session
    std::move(results.begin(), results.end(), std::back_inserter(report.results));
    bar.clear();
  }
  json.write(json ? json_report(report) : "");
  csv.write(csv ? csv_report(report) : "");
  svg.write(svg ? levels_svg(report) : "");
  const std::string comparison = baseline ? baseline->compare(report) : "";
  if (options.json != "-" && options.csv != "-" && options.levels_svg != "-") {
    show(text_report(report) + counters_text(report) + levels_text(report) + comparison);
  } else {
    std::fputs(comparison.c_str(), stderr);  // stdout holds the results and nothing else
  }
  return exit_code(report, options.profile);
}

}  // namespace

int run(const CaseStudy& study, int argc, const char* const* argv) {
  const auto fail = [&](int code, std::string_view sentence) {
    complain(study, sentence);
    return code;
  };
  try {
    const auto options = parse_options(study, argc, argv);
    if (!options) return exit_ok;
    const std::vector<std::string> command(argv, argv + argc);
    if (options->kernel_directory.empty()) return run_with(study, *options, command);
    return run_with(KernelDirectory(study, options->kernel_directory).study(), *options, command);
  } catch (const UsageError& error) {
    return fail(exit_usage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_device, "the host has too little memory for this size; choose a smaller one");
  } catch (const std::exception& error) {
    return fail(exit_device, error.what());
  }
}

}  // namespace bankwise
