#include <fmt/format.h>

#include <algorithm>

#include <bankwise/report/metrics.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {

using namespace study;

namespace {

using Row = std::vector<std::string>;
using Table = std::vector<Row>;

// --- The rows of one device, or of all ranks ---

template <class Format>
std::string optional_text(const std::optional<double>& value, const Format& format) {
  return value ? format(*value) : std::string("-");
}

/// The first line of a reason; a compiler's log has many.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string verified(const Result& result) {
  if (result.status == Status::ok) return is_variant(result.variant) ? "yes" : "-";
  return result.status == Status::wrong ? "WRONG" : std::string(to_string(result.status));
}

/// A CPU's times say nothing about banks, so its table has no speedups of fixes.
bool has_speedups(const RunResults& run, const gpu::DeviceInfo& device) {
  return device.is_gpu && !run.study->baseline.empty();
}

/// The columns of a table that others lack.
struct Columns {
  bool traffic, limits;
};

Row head_of(const RunResults& run, const Columns& columns, const Result& any) {
  Row head{"variant", "verified", "median", "noise"};
  if (columns.traffic) head.insert(head.end(), {"GB/s", "of copy"});
  if (has_speedups(run, *any.device)) head.push_back(fmt::format("over {}", run.study->baseline));
  if (columns.limits) head.insert(head.end(), {"busy", "at most"});
  if (!run.levels.empty()) {
    head.push_back(any.device->is_gpu || any.architecture == nullptr
                       ? "passes / ideal"
                       : fmt::format("passes / ideal on {} (model)", any.architecture->name));
    head.emplace_back("ALU");
  }
  if (run.has_counters()) head.emplace_back("counted");
  if (!columns.limits) head.emplace_back("samples");
  head.emplace_back("stop");
  return head;
}

Row row_of(const RunResults& run, const Columns& columns, const Result& result) {
  const auto times = [](double ratio) { return fmt::format("{:.2f} x", ratio); };
  const auto gigabytes = [](double rate) { return fmt::format("{:.1f}", rate * 1e-9); };
  Row row{result.library.empty() ? result.variant : result.library, verified(result),
          optional_text(result.timing.median, support::format_time), percent(result.timing.noise)};
  if (columns.traffic) {
    row.push_back(optional_text(result.bytes_per_second, gigabytes));
    row.push_back(percent(result.of_copy));
  }
  if (has_speedups(run, *result.device)) row.push_back(optional_text(result.speedup, times));
  if (const Limits limits = result.limits.value_or(Limits{}); columns.limits) {
    row.push_back(result.limits ? percent(limits.shared_busy) : "-");
    row.push_back(optional_text(limits.speedup, times));
  }
  if (!run.levels.empty()) {
    // The emulator's results for the row's kernels, or their CUDA counterparts.
    const auto levels = std::ranges::find_if(run.levels, [&](const VariantLevels& variant) {
      return variant.variant == result.variant && variant.architecture == result.architecture;
    });
    const bool known = levels != run.levels.end(), costs = known && levels->costs;
    row.push_back(
        optional_text(costs ? passes_over_ideal(levels->costs->passes, levels->costs->ideal) : std::nullopt, times));
    row.push_back(percent(known ? levels->alu_utilization : std::nullopt));
  }
  if (run.has_counters()) {
    const bool counted = result.counters && result.counters->counted;
    row.push_back(optional_text(counted ? counted_over_ideal(*result.counters->counted) : std::nullopt, times));
  }
  if (!columns.limits) row.push_back(std::to_string(result.timing.samples.size()));
  row.push_back(result.status == Status::ok ? result.timing.stop : first_line(result.reason));
  return row;
}

/// What a run on a CPU is good for; `model` is the GPU whose passes the table has, if any.
std::string about_cpu(const gpu::DeviceInfo& device, const banks::Architecture* model) {
  if (device.is_gpu) return "";
  return "a CPU has no banks: this run shows whether results are right and what work costs on this CPU,\n"
         "not what conflicts cost" +
         (model == nullptr
              ? "\n"
              : fmt::format(": see the passes (NVIDIA: wavefronts) of a block on {}, a GPU (--arch)\n", model->name));
}

std::string table_heading(const RunResults& run, const Columns& columns, const Result& any) {
  const CaseStudy& study = *run.study;
  const banks::Architecture* model = run.levels.empty() ? nullptr : any.architecture;
  return fmt::format(
      "{}: {} ({}), {}:{} {}\n{}scope {}, {}{}\n{}", study.name, size_text(study, any.extent),
      support::format_bytes(double(any.bytes)), to_string(any.device->api), any.device->index, shown_name(*any.device),
      about_cpu(*any.device, model), to_string(any.scope),
      any.scope == Scope::block
          ? fmt::format("time of one of {} iterations of the shared-memory section", gpu::block_scope_repeats)
          : fmt::format("cache {}", to_string(any.cache)),
      model == nullptr || !any.device->is_gpu
          ? ""
          : fmt::format("; passes (NVIDIA: wavefronts), ALU utilization: one block on {}", model->name),
      columns.limits ? "busy: shared memory; at most: the speedup without conflicts\n" : "");
}

/// Complete reasons of more than one line, and what to know about a row.
std::string notes_of(const Result& result) {
  std::string text;
  if (first_line(result.reason) != result.reason) text += fmt::format("\n{}: {}\n", result.variant, result.reason);
  if (result.of_copy.value_or(0) > suspicious_of_copy) {
    text += fmt::format("note: {} is above {:.0f} % of copy; does it measure a cache?\n", result.variant,
                        100 * suspicious_of_copy);
  }
  if (result.timing.dropped > 0) {
    text += fmt::format("note: {}: {} of {} samples dropped, because the GPU throttled ({})\n", result.variant,
                        result.timing.dropped, result.timing.dropped + result.timing.samples.size(),
                        result.dropped_because);
  }
  return text;
}

/// A note about the rows whose time may include launch overhead.
std::string overheads(std::span<const Result> results) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const Result& result : results) {
    if (!result.timing.launch_overhead.empty()) reasons.emplace_back(result.variant, result.timing.launch_overhead);
  }
  return reasons.empty() ? "" : "note: these times may include launch overhead\n" + support::by_reason(reasons);
}

Row row_on_ranks(const Result& result) {
  const Scaling& scaling = result.scaling;
  const auto rate = [&](std::uint64_t bytes) {
    if (bytes == 0 || result.timing.median.value_or(0) <= 0) return std::string("-");
    return fmt::format("{:.1f}", double(bytes) / *result.timing.median * 1e-9);
  };
  return {scaling.alone.empty() ? result.variant : fmt::format("{}: {}", result.variant, scaling.alone),
          verified(result),
          optional_text(result.timing.median, support::format_time),
          percent(result.timing.noise),
          rate(result.bytes),
          rate(scaling.link_bytes),
          percent(scaling.of_floor),
          percent(scaling.weak),
          optional_text(scaling.exchanges_s, support::format_time),
          percent(scaling.exchanging),
          result.status == Status::ok ? result.timing.stop : first_line(result.reason)};
}

std::string text_on_ranks(const RunResults& run) {
  const CaseStudy& study = *run.study;
  const RanksInfo& common = *run.ranks;
  const gpu::DeviceInfo& device = run.devices.front();
  const Result& first = run.results.front();
  Table rows{{"variant", "verified", "median", "noise", "memory GB/s", "link GB/s", "of floor", "weak scaling",
              "exchange", "its share", "stop"}};
  std::string notes;
  for (const Result& result : run.results) {
    rows.push_back(row_on_ranks(result));
    if (result.timing.dropped == 0) continue;
    notes +=
        fmt::format("note: {}: {} samples dropped, because a GPU throttled\n", result.variant, result.timing.dropped);
  }
  return fmt::format("{}: {} on {}, {}:{} {}\n{}, {}; {}; cache {}\n", study.name, size_text(study, first.extent),
                     support::plural(common.ranks.size(), "rank", "ranks"), to_string(device.api), device.index,
                     shown_name(device), common.engine, common.mpi, common.topology, to_string(first.cache)) +
         about_cpu(device, nullptr) + support::format_table(rows, 2, true) + notes + overheads(run.results) + '\n';
}

// --- Levels ---

constexpr std::size_t first_level = 2;  // the columns before it are titles

/// A table whose head takes one line if that fits, otherwise two: the first word of a name above the rest of it.
std::string table_text(const Row& names, const Table& kernels) {
  Table rows{names};
  rows.insert(rows.end(), kernels.begin(), kernels.end());
  std::string text = support::format_wide_table(rows, first_level);
  if (std::size_t(std::ranges::count(text, '\n')) == rows.size()) return text;
  Row above;
  for (std::string& name : rows.front()) {
    const auto blank = name.find(' ');
    above.push_back(blank == std::string::npos ? "" : name.substr(0, blank));
    if (blank != std::string::npos) name.erase(0, blank + 1);
  }
  rows.insert(rows.begin(), std::move(above));
  return support::format_wide_table(rows, first_level);
}

/// Two rows for each kernel: of its totals, then of its levels with accesses. Variants whose levels have the same names
/// share a table.
std::string tables(const std::vector<const VariantLevels*>& variants) {
  std::string text;
  Table table;
  Row names;
  for (const VariantLevels* variant : variants) {
    for (const KernelLevels& kernel : variant->kernels) {
      const bool alone = variant->kernels.size() == 1;
      Row head{"", ""}, passes{alone ? std::string(variant->variant) : kernel.name, "passes"}, lanes{"", "ALU %"};
      const auto add = [&](const std::string& name, const banks::Tally& costs) {
        head.push_back(name);
        passes.push_back(passes_text(costs));
        lanes.push_back(percent_text(alu_utilization(costs, kernel.report.warp)));
      };
      add("all", kernel.report.all);
      for (const auto& level : kernel.report.levels) {
        if (level.costs.accesses > 0) add(kernel.level_names[level.level], level.costs);
      }
      if (names != head) {
        if (!table.empty()) text += table_text(names, table);
        names = head;
        table.clear();
      }
      table.insert(table.end(), {passes, lanes});
    }
  }
  return text + (table.empty() ? "" : table_text(names, table));
}

/// Why a variant has no rows. Variants with the same reason share a line.
std::string without_rows(const std::vector<const VariantLevels*>& variants) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const VariantLevels* variant : variants) {
    if (variant->kernels.empty() || !variant->reason.empty())
      names.emplace_back(variant->variant, why_no_levels(*variant));
  }
  return support::by_reason(names);
}

// --- Hardware counters ---

constexpr std::size_t first_number = 2;  // the columns before it are titles
constexpr std::size_t first_atomic = first_number + 4, after_atomics = first_atomic + 2;

const Table head{
    {"", "", "load", "load", "store", "store", "atomic", "atomic", "arbitr.", "SIMT", "DRAM", "DRAM", "DRAM"},
    {"", "", "passes", "conflicts", "passes", "conflicts", "passes", "conflicts", "conflicts", "%", "read", "written",
     "of bytes"}};

std::string count_text(const gpu::Counters::Count& count) { return count ? support::grouped(*count) : "-"; }
std::string bytes_text(const gpu::Counters::Count& bytes) {
  return bytes ? support::format_bytes(double(*bytes)) : "-";
}

std::string difference_text(const std::optional<std::int64_t>& difference) {
  if (!difference) return "-";
  if (*difference == 0) return "=";
  const std::string digits = support::grouped(std::uint64_t(*difference < 0 ? -*difference : *difference));
  return (*difference < 0 ? "-" : "+") + digits;
}

Row counted_row(const Result& result) {
  const gpu::Counters& counted = *result.counters->counted;
  Row row{result.library.empty() ? result.variant : result.library, "counted"};
  for (const auto& number : shared_memory_numbers(*result.counters)) row.push_back(count_text(number.counted));
  row.push_back(count_text(counted.arbitration_conflicts));
  const auto simt = study::simt_efficiency(counted);
  row.push_back(simt ? fmt::format("{:.1f}", 100 * *simt) : "-");
  row.push_back(bytes_text(counted.dram_read_bytes));
  row.push_back(bytes_text(counted.dram_write_bytes));
  const bool share = counted.dram_read_bytes && counted.dram_write_bytes && result.bytes > 0;
  row.push_back(share ? fmt::format("{:.2f} x",
                                    double(*counted.dram_read_bytes + *counted.dram_write_bytes) / double(result.bytes))
                      : "-");
  return row;
}

Row difference_row(const CounterResult& counters) {
  Row row{"", "- model"};
  for (const auto& number : shared_memory_numbers(counters)) row.push_back(difference_text(number.difference()));
  row.emplace_back();  // the model covers neither other traffic nor DRAM
  const auto simt = study::simt_efficiency(*counters.counted), model = counters.model->simt_efficiency;
  row.insert(row.end(), {simt && model ? fmt::format("{:+.1f}", 100 * (*simt - *model)) : "-", "", "", ""});
  return row;
}

std::string whole_text(const RunResults& run) {
  return text_report(run) + counters_text(run) + levels_text(run) + run.comparison;
}

constexpr Sink<RunResults> table[]{
    {nullptr, nullptr, whole_text},
    {"--json", json_help, json_report},
    {"--csv", csv_help, csv_report},
    {"--levels-svg",
     "Write a picture of the levels to this SVG file: one row per lane, one column per level, coloured by conflicts",
     levels_svg},
};

}  // namespace

std::string text_report(const RunResults& run) {
  if (run.ranks) return text_on_ranks(run);
  std::string text;
  for (const auto& device : run.devices) {
    std::vector<Result> on_device;
    std::ranges::copy_if(run.results, std::back_inserter(on_device),
                         [&](const Result& result) { return result.device->index == device.index; });
    if (on_device.empty()) continue;
    const bool limits = std::ranges::any_of(on_device, [](const Result& result) { return result.limits.has_value(); });
    const Columns columns{.traffic = on_device.back().scope != Scope::block, .limits = limits};
    Table rows{head_of(run, columns, on_device.back())};
    for (const Result& result : on_device) rows.push_back(row_of(run, columns, result));
    text += table_heading(run, columns, on_device.back()) + support::format_table(rows, 2, true);
    for (const Result& result : on_device) text += notes_of(result);
    text += too_noisy(run.study->baseline, on_device) + overheads(on_device) + '\n';
  }
  return text;
}

std::string levels_text(const RunResults& run) {
  std::string text;
  for (auto next = run.levels.begin(); next != run.levels.end();) {
    const banks::Architecture* architecture = next->architecture;
    std::vector<const VariantLevels*> variants;
    for (; next != run.levels.end() && next->architecture == architecture; ++next) variants.push_back(&*next);
    const std::string rows = tables(variants);
    text += fmt::format("{} on {}: one block from barrier to barrier (block 0 of the CUDA kernels, emulated)\n",
                        run.study->name, architecture->name);
    if (!rows.empty()) {
      text += fmt::format("72/16: 72 passes where 16 would do without conflicts; ALU: active lanes in warps of {}\n",
                          architecture->warp);
    }
    text += rows + without_rows(variants) + '\n';
  }
  return text;
}

std::string why_no_levels(const VariantLevels& variant) {
  if (variant.reason.empty()) return "no shared memory";
  return variant.kernels.empty() ? "not emulated: " + variant.reason : variant.reason;
}

std::string counters_text(const RunResults& run) {
  std::string text;
  for (const auto& device : run.devices) {
    Table rows = head;
    std::vector<std::pair<std::string, std::string>> reasons;
    const Result* any = nullptr;
    bool atomics = false;
    for (const Result& result : run.results) {
      if (result.device->index != device.index || !result.counters) continue;
      any = &result;
      const CounterResult& counters = *result.counters;
      if (!counters.counted) {
        reasons.emplace_back(result.variant, counters.reason);
        continue;
      }
      atomics = atomics || counters.counted->shared_atomic_passes.value_or(0) > 0;
      rows.push_back(counted_row(result));
      if (!counters.model) continue;
      rows.push_back(difference_row(counters));
      if (!counters.model->reason.empty()) reasons.emplace_back(result.variant + ", model", counters.model->reason);
    }
    if (any == nullptr) continue;
    text += fmt::format("{} on {}:{} {}: hardware counters of one run of the whole job\n", run.study->name,
                        to_string(any->device->api), any->device->index, shown_name(*any->device));
    if (rows.size() > head.size()) {
      text += fmt::format(
          "- model: counted minus model (block 0 of each launch, emulated, times its blocks) on {}; of bytes: "
          "compulsory traffic\n",
          any->architecture != nullptr ? any->architecture->name : "no GPU");
      if (!atomics) {  // their columns would only split the table
        for (Row& row : rows) row.erase(row.begin() + first_atomic, row.begin() + after_atomics);
      }
      text += support::format_wide_table(rows, first_number);
    }
    text += support::by_reason(reasons) + '\n';
  }
  return text;
}

std::span<const Sink<RunResults>> sinks() { return table; }

}  // namespace bankwise::report
