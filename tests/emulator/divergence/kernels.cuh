// SPDX-License-Identifier: MIT
//
// Kernels whose lanes go different ways, one kind of divergence each.
#pragma once

#include "branches.cuh"
#include "helpers.cuh"
#include "loops.cuh"
#include "warp_synchronous.cuh"
