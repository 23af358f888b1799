#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <bankwise/support/files.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/builder.hpp>
#include "bankcheck/cuda/resolve_parts.hpp"

namespace bankwise::cuda {
namespace {

using banks::Operation;

/// What an instruction does in the bank model's terms.
struct Meaning {
  Operation operation = Operation::load;
  bool is_loop = false;  ///< one turn of a loop that the compiler made of an atomic
};

std::optional<Meaning> meaning_of_atomic(const std::string& opcode) {
  const auto has = [&](std::string_view part) { return opcode.find(part) != std::string::npos; };
  const bool generic = opcode.starts_with("ATOM.");  // its address
  if (!generic && !opcode.starts_with("ATOMS")) return std::nullopt;
  // Sums of floating-point numbers fail if the address is in shared memory; then a loop makes them.
  if (generic && (has(".F") || has(".BF"))) return std::nullopt;
  if (has(".POPC.INC")) return Meaning{Operation::atomic_inc};
  if (has(".CAST")) return Meaning{Operation::atomic_cas, true};
  if (has(".CAS")) return Meaning{Operation::atomic_cas};
  return Meaning{Operation::atomic};
}

std::optional<Operation> matrix_operation(Kind kind, unsigned matrices) {
  const bool load = kind == Kind::ldmatrix;
  switch (matrices) {
    case 1: return load ? Operation::ldmatrix_x1 : Operation::stmatrix_x1;
    case 2: return load ? Operation::ldmatrix_x2 : Operation::stmatrix_x2;
    case 4: return load ? Operation::ldmatrix_x4 : Operation::stmatrix_x4;
    default: return std::nullopt;
  }
}

/// A copy past the L1 cache that fills any part of its bytes with zeros: its counter does not show what the GPU does.
bool is_filling(const std::optional<std::string>& copy) {
  return copy && copy->find(".BYPASS") != std::string::npos && copy->ends_with(".ZFILL");
}

std::optional<Operation> copy_operation(unsigned width, const std::optional<std::string>& opcode) {
  if (width < 16) return Operation::cp_async;  // none passes the L1 cache
  if (!opcode || !opcode->starts_with("LDGSTS") || is_filling(opcode)) return std::nullopt;
  return opcode->find(".BYPASS") != std::string::npos ? Operation::cp_async_cg : Operation::cp_async;
}

/// What a recorded access does; `opcode` in the machine code, if it is known.
template <class Access>
std::optional<Meaning> meaning_of(const Access& access, const std::optional<std::string>& opcode) {
  const auto as_meaning = [](std::optional<Operation> operation) {
    return operation ? std::optional(Meaning{*operation}) : std::nullopt;
  };
  switch (access.kind) {
    case Kind::load: return Meaning{Operation::load};
    case Kind::store: return Meaning{Operation::store};
    case Kind::atomic: return opcode ? meaning_of_atomic(*opcode) : std::nullopt;
    case Kind::ldmatrix:
    case Kind::stmatrix: return as_meaning(matrix_operation(access.kind, access.flags >> 8));
    case Kind::async: return as_meaning(copy_operation(access.width, opcode));
    default: return std::nullopt;
  }
}

/// Bytes per lane of the instruction. Of a 16-bit atomic, NVIDIA's library reports what the program asks for; the
/// compiler makes it of a loop that compares and swaps the word.
unsigned width_of(Operation operation, unsigned recorded) {
  if (banks::matrix_rows(operation) > 0) return 16;
  return operation == Operation::atomic_cas ? std::max(recorded, 4U) : recorded;
}

/// The CUDA Toolkit's own headers, which wrap an instruction in a function.
bool is_toolkit_header(const std::string& file) {
  return file.find("/include/") != std::string::npos && file.find("cuda") < file.find("/include/");
}

/// Installed Python packages, with the C++ that Warp and TileLang compile into kernels.
bool is_package(const std::string& file) {
  return file.find("/site-packages/") != std::string::npos || file.find("/dist-packages/") != std::string::npos;
}

/// `dynamic_bytes`: of the largest launch; 0: not known.
trace::Array array_of(const Code& code, std::uint64_t dynamic_bytes, std::uint32_t address) {
  for (const Cubin::SharedArray& array : code.arrays) {
    const bool is_dynamic = array.bytes == 0;
    const std::uint64_t bytes = is_dynamic ? dynamic_bytes : array.bytes;
    if (address < array.offset || address - array.offset >= bytes) continue;
    return {is_dynamic ? "dynamic shared memory" : array_name(array.name), array.offset, std::uint32_t(bytes)};
  }
  return {"shared memory", 0, 0};  // of a build whose cubin does not name its arrays, or of a graph's node
}

std::uint64_t dynamic_bytes_of(const RecordedKernel& kernel) {
  std::uint64_t bytes = 0;
  for (const RecordedLaunches& launch : kernel.shapes) bytes = std::max(bytes, launch.dynamic_shared);
  return bytes;
}

/// Why an access has no meaning: the cause in KernelTrace::left_out.
std::string why_left_out(Kind kind, const std::optional<std::string>& opcode) {
  switch (kind) {
    case Kind::async: return is_filling(opcode) ? "cp.async.cg with ZFILL" : "cp.async of unknown opcode";
    case Kind::atomic: return "atomics of unknown opcode";
    default: return "accesses of an unknown kind";
  }
}

/// Whether a copy does not go the way for which it has this cost: its accesses count with the other one.
bool is_other_way(const RecordedCost& cost, const std::optional<Meaning>& meaning) {
  if (cost.kind != Kind::async || cost.width != 16) return false;
  const bool is_past = (cost.flags & past_l1) != 0;
  return is_past != (meaning && meaning->operation == Operation::cp_async_cg);
}

/// What the bank model makes of accesses that the GPU has costed.
banks::Tally tally_of(const RecordedCost& cost, const banks::Rule& rule) {
  const bool queue = rule.serving == banks::Serving::lanes;
  const std::uint64_t conflicts = (queue ? cost.lane_passes : cost.passes) - cost.ideal;
  return {.accesses = cost.count,
          .lanes = cost.count * cost.lanes,
          .passes = cost.count * rule.rounds * (cost.ideal + conflicts),
          .ideal = cost.count * rule.rounds * cost.ideal,
          .conflicts = cost.count * conflicts};
}

/// Likewise of turns of loops (trace/warps.hpp).
banks::Tally tally_of_turns(const RecordedCost& cost, const banks::Rule& rule) {
  const bool repeats = cost.lane_passes > cost.ideal;
  return {.accesses = cost.count,
          .lanes = cost.count * cost.lanes,
          .passes = cost.count * rule.rounds * cost.ideal,
          .ideal = cost.count * rule.rounds * (repeats ? 0 : cost.ideal),
          .conflicts = cost.count * rule.rounds * (repeats ? cost.ideal : 0)};
}

/// Whether two rules give every access the same cost.
bool cost_alike(const banks::Rule& a, const banks::Rule& b) {
  const auto serving = [](const banks::Rule& rule) {
    return std::tuple(rule.serving, rule.total, rule.merges, rule.request_bytes, rule.rounds, rule.banks.count,
                      rule.banks.bytes, rule.banks.row_bytes, rule.lane_groups.count, rule.lane_groups.lanes,
                      rule.refusal.empty());
  };
  return serving(a) == serving(b);
}

/// Those of `architectures` on which the accesses cost what they cost on the GPU that ran.
std::set<const banks::Architecture*> costed_alike(const trace::Excess& excess, const banks::Architecture& gpu,
                                                  const std::vector<const banks::Architecture*>& architectures) {
  std::set<const banks::Architecture*> alike{&gpu};
  const banks::Rule* rule = banks::find_rule(gpu, excess.operation, excess.width);
  for (const banks::Architecture* architecture : architectures) {
    const banks::Rule* other = banks::find_rule(*architecture, excess.operation, excess.width);
    const bool same_rule = rule != nullptr && other != nullptr && cost_alike(*rule, *other);
    if (same_rule && architecture->warp == gpu.warp) alike.insert(architecture);
  }
  return alike;
}

/// Accesses that the GPU has costed, on its own architecture. Their addresses, and so their array, are not known.
trace::Excess excess_of(const RecordedCost& cost, const Meaning& meaning, const banks::Architecture& architecture) {
  trace::Excess excess{.operation = meaning.operation, .width = width_of(meaning.operation, cost.width)};
  excess.accesses = cost.count;
  const banks::Rule* rule = banks::find_rule(architecture, meaning.operation, excess.width);
  if (rule != nullptr && rule->refusal.empty() && cost.ideal > 0) {
    excess.tally = meaning.is_loop ? tally_of_turns(cost, *rule) : tally_of(cost, *rule);
  } else {
    excess.tally = {.accesses = cost.count, .lanes = cost.count * cost.lanes, .unknown = cost.count};
    excess.why_unknown = fmt::format("{}-byte {} accesses whose addresses had no room in the table have no cost",
                                     excess.width, to_string(meaning.operation));
  }
  return excess;
}

/// Without its site and array.
trace::Pattern pattern_of(const RecordedPattern& recorded, const Meaning& meaning) {
  trace::Pattern pattern;
  pattern.operation = meaning.operation;
  pattern.is_loop = meaning.is_loop;
  pattern.width = width_of(meaning.operation, recorded.width);
  pattern.mask = recorded.mask;
  pattern.addresses = recorded.addresses;
  pattern.sources = recorded.sources;
  if (pattern.width > recorded.width) {
    for (std::uint32_t& address : pattern.addresses) address -= address % pattern.width;
  }
  pattern.count = recorded.count;
  return pattern;
}

/// One process's part of a kernel.
trace::KernelTrace trace_of(const RecordedKernel& kernel, const Code& code, support::MemorySpaces memory,
                            const std::vector<const banks::Architecture*>& architectures) {
  trace::Builder builder({.kernel = demangled(kernel.name), .knows_code = code.cubin != nullptr, .levels = 1},
                         {.architectures = architectures});
  trace::KernelTrace& trace = builder.trace();
  trace.watches_shared = memory.shared;
  trace.watches_global = memory.global;
  for (const RecordedLaunches& launch : kernel.shapes) {
    trace::LaunchShape shape{.block = launch.block, .launches = launch.launches};
    for (std::size_t i = 0; i < 3; ++i) shape.threads[i] = launch.grid[i] * launch.block[i];
    builder.add(shape);
    trace.blocks += launch.watched_blocks;
  }
  add_sectors(kernel, code, memory, architectures, builder);
  if (!memory.shared) return builder.take();
  add_engines(kernel, code, builder);
  const std::uint64_t dynamic_bytes = dynamic_bytes_of(kernel);
  for (const RecordedPattern& recorded : kernel.patterns) {
    if (is_global(recorded.kind) || is_remote(recorded.kind)) continue;
    const auto opcode = code.opcode_at(recorded.pc);
    const auto meaning = meaning_of(recorded, opcode);
    if (!meaning || recorded.mask == 0) {
      trace.left_out[why_left_out(recorded.kind, opcode)] += recorded.count;
      continue;
    }
    trace::Pattern pattern = pattern_of(recorded, *meaning);
    pattern.site = builder.site(site_of(code, recorded.pc));
    const std::uint32_t address = recorded.addresses[std::size_t(std::countr_zero(recorded.mask))];
    pattern.array = builder.array(array_of(code, dynamic_bytes, address));
    trace::normalize(pattern);
    builder.add(pattern);
  }
  for (const RecordedCost& cost : kernel.costs) {
    if (is_global(cost.kind) || is_remote(cost.kind) || is_local(cost.kind)) continue;
    const auto opcode = code.opcode_at(cost.pc);
    const auto meaning = meaning_of(cost, opcode);
    if (is_other_way(cost, meaning)) continue;
    if (!meaning) {
      trace.left_out[why_left_out(cost.kind, opcode)] += cost.count;
      continue;
    }
    trace.excess_accesses += cost.count;
    if (code.architecture == nullptr) continue;
    trace::Excess excess = excess_of(cost, *meaning, *code.architecture);
    excess.site = builder.site(site_of(code, cost.pc));
    excess.array = builder.array({"shared memory", 0, 0});
    for (const banks::Architecture* architecture : costed_alike(excess, *code.architecture, architectures)) {
      excess.architecture = architecture->name;
      builder.add(excess);
    }
  }
  trace.excess_accesses += kernel.lost;
  return builder.take();
}

/// The cubins of all processes, by path, each read once; nothing for those that cannot be read.
using Cubins = std::map<std::filesystem::path, std::optional<Cubin>>;

std::optional<Cubin> read_cubin(const std::filesystem::path& path, std::vector<std::string>& errors) {
  try {
    auto bytes = support::read_file(path);
    if (!bytes) throw std::runtime_error("it cannot be opened");
    return Cubin(*std::move(bytes));
  } catch (const std::exception& error) {
    errors.push_back(fmt::format("cannot read the machine code in {}: {}", path.filename().string(), error.what()));
    return std::nullopt;
  }
}

Code code_of(const ProcessRecord& record, const RecordedKernel& kernel, Cubins& cubins,
             std::vector<std::string>& errors) {
  Code code{.function = kernel.name};
  const auto module = record.modules.find(kernel.module);
  if (module == record.modules.end()) return code;
  const auto device = record.devices.find(module->second.device);
  if (device != record.devices.end()) code.architecture = architecture_of(device->second);
  const auto [cubin, is_new] = cubins.try_emplace(module->second.cubin);
  if (is_new) cubin->second = read_cubin(cubin->first, errors);
  if (!cubin->second) return code;
  code.cubin = &*cubin->second;
  code.arrays = code.cubin->shared_arrays(kernel.name);
  return code;
}

bool has_kind(const std::vector<ProcessRecord>& records, std::string_view kind) {
  return std::ranges::any_of(records, [&](const ProcessRecord& record) {
    return std::ranges::any_of(record.kernels, [&](const auto& entry) {
      return std::ranges::find(entry.second.bulk, kind, &BulkCopies::kind) != entry.second.bulk.end();
    });
  });
}

}  // namespace

const SourceFrame* reported_frame(const std::vector<SourceFrame>& frames) {
  const SourceFrame* of_package = nullptr;
  for (const SourceFrame& frame : frames) {
    if (frame.line == 0 || is_toolkit_header(frame.file)) continue;
    if (!is_package(frame.file)) return &frame;
    if (of_package == nullptr) of_package = &frame;
  }
  return of_package;
}

trace::Site site_of(const Code& code, std::uint64_t pc) {
  if (code.cubin == nullptr) return {"?", 0, 0, "", pc};
  const auto frames = code.cubin->source_of(code.function, pc);
  const SourceFrame* frame = reported_frame(frames);
  return frame == nullptr ? trace::Site{"?", 0, 0, "", pc} : trace::Site{frame->file, frame->line, 0, "", std::nullopt};
}

const banks::Architecture* architecture_of(const Device& device) {
  return banks::find_architecture(fmt::format("sm_{}{}", device.major, device.minor));
}

Resolved resolve(const std::vector<ProcessRecord>& records,
                 const std::vector<const banks::Architecture*>& architectures,
                 const std::map<std::string, trace::KernelTime>& times) {
  Resolved resolved{.trace = {.maker = trace::Maker::cuda, .revision = std::string(support::revision())}};
  trace::Trace& trace = resolved.trace;
  Cubins cubins;
  std::vector<trace::Builder> builders;
  std::map<std::string, std::size_t> places;  // by mangled name
  const bool sees_loads = has_kind(records, "tma_load"), sees_stores = has_kind(records, "tma_store");
  for (const ProcessRecord& record : records) {
    for (const auto& [id, kernel] : record.kernels) {
      Code code = code_of(record, kernel, cubins, trace.errors);
      code.unseen = unseen_copies(kernel, code, sees_loads, sees_stores);
      trace::KernelTrace part = trace_of(kernel, code, record.memory, architectures);
      const auto [at, is_new] = places.try_emplace(kernel.name, builders.size());
      if (is_new) builders.emplace_back(trace::KernelTrace{.kernel = part.kernel, .knows_code = part.knows_code});
      builders[at->second].add(part);
    }
    trace.errors.insert(trace.errors.end(), record.errors.begin(), record.errors.end());
    if (!record.ended) {
      trace.errors.push_back(
          fmt::format("process {} did not end in order: what it did last was not recorded", record.process));
    }
  }
  for (const auto& [name, time] : times) {
    if (const auto at = places.find(name); at != places.end()) builders[at->second].trace().time = time;
  }
  for (trace::Builder& builder : builders) {
    trace::KernelTrace kernel = builder.take();
    trace::put_in_order(kernel);
    trace.kernels.push_back(std::move(kernel));
  }
  const auto lacks_loads = [](const trace::KernelTrace& kernel) {
    const auto loads = kernel.left_out.find("TMA loads");
    return loads != kernel.left_out.end() && loads->second == 0;
  };
  if (std::ranges::any_of(trace.kernels, lacks_loads)) {
    resolved.remarks.emplace_back(
        "the code has TMA loads, and none was seen: they did not run, or NVIDIA's Sanitizer library is older than "
        "version 2026.2; pip install nvidia-cuda-sanitizer-api gets a newer one, and --sanitizer names its directory");
  }
  return resolved;
}

}  // namespace bankwise::cuda
