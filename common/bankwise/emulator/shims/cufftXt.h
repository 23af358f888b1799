// SPDX-License-Identifier: MIT
#include <cufft.h>
