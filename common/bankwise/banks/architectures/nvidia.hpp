// NVIDIA. Limits of compute capability 5.x and newer: CUDA C++ Programming Guide, technical specifications per compute
// capability.
#pragma once

#include <bankwise/banks/architectures/rules.hpp>

namespace bankwise::banks::rows {

inline constexpr Citation guide_5 =
    by_vendor("CUDA C++ Programming Guide, shared memory of compute capability 5.x, 6.x and 7.x");
inline constexpr Citation maxas =
    by_inference("conflict-free orders of 128-bit loads on Maxwell, github.com/NervanaSystems/maxas/wiki/SGEMM");
inline constexpr Citation nvidia_forum = by_vendor("NVIDIA's forum on Turing: forums.developer.nvidia.com/t/77228");
inline constexpr Citation a100_counters =
    by_others("Nsight Compute on an A100 (8.0; 8.6 to 8.8 by analogy): zhuanlan.zhihu.com/p/690052715");
inline constexpr Citation h200_counters =
    by_measurement("hardware counters of an H200: tests/data/h200_wavefronts.csv");
inline constexpr Citation h200_atomics = by_measurement("hardware counters of an H200: tests/data/h200_atomics.csv");
inline constexpr Citation h200_copies = by_measurement("hardware counters of an H200: tests/data/h200_cp_async.csv");
inline constexpr Citation h200_copy_kernels =
    by_measurement("hardware counters of an H200: tests/data/h200_copy_kernels.csv");
inline constexpr Citation rtx_5090_counters =
    by_others("Nsight Compute on an RTX 5090: shared_bank_conflicts.md of github.com/cicuvc/nvidia-sass-document");
inline constexpr Citation like_hopper = by_inference("as measured on compute capability 9.0");

/// The evidence, by kind of access: all that differs between these architectures.
struct Citations {
  Citation words = like_hopper, wide_loads = like_hopper, wide_stores = like_hopper, atomics = like_hopper,
           wide_atomics = like_hopper;
};

constexpr auto maxwell_and_newer(Citations by) {
  return std::array{
      rule(both, word, consecutive(32), by.words),
      rule(loads, bytes({8}), consecutive(16), by.wide_loads).with_merging(),
      rule(loads, bytes({16}), consecutive(8), by.wide_loads).with_merging(),
      rule(stores, bytes({8}), consecutive(16), by.wide_stores),
      rule(stores, bytes({16}), consecutive(8), by.wide_stores),
      rule(both, bytes({12}), consecutive(32), by_inference("no such instruction: compilers emit three of 4 bytes"))
          .split_into(4),
      rule(set_of({atomic}), bytes({4}), consecutive(32), by.atomics).served_by(Serving::lanes),
      rule(set_of({atomic_inc}), bytes({4}), consecutive(32), by.atomics),
      rule(set_of({atomic_cas}), bytes({4}), consecutive(32), by.atomics).served_by(Serving::lanes).in_rounds(2),
      rule(set_of({atomic}), bytes({8}), consecutive(16), by.wide_atomics).served_by(Serving::lanes),
      rule(set_of({atomic_cas}), bytes({8}), consecutive(16), by.wide_atomics).served_by(Serving::lanes).in_rounds(2),
      refused(all_atomics, any_width, "there is no such instruction of this width, or it has not been measured"),
  };
}

constexpr Rule matrix_loads(Citation citation) {
  return rule(set_of({ldmatrix_x1, ldmatrix_x2, ldmatrix_x4}), bytes({16}), consecutive(8), citation);
}
constexpr Rule matrix_loads_and_stores(Citation citation) {
  return rule(set_of({ldmatrix_x1, ldmatrix_x2, ldmatrix_x4, stmatrix_x1, stmatrix_x2, stmatrix_x4}), bytes({16}),
              consecutive(8), citation);
}

/// cp.async: lanes of 128 bytes are served together; the slots of 128 bytes are their banks.
constexpr Rule copies(unsigned width, Citation citation) {
  return rule(set_of({cp_async}), bytes({width}), consecutive(128 / width), citation)
      .with_banks({.count = 128 / width, .bytes = width, .row_bytes = 128})
      .served_by(Serving::copies);
}
/// cp.async past the L1 cache: slots of 16 bytes, whose banks are those of a line.
constexpr Rule copies_past_l1(Citation citation) {
  return rule(set_of({cp_async_cg}), bytes({16}), consecutive(32), citation)
      .with_banks({.count = 8, .bytes = 16, .row_bytes = 128})
      .served_by(Serving::lines);
}
template <std::size_t n>
constexpr auto with_copies(const std::array<Rule, n>& rules, Citation through_l1, Citation past_l1) {
  return extended(rules, copies(4, through_l1), copies(8, through_l1), copies(16, through_l1), copies_past_l1(past_l1));
}

inline constexpr auto maxwell = maxwell_and_newer({.words = guide_5, .wide_loads = maxas});
inline constexpr auto pascal = maxwell_and_newer({.words = guide_5});
inline constexpr auto volta = maxwell_and_newer({.words = guide_5, .wide_loads = nvidia_forum});
inline constexpr auto turing = extended(volta, matrix_loads(like_hopper));
inline constexpr auto ampere = with_copies(
    extended(maxwell_and_newer({.wide_loads = a100_counters}), matrix_loads(like_hopper)), like_hopper, like_hopper);
inline constexpr auto ada =
    with_copies(extended(maxwell_and_newer({}), matrix_loads(like_hopper)), like_hopper, like_hopper);
inline constexpr auto hopper =
    with_copies(extended(maxwell_and_newer({h200_counters, h200_counters, h200_counters, h200_counters, h200_atomics}),
                         matrix_loads_and_stores(h200_counters)),
                h200_copies, h200_copy_kernels);
inline constexpr auto blackwell =
    with_copies(extended(maxwell_and_newer({}), matrix_loads_and_stores(like_hopper)), like_hopper, like_hopper);

inline constexpr auto rtx_blackwell =
    with_copies(extended(maxwell_and_newer({rtx_5090_counters, rtx_5090_counters, rtx_5090_counters}),
                         matrix_loads_and_stores(like_hopper)),
                like_hopper, like_hopper);

// Bytes of shared memory, of one block's, reserved, in units of; threads, blocks.
inline constexpr Multiprocessor sm_50{64 * KiB, 48 * KiB, 0, 256, 2048, 32};
inline constexpr Multiprocessor sm_52{96 * KiB, 48 * KiB, 0, 256, 2048, 32};
inline constexpr Multiprocessor sm_70{96 * KiB, 96 * KiB, 0, 256, 2048, 32};
inline constexpr Multiprocessor sm_75{64 * KiB, 64 * KiB, 0, 256, 1024, 16};
inline constexpr Multiprocessor sm_80{164 * KiB, 163 * KiB, KiB, 128, 2048, 32};
inline constexpr Multiprocessor sm_86{100 * KiB, 99 * KiB, KiB, 128, 1536, 16};
inline constexpr Multiprocessor sm_89{100 * KiB, 99 * KiB, KiB, 128, 1536, 24};
inline constexpr Multiprocessor sm_90{228 * KiB, 227 * KiB, KiB, 128, 2048, 32};

// NVIDIA's whitepaper on the A100 compares the bytes that the L2 caches of A100 and V100 deliver per clock.
inline constexpr Known<double> a100_l2{5120 * 1.41}, v100_l2{2048 * 1.53};
// access_patterns --bandwidth on an H200, in GB/s: reads that hit the L2 cache.
inline constexpr Known<double> h200_l2{7617};
// docs/results/nvidia_h200/limits.csv: reduction single_pass, 2^30 words, has DRAM busy for 94.2 % of its time.
inline constexpr Known<double> h200_dram{0.942 * 2 * 3.201 * 6144 / 8};
inline constexpr Known<double> not_measured = GpuModel{}.dram_bandwidth;

// Name, compute capability; multiprocessors, kHz, kHz of memory, bits of its bus; GiB, KiB of L2 cache; its
// multiprocessor; bandwidth of L2 and of DRAM. The first is what the emulator plays.
inline constexpr GpuModel maxwell_models[]{
    {"NVIDIA GeForce GTX 750 Ti", 5, 0, 5, 1084500, 2700000, 128, 2, 2048, sm_50},
    {"NVIDIA GeForce GTX 980", 5, 2, 16, 1215500, 3505000, 256, 4, 2048, sm_52}};
inline constexpr GpuModel pascal_models[]{{"Tesla P100-SXM2-16GB", 6, 0, 56, 1480500, 715000, 4096, 16, 4096, sm_50},
                                          {"NVIDIA GeForce GTX 1080", 6, 1, 20, 1733500, 5005000, 256, 8, 2048, sm_52}};
inline constexpr GpuModel volta_models[]{
    {"Tesla V100-SXM2-16GB", 7, 0, 80, 1530000, 877000, 4096, 16, 6144, sm_70, v100_l2}};
inline constexpr GpuModel turing_models[]{{"Tesla T4", 7, 5, 40, 1590000, 5001000, 256, 16, 4096, sm_75}};
inline constexpr GpuModel ampere_models[]{
    {"NVIDIA A100-SXM4-40GB", 8, 0, 108, 1410000, 1215000, 5120, 40, 40960, sm_80, a100_l2},
    {"NVIDIA GeForce RTX 3090", 8, 6, 82, 1695000, 9751000, 384, 24, 6144, sm_86}};
inline constexpr GpuModel ada_models[]{
    {"NVIDIA GeForce RTX 4090", 8, 9, 128, 2520000, 10501000, 384, 24, 73728, sm_89}};
inline constexpr GpuModel hopper_models[]{
    {"NVIDIA H200", 9, 0, 132, 1980000, 3201000, 6144, 141, 51200, sm_90, h200_l2, h200_dram},
    {"NVIDIA H100 80GB HBM3", 9, 0, 132, 1980000, 2619000, 5120, 80, 51200, sm_90}};
inline constexpr GpuModel b200_models[]{{"NVIDIA B200", 10, 0, 148, 1965000, 3996000, 8192, 180, 129024, sm_90}};
inline constexpr GpuModel rtx_5090_models[]{
    {"NVIDIA GeForce RTX 5090", 12, 0, 170, 2407000, 14001000, 512, 32, 98304, sm_89}};

inline constexpr Known<Sectors> h200_sectors{
    Sectors{32, 128, Evidence::measured, "hardware counters of an H200: tests/data/h200_sectors.csv"}};
inline constexpr Known<Sectors> like_h200{
    Sectors{32, 128, Evidence::vendor, "CUDA C++ Best Practices Guide, coalesced access: transactions of 32 bytes"}};

// Engines; bytes of a pass and per clock, clocks of an instruction, pieces. The global memory of the copies was in the
// L2 cache.
inline constexpr std::string_view h200_copies_of_bulk = "clocks of an H200: tests/data/h200_bulk.csv";
inline constexpr EngineRule hopper_engines[]{
    {set_of({Engine::wgmma}), 128, 128, 0, Pieces::none, Evidence::measured,
     "hardware counters and clocks of an H200: tests/data/h200_wgmma.csv"},
    {set_of({Engine::bulk_load, Engine::tensor_load}), 0, 107, 41, Pieces::requests, Evidence::measured,
     h200_copies_of_bulk},
    {set_of({Engine::bulk_store, Engine::tensor_store}), 0, 32, 39, Pieces::sectors, Evidence::measured,
     h200_copies_of_bulk},
    {set_of({Engine::bulk_reduce, Engine::tensor_reduce}), 0, 32, 39, Pieces::headed_sectors, Evidence::measured,
     h200_copies_of_bulk},
    {set_of({Engine::bulk_copy}), 0, 21.4, 43, Pieces::none, Evidence::measured, h200_copies_of_bulk}};

// Name, other names, GPUs; lanes of a warp, by default and at most; rules; what to know before trusting the numbers;
// multiprocessor, models, sectors, engines.
// It would put each value on a line.
// clang-format off
inline constexpr Architecture nvidia[]{
    {"sm_50", "sm_52 sm_53 gtx750ti gtx970", "Maxwell: GTX 980, M40", 32, 32, maxwell, "",
     {sm_50}, {maxwell_models}, like_h200},
    {"sm_60", "sm_61 sm_62 gtx1070 gtx1080ti p4 p40", "Pascal: GTX 1080, P100", 32, 32, pascal, "",
     {sm_50}, {pascal_models}, like_h200},
    {"sm_70", "sm_72 titanv", "Volta: V100, Xavier", 32, 32, volta, "",
     {sm_70}, {volta_models}, like_h200},
    {"sm_75", "gtx1660 rtx2060 rtx2070 rtx2080ti", "Turing: RTX 2080, T4", 32, 32, turing, "",
     {sm_75}, {turing_models}, like_h200},
    {"sm_80", "sm_86 sm_87 sm_88 a10 a30 a40 a6000 rtx3060 rtx3070 rtx3080", "Ampere: A100, RTX 3090, Orin", 32, 32,
     ampere, "", {sm_80}, {ampere_models}, like_h200},
    {"sm_89", "l4 l40s rtx4060 rtx4070 rtx4080", "Ada: RTX 4090, L40", 32, 32, ada, "",
     {sm_89}, {ada_models}, like_h200},
    {"sm_90", "gh200 h20 h800", "Hopper: H100, H200", 32, 32, hopper, "", {sm_90}, {hopper_models}, h200_sectors,
     hopper_engines},
    {"sm_100", "sm_101 sm_103 sm_110 b100 gb200 gb300 thor", "Blackwell: B200, B300", 32, 32, blackwell, "",
     {sm_90}, {b200_models}, like_h200},
    {"sm_120", "sm_121 gb10 rtx5070 rtx5080", "Blackwell: RTX 5090, RTX PRO 6000", 32, 32, rtx_blackwell, "",
     {sm_89}, {rtx_5090_models}, like_h200}};
// clang-format on

// --- Compute capability 1.x to 3.x: Tesla, Fermi, Kepler. Evidence: CUDA C Programming Guide ---

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
