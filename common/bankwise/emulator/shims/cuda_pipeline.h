// SPDX-License-Identifier: MIT
#pragma once
#error "asynchronous copies are not emulated"
