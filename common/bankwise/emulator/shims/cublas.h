// SPDX-License-Identifier: MIT
#include <cublas_v2.h>
