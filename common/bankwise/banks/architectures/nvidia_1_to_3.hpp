// NVIDIA, compute capability 1.x to 3.x: Tesla, Fermi, Kepler. Evidence: CUDA C Programming Guide.
#pragma once

#include <bankwise/banks/architectures/rules.hpp>

namespace bankwise::banks::rows {

inline constexpr Citation old_guide = by_vendor(
    "CUDA C Programming Guide (the edition with a chapter on 3.0), appendix F, chapter of this compute capability");
inline constexpr Rule no_old_atomics =
    refused(all_atomics, any_width, "no rule for its shared-memory atomics has been published or measured");
inline constexpr Known<std::span<const GpuModel>> no_old_model{
    std::nullopt, "programs for CUDA 13, which the emulator plays, do not run on GPUs this old"};

inline constexpr std::array tesla{
    rule(loads, any_width, consecutive(16), old_guide)
        .with_banks(banks16)
        .split_into(4)
        .served_by(Serving::one_broadcast),
    rule(stores, any_width, consecutive(16),
         by_inference("the guide describes a broadcast for loads only; for stores it says that one lane per address "
                      "writes"))
        .with_banks(banks16)
        .split_into(4)
        .served_by(Serving::addresses),
    no_old_atomics,
};

inline constexpr std::array fermi{
    rule(both, word, consecutive(32), old_guide).with_total(Total::worst),
    rule(both, bytes({8}), consecutive(16), old_guide).with_total(Total::worst),
    rule(both, bytes({12}), consecutive(32), old_guide).split_into(4),
    rule(both, bytes({16}), consecutive(8), old_guide).with_total(Total::worst_plus_one),
    no_old_atomics,
};

/// The same for both bank modes.
constexpr auto kepler(Banks banks) {
  return std::array{
      rule(both, word, consecutive(32), old_guide).with_banks(banks),
      rule(both, bytes({8}), consecutive(32),
           by_inference("the guide's bank rows hold 32 x 8 bytes, so that one request can serve a warp"))
          .with_banks(banks),
      rule(both, bytes({12}), consecutive(32),
           by_inference("by analogy with the CUDA C Programming Guide 4.2, appendix F"))
          .with_banks(banks)
          .split_into(4),
      rule(both, bytes({16}), consecutive(16),
           by_inference("512 bytes of a warp against 256 a clock: at least two requests"))
          .with_banks(banks),
      no_old_atomics,
  };
}
// In the mode of four-byte banks, two words of a bank are served together if they lie in one aligned run of 64 words.
inline constexpr auto kepler_four_byte = kepler({.count = 32, .bytes = 4, .row_bytes = 256});
inline constexpr auto kepler_eight_byte = kepler({.count = 32, .bytes = 8, .row_bytes = 256});
inline constexpr Known<Multiprocessor> tesla_multiprocessor{Multiprocessor{16 * KiB, 16 * KiB, 0, 512, 1024, 8}};
inline constexpr Known<Multiprocessor> fermi_multiprocessor{Multiprocessor{48 * KiB, 48 * KiB, 0, 128, 1536, 8}};
inline constexpr Known<Multiprocessor> kepler_multiprocessor{Multiprocessor{48 * KiB, 48 * KiB, 0, 256, 2048, 16}};

inline constexpr Known<Sectors> no_tesla_sectors{
    std::nullopt, "compute capability 1.x moves segments of 32, 64 or 128 bytes for each half-warp: not modelled"};
inline constexpr Known<Sectors> no_fermi_sectors{
    std::nullopt,
    "compute capability 2.x moves cache lines of 128 bytes or, past the L1 cache, sectors of 32 bytes: not modelled"};
inline constexpr Known<Sectors> kepler_sectors{Sectors{
    32, 128, Evidence::vendor,
    "CUDA C Programming Guide, global memory of compute capability 3.x: cached in L2, in segments of 32 bytes"}};

// Name, other names, GPUs; lanes of a warp, by default and at most; rules; what to know before trusting the numbers;
// multiprocessor, models, sectors.
inline constexpr Architecture nvidia_1_to_3[]{
    {"sm_13", "sm_10 sm_11 sm_12", "Tesla: 8800 GTX, GTX 280", 32, 32, tesla,
     "The hardware chooses the word that it broadcasts, so loads have a least and a greatest number of passes.",
     tesla_multiprocessor, no_old_model, no_tesla_sectors},
    {"sm_20", "sm_21", "Fermi: GTX 480, M2050", 32, 32, fermi,
     "Counted in ways, as its guide does: a 64-bit access without conflict is 1, a 128-bit access at least 2.",
     fermi_multiprocessor, no_old_model, no_fermi_sectors},
    {"sm_30", "sm_32 sm_35 sm_37 k40 gtxtitan", "Kepler, 4-byte banks: GTX 680, K20, K80", 32, 32, kepler_four_byte, "",
     kepler_multiprocessor, no_old_model, kepler_sectors},
    {"sm_30_eight_byte", "sm_32_eight_byte sm_35_eight_byte sm_37_eight_byte", "Kepler, 8-byte banks", 32, 32,
     kepler_eight_byte, "After cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte); the default is sm_30.",
     kepler_multiprocessor, no_old_model, kepler_sectors}};

}  // namespace bankwise::banks::rows
