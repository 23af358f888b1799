// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace bankwise::cluster {

/// Seconds that a rank waits for the others: BANKWISE_DEADLINE_S from the environment, by default 120. Error:
/// UsageError if the variable is not a positive number.
double deadline_s();

/// While this object lives, the process waits for other ranks. If that takes longer than deadline_s(), one sentence on
/// stderr names what it waited for, and the process ends with exit code 3, whereupon the launcher ends the other ranks.
/// At most one lives at a time.
class Deadline {
 public:
  /// `who` and `what`: "prefix_sum: rank 1" and "MPI_Barrier".
  Deadline(std::string who, std::string what);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
};

}  // namespace bankwise::cluster
