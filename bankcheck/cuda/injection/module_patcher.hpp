// SPDX-License-Identifier: MIT
//
// Inserts the device patch into the program's modules, and takes it out of a module whose launches need no watching
// any more: the patch costs time even where it counts nothing (docs/checking_cuda.md).
#pragma once

#include <map>
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
  void module_loaded(CUcontext context, CUmodule module);
  void module_unloads(CUmodule module);
  void context_ends(CUcontext context);

  /// Before a launch of a kernel of the module. A module without the patch gets it back if the launch is to be watched;
  /// a module with it loses it after some launches in a row that are not. Returns whether the launch runs with the
  /// patch.
  bool launch_begins(CUmodule module, bool watched);

 private:
  struct State {
    bool patched = true;
    unsigned unwatched = 0;  // launches in a row
    // Launches in a row that are waited for. It doubles whenever the module is patched again: that takes time, too.
    unsigned patience = 16;
  };

  bool insert_patch(CUmodule module);
  void fail(const char* call, SanitizerResult result) { record_.error(failure(api_, call, result)); }

  const SanitizerApi& api_;
  RecordWriter& record_;

  std::mutex library_mutex_;      // the library wants calls that patch one at a time
  std::set<CUcontext> contexts_;  // that have the patches; under library_mutex_
  std::mutex mutex_;              // of modules_; never held during a call of the library
  std::map<CUmodule, State> modules_;
};

}  // namespace bankwise::cuda
