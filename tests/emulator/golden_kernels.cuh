// Textbook kernels as in the well-known texts, for tables of the cost of their steps. One block each.

/// Sum of GROUP words, the first version of every course: lane l works where l is a multiple of 2s.
template <unsigned GROUP>
__global__ void reduce_modulo(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[GROUP];
  const unsigned tid = threadIdx.x;
  part[tid] = in[tid];
  __syncthreads();
  for (unsigned s = 1; s < GROUP; s *= 2) {
    if (tid % (2 * s) == 0) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) *out = part[0];
}

/// The same tree with the active lanes packed: whole warps fall idle, and the stride causes bank conflicts (Harris,
/// kernel 2).
template <unsigned GROUP>
__global__ void reduce_interleaved(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[GROUP];
  const unsigned tid = threadIdx.x;
  part[tid] = in[tid];
  __syncthreads();
  for (unsigned s = 1; s < GROUP; s *= 2) {
    const unsigned i = 2 * s * tid;
    if (i < GROUP) part[i] += part[i + s];
    __syncthreads();
  }
  if (tid == 0) *out = part[0];
}

/// Packed lanes on neighbouring words (Harris, kernel 3).
template <unsigned GROUP>
__global__ void reduce_sequential(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[GROUP];
  const unsigned tid = threadIdx.x;
  part[tid] = in[tid];
  __syncthreads();
  for (unsigned s = GROUP / 2; s > 0; s /= 2) {
    if (tid < s) part[tid] += part[tid + s];
    __syncthreads();
  }
  if (tid == 0) *out = part[0];
}

/// Where word i lies: one word of padding after every 2^shift, for each shift.
template <unsigned... shifts>
__device__ constexpr unsigned padded(unsigned i) {
  return (i + ... + (i >> shifts));
}

/// Blelloch's exclusive scan of TILE words by TILE / 2 threads, as in GPU Gems 3, chapter 39. Each thread loads and
/// stores one word of either half, so these accesses have no stride.
template <unsigned TILE, unsigned... shifts>
__global__ void scan_blelloch(const unsigned* in, unsigned* out) {
  __shared__ unsigned tree[padded<shifts...>(TILE)];
  const unsigned lane = threadIdx.x, other = lane + TILE / 2;
  tree[padded<shifts...>(lane)] = in[lane];
  tree[padded<shifts...>(other)] = in[other];

  unsigned step = 1;
  for (unsigned busy = TILE / 2; busy > 0; busy /= 2) {
    __syncthreads();
    if (lane < busy) {
      const unsigned left = step * (2 * lane + 1) - 1, right = left + step;
      tree[padded<shifts...>(right)] += tree[padded<shifts...>(left)];
    }
    step *= 2;
  }
  if (lane == 0) tree[padded<shifts...>(TILE - 1)] = 0;
  for (unsigned busy = 1; busy < TILE; busy *= 2) {
    step /= 2;
    __syncthreads();
    if (lane < busy) {
      const unsigned left = step * (2 * lane + 1) - 1, right = left + step;
      const unsigned sibling = tree[padded<shifts...>(left)];
      const unsigned before = tree[padded<shifts...>(right)];
      tree[padded<shifts...>(left)] = before;
      tree[padded<shifts...>(right)] = before + sibling;
    }
  }
  __syncthreads();
  out[lane] = tree[padded<shifts...>(lane)];
  out[other] = tree[padded<shifts...>(other)];
}

/// A tile of SIDE x SIDE words in rows of PITCH, one thread per word: rows in, columns out.
template <unsigned SIDE, unsigned PITCH, bool SWIZZLED>
__global__ void transpose_tile(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[SIDE][PITCH];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[y][SWIZZLED ? x ^ y : x] = in[y * SIDE + x];
  __syncthreads();
  out[y * SIDE + x] = tile[x][SWIZZLED ? y ^ x : y];
}

/// Sum of 256 records of four words, word by word. `Record` has a member `data` and determines the layout, and which
/// accesses a compiler may merge.
template <class Record>
__global__ void reduce_words(const uint4* in, uint4* out) {
  __shared__ Record part[256];
  const unsigned tid = threadIdx.x;
  const uint4 mine = in[tid];
  part[tid].data.x = mine.x;
  part[tid].data.y = mine.y;
  part[tid].data.z = mine.z;
  part[tid].data.w = mine.w;
  __syncthreads();
  for (unsigned s = 128; s > 0; s /= 2) {
    if (tid < s) {
      part[tid].data.x += part[tid + s].data.x;
      part[tid].data.y += part[tid + s].data.y;
      part[tid].data.z += part[tid + s].data.z;
      part[tid].data.w += part[tid + s].data.w;
    }
    __syncthreads();
  }
  if (tid == 0) *out = make_uint4(part[0].data.x, part[0].data.y, part[0].data.z, part[0].data.w);
}

/// The same records, each accessed as a whole.
__global__ void reduce_vectors(const uint4* in, uint4* out) {
  __shared__ uint4 part[256];
  const unsigned tid = threadIdx.x;
  part[tid] = in[tid];
  __syncthreads();
  for (unsigned s = 128; s > 0; s /= 2) {
    if (tid < s) {
      const uint4 a = part[tid], b = part[tid + s];
      part[tid] = make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
    __syncthreads();
  }
  if (tid == 0) *out = part[0];
}

/// The same for records at any address, such as a struct that is packed without aligned(4): a word is four loads or
/// stores of a byte. Written explicitly, because compilers differ in when they split accesses.
__global__ void reduce_bytes(const uint4* in, uint4* out) {
  struct Record {
    unsigned char data[16], pad[4];
  };
  __shared__ Record part[256];
  const unsigned tid = threadIdx.x;
  const auto load = [](const Record& record, unsigned word) {
    unsigned value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= unsigned(record.data[4 * word + i]) << (8 * i);
    return value;
  };
  const auto store = [](Record& record, unsigned word, unsigned value) {
    for (unsigned i = 0; i < 4; ++i) record.data[4 * word + i] = static_cast<unsigned char>(value >> (8 * i));
  };
  store(part[tid], 0, in[tid].x);
  store(part[tid], 1, in[tid].y);
  store(part[tid], 2, in[tid].z);
  store(part[tid], 3, in[tid].w);
  __syncthreads();
  for (unsigned s = 128; s > 0; s /= 2) {
    if (tid < s) {
      for (unsigned word = 0; word < 4; ++word) {
        store(part[tid], word, load(part[tid], word) + load(part[tid + s], word));
      }
    }
    __syncthreads();
  }
  if (tid == 0) *out = make_uint4(load(part[0], 0), load(part[0], 1), load(part[0], 2), load(part[0], 3));
}

struct __attribute__((packed, aligned(4))) FourWords {
  uint4 data;
};
struct __attribute__((packed, aligned(4))) FiveWords {
  uint4 data;
  unsigned pad;
};
