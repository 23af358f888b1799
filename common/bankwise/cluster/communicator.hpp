// The processes that solve one problem together. MPI starts them and numbers them: they are its ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <bankwise/gpu/error.hpp>

namespace bankwise::cluster {

/// Consecutive words (32 bits) of a buffer that go to one rank, or come from one.
struct Piece {
  std::uint64_t first = 0, words = 0;
};

/// Whether mpirun or srun started this process: it is then one of the ranks of a job, even if it is the only one.
bool started_by_launcher();

/// All ranks of the job. There is one object per process; it lives as long as the ranks communicate. Every function is
/// collective: all ranks call it, in the same order. A rank that waits longer than deadline_s() for the others ends the
/// job (see Deadline). Error of every function: gpu::Error, with the MPI call, its error, file and line.
class Communicator {
 public:
  /// Initializes MPI. Error: gpu::Unsupported if this build has no MPI.
  explicit Communicator(const std::string& program);
  /// Finalizes MPI, unless an exception is in flight: then the other ranks do not take part, and end() must follow.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// "prefix_sum: rank 1"
  const std::string& name() const { return name_; }
  unsigned rank() const { return rank_; }
  unsigned ranks() const { return ranks_; }
  unsigned rank_on_node() const { return rank_on_node_; }
  unsigned ranks_on_node() const { return ranks_on_node_; }
  bool one_node() const { return ranks_on_node_ == ranks_; }

  /// "Open MPI v4.1.4"
  static std::string version();

  void barrier();
  /// The largest of all ranks' values.
  double max(double value);
  /// The sums of all ranks' words, word by word, modulo 2^32.
  std::vector<std::uint32_t> sum(std::span<const std::uint32_t> words);
  /// The sums of the words of all lower ranks; zeros for rank 0.
  std::vector<std::uint32_t> sum_of_lower(std::span<const std::uint32_t> words);
  /// The texts of all ranks, by rank.
  std::vector<std::string> gather(const std::string& text);
  /// Rank 0's bytes, to all.
  void broadcast(std::span<std::byte> bytes);
  /// Every rank's bytes, by rank; equally many of each.
  std::vector<std::byte> gather(std::span<const std::byte> bytes);
  /// Each piece of `from` to its rank, and each rank's piece into `to`; pieces in words of 32 bits. Error:
  /// gpu::Unsupported for more than 2^31 - 1 words to or from one rank.
  void all_to_all(std::span<const std::uint32_t> from, std::span<const Piece> send, std::span<std::uint32_t> to,
                  std::span<const Piece> receive);

  /// Ends all ranks immediately with this exit code.
  [[noreturn]] static void end(int code);

 private:
  std::string name_;
  unsigned rank_ = 0, ranks_ = 1, rank_on_node_ = 0, ranks_on_node_ = 1;
};

/// Seconds that a rank waits for the others: BANKWISE_DEADLINE_S from the environment, by default 120. Error:
/// UsageError if the variable is not a positive number.
double deadline_s();

struct TimedWait;

/// While this object lives, the process waits for other ranks. If that takes longer than deadline_s(), one sentence on
/// stderr names what it waited for, and the process ends with exit code 3, whereupon the launcher ends the other ranks.
/// A second object interrupts the first one's time while it lives.
class Deadline {
 public:
  /// `who` and `operation`: "prefix_sum: rank 1" and "MPI_Barrier".
  Deadline(const std::string& who, const std::string& operation);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::unique_ptr<TimedWait> interrupted_;
};

/// Something that all ranks refuse alike, so they stay in step. Communicator::end() must follow any other exception.
class Refused : public gpu::Unsupported {
 public:
  using gpu::Unsupported::Unsupported;
};

/// Runs `step`, which must not communicate, on every rank. If it throws gpu::Unsupported on some, all ranks throw
/// Refused, with the sentence of the lowest of these ranks: "rank 1: ...".
void agree(Communicator& communicator, const std::function<void()>& step);

}  // namespace bankwise::cluster
