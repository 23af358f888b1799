#include <bankwise/run.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include <bankwise/bench/program.hpp>
#include <bankwise/cluster/communicator.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>

namespace bankwise {

using namespace study;
using namespace bench;

namespace {

using cluster::Communicator;

/// A default size: a few blocks per multiprocessor, half of the last-level cache, or well beyond any cache. Cache sizes
/// that are implausible are clamped to those of real GPUs.
Extent default_extent(const CaseStudy& study, const Options& options, const gpu::DeviceInfo& device) {
  constexpr std::uint64_t KiB = 1 << 10, MiB = 1 << 20;
  if (options.scope == Scope::block) return study.extent_for(device.compute_units * 64 * KiB);
  if (options.scope == Scope::l2) return study.extent_for(std::clamp(device.cache / 2, MiB, 32 * MiB));
  return study.extent_for(device.is_gpu ? 1024 * MiB : 64 * MiB);
}

void write(std::span<const support::OutputFile> files, const RunResults& run) {
  report::write_files(report::sinks(), files, run, [](const std::string&) {});
}

/// Flags that make sense for a single process only.
void refuse_single_process_flags(const Options& options) {
  const std::pair<bool, const char*> given[]{
      {options.scope != Scope::memory, "--scope"},
      {options.counters, "--counters"},
      {options.profile, "--profile"},
      {!report::path_of(options.outputs, "--levels-svg").empty(), "--levels-svg"},
      {!report::path_of(options.outputs, "--csv").empty(), "--csv"},
      {!options.compare.empty(), "--compare"},
      {!options.device.empty(), "--device"},
      {!options.kernel_directory.empty(), "--kernel-dir"}};
  for (const auto& [is_given, flag] : given) {
    if (is_given) throw support::UsageError(fmt::format("{} is for a single process; leave it out under mpirun", flag));
  }
}

/// Every rank must solve the same problem.
void compare_commands(Communicator& communicator, std::span<const std::string> command) {
  std::string line;
  for (const auto& argument : command.subspan(1)) line += argument + ' ';
  const std::vector<std::string> lines = communicator.gather(line);
  for (std::size_t rank = 1; rank < lines.size(); ++rank) {
    if (lines[rank] == lines[0]) continue;
    throw support::UsageError(
        fmt::format("rank {} was started with the arguments '{}', rank 0 with '{}'; all ranks need the same", rank,
                    lines[rank], lines[0]));
  }
}

/// The device of this rank: CUDA devices by the rank on its node, one each; other devices may be shared.
gpu::DeviceInfo device_of_rank(Communicator& communicator, const Options& options) {
  gpu::DeviceInfo chosen;
  cluster::agree(communicator, [&] {
    const gpu::Devices present = gpu::devices();
    const bool any_cuda = std::any_of(present.list.begin(), present.list.end(),
                                      [](auto& device) { return device.api == gpu::Api::cuda; });
    const gpu::Api api = options.api.value_or(any_cuda ? gpu::Api::cuda : gpu::Api::opencl);
    std::vector<gpu::DeviceInfo> devices, gpus;
    for (const auto& device : present.list) {
      if (device.api != api) continue;
      devices.push_back(device);
      if (device.is_gpu) gpus.push_back(device);
    }
    if (!gpus.empty()) devices = gpus;
    if (devices.empty()) throw gpu::Unsupported(fmt::format("there is no {} device", to_string(api)));
    if (api == gpu::Api::cuda && communicator.ranks_on_node() > devices.size()) {
      throw gpu::Unsupported(fmt::format("its node has {} ranks and {} CUDA device{}; start one rank per device",
                                         communicator.ranks_on_node(), devices.size(), devices.size() == 1 ? "" : "s"));
    }
    chosen = devices[communicator.rank_on_node() % devices.size()];
  });
  const std::vector<std::string> apis = communicator.gather(std::string(to_string(chosen.api)));
  if (std::set<std::string>(apis.begin(), apis.end()).size() > 1) {
    throw cluster::Refused("some ranks have CUDA devices and others have none; choose with --api");
  }
  return chosen;
}

/// NCCL for CUDA devices, if it is there on all ranks; otherwise MPI. `remark` says why not NCCL.
std::unique_ptr<cluster::Engine> engine_of(gpu::Session& session, Communicator& communicator, std::string& remark) {
  if (session.info().api == gpu::Api::cuda) {
    try {
      cluster::agree(communicator, [] { cluster::require_nccl(); });
      return cluster::open_nccl(session, communicator);
    } catch (const gpu::Unsupported& why) {
      remark = why.what();
    }
  }
  return cluster::open_host_engine(session, communicator);
}

RanksInfo all_ranks(Communicator& communicator, std::string engine, const std::string& device,
                    std::uint64_t input_words) {
  char name[256] = "";
  const std::string host = gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
  const auto hosts = communicator.gather(host), devices = communicator.gather(device),
             words = communicator.gather(std::to_string(input_words));
  const std::size_t nodes = std::set<std::string>(hosts.begin(), hosts.end()).size();
  RanksInfo info{std::move(engine),
                 Communicator::version(),
                 communicator.one_node() ? "one node" : fmt::format("{} nodes", nodes),
                 {}};
  for (std::size_t i = 0; i < hosts.size(); ++i) info.ranks.push_back({hosts[i], devices[i], std::stoull(words[i])});
  return info;
}

/// Rank 0's files; none on other ranks. Error, on all ranks: UsageError.
std::vector<support::OutputFile> files_of_rank_0(Communicator& communicator, const Options& options) {
  std::vector<support::OutputFile> files;
  std::string reason;
  try {
    if (communicator.rank() == 0) files = report::open_files(options.outputs);
  } catch (const support::UsageError& why) {
    reason = why.what();
  }
  reason = communicator.gather(reason).front();
  if (!reason.empty()) throw support::UsageError(reason);
  return files;
}

int measure_and_report_on_ranks(const CaseStudy& study, const Options& options, std::vector<std::string> command,
                                Communicator& communicator) {
  RunResults run{.study = &study, .command = std::move(command), .devices = {device_of_rank(communicator, options)}};
  const gpu::DeviceInfo& device = run.devices.front();
  const Rank rank{communicator.rank(), communicator.ranks()};
  constexpr std::uint64_t MiB = 1 << 20;
  Extent extent =
      options.extent ? *options.extent : study.extent_for((device.is_gpu ? 4096 * MiB : 4 * MiB) * rank.ranks);
  communicator.broadcast(std::as_writable_bytes(std::span(&extent, 1)));  // devices may differ between ranks
  const std::vector<support::OutputFile> files = files_of_rank_0(communicator, options);
  const auto session = gpu::open(device);
  std::string remark;
  const auto engine = engine_of(*session, communicator, remark);
  const auto throttle = device.throttling == "watched" ? gpu::open_throttle(device) : nullptr;
  run.ranks = all_ranks(communicator, engine->name() + (remark.empty() ? "" : fmt::format(" ({})", remark)),
                        device.name, study.ranks->share(study.ranks->variants.front(), extent, rank).input_words);
  run.results =
      measure(study, options, extent, *session, {.throttle = throttle.get(), .cluster = {&communicator, engine.get()}});
  if (rank.index == 0) write(files, run);
  return exit_code(run.results, options, true);
}

/// run() as one of several ranks: rank 0 reports. The exit code is the same on all ranks. A failure of one rank is one
/// line on stderr, and ends the others.
int run_ranks(const CaseStudy& study, int argc, const char* const* argv) {
  std::optional<Communicator> communicator;
  try {
    cluster::deadline_s();  // before anything waits
    communicator.emplace(std::string(study.name));
    const std::vector<std::string> command(argv, argv + argc);
    compare_commands(*communicator, command);
    CaseStudy of_ranks = study;
    if (study.ranks == nullptr)
      throw support::UsageError("this program runs as a single process; start it without mpirun");
    const auto only_asks = [](const std::string& argument) {
      return argument == "--help" || argument == "-h" || argument == "--version";
    };
    if (communicator->rank() > 0 && std::any_of(command.begin(), command.end(), only_asks)) return support::exit_ok;
    of_ranks.variants = study.ranks->variants;
    const auto options = parse_options(of_ranks, argc, argv, case_study_program().offered);
    if (!options) return support::exit_ok;
    refuse_single_process_flags(*options);
    if (options->list || options->list_devices) {
      return communicator->rank() > 0 ? int(support::exit_ok)
                                      : answer_lists(of_ranks, *options).value_or(support::exit_ok);
    }
    return measure_and_report_on_ranks(study, *options, command, *communicator);
  } catch (const support::UsageError& error) {  // all ranks throw it
    const bool reports = !communicator || communicator->rank() == 0;
    return reports ? report_failure(study.name, error.what(), support::exit_usage) : support::exit_usage;
  } catch (const cluster::Refused& why) {
    return communicator->rank() > 0 ? support::exit_device : report_failure(study.name, why.what());
  } catch (const std::exception& error) {
    if (!communicator) return report_failure(study.name, error.what());
    report_failure(communicator->name(), sentence_of(error));
    Communicator::end(support::exit_device);
  }
}

}  // namespace

MainProgram case_study_program() {
  return {.offered = {.outputs = report::outputs_of(report::sinks())},
          .extent = default_extent,
          .measure = [](auto& job, auto& study, auto& options) { return measure_on(job, study, options); },
          .write = write};
}

int run(const CaseStudy& study, int argc, const char* const* argv) {
  if (cluster::started_by_launcher()) return run_ranks(study, argc, argv);
  return run_program(study, argc, argv, case_study_program());
}

}  // namespace bankwise
