// SPDX-License-Identifier: MIT
//
// Kernels with divergent lanes, one kind of divergence each.
#pragma once

#include "branches.cuh"
#include "helpers.cuh"
#include "loops.cuh"
#include "warp_synchronous.cuh"
