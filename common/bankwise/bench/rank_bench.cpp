// SPDX-License-Identifier: MIT
#include <bankwise/bench/rank_bench.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include <bankwise/cluster/agreement.hpp>
#include <bankwise/cluster/deadline.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/support/parallel.hpp>
#include <bankwise/support/quantity.hpp>

namespace bankwise {
namespace {

constexpr std::uint64_t words_written = std::uint64_t{1} << 24;  // written at a time: 64 MiB
constexpr std::uint64_t largest_copy = std::uint64_t{1} << 30;   // bytes
constexpr std::uint64_t largest_copy_on_cpu = std::uint64_t{1} << 22;

/// Words of the buffers. The rows `alone` write an output of the input's size.
struct Capacity {
  std::uint64_t input = 0, output = 0;
};
Capacity capacity(const RankStudy& study, Extent extent, Rank rank) {
  Capacity most;
  for (const Variant& variant : study.variants) {
    const Share share = study.share(variant, extent, rank);
    most.input = std::max(most.input, share.input_words);
    most.output = std::max({most.output, share.input_words, share.output_words});
  }
  return most;
}

/// The slots that a plan's launches access on other ranks, each once.
std::vector<Slot> peer_slots(const RankPlan& plan) {
  std::vector<Slot> slots;
  for (const Step& step : plan.steps) {
    const auto* launch = std::get_if<RankLaunch>(&step);
    if (launch == nullptr) continue;
    for (const auto& argument : launch->arguments) {
      const auto* table = std::get_if<PeerTable>(&argument);
      const auto same = [&](Slot slot) { return slot.index == table->slot.index; };
      if (table != nullptr && std::none_of(slots.begin(), slots.end(), same)) slots.push_back(table->slot);
    }
  }
  return slots;
}

/// Error: gpu::Unsupported if the share and so many other bytes do not fit the device.
void require_memory(const gpu::DeviceInfo& device, Capacity share, std::uint64_t others) {
  const std::uint64_t needed = bytes_of(share.input + share.output) + others + 2 * guard_bytes;
  if (needed <= device.global_memory) return;
  throw gpu::Unsupported(fmt::format("{} has {}, and its share needs {}; choose a smaller size, or start more ranks",
                                     device.name, format_bytes(double(device.global_memory)),
                                     format_bytes(double(needed))));
}

}  // namespace

RankBench::RankBench(const CaseStudy& study, Extent extent, gpu::Session& session, Cluster cluster)
    : study_(study),
      extent_(extent),
      session_(session),
      cluster_(cluster),
      share_(study.ranks->share(study.ranks->variants.front(), extent, cluster.rank())),
      threads_(std::max(1U, std::thread::hardware_concurrency() / cluster.communicator.ranks_on_node())),
      copied_bytes_(session.info().is_gpu ? largest_copy : largest_copy_on_cpu) {
  const Capacity most = capacity(*study.ranks, extent, cluster.rank());
  cluster::agree(cluster.communicator, [&] {
    require_memory(session.info(), most, 2 * copied_bytes_);
    input_ = allocate_guarded(session, bytes_of(most.input));
    output_ = allocate_guarded(session, bytes_of(most.output));
    copied_from_ = session.allocate(copied_bytes_);
    copied_to_ = session.allocate(copied_bytes_);
  });
  session.fill(*copied_from_, 0, copied_bytes_, 0x5A);
  fill_input(share_);
  const Words mine = sums_of_input();
  before_ = cluster.communicator.sum_of_lower(mine);
  all_ = cluster.communicator.sum(mine);
}

void RankBench::expect_inputs(std::uint64_t first, std::span<std::uint32_t> words) const {
  in_parallel_parts(words.size(), threads_, [&](std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {  // one block of a block-cyclic share after another
      const std::uint64_t at = first + begin;
      const std::uint64_t left = share_.block == 0 ? end - begin : share_.block - at % share_.block;
      const std::uint64_t count = std::min(end - begin, left);
      input_words(study_, whole_index(share_, share_.input_first, at), words.subspan(begin, count));
      begin += count;
    }
  });
}

void RankBench::fill_input(const Share& share) {
  share_ = share;
  const std::uint64_t most = std::min(words_written, share.input_words);
  const auto memory = session_.allocate_host(std::max(bytes_of(most), std::uint64_t{1}));
  for (std::uint64_t first = 0; first < share.input_words; first += most) {
    const std::span words(reinterpret_cast<std::uint32_t*>(memory.get()), std::min(most, share.input_words - first));
    expect_inputs(first, words);
    session_.write(*input_, bytes_of(first), std::as_bytes(words));
  }
}

/// RankStudy::sums of the share.
Words RankBench::sums_of_input() const {
  const std::size_t sums = study_.ranks->sums;
  Words all(sums, 0), words;
  for (std::uint64_t first = 0; sums > 0 && first < share_.input_words; first += words.size()) {
    words.resize(std::min(words_written, share_.input_words - first));
    expect_inputs(first, words);
    std::mutex mutex;
    // Chunks and the parts of threads begin at multiples of `sums`.
    in_parallel_parts(words.size(), threads_, [&](std::uint64_t begin, std::uint64_t end) {
      Words part(sums, 0);
      for (std::uint64_t i = begin; i < end; ++i) part[i % sums] += words[i];
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < sums; ++i) all[i] += part[i];
    });
  }
  return all;
}

PreparedRankPlan RankBench::prepare(const Variant& variant) {
  PreparedRankPlan prepared =
      prepare(study_.ranks->plan(variant, extent_, cluster_.rank(), session_.info().compute_units));
  prepared.variant = &variant;
  return prepared;
}

PreparedRankPlan RankBench::prepare(RankPlan plan) {
  PreparedRankPlan prepared;
  const std::vector<Slot> shared_slots = peer_slots(plan);  // of launches without groups, too: all ranks have the same
  prepared.plan = std::move(plan);
  std::erase_if(prepared.plan.steps, [](const Step& step) {
    const auto* launch = std::get_if<RankLaunch>(&step);
    return launch != nullptr && launch->groups == 0;
  });
  cluster::agree(cluster_.communicator, [&] {
    for (const Step& step : prepared.plan.steps) {
      const auto* launch = std::get_if<RankLaunch>(&step);
      if (launch == nullptr) continue;
      const gpu::KernelImage* image = find_rank_image(study_, launch->kernel);
      if (image == nullptr) throw gpu::Unsupported(fmt::format("there is no kernel {}", launch->kernel));
      session_.prepare(*image, gpu::Form::once, launch->group);
    }
    std::uint64_t others = 2 * copied_bytes_ + prepared.plan.state_bytes;
    for (const auto bytes : prepared.plan.scratch_bytes) others += bytes + guard_bytes;
    require_memory(session_.info(), capacity(*study_.ranks, extent_, cluster_.rank()), others);
    if (prepared.plan.state_bytes > 0) prepared.state = allocate_zeroed(session_, prepared.plan.state_bytes);
    for (const auto bytes : prepared.plan.scratch_bytes) {
      prepared.scratch.push_back(allocate_guarded(session_, round_up(bytes, sizeof(std::uint32_t))));
    }
  });
  for (const Slot slot : shared_slots) {
    prepared.peers[slot.index] = cluster::share_with_peers(session_, cluster_.communicator, buffer(prepared, slot));
  }
  return prepared;
}

gpu::Buffer& RankBench::buffer(const PreparedRankPlan& prepared, Slot slot) {
  if (slot.index == input_slot.index) return *input_;
  if (slot.index == output_slot.index) return *output_;
  if (slot.index == state_slot.index) return *prepared.state;
  return *prepared.scratch.at(slot.index - scratch_slot(0).index);
}

void RankBench::run(const PreparedRankPlan& prepared, const RankLaunch& launch) {
  std::vector<gpu::KernelArgument> arguments;
  for (const auto& argument : launch.arguments) {
    if (const auto* slot = std::get_if<Slot>(&argument)) {
      arguments.emplace_back(&buffer(prepared, *slot));
    } else if (const auto* table = std::get_if<PeerTable>(&argument)) {
      arguments.emplace_back(&prepared.peers.at(table->slot.index)->table());
    } else {
      arguments.emplace_back(std::get<std::uint64_t>(argument));
    }
  }
  session_.launch(*find_rank_image(study_, launch.kernel), gpu::Form::once, launch.groups, launch.group, arguments);
}

void RankBench::enqueue(const PreparedRankPlan& prepared, std::size_t first, std::size_t last) {
  struct Run {
    RankBench& bench;
    const PreparedRankPlan& prepared;
    gpu::Buffer& at(Slot slot) const { return bench.buffer(prepared, slot); }
    void operator()(const RankLaunch& launch) const { bench.run(prepared, launch); }
    void operator()(const AllReduce& step) const { bench.cluster_.engine.all_reduce(at(step.words), step.count); }
    void operator()(const AllGather& step) const {
      bench.cluster_.engine.all_gather(at(step.from), at(step.to), step.count);
    }
    void operator()(const AllToAll& step) const {
      bench.cluster_.engine.all_to_all(at(step.from), step.send, at(step.to), step.receive, step.overlapped);
    }
    void operator()(const Join&) const { bench.cluster_.engine.join(); }
  };
  last = std::min(last, prepared.plan.steps.size());
  for (std::size_t i = first; i < last; ++i) std::visit(Run{*this, prepared}, prepared.plan.steps[i]);
}

std::string RankBench::check(const PreparedRankPlan& prepared) {
  const std::uint64_t mine = share_.output_words;
  const std::uint64_t all = (output_->bytes() - guard_bytes) / sizeof(std::uint32_t);
  // a few words past the share's last, too: they are still poisoned
  const auto outputs = [mine, expected = study_.ranks->expected(study_, *prepared.variant, extent_, cluster_.rank(),
                                                                before_, all_, threads_)](
                           std::uint64_t first, std::span<std::uint32_t> words) {
    const std::uint64_t count = first < mine ? std::min<std::uint64_t>(words.size(), mine - first) : 0;
    if (count > 0) expected(first, words.first(count));
    std::ranges::fill(words.subspan(count), poison_word);
  };
  const std::uint64_t checked = std::min(mine + guard_bytes / sizeof(std::uint32_t), all);
  if (auto wrong = difference(session_, *output_, "output", checked, outputs, threads_); !wrong.empty()) return wrong;
  const auto inputs = [this](std::uint64_t first, std::span<std::uint32_t> words) { expect_inputs(first, words); };
  if (auto wrong = difference(session_, *input_, "input", share_.input_words, inputs, threads_); !wrong.empty())
    return wrong;
  for (const auto& buffer : prepared.scratch) {
    if (auto wrong = difference(session_, *buffer, "scratch memory"); !wrong.empty()) return wrong;
  }
  return prepared.state == nullptr ? "" : difference(session_, *prepared.state, "state");
}

std::string RankBench::verify(const PreparedRankPlan& prepared, bool poison_scratch) {
  const Share share = study_.ranks->share(*prepared.variant, extent_, cluster_.rank());
  if (share != share_) fill_input(share);
  poison(session_, *output_);
  if (poison_scratch) {
    for (const auto& buffer : prepared.scratch) poison(session_, *buffer);
  }
  session_.wait();
  cluster_.communicator.barrier();  // kernels of other ranks may write into this rank's buffers
  {
    const cluster::Deadline limit(cluster_.communicator.name(), "a run of a variant");
    enqueue(prepared);
    session_.wait();
  }
  cluster_.communicator.barrier();
  const std::vector<std::string> wrong = cluster_.communicator.gather(check(prepared));
  for (std::size_t rank = 0; rank < wrong.size(); ++rank) {
    if (!wrong[rank].empty()) return fmt::format("rank {}: {}", rank, wrong[rank]);
  }
  return {};
}

void RankBench::enqueue_copy() {
  session_.copy(*copied_from_, *copied_to_, copied_bytes_);
}

void RankBench::prepare_peer_copy() {
  copied_peers_ = cluster::share_with_peers(session_, cluster_.communicator, *copied_to_);
}

void RankBench::enqueue_peer_copy() {
  const Rank rank = cluster_.rank();
  copied_peers_->copy(*copied_from_, (rank.index + 1) % rank.ranks, copied_bytes_);
}

}  // namespace bankwise
