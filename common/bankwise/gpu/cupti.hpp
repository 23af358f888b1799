// SPDX-License-Identifier: MIT
//
// CUPTI, loaded on demand. A program linked with it would not start on machines with a driver but no toolkit, and
// programs that read no counters do not pay for loading it.
#pragma once

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

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

/// Throws Unsupported unless the call succeeded: counters are optional, so no failure to read them is an error.
void check_cupti(CUptiResult code, std::string_view call);

/// Calls a function, and returns its parameters with what it has written to them. Error: as check_cupti().
template <class Parameters>
Parameters call_cupti(CUptiResult (*function)(Parameters*), Parameters parameters, std::string_view name) {
  check_cupti(function(&parameters), name);
  return parameters;
}

}  // namespace bankwise::gpu

/// A function's parameters: zero except for the fields that are given and the size, by which CUPTI knows the version.
#define BANKWISE_CUPTI_PARAMETERS(Type, ...) \
  Type { .structSize = Type##_STRUCT_SIZE, __VA_ARGS__ }
#define BANKWISE_CUPTI(function, Type, ...)                                                                    \
  ::bankwise::gpu::call_cupti(::bankwise::gpu::cupti().function, BANKWISE_CUPTI_PARAMETERS(Type, __VA_ARGS__), \
                              #function)
