// SPDX-License-Identifier: MIT
#pragma once
#error "half precision is not emulated"
