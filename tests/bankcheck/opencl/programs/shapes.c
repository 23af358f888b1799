// Work-groups in three dimensions, local memory of several arrays, and arrays whose size the host chooses.
#include "opencl_setup.h"

static const char* source =
    "kernel void blocks(global uint* out) {\n"
    "  local uint cells[75];\n"
    "  uint x = get_local_id(0), y = get_local_id(1), z = get_local_id(2), t = x + 5 * y + 25 * z;\n"
    "  cells[t] = t;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[t] = cells[z + 3 * y + 15 * x];\n"
    "}\n"
    "kernel void chosen(global uint* out, local uint* first, local uint* second) {\n"
    "  uint t = get_local_id(0);\n"
    "  first[t] = t;\n"
    "  second[2 * t] = 100 + t;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[t] = first[63 - t] + second[2 * t];\n"
    "}\n"
    "kernel void mixed(global uint* out) {\n"
    "  local uint even[64], odd[64];\n"
    "  uint t = get_local_id(0);\n"
    "  even[t] = t; odd[t] = 100 + t;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  local uint* mine = t % 2 == 0 ? even : odd;\n"
    "  out[t] = mine[t / 2];\n"
    "}\n"
    "kernel void moved(global uint* in, global uint* out) {\n"
    "  local uint here[64];\n"
    "  event_t arrived = async_work_group_copy(here, in + 64 * get_group_id(0), 64, 0);\n"
    "  wait_group_events(1, &arrived);\n"
    "  out[get_global_id(0)] = here[63 - get_local_id(0)];\n"
    "}\n"
    "kernel void phases(global uint* out) {\n"
    "  local uint few[3], rest[65];\n"
    "  uint t = get_local_id(0);\n"
    "  rest[t] = t;\n"
    "  if (t == 0) few[0] = 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  local uint* mine = t == 0 ? few : rest;\n"
    "  out[t] = mine[t];\n"
    "}\n";

int main(void) {
  cl_uint in[128], out[128];
  Setup s = set_up(source, "");
  for (cl_uint i = 0; i < 128; ++i) in[i] = 3 * i;
  cl_mem from = buffer(s, sizeof in, in), to = buffer(s, sizeof out, NULL);

  const size_t box[3] = {5, 5, 3}, one[1] = {64}, two[1] = {128};
  cl_kernel k = kernel(s, "blocks");
  pass(k, 0, sizeof to, &to);
  launch(s, k, 3, box, box);
  fetch(s, to, sizeof out, out);
  for (cl_uint t = 0; t < 75; ++t) expect(out[t] == t / 25 + 3 * (t / 5 % 5) + 15 * (t % 5), "blocks", t);

  k = kernel(s, "chosen");
  pass(k, 0, sizeof to, &to);
  pass(k, 1, 64 * sizeof(cl_uint), NULL);
  pass(k, 2, 128 * sizeof(cl_uint), NULL);
  launch(s, k, 1, one, one);
  fetch(s, to, sizeof out, out);
  for (cl_uint t = 0; t < 64; ++t) expect(out[t] == 163, "chosen", t);

  run(s, "mixed", NULL, out, 64, 64);
  for (cl_uint t = 0; t < 64; ++t) expect(out[t] == t / 2 + 100 * (t % 2), "mixed", t);

  k = kernel(s, "moved");
  pass(k, 0, sizeof from, &from);
  pass(k, 1, sizeof to, &to);
  launch(s, k, 1, two, one);
  fetch(s, to, sizeof out, out);
  for (cl_uint i = 0; i < 128; ++i) expect(out[i] == 3 * (i / 64 * 64 + 63 - i % 64), "moved", i);

  run(s, "phases", NULL, out, 64, 64);
  for (cl_uint t = 0; t < 64; ++t) expect(out[t] == t, "phases", t);

  tear_down(s);
  return 0;
}
