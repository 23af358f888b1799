// SPDX-License-Identifier: MIT
//
// Input is untrusted: a trace may come from anywhere, and may be truncated.
#include <algorithm>
#include <limits>
#include <set>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/in_quotes.hpp>
#include <bankwise/trace/json_lines.hpp>
#include <bankwise/trace/json_values.hpp>

namespace bankwise::trace {
namespace {

constexpr std::size_t max_line = std::size_t{32} << 20;       // bytes
constexpr std::uint64_t max_count = std::uint64_t{1} << 48;   // of anything, over all records of a file
constexpr std::uint64_t max_passes = std::uint64_t{1} << 58;  // the same accesses cost at most 64 * 16 passes

/// A kernel with the numbers that its process uses.
struct NumberedKernel {
  std::size_t number = 0;                    ///< index in Reader::kernels_
  std::vector<std::uint32_t> sites, arrays;  ///< their indices there
  std::vector<Pattern> patterns;             ///< with the file's numbers
  std::optional<KernelTrace> last;           ///< its last launch, with the file's numbers
  std::uint64_t times = 0;                   ///< how often that was repeated
};

struct Process {
  std::map<std::uint64_t, std::size_t> sources;  ///< index into Trace::sources
  std::map<std::uint64_t, NumberedKernel> kernels;
};

class Reader {
 public:
  void take_header(const json& line);
  void take(const json& line, std::uint64_t number);
  TraceFile finish();
  bool closed() const { return file_.closed; }

 private:
  void take_source(const Object& record, Process& process);
  void take_kernel(const Object& record, Process& process);
  void take_site(const Object& record, NumberedKernel& kernel);
  void take_array(const Object& record, NumberedKernel& kernel);
  void take_pattern(const Object& record, NumberedKernel& kernel);
  void take_launch(const Object& record, NumberedKernel& kernel);
  void take_again(NumberedKernel& kernel);
  static void take_patterns(const json& list, const json* merged, const NumberedKernel& kernel, KernelTrace& launch);
  static void take_diagnoses(const json& list, const NumberedKernel& kernel, KernelTrace& launch);
  static void take_excess(const json& list, const NumberedKernel& kernel, KernelTrace& launch);
  void begin_process(std::uint64_t process);
  void settle(NumberedKernel& kernel);
  void settle(Process& process);

  Builder& builder(const NumberedKernel& kernel) { return kernels_[kernel.number]; }
  static NumberedKernel& kernel_in(const Object& record, Process& process);
  /// Keeps sums over the whole file within their bounds.
  void count(std::uint64_t number, std::uint64_t times = 1);
  void count_passes(std::uint64_t number, std::uint64_t times);
  void count_sums(const KernelTrace& launch, std::uint64_t times);

  TraceFile file_;
  std::map<std::uint64_t, Process> processes_;
  std::vector<Builder> kernels_;
  std::map<std::string, std::size_t> sources_;  // by text
  std::map<std::tuple<std::string, std::string, std::uint32_t, unsigned, bool>, std::size_t> known_kernels_;
  std::uint64_t counted_ = 0, passes_ = 0;
};

void Reader::take_header(const json& line) {
  if (!line.is_object() || !line.contains("bankwise_trace")) wrong("it is not a trace of bankwise");
  const Object header(line);
  const std::uint64_t version = header.number("bankwise_trace", std::numeric_limits<std::uint64_t>::max());
  if (version != format_version) {
    wrong(fmt::format("it is a trace of version {}, and this program reads version {}", version, format_version));
  }
  file_.trace.maker = header.text("maker");
  file_.trace.revision = header.text("revision");
  for (const json& word : header.list("command")) file_.trace.command.push_back(text_of(word, "command"));
}

void Reader::count(std::uint64_t number, std::uint64_t times) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(number, times, &product) || __builtin_add_overflow(counted_, product, &counted_) ||
      counted_ > max_count) {
    wrong("its counts and the earlier ones add up to too much");
  }
}

void Reader::count_passes(std::uint64_t number, std::uint64_t times) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(number, times, &product) || __builtin_add_overflow(passes_, product, &passes_) ||
      passes_ > max_passes) {
    wrong("its passes and the earlier ones add up to too much");
  }
}

void Reader::count_sums(const KernelTrace& launch, std::uint64_t times) {
  for (const Shape& shape : launch.shapes) count(shape.launches, times);
  for (const Pattern& pattern : launch.patterns) {
    count(pattern.count, times);
    if (pattern.merged_change > 0) count(std::uint64_t(pattern.merged_change), times);
  }
  for (const Participants& one : launch.participants) count(one.count, times);
  for (const BasicBlock& one : launch.basic_blocks) count(one.issued, times);
  for (const Diagnosis& one : launch.diagnoses) count(one.count, times);
  for (const BasicBlock& one : launch.basic_blocks) count_passes(one.lanes, times);
  for (const std::uint64_t number : {launch.blocks, launch.left_out, launch.excess_accesses}) count(number, times);
  count_passes(launch.copied_bytes, times);
  for (const Excess& excess : launch.excess) {
    count(excess.accesses, times);
    count(excess.tally.accesses, times);
    count_passes(excess.tally.passes, times);
  }
}

void Reader::begin_process(std::uint64_t process) {
  if (const auto before = processes_.find(process); before != processes_.end()) settle(before->second);
  processes_[process] = {};  // a process number that occurs again is another process
  ++file_.processes;
}

NumberedKernel& Reader::kernel_in(const Object& record, Process& process) {
  const std::uint64_t number = record.number("kernel", std::numeric_limits<std::uint64_t>::max());
  const auto found = process.kernels.find(number);
  if (found == process.kernels.end()) wrong(fmt::format("there is no kernel {} before it", number));
  return found->second;
}

void Reader::take(const json& line, std::uint64_t number) {
  const Object record(line);
  const std::string kind = record.text("record");
  if (closed()) wrong("it stands after the end of the trace");
  if (kind == "end") {
    if (record.number("lines", std::numeric_limits<std::uint64_t>::max()) != number - 1) {
      wrong("its line count does not match: lines are missing");
    }
    file_.closed = true;
    return;
  }
  if (kind == "error") {
    file_.trace.errors.push_back(record.text("text"));
    return;
  }
  const std::uint64_t process = record.number_or("process", 0, std::numeric_limits<std::uint64_t>::max());
  if (kind == "process") {
    begin_process(process);
    return;
  }
  Process& its = processes_[process];
  if (kind == "source") {
    take_source(record, its);
  } else if (kind == "kernel") {
    take_kernel(record, its);
  } else if (kind == "site") {
    take_site(record, kernel_in(record, its));
  } else if (kind == "array") {
    take_array(record, kernel_in(record, its));
  } else if (kind == "pattern") {
    take_pattern(record, kernel_in(record, its));
  } else if (kind == "launch") {
    take_launch(record, kernel_in(record, its));
  } else if (kind == "again") {
    take_again(kernel_in(record, its));
  } else {
    wrong(fmt::format("there is no record {}", in_quotes(kind)));
  }
}

void Reader::take_source(const Object& record, Process& process) {
  auto& all = file_.trace.sources;
  const auto [found, is_new] = sources_.try_emplace(record.text("text"), all.size());
  if (is_new) all.push_back(found->first);
  const std::uint64_t number = record.number("source", max_count);
  if (!process.sources.try_emplace(number, found->second).second) {
    wrong(fmt::format("there is a source {} already", number));
  }
}

void Reader::take_kernel(const Object& record, Process& process) {
  KernelTrace head{.kernel = record.text("name"), .options = record.text("options")};
  if (record.has("source")) {
    const std::uint64_t number = record.number("source", max_count);
    const auto found = process.sources.find(number);
    if (found == process.sources.end()) wrong(fmt::format("there is no source {} before it", number));
    if (!file_.trace.sources[found->second].empty()) head.source = std::uint32_t(found->second);
  }
  head.warp = unsigned(record.number("warp", banks::max_lanes));
  if (head.warp == 0) wrong("warp is 0");
  head.splits = record.flag("splits");
  head.knows_code = record.flag("knows_code");
  const std::uint64_t number = record.number("kernel", std::numeric_limits<std::uint64_t>::max());
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

void Reader::take_site(const Object& record, NumberedKernel& kernel) {
  constexpr std::uint64_t max = std::numeric_limits<unsigned>::max();
  check_next(record, "site", kernel.sites.size());
  Site site{.file = record.text("file"),
            .line = unsigned(record.number("line", max)),
            .column = unsigned(record.number("column", max)),
            .function = record.text("function")};
  if (record.has("pc")) site.pc = record.number("pc", std::numeric_limits<std::uint64_t>::max());
  kernel.sites.push_back(builder(kernel).site(site));
}

void Reader::take_array(const Object& record, NumberedKernel& kernel) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
  check_next(record, "array", kernel.arrays.size());
  const Array array{record.text("name"), std::uint32_t(record.number("offset", max)),
                    std::uint32_t(record.number("bytes", max))};
  kernel.arrays.push_back(builder(kernel).array(array));
}

void Reader::take_pattern(const Object& record, NumberedKernel& kernel) {
  check_next(record, "pattern", kernel.patterns.size());
  Pattern pattern;
  pattern.site = known(record.at("site"), "site", kernel.sites.size());
  pattern.array = known(record.at("array"), "array", kernel.arrays.size());
  pattern.operation = operation_of(record.at("operation"));
  pattern.width = width_of(record.at("width"));
  pattern.level = level_of(record.at("level"));
  pattern.mask = mask_of(record.at("mask"), builder(kernel).trace().warp);
  pattern.addresses = addresses_of(record, pattern.mask);
  if (record.has("lane_arrays")) {
    pattern.lane_arrays = of_lanes(record.list("lane_arrays"), "lane_arrays", pattern.mask,
                                   [&](const json& array) { return known(array, "array", kernel.arrays.size()); });
  }
  if (record.has("sources")) pattern.sources = sources_of(record, pattern.operation, pattern.mask);
  if (record.has("is_loop")) pattern.is_loop = record.flag("is_loop");
  kernel.patterns.push_back(std::move(pattern));
}

Shape shape_of(const json& row) {
  Shape shape;
  for (const auto& [list, to] : {std::pair(&row[0], &shape.threads), {&row[1], &shape.block}}) {
    if (!list->is_array() || list->size() != 3) wrong("shapes has a size that is not a list of 3");
    for (std::size_t i = 0; i < 3; ++i) (*to)[i] = number_of((*list)[i], "size", max_count);
  }
  shape.launches = number_of(row[2], "launches", max_count);
  return shape;
}

/// The first occurrence of a pattern, from the last four numbers of its row.
Occurrence first_of(const json& row, std::uint64_t launches) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  Occurrence first;
  first.launch = number_of(row[2], "launch", max_count);
  if (first.launch >= launches) wrong("a pattern's first launch is not one of these");
  first.block = number_of(row[3], "block", max);
  first.warp = std::uint32_t(number_of(row[4], "warp", (1 << 20) - 1));
  first.number = number_of(row[5], "number", max);
  return first;
}

void Reader::take_patterns(const json& list, const json* merged, const NumberedKernel& kernel, KernelTrace& launch) {
  const std::uint64_t launches = launches_of(launch);
  std::map<std::uint32_t, std::size_t> places;  // in the launch's patterns
  for (const json& row : list) {
    const std::uint32_t number = known(row[0], "pattern", kernel.patterns.size());
    if (!places.try_emplace(number, launch.patterns.size()).second) {
      wrong(fmt::format("pattern {} is counted twice", number));
    }
    Pattern& pattern = launch.patterns.emplace_back(kernel.patterns[number]);
    pattern.count = number_of(row[1], "count", max_count);
    if (pattern.count == 0) wrong("a pattern's count is 0");
    pattern.first = first_of(row, launches);
  }
  if (merged == nullptr) return;
  for (const json& row : *merged) {
    const std::uint32_t number = known(row[0], "pattern", kernel.patterns.size());
    const auto [place, is_new] = places.try_emplace(number, launch.patterns.size());
    if (is_new) launch.patterns.emplace_back(kernel.patterns[number]).first = first_of(row, launches);
    Pattern& pattern = launch.patterns[place->second];
    if (pattern.merged_change != 0) wrong(fmt::format("pattern {} is merged twice", number));
    const bool less = row[1].is_number_integer() && !row[1].is_number_unsigned();
    if (less) {
      const auto change = row[1].get<std::int64_t>();
      if (change >= 0 || change < -std::int64_t(pattern.count)) wrong("fewer accesses than none remain of a pattern");
      pattern.merged_change = change;
    } else {
      pattern.merged_change = std::int64_t(number_of(row[1], "change", max_count));
    }
    if (pattern.merged_change == 0) wrong("a pattern's change is 0");
    (void)first_of(row, launches);
  }
}

void Reader::take_excess(const json& list, const NumberedKernel& kernel, KernelTrace& launch) {
  for (const json& row : list) {
    Excess excess{.site = known(row[0], "site", kernel.sites.size()),
                  .array = known(row[1], "array", kernel.arrays.size()),
                  .operation = operation_of(row[2]),
                  .width = width_of(row[3]),
                  .level = level_of(row[4])};
    const auto* architecture = banks::find_architecture(text_of(row[5], "architecture"));
    if (architecture == nullptr) wrong("excess has an architecture that the bank model does not know");
    excess.architecture = architecture->name;
    excess.accesses = number_of(row[6], "accesses", max_count);
    excess.mixed = number_of(row[7], "mixed", max_count);
    const json& sums = row[8];
    if (!sums.is_array() || sums.size() != 6) wrong("excess has a tally that is not a list of 6");
    std::uint64_t n[6];
    for (std::size_t i = 0; i < 6; ++i) n[i] = number_of(sums[i], "tally", max_passes);
    excess.tally = {n[0], n[1], n[2], n[3], n[4], n[5]};
    excess.why_unknown = text_of(row[9], "why_unknown");
    const banks::Tally& tally = excess.tally;
    if (tally.accesses > max_count || tally.lanes > tally.accesses * banks::max_lanes || tally.ideal > tally.passes ||
        tally.conflicts > tally.passes || tally.unknown > tally.accesses || excess.mixed > tally.accesses) {
      wrong("excess has a tally whose numbers contradict each other");
    }
    launch.excess.push_back(std::move(excess));
  }
}

void Reader::take_diagnoses(const json& list, const NumberedKernel& kernel, KernelTrace& launch) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t launches = launches_of(launch);
  std::set<std::tuple<Fault, std::uint32_t, std::optional<std::uint32_t>, bool>> seen;
  for (const json& row : list) {
    Diagnosis one{.fault = fault_of(row[0]), .site = known(row[1], "site", kernel.sites.size())};
    if (!row[2].is_null()) one.other = known(row[2], "site", kernel.sites.size());
    if (!row[3].is_boolean()) wrong("ended is neither true nor false");
    one.ended = row[3].get<bool>();
    if (!seen.emplace(one.fault, one.site, one.other, one.ended).second) wrong("a diagnosis is counted twice");
    one.count = number_of(row[4], "count", max_count);
    if (one.count == 0) wrong("a diagnosis's count is 0");
    one.first.launch = number_of(row[5], "launch", max_count);
    if (one.first.launch >= launches) wrong("a diagnosis's launch is not one of these");
    one.first.block = number_of(row[6], "block", max);
    one.first.warp = std::uint32_t(number_of(row[7], "warp", (1 << 20) - 1));
    one.text = text_of(row[8], "text");
    launch.diagnoses.push_back(std::move(one));
  }
}

void Reader::take_launch(const Object& record, NumberedKernel& kernel) {
  const KernelTrace& head = builder(kernel).trace();
  KernelTrace launch;
  for (const json& row : record.list("shapes", 3)) launch.shapes.push_back(shape_of(row));
  std::uint64_t launches = 0;
  for (const Shape& shape : launch.shapes) launches = std::max(launches, shape.launches);
  if (launches == 0) wrong("it has no launches: shapes is empty");
  launch.blocks = record.number("blocks", max_count);
  launch.levels = std::uint32_t(record.number("levels", max_levels));
  launch.copied_bytes = record.number_or("copied_bytes", 0, max_passes);
  launch.left_out = record.number_or("left_out", 0, max_count);
  const json& patterns = record.list("patterns", 6);
  take_patterns(patterns, record.has("merged") ? &record.list("merged", 6) : nullptr, kernel, launch);
  for (const json& row : record.list("participants", 3)) {
    launch.participants.push_back(
        {level_of(row[0]), mask_of(row[1], head.warp), number_of(row[2], "count", max_count)});
  }
  if (record.has("basic_blocks")) {
    for (const json& row : record.list("basic_blocks", 4)) {
      launch.basic_blocks.push_back({known(row[0], "site", kernel.sites.size()), level_of(row[1]),
                                     number_of(row[2], "issued", max_count), number_of(row[3], "lanes", max_passes)});
    }
  }
  if (record.has("diagnoses")) take_diagnoses(record.list("diagnoses", 9), kernel, launch);
  launch.excess_accesses = record.number_or("excess_accesses", 0, max_count);
  if (record.has("excess")) take_excess(record.list("excess", 10), kernel, launch);
  count_sums(launch, 1);
  settle(kernel);
  kernel.last = std::move(launch);
  kernel.times = 1;
}

void Reader::take_again(NumberedKernel& kernel) {
  if (!kernel.last) wrong("its kernel has no launch before it");
  ++kernel.times;
  for (const Shape& shape : kernel.last->shapes) count(shape.launches);
}

/// Adds the launch as often as it was repeated.
void Reader::settle(NumberedKernel& kernel) {
  if (!kernel.last) return;
  KernelTrace launch = std::move(*kernel.last);
  kernel.last.reset();
  const std::uint64_t times = kernel.times;
  if (times > 1) count_sums(launch, times - 1);
  for (Shape& shape : launch.shapes) shape.launches *= times;
  for (Pattern& pattern : launch.patterns) {
    pattern.count *= times;
    pattern.merged_change *= std::int64_t(times);
  }
  for (Participants& one : launch.participants) one.count *= times;
  for (Diagnosis& one : launch.diagnoses) one.count *= times;
  for (BasicBlock& one : launch.basic_blocks) one.issued *= times, one.lanes *= times;
  for (std::uint64_t* number : {&launch.blocks, &launch.copied_bytes, &launch.left_out, &launch.excess_accesses}) {
    *number *= times;
  }
  for (Excess& excess : launch.excess) {
    banks::Tally tally;
    tally.add(excess.tally, times);
    excess.tally = tally;
    excess.accesses *= times;
    excess.mixed *= times;
  }
  builder(kernel).add_with(launch, kernel.sites, kernel.arrays);
}

void Reader::settle(Process& process) {
  for (auto& [number, kernel] : process.kernels) settle(kernel);
}

TraceFile Reader::finish() {
  for (auto& [number, process] : processes_) settle(process);
  for (Builder& kernel : kernels_) {
    if (kernel.trace().shapes.empty()) continue;  // defined, and never launched
    file_.trace.kernels.push_back(kernel.take());
    put_in_order(file_.trace.kernels.back());
  }
  return std::move(file_);
}

enum class LineEnd { newline, file, too_long };

LineEnd next_line(std::istream& file, std::string& line) {
  line.clear();
  std::streambuf& bytes = *file.rdbuf();
  for (int c = bytes.sbumpc(); c != std::istream::traits_type::eof(); c = bytes.sbumpc()) {
    if (c == '\n') return LineEnd::newline;
    if (line.size() == max_line) return LineEnd::too_long;
    line += char(c);
  }
  return LineEnd::file;
}

}  // namespace

TraceFile read_json_lines(std::istream& file, std::string_view name) {
  Reader reader;
  std::string line;
  std::uint64_t cut_line = 0;
  std::uint64_t number = 1;
  const auto fail = [&](const std::string& sentence) -> BadLine {
    return {number, fmt::format("{}:{}: {}", name, number, sentence)};
  };
  try {
    for (;; ++number) {
      const LineEnd end = next_line(file, line);
      if (end == LineEnd::too_long) wrong(fmt::format("the line has more than {} bytes", max_line));
      if (end == LineEnd::file && (line.empty() && number > 1)) break;
      const json value = json::parse(line, nullptr, false);
      if (end == LineEnd::file && number > 1) {
        cut_line = number;  // a writer ends each line
        break;
      }
      if (value.is_discarded()) wrong(number == 1 ? "it is not a trace of bankwise" : "the line is not JSON");
      number == 1 ? reader.take_header(value) : reader.take(value, number);
      if (end == LineEnd::file) break;
    }
    TraceFile result = reader.finish();
    result.cut_line = cut_line;
    return result;
  } catch (const Wrong& why) {
    throw fail(why.sentence);
  }
}

}  // namespace bankwise::trace
