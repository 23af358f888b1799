// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <bankwise/banks/cost.hpp>

namespace bankwise {

/// What each bank does in one lane group: `turns[t][bank]` are the lanes that it serves in turn t.
struct LaneGroupPicture {
  std::string title;  ///< "lanes 0-31: 1 pass"
  std::vector<std::vector<std::vector<unsigned>>> turns;
};

/// The picture of an access that has the cost `cost`.
struct BankPicture {
  unsigned banks = 0;
  std::vector<LaneGroupPicture> lane_groups;
};
BankPicture picture(const banks::Architecture& architecture, const banks::Access& access, const banks::Cost& cost);

/// Whether a bank has more to do than one turn.
bool collides(const LaneGroupPicture& lane_group, std::size_t bank);

/// The lanes of a turn, at least one, in the room of a cell: the first, and a plus if there are more.
std::string cell_text(const std::vector<unsigned>& lanes);

/// Lanes as a person writes them: "0-7, 16, 18-20".
std::string lane_ranges(std::uint64_t lanes);

/// For a terminal of so many columns: banks across, lanes in the cells. '!' marks, and red if `colour`, the
/// cells of a bank that needs more turns than one. Of each lane group the first `max_turns` are shown.
std::string to_text(const BankPicture& picture, unsigned columns, bool colour, unsigned max_turns = ~0U);

/// The same as a file of its own.
std::string to_svg(const BankPicture& picture, const std::string& title);

}  // namespace bankwise
