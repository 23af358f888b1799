// AMD: TeraScale 2, GCN, CDNA, RDNA. Limits: AMD's ISA manuals.
#pragma once

#include <bankwise/banks/architectures/rules.hpp>

namespace bankwise::banks::rows {

// Lanes that AMD's 16-byte loads serve together are not neighbours: {0-3, 20-23}, {4-7, 16-19} and so on.
inline constexpr LaneGroups cdna3_load16 = lane_groups_by({32, 16 ^ 4, 8});
inline constexpr LaneGroups cdna4_load16 = lane_groups_by({32, 16 ^ 8 ^ 4});

inline constexpr Rule queue_by_analogy =
    rule(queuing_atomics, bytes({4}), consecutive(32),
         by_inference("a bank does one atomic a cycle (ROCm Compute Profiler, LDS pipeline)"))
        .served_by(Serving::lanes);
inline constexpr Rule no_more_atomics = refused(all_atomics, any_width, "no rule for atomics of this kind is known");
inline constexpr Rule transposing_loads = refused(set_of({ds_read_tr}), bytes({8, 12, 16}),
                                                  "which banks the lanes of a transposing load share is not published");

inline constexpr std::array evergreen{
    rule(both, word, consecutive(32),
         by_inference("AMD APP guide (of the HD 7000 series); a reduction's 2, 6 and 14 conflicts published for this "
                      "GPU agree")),
    rule(loads, bytes({8, 16}), consecutive(16),
         by_vendor("AMD staff on a 64-bit read port a lane: community.amd.com/thread/140598"))
        .split_into(8),
    rule(stores, bytes({8, 16}), consecutive(32), by_inference("written word by word")).split_into(4),
    queue_by_analogy,
    no_more_atomics,
};

inline constexpr Citation mi300_counters =
    by_others("4-, 8- and 16-byte loads on MI300X: github.com/nod-ai/amd-shark-ai/pull/2919, github.com/tingqli/pyhip");
inline constexpr Citation mi300_stores =
    by_vendor("Composable Kernel's documentation; rocke: github.com/ROCm/rocm-libraries/pull/11096");
inline constexpr Citation mi355_pairs =
    by_others("all lane pairs on gfx950: HipKittens, github.com/HazyResearch/HipKittens");
inline constexpr Citation gfx90a_code =
    by_vendor("lane groups in AMD's rocke: github.com/ROCm/rocm-libraries/pull/11094");
inline constexpr Citation gfx950_code =
    by_vendor("AMD's rocke and rocRoller: github.com/ROCm/rocm-libraries/pull/11097 and pull/2157");
inline constexpr Citation rdna_timing =
    by_others("timing of 4-, 8- and 16-byte loads on gfx1100 and gfx1201: github.com/nod-ai/amd-shark-ai/pull/2919");
inline constexpr Citation like_mi300 = by_inference("as measured on gfx942");
inline constexpr Citation like_cdna = by_inference("by analogy with CDNA");
inline constexpr Citation like_rdna3 = by_inference("as measured on gfx1100");
inline constexpr Citation like_other_widths = by_inference("the lanes of 16-byte accesses; 12-byte ones take as long");

/// Loads of 8 and 16 bytes differ from generation to generation; the rest is the same since GCN.
struct WideLoads {
  LaneGroups of_8_bytes, of_16_bytes;
  Banks banks{};
};
struct GcnCitations {
  Citation word_loads, wide_loads, stores;
};
constexpr auto gcn_rules(WideLoads wide, GcnCitations by, LaneGroups load12 = cdna3_load16,
                         Citation by12 = like_other_widths) {
  return std::array{
      rule(loads, word, consecutive(32), by.word_loads),
      rule(stores, word, consecutive(32), by.stores),
      rule(loads, bytes({8}), wide.of_8_bytes, by.wide_loads).with_banks(wide.banks),
      rule(loads, bytes({16}), wide.of_16_bytes, by.wide_loads).with_banks(wide.banks),
      rule(stores, bytes({8}), consecutive(16), by.stores),
      rule(stores, bytes({16}), consecutive(8), by.stores),
      rule(stores, bytes({12}), consecutive(8), like_other_widths),
      queue_by_analogy,
      no_more_atomics,
      rule(loads, bytes({12}), load12, by12),
  };
}
inline constexpr WideLoads cdna_loads{consecutive(16), cdna3_load16};

inline constexpr auto gcn = gcn_rules(cdna_loads, {like_mi300, like_mi300, like_mi300});
inline constexpr auto cdna2 = gcn_rules(cdna_loads, {gfx90a_code, gfx90a_code, gfx90a_code});
inline constexpr auto cdna3 = gcn_rules(cdna_loads, {mi300_counters, mi300_counters, mi300_stores});
inline constexpr auto cdna4 = extended(gcn_rules({consecutive(32), cdna4_load16, banks64},
                                                 {gfx950_code, mi355_pairs, gfx950_code}, cdna3_load16, mi355_pairs),
                                       transposing_loads);
inline constexpr auto rdna2 = gcn_rules(cdna_loads, {like_rdna3, like_rdna3, like_cdna});
inline constexpr auto rdna3 = gcn_rules(cdna_loads, {rdna_timing, rdna_timing, like_cdna});
inline constexpr auto rdna4 =
    gcn_rules({consecutive(16), consecutive(8)}, {rdna_timing, rdna_timing, like_cdna}, consecutive(8));

inline constexpr Citation gfx1250_engineer = by_vendor(
    "64 banks: github.com/llvm/llvm-project/pull/219063; lanes, confirmed by AMD's simulator: triton/lds of "
    "github.com/jerryyin/scripts, an engineer of AMD");
inline constexpr std::array gfx1250_rules{
    // With 64 banks a word access would have conflicts in fewer cases, so 32 never hide one.
    rule(both, word, consecutive(32), by_inference("32 banks, as gfx950 has for accesses of this width")),
    rule(loads, bytes({8}), consecutive(32), gfx1250_engineer).with_banks(banks64),
    rule(loads, bytes({16}), consecutive(16), gfx1250_engineer).with_banks(banks64),
    rule(loads, bytes({12}), consecutive(16), like_other_widths).with_banks(banks64),
    refused(stores, bytes({8, 12, 16}), "which lanes of a wide store are served together is not published"),
    queue_by_analogy,
    no_more_atomics,
    transposing_loads,
};

constexpr Known<Multiprocessor> unit_with(std::uint32_t kib, std::uint32_t allocated_in = 512) {
  return {Multiprocessor{kib * KiB, kib * KiB, 0, allocated_in, std::nullopt, std::nullopt}};
}
inline constexpr Known<Multiprocessor> no_amd_limits{std::nullopt, "its limits have not been taken from AMD's manuals"};
inline constexpr Known<std::span<const GpuModel>> no_amd_model{std::nullopt,
                                                               "the emulator plays GPUs with CUDA's properties"};
inline constexpr Known<Sectors> no_evergreen_sectors{std::nullopt,
                                                     "no good source for how it divides accesses to global memory"};
// The L1 cache of compute units is accessed in whole lines.
inline constexpr Known<Sectors> gcn_sectors{
    Sectors{64, 64, Evidence::vendor, "ROCm Compute Profiler's documentation, vector L1 cache and L2 cache"}};
inline constexpr Known<Sectors> cdna2_sectors{
    Sectors{64, 128, Evidence::vendor, "ROCm Compute Profiler's documentation, vector L1 cache and L2 cache"}};
inline constexpr Known<Sectors> cdna3_sectors{
    Sectors{128, 128, Evidence::vendor, "cache lines of MI300: github.com/ROCm/rocprofiler-compute/pull/446"}};
inline constexpr Known<Sectors> like_cdna3_sectors{Sectors{128, 128, Evidence::inferred, "cache lines as on gfx942"}};
inline constexpr Known<Sectors> rdna_sectors{
    Sectors{128, 128, Evidence::inferred, "L2 cache lines since gfx10: Mesa, src/amd/common/ac_gpu_info.c"}};
inline constexpr std::string_view wave64 =
    "We assume that a wave of 64 lanes is served as two of 32, one after the other; no source confirms it.";

// Name, other names, GPUs; lanes of a warp, by default and at most; rules; what to know before trusting the numbers;
// multiprocessor, models, sectors.
inline constexpr Architecture amd[]{
    {"hd5870", "cypress evergreen terascale2", "TeraScale 2: Radeon HD 5870", 64, 64, evergreen, "", no_amd_limits,
     no_amd_model, no_evergreen_sectors},
    {"gcn", "gfx700 gfx701 gfx801 gfx802 gfx803 gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c mi25 mi60 radeonvii",
     "GCN: R9 290, RX 580, Vega, MI50", 64, 64, gcn, "A few small APUs have 16 banks.", unit_with(64), no_amd_model,
     gcn_sectors},
    {"gfx908", "", "CDNA: MI100", 64, 64, gcn, "", unit_with(64), no_amd_model, gcn_sectors},
    {"gfx90a", "mi250x", "CDNA 2: MI210, MI250", 64, 64, cdna2,
     "An AMD tool models some stores with fewer conflicts than these.", unit_with(64), no_amd_model, cdna2_sectors},
    {"gfx942", "gfx940 gfx941", "CDNA 3: MI300A, MI300X, MI325X", 64, 64, cdna3, "", unit_with(64), no_amd_model,
     cdna3_sectors},
    {"gfx950", "", "CDNA 4: MI350, MI355X", 64, 64, cdna4,
     "It has 64 banks, also according to LLVM (pull/220632), but only loads of 8 and 16 bytes use more than 32 of them "
     "at "
     "the same time. One guide says that loads of 4 bytes do, too.",
     unit_with(160, 1280), no_amd_model, like_cdna3_sectors},
    {"gfx1030",
     "gfx1010 gfx1011 gfx1012 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 rx5700xt rx6800xt rx6900xt w6800",
     "RDNA 1 and 2: RX 5700, RX 6800", 32, 64, rdna2, wave64, no_amd_limits, no_amd_model, rdna_sectors},
    {"gfx1100", "gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 rx7600 rx7900xt rx7900xtx w7900", "RDNA 3: RX 7900",
     32, 64, rdna3, wave64, no_amd_limits, no_amd_model, rdna_sectors},
    {"gfx1201", "gfx1200 rx9060xt rx9070xt", "RDNA 4: RX 9070", 32, 64, rdna4, wave64, no_amd_limits, no_amd_model,
     rdna_sectors},
    {"gfx1250",
     "gfx1251",
     "gfx1250: MI450",
     32,
     32,
     gfx1250_rules,
     "Nobody has published counters of the hardware; what supports these rules are AMD's words and its simulator.",
     unit_with(320, 2048),
     no_amd_model,
     {std::nullopt, "no source for the cache lines of this GPU"}}};

}  // namespace bankwise::banks::rows
