#include <bankwise/bench/program.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <new>
#include <set>
#include <stdexcept>
#include <variant>

#include <bankwise/gpu/kernel_remarks.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/support/bandwidths.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>

namespace bankwise::bench {

using namespace study;

namespace {

/// A progress bar on stderr, if stderr is a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::string device) : device_(std::move(device)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() {
    if (visible_) std::fputs("\r\033[K", stderr);
  }
  void show(double done, std::string_view activity) const {
    if (!visible_) return;
    constexpr int width = 30;
    const std::string bar(std::size_t(width * done), '#');
    std::fputs(fmt::format("\r\033[K{} [{:<{}}] {}", device_, bar, width, activity).c_str(), stderr);
    std::fflush(stderr);
  }

 private:
  std::string device_;
  bool visible_ = isatty(STDERR_FILENO) != 0;
};

/// The kernels of a variant: of its first launch, or, on several ranks, of all its launches.
std::vector<std::string> kernels_of(const CaseStudy& study, const Variant& variant) {
  if (variant.library) return {};
  if (study.ranks == nullptr || study.variants.data() != study.ranks->variants.data()) {
    return {study.plan(variant, {1, 1}, 1).launches().front().kernel};
  }
  std::vector<std::string> kernels;
  for (const Step& step : study.ranks->plan(variant, {1, 1}, {0, 1}, 1).steps) {
    if (const auto* launch = std::get_if<KernelLaunch>(&step)) kernels.push_back(launch->kernel);
  }
  return kernels;
}

/// "cuda, opencl": the APIs that have all kernels.
std::string apis_of(const CaseStudy& study, const Variant& variant) {
  const std::vector<std::string> kernels = kernels_of(study, variant);
  const auto every_kernel = [&](const auto& has) {
    return !kernels.empty() && std::all_of(kernels.begin(), kernels.end(), [&](const std::string& name) {
      const gpu::KernelImage* image = find_image(study, name);
      return image != nullptr && has(*image);
    });
  };
  const bool library = variant.library && study.kernels->library != nullptr;
  std::string apis = library || every_kernel([](const auto& image) { return image.cuda != nullptr; }) ? "cuda" : "";
  if (every_kernel([](const auto& image) { return !image.opencl_file.empty(); })) {
    apis += apis.empty() ? "opencl" : ", opencl";
  }
  return apis.empty() ? "not built" : apis;
}

std::string variant_list(const CaseStudy& study) {
  std::vector<std::vector<std::string>> rows{{"variant", "APIs", "block", "idea"}};
  for (const Variant& variant : study.variants) {
    rows.push_back({std::string(variant.name), apis_of(study, variant),
                    variant.library ? "-" : fmt::format("{} x {}", variant.group.x, variant.group.y),
                    std::string(variant.idea)});
  }
  return support::format_table(rows, 3, true);
}

std::string device_list(const gpu::Devices& devices) {
  std::vector<std::vector<std::string>> rows{{"index", "API", "name", "platform, driver", "units", "memory", "cache"}};
  for (const auto& device : devices.list) {
    rows.push_back({std::to_string(device.index), std::string(to_string(device.api)), shown_name(device),
                    fmt::format("{}, {}", device.platform, device.driver), std::to_string(device.compute_units),
                    support::format_bytes(double(device.global_memory)), support::format_bytes(double(device.cache))});
  }
  std::string text = support::format_table(rows, 4);
  for (const auto& sentence : devices.missing) text += sentence + '\n';
  return text;
}

bool contains(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

/// The devices to run on: those named, or the best of each API, where a GPU is better than any other device. Error:
/// UsageError if --device matches none. Empty if the machine has none of the selected API.
std::vector<gpu::DeviceInfo> chosen_devices(const gpu::Devices& present, const Options& options) {
  std::vector<gpu::DeviceInfo> of_api, chosen;
  std::copy_if(present.list.begin(), present.list.end(), std::back_inserter(of_api),
               [&](const auto& device) { return !options.api || device.api == *options.api; });
  if (of_api.empty()) return {};
  if (!options.device.empty()) {
    const bool is_index =
        std::all_of(options.device.begin(), options.device.end(), [](unsigned char c) { return std::isdigit(c); });
    std::copy_if(of_api.begin(), of_api.end(), std::back_inserter(chosen), [&](const auto& device) {
      return is_index ? std::to_string(device.index) == options.device
                      : contains(device.name, options.device) || contains(shown_name(device), options.device);
    });
    if (chosen.empty()) {
      throw support::UsageError(fmt::format("there is no device '{}'{}; --devices shows all", options.device,
                                            options.api ? fmt::format(" for {}", to_string(*options.api)) : ""));
    }
    return chosen;
  }
  std::stable_partition(of_api.begin(), of_api.end(), std::mem_fn(&gpu::DeviceInfo::is_gpu));
  for (const gpu::Api api : {gpu::Api::cuda, gpu::Api::opencl}) {
    const auto best = std::ranges::find(of_api, api, &gpu::DeviceInfo::api);
    if (best != of_api.end()) chosen.push_back(*best);
  }
  return chosen;
}

/// Each device with its extent, except devices whose memory is too small for it.
std::vector<DeviceJob> jobs_of(const CaseStudy& study, const Options& options,
                               const std::vector<gpu::DeviceInfo>& devices, const MainProgram& program) {
  std::vector<DeviceJob> jobs;
  for (const auto& device : devices) {
    const Extent extent = options.extent ? *options.extent : program.extent(study, options, device);
    if (const std::string sentence = shortage(study, extent, device); sentence.empty()) {
      jobs.push_back({&device, extent, program.open});
    } else {
      report_failure(study.name, sentence);
    }
  }
  return jobs;
}

/// Levels for each architecture that a device has or is assumed to have.
std::vector<VariantLevels> all_levels(const CaseStudy& study, const Options& options, std::span<const DeviceJob> jobs) {
  std::vector<const Variant*> variants;
  for (const Variant& variant : study.variants) {
    const bool named = std::ranges::find(options.variants, variant.name) != options.variants.end();
    if (named || (options.variants.empty() && !variant.library)) variants.push_back(&variant);
  }
  std::vector<VariantLevels> levels_of_variants;
  for (const DeviceJob& job : jobs) {
    const banks::Architecture& architecture = model_architecture(options.architecture, job.device->architecture);
    const auto known = std::ranges::find(levels_of_variants, &architecture, &VariantLevels::architecture);
    if (known != levels_of_variants.end()) continue;
    std::ranges::move(levels_of(study, variants, job.extent, architecture), std::back_inserter(levels_of_variants));
  }
  return levels_of_variants;
}

/// Measures the bandwidths of each GPU, prints them, and keeps them for reports (support/bandwidths.hpp).
int measure_bandwidths(const CaseStudy& study, std::span<const DeviceJob> jobs) {
  constexpr std::uint64_t MiB = 1 << 20, most_dram = 4096 * MiB, read_from_l2 = 16384 * MiB;
  std::set<std::string> measured;  // by CUDA; OpenCL may list the same GPU
  const bool complete = run_each(study.name, jobs, [&](const DeviceJob& job) {
    const gpu::DeviceInfo& device = *job.device;
    if (!device.is_gpu || device.cache == 0 || !measured.insert(device.name).second) return;
    const auto session = job.open(device);
    constexpr double giga = 1e9;
    const std::uint64_t in_cache = device.cache / 4;  // in each half, if the cache has two
    const support::Bandwidths bandwidths{
        .l2 = session->read_bandwidth(in_cache, std::max(read_from_l2 / in_cache, std::uint64_t{1})) / giga,
        .dram =
            session->read_bandwidth(std::min({most_dram, device.max_allocation, device.global_memory / 4}), 1) / giga};
    const std::string file = support::keep_bandwidths(device.name, bandwidths);
    show(fmt::format("{}: reads {:.0f} GB/s from the L2 cache and {:.0f} GB/s from DRAM; kept in {}\n",
                     shown_name(device), bandwidths.l2, bandwidths.dram, file));
  });
  if (!complete) return support::exit_device;
  if (measured.empty())
    return report_failure(study.name, "--bandwidth needs a GPU whose API tells the size of its cache",
                          support::exit_nothing);
  return support::exit_ok;
}

int run_with(const CaseStudy& study, const Options& options, std::vector<std::string> command,
             const MainProgram& program) {
  if (const auto code = answer_lists(study, options)) return *code;
  const std::vector<support::OutputFile> files = report::open_files(options.outputs);
  const gpu::Devices devices = gpu::devices();
  RunResults run{.study = &study, .command = std::move(command), .devices = chosen_devices(devices, options)};
  if (run.devices.empty()) {
    for (const auto& sentence : devices.missing) report_failure(study.name, sentence);
    return support::exit_nothing;
  }
  const auto jobs = jobs_of(study, options, run.devices, program);
  if (jobs.empty()) return support::exit_device;
  if (options.bandwidth) return measure_bandwidths(study, jobs);
  const report::EarlierRun earlier(study, options.compare);
  if (options.levels) run.levels = all_levels(study, options, jobs);
  const bool complete = run_each(study.name, jobs, [&](const DeviceJob& job) {
    std::ranges::move(program.measure(job, study, options), std::back_inserter(run.results));
  });
  if (run.results.empty()) return support::exit_device;
  run.comparison = earlier.compare(run);
  program.write(files, run);
  if (report::take_stdout(options.outputs)) std::fputs(run.comparison.c_str(), stderr);
  return exit_code(run.results, options, complete && jobs.size() == run.devices.size());
}

}  // namespace

std::optional<int> answer_lists(const CaseStudy& study, const Options& options) {
  if (options.list) {
    show(variant_list(study));
    return support::exit_ok;
  }
  if (options.list_devices) {
    const gpu::Devices devices = gpu::devices();
    show(device_list(devices));
    return devices.list.empty() ? support::exit_nothing : support::exit_ok;
  }
  return std::nullopt;
}

int exit_code(std::span<const Result> results, const Options& options, bool complete) {
  const auto any = [&](Status status) { return std::ranges::find(results, status, &Result::status) != results.end(); };
  if (any(Status::wrong)) return support::exit_wrong;
  if (any(Status::error) || !complete) return support::exit_device;
  const auto ran = [&](const Result& result) {
    const bool launched = options.profile && result.status == Status::skipped;
    return is_variant(result.variant) && (result.status == Status::ok || launched);
  };
  return std::any_of(results.begin(), results.end(), ran) ? support::exit_ok : support::exit_nothing;
}

std::string sentence_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
  return "the host has too little memory for this size; choose a smaller one";
}

support::ExitCode report_failure(std::string_view program, std::string_view sentence, support::ExitCode code) {
  // fmt::print would throw if stderr is closed, and this reports failures.
  const std::string line = fmt::format("{}: {}\n", program, sentence);
  std::fputs(line.c_str(), stderr);
  return code;
}

void show(const std::string& text) { support::OutputFile("stdout", "-").write(text); }

bool run_each(std::string_view program, std::span<const DeviceJob> jobs,
              const std::function<void(const DeviceJob&)>& run) {
  bool complete = true;
  for (const DeviceJob& job : jobs) {
    try {
      run(job);
    } catch (const std::exception& error) {
      complete = false;
      const std::string where = jobs.size() == 1 ? ""
                                                 : fmt::format("{}:{} {}: ", to_string(job.device->api),
                                                               job.device->index, shown_name(*job.device));
      report_failure(program, where + sentence_of(error));
    }
  }
  return complete;
}

std::vector<Result> measure_on(const DeviceJob& job, const CaseStudy& study, const Options& options, Manner manner) {
  const ProgressBar bar(shown_name(*job.device));
  const auto session = job.open(*job.device);
  const auto throttle = job.device->throttling == "watched" ? gpu::open_throttle(*job.device) : nullptr;
  manner.throttle = throttle.get();
  manner.on_progress = [&](double done, std::string_view activity) { bar.show(done, activity); };
  auto results = measure(study, options, job.extent, *session, manner);
  for (auto& result : results) result.device = job.device;  // the session and its copy of this go out of scope
  return results;
}

int run_program(const CaseStudy& study, int argc, const char* const* argv, const MainProgram& program) {
  try {
    const auto options = parse_options(study, argc, argv, program.offered);
    if (!options) return support::exit_ok;
    const std::vector<std::string> command(argv, argv + argc);
    if (options->kernel_directory.empty()) return run_with(study, *options, command, program);
    const KernelDirectory kernels(study, options->kernel_directory);
    return run_with(kernels.study(), *options, command, program);
  } catch (const support::UsageError& error) {
    return report_failure(study.name, error.what(), support::exit_usage);
  } catch (const std::exception& error) {
    return report_failure(study.name, sentence_of(error));
  }
}

KernelDirectory::KernelDirectory(const CaseStudy& study, const std::string& directory) : study_(study) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw support::UsageError(fmt::format("--kernel-dir {}: no such directory", directory));
  for (const auto& image : study.kernels->images) {
    if (image.opencl_file.empty()) {  // it stays the kernel of the other API, with the reason from its file
      images_.push_back({.name = image.name, .why_not_ported = image.why_not_ported});
      continue;
    }
    const fs::path path = directory / fs::path(image.opencl_file).filename();
    auto text = support::read_file(path);
    if (!fs::is_regular_file(path, error) || !text) {
      throw support::UsageError(fmt::format("--kernel-dir: there is no {} to read", path.string()));
    }
    const std::string& source = texts_.emplace_back(std::move(*text));
    const std::string& name = texts_.emplace_back(path.string());
    gpu::KernelImage& edited = images_.emplace_back();
    edited.name = image.name;
    edited.opencl_file = name;
    edited.opencl_source = source;
    edited.has_section = gpu::has_section(source);
    edited.why_not_ported = texts_.emplace_back(gpu::why_not_ported(source));
    try {
      edited.opencl_capability = gpu::needed_capability(source);
    } catch (const std::invalid_argument& why) {
      throw support::UsageError(fmt::format("--kernel-dir: {}: {}", name, why.what()));
    }
  }
  kernels_.images = images_;
  study_.kernels = &kernels_;
}

}  // namespace bankwise::bench
