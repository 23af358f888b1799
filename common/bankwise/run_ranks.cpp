// SPDX-License-Identifier: MIT
#include <bankwise/run_ranks.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include <bankwise/bench/program.hpp>
#include <bankwise/bench/rank_measure.hpp>
#include <bankwise/cluster/agreement.hpp>
#include <bankwise/cluster/deadline.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/report/rank_report.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/output_file.hpp>

namespace bankwise {
namespace {

using cluster::Communicator;

/// Flags that make sense for a single process only.
void refuse_others(const Options& options) {
  const std::pair<bool, const char*> given[]{{options.scope != Scope::memory, "--scope"},
                                             {options.counters, "--counters"},
                                             {options.profile, "--profile"},
                                             {!options.levels_svg.empty(), "--levels-svg"},
                                             {!options.csv.empty(), "--csv"},
                                             {!options.compare.empty(), "--compare"},
                                             {!options.device.empty(), "--device"},
                                             {!options.kernel_directory.empty(), "--kernel-dir"}};
  for (const auto& [is_given, flag] : given) {
    if (is_given) throw UsageError(fmt::format("{} is for a single process; leave it out under mpirun", flag));
  }
}

/// Every rank must solve the same problem.
void compare_commands(Communicator& communicator, std::span<const std::string> command) {
  std::string line;
  for (const auto& argument : command.subspan(1)) line += argument + ' ';
  const std::vector<std::string> lines = communicator.gather(line);
  for (std::size_t rank = 1; rank < lines.size(); ++rank) {
    if (lines[rank] == lines[0]) continue;
    throw UsageError(
        fmt::format("rank {} was started with the arguments '{}', rank 0 with '{}'; all ranks need the same", rank,
                    lines[rank], lines[0]));
  }
}

/// The device of this rank: CUDA devices by the rank on its node, one each; other devices may be shared.
gpu::DeviceInfo device_of(Communicator& communicator, const Options& options) {
  gpu::DeviceInfo chosen;
  cluster::agree(communicator, [&] {
    const gpu::Devices found = gpu::devices();
    const bool any_cuda =
        std::any_of(found.list.begin(), found.list.end(), [](auto& device) { return device.api == gpu::Api::cuda; });
    const gpu::Api api = options.api.value_or(any_cuda ? gpu::Api::cuda : gpu::Api::opencl);
    std::vector<gpu::DeviceInfo> devices, gpus;
    for (const auto& device : found.list) {
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

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string topology_of(Communicator& communicator, std::span<const RankInfo> ranks) {
  std::set<std::string> hosts;
  for (const RankInfo& rank : ranks) hosts.insert(rank.host);
  return communicator.one_node() ? "one node" : fmt::format("{} nodes", hosts.size());
}

std::vector<RankInfo> all_ranks(Communicator& communicator, const std::string& device, std::uint64_t input_words) {
  const auto hosts = communicator.gather(host_name()), devices = communicator.gather(device),
             words = communicator.gather(std::to_string(input_words));
  std::vector<RankInfo> ranks;
  for (std::size_t i = 0; i < hosts.size(); ++i) ranks.push_back({hosts[i], devices[i], std::stoull(words[i])});
  return ranks;
}

Extent default_extent(const CaseStudy& study, const gpu::DeviceInfo& device, unsigned ranks) {
  constexpr std::uint64_t MiB = 1 << 20;
  return study.extent_for((device.is_gpu ? 4096 * MiB : 4 * MiB) * ranks);
}

int exit_code(std::span<const RankResult> results) {
  const auto any = [&](Status status) {
    return std::any_of(results.begin(), results.end(), [&](auto& result) { return result.status == status; });
  };
  if (any(Status::wrong)) return exit_wrong;
  if (any(Status::error)) return exit_device;
  return any(Status::ok) ? exit_ok : exit_nothing;
}

/// Whether a variant ran: the rows copy, peer_copy and alone are no results.
bool is_variant(const RankResult& result) {
  return result.variant != copy_row && result.variant != peer_copy_row && result.variant != alone_row;
}

/// Rank 0's file for --json; empty on other ranks. Error, on all ranks: UsageError.
std::optional<OutputFile> output_of_rank_0(Communicator& communicator, const Options& options) {
  std::optional<OutputFile> json;
  std::string reason;
  try {
    if (communicator.rank() == 0) json.emplace("--json", options.json);
  } catch (const UsageError& why) {
    reason = why.what();
  }
  reason = communicator.gather(reason).front();
  if (!reason.empty()) throw UsageError(reason);
  return json;
}

int measure_and_report(const CaseStudy& study, const Options& options, std::vector<std::string> command,
                       Communicator& communicator) {
  RankReport report{.study = &study, .command = std::move(command), .cache = options.cache};
  report.device = device_of(communicator, options);
  const Rank rank{communicator.rank(), communicator.ranks()};
  report.extent = options.extent ? *options.extent : default_extent(study, report.device, rank.ranks);
  communicator.broadcast(std::as_writable_bytes(std::span(&report.extent, 1)));  // devices may differ between ranks
  const std::optional<OutputFile> json = output_of_rank_0(communicator, options);
  const auto session = gpu::open(report.device);
  std::string remark;
  const auto engine = engine_of(*session, communicator, remark);
  const auto throttle = report.device.throttling == "watched" ? gpu::open_throttle(report.device) : nullptr;
  report.engine = engine->name() + (remark.empty() ? "" : fmt::format(" ({})", remark));
  report.mpi = Communicator::version();
  report.ranks = all_ranks(communicator, report.device.name,
                           study.ranks->share(study.ranks->variants.front(), report.extent, rank).input_words);
  report.topology = topology_of(communicator, report.ranks);
  report.results = measure_ranks(study, options, report.extent, *session, {communicator, *engine}, throttle.get());
  if (rank.index == 0) {
    json->write(*json ? rank_json_report(report) : "");
    if (options.json != "-") show(rank_text_report(report));
  }
  std::erase_if(report.results, [](const RankResult& result) { return !is_variant(result); });
  return exit_code(report.results);
}

}  // namespace

int run_ranks(const CaseStudy& study, int argc, const char* const* argv) {
  std::optional<Communicator> communicator;
  const auto fail = [&](int code, const std::string& sentence) {
    report_failure(study.name, sentence);
    return code;
  };
  try {
    cluster::deadline_s();  // before anything waits
    communicator.emplace(std::string(study.name));
  } catch (const UsageError& error) {
    return fail(exit_usage, error.what());
  } catch (const std::exception& error) {
    return fail(exit_device, error.what());
  }
  try {
    const std::vector<std::string> command(argv, argv + argc);
    compare_commands(*communicator, command);
    CaseStudy of_ranks = study;
    if (study.ranks == nullptr) throw UsageError("this program runs as a single process; start it without mpirun");
    const auto only_asks = [](const std::string& argument) {
      return argument == "--help" || argument == "-h" || argument == "--version";
    };
    if (communicator->rank() > 0 && std::any_of(command.begin(), command.end(), only_asks)) return exit_ok;
    of_ranks.variants = study.ranks->variants;
    const auto options = parse_options(of_ranks, argc, argv);
    if (!options) return exit_ok;
    refuse_others(*options);
    if (options->list || options->list_devices) {
      return communicator->rank() > 0 ? int(exit_ok) : answer_lists(of_ranks, *options).value_or(exit_ok);
    }
    return measure_and_report(study, *options, command, *communicator);
  } catch (const UsageError& error) {  // all ranks throw it
    return communicator->rank() > 0 ? int(exit_usage) : fail(exit_usage, error.what());
  } catch (const cluster::Refused& why) {
    return communicator->rank() > 0 ? int(exit_device) : fail(exit_device, why.what());
  } catch (const std::exception& error) {
    report_failure(communicator->name(), sentence_of(error));
    Communicator::end(exit_device);
  }
}

}  // namespace bankwise
