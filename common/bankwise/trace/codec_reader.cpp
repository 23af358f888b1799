// Input is untrusted: a trace may come from anywhere, and may be truncated.
#include <limits>

#include <bankwise/support/csv.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/codec.hpp>
#include <bankwise/trace/codec_records.hpp>

namespace bankwise::trace {
namespace {

constexpr std::size_t max_line = std::size_t{32} << 20;  // bytes

/// Numbers within a kernel are assigned in order, so duplicates and gaps are detected.
void check_next(const Record& record, const char* key, std::size_t next) {
  const std::uint64_t number = record.number(key);
  if (number != next) wrong(fmt::format("it is {} {}, but {} is next", key, number, next));
}

/// Which sum over the whole file keeps a number of a launch in bounds; none for a part of a number that has one.
enum class Sum { counts, merged, passes, none };

/// Calls `visit(number, sum)` for all numbers of a launch that grow if it is repeated.
template <class Visit>
void for_each_number(KernelTrace& launch, Visit visit) {
  for (LaunchShape& shape : launch.shapes) visit(shape.launches, Sum::counts);
  for (Pattern& pattern : launch.patterns) visit(pattern.count, Sum::counts);
  if (launch.merged) {
    for (Pattern& pattern : *launch.merged) visit(pattern.count, Sum::merged);
  }
  for (const SectorMembers& memory : sector_members) {
    for (Pattern& pattern : launch.*memory.patterns) visit(pattern.count, Sum::counts);
    visit(launch.*memory.excess_accesses, Sum::counts);
    for (GlobalExcess& excess : launch.*memory.excess) {
      banks::SectorTally& tally = excess.tally;
      for (std::uint64_t* number : {&excess.accesses, &tally.accesses}) visit(*number, Sum::counts);
      for (std::uint64_t* number : {&tally.sectors, &tally.bytes}) visit(*number, Sum::passes);
      for (std::uint64_t* part : {&tally.lanes, &tally.ideal, &tally.lines, &tally.unknown}) visit(*part, Sum::none);
    }
  }
  for (EngineAccesses& accesses : launch.engines) visit(accesses.count, Sum::counts);
  for (auto& [cause, count] : launch.left_out) visit(count, Sum::counts);
  for (LocalAccesses& local : launch.local_accesses) {
    visit(local.accesses, Sum::counts), visit(local.lanes, Sum::passes);
  }
  for (std::uint64_t* number : {&launch.sectors_read, &launch.sectors_written, &launch.global_left_out})
    visit(*number, Sum::counts);
  if (launch.time) visit(launch.time->launches, Sum::counts), visit(launch.time->nanoseconds, Sum::passes);
  for (Participants& warps : launch.participants) visit(warps.count, Sum::counts);
  for (DiagnosisRecord& diagnosis : launch.diagnoses) visit(diagnosis.count, Sum::counts);
  for (BasicBlock& block : launch.basic_blocks) visit(block.issued, Sum::counts), visit(block.lanes, Sum::passes);
  for (std::uint64_t* number : {&launch.blocks, &launch.excess_accesses}) visit(*number, Sum::counts);
  visit(launch.copied_bytes, Sum::passes);
  for (Excess& excess : launch.excess) {
    banks::Tally& tally = excess.tally;
    for (std::uint64_t* number : {&excess.accesses, &tally.accesses}) visit(*number, Sum::counts);
    visit(tally.passes, Sum::passes);
    for (std::uint64_t* part : {&tally.lanes, &tally.ideal, &tally.conflicts, &tally.unknown, &excess.mixed}) {
      visit(*part, Sum::none);
    }
  }
}

/// A kernel with the numbers that its process uses.
struct NumberedKernel {
  std::size_t number = 0;                    ///< index in TraceReader::kernels_
  std::vector<std::uint32_t> sites, arrays;  ///< their indices there
  std::vector<Pattern> patterns;             ///< their numbers are the file's
  std::array<std::vector<Pattern>, sector_memory_count> sector_patterns;
  std::optional<KernelTrace> last;  ///< its last launch, with the file's numbers
  std::uint64_t times = 0;          ///< how often that was repeated
};

struct ProcessRecords {
  std::map<std::uint64_t, std::size_t> sources;  ///< index into Trace::sources
  std::map<std::uint64_t, NumberedKernel> kernels;
};

class TraceReader {
 public:
  void take_header(const json& line) {
    if (!line.is_object() || !line.contains("bankwise_trace")) wrong("it is not a trace of bankwise");
    const Record header(line);
    const std::uint64_t version = header.number("bankwise_trace");
    if (version < first_format_version || version > format_version) {
      wrong(fmt::format("it is a trace of version {}, and this program reads versions {} to {}", version,
                        first_format_version, format_version));
    }
    file_.trace.maker = maker_named(header.text("maker"));
    file_.trace.revision = header.text("revision");
    for (const json& word : header.list("command")) file_.trace.command.push_back(text_of(word, "command"));
  }
  void take(const json& line, std::uint64_t number) {
    const Record record(line);
    const std::string kind = record.text("record");
    if (file_.closed) wrong("it stands after the end of the trace");
    if (kind == "end") {
      if (record.number("lines") != number - 1) wrong("its line count does not match: lines are missing");
      file_.closed = true;
      return;
    }
    if (kind == "error") return file_.trace.errors.push_back(record.text("text"));
    const std::uint64_t process = record.number_or("process", 0);
    if (kind == "process") return begin_process(process);
    ProcessRecords& its = processes_[process];
    if (kind == "source") return take_source(record, its);
    if (kind == "kernel") return take_kernel(record, its);
    if (kind == "site") return take_site(record, kernel_in(record, its));
    if (kind == "array") return take_array(record, kernel_in(record, its));
    if (kind == "pattern") return take_pattern(record, kernel_in(record, its));
    for (std::size_t memory = 0; memory < sector_members.size(); ++memory) {
      const std::string name = std::string(sector_members[memory].name) + "_pattern";
      if (kind == name) return take_sector_pattern(record, name.c_str(), memory, kernel_in(record, its));
    }
    if (kind == "launch") return take_launch(record, kernel_in(record, its));
    if (kind == "again") return take_again(kernel_in(record, its));
    wrong(fmt::format("there is no record {}", support::in_quotes(kind)));
  }
  TraceFile finish() {
    for (auto& [number, process] : processes_) settle(process);
    for (Builder& kernel : kernels_) {
      if (kernel.trace().shapes.empty()) continue;  // defined, and never launched
      file_.trace.kernels.push_back(kernel.take());
      put_in_order(file_.trace.kernels.back());
    }
    return std::move(file_);
  }

 private:
  void take_source(const Record& record, ProcessRecords& process) {
    auto& sources = file_.trace.sources;
    const auto [source, is_new] = sources_.try_emplace(record.text("text"), sources.size());
    if (is_new) sources.push_back(source->first);
    const std::uint64_t number = record.number("source", max_count);
    if (!process.sources.try_emplace(number, source->second).second) {
      wrong(fmt::format("there is a source {} already", number));
    }
  }
  void take_kernel(const Record& record, ProcessRecords& process) {
    KernelTrace head{.kernel = record.name("name"), .options = record.text("options")};
    if (record.has("source")) {
      const std::uint64_t number = record.number("source", max_count);
      const auto source = process.sources.find(number);
      if (source == process.sources.end()) wrong(fmt::format("there is no source {} before it", number));
      if (!file_.trace.sources[source->second].empty()) head.source = std::uint32_t(source->second);
    }
    head.warp = unsigned(record.number("warp", banks::max_lanes));
    if (head.warp == 0) wrong("warp is 0");
    head.splits = record.flag("splits");
    head.knows_code = record.flag("knows_code");
    const std::uint64_t number = record.number("kernel");
    const auto [numbered, is_new_number] = process.kernels.try_emplace(number);
    if (!is_new_number) wrong(fmt::format("there is a kernel {} already", number));
    const auto [known, is_new] =
        known_kernels_.try_emplace({head.kernel, head.options, head.source, head.warp, head.splits}, kernels_.size());
    numbered->second.number = known->second;
    if (is_new) {
      kernels_.emplace_back(std::move(head), Bound{~std::size_t{0}, {}});
    } else {
      kernels_[known->second].trace().knows_code &= head.knows_code;
    }
  }
  void take_site(const Record& record, NumberedKernel& kernel) {
    constexpr std::uint64_t max = std::numeric_limits<unsigned>::max();
    check_next(record, "site", kernel.sites.size());
    Site site{.file = record.name("file"),
              .line = unsigned(record.number("line", max)),
              .column = unsigned(record.number("column", max)),
              .function = record.name("function")};
    if (record.has("pc")) site.pc = record.number("pc");
    kernel.sites.push_back(builder(kernel).site(site));
  }
  void take_array(const Record& record, NumberedKernel& kernel) {
    constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
    check_next(record, "array", kernel.arrays.size());
    Array array{record.name("name"), std::uint32_t(record.number("offset", max)),
                std::uint32_t(record.number("bytes", max)), std::uint32_t(record.number_or("element", 0, max))};
    if (record.has("lengths")) array.lengths = lengths_of(record, array);
    kernel.arrays.push_back(builder(kernel).array(array));
  }
  /// The lengths of all dimensions, whose elements fill the array.
  static std::vector<std::uint32_t> lengths_of(const Record& record, const Array& array) {
    constexpr std::size_t most_dimensions = 32;
    std::vector<std::uint32_t> lengths;
    std::uint64_t bytes = array.element;
    if (record.list("lengths").size() > most_dimensions) wrong("an array has too many dimensions");
    for (const json& length : record.list("lengths")) {
      lengths.push_back(std::uint32_t(number_of(length, "a length", std::numeric_limits<std::uint32_t>::max())));
      if (__builtin_mul_overflow(bytes, std::uint64_t{lengths.back()}, &bytes)) bytes = 0;
    }
    if (bytes == 0 || bytes != array.bytes) wrong("lengths and element do not give the bytes of the array");
    return lengths;
  }
  void take_pattern(const Record& record, NumberedKernel& kernel) {
    check_next(record, "pattern", kernel.patterns.size());
    kernel.patterns.push_back(read_pattern(record, parts_of(kernel)));
  }
  void take_sector_pattern(const Record& record, const char* key, std::size_t memory, NumberedKernel& kernel) {
    std::vector<Pattern>& patterns = kernel.sector_patterns[memory];
    check_next(record, key, patterns.size());
    patterns.push_back(read_global_pattern(record, parts_of(kernel)));
  }
  void take_launch(const Record& record, NumberedKernel& kernel) {
    KernelTrace launch = read_launch(record, parts_of(kernel));
    add_all(launch, 1);
    settle(kernel);
    kernel.last = std::move(launch);
    kernel.times = 1;
  }
  void take_again(NumberedKernel& kernel) {
    if (!kernel.last) wrong("its kernel has no launch before it");
    ++kernel.times;
    for (const LaunchShape& shape : kernel.last->shapes) add(shape.launches, 1, Sum::counts);
  }
  void begin_process(std::uint64_t process) {
    if (const auto before = processes_.find(process); before != processes_.end()) settle(before->second);
    processes_[process] = {};  // a process number that occurs again is another process
    ++file_.processes;
  }
  void settle(NumberedKernel& kernel) {
    if (!kernel.last) return;
    KernelTrace launch = std::move(*kernel.last);
    kernel.last.reset();
    if (kernel.times > 1) add_all(launch, kernel.times - 1);
    for_each_number(launch, [&](std::uint64_t& number, Sum) { number *= kernel.times; });
    builder(kernel).add_with(launch, kernel.sites, kernel.arrays);
  }
  void settle(ProcessRecords& process) {
    for (auto& [number, kernel] : process.kernels) settle(kernel);
  }

  Builder& builder(const NumberedKernel& kernel) { return kernels_[kernel.number]; }
  KnownParts parts_of(const NumberedKernel& kernel) {
    return {kernel.sites.size(), kernel.arrays.size(), kernel.patterns, kernel.sector_patterns,
            builder(kernel).trace().warp};
  }
  static NumberedKernel& kernel_in(const Record& record, ProcessRecords& process) {
    const std::uint64_t number = record.number("kernel");
    const auto kernel = process.kernels.find(number);
    if (kernel == process.kernels.end()) wrong(fmt::format("there is no kernel {} before it", number));
    return kernel->second;
  }
  /// Keeps the sums over the whole file within their bounds.
  void add(std::uint64_t number, std::uint64_t times, Sum sum) {
    if (sum == Sum::none) return;
    std::uint64_t product = 0, &total = sums_[int(sum)];
    const std::uint64_t max = sum == Sum::passes ? max_passes : max_count;
    if (__builtin_mul_overflow(number, times, &product) || __builtin_add_overflow(total, product, &total) ||
        total > max) {
      wrong(fmt::format("its {} and the earlier ones add up to too much", sum == Sum::passes ? "passes" : "counts"));
    }
  }
  void add_all(KernelTrace& launch, std::uint64_t times) {
    for_each_number(launch, [&](std::uint64_t number, Sum sum) { add(number, times, sum); });
    for (const EngineAccesses& accesses : launch.engines)
      add(support::saturating_product(accesses.work.bytes, accesses.count), times, Sum::passes);
  }

  TraceFile file_;
  std::map<std::uint64_t, ProcessRecords> processes_;
  std::vector<Builder> kernels_;
  std::map<std::string, std::size_t> sources_;  // numbers of sources, by text
  std::map<std::tuple<std::string, std::string, std::uint32_t, unsigned, bool>, std::size_t> known_kernels_;
  std::uint64_t sums_[3]{};  // by Sum
};

}  // namespace

TraceFile read_json_lines(std::istream& file, std::string_view name) {
  TraceReader reader;
  support::LineReader lines(file, max_line);
  std::uint64_t cut_line = 0;
  try {
    while (lines.next() || lines.number == 1) {
      if (lines.too_long) wrong(fmt::format("the line has more than {} bytes", max_line));
      const bool is_first = lines.number == 1;
      if (!lines.is_whole && !is_first) {  // a writer ends each line
        cut_line = lines.number;
        break;
      }
      const bool is_object = lines.line.find_first_not_of(" \t\r") == lines.line.find('{');
      const json value = is_first && !is_object ? json() : record_in(lines.line);
      if (value.is_discarded()) wrong(is_first ? "it is not a trace of bankwise" : "the line is not JSON");
      is_first ? reader.take_header(value) : reader.take(value, lines.number);
      if (!lines.is_whole) break;
    }
    if (lines.is_broken) wrong("it cannot be read any further");
    TraceFile result = reader.finish();
    result.cut_line = cut_line;
    return result;
  } catch (const BadRecord& why) {
    throw BadLine(lines.number, fmt::format("{}:{}: {}", name, lines.number, why.sentence));
  }
}

}  // namespace bankwise::trace
