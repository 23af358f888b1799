// Counts 256 numbers below 64 in local memory, with each kind of atomic: scattered numbers first, then equal ones.
#include "opencl_setup.h"

enum { count = 256, bins = 64 };

static const char* source =
    "#define KERNEL(name, ...) kernel void name(global const uint* data, global uint* out) { local uint bins[64]; "
    "uint t = get_local_id(0), d = data[t]; if (t < 64) bins[t] = 0; barrier(CLK_LOCAL_MEM_FENCE); __VA_ARGS__; "
    "barrier(CLK_LOCAL_MEM_FENCE); if (t < 64) out[t] = bins[t]; }\n"
    "KERNEL(counts, atomic_inc(&bins[d]))\n"
    "KERNEL(adds, atomic_add(&bins[d], 1))\n"
    "KERNEL(unused, const uint one = 1, before = atomic_add(&bins[d], one))\n"
    "KERNEL(ranks, uint rank = atomic_inc(&bins[d]); if (rank > 256) out[0] = rank)\n"
    "KERNEL(weights, uint weight = 1 + t % 1; atomic_add(&bins[d], weight))\n"
    "KERNEL(swaps, atomic_cmpxchg(&bins[d], 0, d + 1))\n";

int main(void) {
  static cl_uint data[count], out[count];
  static const char* names[] = {"counts", "adds", "unused", "ranks", "weights", "swaps"};
  Setup s = set_up(source, "");
  for (int same = 0; same < 2; ++same) {
    cl_uint counted[bins] = {0};
    for (cl_uint i = 0; i < count; ++i) {
      data[i] = same ? 5 : (i * i * 3 + i / 7) % bins;
      ++counted[data[i]];
    }
    for (int n = 0; n < 6; ++n) {
      run(s, names[n], data, out, count, count);
      for (cl_uint b = 0; b < bins; ++b)
        expect(out[b] == (n < 5 ? counted[b] : counted[b] > 0 ? b + 1 : 0), names[n], b);
    }
  }
  tear_down(s);
  return 0;
}
