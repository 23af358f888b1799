// An access as a user of the page types it: an index in code, a declaration, a block, and values of variables; and what
// bankcheck fit proposes for it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/predict/predict.hpp"

namespace bankwise::explorer {

/// A sentence about one field of the page: "index", "declaration", "block".
struct FieldError : support::UsageError {
  FieldError(std::string name, const std::string& sentence) : UsageError(sentence), field(std::move(name)) {}
  std::string field;
};

struct TypedCode {
  std::string index;        ///< "tile[threadIdx.x][i]", "33*tid", "(tid % 8, i)", or a CuTe layout of the lanes
  std::string declaration;  ///< "", "float tile[32][33]", "half s = Swizzle<3,3,3> o (8,64):(64,1)"
  std::array<unsigned, 3> block{64, 1, 1};
  std::map<std::string, std::int64_t> variables;  ///< the same in all lanes
};

/// The parts of the code, and the byte that each lane accesses first.
struct TypedAccess {
  std::string name;                            ///< the array's; "" if the code names none
  std::string type;                            ///< of an element, as typed; "" if it is not declared
  std::uint64_t element = 0;                   ///< bytes
  std::vector<std::uint64_t> lengths;          ///< of a declared array
  std::vector<std::string> dimensions;         ///< the same as typed
  std::optional<predict::CuteLayout> layout;   ///< instead of lengths
  bool layout_in_index = false;                ///< the declaration, if any, is not used
  std::size_t layout_at = 0;                   ///< where its text begins in the declaration, or in the index
  bool lane_is_element = false;                ///< lane k accesses element k of the layout: no coordinate was typed
  std::vector<std::string> subscripts;         ///< as typed, one for each dimension
  std::map<std::string, std::int64_t> values;  ///< of all variables of the code
  std::string lane_name;                       ///< a variable that was taken for the lane number
  std::uint64_t mask = 0;                      ///< active lanes that the block has
  std::vector<std::uint32_t> addresses;        ///< for each lane
  std::string outside;     ///< which index is outside of its dimension, or which access ends past the declared array
  std::string block_hint;  ///< what would bring it inside: "set the block, for example 16 x 16"

  unsigned width = 0;  ///< bytes per lane
  bool is_declared() const { return !lengths.empty() || layout; }
};

/// The access of the first warp of a block. `width` 0: that of an element, 4 if it is not known. Error: FieldError.
TypedAccess typed_access(const TypedCode& code, unsigned width, std::uint64_t mask);

/// {"verdict", "passes", "ideal", "fixes": [{"change", "passes", "bytes", "code": [lines], "apply": {field: text}?}]},
/// the proposed fix first. `typed`: null if the access was pasted, so that nothing can be applied.
nlohmann::ordered_json fix_of(const predict::Prediction& prediction, const TypedAccess* typed, const TypedCode& code);

}  // namespace bankwise::explorer
