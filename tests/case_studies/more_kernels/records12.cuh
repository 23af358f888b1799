// SPDX-License-Identifier: MIT-0
//
// Normals of triangles whose corners are named by a list: the corners lie in shared memory as float3 records.
//
//   lanes  One corner each, then one triangle each.
//   banks  A record of 12 bytes is three accesses of 4. Stored at stride 3, an odd one: no conflict. Gathered from all
//          over the place: lanes meet in a bank by chance.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block: BLOCK corners of three words, modulo SPACE; from word LIST on, BLOCK triangles of
//           three words, the corners' numbers modulo BLOCK
//   out     one record of four words per thread and block: the normal, as long as twice the triangle's area, and the
//           square of its first edge's length; 16-byte aligned
// Coordinates are small integers, so that all results are exact.

__global__ void __launch_bounds__(256) more_records12(const unsigned* __restrict__ in, float4* __restrict__ out) {
  constexpr unsigned BLOCK = 256;   // threads, corners, triangles
  constexpr unsigned SLICE = 4096;  // words of input per block
  constexpr unsigned LIST = 1024;   // where the triangles begin
  constexpr unsigned SPACE = 1024;  // coordinates are smaller
  __shared__ float3 corners[BLOCK];

  const unsigned tid = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;

  corners[tid] =
      make_float3(float(from[3 * tid] % SPACE), float(from[3 * tid + 1] % SPACE), float(from[3 * tid + 2] % SPACE));
  __syncthreads();
  const unsigned* triangle = from + LIST + 3 * tid;
  const float3 a = corners[triangle[0] % BLOCK];
  const float3 b = corners[triangle[1] % BLOCK];
  const float3 c = corners[triangle[2] % BLOCK];

  const float3 ab = make_float3(b.x - a.x, b.y - a.y, b.z - a.z);
  const float3 ac = make_float3(c.x - a.x, c.y - a.y, c.z - a.z);
  out[size_t(blockIdx.x) * BLOCK + tid] =
      make_float4(ab.y * ac.z - ab.z * ac.y, ab.z * ac.x - ab.x * ac.z, ab.x * ac.y - ab.y * ac.x,
                  ab.x * ab.x + ab.y * ab.y + ab.z * ab.z);
}
