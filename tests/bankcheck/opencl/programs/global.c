// Kernels that access global memory, each in groups of 64 work-items. test_global_memory.cpp counts their sectors.
#include "opencl_setup.h"

enum { count = 128, words = 8192 };

static const char* source =
    "typedef struct { float x, y, z; } Record;\n"
    "#define START uint i = get_global_id(0)\n"
    "#define KERNEL(name) kernel void name(global const float* in, global float* out) { START;\n"
    "KERNEL(row) out[i] = in[i]; }\n"
    "KERNEL(column) out[i] = in[32 * i]; }\n"
    "KERNEL(misaligned) out[i] = in[i + 1]; }\n"
    "KERNEL(records) global const Record* r = (global const Record*)in; out[i] = r[i].x + r[i].z; }\n"
    "KERNEL(indirect) out[i] = in[1024 * (as_uint(in[i]) % 4)]; }\n"
    "KERNEL(broadcast) out[i] = in[get_group_id(0)]; }\n"
    "KERNEL(loop) float sum = 0; for (uint k = 0; k <= i % 4; ++k) sum += in[i]; out[i] = sum; }\n"
    "KERNEL(quads) float4 v = ((global const float4*)in)[i]; out[i] = v.x + v.w; }\n"
    "KERNEL(split_quads) float4 v = vload4(i, in); out[i] = v.x + v.w; }\n"
    "KERNEL(octets) float8 v = ((global const float8*)in)[i]; out[i] = v.s0 + v.s7; }\n"
    "KERNEL(chars) ((global uchar*)out)[i] = ((global const uchar*)in)[i]; }\n"
    "KERNEL(two_buffers) global const float* from = i % 2 ? in : out; out[i] = from[i]; }\n"
    "KERNEL(branch) if (i % 64 < 8) out[i] = in[i]; }\n"
    "KERNEL(atomics) atomic_add((global uint*)out + i % 8, 1u); }\n"
    "KERNEL(swaps) global uint* to = (global uint*)out; to[i] = atomic_cmpxchg(to + 4096 + i, 7u, 1u); }\n"
    "float third(global const float* of) { return of[2]; }\n"
    "KERNEL(called) out[i] = third(in + i); }\n"
    "KERNEL(levels) out[i] = in[i]; barrier(CLK_GLOBAL_MEM_FENCE); out[i] = in[i]; }\n"
    "KERNEL(copied) local float tile[64];\n"
    "  event_t e = async_work_group_copy(tile, in + 64 * get_group_id(0), 64, 0); wait_group_events(1, &e);\n"
    "  out[i] = tile[63 - get_local_id(0)]; }\n"
    "KERNEL(private_array) float p[4]; for (uint k = 0; k < 4; ++k) p[(k + i) % 4] = k; out[i] = p[i / 32 % 4]; }\n"
    "constant float table[4] = {1, 2, 3, 4};\n"
    "kernel void constants(constant float* in, global float* out) { START; out[i] = in[i] + table[i % 4]; }\n";

static void run_groups(Setup s, const char* name, cl_mem in, cl_mem out, size_t items, size_t group) {
  cl_kernel k = kernel(s, name);
  pass(k, 0, sizeof in, &in);
  pass(k, 1, sizeof out, &out);
  launch(s, k, 1, &items, &group);
}

int main(int argc, char** argv) {
  const char* names[] = {"row",    "column",      "misaligned",    "records",   "indirect", "broadcast", "loop",
                         "quads",  "split_quads", "octets",        "chars",     "branch",   "atomics",   "swaps",
                         "called", "two_buffers", "private_array", "constants", "levels",   "copied"};
  Setup s = set_up(source, "");
  static unsigned data[words];
  for (unsigned i = 0; i < words; ++i) data[i] = i % 3;
  cl_mem in = buffer(s, sizeof data, data), out = buffer(s, sizeof data, data);
  if (argc > 1) {  // one kernel, in groups of 40
    run_groups(s, argv[1], in, out, 80, 40);
  } else {
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) run_groups(s, names[i], in, out, count, 64);
  }
  check(clFinish(s.queue), "clFinish");
  tear_down(s);
  return 0;
}
