// Intel: Xe.
#pragma once

#include <bankwise/banks/architectures/rules.hpp>

namespace bankwise::banks::rows {

inline constexpr std::array xe{
    rule(loads, word, consecutive(16),
         by_inference("oneAPI GPU Optimization Guide, Shared Local Memory; 16 lanes a lane group fit its worst case of "
                      "1/16"))
        .with_banks(banks16),
    rule(stores, word, consecutive(16), by_inference("OpenCL Developer Guide for Intel Processor Graphics, 2019"))
        .with_banks(banks16)
        .served_by(Serving::lanes),
    refused(both | all_atomics, any_width, "Intel documents no rule for this kind of access to shared local memory"),
};

inline constexpr Architecture intel[]{
    {.name = "intel_xe",
     .aliases = "xe_lp xe_hpg xe_hpc pvc a770 max1550",
     .gpus = "Xe: Arc, Data Center GPU Max",
     .rules = xe,
     .note = "Low confidence: banks and lanes are the guide's example, not a specification. For Xe-HPC, an Intel "
             "engineer mentions 64 banks of 8 bytes.",
     .multiprocessor = {std::nullopt, "the units that share local memory differ between the GPUs of this row"},
     .models = {std::nullopt, "the emulator plays GPUs with CUDA's properties"},
     .sectors = {Sectors{64, 64, Evidence::vendor,
                         "OpenCL Developer Guide for Intel Processor Graphics, 2019, memory access overview"}}},
};

}  // namespace bankwise::banks::rows
