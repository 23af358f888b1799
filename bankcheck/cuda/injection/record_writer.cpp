#include "bankcheck/cuda/injection/record_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include <bankwise/support/append.hpp>

namespace bankwise::cuda {
namespace {

using support::write_all;

constexpr std::size_t BYTES_TO_KEEP = 1 << 18;  // a drain may write hundreds of thousands of lines

/// A line of fields with a space between them.
class Line {
 public:
  explicit Line(std::string_view what) : text_(what) {}
  Line& number(std::uint64_t value, int base = 10) {
    char digits[20];
    text_.append(" ").append(digits, std::size_t(std::to_chars(digits, std::end(digits), value, base).ptr - digits));
    return *this;
  }
  Line& hex(std::uint64_t value) { return number(value, 16); }
  Line& text(std::string_view words) {
    text_.append(" ").append(words);
    return *this;
  }
  std::string finished() {
    std::replace(text_.begin(), text_.end(), '\n', ' ');
    return text_ + '\n';
  }

 private:
  std::string text_;
};

std::string unique_stem() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(getpid()) + '.' +
         std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

constexpr int ASYNC_COPY = 14;  // the one instruction whose patch depends on the memory spaces

// Numbers of Sanitizer_InstructionId (sanitizer_patching.h), since older headers lack the last ones, and the tests
// need none.
constexpr PatchPoint POINTS[] = {
    {3, "bankwise_global_access", "accesses to global memory", true, false, true},
    {4, "bankwise_shared_access", "accesses to shared memory", true},
    {5, "bankwise_local_access", "accesses to local memory", true, false, true},
    {ASYNC_COPY, "bankwise_async_copy", "asynchronous copies", true},
    {ASYNC_COPY, "bankwise_async_copy_and_read", "asynchronous copies", true, true, true},
    {ASYNC_COPY, "bankwise_async_read", "asynchronous copies", true, false, true},
    {17, "bankwise_remote_access", "accesses to other blocks' shared memory", false},
    {19, "bankwise_matrix_access", "ldmatrix and stmatrix", true},
    {23, "bankwise_wgmma", "wgmma", false},
    {26, "bankwise_async_store", "st.async", false},
    {27, "bankwise_async_reduction", "red.async", false},
    {30, "bankwise_bulk_global_to_shared", "bulk copies to shared memory", false, true, true},
    {31, "bankwise_tcgen05", "tcgen05", false},
    {32, "bankwise_bulk_fill_shared", "st.bulk", false},
    {35, "bankwise_bulk_shared_to_global", "bulk copies from shared memory", false, true, true},
    {36, "bankwise_bulk_shared_to_shared", "bulk copies between blocks", false},
    {37, "bankwise_bulk_reduce_shared_to_global", "bulk reductions to global memory", false, true, true},
    {38, "bankwise_bulk_reduce_shared_to_shared", "bulk reductions between blocks", false},
    {43, "bankwise_tma_load", "TMA loads", false, true, true},
    {44, "bankwise_tma_store", "TMA stores", false, true, true},
};

constexpr std::array<std::string_view, std::size_t(AccessSource::end) - std::size_t(AccessSource::first_bulk)> BULK = {
    "bulk_global_to_shared",
    "bulk_shared_to_global",
    "bulk_shared_to_shared",
    "bulk_reduce_shared_to_global",
    "bulk_reduce_shared_to_shared",
    "bulk_fill_shared",
    "tma_load",
    "tma_store",
    "wgmma",
    "tcgen05",
    "sectors_read",
    "sectors_written",
};

constexpr std::string_view KINDS[][3] = {
    {"load", "store", "atomic"},                          // AccessSource::shared
    {"async", "async", "async"},                          // async_copy
    {"ldmatrix", "stmatrix", "stmatrix"},                 // matrix
    {"remote_load", "remote_store", "remote_atomic"},     // remote
    {"remote_store", "remote_store", "remote_store"},     // async_store
    {"remote_atomic", "remote_atomic", "remote_atomic"},  // async_reduction
    {"global_load", "global_store", "global_atomic"},     // global
    {"global_copy", "global_copy", "global_copy"},        // global_copy
    {"local_load", "local_store", "local_store"},         // local
};
static_assert(std::size(KINDS) == std::size_t(AccessSource::first_bulk));

}  // namespace

RecordWriter::RecordWriter(std::string folder, support::MemorySpaces memory)
    : memory_(memory), folder_(std::move(folder)), stem_(unique_stem()) {}

RecordWriter::~RecordWriter() {
  if (file_ >= 0) close(file_);
}

void RecordWriter::open_file() {
  const std::string path = folder_ + '/' + stem_ + ".record";
  file_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  failed_ = file_ < 0;
  if (failed_) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  const std::string head = "bankwise_cuda_record 3\n" +
                           Line("process").number(std::uint64_t(getpid())).number(std::uint64_t(getppid())).finished() +
                           Line("memory").text(memory_.text()).finished();
  failed_ = !write_all(file_, head);
}

void RecordWriter::start() {
  const std::lock_guard lock(mutex_);
  if (file_ < 0) open_file();
}

void RecordWriter::write(const std::string& line, std::size_t bytes_to_keep) {
  const std::lock_guard lock(mutex_);
  if (failed_ || ended_) return;
  waiting_ += line;
  if (waiting_.size() <= bytes_to_keep) return;
  try {
    if (file_ < 0) open_file();
  } catch (const std::runtime_error&) {
    return;  // bankcheck reports that the record is missing
  }
  failed_ = !write_all(file_, waiting_);
  waiting_.clear();
}

void RecordWriter::device(int id, int major, int minor, std::string_view name) {
  write(Line("device").number(unsigned(id)).number(unsigned(major)).number(unsigned(minor)).text(name).finished());
}

void RecordWriter::module(std::uint32_t id, int device, std::uint64_t bytes) {
  write(Line("module").number(id).number(unsigned(device)).number(bytes).finished());
}

void RecordWriter::kernel(std::uint32_t id, std::uint32_t module, std::uint64_t pc, std::uint64_t bytes,
                          std::string_view name) {
  write(Line("kernel").number(id).number(module).hex(pc).hex(bytes).text(name).finished());
}

void RecordWriter::launch(std::uint32_t kernel, const LaunchDimensions& shape, std::uint64_t launches,
                          std::uint64_t blocks) {
  Line line("launch");
  line.number(kernel);
  for (const std::uint32_t size : shape.grid) line.number(size);
  for (const std::uint32_t size : shape.block) line.number(size);
  write(line.number(shape.dynamic_bytes).number(launches).number(blocks).finished());
}

void RecordWriter::pattern(std::uint32_t kernel, std::uint64_t pc_offset, std::string_view kind, std::uint32_t width,
                           std::uint32_t flags, std::uint32_t mask, std::uint64_t count,
                           std::span<const std::uint32_t> addresses) {
  Line line("pattern");
  line.number(kernel).hex(pc_offset).text(kind).number(width).hex(flags).hex(mask).number(count);
  for (const std::uint32_t address : addresses) line.hex(address);
  write(line.finished(), BYTES_TO_KEEP);
}

void RecordWriter::cost(std::uint32_t kernel, std::uint64_t pc_offset, std::string_view kind, std::uint32_t width,
                        std::uint32_t flags, PackedCost cost, std::uint64_t count) {
  Line line("cost");
  line.number(kernel).hex(pc_offset).text(kind).number(width).hex(flags).number(cost.lanes).number(cost.ideal);
  write(line.number(cost.passes).number(cost.lane_passes).number(count).finished(), BYTES_TO_KEEP);
}

void RecordWriter::lost(std::uint32_t kernel, std::string_view memory, std::uint64_t accesses) {
  write(Line("lost").number(kernel).text(memory).number(accesses).finished());
}

void RecordWriter::bulk(std::uint32_t kernel, std::uint64_t pc_offset, std::string_view what, std::uint64_t count,
                        std::span<const std::uint32_t> words) {
  Line line("bulk");
  line.number(kernel).hex(pc_offset).text(what).number(count);
  for (const std::uint32_t word : words) line.hex(word);
  write(line.finished(), BYTES_TO_KEEP);
}

void RecordWriter::error(const std::string& sentence) {
  {
    const std::lock_guard lock(mutex_);
    if (!errors_.insert(sentence).second) return;
  }
  write(Line("error").text(sentence).finished());
}

void RecordWriter::end() {
  {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) return;
  }
  write("end\n");
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

std::string RecordWriter::cubin_path(std::uint32_t module) const {
  return folder_ + '/' + stem_ + '.' + std::to_string(module) + ".cubin";
}

bool RecordWriter::write_cubin(std::uint32_t module, std::string_view bytes) {
  const int file = open(cubin_path(module).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool wrote = write_all(file, bytes);
  return close(file) == 0 && wrote;
}

void RecordWriter::remove_cubin(std::uint32_t module) { unlink(cubin_path(module).c_str()); }

std::vector<PatchPoint> patch_points(support::MemorySpaces memory) {
  std::vector<PatchPoint> points;
  for (const PatchPoint& point : POINTS) {
    const bool wanted = (memory.shared && point.shared) || (memory.global && point.global);
    const bool exact = point.shared == memory.shared && point.global == memory.global;
    if (point.instruction == ASYNC_COPY ? exact : wanted) points.push_back(point);
  }
  return points;
}

std::string_view kind_of_access(std::uint32_t what) {
  const std::uint32_t source = (what & ~COSTED) >> 24;
  // The count of matrices is in the flags from bit 8 on.
  const std::uint32_t flags = source == std::uint32_t(AccessSource::matrix) ? what & 0xff : what & 0xffff;
  return source < std::size(KINDS) ? KINDS[source][direction(flags)] : "unknown";
}

std::string_view name_of_bulk(std::uint32_t what) {
  const std::uint32_t source = what >> 24;
  if (source < std::uint32_t(AccessSource::first_bulk) || source >= std::uint32_t(AccessSource::end)) return {};
  return BULK[source - std::uint32_t(AccessSource::first_bulk)];
}

}  // namespace bankwise::cuda
