// SPDX-License-Identifier: MIT
//
// Inserts the device patch into the program's modules. It stays there: to take it out, the library waits for the GPU,
// and a program whose stream waits for the launching thread would hang.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "bankcheck/cuda/injection/libraries.hpp"
#include "bankcheck/cuda/injection/record_writer.hpp"

/// The compiled patch.cu for all architectures, as sanitizerAddPatches() takes it: patch_image.cpp.in.
extern "C" const char bankwise_patch_image[];

namespace bankwise::cuda {

static_assert(SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS == 4 && SANITIZER_INSTRUCTION_MEMCPY_ASYNC == 14 &&
              SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS == 17 &&
              SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS == 19);  // as patch_points() has them

/// All functions may be called from any thread. Failures of the library go to the record.
class ModulePatcher {
 public:
  ModulePatcher(const SanitizerApi& api, RecordWriter& record) : api_(api), record_(record) {}

  /// Patches a module that has just been loaded.
  void insert(CUcontext context, CUmodule module) {
    const std::lock_guard library(library_mutex_);
    if (!contexts_.contains(context)) {
      if (const auto result = api_.add_patches(bankwise_patch_image, context); result != SANITIZER_SUCCESS) {
        return fail("sanitizerAddPatches", result);
      }
      contexts_.insert(context);
    }
    for (const PatchPoint& point : patch_points()) {
      const auto result = api_.patch_instructions(Sanitizer_InstructionId(point.instruction), module, point.function);
      if (result != SANITIZER_SUCCESS && point.required) {
        fail("sanitizerPatchInstructions for " + std::string(point.what), result);
      }
    }
    if (const auto result = api_.patch_module(module); result != SANITIZER_SUCCESS) {
      fail("sanitizerPatchModule", result);
    }
  }

  void context_ends(CUcontext context) {
    const std::lock_guard library(library_mutex_);
    contexts_.erase(context);
  }

 private:
  void fail(const std::string& call, SanitizerResult result) { record_.error(failure(api_, call, result)); }

  const SanitizerApi& api_;
  RecordWriter& record_;
  std::mutex library_mutex_;      // the library wants calls that patch one at a time
  std::set<CUcontext> contexts_;  // that have the patches
};

}  // namespace bankwise::cuda
