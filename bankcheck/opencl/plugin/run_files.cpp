#include "bankcheck/opencl/plugin/run_files.hpp"

#include <cstdio>
#include <mutex>

#include "bankcheck/opencl/plugin/launch_log.hpp"

namespace bankwise::opencl {
namespace {

std::string unfinished_path() {
  const std::string& path = request().unfinished;
  return path.empty() ? "" : path + '.' + std::to_string(getpid());
}

}  // namespace

const support::OpenclRequest& request() {
  static const auto& read = *new auto(support::read_request<support::OpenclRequest>());  // never destroyed, as writer()
  return read;
}

void append_to_record(const std::string& lines) { append_to(request().record.c_str(), lines); }

void note(const std::string& event, const std::string& text) {
  append_to(request().launches.c_str(), event + ' ' + std::to_string(getpid()) + ' ' + text + '\n');
}

trace::TraceWriter& writer() {
  static std::mutex mutex;
  static pid_t process = 0;
  static trace::TraceWriter* writer = nullptr;  // never destroyed: a program may run kernels after our destructors
  const std::lock_guard lock(mutex);
  if (writer == nullptr || process != getpid()) {
    process = getpid();
    writer = new trace::TraceWriter(std::uint64_t(process));
    append_to_record(trace::process_line(std::uint64_t(process)));
  }
  return *writer;
}

void save_unfinished(const trace::KernelTrace& launch, const std::string& source) {
  const std::string path = unfinished_path(), incomplete = path + ".new";
  if (path.empty()) return;
  const auto process = std::uint64_t(getpid());
  const std::string lines = trace::process_line(process) + trace::TraceWriter(process).lines_of(launch, source);
  std::remove(incomplete.c_str());
  append_to(incomplete.c_str(), lines);
  std::rename(incomplete.c_str(), path.c_str());
}

void forget_unfinished() { std::remove(unfinished_path().c_str()); }

}  // namespace bankwise::opencl
