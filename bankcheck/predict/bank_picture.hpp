#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise::predict {

/// The lanes that each bank serves in one lane group, pass by pass: `turns[t][bank]` are the lanes of row t.
struct LaneGroupPicture {
  std::string title;             ///< "lanes 0-31: 1 pass"
  unsigned passes_per_turn = 1;  ///< 2 for atomic.cas: rows are then labelled pass 1, pass 3, ...
  std::vector<std::vector<std::vector<unsigned>>> turns;
};

/// The picture of an access that has the cost `cost`.
struct BankPicture {
  unsigned banks = 0;
  std::vector<LaneGroupPicture> lane_groups;
};
/// Without lane groups for copies: in which pass they serve a lane is not known.
BankPicture picture(const banks::Architecture& architecture, const banks::Access& access, const banks::Cost& cost);

/// The label of a row: "pass 1".
std::string pass_label(const LaneGroupPicture& lane_group, std::size_t turn);

/// Whether a bank serves the lane group in more than one row.
bool collides(const LaneGroupPicture& lane_group, std::size_t bank);

/// The text of a cell for its lanes, at least one: the first lane, followed by a plus if there are more.
std::string cell_text(const std::vector<unsigned>& lanes);

/// The lanes of a mask as ranges: "0-7, 16, 18-20".
std::string lane_ranges(std::uint64_t lanes);

/// The picture for a terminal of `columns` columns: banks across, lanes in the cells. The cells of a bank that needs
/// more than one row are marked by '!'. Shows at most `max_turns` rows of each lane group.
std::string to_text(const BankPicture& picture, unsigned columns, unsigned max_turns = ~0U);

/// A text with such pictures: marked cells are red, and idle ones are dim.
std::string coloured(std::string_view text);

/// The same picture as an SVG file.
std::string to_svg(const BankPicture& picture, const std::string& title);

}  // namespace bankwise::predict
