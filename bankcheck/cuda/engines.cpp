#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "bankcheck/cuda/resolve_parts.hpp"

namespace bankwise::cuda {
namespace {

using banks::Engine;
using banks::EngineWork;
using banks::Operation;

/// How the record calls an instruction, and what it is.
struct EngineKind {
  std::string_view name;
  Engine engine;
  std::string_view cause;
  std::optional<Operation> global;  ///< what it does in global memory
};
constexpr EngineKind engine_kinds[]{
    {"bulk_global_to_shared", Engine::bulk_load, "bulk copies", Operation::load},
    {"bulk_shared_to_global", Engine::bulk_store, "bulk copies", Operation::store},
    {"bulk_reduce_shared_to_global", Engine::bulk_reduce, "bulk copies", Operation::atomic},
    {"bulk_shared_to_shared", Engine::bulk_copy, "bulk copies", std::nullopt},
    {"bulk_reduce_shared_to_shared", Engine::bulk_reduce, "reductions into other blocks", std::nullopt},
    {"bulk_fill_shared", Engine::bulk_fill, "st.bulk", std::nullopt},
    {"tma_load", Engine::tensor_load, "TMA loads", Operation::load},
    {"tma_store", Engine::tensor_store, "TMA stores", Operation::store},
    {"wgmma", Engine::wgmma, "wgmma", std::nullopt},
};

const EngineKind* kind_of(const BulkCopies& copies) {
  const auto* const kind = std::ranges::find(engine_kinds, copies.kind, &EngineKind::name);
  return kind == std::end(engine_kinds) ? nullptr : kind;
}

/// A record may have any kind, and a trace has few causes.
std::string cause_of(const EngineKind* kind, const BulkCopies& copies) {
  if (kind != nullptr) return std::string(kind->cause);
  return copies.kind == "tcgen05" ? copies.kind : "instructions of an unknown kind";
}

// --- Tensor maps of compute capability 9.0 --------------------------------------------------------------------------
//
// NVIDIA does not document them. The fields are those that ptxas 13.0 writes for tensormap.replace, whose modifiers
// name them, alike for compute capability 9.0, 10.0 and 12.0; tests compare them with maps that the driver, cuBLAS and
// cuDNN made for an H200. All fields are in the first 64 of the 128 bytes of a CUtensorMap: libraries make no more.

/// `width` bits of a word.
constexpr std::uint32_t bits(std::uint32_t word, unsigned bit, unsigned width) {
  return word >> bit & ((1U << width) - 1);
}

/// Bytes of an element, by its type.
constexpr std::array<unsigned, 11> element_bytes{1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2};

constexpr std::uint32_t load_im2col = 1;  // of Sanitizer_LoadMode; less is tiled, more is not known

/// Bytes that a load writes, and those of a row of its box.
struct Box {
  std::uint64_t bytes = 0;
  std::uint32_t row_bytes = 0;
};

/// `words`: 2 and 13 to 15 of the map.
std::optional<Box> box_of(std::uint32_t mode, const std::uint32_t* words) {
  const std::uint32_t rank = bits(words[0], 4, 3) + 1, type = bits(words[0], 7, 4);
  if (rank > 5 || type >= element_bytes.size() || mode > load_im2col) return std::nullopt;
  // A map has its mode, too. Bit 1 is set in maps of cuBLAS and cuDNN, and not in those of the driver.
  if ((bits(words[0], 0, 4) & ~2U) != mode) return std::nullopt;
  // Channels of a pixel, or elements of the innermost dimension.
  Box box{.row_bytes = (bits(words[1], 24, 8) + 1) * element_bytes[type]};
  box.bytes = box.row_bytes;
  if (mode == load_im2col) {
    box.bytes *= bits(words[3], 0, 10) + 1;  // pixels
  } else {
    for (unsigned dimension = 1; dimension < rank; ++dimension) {
      const std::uint32_t elements = bits(words[2], 8 * (dimension - 1), 8) + 1;
      const std::uint32_t step = bits(words[1], 3 * dimension, 3) + 1;  // takes every so many of them
      box.bytes *= (elements + step - 1) / step;
    }
  }
  // The hardware moves whole multiples of 16 bytes into 228 KiB of shared memory at most.
  return box.row_bytes % 16 == 0 && box.bytes <= 228 << 10 ? std::optional(box) : std::nullopt;
}

}  // namespace

std::optional<EngineWork> work_of(const BulkCopies& copies) {
  const EngineKind* const kind = kind_of(copies);
  const auto& words = copies.words;
  if (kind == nullptr || words.size() < 6 || kind->engine == Engine::tensor_store) return std::nullopt;
  if (kind->engine == Engine::bulk_reduce && !kind->global) return std::nullopt;  // its time has no rule
  EngineWork work{.engine = kind->engine, .bytes = words[0]};
  if (kind->engine == Engine::wgmma) {
    work.bytes += words[1];
    if (work.bytes == 0) return std::nullopt;  // B is always in shared memory
  } else if (kind->engine == Engine::tensor_load) {
    const auto box = box_of(words[0], &words[2]);
    if (!box) return std::nullopt;
    work.bytes = box->bytes * words[1];
    if (work.bytes > 0) work.row_bytes = box->row_bytes;  // cuDNN multicasts to no block where it has no rows left
  } else {
    work.bytes *= words[2];
  }
  constexpr std::uint64_t max_bytes = 1 << 30;  // of a trace
  return work.bytes > max_bytes ? std::nullopt : std::optional(work);
}

bool is_global(const BulkCopies& copies) {
  const EngineKind* const kind = kind_of(copies);
  return kind != nullptr && kind->global;
}

std::optional<BulkSectors> sectors_of(const BulkCopies& copies) {
  const EngineKind* const kind = kind_of(copies);
  if (kind == nullptr || !kind->global || copies.words.size() < 3 || copies.kind.starts_with("tma")) {
    return std::nullopt;
  }
  const std::uint64_t bytes = copies.words[0], offset = copies.words[1];
  const auto blocks = [&](std::uint64_t size) { return bytes == 0 ? 0 : (offset % size + bytes + size - 1) / size; };
  const banks::SectorCost cost{unsigned(blocks(32)), unsigned((bytes + 31) / 32), unsigned(blocks(128)),
                               unsigned(bytes)};
  BulkSectors sectors{.operation = *kind->global};
  sectors.tally.add(1, &cost, copies.count);
  return sectors;
}

UnseenCopies unseen_copies(const RecordedKernel& kernel, const Code& code, bool sees_loads, bool sees_stores) {
  UnseenCopies unseen;
  constexpr std::uint64_t instruction_bytes = 16, max_bytes = 16 << 20;  // of a kernel
  const std::uint64_t end = code.cubin == nullptr ? 0 : std::min(kernel.bytes, max_bytes);
  for (std::uint64_t pc = 0; pc < end; pc += instruction_bytes) {
    const auto opcode = code.opcode_at(pc);
    if (opcode == "UTMALDG" && !sees_loads) ++unseen.loads;
    if ((opcode == "UTMASTG" || opcode == "UTMAREDG") && !sees_stores) ++unseen.stores;
  }
  return unseen;
}

void add_engines(const RecordedKernel& kernel, const Code& code, trace::Builder& builder) {
  for (const BulkCopies& copies : kernel.bulk) {
    if (copies.kind.starts_with("sectors_")) continue;
    constexpr std::uint64_t warps = 4;  // of a warpgroup, each of which is recorded
    const std::uint64_t count = copies.kind == "wgmma" ? (copies.count + warps - 1) / warps : copies.count;
    auto work = work_of(copies);
    // Version 2026.4 of NVIDIA's library reports no bytes for the wgmma of 8-bit floating-point numbers with N = 8.
    if (!work && copies.kind == "wgmma" && code.cubin != nullptr) {
      const std::uint64_t bytes = code.cubin->wgmma_bytes_at(code.function, copies.pc);
      if (bytes > 0) work = EngineWork{.engine = Engine::wgmma, .bytes = bytes};
    }
    if (work) {
      builder.add(trace::EngineAccesses{builder.site(site_of(code, copies.pc)), *work, count});
    } else {
      builder.trace().left_out[cause_of(kind_of(copies), copies)] += count;
    }
  }
  // Their number is not known, which 0 says.
  if (code.unseen.loads > 0) builder.trace().left_out["TMA loads"] += 0;
  if (code.unseen.stores > 0) builder.trace().left_out["TMA stores"] += 0;
}

}  // namespace bankwise::cuda
