// SPDX-License-Identifier: MIT
#pragma once
#error "tensor cores are not emulated"
