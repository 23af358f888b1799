// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/access_kinds.hpp"

#include <array>

namespace bankwise::cuda {
namespace {

// Numbers of Sanitizer_InstructionId (sanitizer_patching.h), since older headers lack the last ones, and the tests
// need none.
constexpr PatchPoint POINTS[] = {
    {4, "bankwise_shared_access", "accesses to shared memory", true},
    {14, "bankwise_async_copy", "asynchronous copies", true},
    {17, "bankwise_remote_access", "accesses to other blocks' shared memory", false},
    {19, "bankwise_matrix_access", "ldmatrix and stmatrix", true},
    {23, "bankwise_wgmma", "wgmma", false},
    {26, "bankwise_async_store", "st.async", false},
    {27, "bankwise_async_reduction", "red.async", false},
    {30, "bankwise_bulk_global_to_shared", "bulk copies to shared memory", false},
    {32, "bankwise_bulk_fill_shared", "st.bulk", false},
    {35, "bankwise_bulk_shared_to_global", "bulk copies from shared memory", false},
    {36, "bankwise_bulk_shared_to_shared", "bulk copies between blocks", false},
    {37, "bankwise_bulk_reduce_shared_to_global", "bulk reductions to global memory", false},
    {38, "bankwise_bulk_reduce_shared_to_shared", "bulk reductions between blocks", false},
    {43, "bankwise_tma_load", "TMA loads", false},
    {44, "bankwise_tma_store", "TMA stores", false},
};

constexpr std::array<std::string_view, std::size_t(Source::end) - std::size_t(Source::first_bulk)> BULK = {
    "bulk_global_to_shared",
    "bulk_shared_to_global",
    "bulk_shared_to_shared",
    "bulk_reduce_shared_to_global",
    "bulk_reduce_shared_to_shared",
    "bulk_fill_shared",
    "tma_load",
    "tma_store",
    "wgmma",
};

constexpr std::string_view KINDS[][3] = {
    {"load", "store", "atomic"},                          // Source::shared
    {"async", "async", "async"},                          // async_copy
    {"ldmatrix", "stmatrix", "stmatrix"},                 // matrix
    {"remote_load", "remote_store", "remote_atomic"},     // remote
    {"remote_store", "remote_store", "remote_store"},     // async_store
    {"remote_atomic", "remote_atomic", "remote_atomic"},  // async_reduction
};
static_assert(std::size(KINDS) == std::size_t(Source::first_bulk));

}  // namespace

std::span<const PatchPoint> patch_points() {
  return POINTS;
}

std::string_view kind_of_access(std::uint32_t what) {
  const std::uint32_t source = (what & ~COSTED) >> 24;
  // The count of matrices is in the flags from bit 8 on.
  const std::uint32_t flags = source == std::uint32_t(Source::matrix) ? what & 0xff : what & 0xffff;
  return source < std::size(KINDS) ? KINDS[source][direction(flags)] : "unknown";
}

std::string_view name_of_bulk(std::uint32_t what) {
  const std::uint32_t source = what >> 24;
  if (source < std::uint32_t(Source::first_bulk) || source >= std::uint32_t(Source::end)) return {};
  return BULK[source - std::uint32_t(Source::first_bulk)];
}

}  // namespace bankwise::cuda
