#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <bankwise/banks/address_shape.hpp>
#include <bankwise/report/kernel_text.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {
namespace {

namespace fs = std::filesystem;

/// A line of a source file without its indentation; "" if it cannot be read. `files` keeps the lines of each.
std::string source_line(const trace::Site& site, std::map<std::string, std::vector<std::string>>& files) {
  const auto [lines, is_new] = files.try_emplace(site.file);
  if (is_new) {
    std::ifstream file(site.file);
    for (std::string text; std::getline(file, text);) lines->second.push_back(text);
  }
  if (site.line == 0 || site.line > lines->second.size()) return "";
  const std::string& text = lines->second[site.line - 1];
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// The shortest path that leads there from the current directory.
std::string shown(const std::string& file) {
  std::error_code error;
  const std::string relative = fs::path(file).lexically_relative(fs::current_path(error)).string();
  return error || relative.empty() || relative.starts_with("..") ? file : relative;
}

using Range = std::pair<std::size_t, std::size_t>;

bool is_letter(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Where an expression such as name[y][x] ends that begins at `from`; `from` if no subscript follows the name.
std::size_t end_of_subscripts(std::string_view text, std::size_t from, std::size_t name) {
  std::size_t end = from;
  for (std::size_t at = from + name; at < text.size() && text[at] == '['; at = end) {
    int depth = 0;
    std::size_t next = at;
    do {
      depth += text[next] == '[' ? 1 : text[next] == ']' ? -1 : 0;
    } while (++next < text.size() && depth > 0);
    if (depth > 0) return end;
    end = next;
  }
  return end;
}

/// Whether a store to the expression before `end` follows.
bool is_assigned(std::string_view text, std::size_t end) {
  const std::size_t sign = text.find_first_not_of(" \t", end);
  if (sign == std::string_view::npos) return false;
  const std::string_view rest = text.substr(sign);
  return (rest[0] == '=' && !rest.starts_with("==")) ||
         (rest.size() > 1 && rest[1] == '=' && std::string_view("+-*/%&|^").find(rest[0]) != std::string_view::npos);
}

/// Whether the statement up to `at` begins a declaration in shared memory: what follows are lengths.
bool is_declared(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::string_view statement = before.substr(before.find_last_of(";{") + 1);
  return statement.find("__shared__") != statement.npos || statement.find("local ") != statement.npos;
}

/// The subscripted array in a line: if it occurs several times, where the access is, or as the operation asks for.
Range place_of_access(const ShownLine& shown, const trace::LineReport& line) {
  const std::string_view text = shown.source, name = line.array;
  std::vector<Range> all, fitting;
  for (auto at = text.find(name); at != std::string_view::npos && !name.empty(); at = text.find(name, at + 1)) {
    if ((at > 0 && is_letter(text[at - 1])) || is_declared(text, at)) continue;
    const std::size_t end = end_of_subscripts(text, at, name.size());
    if (end == at) continue;
    all.emplace_back(at, end);
    const bool stores = line.operation == banks::Operation::store, assigned = is_assigned(text, end);
    if (shown.at != std::string::npos ? at <= shown.at && shown.at < end : stores == assigned)
      fitting.push_back(all.back());
  }
  const std::vector<Range>& found = fitting.empty() ? all : fitting;
  const auto same = [&](Range range) {
    return text.substr(range.first, range.second - range.first) ==
           text.substr(found[0].first, found[0].second - found[0].first);
  };
  if (!found.empty() && std::ranges::all_of(found, same)) return found.front();
  const std::size_t begin = shown.at < text.size() ? shown.at : found.empty() ? 0 : found.front().first;
  return {begin, begin};  // somewhere there
}

/// A part of the text of at most `width` bytes that shows the access; "..." stands for what is left out.
std::string excerpt(const ShownLine& shown, const trace::LineReport& line, std::size_t width) {
  constexpr std::string_view dots = "...";
  const std::string_view text = shown.source;
  if (text.size() <= width) return std::string(text);
  const auto [begin, end] = place_of_access(shown, line);
  std::size_t from = 0, to = width - dots.size();
  if (end > to) {
    const std::size_t room = width - 2 * dots.size(), length = std::min(end - begin, room);
    from = std::min(begin - std::min(begin, (room - length) / 2), text.size() - room);
    to = from + room;
    if (to + dots.size() >= text.size()) to = text.size();
  }
  while (support::is_inside_character(text, from)) ++from;
  while (support::is_inside_character(text, to)) --to;
  std::string part(text.substr(from, to - from));
  if (from > 0) part.insert(0, dots);
  return to < text.size() ? part.append(dots) : part;
}

/// The indices of the elements, that with the largest key first.
template <class List, class Key>
std::vector<std::size_t> largest_first(const List& list, Key key_of) {
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return key_of(list[i]); });
  return order;
}

using Row = std::vector<std::string>;

Row numbers_of(const banks::Tally& tally, const banks::Tally* merged) {
  Row numbers{support::grouped(tally.accesses), fmt::format("{:.1f}", lanes_per_access(tally).value_or(0)),
              passes_number(tally), ideal_number(tally), conflicts_number(tally)};
  if (merged != nullptr) numbers.insert(numbers.end(), {passes_number(*merged), conflicts_number(*merged)});
  return numbers;
}

std::size_t width_of(const std::vector<Row>& rows) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    sum += 2 + std::ranges::max(rows, {}, [&](const Row& row) { return row[i].size(); })[i].size();
  }
  return sum;
}

/// The columns of a table without those that may go, until it fits.
void narrow(std::vector<Row>& rows, std::size_t columns) {
  for (const char* column : {"lanes", "accesses", "merged conflicts", "merged"}) {
    if (width_of(rows) <= columns) return;
    const auto at = std::ranges::find(rows[0], column) - rows[0].begin();
    if (std::size_t(at) == rows[0].size()) continue;
    for (Row& row : rows) row.erase(row.begin() + at);
  }
}

/// The table, with the source where there is room for it. `source` gives what is in a row, from 1, in so many columns.
template <class Source>
std::string with_source(std::vector<Row> rows, std::size_t columns, Source source) {
  const std::string bare = support::format_table(rows, 3);
  constexpr std::size_t gap = 2, fewest = 16;
  const std::size_t used = bare.find('\n') + gap, room = columns - std::min(columns, used);
  if (room < fewest) return bare;
  rows[0].emplace_back("source");
  for (std::size_t row = 1; row < rows.size(); ++row) rows[row].push_back(source(row, room));
  return support::format_table(rows, 3, true);
}

constexpr const char* time_head = "time at most";
constexpr std::size_t most_rows = 20;  // code without source lines has a row for each instruction

/// The sum of the costs that are known.
std::string known_costs(banks::Tally tally) {
  tally.unknown = 0;
  return fmt::format("{} accesses: {} passes, ideal {}, conflicts {}", support::grouped(tally.accesses),
                     passes_number(tally), ideal_number(tally), conflicts_number(tally));
}

}  // namespace

std::vector<std::size_t> by_cost(const trace::Report& report) {
  return largest_first(report.lines, [](const trace::LineReport& line) {
    return std::pair(most_conflicts(line.costs), line.costs.passes);
  });
}

std::string_view access_in(const ShownLine& shown, const trace::LineReport& line) {
  const auto [begin, end] = place_of_access(shown, line);
  return std::string_view(shown.source).substr(begin, end - begin);
}

std::string line_table(const trace::Report& report, const std::vector<ShownLine>& shown, const TableOptions& options) {
  const bool merged = trace::merging_matters(report);
  std::vector<Row> rows{{"where", "access", "array", "accesses", "lanes", "passes", "ideal", "conflicts"}};
  if (merged) rows[0].insert(rows[0].end(), {"merged", "merged conflicts"});
  if (!options.times.empty()) rows[0].emplace_back(time_head);
  std::vector<std::size_t> order = by_cost(report);
  banks::Tally rest, rest_merged;
  const std::size_t others = options.everything || order.size() <= most_rows + 1 ? 0 : order.size() - most_rows;
  for (; order.size() > report.lines.size() - others; order.pop_back()) {
    rest.add(report.lines[order.back()].costs);
    rest_merged.add(report.lines[order.back()].merged);
  }
  constexpr std::size_t average = 1;  // of lanes: no sum, and no lower bound
  const auto add = [&](Row row, const Row& numbers, const std::string& time) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      row.push_back((options.at_least && i != average ? ">=" : "") + numbers[i]);
    if (!options.times.empty()) row.push_back(time);
    rows.push_back(std::move(row));
  };
  for (const std::size_t i : order) {
    const trace::LineReport& line = report.lines[i];
    add({shown[i].where, fmt::format("{} {}", to_string(line.operation), line.width), line.array},
        numbers_of(line.costs, merged ? &line.merged : nullptr), options.times.empty() ? "" : options.times[i]);
  }
  if (others > 0)
    add({fmt::format("{} other lines", others), "", ""}, numbers_of(rest, merged ? &rest_merged : nullptr), "");
  if (options.total) {
    const banks::Tally all = report.with_lanes(), left = trace::merged(report).with_lanes();
    add({"all", "", ""}, numbers_of(all, merged ? &left : nullptr), "");
  }
  narrow(rows, options.columns);
  return with_source(std::move(rows), options.columns, [&](std::size_t row, std::size_t room) {
    const bool is_total = row > order.size();
    return is_total ? "" : excerpt(shown[order[row - 1]], report.lines[order[row - 1]], room);
  });
}

std::string engines_text(const trace::Report& report, bool with_passes) {
  std::set<banks::Engine> engines;
  for (const trace::EngineLineReport& line : report.engine_lines) {
    if (!with_passes || line.costs.passes > 0) engines.insert(line.engine);
  }
  std::string text;
  for (const banks::Engine engine : engines) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(engine));
  return text;
}

std::string engine_table(const trace::Report& report, const std::vector<ShownLine>& shown,
                         const TableOptions& options) {
  std::vector<Row> rows{{"where", "engine", "rows", "count", "bytes", "passes", "conflicts"}};
  const std::string before = options.at_least ? ">=" : "";
  const std::size_t lines = report.engine_lines.size();
  const std::size_t shown_lines = options.everything || lines <= most_rows + 1 ? lines : most_rows;
  trace::EngineLineReport sums[2];  // of what is not shown, and of all
  const auto add = [&](Row row, const trace::EngineLineReport& line) {
    for (const std::string& number : {support::grouped(line.costs.accesses), support::grouped(line.bytes),
                                      passes_number(line.costs), conflicts_number(line.costs)})
      row.push_back(before + number);
    rows.push_back(std::move(row));
  };
  const auto order = largest_first(report.engine_lines, [](const auto& line) { return line.bytes; });
  for (std::size_t row = 0; row < lines; ++row) {
    const trace::EngineLineReport& line = report.engine_lines[order[row]];
    for (std::size_t sum = row < shown_lines ? 1 : 0; sum < 2; ++sum) {
      sums[sum].bytes += line.bytes;
      sums[sum].costs.add(line.costs);
    }
    const std::string boxes =
        line.row_bytes == 0 ? "" : fmt::format("{} of {} bytes", support::grouped(line.rows()), line.row_bytes);
    if (row < shown_lines) add({shown[order[row]].where, std::string(to_string(line.engine)), boxes}, line);
  }
  if (shown_lines < lines) add({fmt::format("{} other lines", lines - shown_lines), "", ""}, sums[0]);
  if (lines > 1) add({"all", "", ""}, sums[1]);
  return with_source(std::move(rows), options.columns, [&](std::size_t row, std::size_t room) {
    return row > shown_lines ? std::string() : excerpt(shown[order[row - 1]], {}, room);
  });
}

std::vector<std::size_t> by_extra_sectors(const std::vector<trace::GlobalLineReport>& lines) {
  return largest_first(lines, [](const trace::GlobalLineReport& line) {
    return std::tuple(extra_sectors(line.costs), line.costs.unknown, line.costs.sectors);
  });
}

std::string looks_like(const trace::Report& report, const trace::GlobalLineReport& line) {
  const auto& sectors = report.architecture->sectors.fact;
  if (!line.typical || !sectors) return "";
  return banks::shape_in_words(line.width, line.typical->mask, line.typical->addresses, sectors->sector_bytes);
}

std::string global_table(const trace::Report& report, trace::SectorMemory memory_of,
                         const std::vector<ShownLine>& shown, const TableOptions& options) {
  const std::vector<trace::GlobalLineReport>& lines = report.sector_lines(memory_of);
  const auto& memory = report.architecture->sectors.fact;
  std::vector<Row> rows{{"where", "access", "pattern", "accesses", "lanes", "sectors", "ideal", "used %"}};
  if (!options.times.empty()) rows[0].emplace_back(time_head);
  const std::string before = options.at_least ? ">=" : "";
  const auto add = [&](Row row, const banks::SectorTally& tally, const std::string& time) {
    const auto used = used_share(tally, memory ? memory->sector_bytes : 1);
    row.insert(row.end(),
               {before + support::grouped(tally.accesses), fmt::format("{:.1f}", lanes_per_access(tally).value_or(0)),
                before + sectors_number(tally), before + ideal_number(tally), used ? percent_text(used) : "?"});
    if (!options.times.empty()) row.push_back(time);
    rows.push_back(std::move(row));
  };
  std::vector<std::size_t> order = by_extra_sectors(lines);
  const auto is_plain = [&](std::size_t i) {
    const banks::SectorTally& costs = lines[i].costs;
    return extra_sectors(costs) == 0 && costs.unknown == 0;
  };
  const auto plain = options.everything ? order.end() : std::ranges::find_if(order, is_plain);
  banks::SectorTally rest;
  for (auto i = plain; i != order.end(); ++i) rest.add(lines[*i].costs);
  const auto plain_count = std::size_t(order.end() - plain);
  order.erase(plain, order.end());
  for (const std::size_t i : order) {
    const trace::GlobalLineReport& line = lines[i];
    add({shown[i].where, fmt::format("{} {}", to_string(line.operation), line.width), looks_like(report, line)},
        line.costs, options.times.empty() ? "" : options.times[i]);
  }
  if (plain_count > 0) {
    const std::string name =
        fmt::format("{} {}{}", plain_count, order.empty() ? "" : "other ", plain_count == 1 ? "line" : "lines");
    add({name, "", "no extra sectors"}, rest, "");
  }
  if (options.total && order.size() + (plain_count > 0 ? 1 : 0) > 1)
    add({"all", "", ""}, report.sectors(memory_of), "");
  narrow(rows, options.columns);
  if (const std::size_t width = width_of(rows); width > options.columns) {  // a long pattern gives way
    constexpr std::size_t pattern = 2, fewest = 12;
    const std::size_t longest =
        std::ranges::max(rows, {}, [](const Row& row) { return row[pattern].size(); })[pattern].size();
    const std::size_t room = std::max(fewest, longest - std::min(longest, width - options.columns));
    for (Row& row : rows) {
      if (row[pattern].size() > room) row[pattern] = row[pattern].substr(0, room - 3) + "...";
    }
  }
  return with_source(std::move(rows), options.columns, [&](std::size_t row, std::size_t room) {
    if (row > order.size()) return std::string();
    const trace::GlobalLineReport& line = lines[order[row - 1]];
    return excerpt(shown[order[row - 1]], {.operation = line.operation}, room);
  });
}

std::string to_text(const trace::Report& report) {
  constexpr std::size_t columns = 160;  // tests print to logs
  std::map<std::string, std::vector<std::string>> files;
  std::vector<ShownLine> lines;
  for (const trace::LineReport& line : report.lines) {
    lines.push_back({fmt::format("{}:{}", shown(line.site.file), line.site.line), source_line(line.site, files)});
  }
  std::string text;
  for (const std::string& sentence : report.incomplete) text += fmt::format("incomplete: {}\n", sentence);
  for (const std::string& sentence : report.diagnoses) text += sentence + '\n';
  text += fmt::format("{} on {}, {} traced\n", report.kernel, report.architecture->name,
                      support::plural(report.blocks, "block", "blocks"));
  if (!report.lines.empty())
    text += line_table(report, lines, {.columns = columns, .total = false, .everything = true});
  text += fmt::format("{}{}; ALU utilization {}, SIMT efficiency {}\n", report.incomplete.empty() ? "" : "at least ",
                      known_costs(report.all), percent(alu_utilization(report.all, report.warp)),
                      percent(simt_efficiency(report.executed_lanes, report.executions, report.warp)));
  if (trace::merging_matters(report))
    text += fmt::format("merged by a device compiler: {}\n", known_costs(trace::merged(report).all));
  for (const std::string& sentence : report.ranges) text += fmt::format("range: {}\n", sentence);
  for (const std::string& sentence : report.unknown) text += fmt::format("no cost: {}\n", sentence);
  return support::visible(text);
}

}  // namespace bankwise::report
