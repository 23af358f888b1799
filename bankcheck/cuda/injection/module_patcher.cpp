// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/module_patcher.hpp"

#include <string>

/// The compiled patch.cu for all architectures, as sanitizerAddPatches() takes it: patch_image.cpp.in.
extern "C" const char bankwise_patch_image[];

namespace bankwise::cuda {

static_assert(SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS == 4 && SANITIZER_INSTRUCTION_MEMCPY_ASYNC == 14 &&
              SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS == 17 &&
              SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS == 19);  // as patch_points() has them

void ModulePatcher::insert(CUcontext context, CUmodule module) {
  const std::lock_guard library(library_mutex_);
  if (contexts_.find(context) == contexts_.end()) {
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

void ModulePatcher::context_ends(CUcontext context) {
  const std::lock_guard library(library_mutex_);
  contexts_.erase(context);
}

}  // namespace bankwise::cuda
