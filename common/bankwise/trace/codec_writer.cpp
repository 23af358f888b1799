#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include <bankwise/trace/codec.hpp>

namespace bankwise::trace {
namespace {

/// Sources may contain any bytes; JSON holds only Unicode.
std::string json_text(const nlohmann::ordered_json& text) {
  return text.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// In quotes.
std::string hexadecimal(std::uint64_t mask) {
  char digits[16];
  return '"' + std::string(digits, std::to_chars(digits, digits + sizeof digits, mask, 16).ptr) + '"';
}

/// A JSON object or array, written piece by piece: a document of nlohmann's library takes ten times as long.
class RecordLine {
 public:
  /// The beginning of a line of a process.
  RecordLine(std::string& text, const char* record, std::uint64_t process) : text_(text) {
    ((text_ += R"({"record":")") += record) += '"';
    if (process != 0) number("process", process);
  }
  ~RecordLine() { text_ += "}\n"; }
  RecordLine(const RecordLine&) = delete;
  RecordLine& operator=(const RecordLine&) = delete;

  RecordLine& raw(const char* key, std::string_view value) {
    ((text_ += ",\"") += key) += "\":";
    text_ += value;
    return *this;
  }
  RecordLine& number(const char* key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  RecordLine& text(const char* key, std::string_view value) { return raw(key, json_text(value)); }
  RecordLine& flag(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  /// `each(element)` is its JSON.
  template <class List, class Each>
  RecordLine& list(const char* key, const List& values, Each each) {
    const char* separator = "";
    raw(key, "[");
    for (const auto& value : values) (text_ += std::exchange(separator, ",")) += each(value);
    text_ += ']';
    return *this;
  }
  template <class List, class Each>
  RecordLine& list_if_any(const char* key, const List& values, Each each) {
    return values.empty() ? *this : list(key, values, each);
  }

 private:
  std::string& text_;
};

/// "[1,2]" of numbers, and of JSON that is ready.
template <class... Values>
std::string row(const Values&... values) {
  std::string text = "[";
  const auto add = [&](const auto& value) {
    if (text.size() > 1) text += ',';
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
      text += std::to_string(value);
    } else {
      text += value;
    }
  };
  (add(values), ...);
  return text + ']';
}

std::string decimal(std::uint32_t number) { return std::to_string(number); }
std::string source_text(std::uint32_t source) { return source == banks::no_source ? "null" : decimal(source); }

void define(RecordLine& line, const Site& site) {
  line.text("file", site.file).number("line", site.line).number("column", site.column).text("function", site.function);
  if (site.pc) line.number("pc", *site.pc);
}

void define(RecordLine& line, const Array& array) {
  line.text("name", array.name).number("offset", array.offset).number("bytes", array.bytes);
  if (array.element > 0) line.number("element", array.element);
  line.list_if_any("lengths", array.lengths, decimal);
}

/// The difference between neighbours, if it is always the same.
std::optional<std::int64_t> step_of(const std::vector<std::uint32_t>& addresses) {
  if (addresses.size() < 3) return std::nullopt;
  const std::int64_t step = std::int64_t{addresses[1]} - addresses[0];
  for (std::size_t i = 2; i < addresses.size(); ++i) {
    if (std::int64_t{addresses[i]} - addresses[i - 1] != step) return std::nullopt;
  }
  return step;
}

std::vector<std::uint32_t> of_active(const std::vector<std::uint32_t>& of_lanes, std::uint64_t mask) {
  std::vector<std::uint32_t> active;
  if (!of_lanes.empty()) banks::for_each_lane(mask, [&](unsigned lane) { active.push_back(of_lanes[lane]); });
  return active;
}

void define_lanes(RecordLine& line, const Pattern& pattern) {
  line.text("operation", to_string(pattern.operation)).number("width", pattern.width);
  line.raw("mask", hexadecimal(pattern.mask));
  const auto addresses = of_active(pattern.addresses, pattern.mask);
  if (const auto step = step_of(addresses)) {
    line.number("address", addresses.front()).raw("step", std::to_string(*step));
  } else {
    line.list("addresses", addresses, decimal);
  }
}

void define(RecordLine& line, const Pattern& pattern) {
  line.number("site", pattern.site).number("array", pattern.array).number("level", pattern.level);
  define_lanes(line, pattern);
  line.list_if_any("lane_arrays", of_active(pattern.lane_arrays, pattern.mask), decimal);
  line.list_if_any("sources", of_active(pattern.sources, pattern.mask), source_text);
  if (pattern.is_loop) line.flag("is_loop", true);
}

std::string json_of(const LaunchShape& shape) {
  const auto& [x, y, z] = shape.threads;
  return row(row(x, y, z), row(shape.block[0], shape.block[1], shape.block[2]), shape.launches);
}

std::string json_of(const banks::SectorTally& tally) {
  return row(tally.accesses, tally.lanes, tally.sectors, tally.ideal, tally.lines, tally.bytes, tally.unknown);
}

std::string json_of(const banks::Tally& tally) {
  return row(tally.accesses, tally.lanes, tally.passes, tally.ideal, tally.conflicts, tally.unknown);
}

/// The parts of a launch that belong to no pattern; `sites` and `arrays` are their numbers in the file.
void put_sums(RecordLine& line, const KernelTrace& launches, const std::vector<std::uint32_t>& sites,
              const std::vector<std::uint32_t>& arrays) {
  line.list("shapes", launches.shapes, [](const LaunchShape& shape) { return json_of(shape); });
  line.number("blocks", launches.blocks).number("levels", launches.levels);
  if (launches.copied_bytes > 0) line.number("copied_bytes", launches.copied_bytes);
  if (!launches.left_out.empty()) {
    line.number("left_out", total(launches.left_out));
    std::vector<std::string> causes;
    for (const auto& [cause, count] : launches.left_out) {
      if (!cause.empty() || count == 0) causes.push_back(row(json_text(cause), count));
    }
    line.list_if_any("left_out_causes", causes, std::identity());
  }
  line.list_if_any("engines", launches.engines, [&](const EngineAccesses& accesses) {
    const banks::EngineWork& work = accesses.work;
    return row(sites[accesses.site], json_text(to_string(work.engine)), work.bytes, work.row_bytes, accesses.count);
  });
  line.list("participants", launches.participants,
            [](const Participants& lanes) { return row(lanes.level, hexadecimal(lanes.mask), lanes.count); });
  line.list_if_any("basic_blocks", launches.basic_blocks, [&](const BasicBlock& block) {
    return row(sites[block.site], block.level, block.issued, block.lanes);
  });
  line.list_if_any("diagnoses", launches.diagnoses, [&](const DiagnosisRecord& diagnosis) {
    const Occurrence& first = diagnosis.first;
    return row(json_text(row_of(diagnosis.fault).id), sites[diagnosis.site],
               diagnosis.other ? std::to_string(sites[*diagnosis.other]) : std::string("null"),
               std::string(diagnosis.ended ? "true" : "false"), diagnosis.count, first.launch, first.block, first.warp,
               json_text(diagnosis.text));
  });
  if (!launches.watches_shared) line.flag("watches_shared", false);
  if (launches.watches_global) {
    line.number("sectors_read", launches.sectors_read).number("sectors_written", launches.sectors_written);
  }
  if (launches.global_left_out > 0) line.number("global_left_out", launches.global_left_out);
  line.list_if_any("local_accesses", launches.local_accesses, [&](const LocalAccesses& local) {
    return row(sites[local.site], json_text(to_string(local.operation)), local.width, local.accesses, local.lanes);
  });
  if (launches.time) {
    const KernelTime& time = *launches.time;
    line.raw("time",
             row(time.launches, time.nanoseconds, time.clock_khz, json_text(time.gpu),
                 std::string(time.overlapped ? "true" : "false"), time.multiprocessors, time.l2_bytes, time.dram_mb_s));
  }
  for (const SectorMembers& memory : sector_members) {
    if (launches.*memory.excess_accesses == 0) continue;
    const std::string name = std::string(memory.name) + "_excess";
    line.number((name + "_accesses").c_str(), launches.*memory.excess_accesses);
    line.list(name.c_str(), launches.*memory.excess, [&](const GlobalExcess& excess) {
      return row(sites[excess.site], json_text(to_string(excess.operation)), excess.width,
                 json_text(excess.architecture), excess.accesses, json_of(excess.tally));
    });
  }
  if (launches.excess_accesses == 0) return;
  line.number("excess_accesses", launches.excess_accesses);
  line.list("excess", launches.excess, [&](const Excess& excess) {
    return row(sites[excess.site], arrays[excess.array], json_text(to_string(excess.operation)), excess.width,
               excess.level, json_text(excess.architecture), excess.accesses, excess.mixed, json_of(excess.tally),
               json_text(excess.why_unknown));
  });
}

}  // namespace

std::string header_line(const Trace& trace) {
  return json_text({{"bankwise_trace", format_version},
                    {"maker", to_string(trace.maker)},
                    {"revision", trace.revision},
                    {"command", trace.command}}) +
         '\n';
}

std::string process_line(std::uint64_t process) {
  std::string text;
  { const RecordLine line(text, "process", process); }
  return text;
}

std::string error_line(std::string_view sentence) {
  std::string text;
  RecordLine(text, "error", 0).text("text", sentence);
  return text;
}

std::uint32_t TraceWriter::define_source(std::string_view text, std::string& lines) {
  if (const auto source = sources_.find(text); source != sources_.end()) return source->second;
  const auto number = std::uint32_t(sources_.size());
  RecordLine(lines, "source", process_).number("source", number).text("text", text);
  sources_.emplace(text, number);
  return number;
}

TraceWriter::WrittenKernel& TraceWriter::kernel_for(const Key& key, const KernelTrace& launches, std::string& lines) {
  if (const auto kernel = kernels_.find(key); kernel != kernels_.end()) return kernel->second;
  const KernelTrace head{.warp = launches.warp, .splits = launches.splits};
  WrittenKernel& kernel =
      kernels_.emplace(key, WrittenKernel{next_kernel_++, Builder(head, {~std::size_t{0}, {}}), {}}).first->second;
  RecordLine line(lines, "kernel", process_);
  line.number("kernel", kernel.number).text("name", launches.kernel).text("options", launches.options);
  if (const auto source = std::get<2>(key); source != no_source) line.number("source", source);
  line.number("warp", launches.warp).flag("splits", launches.splits).flag("knows_code", launches.knows_code);
  return kernel;
}

std::string TraceWriter::lines_of(const KernelTrace& launches, std::string_view source) {
  std::string lines;
  const std::uint32_t source_number = source.empty() ? no_source : define_source(source, lines);
  const Key key{launches.kernel, launches.options, source_number, launches.warp, launches.splits, launches.knows_code};
  WrittenKernel& kernel = kernel_for(key, launches, lines);
  Builder& known = kernel.known;
  const auto define_if_new = [&](const char* record, std::size_t before, const auto& list) {
    if (list.size() == before) return;
    RecordLine line(lines, record, process_);
    define(line.number("kernel", kernel.number).number(record, before), list.back());
  };
  std::vector<std::uint32_t> sites, arrays;
  for (const Site& site : launches.sites) {
    const std::size_t before = known.trace().sites.size();
    sites.push_back(known.site(site));
    define_if_new("site", before, known.trace().sites);
  }
  for (const Array& array : launches.arrays) {
    const std::size_t before = known.trace().arrays.size();
    arrays.push_back(known.array(array));
    define_if_new("array", before, known.trace().arrays);
  }
  struct Counted {
    std::uint64_t count = 0, merged = 0;
    Occurrence first;
  };
  std::map<std::uint32_t, Counted> patterns;
  const auto define_pattern = [&](Pattern pattern) -> Counted& {
    pattern.count = 0;
    renumber(pattern, sites, arrays);
    const std::size_t before = known.trace().patterns.size();
    const std::uint32_t number = known.add(pattern).value();
    define_if_new("pattern", before, known.trace().patterns);
    return patterns.try_emplace(number, Counted{.first = pattern.first}).first->second;
  };
  for (const Pattern& pattern : launches.patterns) define_pattern(pattern).count += pattern.count;
  if (launches.merged) {
    for (const Pattern& pattern : *launches.merged) define_pattern(pattern).merged += pattern.count;
  }
  std::array<std::map<std::uint32_t, Counted>, sector_memory_count> sector_patterns;
  for (const SectorMemory memory : {SectorMemory::global, SectorMemory::remote}) {
    const SectorMembers& members = sector_members[std::size_t(memory)];
    const std::string name = std::string(members.name) + "_pattern";
    const auto& list = known.trace().*members.patterns;
    for (Pattern pattern : launches.*members.patterns) {
      const std::uint64_t count = std::exchange(pattern.count, 0);
      pattern.site = sites.at(pattern.site);
      const std::size_t before = list.size();
      const std::uint32_t number = known.add_global(pattern, memory).value();
      if (list.size() > before) {
        RecordLine line(lines, name.c_str(), process_);
        line.number("kernel", kernel.number).number(name.c_str(), before).number("site", pattern.site);
        define_lanes(line, pattern);
      }
      auto& counted = sector_patterns[std::size_t(memory)];
      counted.try_emplace(number, Counted{.first = pattern.first}).first->second.count += count;
    }
  }
  std::string launch;
  {
    RecordLine line(launch, "launch", process_);
    line.number("kernel", kernel.number);
    const auto put = [&](const char* name, const auto& places, bool is_needed, auto number_of) {
      std::vector<std::string> rows;
      for (const auto& [number, counted] : places) {
        const Occurrence& first = counted.first;
        if (const auto value = number_of(counted); value != 0) {
          rows.push_back(row(number, value, first.launch, first.block, first.warp, first.number));
        }
      }
      if (is_needed || !rows.empty()) line.list(name, rows, std::identity());
    };
    const auto count = [](const Counted& counted) { return counted.count; };
    put("patterns", patterns, true, count);
    for (const SectorMemory memory : {SectorMemory::global, SectorMemory::remote}) {
      const auto name = std::string(sector_members[std::size_t(memory)].name) + "_patterns";
      const bool is_needed = memory == SectorMemory::global && launches.watches_global;
      put(name.c_str(), sector_patterns[std::size_t(memory)], is_needed, count);
    }
    if (launches.merged) {
      put("merged", patterns, false,
          [](const Counted& counted) { return std::int64_t(counted.merged - counted.count); });
    }
    put_sums(line, launches, sites, arrays);
  }
  if (launch == kernel.last) {
    RecordLine(lines, "again", process_).number("kernel", kernel.number);
  } else {
    lines += launch;
    kernel.last = std::move(launch);
  }
  // Too many to remember: the kernel gets a new number the next time, and everything is defined again.
  if (known.trace().patterns.size() + known.trace().global_patterns.size() + known.trace().remote_patterns.size() >
      max_patterns_)
    kernels_.erase(key);
  return lines;
}

std::string to_json_lines(const Trace& trace) {
  std::string text = header_line(trace);
  TraceWriter writer;
  for (const KernelTrace& kernel : trace.kernels) {
    text += writer.lines_of(kernel, kernel.source == no_source ? "" : trace.sources.at(kernel.source));
  }
  for (const std::string& sentence : trace.errors) text += error_line(sentence);
  RecordLine(text, "end", 0).number("lines", std::uint64_t(std::ranges::count(text, '\n')));
  return text;
}

}  // namespace bankwise::trace
