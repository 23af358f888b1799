// SPDX-License-Identifier: MIT
//
// Inserts the device patch into the program's modules, and takes it out of those that need no watching any more: the
// patch costs time even where it counts nothing (docs/checking_cuda.md).
#pragma once

#include <mutex>
#include <set>

#include "bankcheck/cuda/injection/record_writer.hpp"
#include "bankcheck/cuda/injection/sanitizer_api.hpp"

namespace bankwise::cuda {

/// All functions may be called from any thread. Failures of the library go to the record.
class ModulePatcher {
 public:
  ModulePatcher(const SanitizerApi& api, RecordWriter& record) : api_(api), record_(record) {}

  /// Patches a module that has just been loaded.
  void insert(CUcontext context, CUmodule module);

  /// Takes the patch out. The library waits for the GPU, so no work of the context may be waiting for this thread.
  /// Returns whether the module is without the patch now; false if another thread is patching.
  bool remove(CUmodule module);

  void context_ends(CUcontext context);

 private:
  void fail(const std::string& call, SanitizerResult result) { record_.error(failure(api_, call, result)); }

  const SanitizerApi& api_;
  RecordWriter& record_;
  std::mutex library_mutex_;      // the library wants calls that patch one at a time
  std::set<CUcontext> contexts_;  // that have the patches
};

}  // namespace bankwise::cuda
