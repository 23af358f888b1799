// A layout of an array as code to paste, as far as its declaration is known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {

/// How an array is written in code.
struct WrittenArray {
  std::string name, head;               ///< "tile"; "__shared__ float ", "" without a known declaration
  fit::ArrayShape shape;                ///< one dimension if the code needs the number of an element
  std::vector<std::string> dimensions;  ///< of the declaration, one for each of the shape; empty if they are not known
  std::vector<std::string> operands;    ///< the same, in parentheses where a larger expression needs them
  std::string pitch;                    ///< of an array with one dimension whose indices have rows; "": none
  bool by_number = false;               ///< its declaration has dimensions that the shape does not know
  bool dynamic = false;                 ///< the launch decides its size
};

/// Whether the launch decides the size of an array.
bool is_dynamic(std::string_view name, const std::optional<ArraySource>& source, bool is_opencl);

WrittenArray written(const fit::ArrayFit& array, const std::optional<ArraySource>& source, bool is_opencl);

/// A layout as the changes of the code: each "" if there is none.
struct LayoutCode {
  std::string declaration;       ///< "tile[TILE][TILE + 1]", "1,056 elements", "elements of 20 bytes"
  std::string old_index, index;  ///< "tile[y][x]", "tile[y][x ^ y]"
  std::string number;            ///< what the i of the index is, if it has one: "y * 16 + x"
};

LayoutCode layout_code(const fit::ArrayFit& array, const WrittenArray& code, const fit::PricedOption& option);

/// What the chosen layout changes, in one line: "tile[y][x] -> tile[y][x ^ y]".
std::string chosen_text(const fit::ArrayFit& array, const WrittenArray& code);

/// The rest of the chosen layout for an array whose lines cannot be rewritten here: lines, indented by two blanks.
std::string by_hand_text(const fit::ArrayFit& array, const std::optional<ArraySource>& source,
                         const WrittenArray& code);

}  // namespace bankwise::driver
