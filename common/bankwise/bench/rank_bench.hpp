// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <bankwise/bench/guarded_buffer.hpp>
#include <bankwise/cluster/engine.hpp>
#include <bankwise/cluster/peers.hpp>
#include <bankwise/study/rank_study.hpp>

namespace bankwise {

/// A rank's part of a variant, ready to run: kernels built, scratch memory allocated, peers' memory mapped.
struct PreparedRankPlan {
  RankPlan plan;
  const Variant* variant = nullptr;  ///< null: a plan that verify() cannot check
  std::vector<std::unique_ptr<gpu::Buffer>> scratch;
  std::unique_ptr<gpu::Buffer> state;                            ///< null if the plan needs none
  std::map<std::size_t, std::unique_ptr<cluster::Peers>> peers;  ///< by slot; destroyed before the buffers above
};

/// What the ranks share.
struct Cluster {
  cluster::Communicator& communicator;
  cluster::Engine& engine;
  Rank rank() const { return {communicator.rank(), communicator.ranks()}; }
};

/// One rank's share of a problem on its device. All ranks have one, and call the same functions in the same order.
class RankBench {
 public:
  /// Fills the input. Errors: gpu::Error; cluster::Refused if a device's memory is too small.
  RankBench(const CaseStudy& study, Extent extent, gpu::Session& session, Cluster cluster);

  /// A variant; or a plan for the input as it is, which verify() cannot check. Errors: cluster::Refused with the
  /// reason; gpu::Error.
  PreparedRankPlan prepare(const Variant& variant);
  PreparedRankPlan prepare(RankPlan plan);

  /// Enqueues the steps [first, last) of the plan; all by default.
  void enqueue(const PreparedRankPlan& prepared, std::size_t first = 0, std::size_t last = ~std::size_t{0});

  /// Poisons the outputs, and optionally the scratch memory, runs the plan once and checks every rank's share of the
  /// output, word by word, and that nothing else has changed. Empty if all is correct on all ranks, otherwise one line.
  std::string verify(const PreparedRankPlan& prepared, bool poison_scratch);

  /// What the rows `copy` and `peer_copy` copy; the bytes that they read, and write.
  std::uint64_t copied_bytes() const { return copied_bytes_; }
  void enqueue_copy();
  /// Errors: as cluster::share_with_peers().
  void prepare_peer_copy();
  void enqueue_peer_copy();

 private:
  gpu::Buffer& buffer(const PreparedRankPlan& prepared, Slot slot);
  void run(const PreparedRankPlan& prepared, const RankLaunch& launch);
  void fill_input(const Share& share);
  Words sums_of_input() const;
  void expect_inputs(std::uint64_t first, std::span<std::uint32_t> words) const;
  std::string check(const PreparedRankPlan& prepared);

  const CaseStudy& study_;
  Extent extent_;
  gpu::Session& session_;
  Cluster cluster_;
  Share share_;       // whose words are in input_
  unsigned threads_;  // of the host, for this rank
  Words before_, all_;
  std::uint64_t copied_bytes_;
  std::unique_ptr<gpu::Buffer> input_, output_, copied_from_, copied_to_;
  std::unique_ptr<cluster::Peers> copied_peers_;  // last: destroyed before its buffer
};

}  // namespace bankwise
