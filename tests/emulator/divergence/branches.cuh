// Branches, and lanes that return.
#pragma once

/// Some lanes return before all accesses except those of the barrier, some between them.
__global__ void diverge_early_return(const unsigned* in, unsigned* out) {
  __shared__ Words first, second, third;
  FILL(first, second, third);
  const unsigned t = threadIdx.x;
  if (in[t] % 3 == 0) return;
  unsigned sum = first[(5 * t + 1) % words];
  if (sum % 2 == 0) {
    second[own(0)] = sum;
    return;
  }
  sum += third[(3 * t + 2) % words];
  out[t] = sum;
}

/// Some lanes return out of a loop, others reach its end.
__global__ void diverge_return_in_a_loop(const unsigned* in, unsigned* out) {
  __shared__ Words looking, kept, left;
  FILL(looking, kept, left);
  const unsigned t = threadIdx.x;
  unsigned sum = 0;
  FOR(unsigned i = 0, i < 8, ++i) {
    const unsigned value = looking[(t + 41 * i) % words];
    if (value % 9 == 0) {
      out[t] = sum;
      return;
    }
    if (i % 2 == 0) kept[own(i / 2)] = value;
    sum += value;
  }
  sum ^= left[sum % words];
  out[t] = sum;
}

/// Lanes that fall through a case and lanes that start at the next case run together there, as long as the code has the
/// order of the source. (An H200 joins them only after the switch: it runs `one` and `other` twice.)
__global__ void diverge_switch(const unsigned* in, unsigned* out) {
  __shared__ Words zero, one, two, four, other, five, after;
  FILL(zero, one, two, four, other, five, after);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 4, ++i) {
    switch ((sum + i) % 8) {
      case 0: sum += zero[(t + 64 * i) % words]; [[fallthrough]];
      case 1: sum += one[(3 * t + 64 * i) % words]; break;
      case 2: sum += two[(5 * t + 64 * i) % words]; break;
      case 4: sum += four[(7 * t + 64 * i) % words]; [[fallthrough]];
      default: sum += other[(9 * t + 64 * i) % words]; [[fallthrough]];
      case 5: sum += five[(11 * t + 64 * i) % words];
    }
    after[own(i)] = sum;
  }
  out[t] = sum;
}

/// An access in each arm, and one where all arms join.
__global__ void diverge_else_if(const unsigned* in, unsigned* out) {
  __shared__ Words fives, threes, twos, rest, join;
  FILL(fives, threes, twos, rest, join);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 4, ++i) {
    if (sum % 5 == 0) {
      fives[own(i)] = sum;
    } else if (sum % 3 == 0) {
      sum += threes[(3 * t + 64 * i) % words];
    } else if (sum % 2 == 0) {
      sum += twos[(5 * t + 64 * i) % words];
    } else {
      rest[own(i)] = sum;
    }
    sum += join[(sum + i) % words];
  }
  out[t] = sum;
}

/// Only lanes for which the left operand does not decide load the right one.
__global__ void diverge_short_circuit(const unsigned* in, unsigned* out) {
  __shared__ Words a, b, c, d, both, neither;
  FILL(a, b, c, d, both, neither);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 4, ++i) {
    if (a[(t + 64 * i) % words] % 2 == 0 && b[(3 * t + 64 * i) % words] % 3 != 0) {
      both[own(i)] = sum;
    } else {
      sum += 1 + i;
    }
    if (c[(5 * t + 64 * i) % words] % 2 == 0 || d[(7 * t + 64 * i) % words] % 3 == 0) {
      sum ^= 5 * i;
    } else {
      neither[own(i)] = sum;
    }
  }
  out[t] = sum;
}

/// A wrong scheduler would run the next iteration early, with only the lanes whose left operand of || was true.
__global__ void diverge_short_circuit_of_a_loop(const unsigned* in, unsigned* out) {
  __shared__ Words a, b, c, d;
  FILL(a, b, c, d);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t], i = 0;
  WHILE(i < 7 && (a[(sum + 3 * i) % words] % 2 == 0 || b[(sum + 5 * i) % words] % 3 == 0))++ i;
  sum += i;
  i = 0;
  WHILE(i < 7 && c[(sum + 3 * i) % words] % 8 != 0 && d[(sum + 5 * i) % words] % 8 != 0)++ i;
  out[t] = sum + i;
}

/// A loop around a switch, in place of goto.
__global__ void diverge_state_machine(const unsigned* in, unsigned* out) {
  __shared__ Words start, read, count, finish, left;
  FILL(start, read, count, finish, left);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t], state = 0, i = 0;
  WHILE(state != 4 && i < 16) {
    ++i;
    switch (state) {
      case 0:
        sum += start[(t + 13 * i) % words];
        state = 1 + sum % 2;
        break;
      case 1:
        sum ^= read[(3 * t + 13 * i) % words];
        if (sum % 4 == 0) continue;  // reads again
        state = sum % 3 == 0 ? 3 : 2;
        break;
      case 2:
        sum += count[(5 * t + 13 * i) % words];
        state = sum % 4;
        break;
      default:
        finish[own(i)] = sum;
        state = 4;
        break;
    }
  }
  left[own(i)] = sum;
  out[t] = sum;
}

/// A load in each arm of ?:, and ?: in an arm of ?:.
__global__ void diverge_conditional_operator(const unsigned* in, unsigned* out) {
  __shared__ Words yes, no, left, middle, right;
  FILL(yes, no, left, middle, right);
  const unsigned t = threadIdx.x;
  unsigned sum = in[t];
  FOR(unsigned i = 0, i < 4, ++i) {
    sum += sum % 3 == 0 ? yes[(t + 64 * i) % words] : no[(3 * t + 64 * i) % words];
    sum ^= sum % 2 == 0   ? left[(5 * t + 64 * i) % words]
           : sum % 5 == 0 ? middle[(7 * t + 64 * i) % words]
                          : right[(9 * t + 64 * i) % words];
  }
  out[t] = sum;
}
