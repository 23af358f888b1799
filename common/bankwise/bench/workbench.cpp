#include <bankwise/bench/workbench.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <bankwise/gpu/error.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/parallel.hpp>

namespace bankwise::bench {

using namespace study;

namespace {

constexpr std::uint64_t words_written = std::uint64_t{1} << 24;  // written at a time: 64 MiB
constexpr std::uint64_t largest_copy = std::uint64_t{1} << 30;   // bytes, on several ranks
constexpr std::uint64_t largest_copy_on_cpu = std::uint64_t{1} << 22;

/// Bytes to copy, each read once and written once, for the compulsory traffic.
std::uint64_t bytes_to_copy(const CaseStudy& study, Extent extent) {
  std::uint64_t largest = 0;
  for (const Operand& input : study.inputs) largest = std::max(largest, bytes_of(input.words(extent)));
  return std::min(compulsory_bytes(study, extent) / 2, largest) / 4 * 4;
}

/// Words of a process's buffers.
struct Capacity {
  std::vector<std::uint64_t> inputs, outputs;
};

Capacity capacity(const CaseStudy& study, Extent extent) {
  Capacity words;
  for (const Operand& input : study.inputs) words.inputs.push_back(input.words(extent));
  for (const Operand& output : study.outputs) words.outputs.push_back(output.words(extent));
  return words;
}

/// The rows `alone` write an output of the input's size.
Capacity capacity(const RankStudy& study, Extent extent, Rank rank) {
  Share largest;
  for (const Variant& variant : study.variants) {
    const Share share = study.share(variant, extent, rank);
    largest.input_words = std::max(largest.input_words, share.input_words);
    largest.output_words = std::max({largest.output_words, share.input_words, share.output_words});
  }
  return {{largest.input_words}, {largest.output_words}};
}

/// The slots that a plan's launches access on other ranks.
std::set<Slot> peer_slots(const Plan& plan) {
  std::set<Slot> slots;
  for (const Step& step : plan.steps) {
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch == nullptr) continue;
    for (const auto& argument : launch->arguments) {
      if (const auto* table = std::get_if<PeerTable>(&argument)) slots.insert(table->slot);
    }
  }
  return slots;
}

/// Error: gpu::Unsupported if the share and so many other bytes do not fit the device.
void require_memory(const gpu::DeviceInfo& device, const Capacity& share, std::uint64_t others) {
  const std::uint64_t needed = bytes_of(share.inputs.front() + share.outputs.front()) + others + 2 * guard_bytes;
  if (needed <= device.global_memory) return;
  throw gpu::Unsupported(fmt::format("{} has {}, and its share needs {}; choose a smaller size, or start more ranks",
                                     shown_name(device), support::format_bytes(double(device.global_memory)),
                                     support::format_bytes(double(needed))));
}

}  // namespace

std::string shortage(const CaseStudy& study, Extent extent, const gpu::DeviceInfo& device) {
  // Scratch memory is left out: it is small compared with the input, and its allocation reports its own error.
  std::uint64_t operands = 0, largest = 0;
  for (const auto list : {study.inputs, study.outputs}) {
    for (const Operand& operand : list) {
      operands += bytes_of(operand.words(extent));
      largest = std::max(largest, bytes_of(operand.words(extent)) + guard_bytes);
    }
  }
  const std::uint64_t total = operands + bytes_to_copy(study, extent) +
                              (study.inputs.size() + study.outputs.size() + 1) * guard_bytes +
                              (device.is_gpu ? 0 : operands);
  std::string advice = "choose a smaller";
  for (const Side& side : study.sides) {
    advice += fmt::format("{} --{}", &side == study.sides.data() ? "" : " and", side.name);
  }
  const auto sentence = [&](std::string_view verb, std::uint64_t limit, std::string_view where, std::uint64_t needed) {
    return fmt::format("{} {} {}{} and this needs {}; {}", shown_name(device), verb,
                       support::format_bytes(double(limit)), where, support::format_bytes(double(needed)), advice);
  };
  if (largest > device.max_allocation) {
    return sentence("allocates at most", device.max_allocation, " per buffer", largest);
  }
  return total > device.global_memory ? sentence("has", device.global_memory, "", total) : "";
}

void Cluster::wait_in(const std::string& operation, const std::function<void()>& work) const {
  std::optional<cluster::Deadline> limit;
  if (!alone()) limit.emplace(communicator->name(), operation);
  work();
}

Workbench::Workbench(const CaseStudy& study, Extent extent, gpu::Session& session, Cluster cluster)
    : study_(study),
      extent_(extent),
      session_(session),
      cluster_(cluster),
      threads_(std::max(
          1U, std::thread::hardware_concurrency() / (cluster.alone() ? 1 : cluster.communicator->ranks_on_node()))),
      copied_bytes_(cluster.alone()         ? bytes_to_copy(study, extent)
                    : session.info().is_gpu ? largest_copy
                                            : largest_copy_on_cpu) {
  const Capacity words = cluster.alone() ? capacity(study, extent) : capacity(*study.ranks, extent, cluster.rank());
  cluster.agree([&] {
    if (!cluster.alone()) require_memory(session.info(), words, 2 * copied_bytes_);
    for (const std::uint64_t input : words.inputs) inputs_.push_back(allocate_guarded(session, bytes_of(input)));
    for (const std::uint64_t output : words.outputs) outputs_.push_back(allocate_guarded(session, bytes_of(output)));
    if (!cluster.alone()) copied_from_ = session.allocate(copied_bytes_);
    copied_to_ = session.allocate(std::max<std::uint64_t>(1, copied_bytes_));
  });
  if (cluster.alone()) {
    if (study.one_result) expected_ = study.reference(extent, all_inputs(study, extent), study.variants.front());
    fill_inputs({});
    return;
  }
  session.fill(*copied_from_, 0, copied_bytes_, 0x5A);
  fill_inputs(study.ranks->share(study.ranks->variants.front(), extent, cluster.rank()));
  const Words sums = sums_of_input();
  sums_before_ = cluster.communicator->sum_of_lower(sums);
  all_sums_ = cluster.communicator->sum(sums);
}

std::uint64_t Workbench::words_of_input(std::size_t input) const {
  return cluster_.alone() ? study_.inputs[input].words(extent_) : share_.input_words;
}

/// Words [first, first + words.size()) of an input, or of this rank's share.
void Workbench::inputs_at(std::size_t input, std::uint64_t first, std::span<std::uint32_t> words) const {
  support::in_parallel_parts(words.size(), threads_, [&](std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {  // one block of a block-cyclic share after another
      const std::uint64_t at = first + begin;
      const std::uint64_t left = share_.block == 0 ? end - begin : share_.block - at % share_.block;
      const std::uint64_t count = std::min(end - begin, left);
      input_words(study_.inputs[input], whole_index(share_, share_.input_first, at), words.subspan(begin, count));
      begin += count;
    }
  });
}

void Workbench::fill_inputs(const Share& share) {
  share_ = share;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const std::uint64_t count = words_of_input(i), chunk = std::min(words_written, count);
    const auto memory = session_.allocate_host(std::max(bytes_of(chunk), std::uint64_t{1}));
    for (std::uint64_t first = 0; first < count; first += chunk) {
      const std::span words(reinterpret_cast<std::uint32_t*>(memory.get()), std::min(chunk, count - first));
      inputs_at(i, first, words);
      session_.write(*inputs_[i], bytes_of(first), std::as_bytes(words));
    }
  }
}

/// RankStudy::sums of the share.
Words Workbench::sums_of_input() const {
  const std::size_t sums = study_.ranks->sums;
  Words totals(sums, 0), words;
  for (std::uint64_t first = 0; sums > 0 && first < share_.input_words; first += words.size()) {
    words.resize(std::min(words_written, share_.input_words - first));
    inputs_at(0, first, words);
    std::mutex mutex;
    // Chunks and the parts of threads begin at multiples of `sums`.
    support::in_parallel_parts(words.size(), threads_, [&](std::uint64_t begin, std::uint64_t end) {
      Words part(sums, 0);
      for (std::uint64_t i = begin; i < end; ++i) part[i % sums] += words[i];
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < sums; ++i) totals[i] += part[i];
    });
  }
  return totals;
}

PreparedVariant Workbench::prepare_library(const Variant& variant, Scope scope) {
  const gpu::Library* library = study_.kernels->library;
  if (session_.info().api != gpu::Api::cuda) throw gpu::Unsupported("the library exists only for CUDA");
  if (library == nullptr) {
    throw gpu::Unsupported("this build is without the library; configure with -D BANKWISE_CUDA_LIBRARIES=ON");
  }
  if (scope == Scope::block) throw gpu::Unsupported("a library's section in shared memory cannot be repeated");
  PreparedVariant prepared = prepare(Plan{{library->workspace_bytes(extent_.height, extent_.width)}, {}});
  prepared.variant = &variant;
  return prepared;
}

PreparedVariant Workbench::prepare(const Variant& variant, Scope scope) {
  if (variant.library) return prepare_library(variant, scope);
  const unsigned units = session_.info().compute_units;
  Plan plan = cluster_.alone() ? study_.plan(variant, extent_, units)
                               : study_.ranks->plan(variant, extent_, cluster_.rank(), units);
  if (cluster_.alone()) (void)plan.launches();  // refuses exchanges
  PreparedVariant prepared = prepare(std::move(plan), scope == Scope::block ? gpu::Form::repeated : gpu::Form::once);
  prepared.variant = &variant;
  return prepared;
}

PreparedVariant Workbench::prepare(Plan plan, gpu::Form first_form) {
  PreparedVariant prepared;
  prepared.first_form = first_form;
  const std::set<Slot> shared_slots = peer_slots(plan);  // those of launches without groups, too, so all ranks agree
  prepared.plan = std::move(plan);
  if (!cluster_.alone()) {
    std::erase_if(prepared.plan.steps, [](const Step& step) {
      const auto* launch = std::get_if<KernelLaunch>(&step);
      return launch != nullptr && launch->groups == 0;
    });
  }
  cluster_.agree([&] {
    gpu::Form form = first_form;
    for (const Step& step : prepared.plan.steps) {
      const auto* launch = std::get_if<KernelLaunch>(&step);
      if (launch == nullptr) continue;
      const gpu::KernelImage* image = find_image(study_, launch->kernel);
      if (image == nullptr) throw gpu::Unsupported(fmt::format("there is no kernel {}", launch->kernel));
      if (form == gpu::Form::repeated && !image->has_section) {
        throw gpu::Unsupported("it has no section in shared memory to repeat");
      }
      session_.prepare(*image, form, launch->group);
      form = gpu::Form::once;
    }
    if (!cluster_.alone()) {
      std::uint64_t others = 2 * copied_bytes_ + prepared.plan.state_bytes;
      for (const auto bytes : prepared.plan.scratch_bytes) others += bytes + guard_bytes;
      require_memory(session_.info(), capacity(*study_.ranks, extent_, cluster_.rank()), others);
    }
    if (prepared.plan.state_bytes > 0) prepared.state = allocate_zeroed(session_, prepared.plan.state_bytes);
    for (const auto bytes : prepared.plan.scratch_bytes) {
      prepared.scratch.push_back(allocate_guarded(session_, round_up(bytes, sizeof(std::uint32_t))));
    }
  });
  for (const Slot slot : shared_slots) {
    prepared.peers[slot] = cluster::share_with_peers(session_, *cluster_.communicator, buffer(prepared, slot));
  }
  return prepared;
}

gpu::Buffer& Workbench::buffer(const PreparedVariant& prepared, Slot slot) {
  if (slot.memory == Slot::Memory::state) return *prepared.state;
  const auto& buffers = slot.memory == Slot::Memory::input    ? inputs_
                        : slot.memory == Slot::Memory::output ? outputs_
                                                              : prepared.scratch;
  return *buffers.at(slot.index);
}

void Workbench::launch(const PreparedVariant& prepared, const KernelLaunch& launch, gpu::Form form) {
  std::vector<gpu::KernelArgument> arguments;
  for (const auto& argument : launch.arguments) {
    if (const auto* slot = std::get_if<Slot>(&argument)) {
      arguments.emplace_back(&buffer(prepared, *slot));
    } else if (const auto* table = std::get_if<PeerTable>(&argument)) {
      arguments.emplace_back(&prepared.peers.at(table->slot)->table());
    } else {
      arguments.emplace_back(std::get<std::uint64_t>(argument));
    }
  }
  session_.launch(*find_image(study_, launch.kernel), form, launch.groups, launch.group, arguments);
}

void Workbench::enqueue(const PreparedVariant& prepared, std::size_t first, std::size_t last) {
  struct Enqueue {
    Workbench& bench;
    const PreparedVariant& prepared;
    gpu::Form form;
    gpu::Buffer& at(Slot slot) const { return bench.buffer(prepared, slot); }
    void operator()(const KernelLaunch& launch) const { bench.launch(prepared, launch, form); }
    void operator()(const AllReduce& step) const { bench.cluster_.engine->all_reduce(at(step.words), step.count); }
    void operator()(const AllGather& step) const {
      bench.cluster_.engine->all_gather(at(step.from), at(step.to), step.count);
    }
    void operator()(const AllToAll& step) const {
      bench.cluster_.engine->all_to_all(at(step.from), step.send, at(step.to), step.receive, step.overlapped);
    }
    void operator()(const Join&) const { bench.cluster_.engine->join(); }
  };
  if (prepared.variant != nullptr && prepared.variant->library) {
    if (first > 0) return;
    session_.launch(*study_.kernels->library, *inputs_.front(), *outputs_.front(), *prepared.scratch.front(),
                    extent_.height, extent_.width);
    return;
  }
  last = std::min(last, prepared.plan.steps.size());
  for (std::size_t i = first; i < last; ++i) {
    std::visit(Enqueue{*this, prepared, i == 0 ? prepared.first_form : gpu::Form::once}, prepared.plan.steps[i]);
  }
}

/// The words of an output that this process holds.
Expected Workbench::expected(const Variant& variant, std::size_t output) {
  if (!cluster_.alone()) {
    return study_.ranks->expected(study_, variant, extent_, cluster_.rank(), sums_before_, all_sums_, threads_);
  }
  return [&output_words = expected_.at(output)](std::uint64_t first, std::span<std::uint32_t> words) {
    std::copy_n(output_words.begin() + std::ptrdiff_t(first), words.size(), words.begin());
  };
}

std::string Workbench::check(const PreparedVariant& prepared) {
  std::string wrong;
  const auto is_wrong = [&](const gpu::Buffer& buffer, std::string_view name, std::uint64_t words = 0,
                            const Expected& wanted = {}) {
    wrong = difference(session_, buffer, name, words, wanted, threads_);
    return !wrong.empty();
  };
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::uint64_t capacity = (outputs_[i]->bytes() - guard_bytes) / sizeof(std::uint32_t);
    const std::uint64_t mine = cluster_.alone() ? capacity : share_.output_words;
    // a few words past the share's last, too: they are still poisoned
    const auto words_or_poison = [mine, words_of_output = expected(*prepared.variant, i)](
                                     std::uint64_t first, std::span<std::uint32_t> words) {
      const std::uint64_t count = first < mine ? std::min<std::uint64_t>(words.size(), mine - first) : 0;
      if (count > 0) words_of_output(first, words.first(count));
      std::ranges::fill(words.subspan(count), poison_word);
    };
    const std::uint64_t checked = std::min(mine + guard_bytes / sizeof(std::uint32_t), capacity);
    if (is_wrong(*outputs_[i], study_.outputs[i].name, checked, words_or_poison)) return wrong;
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto wanted = [this, i](std::uint64_t first, std::span<std::uint32_t> words) { inputs_at(i, first, words); };
    if (is_wrong(*inputs_[i], study_.inputs[i].name, words_of_input(i), wanted)) return wrong;
  }
  for (const auto& buffer : prepared.scratch) {
    if (is_wrong(*buffer, "scratch memory")) return wrong;
  }
  if (prepared.state != nullptr && is_wrong(*prepared.state, "state")) return wrong;
  return {};
}

std::string Workbench::verify(const PreparedVariant& prepared, Scratch scratch) {
  if (!cluster_.alone()) {
    const Share share = study_.ranks->share(*prepared.variant, extent_, cluster_.rank());
    if (share != share_) fill_inputs(share);
  }
  for (const auto& output : outputs_) poison(session_, *output);
  if (scratch == Scratch::poisoned) {
    for (const auto& buffer : prepared.scratch) poison(session_, *buffer);
  }
  session_.wait();
  cluster_.barrier();  // kernels of other ranks may write into this rank's buffers
  cluster_.wait_in("a run of a variant", [&] {
    enqueue(prepared);
    session_.wait();
  });
  if (cluster_.alone()) {
    if (!study_.one_result) {
      expected_ = study_.reference(extent_, all_inputs(study_, extent_), *prepared.variant);
    }
    return check(prepared);
  }
  cluster_.barrier();
  const std::vector<std::string> wrong = cluster_.communicator->gather(check(prepared));
  for (std::size_t rank = 0; rank < wrong.size(); ++rank) {
    if (!wrong[rank].empty()) return fmt::format("rank {}: {}", rank, wrong[rank]);
  }
  return {};
}

void Workbench::enqueue_copy() {
  const auto bytes = [](const auto& buffer) { return buffer->bytes(); };
  session_.copy(cluster_.alone() ? **std::ranges::max_element(inputs_, {}, bytes) : *copied_from_, *copied_to_,
                copied_bytes_);
}

void Workbench::prepare_peer_copy() {
  copied_peers_ = cluster::share_with_peers(session_, *cluster_.communicator, *copied_to_);
}

void Workbench::enqueue_peer_copy() {
  const Rank rank = cluster_.rank();
  copied_peers_->copy(*copied_from_, (rank.index + 1) % rank.ranks, copied_bytes_);
}

}  // namespace bankwise::bench
