// SPDX-License-Identifier: MIT
//
// Mutations of .cuh files, compiled for GPUs. The build makes the included files (make_mutant).
#include <string_view>

namespace barrier_removed {
#include "mutants/barrier_removed.cuh"
}
namespace barrier_for_half {
#include "mutants/barrier_for_half.cuh"
}
namespace stores_past_the_end {
#include "mutants/stores_past_the_end.cuh"
}
namespace total_forgotten {
#include "mutants/total_forgotten.cuh"
}
namespace index_of_32_bits {
#include "mutants/index_of_32_bits.cuh"
}
namespace never_waits {
#include "mutants/never_waits.cuh"
}
namespace silent_tiles {
#include "mutants/silent_tiles.cuh"
}
namespace ring_never_waits {
#include "mutants/ring_never_waits.cuh"
}
namespace ring_silent_tiles {
#include "mutants/ring_silent_tiles.cuh"
}

namespace {

struct Mutant {
  const char* name;
  const void* kernel;
};
const Mutant mutants[]{
    {"barrier_removed", reinterpret_cast<const void*>(&barrier_removed::reduce_sequential)},
    {"barrier_for_half", reinterpret_cast<const void*>(&barrier_for_half::reduce_sequential)},
    {"stores_past_the_end", reinterpret_cast<const void*>(&stores_past_the_end::scan_naive)},
    {"total_forgotten", reinterpret_cast<const void*>(&total_forgotten::scan_naive)},
    {"index_of_32_bits", reinterpret_cast<const void*>(&index_of_32_bits::scan_naive)},
    {"never_waits", reinterpret_cast<const void*>(&never_waits::scan_look_back)},
    {"silent_tiles", reinterpret_cast<const void*>(&silent_tiles::scan_look_back)},
    {"ring_never_waits", reinterpret_cast<const void*>(&ring_never_waits::scan_ring)},
    {"ring_silent_tiles", reinterpret_cast<const void*>(&ring_silent_tiles::scan_ring)},
};

}  // namespace

const void* cuda_mutant(std::string_view mutation) {
  for (const Mutant& mutant : mutants) {
    if (mutant.name == mutation) return mutant.kernel;
  }
  return nullptr;
}
