// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

namespace bankwise::cluster {

/// Seconds that a rank waits for the others: BANKWISE_DEADLINE_S from the environment, by default 120. Error:
/// UsageError if the variable is not a positive number.
double deadline_s();

struct Wait;

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
  std::unique_ptr<Wait> interrupted_;
};

}  // namespace bankwise::cluster
