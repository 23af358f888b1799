// SPDX-License-Identifier: MIT
//
// Inserts the device patch into the program's modules. It stays there: to take it out, the library waits for the GPU,
// and a program whose stream waits for the launching thread would hang.
#pragma once

#include <mutex>
#include <set>

#include "bankcheck/cuda/injection/libraries.hpp"
#include "bankcheck/cuda/injection/record_writer.hpp"

namespace bankwise::cuda {

/// All functions may be called from any thread. Failures of the library go to the record.
class ModulePatcher {
 public:
  ModulePatcher(const SanitizerApi& api, RecordWriter& record) : api_(api), record_(record) {}

  /// Patches a module that has just been loaded.
  void insert(CUcontext context, CUmodule module);

  void context_ends(CUcontext context);

 private:
  void fail(const std::string& call, SanitizerResult result) { record_.error(failure(api_, call, result)); }

  const SanitizerApi& api_;
  RecordWriter& record_;
  std::mutex library_mutex_;      // the library wants calls that patch one at a time
  std::set<CUcontext> contexts_;  // that have the patches
};

}  // namespace bankwise::cuda
