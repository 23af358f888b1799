// Kernels of libraries, of which a program runs many that differ in the sizes of their tiles alone.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include <bankwise/support/text.hpp>
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {
namespace {

/// What is in the names of kernels that a library or a compiler has generated.
constexpr std::string_view generated[]{"nvjet",
                                       "cutlass",
                                       "cudnn",
                                       "cublas",
                                       "xmma",
                                       "triton_",
                                       "flash",
                                       "fmha",
                                       "at::",
                                       "cub::",
                                       "thrust",
                                       "sm80_",
                                       "sm90_",
                                       "sm100_",
                                       "ampere_",
                                       "volta_",
                                       "turing_",
                                       "gemm",
                                       "implicit_convolve"};
constexpr std::size_t long_name = 120;  // bytes: nobody writes one

bool is_generated(std::string_view name) {
  return name.size() > long_name || std::ranges::any_of(generated, [&](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether a word of a name is a size, a number, or a hash: "128x64", "4", "256ul", "0d1d2de", "8c1f09ab3e".
bool is_variable(std::string_view word) {
  constexpr std::size_t shortest_hash = 8;
  const auto only = [&](std::string_view signs) { return word.find_first_not_of(signs) == std::string_view::npos; };
  const bool has_digit = std::ranges::any_of(word, is_digit);
  if (is_digit(word.front()) && (only("0123456789x") || only("0123456789ul") || only("0123456789dec"))) return true;
  return has_digit && word.size() >= shortest_hash && only("0123456789abcdef");
}

/// The letters of "stage3", "align8", "tilesize64x64x64" that stay.
std::size_t letters_of_size(std::string_view word) {
  for (const std::string_view name : {"tilesize", "tile", "stages", "stage", "align", "warpgroupsize"}) {
    const std::string_view rest = word.substr(std::min(word.size(), name.size()));
    if (word.starts_with(name) && !rest.empty() && rest.find_first_not_of("0123456789x") == std::string_view::npos)
      return name.size();
  }
  return 0;
}

constexpr const char* unplaced = "?";  // the file of all lines of a group

/// Adds the lines of a kernel to those of a group, which have no place.
template <class Line, class Key, class Add>
void add_lines(std::vector<Line>& lines, const std::vector<Line>& more, Key key, Add add) {
  for (const Line& line : more) {
    const auto same = std::ranges::find_if(lines, [&](const Line& known) { return key(known) == key(line); });
    if (same == lines.end()) {
      lines.push_back(line);
      lines.back().site = {.file = unplaced};
    } else {
      add(*same, line);
    }
  }
}

void add(std::vector<std::string>& sentences, const std::vector<std::string>& more) {
  for (const std::string& sentence : more) {
    if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
  }
}

void add(trace::Report& sum, const trace::Report& more) {
  add_lines(
      sum.lines, more.lines, [](auto& line) { return std::tie(line.array, line.operation, line.width); },
      [](trace::LineReport& line, const trace::LineReport& other) {
        line.costs.add(other.costs);
        line.merged.add(other.merged);
        line.mixed += other.mixed;
        if (other.worst && (!line.worst || other.worst->conflicts > line.worst->conflicts)) line.worst = other.worst;
      });
  add_lines(
      sum.engine_lines, more.engine_lines, [](auto& line) { return std::tie(line.engine, line.row_bytes); },
      [](trace::EngineLineReport& line, const trace::EngineLineReport& other) {
        line.costs.add(other.costs);
        line.bytes += other.bytes;
        line.cycles += other.cycles;
      });
  for (const auto lines : {&trace::Report::global_lines, &trace::Report::remote_lines}) {
    add_lines(
        sum.*lines, more.*lines, [](auto& line) { return std::tie(line.operation, line.width); },
        [](trace::GlobalLineReport& line, const trace::GlobalLineReport& other) {
          line.costs.add(other.costs);
          if (!line.typical) line.typical = other.typical;
        });
  }
  for (const trace::LevelReport& level : more.levels) {
    const auto same = std::ranges::find(sum.levels, level.level, &trace::LevelReport::level);
    if (same == sum.levels.end()) {
      sum.levels.push_back(level);
      continue;
    }
    same->active_lanes += level.active_lanes;
    same->issued_warps += level.issued_warps;
    same->costs.add(level.costs);
  }
  std::ranges::sort(sum.levels, {}, &trace::LevelReport::level);
  sum.blocks += more.blocks;
  sum.level_count = std::max(sum.level_count, more.level_count);
  sum.global.add(more.global);
  sum.remote.add(more.remote);
  for (const auto tally : {&trace::Report::engines, &trace::Report::loads, &trace::Report::stores,
                           &trace::Report::atomics, &trace::Report::all})
    (sum.*tally).add(more.*tally);
  sum.accesses += more.accesses;
  for (const auto& [cause, count] : more.without_cost) sum.without_cost[cause] += count;
  for (const auto sentences :
       {&trace::Report::unknown, &trace::Report::ranges, &trace::Report::incomplete, &trace::Report::global_incomplete})
    add(sum.*sentences, more.*sentences);
}

void add(trace::KernelTrace& sum, const trace::KernelTrace& more) {
  for (const trace::LaunchShape& shape : more.shapes) {
    const auto same = std::ranges::find_if(sum.shapes, [&](const trace::LaunchShape& known) {
      return known.threads == shape.threads && known.block == shape.block;
    });
    if (same == sum.shapes.end()) {
      sum.shapes.push_back(shape);
    } else {
      same->launches += shape.launches;
    }
  }
  sum.blocks += more.blocks;
  sum.levels = std::max(sum.levels, more.levels);
  sum.copied_bytes += more.copied_bytes;
  sum.sectors_read += more.sectors_read;
  sum.sectors_written += more.sectors_written;
  sum.watches_shared &= more.watches_shared;
  sum.watches_global |= more.watches_global;
  if (!more.time || !sum.time) {
    sum.time.reset();
  } else {
    sum.time->add(*more.time);
  }
}

/// The same on all launches of both, where the time of both is known.
void add(std::optional<MemoryTime>& sum, const std::optional<MemoryTime>& more) {
  if (!sum || !more || sum->measured_ns.has_value() != more->measured_ns.has_value()) {
    sum.reset();
    return;
  }
  report::Work& work = sum->work;
  const report::Work& other = more->work;
  for (const auto number :
       {&report::Work::passes, &report::Work::sectors, &report::Work::cache_lines, &report::Work::loaded_bytes,
        &report::Work::stored_sectors, &report::Work::sectors_read, &report::Work::sectors_written})
    work.*number += other.*number;
  work.path_passes =
      work.path_passes && other.path_passes ? std::optional(*work.path_passes + *other.path_passes) : std::nullopt;
  work.grids.insert(work.grids.end(), other.grids.begin(), other.grids.end());
  if (sum->measured_ns) *sum->measured_ns += *more->measured_ns;
  sum->busy = report::busy(work, sum->gpu, sum->measured_ns);
}

KernelReport group_of(const std::vector<const KernelReport*>& members, const std::string& name) {
  KernelReport group = *members.front();
  group.name = fmt::format("{} ({} kernels)", name, members.size());
  group.kernels = members.size();
  for (trace::Report& on : group.reports) {  // lines of one kernel may become one, too
    trace::Report first = std::move(on);
    on = {.architecture = first.architecture, .kernel = group.name, .warp = first.warp};
    add(on, first);
  }
  for (auto member = std::next(members.begin()); member != members.end(); ++member) {
    const KernelReport& other = **member;
    if (group.watched_launches || other.watched_launches) {
      group.watched_launches = group.watched_launches.value_or(launches_of(group.trace)) +
                               other.watched_launches.value_or(launches_of(other.trace));
    }
    add(group.trace, other.trace);
    for (std::size_t a = 0; a < group.reports.size(); ++a) {
      add(group.reports[a], other.reports[a]);
      add(group.times[a], other.times[a]);
    }
  }
  std::ranges::for_each(group.reports, sort_by_place);
  group.places = {{{.file = unplaced}, {.place = {.file = fmt::format("{} kernels", members.size())}}}};
  return group;
}

/// Whether a kernel may be part of a group: the user has no source of it, and all that is known of it is added up.
bool may_join(const KernelReport& kernel) {
  const bool has_source = std::ranges::any_of(kernel.places, [](const auto& place) { return place.second.is_file; });
  return is_generated(kernel.name) && !has_source && kernel.trace.diagnoses.empty() && !has_merged(kernel.reports);
}

/// Rows that the report of a kernel has.
std::size_t rows_of(const KernelReport& kernel) {
  std::size_t rows = kernel.trace.shapes.size();
  for (const trace::Report& on : kernel.reports) {
    rows += on.lines.size() + on.engine_lines.size() + on.global_lines.size() + on.remote_lines.size() +
            on.levels.size() + on.unknown.size() + on.ranges.size() + on.incomplete.size();
  }
  return rows;
}

/// Each row of a kernel is compared with all of its group: beyond so many, kernels stay by themselves.
constexpr std::size_t max_rows_of_group = 4096;

struct Group {
  std::vector<const KernelReport*> members;
  std::size_t rows = 0;
};

}  // namespace

std::string name_without_sizes(std::string_view name) {
  std::string text;
  if (const auto number = name.rfind('#'); number != std::string_view::npos && number + 1 < name.size() &&
                                           name.find_first_not_of("0123456789", number + 1) == std::string_view::npos)
    name = name.substr(0, number);  // of equal names
  for (std::size_t at = 0; at < name.size();) {
    if (!is_of_word(name[at])) {
      text += name[at++];
      continue;
    }
    std::size_t end = at;
    while (end < name.size() && is_of_word(name[end])) ++end;
    const std::string_view word = name.substr(at, end - at);
    const std::size_t letters = letters_of_size(word);
    text += is_variable(word) ? "*" : letters > 0 ? std::string(word.substr(0, letters)) + "*" : std::string(word);
    at = end;
  }
  for (auto at = text.find("*_*"); at != std::string::npos; at = text.find("*_*", at)) text.erase(at, 2);
  return text;
}

std::string shortened_name(std::string_view name) {
  constexpr std::size_t front = 80, back = 30;
  if (name.size() <= long_name) return std::string(name);
  std::size_t end = front, rest = name.size() - back;
  while (support::is_inside_character(name, end)) --end;
  while (support::is_inside_character(name, rest)) ++rest;
  return fmt::format("{}...{}", name.substr(0, end), name.substr(rest));
}

std::size_t number_of(const std::vector<KernelReport>& kernels) {
  std::size_t number = 0;
  for (const KernelReport& kernel : kernels) number += kernel.kernels;
  return number;
}

RunReport grouped(const RunReport& report) {
  std::map<std::string, Group> groups;
  std::set<const KernelReport*> joined;
  for (const KernelReport& kernel : report.kernels) {
    const std::size_t rows = rows_of(kernel);
    if (rows > max_rows_of_group || !may_join(kernel)) continue;
    Group& group = groups[name_without_sizes(kernel.name)];
    if (group.rows + rows > max_rows_of_group) continue;
    group.rows += rows;
    group.members.push_back(&kernel);
    joined.insert(&kernel);
  }
  RunReport with_groups = report;
  with_groups.kernels.clear();
  for (const KernelReport& kernel : report.kernels) {
    const std::string name = name_without_sizes(kernel.name);
    const auto group = groups.find(name);
    if (!joined.contains(&kernel) || group->second.members.size() < 2) {
      with_groups.kernels.push_back(kernel);
    } else if (group->second.members.front() == &kernel) {
      with_groups.kernels.push_back(group_of(group->second.members, name));
    }
  }
  return with_groups;
}

}  // namespace bankwise::driver
