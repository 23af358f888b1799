// SPDX-License-Identifier: MIT
//
// The table. To add a GPU, add its rules and one line at the end; the tests compare every entry with a second model.
#include <bankwise/banks/architecture.hpp>

#include <algorithm>

namespace bankwise::banks {
namespace {

using enum Operation;

constexpr OperationSet set_of(std::initializer_list<Operation> operations) {
  OperationSet set = 0;
  for (const Operation operation : operations) set |= 1U << int(operation);
  return set;
}
constexpr WidthSet bytes(std::initializer_list<unsigned> widths) {
  WidthSet set = 0;
  for (const unsigned width : widths) set |= 1U << width;
  return set;
}

constexpr OperationSet loads = set_of({load}), stores = set_of({store}), both = loads | stores;
constexpr OperationSet queuing_atomics = set_of({atomic, atomic_inc});
constexpr OperationSet all_atomics = queuing_atomics | set_of({atomic_cas});
constexpr OperationSet ldmatrix = set_of({ldmatrix_x1, ldmatrix_x2, ldmatrix_x4});
constexpr OperationSet stmatrix = set_of({stmatrix_x1, stmatrix_x2, stmatrix_x4});
constexpr WidthSet word = bytes({1, 2, 4}), any_width = bytes({1, 2, 4, 8, 12, 16});

constexpr auto by_measurement = Evidence::measured;
constexpr auto by_others = Evidence::measured_by_others;
constexpr auto by_vendor = Evidence::vendor;
constexpr auto by_inference = Evidence::inferred;

constexpr std::string_view guide =
    "CUDA C Programming Guide (the edition with a chapter on 3.0), appendix F, chapter of this compute capability";
constexpr std::string_view guide_by_analogy = "by analogy with the CUDA C Programming Guide 4.2, appendix F";
constexpr std::string_view no_atomic_rule = "no rule for its shared-memory atomics has been published or measured";

// --- NVIDIA, compute capability 1.x to 3.x --------------------------------------------------------------------------

constexpr Banks banks16{.count = 16, .bytes = 4, .row_bytes = 64};

constexpr Rule tesla[]{
    {.operations = loads,
     .widths = any_width,
     .lane_groups = consecutive(16),
     .banks = banks16,
     .serving = Serving::one_broadcast,
     .request_bytes = 4,
     .evidence = by_vendor,
     .source = guide},
    {.operations = stores,
     .widths = any_width,
     .lane_groups = consecutive(16),
     .banks = banks16,
     .serving = Serving::addresses,
     .request_bytes = 4,
     .evidence = by_inference,
     .source = "the guide describes a broadcast for loads only; for stores it says that one lane per address writes"},
    {.operations = all_atomics, .widths = any_width, .refusal = no_atomic_rule},
};

constexpr Rule fermi[]{
    {.operations = both, .widths = word, .total = Total::worst, .evidence = by_vendor, .source = guide},
    {.operations = both,
     .widths = bytes({8}),
     .lane_groups = consecutive(16),
     .total = Total::worst,
     .evidence = by_vendor,
     .source = guide},
    {.operations = both, .widths = bytes({12}), .request_bytes = 4, .evidence = by_vendor, .source = guide},
    {.operations = both,
     .widths = bytes({16}),
     .lane_groups = consecutive(8),
     .total = Total::worst_plus_one,
     .evidence = by_vendor,
     .source = guide},
    {.operations = all_atomics, .widths = any_width, .refusal = no_atomic_rule},
};

/// The same for both bank modes.
constexpr auto kepler(Banks banks) {
  return std::array{
      Rule{.operations = both, .widths = word, .banks = banks, .evidence = by_vendor, .source = guide},
      Rule{.operations = both,
           .widths = bytes({8}),
           .banks = banks,
           .evidence = by_inference,
           .source = "the guide's bank rows hold 32 x 8 bytes, so that one request can serve a warp"},
      Rule{.operations = both,
           .widths = bytes({12}),
           .banks = banks,
           .request_bytes = 4,
           .evidence = by_inference,
           .source = guide_by_analogy},
      Rule{.operations = both,
           .widths = bytes({16}),
           .lane_groups = consecutive(16),
           .banks = banks,
           .evidence = by_inference,
           .source = "512 bytes of a warp against 256 a clock: at least two requests"},
      Rule{.operations = all_atomics, .widths = any_width, .refusal = no_atomic_rule},
  };
}
// In the mode of four-byte banks, two words of a bank are served together if they lie in one aligned run of 64 words.
constexpr auto kepler_four_byte = kepler({.count = 32, .bytes = 4, .row_bytes = 256});
constexpr auto kepler_eight_byte = kepler({.count = 32, .bytes = 8, .row_bytes = 256});

// --- NVIDIA, compute capability 5.x and newer -----------------------------------------------------------------------

/// The evidence, by kind of access: all that differs between these architectures.
struct Belief {
  Evidence evidence;
  std::string_view source;
};
struct Beliefs {
  Belief words, wide_loads, wide_stores, atomics;
};

constexpr auto maxwell_and_newer(Beliefs belief) {
  const auto rule = [](OperationSet operations, WidthSet widths, LaneGroups lane_groups, Belief why) {
    return Rule{.operations = operations,
                .widths = widths,
                .lane_groups = lane_groups,
                .evidence = why.evidence,
                .source = why.source};
  };
  std::array rules{
      rule(both, word, consecutive(32), belief.words),
      rule(loads, bytes({8}), consecutive(16), belief.wide_loads),
      rule(loads, bytes({16}), consecutive(8), belief.wide_loads),
      rule(stores, bytes({8}), consecutive(16), belief.wide_stores),
      rule(stores, bytes({16}), consecutive(8), belief.wide_stores),
      rule(both, bytes({12}), consecutive(32), {by_inference, "no such instruction: compilers emit three of 4 bytes"}),
      rule(set_of({atomic}), bytes({4}), consecutive(32), belief.atomics),
      rule(set_of({atomic_inc}), bytes({4}), consecutive(32), belief.atomics),
      rule(set_of({atomic_cas}), bytes({4}), consecutive(32), belief.atomics),
      rule(all_atomics, any_width, consecutive(32), {}),
  };
  rules[1].merges = rules[2].merges = true;
  rules[5].request_bytes = 4;
  rules[6].serving = rules[8].serving = Serving::lanes;
  rules[8].rounds = 2;
  rules[9].refusal = "atomics of this width are loops, whose length depends on the data, or have not been measured";
  return rules;
}

constexpr auto matrix_rule(OperationSet operations, Belief why) {
  return Rule{.operations = operations,
              .widths = bytes({16}),
              .lane_groups = consecutive(8),
              .evidence = why.evidence,
              .source = why.source};
}

/// cp.async: lanes of 128 bytes are served together; the slots of 128 bytes are their banks.
constexpr auto copy_rule(unsigned width, Belief why) {
  return Rule{.operations = set_of({cp_async}),
              .widths = bytes({width}),
              .lane_groups = consecutive(128 / width),
              .banks = {.count = 128 / width, .bytes = width, .row_bytes = 128},
              .serving = Serving::copies,
              .evidence = why.evidence,
              .source = why.source};
}
template <std::size_t n, class... More>
constexpr auto extended(const std::array<Rule, n>& rules, More... more) {
  std::array<Rule, n + sizeof...(more)> all{};
  std::copy(rules.begin(), rules.end(), all.begin());
  const Rule added[]{more...};
  std::copy(std::begin(added), std::end(added), all.begin() + n);
  return all;
}

constexpr Belief guide_5{by_vendor, "CUDA C++ Programming Guide, shared memory of compute capability 5.x, 6.x and 7.x"};
constexpr Belief a100_counters{
    by_others, "Nsight Compute on an A100 (8.0; 8.6 to 8.8 by analogy): zhuanlan.zhihu.com/p/690052715"};
constexpr Belief nvidia_forum{by_vendor, "NVIDIA's forum on Turing: forums.developer.nvidia.com/t/77228"};
constexpr Belief h200_counters{by_measurement, "hardware counters of an H200: tests/data/h200_wavefronts.csv"};
constexpr Belief h200_copies{by_measurement, "hardware counters of an H200: tests/data/h200_cp_async.csv"};
constexpr Belief like_hopper{by_inference, "as measured on compute capability 9.0"};

constexpr auto maxwell = maxwell_and_newer(
    {guide_5,
     {by_inference, "conflict-free orders of 128-bit loads on Maxwell, github.com/NervanaSystems/maxas/wiki/SGEMM"},
     like_hopper,
     like_hopper});
constexpr auto pascal = maxwell_and_newer({guide_5, like_hopper, like_hopper, like_hopper});
constexpr auto volta = maxwell_and_newer({guide_5, nvidia_forum, like_hopper, like_hopper});
constexpr auto turing = extended(volta, matrix_rule(ldmatrix, like_hopper));
template <std::size_t n>
constexpr auto with_copies(const std::array<Rule, n>& rules, Belief why) {
  return extended(rules, copy_rule(4, why), copy_rule(8, why), copy_rule(16, why));
}
constexpr auto ampere = with_copies(extended(maxwell_and_newer({like_hopper, a100_counters, like_hopper, like_hopper}),
                                             matrix_rule(ldmatrix, like_hopper)),
                                    like_hopper);
constexpr auto ada = with_copies(extended(maxwell_and_newer({like_hopper, like_hopper, like_hopper, like_hopper}),
                                          matrix_rule(ldmatrix, like_hopper)),
                                 like_hopper);
constexpr auto hopper =
    with_copies(extended(maxwell_and_newer({h200_counters, h200_counters, h200_counters, h200_counters}),
                         matrix_rule(ldmatrix | stmatrix, h200_counters)),
                h200_copies);
constexpr auto blackwell = with_copies(extended(maxwell_and_newer({like_hopper, like_hopper, like_hopper, like_hopper}),
                                                matrix_rule(ldmatrix | stmatrix, like_hopper)),
                                       like_hopper);

// --- AMD ------------------------------------------------------------------------------------------------------------

constexpr Banks banks64{.count = 64, .bytes = 4, .row_bytes = 256};
// Lanes that AMD's 16-byte loads serve together are not neighbours: {0-3, 20-23}, {4-7, 16-19} and so on.
constexpr LaneGroups cdna3_load16 = lane_groups_by({32, 16 ^ 4, 8}), cdna4_load16 = lane_groups_by({32, 16 ^ 8 ^ 4});

constexpr Rule queue_by_analogy{.operations = queuing_atomics,
                                .widths = bytes({4}),
                                .serving = Serving::lanes,
                                .source = "a bank does one atomic a cycle (ROCm Compute Profiler, LDS pipeline)"};
constexpr Rule no_more_atomics{
    .operations = all_atomics, .widths = any_width, .refusal = "no rule for atomics of this kind is known"};

constexpr Rule evergreen[]{
    {.operations = both,
     .widths = word,
     .source =
         "AMD APP guide (of the HD 7000 series); a reduction's 2, 6 and 14 conflicts published for this GPU agree"},
    {.operations = loads,
     .widths = bytes({8, 16}),
     .lane_groups = consecutive(16),
     .request_bytes = 8,
     .evidence = by_vendor,
     .source = "AMD staff on a 64-bit read port a lane: community.amd.com/thread/140598"},
    {.operations = stores, .widths = bytes({8, 16}), .request_bytes = 4, .source = "written word by word"},
    queue_by_analogy,
    no_more_atomics,
};

constexpr Belief mi300_counters{
    by_others,
    "4-, 8- and 16-byte loads on MI300X: github.com/nod-ai/amd-shark-ai/pull/2919, github.com/tingqli/pyhip"};
constexpr Belief mi355_pairs{by_others, "all lane pairs on gfx950: HipKittens, github.com/HazyResearch/HipKittens"};
constexpr Belief gfx90a_code{by_vendor, "lane groups in AMD's rocke: github.com/ROCm/rocm-libraries/pull/11094"};
constexpr Belief gfx950_code{by_vendor,
                             "AMD's rocke and rocRoller: github.com/ROCm/rocm-libraries/pull/11097 and pull/2157"};
constexpr Belief like_mi300{by_inference, "as measured on gfx942"};
constexpr Belief like_other_widths{by_inference, "the lanes of 16-byte accesses; 12-byte ones take as long"};

/// Loads of 8 and 16 bytes differ from generation to generation; the rest is the same since GCN.
struct WideLoad {
  LaneGroups lane_groups;
  Banks banks;
};
constexpr auto gcn_rules(WideLoad load8, WideLoad load16, Belief word_loads, Belief wide_loads, Belief all_stores) {
  const auto rule = [](OperationSet operations, WidthSet widths, WideLoad served, Belief why) {
    return Rule{.operations = operations,
                .widths = widths,
                .lane_groups = served.lane_groups,
                .banks = served.banks,
                .evidence = why.evidence,
                .source = why.source};
  };
  return std::array{
      rule(loads, word, {consecutive(32), {}}, word_loads),
      rule(stores, word, {consecutive(32), {}}, all_stores),
      rule(loads, bytes({8}), load8, wide_loads),
      rule(loads, bytes({16}), load16, wide_loads),
      rule(stores, bytes({8}), {consecutive(16), {}}, all_stores),
      rule(stores, bytes({16}), {consecutive(8), {}}, all_stores),
      rule(stores, bytes({12}), {consecutive(8), {}}, like_other_widths),
      queue_by_analogy,
      no_more_atomics,
  };
}
constexpr auto load12(LaneGroups lane_groups, Belief why) {
  return Rule{.operations = loads,
              .widths = bytes({12}),
              .lane_groups = lane_groups,
              .evidence = why.evidence,
              .source = why.source};
}
constexpr WideLoad by16{consecutive(16), {}}, by_cdna3{cdna3_load16, {}}, by8{consecutive(8), {}};

constexpr auto gcn =
    extended(gcn_rules(by16, by_cdna3, like_mi300, like_mi300, like_mi300), load12(cdna3_load16, like_other_widths));
constexpr auto cdna2 =
    extended(gcn_rules(by16, by_cdna3, gfx90a_code, gfx90a_code, gfx90a_code), load12(cdna3_load16, like_other_widths));
constexpr auto cdna3 = extended(
    gcn_rules(by16, by_cdna3, mi300_counters, mi300_counters,
              {by_vendor, "Composable Kernel's documentation; rocke: github.com/ROCm/rocm-libraries/pull/11096"}),
    load12(cdna3_load16, like_other_widths));
constexpr auto cdna4 =
    extended(gcn_rules({consecutive(32), banks64}, {cdna4_load16, banks64}, gfx950_code, mi355_pairs, gfx950_code),
             load12(cdna3_load16, mi355_pairs));

constexpr Belief rdna_timing{
    by_others, "timing of 4-, 8- and 16-byte loads on gfx1100 and gfx1201: github.com/nod-ai/amd-shark-ai/pull/2919"};
constexpr Belief like_cdna{by_inference, "by analogy with CDNA"};
constexpr Belief like_rdna3{by_inference, "as measured on gfx1100"};
constexpr auto rdna2 =
    extended(gcn_rules(by16, by_cdna3, like_rdna3, like_rdna3, like_cdna), load12(cdna3_load16, like_other_widths));
constexpr auto rdna3 =
    extended(gcn_rules(by16, by_cdna3, rdna_timing, rdna_timing, like_cdna), load12(cdna3_load16, like_other_widths));
constexpr auto rdna4 =
    extended(gcn_rules(by16, by8, rdna_timing, rdna_timing, like_cdna), load12(consecutive(8), like_other_widths));

// --- Intel ----------------------------------------------------------------------------------------------------------

constexpr std::string_view no_intel_rule = "Intel documents no rule for this kind of access to shared local memory";
constexpr Rule xe[]{
    {.operations = loads,
     .widths = word,
     .lane_groups = consecutive(16),
     .banks = banks16,
     .source = "oneAPI GPU Optimization Guide, Shared Local Memory; 16 lanes a lane group fit its worst case of 1/16"},
    {.operations = stores,
     .widths = word,
     .lane_groups = consecutive(16),
     .banks = banks16,
     .serving = Serving::lanes,
     .source = "OpenCL Developer Guide for Intel Processor Graphics, 2019"},
    {.operations = both | all_atomics, .widths = any_width, .refusal = no_intel_rule},
};

// --- All ------------------------------------------------------------------------------------------------------------

constexpr std::string_view in_ways =
    "Counted in ways, as its guide does: a 64-bit access without conflict is 1, a 128-bit access at least 2.";
constexpr std::string_view low =
    "Low confidence: banks and lanes are the guide's example, not a specification. For Xe-HPC, an Intel engineer "
    "mentions 64 banks of 8 bytes.";

constexpr std::string_view wave64 =
    "We assume that a wave of 64 lanes is served as two of 32, one after the other; no source confirms it.";

constexpr Architecture table[]{
    {"sm_13", "sm_10 sm_11 sm_12", "Tesla: 8800 GTX, GTX 280", 32, 32, tesla,
     "The hardware chooses the word that it broadcasts, so loads have a least and a greatest number of passes."},
    {"sm_20", "sm_21", "Fermi: GTX 480, Tesla M2050", 32, 32, fermi, in_ways},
    {"sm_30", "sm_32 sm_35 sm_37", "Kepler with banks of four bytes, its default: GTX 680, K20, K80", 32, 32,
     kepler_four_byte, ""},
    {"sm_30_eight_byte", "sm_32_eight_byte sm_35_eight_byte sm_37_eight_byte",
     "Kepler after cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte)", 32, 32, kepler_eight_byte, ""},
    {"sm_50", "sm_52 sm_53", "Maxwell: GTX 980, M40", 32, 32, maxwell, ""},
    {"sm_60", "sm_61 sm_62", "Pascal: GTX 1080, P100", 32, 32, pascal, ""},
    {"sm_70", "sm_72", "Volta: V100, Xavier", 32, 32, volta, ""},
    {"sm_75", "", "Turing: RTX 2080, T4", 32, 32, turing, ""},
    {"sm_80", "sm_86 sm_87 sm_88", "Ampere: A100, RTX 3090, Orin", 32, 32, ampere, ""},
    {"sm_89", "", "Ada: RTX 4090, L40", 32, 32, ada, ""},
    {"sm_90", "", "Hopper: H100, H200", 32, 32, hopper, ""},
    {"sm_100", "sm_101 sm_103 sm_110", "Blackwell: B200, B300", 32, 32, blackwell, ""},
    {"sm_120", "sm_121", "Blackwell: RTX 5090, RTX PRO 6000", 32, 32, blackwell, ""},
    {"hd5870", "cypress evergreen terascale2", "TeraScale 2: Radeon HD 5870", 64, 64, evergreen, ""},
    {"gcn", "gfx700 gfx701 gfx801 gfx802 gfx803 gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c",
     "GCN: R9 290, RX 580, Vega, MI50", 64, 64, gcn, "A few small APUs have 16 banks."},
    {"gfx908", "", "CDNA: MI100", 64, 64, gcn, ""},
    {"gfx90a", "", "CDNA 2: MI210, MI250", 64, 64, cdna2,
     "An AMD tool models some stores with fewer conflicts than these."},
    {"gfx942", "gfx940 gfx941", "CDNA 3: MI300A, MI300X, MI325X", 64, 64, cdna3, ""},
    {"gfx950", "", "CDNA 4: MI350, MI355X", 64, 64, cdna4,
     "64 banks only for loads of 8 and 16 bytes. One guide says that 4-byte accesses have 64 banks, too."},
    {"gfx1030", "gfx1010 gfx1011 gfx1012 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036",
     "RDNA 1 and 2: RX 5700, RX 6800", 32, 64, rdna2, wave64},
    {"gfx1100", "gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152", "RDNA 3: RX 7900", 32, 64, rdna3, wave64},
    {"gfx1201", "gfx1200", "RDNA 4: RX 9070", 32, 64, rdna4, wave64},
    {"intel_xe", "xe_lp xe_hpg xe_hpc pvc", "Xe: Arc, Data Center GPU Max", 32, 32, xe, low},
};

static_assert(std::all_of(std::begin(table), std::end(table),
                          [](auto& architecture) { return well_formed(architecture); }));

}  // namespace

std::span<const Architecture> architectures() {
  return table;
}

}  // namespace bankwise::banks
