// SPDX-License-Identifier: MIT
#include <cusparse.h>
