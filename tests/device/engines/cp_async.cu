// Whole kernels of cp.async, which hardware counters measure: `tools/counters.py copies` runs this program under ncu.
//
//     cp_async SEED COUNT KERNELS.csv
//
// makes COUNT kernels by SEED, writes their parameters with each lane's addresses to KERNELS.csv, and launches them in
// this order. In a kernel, copy c of warp w in block b has for each lane
//     destination = (a[lane] + w * a_warp + c * a_copy) mod a_ring, bytes from the start of shared memory,
//     source = (s[lane] + w * s_warp + c * s_copy + b * s_block) mod s_ring, bytes from a boundary of 1 MiB.
// Exit codes: 0 ok, 2 usage, 3 the device failed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "copy_kernels.hpp"

namespace {

using namespace copies;

enum class Form { ca4, ca8, ca16, cg16, cg16_prefetch };  ///< through the L1 cache, or past it
struct Parameters {
  std::uint32_t width, copies, wait_every, pending, warm, exits;
  std::uint32_t a_warp, a_copy, a_ring, s_warp, s_copy, s_block, s_ring;
  std::uint32_t mask, zero_lanes, zero_bytes;
  std::uint32_t a[32], s[32];
};

// The instruction, perhaps predicated by `active`, after PREPARE and with REST.
#define COPY_WITH(INSTRUCTION, PREPARE, REST)  \
  if constexpr (guarded) {                     \
    COPY_OF("@p " INSTRUCTION, PREPARE, REST); \
  } else {                                     \
    COPY_OF(INSTRUCTION, PREPARE, REST);       \
  }
#define COPY_OF(INSTRUCTION, PREPARE, REST)                                                                   \
  asm volatile("{.reg .pred p, q; setp.ne.u32 p, %2, 0; " PREPARE INSTRUCTION REST ";}" ::"r"(to), "l"(from), \
               "r"(active), "r"(size)                                                                         \
               : "memory")
#define COPY(INSTRUCTION, WIDTH)                                                   \
  if constexpr (fill == Fill::none) {                                              \
    COPY_WITH(INSTRUCTION, "", " [%0], [%1], " WIDTH);                             \
  } else if constexpr (fill == Fill::size || fill == Fill::all_or_none) {          \
    COPY_WITH(INSTRUCTION, "", " [%0], [%1], " WIDTH ", %3");                      \
  } else {                                                                         \
    COPY_WITH(INSTRUCTION, "setp.eq.u32 q, %3, 0; ", " [%0], [%1], " WIDTH ", q"); \
  }

template <Form form, Fill fill, bool guarded>
__device__ void copy(unsigned to, const char* from, unsigned active, unsigned size) {
#if __CUDA_ARCH__ >= 800
  if constexpr (form == Form::ca4) {
    COPY("cp.async.ca.shared.global", "4")
  } else if constexpr (form == Form::ca8) {
    COPY("cp.async.ca.shared.global", "8")
  } else if constexpr (form == Form::ca16) {
    COPY("cp.async.ca.shared.global", "16")
  } else if constexpr (form == Form::cg16) {
    COPY("cp.async.cg.shared.global", "16")
  } else {
    COPY("cp.async.cg.shared.global.L2::128B", "16")
  }
#endif
}

__device__ void commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

__device__ void wait(unsigned pending) {
#if __CUDA_ARCH__ >= 800
  if (pending == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
  if (pending == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
  if (pending == 2) asm volatile("cp.async.wait_group 2;" ::: "memory");
  if (pending >= 3) asm volatile("cp.async.wait_group 3;" ::: "memory");
#endif
}

template <Form form, Fill fill, bool guarded>
__global__ void run_copies(const Parameters* parameters, const char* sources, unsigned* out) {
  extern __shared__ __align__(1024) char shared[];
  const unsigned base = unsigned(__cvta_generic_to_shared(shared));
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Parameters p = *parameters;
  const unsigned a = parameters->a[lane] + warp * p.a_warp;
  const unsigned s = parameters->s[lane] + warp * p.s_warp + blockIdx.x * p.s_block;
  const unsigned active = p.mask >> lane & 1;
  constexpr unsigned width = form == Form::ca4 ? 4 : form == Form::ca8 ? 8 : 16;
  const unsigned rest = fill == Fill::all_or_none ? 0 : p.zero_bytes;
  const unsigned size = (p.zero_lanes >> lane & 1) != 0 ? rest : width;
  unsigned seen = 0;
  for (unsigned c = 0; p.warm != 0 && c < p.copies; ++c) {
    const char* from = sources + ((s + c * p.s_copy) & (p.s_ring - 1));
    unsigned word;
    if (p.warm == 1) {
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(from));
    } else {
      asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(word) : "l"(from));
    }
    seen += word;
  }
  if (seen == 12345) *out = seen;
  if (p.exits != 0 && active == 0) return;
#pragma unroll 1
  for (unsigned c = 0, left = p.wait_every; c < p.copies; ++c) {
    unsigned now;  // hidden from the compiler, which would branch around the copy instead of predicating it
    asm volatile("mov.u32 %0, %1;" : "=r"(now) : "r"(active));
    copy<form, fill, guarded>(base + ((a + c * p.a_copy) & (p.a_ring - 1)),
                              sources + ((s + c * p.s_copy) & (p.s_ring - 1)), now, size);
    commit();
    if (--left == 0) {
      wait(p.pending);
      left = p.wait_every;
    }
  }
  wait(0);
}

using Function = void (*)(const Parameters*, const char*, unsigned*);

template <Form form, bool guarded>
Function with_fill(Fill fill) {
  switch (fill) {
    case Fill::size: return run_copies<form, Fill::size, guarded>;
    case Fill::all_or_none: return run_copies<form, Fill::all_or_none, guarded>;
    case Fill::ignore: return run_copies<form, Fill::ignore, guarded>;
    default: return run_copies<form, Fill::none, guarded>;
  }
}

template <Form form>
Function of_form(const Kernel& kernel) {
  return kernel.guarded ? with_fill<form, true>(kernel.fill) : with_fill<form, false>(kernel.fill);
}

Function function(const Kernel& kernel) {
  if (kernel.prefetch) return of_form<Form::cg16_prefetch>(kernel);
  if (!kernel.through_l1) return of_form<Form::cg16>(kernel);
  if (kernel.width == 4) return of_form<Form::ca4>(kernel);
  return kernel.width == 8 ? of_form<Form::ca8>(kernel) : of_form<Form::ca16>(kernel);
}

bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) std::fprintf(stderr, "cp_async: %s\n", cudaGetErrorString(error));
  return error == cudaSuccess;
}

Parameters parameters(const Kernel& k) {
  Parameters p{k.width,
               k.copies,
               k.wait_every,
               k.pending,
               unsigned(k.warm),
               k.off == Off::exited,
               k.a_warp,
               k.a_copy,
               k.a_ring,
               k.s_warp,
               k.s_copy,
               k.s_block,
               k.s_ring,
               k.mask,
               k.zero_lanes,
               k.zero_bytes,
               {},
               {}};
  std::copy_n(k.a, 32, p.a);
  std::copy_n(k.s, 32, p.s);
  return p;
}

int launch(const std::vector<Kernel>& kernels) {
  char* sources = nullptr;
  Parameters* on_device = nullptr;
  // Lanes near the end of the ring read beyond it.
  if (!succeeded(cudaMalloc(&sources, source_bytes + (2u << 20)))) return 3;
  if (!succeeded(cudaMalloc(&on_device, kernels.size() * sizeof(Parameters)))) return 3;
  if (!succeeded(cudaMemset(sources, 0, source_bytes + (2u << 20)))) return 3;
  const char* aligned = sources + (-reinterpret_cast<std::uintptr_t>(sources) & ((1u << 20) - 1));
  std::vector<Parameters> all;
  for (const Kernel& kernel : kernels) all.push_back(parameters(kernel));
  if (!succeeded(cudaMemcpy(on_device, all.data(), all.size() * sizeof(Parameters), cudaMemcpyHostToDevice))) return 3;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    function(kernels[i])<<<kernels[i].blocks, kernels[i].warps * 32, shared_bytes + 1024>>>(
        on_device + i, aligned, reinterpret_cast<unsigned*>(sources));
    if (!succeeded(cudaGetLastError())) return 3;
  }
  return succeeded(cudaDeviceSynchronize()) ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: cp_async SEED COUNT KERNELS.csv\n", stderr);
    return 2;
  }
  const auto kernels =
      kernels_by(std::uint32_t(std::strtoul(argv[1], nullptr, 10)), std::strtoul(argv[2], nullptr, 10));
  if (!write(kernels, argv[3])) {
    std::fprintf(stderr, "cp_async: cannot write %s\n", argv[3]);
    return 3;
  }
  return launch(kernels);
}
