// Forward pass of a fully connected layer: out = in * transpose(weights).
#define TILE 16

// in: batch x inputs, weights: outputs x inputs, out: batch x outputs, all of them row after row.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void linear_forward(__global const float* in, __global const float* weights, __global float* out, uint batch,
                    uint inputs, uint outputs) {
  __local float in_tile[TILE][TILE];
  __local float weights_tile[TILE][TILE];

  const uint tx = get_local_id(0), ty = get_local_id(1);
  const uint row = get_global_id(1), column = get_global_id(0);
  const uint weights_row = get_group_id(0) * TILE + ty;

  float sum = 0;
  for (uint k = 0; k < inputs; k += TILE) {
    const bool inside = k + tx < inputs;
    in_tile[ty][tx] = inside && row < batch ? in[row * inputs + k + tx] : 0;
    weights_tile[ty][tx] = inside && weights_row < outputs ? weights[weights_row * inputs + k + tx] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < TILE; ++i) {
      sum += in_tile[ty][i] * weights_tile[tx][i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < batch && column < outputs) out[row * outputs + column] = sum;
}
