// SPDX-License-Identifier: MIT
//
// Accesses to shared memory that the repository's kernels do not make. They are compiled and never run. After "//="
// stands the opcode that the line becomes; for compute capability 7.5, its loads have a ".U" more. "from" says which
// compute capability is the first with that opcode.
#include <cuda_fp16.h>

#include <cstdint>

extern __shared__ __align__(128) unsigned char dynamic[];

__device__ unsigned address_of(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }

template <class T>
__device__ T* shared_as() {
  return reinterpret_cast<T*>(dynamic);
}

__global__ void widths(int* out, double2* wide, int n) {
  const int tid = threadIdx.x;
  shared_as<volatile unsigned char>()[tid] = n;        //= STS.U8
  shared_as<volatile unsigned short>()[tid + 64] = n;  //= STS.U16
  shared_as<volatile int>()[tid + 64] = n;             //= STS
  shared_as<volatile long long>()[tid + 64] = n;       //= STS.64
  shared_as<double2>()[tid + 64] = wide[tid];          //= STS.128
  __syncthreads();
  out[0] = shared_as<volatile unsigned char>()[n];       //= LDS.U8
  out[1] = shared_as<volatile signed char>()[n + 1];     //= LDS.S8
  out[2] = shared_as<volatile unsigned short>()[n + 2];  //= LDS.U16
  out[3] = shared_as<volatile short>()[n + 3];           //= LDS.S16
  out[4] = shared_as<volatile int>()[n + 4];             //= LDS
  wide[1].x = shared_as<volatile double>()[n + 5];       //= LDS.64
  wide[2] = shared_as<double2>()[n + 6];                 //= LDS.128
}

__global__ void atomics(unsigned* out, int* out_int, int n) {
  unsigned* word = shared_as<unsigned>() + n + threadIdx.x;
  out[0] = atomicAdd(word, n + threadIdx.x);        //= ATOMS.ADD
  out[1] = atomicMin(word, n);                      //= ATOMS.MIN
  out[2] = atomicMax(word, n);                      //= ATOMS.MAX
  out[3] = atomicAnd(word, n);                      //= ATOMS.AND
  out[4] = atomicOr(word, n);                       //= ATOMS.OR
  out[5] = atomicXor(word, n);                      //= ATOMS.XOR
  out[6] = atomicExch(word, n);                     //= ATOMS.EXCH
  out[7] = atomicInc(word, n);                      //= ATOMS.INC
  out[8] = atomicDec(word, n);                      //= ATOMS.DEC
  out[9] = atomicCAS(word, threadIdx.x, n);         //= ATOMS.CAS
  out_int[0] = atomicMin(shared_as<int>() + n, n);  //= ATOMS.MIN.S32
  out_int[1] = atomicMax(shared_as<int>() + n, n);  //= ATOMS.MAX.S32
  atomicAdd(word + 40, 1);                          //= ATOMS.POPC.INC.32 from 80
}

__global__ void wide_atomics(unsigned long long* out, float* out_float, double* out_double, __half2* halves, int n) {
  auto* word = shared_as<unsigned long long>() + threadIdx.x;
  out[0] = atomicExch(word, n);                                       //= ATOMS.EXCH.64
  out[1] = atomicCAS(word, out[2], n);                                //= ATOMS.CAS.64
  out[3] = atomicAdd(word, n);                                        //= ATOMS.CAST.SPIN.64
  out_float[0] = atomicAdd(shared_as<float>() + n, out_float[1]);     //= ATOMS.CAST.SPIN
  out_double[0] = atomicAdd(shared_as<double>() + n, out_double[1]);  //= ATOMS.CAST.SPIN.64
  atomicAdd(shared_as<__half2>() + n, halves[0]);                     //= ATOMS.CAST.SPIN
}

__global__ void generic(unsigned* out, int n) {
  unsigned* word = (n & 1) != 0 ? shared_as<unsigned>() : out;
  word[threadIdx.x] = n;
  reinterpret_cast<uint4*>(word)[n] = reinterpret_cast<uint4*>(out)[8];
  reinterpret_cast<unsigned char*>(word)[n + 1] = 3;
  __syncthreads();
  out[1] = word[n];
  out[2] = atomicAdd(word + n, n);
  out[3] = atomicCAS(word, n, n + 1);
  out[4] = reinterpret_cast<short*>(word)[n];
  reinterpret_cast<uint4*>(out)[9] = reinterpret_cast<uint4*>(word)[n + 1];
}

#define LOAD(shape, ...) asm volatile("ldmatrix.sync.aligned.m8n8." shape ".shared.b16 " __VA_ARGS__)

__global__ void load_matrices(uint4* out, int n) {
  const unsigned from = address_of(dynamic + threadIdx.x * 16 + n);
  uint4 v{};
  LOAD("x1", "{%0}, [%1];" : "=r"(v.x) : "r"(from));  //= LDSM.16.M88
  out[0] = v;
  LOAD("x2", "{%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(from));  //= LDSM.16.M88.2
  out[1] = v;
  LOAD("x4", "{%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from));  //= LDSM.16.M88.4
  out[2] = v;
  LOAD("x1.trans", "{%0}, [%1];" : "=r"(v.x) : "r"(from));  //= LDSM.16.MT88
  out[3] = v;
}

#if __CUDA_ARCH__ >= 800
#define COPY(how, ...) asm volatile("cp.async." how " [%0], [%1], " __VA_ARGS__)

__global__ void copies(uint4* from, int n) {
  const unsigned to = address_of(dynamic + threadIdx.x * 16 + n);
  COPY("ca.shared.global", "4;" ::"r"(to), "l"(from));               //= LDGSTS.E from 80
  COPY("ca.shared.global", "8;" ::"r"(to), "l"(from));               //= LDGSTS.E.64 from 80
  COPY("ca.shared.global", "16;" ::"r"(to), "l"(from));              //= LDGSTS.E.128 from 80
  COPY("cg.shared.global", "16;" ::"r"(to), "l"(from));              //= LDGSTS.E.BYPASS.128 from 80
  COPY("cg.shared.global", "16, %2;" ::"r"(to), "l"(from), "r"(n));  //= LDGSTS.E.BYPASS.128.ZFILL from 80
  COPY("ca.shared.global.L2::128B", "8;" ::"r"(to), "l"(from));      //= LDGSTS.E.LTC128B.64 from 80
  COPY("cg.shared.global.L2::64B", "16;" ::"r"(to), "l"(from));      //= LDGSTS.E.BYPASS.LTC64B.128 from 80
  COPY("cg.shared.global.L2::256B", "16;" ::"r"(to), "l"(from));     //= LDGSTS.E.BYPASS.LTC256B.128 from 80
}
#endif

#if __CUDA_ARCH__ >= 900
#define STORE(shape, ...) asm volatile("stmatrix.sync.aligned.m8n8." shape ".shared.b16 " __VA_ARGS__)

__global__ void store_matrices(const uint4* in, int n) {
  const unsigned to = address_of(dynamic + threadIdx.x * 16 + n);
  const uint4 v = in[0];
  STORE("x1", "[%0], {%1};" ::"r"(to), "r"(v.x));                                            //= STSM.16.M88 from 90
  STORE("x2", "[%0], {%1, %2};" ::"r"(to), "r"(v.x), "r"(v.y));                              //= STSM.16.M88.2 from 90
  STORE("x4", "[%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));  //= STSM.16.M88.4 from 90
  STORE("x1.trans", "[%0], {%1};" ::"r"(to), "r"(v.x));                                      //= STSM.16.MT88 from 90
}

#define REMOTE(what, ...) asm volatile(what " [%0], " __VA_ARGS__, "r"(barrier))
#define STORE_ASYNC "st.async.shared::cluster.mbarrier::complete_tx::bytes."
#define REDUCE_ASYNC "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."

__global__ void remote(int n) {
  const unsigned to = address_of(dynamic + threadIdx.x * 16), barrier = address_of(dynamic) + n;
  REMOTE(STORE_ASYNC "u32", "%1, [%2];" ::"r"(to), "r"(n));                   //= STAS from 90
  REMOTE(STORE_ASYNC "v4.b32", "{%1, %1, %1, %1}, [%2];" ::"r"(to), "r"(n));  //= STAS.128 from 90
  REMOTE(REDUCE_ASYNC "add.u32", "%1, [%2];" ::"r"(to), "r"(n));              //= REDAS.ADD from 90
}
#endif
