// Loops with a different number of iterations per thread, and lanes of a warp that read what their neighbours have
// written.
#pragma once

/// Inner trip counts 1 to 4 in each outer iteration: matching the n-th executions would mix lanes of different
/// iterations.
__global__ void diverge_nested_loops(const unsigned* in, unsigned* out) {
  __shared__ Words inner, outer;
  FILL(inner, outer);
  const unsigned t = threadIdx.x;
  unsigned sum = 0;
  FOR(unsigned round = 0, round < 4, ++round) {
    FOR(unsigned i = 0, i < 1 + (t + round) % 4, ++i) sum += inner[(t + 64 * i + 16 * round) % words];
    outer[own(round)] = sum;
  }
  out[t] = sum;
}

/// The bounds of the second loop are loaded, those of the third computed from loaded values.
__global__ void diverge_triple_nesting(const unsigned* in, unsigned* out) {
  __shared__ Words bound, middle, innermost, record;
  FILL(bound, middle, innermost, record);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  const unsigned first = in[t] % 4;
  FOR(unsigned i = 0, i < first, ++i) {
    const unsigned second = bound[(3 * t + i) % words] % 4;
    FOR(unsigned j = 0, j < second, ++j) {
      sum += middle[(t + 5 * j + 20 * i) % words];
      const unsigned third = sum % 3;
      FOR(unsigned k = 0, k < third, ++k) sum ^= innermost[(7 * t + k + 3 * j + 9 * i) % words];
      sum += third;
    }
    record[own(i)] = sum;
  }
  out[t] = sum;
}

/// `break` and `continue`, each in both loops.
__global__ void diverge_break_and_continue(const unsigned* in, unsigned* out) {
  __shared__ Words tried, even, kept, after;
  FILL(tried, even, kept, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 6, ++i) {
    if ((t + i) % 3 == 0) continue;
    FOR(unsigned j = 0, j < 6, ++j) {
      const unsigned value = tried[(t + 11 * j + 67 * i) % words];
      if (value % 7 == 0) break;
      if (value % 2 == 0) {
        sum += even[(value + j) % words];
        continue;
      }
      sum ^= kept[(value + 3 * i) % words];
    }
    after[own(i)] = sum;
    if (sum % 11 == 0) break;
    sum += i;
  }
  out[t] = sum;
}

/// The exit is between two accesses.
__global__ void diverge_break_in_the_middle(const unsigned* in, unsigned* out) {
  __shared__ Words before, behind, left;
  FILL(before, behind, left);
  const unsigned t = threadIdx.x;
  unsigned sum = 0, i = 0;
  WHILE(true) {
    const unsigned value = before[(t + 37 * i) % words];
    if (value % 4 == 0 || i == 9) break;
    sum += behind[(value + i) % words];
    ++i;
  }
  left[own(i)] = sum;
  out[t] = sum;
}

/// The body comes before the condition, which has a separate access; `continue` jumps to the condition.
__global__ void diverge_do_while(const unsigned* in, unsigned* out) {
  __shared__ Words body, odd, condition, left;
  FILL(body, odd, condition, left);
  const unsigned t = threadIdx.x;
  unsigned sum = 0, i = 0;
  {
    LOOP;
    do {
      ITERATION;
      ++i;
      const unsigned value = body[(t + 29 * i) % words];
      if (value % 3 == 0) continue;
      sum += odd[(value + i) % words];
    } while (i < 8 && condition[(5 * t + i) % words] % 4 != 0);
  }
  left[own(i)] = sum;
  out[t] = sum;
}

/// Lanes drop out one after the other, and reconverge after the loop, where all of them make one access together.
__global__ void diverge_drop_out_then_together(const unsigned* in, unsigned* out) {
  __shared__ Words looking, found, together;
  FILL(looking, found, together);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 12, ++i) {
    const unsigned value = looking[(t + 19 * i) % words];
    if (value % 5 == t % 5) {
      found[own(i)] = value;
      break;
    }
    sum += value;
  }
  sum += together[sum % words];
  out[t] = sum;
}

/// A loop in each of two arms, then another loop for both.
__global__ void diverge_loops_in_arms(const unsigned* in, unsigned* out) {
  __shared__ Words up, down, record;
  FILL(up, down, record);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 4, ++i) {
    if ((t + i) % 5 < 2) {
      FOR(unsigned j = 0, j <= t % 3, ++j) sum += up[(t + 3 * j + 64 * i) % words];
    } else {
      unsigned j = 1 + sum % 4;
      WHILE(j > 0) {
        sum += down[(2 * t + 5 * j + 32 * i) % words];
        --j;
      }
    }
    record[own(i)] = sum;
  }
  out[t] = sum;
}

// Neighbours are at most 8 lanes away, so a warp may have 16 lanes or any multiple.

/// All lanes, in a loop.
__global__ void diverge_syncwarp(const unsigned* in, unsigned* out) {
  __shared__ Words mail;
  FILL(mail);
  const unsigned t = threadIdx.x;
  const auto everyone = __activemask();
  unsigned sum = in[t];
  FOR(unsigned distance = 8, distance > 0, distance /= 2) {
    mail[own(distance)] = sum;
    __syncwarp(everyone);
    sum += mail[distance % 4 * 64 + (t ^ distance)];
    __syncwarp(everyone);
  }
  out[t] = sum;
}

/// Every other pair of lanes, as often as their data say; the other lanes do not take part.
__global__ void diverge_syncwarp_of_some(const unsigned* in, unsigned* out) {
  __shared__ Words mail, alone, after;
  FILL(mail, alone, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  const auto some = __ballot_sync(__activemask(), t % 4 < 2);
  if (t % 4 < 2) {
    FOR(unsigned i = 0, i < 4, ++i) {
      mail[own(i)] = sum;
      __syncwarp(some);
      sum += mail[i * 64 + (t ^ 1)];
      __syncwarp(some);
    }
  } else {
    FOR(unsigned i = 0, i < sum % 5, ++i) sum += alone[(t + 64 * i + 7 * sum) % words];
  }
  after[own(0)] = sum;
  out[t] = sum;
}
