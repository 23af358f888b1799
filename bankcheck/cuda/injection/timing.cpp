// The library of `bankcheck cuda --time`: the CUDA driver loads it into the program when that runs for the second time,
// and calls InitializeInjection() before anything else. It patches nothing: CUPTI tells when each kernel began and
// ended, and NVIDIA's management library (NVML) what the clock of the multiprocessors was. Both are loaded here, at run
// time. What they tell is a text file, one line per launch, which bankcheck/cuda/times.hpp reads. If the program cannot
// be timed, the file says why.
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <bankwise/support/append.hpp>
#include <bankwise/support/library.hpp>
#include <bankwise/support/watch_request.hpp>

namespace bankwise::cuda {
namespace {

using support::LoadedLibrary;

// Newer versions of CUPTI append members to the record of a kernel; those that are read here stay where they are.
using KernelRecord = CUpti_ActivityKernel9;
static_assert(offsetof(KernelRecord, start) == 16 && offsetof(KernelRecord, gridX) == 52 &&
              offsetof(KernelRecord, name) == 104);

#define BANKWISE_TIMING_FUNCTIONS(X) \
  X(cuptiActivityEnable)             \
  X(cuptiActivityFlushAll)           \
  X(cuptiActivityGetNextRecord)      \
  X(cuptiActivityGetNumDroppedRecords) X(cuptiActivityRegisterCallbacks) X(cuptiGetTimestamp) X(cuptiGetResultString)

struct Cupti {
#define BANKWISE_MEMBER(name) decltype(&::name) name{};
  BANKWISE_TIMING_FUNCTIONS(BANKWISE_MEMBER)
#undef BANKWISE_MEMBER
};

/// Error: std::runtime_error with a sentence.
Cupti load_cupti(const std::string& path) {
  const LoadedLibrary library{path.c_str()};
  if (!library) throw std::runtime_error("cannot load CUPTI: " + library.why_missing());
  Cupti cupti;
#define BANKWISE_FIND(name)                                                           \
  if (!library.find(cupti.name, {#name})) {                                           \
    throw std::runtime_error(path + " has no " #name ": it is no CUPTI, or too old"); \
  }
  BANKWISE_TIMING_FUNCTIONS(BANKWISE_FIND)
#undef BANKWISE_FIND
  return cupti;
}

/// A function of the CUDA driver that the process has loaded; null without one.
template <class Function>
Function* driver_function(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const address = driver == nullptr ? nullptr : dlsym(driver, name);
  if (driver != nullptr) dlclose(driver);  // NOLOAD has counted one user more
  return reinterpret_cast<Function*>(address);
}

/// "launch 1 2".
std::string line_of(std::string word, const auto&... numbers) {
  ((word += ' ' + std::to_string(numbers)), ...);
  return word + '\n';
}

/// The clock of the multiprocessors of each device, from NVML.
class Clocks {
 public:
  Clocks() : library_{"libnvidia-ml.so.1"} {
    int (*initialize)() = nullptr;
    int (*by_pci)(const char*, void**) = nullptr;
    const auto count = driver_function<CUresult(int*)>("cuDeviceGetCount");
    const auto bus_id = driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetPCIBusId");
    if (!library_ || count == nullptr || bus_id == nullptr || !library_.find(initialize, {"nvmlInit_v2"}) ||
        !library_.find(by_pci, {"nvmlDeviceGetHandleByPciBusId_v2"}) ||
        !library_.find(read_, {"nvmlDeviceGetClockInfo"}) || initialize() != 0) {
      return;
    }
    int devices = 0;
    if (count(&devices) != CUDA_SUCCESS) return;
    for (int device = 0; device < devices; ++device) {
      char pci[32] = "";
      void* handle = nullptr;
      if (bus_id(pci, sizeof pci, device) == CUDA_SUCCESS && by_pci(pci, &handle) == 0) handles_[device] = handle;
    }
  }

  /// "clock <device> <time> <MHz>" for each device whose clock has changed since the last call.
  std::string changes(std::uint64_t time) {
    constexpr int of_multiprocessors = 1;  // NVML_CLOCK_SM
    std::string lines;
    for (const auto& [device, handle] : handles_) {
      unsigned megahertz = 0;
      if (read_(handle, of_multiprocessors, &megahertz) != 0 || megahertz == last_[device]) continue;
      last_[device] = megahertz;
      lines += line_of("clock", device, time, megahertz);
    }
    return lines;
  }

 private:
  LoadedLibrary library_;
  int (*read_)(void*, int, unsigned*) = nullptr;
  std::map<int, void*> handles_;
  std::map<int, unsigned> last_;
};

/// Records of one process. Its functions may be called from any thread.
class Timing {
 public:
  Timing(const std::string& folder, const Cupti& cupti) : cupti_(cupti) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    file_ = folder + '/' + std::to_string(getpid()) + '.' + std::to_string(now.count()) + ".times";
    write("bankwise_cuda_times 1\nprocess " + std::to_string(getpid()) + '\n');
  }

  void write(const std::string& lines) const { support::append_to(file_.c_str(), lines); }
  void error(std::string sentence) const {
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    write("error " + sentence + '\n');
  }

  void start_thread() {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable() || ends_) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's
    thread_ = std::thread([this] { watch(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void take(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes) {
    std::string lines;
    CUpti_Activity* record = nullptr;
    const std::lock_guard lock(records_mutex_);
    while (cupti_.cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
      add(lines, *reinterpret_cast<const KernelRecord*>(record));
    }
    std::size_t dropped = 0;
    if (cupti_.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) {
      lines += "error CUPTI dropped " + std::to_string(dropped) + " records\n";
    }
    write(lines);
  }

  /// The process ends.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    // Programs may end without waiting for their last kernels; without a context the call fails, and nothing is lost.
    if (const auto synchronize = driver_function<CUresult()>("cuCtxSynchronize")) synchronize();
    cupti_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    write("end\n");
  }

 private:
  void add(std::string& lines, const KernelRecord& kernel) {
    if (kernel.start == 0 || kernel.end < kernel.start) return;  // it had not ended: the count will be too small
    if (devices_.insert(kernel.deviceId).second) lines += device_line(int(kernel.deviceId));
    const auto [id, is_new] = kernels_.try_emplace(kernel.name == nullptr ? "?" : kernel.name, kernels_.size());
    if (is_new) lines += "kernel " + std::to_string(id->second) + ' ' + id->first + '\n';
    lines += line_of("launch", id->second, kernel.deviceId, kernel.gridX, kernel.gridY, kernel.gridZ, kernel.blockX,
                     kernel.blockY, kernel.blockZ, kernel.start, kernel.end);
  }

  /// "device <id> <multiprocessors> <kHz> <kHz of memory> <bits of its bus> <bytes of L2> <name>"; 0: not known.
  static std::string device_line(int device) {
    std::string line = "device " + std::to_string(device);
    const auto read = driver_function<CUresult(int*, CUdevice_attribute, CUdevice)>("cuDeviceGetAttribute");
    for (const CUdevice_attribute attribute :
         {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
          CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH,
          CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE}) {
      int value = 0;
      if (read == nullptr || read(&value, attribute, device) != CUDA_SUCCESS || value < 0) value = 0;
      line += ' ' + std::to_string(value);
    }
    char name[256] = "unknown";
    if (const auto ask = driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetName")) {
      ask(name, sizeof name, device);
    }
    return line + ' ' + name + '\n';
  }

  /// Notes the clocks, often at first, since programs may be short; and fetches finished records, so that a program
  /// that crashes loses few.
  void watch() {
    constexpr auto short_wait = std::chrono::milliseconds(2), long_wait = std::chrono::milliseconds(20);
    constexpr unsigned short_waits = 200, flush_after = 25;
    Clocks clocks;
    std::unique_lock lock(mutex_);
    for (unsigned number = 0; !ends_; ++number) {
      lock.unlock();
      note_clocks(clocks);
      if (number % flush_after == flush_after - 1) cupti_.cuptiActivityFlushAll(0);
      lock.lock();
      wake_.wait_for(lock, number < short_waits ? short_wait : long_wait, [&] { return ends_; });
    }
    note_clocks(clocks);
  }

  void note_clocks(Clocks& clocks) const {
    std::uint64_t time = 0;
    if (cupti_.cuptiGetTimestamp(&time) != CUPTI_SUCCESS) return;
    if (const std::string lines = clocks.changes(time); !lines.empty()) write(lines);
  }

  const Cupti cupti_;
  std::string file_;
  std::mutex mutex_, records_mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
  std::set<std::uint32_t> devices_;
  std::map<std::string, std::size_t> kernels_;
};

// Never destroyed: the program may launch kernels in its last moments.
Timing* timing = nullptr;
bool in_forked_child = false;  // and the parent had loaded this library

constexpr std::size_t buffer_bytes = 1 << 20;

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = new (std::nothrow) std::uint8_t[buffer_bytes];  // CUPTI wants a multiple of 8, which all of new's are
  *bytes = *buffer == nullptr ? 0 : buffer_bytes;
  *most_records = 0;  // as many as fit
  timing->start_thread();
}

void CUPTIAPI complete_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*bytes*/,
                              std::size_t valid_bytes) {
  if (buffer != nullptr && valid_bytes > 0) timing->take(context, stream, buffer, valid_bytes);
  delete[] buffer;
}

/// The handler of std::exit(), whose argument is `status`. A child of fork() has no CUDA, and ends without the exit
/// handlers of NVIDIA's libraries that it inherited, as under bankcheck's other library (injection.cpp says why).
void at_exit(int status, void* /*unused*/) {
  if (!in_forked_child) return timing->finish();
  std::fflush(nullptr);
  _exit(status);
}

void check(const Cupti& cupti, CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  if (cupti.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "an unknown error";
  throw std::runtime_error(std::string("CUPTI cannot time the program: ") + call + " failed: " + text);
}

void initialize() {
  const auto request = support::read_request<support::CudaTimeRequest>();
  Cupti cupti;
  std::string problem;
  try {
    cupti = load_cupti(request.cupti);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  timing = new Timing(request.folder, cupti);
  if (!problem.empty()) return timing->error(problem);
  try {
    check(cupti, cupti.cuptiActivityRegisterCallbacks(request_buffer, complete_buffer),
          "cuptiActivityRegisterCallbacks");
    check(cupti, cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  } catch (const std::exception& error) {
    return timing->error(error.what());
  }
  on_exit(at_exit, nullptr);
  pthread_atfork(nullptr, nullptr, [] {
    in_forked_child = true;
    on_exit(at_exit, nullptr);  // before all handlers that are registered already
  });
}

}  // namespace
}  // namespace bankwise::cuda

/// Called by the CUDA driver, in cuInit(). Returns 1, as CUPTI's injection libraries do, also if the program cannot be
/// timed: it goes on without.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (bankwise::cuda::timing != nullptr) return 1;
  try {
    bankwise::cuda::initialize();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bankcheck cuda: %s\n", error.what());
  }
  return 1;
}
