// SPDX-License-Identifier: MIT
#pragma once
#error "bfloat16 is not emulated"
