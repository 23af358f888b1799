// SPDX-License-Identifier: MIT
#pragma once

namespace bankwise::cuda {

/// The compiled patch.cu for all architectures, as sanitizerAddPatches() takes it.
const void* patch_image();

}  // namespace bankwise::cuda
