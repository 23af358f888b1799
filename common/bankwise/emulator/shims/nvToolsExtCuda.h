// SPDX-License-Identifier: MIT
#include <nvtx3/nvToolsExt.h>
