// SPDX-License-Identifier: MIT-0
//
// A step of particles that drift with their neighbours: each is pulled to them by their mass and takes on some of their
// speed. Particles lie in shared memory as records, or as seven arrays.
//
// Kernels: particles_aos, particles_soa
//
//   lanes  One particle each. Neighbours are named by a list.
//   banks  Records of seven words: an odd stride, so that lanes store theirs without conflict. In arrays, lanes store
//          words next to each other: no conflict either. Neighbours are gathered from all over the place, and meet in a
//          bank by chance.
//
// Contract
//   launch  any number of blocks of BLOCK threads, one-dimensional
//   in      SLICE words per block: seven arrays of BLOCK words for x, y, z, the three parts of the speed, and the mass;
//           from word LISTS on, NEIGHBOURS arrays of BLOCK words that name the particles' neighbours, modulo BLOCK
//   out     eight arrays of BLOCK words per block: the seven after the step, and how many neighbours were near
// Positions, speeds and masses are made small integers, so that every sum is exact in any order of operations.

namespace more_particles_detail {

constexpr unsigned BLOCK = 128;     // threads, particles
constexpr unsigned SLICE = 4096;    // words of input per block
constexpr unsigned LISTS = 1024;    // where the lists begin
constexpr unsigned NEIGHBOURS = 8;  // of each particle
constexpr float REACH = 512;        // what counts as near

struct Particle {
  float x, y, z, vx, vy, vz, mass;
};

static __device__ Particle particle(const unsigned* from, unsigned i) {
  return {float(from[i] % 1024),
          float(from[i + BLOCK] % 1024),
          float(from[i + 2 * BLOCK] % 1024),
          float(from[i + 3 * BLOCK] % 256) - 128,
          float(from[i + 4 * BLOCK] % 256) - 128,
          float(from[i + 5 * BLOCK] % 256) - 128,
          float(from[i + 6 * BLOCK] % 16 + 1)};
}

// `put` stores a particle in shared memory, `get` loads one.
template <class Put, class Get>
static __device__ __forceinline__ void drift(const unsigned* __restrict__ in, float* __restrict__ out, Put put,
                                             Get get) {
  const unsigned tid = threadIdx.x;
  const unsigned* from = in + size_t(blockIdx.x) * SLICE;
  float* to = out + size_t(blockIdx.x) * (8 * BLOCK);

  const Particle own = particle(from, tid);
  put(tid, own);
  __syncthreads();

  float ax = 0, ay = 0, az = 0, ux = 0, uy = 0, uz = 0, near = 0;
  for (unsigned k = 0; k < NEIGHBOURS; ++k) {
    const unsigned n = from[LISTS + k * BLOCK + tid] % BLOCK;
    const Particle other = get(n);
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    if (dx * dx + dy * dy + dz * dz < REACH * REACH) near += 1;
    ax += other.mass * dx;
    ay += other.mass * dy;
    az += other.mass * dz;
    ux += other.vx - own.vx;
    uy += other.vy - own.vy;
    uz += other.vz - own.vz;
  }

  const float vx = own.vx + ax / 64 + ux / 16, vy = own.vy + ay / 64 + uy / 16, vz = own.vz + az / 64 + uz / 16;
  to[tid] = own.x + vx / 16;
  to[tid + BLOCK] = own.y + vy / 16;
  to[tid + 2 * BLOCK] = own.z + vz / 16;
  to[tid + 3 * BLOCK] = vx;
  to[tid + 4 * BLOCK] = vy;
  to[tid + 5 * BLOCK] = vz;
  to[tid + 6 * BLOCK] = own.mass;
  to[tid + 7 * BLOCK] = near;
}

}  // namespace more_particles_detail

__global__ void __launch_bounds__(more_particles_detail::BLOCK)
    more_particles_aos(const unsigned* __restrict__ in, float* __restrict__ out) {
  using namespace more_particles_detail;
  __shared__ Particle tile[BLOCK];
  drift(
      in, out, [&](unsigned i, const Particle& particle) { tile[i] = particle; }, [&](unsigned i) { return tile[i]; });
}

__global__ void __launch_bounds__(more_particles_detail::BLOCK)
    more_particles_soa(const unsigned* __restrict__ in, float* __restrict__ out) {
  using namespace more_particles_detail;
  __shared__ float xs[BLOCK], ys[BLOCK], zs[BLOCK], vxs[BLOCK], vys[BLOCK], vzs[BLOCK], masses[BLOCK];
  const auto put = [&](unsigned i, const Particle& particle) {
    xs[i] = particle.x;
    ys[i] = particle.y;
    zs[i] = particle.z;
    vxs[i] = particle.vx;
    vys[i] = particle.vy;
    vzs[i] = particle.vz;
    masses[i] = particle.mass;
  };
  drift(in, out, put, [&](unsigned i) { return Particle{xs[i], ys[i], zs[i], vxs[i], vys[i], vzs[i], masses[i]}; });
}
