// Launches of kernels: what bankcheck makes of kernel<<<grid, block>>>(arguments), and CUDA's functions for it.
#pragma once

#include <stdint.h>

#include <string.h>

#include <tuple>
#include <type_traits>
#include <utility>

#include <bankwise/emulator/core/kernel_code.hpp>
#include <bankwise/emulator/runtime/types.hpp>

namespace bankwise::emulator::runtime {

struct Configuration {
  Dim3 grid, block;
  size_t shared;
  bool cooperative = false;
  cudaStream_t stream = nullptr;
  bool refers = false;  ///< the launch refers to variables of the program: a graph cannot keep it
};

/// The code of a launch, for one type of arguments.
struct LaneCode {
  void (*call)(const void*);  ///< runs the kernel for one lane
  const void* (*copy)(const void*);
  void (*destroy)(const void*);
};

/// The values that a launch passes on.
struct Arguments {
  const void* bound = nullptr;   ///< for `call`
  const char* bytes = nullptr;   ///< the values, to compare launches with; null if they cannot be compared
  size_t count = 0;              ///< the size of `bytes`
  const void* kernel = nullptr;  ///< its address, or a number for it; null: `call` is for one kernel
  bool varies = false;           ///< `call` is for kernels that cannot be told apart
};

/// Runs the grid, or keeps it if the stream captures. Errors go to cudaGetLastError(), and are returned.
cudaError_t launch(const Configuration& configuration, const LaneCode& code, const Arguments& arguments);

/// For a launch in a kernel: runs it after the launch that the kernel belongs to. Copies the arguments.
void launch_later(const Configuration& configuration, const LaneCode& code, const void* arguments);
bool in_kernel();

/// A number for an object that consists of numbers and functions; 0 for any other, which may change unseen.
size_t identity_of(const void* object, size_t bytes);

/// Programs fill the device in a cooperative launch, and all blocks have to be resident: the device has few
/// multiprocessors then. Whether a program has such a launch is known when the template is used, before main().
inline bool few_multiprocessors = false;
template <class... Parameters>
struct HasCooperativeLaunch {
  static inline const bool known = (few_multiprocessors = true);
};

/// Runs a kernel with its arguments. A function, because the one that a lambda converts to has no attributes.
template <class Body>
BANKWISE_NOT_THE_KERNEL void run_lane(const void* bound) {
  (*const_cast<Body*>(static_cast<const Body*>(bound)))();
}
template <class Body>
const void* copy_lane(const void* bound) {
  return new Body(*static_cast<const Body*>(bound));
}
template <class Body>
void destroy_lane(const void* bound) {
  delete static_cast<const Body*>(bound);
}
template <class Body>
inline constexpr LaneCode lane_code{run_lane<Body>, copy_lane<Body>, destroy_lane<Body>};

/// The argument at an index, without a copy.
template <unsigned index, class First, class... Rest>
BANKWISE_DEVICE BANKWISE_NOT_THE_KERNEL auto& pick(First& first, Rest&... rest) {
  if constexpr (index == 0) {
    return first;
  } else {
    return pick<index - 1>(rest...);
  }
}

/// A temporary with a destructor, as argument. A GPU's launch destroys it once, so there is no copy while it exists;
/// a launch for later has one.
template <class Value>
class Temporary {
 public:
  explicit Temporary(Value& value) : value_(&value) {}
  Temporary(const Temporary& other) : value_(new Value(*other.value_)), is_copy_(true) {}
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (is_copy_) delete value_;
  }
  BANKWISE_NOT_THE_KERNEL Value& value() { return *value_; }

 private:
  Value* value_;
  bool is_copy_ = false;
};

/// An argument in braces, which becomes a value of the parameter's type.
template <class Make>
struct Braces {
  Make make;
  template <class Value>
  BANKWISE_DEVICE BANKWISE_NOT_THE_KERNEL operator Value() const {
    return make(static_cast<Value*>(nullptr));
  }
};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnarrowing"  // of constants that fit, which are values here
template <class... Values>
auto braces(Values... values) {
  auto make = [=](auto* type) __attribute__((always_inline, no_sanitize("thread"), no_sanitize_coverage)) {
    return std::remove_pointer_t<decltype(type)>{values...};
  };
  return Braces<decltype(make)>{make};
}
#pragma GCC diagnostic pop

/// What a launch keeps of an argument: a copy, or a Temporary.
template <class Argument>
__attribute__((always_inline)) inline auto kept(Argument&& argument) {
  using Value = std::decay_t<Argument>;
  if constexpr (std::is_lvalue_reference_v<Argument> || std::is_trivially_destructible_v<Value>) {
    return Value(argument);
  } else {
    return Temporary(argument);
  }
}

template <class Value>
BANKWISE_DEVICE BANKWISE_NOT_THE_KERNEL Value& value_of(Value& kept) {
  return kept;
}
template <class Value>
BANKWISE_DEVICE BANKWISE_NOT_THE_KERNEL Value& value_of(Temporary<Value>& kept) {
  return kept.value();
}

/// The bytes of values whose types allow it, without padding.
template <class... Values>
struct Bytes {
  static constexpr bool known = (std::is_trivially_copyable_v<Values> && ...);
  static constexpr size_t count = ((std::is_empty_v<Values> ? 0 : sizeof(Values)) + ... + 0);
  char content[count + 1];

  BANKWISE_NOT_THE_KERNEL explicit Bytes(const Values&... values) {
    char* to = content;
    (append(to, values), ...);
  }
  template <class Value>
  BANKWISE_NOT_THE_KERNEL static void append(char*& to, const Value& value) {
    if constexpr (known && !std::is_empty_v<Value>) {
      memcpy(to, &value, sizeof value);
      // Not for numbers and pointers: g++ takes no address of an `int* __restrict__` here.
      if constexpr (std::is_class_v<Value> || std::is_union_v<Value>)
        __builtin_clear_padding(reinterpret_cast<Value*>(to));
      to += sizeof value;
    }
  }
};

/// A kernel with its configuration. The call evaluates the arguments once, and each lane gets copies.
template <class Call>
struct ConfiguredKernel {
  const Call& call;
  Configuration configuration;

  /// Inlined, so that the launch's line is found.
  template <class... Arguments>
  __attribute__((always_inline)) void operator()(Arguments&&... arguments) const {
    auto lane = [call = call,
                 ... values = kept<Arguments>(static_cast<Arguments&&>(arguments))]() mutable BANKWISE_NOT_THE_KERNEL {
      call(value_of(values)...);
    };
    using Body = decltype(lane);
    if (in_kernel()) {
      launch_later(configuration, lane_code<Body>, &lane);
    } else {
      // The call has content if the kernel is in a variable, or needs one.
      using Values = Bytes<Call, std::decay_t<Arguments>...>;
      const Values bytes(call, arguments...);
      const size_t identity = std::is_empty_v<Call> ? 0 : identity_of(&call, sizeof call);
      const bool varies = !std::is_empty_v<Call> && identity == 0;
      const bool known = Values::known && !varies;
      const auto address = reinterpret_cast<size_t>(&run_lane<Body>);
      launch(configuration, lane_code<Body>,
             {&lane, known ? bytes.content : nullptr, Values::count, reinterpret_cast<const void*>(address + identity),
              varies});
    }
  }
};

template <class Call, bool refers>
struct LaunchableKernel {
  Call call;
  ConfiguredKernel<Call> at(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) const {
    return {call, {grid, block, shared, false, stream, refers}};
  }
};

template <class Call>
LaunchableKernel<Call, false> launching(Call call) {
  return {call};
}
/// The call refers to variables of the program.
template <class Call>
LaunchableKernel<Call, true> launching_of_expression(Call call) {
  return {call};
}

template <class... Parameters, size_t... i>
cudaError_t launch_from_list(void (*kernel)(Parameters...), const Configuration& configuration, void** arguments,
                             std::index_sequence<i...>) {
  // As if they were temporaries: bytes that no launch destroys.
  auto lane = [kernel, ... values = kept(std::move(*static_cast<std::decay_t<Parameters>*>(
                           arguments[i])))]() mutable BANKWISE_NOT_THE_KERNEL { kernel(value_of(values)...); };
  using Values = Bytes<std::decay_t<Parameters>...>;
  const Values bytes(*static_cast<std::decay_t<Parameters>*>(arguments[i])...);
  return launch(configuration, lane_code<decltype(lane)>,
                {&lane, Values::known ? bytes.content : nullptr, Values::count, reinterpret_cast<const void*>(kernel)});
}

// All kernels are alike in what the emulator knows of them.
cudaError_t set_attribute(cudaFuncAttribute attribute, int value);
cudaError_t get_attributes(cudaFuncAttributes* attributes);
/// Blocks of one multiprocessor, and of the device.
int resident_blocks(int block, size_t shared);
int blocks_on_device(int block, size_t shared);

}  // namespace bankwise::emulator::runtime

// bankcheck removes a cast of the kernel to void*, because its parameters are needed.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                             cudaStream_t stream = nullptr) {
  return bankwise_runtime::launch_from_list(kernel, {grid, block, shared, false, stream}, arguments,
                                            std::index_sequence_for<Parameters...>());
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                             cudaStream_t stream = nullptr)
    __attribute__((__error__("cudaLaunchKernel with a kernel that is a void* is not emulated")));

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                        size_t shared = 0, cudaStream_t stream = nullptr) {
  (void)bankwise_runtime::HasCooperativeLaunch<Parameters...>::known;
  return bankwise_runtime::launch_from_list(kernel, {grid, block, shared, true, stream}, arguments,
                                            std::index_sequence_for<Parameters...>());
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                                        cudaStream_t stream = nullptr)
    __attribute__((__error__("cudaLaunchCooperativeKernel with a kernel that is a void* is not emulated")));

// clang-format off
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeAccessPolicyWindow = 1, cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3, cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5, cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative, priority, programmaticStreamSerializationAllowed;
  struct { unsigned x, y, z; } clusterDim;
};
struct cudaLaunchAttribute { cudaLaunchAttributeID id; cudaLaunchAttributeValue val; };
// clang-format on
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* configuration, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const std::tuple<std::decay_t<Parameters>...> values(arguments...);
  return std::apply(
      [&](auto&... value) {
        void* list[] = {const_cast<void*>(static_cast<const void*>(&value))..., nullptr};
        bool cooperative = false;
        for (unsigned i = 0; i < configuration->numAttrs; ++i) {
          const cudaLaunchAttribute& attribute = configuration->attrs[i];
          cooperative |= attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
        }
        return bankwise_runtime::launch_from_list(kernel,
                                                  {configuration->gridDim, configuration->blockDim,
                                                   configuration->dynamicSmemBytes, cooperative, configuration->stream},
                                                  list, std::index_sequence_for<Parameters...>());
      },
      values);
}

// clang-format off
template <class Kernel>
BANKWISE_RUNTIME(cudaFuncSetAttribute, (Kernel, cudaFuncAttribute attribute, int value), set_attribute(attribute, value))
template <class Kernel>
BANKWISE_RUNTIME(cudaFuncGetAttributes, (cudaFuncAttributes* attributes, Kernel), get_attributes(attributes))
template <class Kernel>
BANKWISE_FUNCTION(cudaError_t, cudaFuncSetCacheConfig, (Kernel, cudaFuncCache), cudaSuccess)
template <class Kernel>
BANKWISE_FUNCTION(cudaError_t, cudaFuncSetSharedMemConfig, (Kernel, cudaSharedMemConfig), cudaSuccess)
template <class Kernel>
BANKWISE_RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int* blocks, Kernel, int block, size_t shared),
                 give(blocks, bankwise_runtime::resident_blocks(block, shared)))
template <class Kernel>
BANKWISE_RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                 (int* blocks, Kernel, int block, size_t shared, unsigned),
                 give(blocks, bankwise_runtime::resident_blocks(block, shared)))
// clang-format on
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel, size_t shared = 0, int limit = 0) {
  *block = limit > 0 && limit < 1024 ? limit : 1024;
  *grid = bankwise_runtime::blocks_on_device(*block, shared);
  return cudaSuccess;
}
template <class Kernel, class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel kernel, Function shared,
                                                           int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, size_t(shared(1024)), limit);
}
