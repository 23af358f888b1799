#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bankwise::gpu {

/// The shape of a group (block): `x` work-items in each of `y` rows, with dynamic shared memory besides arrays.
struct GroupShape {
  unsigned x = 1, y = 1;
  unsigned dynamic_shared = 0;  ///< bytes; CUDA only
  unsigned size() const { return x * y; }
  bool operator==(const GroupShape&) const = default;
};

/// One kernel in the forms that both APIs need. The build generates these from the .cuh and .cl files of a case study
/// (cmake/BankwiseCaseStudy.cmake); the strings live as long as the program.
///
/// The `repeated` forms run the shared-memory section `block_scope_repeats` times (see kernel_remarks.hpp). They are
/// empty for a kernel that has no such section.
struct KernelImage {
  std::string_view name;           ///< the name of the function: "reduce_packed"
  std::string_view opencl_file;    ///< "reduction/packed.cl"; empty: no OpenCL port
  std::string_view opencl_source;  ///< OpenCL C 1.2
  const void* cuda = nullptr;      ///< the host handle of the __global__ function; null: built without CUDA
  const void* cuda_repeated = nullptr;
  bool has_section = false;
  std::string_view why_not_ported;  ///< why the kernel exists for one API only: gpu::why_not_ported() of its file
  unsigned cuda_capability = 0;     ///< the .cuh's "// Needs: compute capability 9.0", as 90; 0: any
  unsigned opencl_capability = 0;   ///< the .cl's, which applies to NVIDIA's devices only
};

/// A vendor's routine that does the whole job of a case study on a CUDA device. `stream` is a cudaStream_t; the
/// functions enqueue and do not wait. Errors: gpu::Error; gpu::Unsupported for an extent that is too large.
struct Library {
  std::string (*name)();  ///< name and version: "CUB 3.0.1"
  std::uint64_t (*workspace_bytes)(std::uint64_t height, std::uint64_t width);
  void (*enqueue)(void* stream, const void* in, void* out, void* workspace, std::uint64_t workspace_bytes,
                  std::uint64_t height, std::uint64_t width);
};

/// All of a case study that runs on a device.
struct KernelSet {
  std::span<const KernelImage> images;
  const Library* library = nullptr;  ///< null: built without it
};

}  // namespace bankwise::gpu
