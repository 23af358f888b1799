// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/module_patcher.hpp"

#include <string>

#include "bankcheck/cuda/injection/access_kinds.hpp"
#include "bankcheck/cuda/injection/patch_image.hpp"

namespace bankwise::cuda {

static_assert(SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS == 4 && SANITIZER_INSTRUCTION_MEMCPY_ASYNC == 14 &&
              SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS == 17 &&
              SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS == 19);  // as patch_points() has them

void ModulePatcher::module_loaded(CUcontext context, CUmodule module) {
  const std::lock_guard library(library_mutex_);
  if (contexts_.find(context) == contexts_.end()) {
    if (const auto result = api_.add_patches(patch_image(), context); result != SANITIZER_SUCCESS) {
      return fail("sanitizerAddPatches", result);
    }
    contexts_.insert(context);
  }
  for (const PatchPoint& point : patch_points()) {
    const auto result = api_.patch_instructions(Sanitizer_InstructionId(point.instruction), module, point.function);
    if (result != SANITIZER_SUCCESS && point.required) {
      fail(("sanitizerPatchInstructions for " + std::string(point.what)).c_str(), result);
    }
  }
  if (!insert_patch(module)) return;
  const std::lock_guard lock(mutex_);
  modules_[module] = {};
}

bool ModulePatcher::insert_patch(CUmodule module) {
  const auto result = api_.patch_module(module);
  if (result != SANITIZER_SUCCESS) fail("sanitizerPatchModule", result);
  return result == SANITIZER_SUCCESS;
}

void ModulePatcher::module_unloads(CUmodule module) {
  const std::lock_guard lock(mutex_);
  modules_.erase(module);
}

void ModulePatcher::context_ends(CUcontext context) {
  const std::lock_guard library(library_mutex_);
  contexts_.erase(context);
}

bool ModulePatcher::launch_begins(CUmodule module, bool watched) {
  bool patched = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = modules_.find(module);
    if (found == modules_.end()) return false;
    State& state = found->second;
    state.unwatched = watched ? 0 : state.unwatched + 1;
    patched = state.patched;
    if (patched == watched || (patched && state.unwatched < state.patience)) return patched;
  }
  // A thread that patches may wait for a lock of the library that this launch holds.
  std::unique_lock library(library_mutex_, std::try_to_lock);
  if (!library.owns_lock()) return patched;
  if (patched) {
    if (const auto result = api_.unpatch_module(module); result != SANITIZER_SUCCESS) {
      fail("sanitizerUnpatchModule", result);
      return true;
    }
  } else if (!insert_patch(module)) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  State& state = modules_[module];
  state.patched = watched;
  if (watched) state.patience *= 2;
  return watched;
}

}  // namespace bankwise::cuda
