#include <map>
#include <stdexcept>
#include <variant>

#include <bankwise/banks/cost.hpp>
#include <bankwise/emulator/core/emulate.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/levels.hpp>
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

// The plans for several ranks in one process: each launch in the emulator for one rank after the other, and the
// exchanges as copies between the ranks' buffers.

namespace bankwise::emulator {
extern const NamedKernels reduction_ranks_emulated, prefix_sum_ranks_emulated, transpose_ranks_emulated;
}

using namespace bankwise;
using namespace bankwise::study;

namespace {

struct Emulated {
  const CaseStudy& study;
  const emulator::NamedKernels& of_ranks;
};
const Emulated all_emulated[]{{reduction::case_study(), emulator::reduction_ranks_emulated},
                              {prefix_sum::case_study(), emulator::prefix_sum_ranks_emulated},
                              {transpose::case_study(), emulator::transpose_ranks_emulated}};

constexpr std::uint32_t poison_word = 0xCDCDCDCD, guard_word = 0xA5A5A5A5;
constexpr std::size_t guard_words = 16;
constexpr unsigned units = 2;  // few, so each persistent block processes several tiles

const emulator::NamedKernel& kernel_named(const Emulated& emulated, const std::string& name) {
  for (const emulator::NamedKernels* set : {&emulated.of_ranks, emulated.study.emulated}) {
    for (const emulator::NamedKernel* kernel : set->kernels) {
      if (kernel->name == name) return *kernel;
    }
  }
  throw std::runtime_error(name + " is not in the list of emulated kernels");
}

bool can_run(const Emulated& emulated, const Variant& variant) {
  for (const Step& step : emulated.study.ranks->plan(variant, {1, 1}, {0, 2}, units).steps) {
    const auto* launch = std::get_if<KernelLaunch>(&step);
    if (launch != nullptr && kernel_named(emulated, launch->kernel).run == nullptr) return false;
  }
  return true;
}

/// A rank's buffers by slot, each with guard words at its end.
class Memory {
 public:
  Memory(const Words& input, std::uint64_t output_words, const Plan& plan) {
    add(input_slot, input);
    add(output_slot, Words(output_words, poison_word));
    for (std::size_t i = 0; i < plan.scratch_bytes.size(); ++i) {
      add(scratch_slot(i), Words(plan.scratch_bytes[i] / sizeof(std::uint32_t), poison_word));
    }
    add(state_slot, Words(plan.state_bytes / sizeof(std::uint32_t), 0));
  }

  /// Words [first, first + count) of a buffer, which must have them.
  std::span<std::uint32_t> words(Slot slot, std::uint64_t first, std::uint64_t count) {
    Words& buffer = buffers_.at(slot);
    if (first + count > buffer.size() - guard_words) throw std::runtime_error("an exchange past the end of a buffer");
    return std::span(buffer).subspan(first, count);
  }
  Words all(Slot slot) const {
    const Words& buffer = buffers_.at(slot);
    return {buffer.begin(), buffer.end() - guard_words};
  }
  void* address(Slot slot) { return buffers_.at(slot).data(); }
  bool guards_unchanged() const {
    return std::all_of(buffers_.begin(), buffers_.end(), [](const auto& buffer) {
      return std::all_of(buffer.second.end() - guard_words, buffer.second.end(),
                         [](std::uint32_t word) { return word == guard_word; });
    });
  }

 private:
  void add(Slot slot, Words words) {
    words.resize(words.size() + guard_words, guard_word);
    buffers_[slot] = std::move(words);
  }
  std::map<Slot, Words> buffers_;
};

void run(const Emulated& emulated, const KernelLaunch& launch, Memory& memory) {
  if (launch.groups == 0) return;
  std::vector<emulator::Argument> arguments;
  for (const auto& argument : launch.arguments) {
    if (const auto* slot = std::get_if<Slot>(&argument)) {
      arguments.emplace_back(memory.address(*slot));
    } else {
      arguments.emplace_back(std::get<std::uint64_t>(argument));
    }
  }
  emulator::Launch how;
  how.grid = {unsigned(launch.groups)};
  how.block = {launch.group.x, launch.group.y};
  how.dynamic_shared = launch.group.dynamic_shared;
  kernel_named(emulated, launch.kernel).run(how, arguments);
}

/// Step i of every rank.
void run(const Emulated& emulated, const std::vector<Plan>& plans, std::size_t i, std::vector<Memory>& memory) {
  const std::size_t ranks = plans.size();
  const Step& first = plans.front().steps.at(i);
  if (const auto* reduce = std::get_if<AllReduce>(&first)) {
    Words sums(reduce->count);
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto& step = std::get<AllReduce>(plans[r].steps.at(i));
      const auto words = memory[r].words(step.words, 0, step.count);
      for (std::size_t k = 0; k < words.size(); ++k) sums.at(k) += words[k];
    }
    for (Memory& each : memory) std::ranges::copy(sums, each.words(reduce->words, 0, sums.size()).begin());
  } else if (std::holds_alternative<AllGather>(first)) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const auto& step = std::get<AllGather>(plans[to].steps.at(i));
      for (std::size_t from = 0; from < ranks; ++from) {
        std::ranges::copy(memory[from].words(step.from, 0, step.count),
                          memory[to].words(step.to, from * step.count, step.count).begin());
      }
    }
  } else if (std::holds_alternative<AllToAll>(first)) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const auto& receiver = std::get<AllToAll>(plans[to].steps.at(i));
      for (std::size_t from = 0; from < ranks; ++from) {
        const auto& sender = std::get<AllToAll>(plans[from].steps.at(i));
        const cluster::Piece sent = sender.send.at(to), received = receiver.receive.at(from);
        std::ranges::copy(memory[from].words(sender.from, sent.first, sent.words),
                          memory[to].words(receiver.to, received.first, received.words).begin());
      }
    }
  } else if (!std::holds_alternative<Join>(first)) {
    for (std::size_t r = 0; r < ranks; ++r) run(emulated, std::get<KernelLaunch>(plans[r].steps.at(i)), memory[r]);
  }
}

Words part(const Words& whole, std::uint64_t first, std::uint64_t words) {
  return {whole.begin() + std::ptrdiff_t(first), whole.begin() + std::ptrdiff_t(first + words)};
}

/// On three ranks, runs the plan twice: it must leave its state ready for the next run.
void check(const Emulated& emulated, const Variant& variant, Extent extent, unsigned ranks) {
  const CaseStudy& study = emulated.study;
  INFO(study.name << " " << variant.name << " " << extent.height << " x " << extent.width << " on " << ranks);
  const Words input = all_inputs(study, extent).front();
  const Words output = reference_output(study, extent, input);
  std::vector<Plan> plans;
  std::vector<Memory> memory;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const Share share = study.ranks->share(variant, extent, {rank, ranks});
    plans.push_back(study.ranks->plan(variant, extent, {rank, ranks}, units));
    memory.emplace_back(part(input, share.input_first, share.input_words), share.output_words, plans.back());
  }
  for (int repeat = 0; repeat < (ranks == 3 ? 2 : 1); ++repeat) {
    for (std::size_t i = 0; i < plans.front().steps.size(); ++i) run(emulated, plans, i, memory);
    for (unsigned rank = 0; rank < ranks; ++rank) {
      INFO("rank " << rank << ", run " << repeat);
      const Share share = study.ranks->share(variant, extent, {rank, ranks});
      CHECK(bool(memory[rank].all(output_slot) == part(output, share.output_first, share.output_words)));
      CHECK(bool(memory[rank].all(input_slot) == part(input, share.input_first, share.input_words)));
      CHECK(memory[rank].guards_unchanged());
      auto outputs = memory[rank].words(output_slot, 0, share.output_words);
      std::ranges::fill(outputs, poison_word);
    }
  }
}

}  // namespace

TEST_CASE("study/rank_plans/not_emulated") {
  std::vector<std::string> names;
  for (const Emulated& emulated : all_emulated) {
    for (const Variant& variant : emulated.study.ranks->variants) {
      if (!can_run(emulated, variant))
        names.push_back(std::string(emulated.study.name) + " " + std::string(variant.name));
    }
  }
  // Their launches wait for other GPUs or write to them, or contain inline PTX.
  CHECK(names == std::vector<std::string>{"reduction peers", "prefix_sum ring", "prefix_sum peers",
                                          "prefix_sum on_chip", "prefix_sum cyclic", "transpose direct"});
}

TEST_CASE("study/rank_plans/equal_reference") {
  for (const Emulated& emulated : all_emulated) {
    const CaseStudy& study = emulated.study;
    std::vector<Extent> extents;
    if (is_matrix(study)) {
      extents = {{1, 1},   {2, 3},    {3, 70},   {70, 3},   {64, 64},  {65, 130},
                 {31, 37}, {128, 12}, {129, 66}, {193, 70}, {260, 264}};
    } else {
      const std::uint64_t tile = study.ranks->variants.front().tile;
      for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{4},
                                    std::uint64_t{127}, tile - 1, tile, tile + 1, 6 * tile + 3}) {
        extents.push_back({1, n});
      }
    }
    for (const Variant& variant : study.ranks->variants) {
      if (!can_run(emulated, variant)) continue;
      for (const Extent extent : extents) {
        for (const unsigned ranks : {1U, 2U, 3U, 5U}) check(emulated, variant, extent, ranks);
      }
    }
  }
}

TEST_CASE("study/rank_plans/larger_problems") {
  for (const Emulated& emulated : all_emulated) {
    for (const Variant& variant : emulated.study.ranks->variants) {
      if (!can_run(emulated, variant)) continue;
      // Prefix sum: more chunks of several tiles each. Transpose: several tiles for each pair of ranks.
      check(emulated, variant, is_matrix(emulated.study) ? Extent{516, 520} : Extent{1, 150001}, 3);
    }
  }
}

// The model's prediction for whole jobs, against the cost of a block times the number of blocks.

namespace {

JobModel model_of(const CaseStudy& study, std::string_view name, Extent extent, unsigned compute_units = 100) {
  return job_model(study, variant_of(study, name), extent, compute_units, *banks::find_architecture("sm_90"));
}

}  // namespace

TEST_CASE("study/job_model/sum_over_blocks") {
  // counters.csv of the H200 has the numbers of a block. 4096 blocks, then 16, then one.
  const JobModel reduced = model_of(reduction::case_study(), "naive", {1, 1 << 20});
  INFO(reduced.reason);
  constexpr std::uint64_t blocks = 4096 + 16 + 1;
  CHECK(reduced.loads->passes == blocks * 276);
  CHECK(reduced.loads->conflicts == blocks * 176);
  CHECK(reduced.stores->passes == blocks * 264);
  CHECK(reduced.stores->conflicts == blocks * 184);
  CHECK(reduced.atomics->passes == 0);
  CHECK(reduced.simt_efficiency.value() > 0.5);
  CHECK(reduced.simt_efficiency.value() < 1);

  const JobModel transposed = model_of(transpose::case_study(), "tile32", {64, 128});
  CHECK(transposed.loads->passes == 8 * 1024);
  CHECK(transposed.loads->conflicts == 8 * (1024 - 32));
  CHECK(transposed.stores->passes == 8 * 32);
  CHECK(model_of(transpose::case_study(), "global", {64, 64}).simt_efficiency == 1.0);

  const JobModel scanned = model_of(prefix_sum::case_study(), "naive", {1, 512});
  CHECK(scanned.loads->passes == 413);
  CHECK(scanned.stores->conflicts == 241);
}

TEST_CASE("study/job_model/work_in_shared_memory") {
  // 4096 blocks of 256 threads, then 16, then one. docs/results has the passes of a warp at each level of a block.
  const JobModel reduced = model_of(reduction::case_study(), "naive", {1, 1 << 20});
  REQUIRE(reduced.work);
  CHECK(reduced.work->passes == 4113 * 540);
  CHECK(reduced.work->path_passes == Approx(4113 * 236));
  CHECK(reduced.conflict_free->passes == 4113 * 180);
  CHECK(reduced.conflict_free->path_passes == Approx(4113 * 104));
  REQUIRE(reduced.work->grids.size() == 3);
  CHECK(reduced.work->grids[1].blocks == 16);
  CHECK(reduced.work->grids[1].threads == 256);
  const JobModel first = job_model(reduction::case_study(), variant_of(reduction::case_study(), "naive"), {1, 1 << 20},
                                   100, *banks::find_architecture("sm_90"), 1);
  CHECK(first.work->passes == 4096 * 540);
  // Launches without shared memory are not there.
  CHECK(model_of(transpose::case_study(), "global", {64, 64}).work->grids.empty());
  CHECK(model_of(transpose::case_study(), "global", {64, 64}).work->passes == 0);
}

TEST_CASE("study/job_model/not_emulated") {
  const JobModel library = model_of(reduction::case_study(), "library", {1, 1000});
  CHECK_FALSE(library.loads);
  CHECK_FALSE(library.work);
  CHECK_FALSE(library.simt_efficiency);
  CHECK(library.reason == "a library has no kernel here to emulate");
}
