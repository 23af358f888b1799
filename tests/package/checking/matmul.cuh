// Forward pass of a fully connected layer: out = in * transpose(weights).
#pragma once

constexpr unsigned TILE = 32;

// in: batch x inputs, weights: outputs x inputs, out: batch x outputs, all of them row after row.
// Launch with blocks of TILE x TILE threads, one for each tile of out.
__global__ void linear_forward(const float* in, const float* weights, float* out, unsigned batch, unsigned inputs,
                               unsigned outputs) {
  __shared__ float in_tile[TILE][TILE];
  __shared__ float weights_tile[TILE][TILE];

  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned in_row = blockIdx.y * TILE + ty;
  const unsigned column = blockIdx.x * TILE + tx;
  const unsigned weights_row = blockIdx.x * TILE + ty;

  float sum = 0;
  for (unsigned k = 0; k < inputs; k += TILE) {
    const bool inside = k + tx < inputs;
    in_tile[ty][tx] = inside && in_row < batch ? in[in_row * inputs + k + tx] : 0;
    weights_tile[ty][tx] = inside && weights_row < outputs ? weights[weights_row * inputs + k + tx] : 0;
    __syncthreads();
    for (unsigned i = 0; i < TILE; ++i) {
      sum += in_tile[ty][i] * weights_tile[tx][i];
    }
    __syncthreads();
  }
  if (in_row < batch && column < outputs) out[in_row * outputs + column] = sum;
}
