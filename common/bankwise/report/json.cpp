// SPDX-License-Identifier: MIT
#include <bankwise/report/json.hpp>

#include <fmt/format.h>

namespace bankwise {
namespace {

/// One line. A byte that is not UTF-8, in a file name or a compiler's log, becomes the replacement character.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json json_of(const Timing& timing) {
  Json samples = Json::array();
  for (const double sample : timing.samples) samples.push_back(to_picoseconds(sample));
  return {{"batch", timing.batch},
          {"time_median_s", or_null(timing.median)},
          {"time_min_s", or_null(timing.min)},
          {"noise", or_null(timing.noise)},
          {"stop", timing.stop},
          {"samples_s", samples},
          {"samples_dropped", timing.dropped},
          {"launch_overhead", timing.launch_overhead}};
}

std::string text_of(const Json& document) {
  std::string text = "{\n";
  for (auto entry = document.begin(); entry != document.end(); ++entry) {
    text += fmt::format("{}: ", line_of(entry.key()));
    if (!entry->is_array() || entry.key() == "command" || entry->empty()) {
      text += line_of(*entry);
    } else {
      text += "[";
      for (std::size_t i = 0; i < entry->size(); ++i) text += (i == 0 ? "\n  " : ",\n  ") + line_of((*entry)[i]);
      text += "\n]";
    }
    text += std::next(entry) == document.end() ? "\n" : ",\n";
  }
  return text + "}\n";
}

}  // namespace bankwise
