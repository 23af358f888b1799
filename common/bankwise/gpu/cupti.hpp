// SPDX-License-Identifier: MIT
//
// CUPTI, loaded on demand. A program linked with it would not start on machines with a driver but no toolkit, and
// programs that read no counters do not pay for loading it.
#pragma once

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstring>
#include <string_view>

#include <bankwise/gpu/counters.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

#define BANKWISE_CUPTI_FUNCTIONS(X)               \
  X(cuptiGetResultString)                         \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeInitialize)                    \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerPushRange)                  \
  X(cuptiRangeProfilerPopRange)                   \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerDecodeData)

/// CUPTI's functions, by their names.
struct Cupti {
#define BANKWISE_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): a name
  BANKWISE_CUPTI_FUNCTIONS(BANKWISE_CUPTI_MEMBER)
#undef BANKWISE_CUPTI_MEMBER
};

/// Loads CUPTI, once. Error: Unsupported if it is missing, or too old.
const Cupti& cupti();

/// A function's parameters: zero except for the size, by which CUPTI recognizes the version.
template <class Parameters>
Parameters cupti_parameters(std::size_t size) {
  Parameters parameters;
  std::memset(&parameters, 0, sizeof parameters);
  parameters.structSize = size;
  return parameters;
}
#define BANKWISE_CUPTI_PARAMETERS(Type) ::bankwise::gpu::cupti_parameters<Type>(Type##_STRUCT_SIZE)

/// Throws Unsupported unless the call succeeded: counters are optional, so no failure to read them is an error.
void check_cupti(CUptiResult code, std::string_view call);

}  // namespace bankwise::gpu

/// Calls a function with its parameters and throws Unsupported unless it succeeds.
#define BANKWISE_CUPTI(function, parameters) \
  ::bankwise::gpu::check_cupti(::bankwise::gpu::cupti().function(&(parameters)), #function)
