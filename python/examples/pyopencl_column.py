"""A column of local memory in PyOpenCL, without a GPU: PITCH 32 has conflicts, 33 is the fix.

bankwise run pyopencl_column.py; bankwise run pyopencl_column.py 33
"""

import sys

import pyopencl as cl

SOURCE = """
kernel void column(global float* out) {
  local float tile[32 * PITCH];
  for (int i = 0; i < 32; ++i) tile[i * PITCH + get_local_id(0)] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_local_id(0)] = tile[get_local_id(0) * PITCH];
}
"""

pitch = sys.argv[1] if len(sys.argv) > 1 else "32"
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
program = cl.Program(context, SOURCE).build([f"-DPITCH={pitch}"])
out = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, 32 * 4)
program.column(queue, (32,), (32,), out)
queue.finish()
