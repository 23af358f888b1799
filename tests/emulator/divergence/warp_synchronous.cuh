// SPDX-License-Identifier: MIT
//
// Lanes of a warp read what their neighbours have written. Neighbours are at most 8 lanes away, so a warp may have 16
// lanes or any multiple.
#pragma once

#include "fill.cuh"

/// All lanes, in a loop.
__global__ void diverge_syncwarp(const unsigned* in, unsigned* out) {
  __shared__ unsigned mail[words];
  fill_shared(in, mail);
  const unsigned t = threadIdx.x;
  const auto everyone = __activemask();
  unsigned sum = in[t];
  for (unsigned distance = 8; distance > 0; distance /= 2) {
    mail[own(distance)] = sum;
    __syncwarp(everyone);
    sum += mail[distance % 4 * 64 + (t ^ distance)];
    __syncwarp(everyone);
  }
  out[t] = sum;
}

/// Every other pair of lanes, as often as their data say; the other lanes do not take part.
__global__ void diverge_syncwarp_of_some(const unsigned* in, unsigned* out) {
  __shared__ unsigned mail[words], alone[words], after[words];
  fill_shared(in, mail, alone, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  const auto some = __ballot_sync(__activemask(), t % 4 < 2);
  if (t % 4 < 2) {
    for (unsigned i = 0; i < 4; ++i) {
      mail[own(i)] = sum;
      __syncwarp(some);
      sum += mail[i * 64 + (t ^ 1)];
      __syncwarp(some);
    }
  } else {
    for (unsigned i = 0; i < sum % 5; ++i) sum += alone[(t + 64 * i + 7 * sum) % words];
  }
  after[own(0)] = sum;
  out[t] = sum;
}
