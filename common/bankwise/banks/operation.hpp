// Also compiles as C++17: kernels that the emulator runs see it.
#pragma once

#include <optional>
#include <string_view>

namespace bankwise::banks {

/// What an instruction does with shared memory. `atomic`: 32-bit integer atomics (add, min, max, and, or, xor,
/// exchange), and the exchange of 64 bits. Other atomics on 64 bits and those on floating-point numbers are compiled to
/// loops, whose cost trace/warps.hpp has.
/// `atomic_inc` adds the constant 1 and drops the result; nvcc emits a separate instruction for it from compute
/// capability 8.0 on. ldmatrix and stmatrix move 1, 2 or 4 matrices of eight 16-byte rows; lane l gives the address of
/// row l. `cp_async` copies from global memory through the L1 cache (cp.async.ca), `cp_async_cg` past it. `ds_read_tr`
/// are AMD's loads that transpose between the lanes: ds_read_b64_tr_b16, ds_load_tr16_b128 and the like.
enum class Operation {
  load,
  store,
  atomic,
  atomic_inc,
  atomic_cas,
  ldmatrix_x1,
  ldmatrix_x2,
  ldmatrix_x4,
  stmatrix_x1,
  stmatrix_x2,
  stmatrix_x4,
  cp_async,
  cp_async_cg,
  ds_read_tr,
};
inline constexpr int operation_count = 14;

/// "load", "atomic.inc", "ldmatrix.x4".
std::string_view to_string(Operation operation);
std::optional<Operation> operation_named(std::string_view name);

/// Rows that a matrix operation moves; lanes 0, 1, 2 ... give their addresses. 0 for all other operations.
constexpr unsigned matrix_rows(Operation operation) {
  constexpr unsigned rows[operation_count]{0, 0, 0, 0, 0, 8, 16, 32, 8, 16, 32, 0, 0, 0};
  return rows[int(operation)];
}

/// Whether the operation copies from global to shared memory, so that its lanes have sources.
constexpr bool is_copy(Operation operation) {
  return operation == Operation::cp_async || operation == Operation::cp_async_cg;
}

}  // namespace bankwise::banks
