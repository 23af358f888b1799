// SPDX-License-Identifier: MIT
//
// What bankcheck asks of the library in its environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bankwise::cuda {

struct Settings {
  std::string folder;                     ///< BANKWISE_CUDA_RECORDS: where the record goes
  std::string library;                    ///< BANKWISE_SANITIZER_LIBRARY: path of libsanitizer-public.so
  std::vector<std::string> kernel_globs;  ///< BANKWISE_CUDA_KERNELS, one glob on each line; none: all kernels
  std::uint64_t max_blocks = 0;           ///< BANKWISE_CUDA_MAX_GROUPS: blocks to watch in each launch; 0: all
  std::uint64_t max_launches = 0;         ///< BANKWISE_CUDA_MAX_LAUNCHES: launches of each kernel and shape; 0: all
  std::uint64_t table_bytes = std::uint64_t(256) << 20;  ///< BANKWISE_CUDA_TABLE_BYTES: device memory for each context
};

/// Throws std::runtime_error with a sentence if a required variable is missing or a number is none.
Settings read_settings();

}  // namespace bankwise::cuda
