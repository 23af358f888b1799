#include "bankcheck/cuda/injection/watcher.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>

namespace bankwise::cuda {
namespace {

// A table is recorded now and then even if it is not full, so that a program that is killed loses little: after this
// time, and at a synchronization as soon as recording takes at most 1/50 of the time.
constexpr auto TABLE_TIME = std::chrono::seconds(10);
constexpr int TABLE_SHARE = 50;
// The longest that the end of a context or of the process waits for a thread that records a table.
constexpr auto DRAIN_TIME = std::chrono::seconds(10);
constexpr auto LAUNCHES_TIME = std::chrono::seconds(1);

constexpr std::uint32_t UNWATCHED = 0xffffffff;  // LaunchKey::shape and LaunchSlot::kernel of what is not to be watched

/// For measurements of what the sectors of launches cost.
bool counts_sectors() {
  const char* const text = std::getenv("BANKWISE_CUDA_SECTORS");
  return text == nullptr || std::string_view(text) != "0";
}

std::uint64_t blocks_of(const LaunchDimensions& launch) {
  return std::uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
}

}  // namespace

Watcher::Watcher(support::CudaRequest request, SanitizerApi api)
    : request_(std::move(request)),
      api_(api),
      filter_(request_.kernels),
      record_(request_.folder, request_.memory),
      patcher_(api_, record_, request_.memory) {}

Watcher::ContextPointer Watcher::context_of(CUcontext handle) {
  const std::lock_guard lock(mutex_);
  ContextPointer& context = contexts_[handle];
  if (!context) {
    context = std::make_shared<Context>();
    context->handle = handle;
  }
  return context;
}

void Watcher::module_loaded(const Sanitizer_ResourceModuleData& data) {
  const std::string_view cubin(data.pCubin, data.pCubin == nullptr ? 0 : data.cubinSize);
  Module module;
  module.cubin_bytes = cubin.size();
  module.patched = filter_.accepts_some_kernel(cubin);
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    module.id = next_module_++;
    modules_[data.module] = module;
  }
  if (!module.patched) return;
  if (!record_.write_cubin(module.id, cubin)) record_.error("cannot write the cubin of a module");
  patcher_.insert(data.context, data.module);
}

void Watcher::module_unloads(CUmodule handle) {
  const std::lock_guard lock(mutex_);
  const auto module = modules_.find(handle);
  if (module == modules_.end()) return;
  if (module->second.patched && !module->second.recorded) record_.remove_cubin(module->second.id);
  modules_.erase(module);
  // The driver may give the same handles to other kernels.
  std::erase_if(kernels_, [&](const auto& kernel) { return kernel.first.first == handle; });
}

Watcher::Kernel Watcher::kernel_of(const Sanitizer_LaunchData& data) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find({data.module, data.function});
    if (found != kernels_.end()) return found->second;
  }
  std::uint64_t pc = 0, bytes = 0;
  const auto result = api_.get_function_pc_and_size(data.module, data.functionName, &pc, &bytes);
  is_success(api_, record_, "sanitizerGetFunctionPcAndSize for " + std::string(data.functionName), result);
  return add_kernel(data, pc, bytes);
}

Watcher::Kernel Watcher::add_kernel(const Sanitizer_LaunchData& data, std::uint64_t pc, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto [place, added] = kernels_.try_emplace({data.module, data.function});
  Kernel& kernel = place->second;
  if (!added) return kernel;
  const auto [module_place, unknown] = modules_.try_emplace(data.module);
  Module& module = module_place->second;
  if (unknown) module.id = next_module_++;
  kernel.context = data.context;
  kernel.pc = pc;
  kernel.bytes = bytes;
  kernel.watched = module.patched && filter_.accepts(data.functionName);
  if (!kernel.watched) return kernel;
  kernel.id = next_kernel_++;
  watched_kernels_[kernel.id] = kernel;
  if (devices_.insert(data.device).second) {
    const DeviceFacts facts = device_facts(data.device);
    record_.device(data.device, facts.major, facts.minor, facts.name);
  }
  if (!std::exchange(module.recorded, true)) record_.module(module.id, data.device, module.cubin_bytes);
  record_.kernel(kernel.id, module.id, pc, bytes, data.functionName);
  return kernel;
}

bool Watcher::prepare_tables(Context& context, Sanitizer_StreamHandle stream) {
  using Tables = Context::Tables;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return context.state != Tables::preparing; });
    if (context.state != Tables::none) return context.state == Tables::ready;
    context.state = Tables::preparing;
  }
  std::unique_ptr<PatternTable> tables[2];
  Sanitizer_StreamHandle default_stream = nullptr;
  bool ready = false;
  try {
    const std::uint64_t for_lines = request_.memory.global && counts_sectors() ? request_.table_bytes / 4 : 0;
    const std::uint64_t touched = make_touched(api_, context.handle, for_lines, stream);
    for (auto& table : tables) {
      table =
          std::make_unique<PatternTable>(api_, context.handle, (request_.table_bytes - for_lines) / 2, touched, stream);
    }
    const auto result = api_.get_stream_handle(context.handle, nullptr, &default_stream);
    is_success(api_, record_, "sanitizerGetStreamHandle", result);
    ready = true;
  } catch (const std::exception& error) {
    record_.error(error.what());
  }
  const std::lock_guard lock(mutex_);
  for (unsigned i = 0; ready && i < 2; ++i) context.halves[i].table = std::move(tables[i]);
  context.default_stream = default_stream;
  context.state = ready ? Tables::ready : Tables::failed;
  changed_.notify_all();
  return ready;
}

Watcher::Shape& Watcher::shape_of(const Kernel& kernel, const LaunchDimensions& launch) {
  const auto [place, added] = shapes_.try_emplace({kernel.id, launch});
  Shape& shape = place->second;
  if (added) {
    shape.number = std::uint32_t(shapes_.size());
    shape.kernel = kernel.id;
    shape.shape = launch;
    shape.sample = sample_blocks(blocks_of(launch), request_.max_blocks);
  }
  return shape;
}

void Watcher::count_launch(Shape& shape, std::uint64_t blocks) {
  if (blocks > 0) ++shape.watched_launches;
  if (!std::exchange(shape.recorded, true)) {
    record_.launch(shape.kernel, shape.shape, 1, blocks);  // the program may not come to the next record_launches()
    return;
  }
  ++shape.launches_to_record;
  shape.blocks_to_record += blocks;
}

void Watcher::retire_if_due(Context& context, Clock::duration after) {
  Half& current = context.halves[context.current];
  if (current.table->unused() || context.halves[1 - context.current].retired) return;
  const bool old = Clock::now() - current.used_since > after;
  if (!old && !current.table->more_than_half_full()) return;
  current.retired = true;
  context.current = 1 - context.current;
}

Watcher::Half& Watcher::half_for_launch(Context& context) {
  retire_if_due(context, TABLE_TIME);
  Half& half = context.halves[context.current];
  if (half.table->unused()) half.used_since = Clock::now();
  return half;
}

void Watcher::launch_begins(const ObservedLaunch& launch) {
  const Sanitizer_LaunchData& data = launch.data;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    const auto module = modules_.find(data.module);
    if (module != modules_.end() && !module->second.patched) return;
  }
  const Kernel kernel = kernel_of(data);
  const LaunchDimensions launch_shape{.grid = {data.gridDim_x, data.gridDim_y, data.gridDim_z},
                                      .block = {data.blockDim_x, data.blockDim_y, data.blockDim_z},
                                      .dynamic_bytes = launch.dynamic_bytes};
  const ContextPointer context = context_of(data.context);
  const bool ready = prepare_tables(*context, launch.stream);
  std::uint64_t address = 0;
  LaunchSlot* contents = nullptr;
  {
    const std::lock_guard lock(mutex_);
    Shape* shape = kernel.watched ? &shape_of(kernel, launch_shape) : nullptr;
    // The nodes of a graph are all watched, because they may get each other's slots.
    const bool limited = request_.max_launches > 0 && !launch.in_graph;
    const bool wanted = shape != nullptr && !(limited && shape->watched_launches >= request_.max_launches);
    Half* half = ready ? &half_for_launch(*context) : nullptr;
    BlockSample sample = wanted ? shape->sample : BlockSample{};
    if (launch.in_graph) sample = {.threshold = ALL_BLOCKS, .blocks = blocks_of(launch_shape)};
    if (half != nullptr) {
      const LaunchKey key{
          .shape = wanted ? shape->number : UNWATCHED, .stream = launch.stream, .in_graph = launch.in_graph};
      std::tie(address, contents) = half->table->launch_slot(key, wanted ? kernel.id : UNWATCHED, sample.threshold);
    }
    if (address == 0 && wanted) {
      record_.error("launches were not watched: too many kernels, launch shapes and streams");
    }
    if (shape != nullptr && launch.counts) count_launch(*shape, wanted && address != 0 ? sample.blocks : 0);
    if (address != 0) half->watch.launch_begins(std::this_thread::get_id(), launch.stream);
  }
  const auto device_address = [](std::uint64_t number) { return reinterpret_cast<void*>(std::uintptr_t(number)); };
  if (contents != nullptr) {
    const auto result =
        api_.memcpy_host_to_device_async(device_address(address), contents, sizeof(LaunchSlot), launch.stream);
    is_success(api_, record_, "sanitizerMemcpyHostToDeviceAsync", result);
  }
  const auto result =
      api_.set_launch_callback_data(data.hLaunch, data.function, launch.stream, device_address(address));
  is_success(api_, record_, "sanitizerSetLaunchCallbackData", result);
}

void Watcher::launch_ends() {
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, context] : contexts_) {
    for (Half& half : context->halves) half.watch.launch_ends(std::this_thread::get_id());
  }
}

void Watcher::synchronized(CUcontext handle, std::optional<Sanitizer_StreamHandle> stream) {
  ContextPointer context;
  std::vector<Half*> idle;
  {
    const std::lock_guard lock(mutex_);
    const auto found = contexts_.find(handle);
    if (finished_ || found == contexts_.end() || found->second->state != Context::Tables::ready) return;
    context = found->second;
    for (Half& half : context->halves) half.watch.synchronized(std::this_thread::get_id(), stream);
    retire_if_due(*context, std::min<Clock::duration>(TABLE_TIME, TABLE_SHARE * drain_time_));
    for (Half& half : context->halves) {
      if (half.retired && !half.draining && !half.failed && half.watch.idle()) {
        half.draining = true;
        idle.push_back(&half);
      }
    }
    if (Clock::now() - launches_recorded_ > LAUNCHES_TIME) record_launches();
  }
  for (Half* half : idle) drain(*context, *half, stream.value_or(context->default_stream));
}

void Watcher::drain(const Context& context, Half& half, Sanitizer_StreamHandle stream) {
  const auto start = Clock::now();
  try {
    const TableContents contents = half.table->read(stream);
    half.table->clear(stream);
    const std::lock_guard lock(mutex_);
    record_launches();
    record_contents(contents, context.handle);
    half.watch.reset();
    half.retired = half.draining = false;
    drain_time_ = Clock::now() - start;
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    record_.error(error.what());  // the table is not used any more
    half.draining = false;
    half.failed = true;
  }
  changed_.notify_all();
}

void Watcher::record_launches() {
  for (auto& [key, shape] : shapes_) {
    if (shape.launches_to_record == 0) continue;
    record_.launch(shape.kernel, shape.shape, std::exchange(shape.launches_to_record, 0),
                   std::exchange(shape.blocks_to_record, 0));
  }
  launches_recorded_ = Clock::now();
}

/// The watched kernel that an entry belongs to. Its launch slot names one; the program counter decides if it lies in
/// another kernel, as in graphs. Null if that one is not to be watched.
const Watcher::Kernel* Watcher::kernel_of(const PatternEntry& entry, CUcontext context) const {
  const auto contains = [&](const Kernel& kernel) { return entry.pc - kernel.pc < kernel.bytes; };
  const auto named = watched_kernels_.find(entry.kernel);
  if (named != watched_kernels_.end() && contains(named->second)) return &named->second;
  for (const auto& [handles, kernel] : kernels_) {
    if (kernel.context == context && contains(kernel)) return kernel.watched ? &kernel : nullptr;
  }
  return named == watched_kernels_.end() ? nullptr : &named->second;
}

void Watcher::record_contents(const TableContents& contents, CUcontext context) {
  for (const auto& [entry, count] : contents.entries) {
    const Kernel* kernel = kernel_of(entry, context);
    if (kernel == nullptr) continue;
    const std::uint64_t offset = entry.pc - kernel->pc;
    const std::uint32_t width = entry.what >> 16 & 0xff, flags = entry.what & 0xffff;
    if ((entry.what & COSTED) != 0) {
      record_.cost(kernel->id, offset, kind_of_access(entry.what), width, flags, unpack_cost(entry.mask), count);
      continue;
    }
    std::uint32_t addresses[32], lanes = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((entry.mask >> lane & 1) != 0) addresses[lanes++] = entry.addresses[lane];
    }
    if (const std::string_view bulk = name_of_bulk(entry.what); !bulk.empty()) {
      record_.bulk(kernel->id, offset, bulk, count, {addresses, lanes});
      continue;
    }
    record_.pattern(kernel->id, offset, kind_of_access(entry.what), width, flags, entry.mask, count,
                    {addresses, lanes});
  }
  const auto record_lost = [&](const char* memory, const std::map<std::uint32_t, std::uint64_t>& lost) {
    for (const auto& [kernel, accesses] : lost) {
      if (kernel == UNWATCHED) {
        record_.error(
            "the table of patterns was full while a graph ran that has other kernels, too: accesses were lost");
      } else {
        record_.lost(kernel, memory, accesses);
      }
    }
  };
  record_lost("shared", contents.lost);
  record_lost("global", contents.global_lost);
  record_.flush();
}

void Watcher::drain_at_end(Context& context) {
  for (Half& half : context.halves) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, DRAIN_TIME, [&] { return !half.draining; })) {
        record_.error("another thread was still recording a table when the program ended");
        continue;
      }
    }
    if (!half.table || half.table->unused() || half.failed) continue;
    try {
      const TableContents contents = half.table->read(context.default_stream);
      const std::lock_guard lock(mutex_);
      record_contents(contents, context.handle);
    } catch (const std::exception& error) {
      record_.error(error.what());
    }
  }
}

void Watcher::context_ends(CUcontext handle) {
  patcher_.context_ends(handle);
  ContextPointer context;
  {
    const std::lock_guard lock(mutex_);
    const auto found = contexts_.find(handle);
    if (finished_ || found == contexts_.end()) return;
    context = found->second;
    contexts_.erase(found);
    record_launches();
  }
  drain_at_end(*context);
}

void Watcher::finish() {
  std::map<CUcontext, ContextPointer> contexts;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(finished_, true)) return;
    contexts.swap(contexts_);
    record_launches();
    for (const auto& [handle, module] : modules_) {
      if (module.patched && !module.recorded) record_.remove_cubin(module.id);
    }
  }
  for (const auto& [handle, context] : contexts) {
    if (context->state != Context::Tables::ready) continue;
    if (const std::string error = wait_for_context(handle); !error.empty()) record_.error(error);
    drain_at_end(*context);
  }
  record_.end();
}

}  // namespace bankwise::cuda
