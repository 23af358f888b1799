// SPDX-License-Identifier: MIT
#include <bankwise/support/suggestion.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include <bankwise/support/in_quotes.hpp>

namespace bankwise {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string no_such_but(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                        std::string_view hint) {
  const auto nearest = std::min_element(
      known.begin(), known.end(), [&](auto a, auto b) { return edit_distance(a, name) < edit_distance(b, name); });
  constexpr std::size_t near_enough = 3;
  const std::size_t distance = edit_distance(*nearest, name);
  if (distance > near_enough || distance >= name.size()) {  // of a short name, no letter may be left
    return fmt::format("there is no {} {}; {}", kind, in_quotes(name), hint);
  }
  return fmt::format("there is no {} {}; did you mean '{}'? {}", kind, in_quotes(name), *nearest, hint);
}

std::string no_such(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known,
                    std::string_view where) {
  return no_such_but(kind, name, known, fmt::format("{} shows all", where));
}

}  // namespace bankwise
