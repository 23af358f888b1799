#include "bankcheck/fit/compiled_accesses.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {
namespace {

/// Statements that are executed equally often: of one block, between jumps; or behind one condition.
using Group = std::tuple<std::size_t, std::size_t, std::size_t>;

struct Event {
  enum class Kind { load, store, barrier, other } kind = Kind::load;
  std::size_t token = 0;  // that it happens at
  std::string index;
  unsigned line = 0;
  Group group;
  bool is_certain = true;  // it happens whenever its group is executed
};

/// The tokens of a loop, from its keyword on.
struct Loop {
  Part tokens;
  std::size_t header_end = 0;
};

class EventFinder : Expressions {
 public:
  EventFinder(std::string_view source_text, std::size_t at, const std::vector<Use>& uses) : Expressions(source_text) {
    for (const Use& use : uses) add(use);
    if (events_.empty()) return;
    const std::size_t declared = at_offset(at);
    // Who calls another function may do so in a loop.
    is_known_ = is_known_ && (function_body(declared) == 0 || function_.contains(declared));
    for (std::size_t i = function_.begin; i < function_.end; ++i) {
      if (is_barrier(i)) events_.push_back({.kind = Event::Kind::barrier, .token = i});
      if (support::has_word("for while do", text(i))) loops_.push_back(loop_at(i));
    }
    std::ranges::stable_sort(events_, {}, &Event::token);
  }

  /// Whether all uses lie in the function that declares the array, and are loads or stores.
  bool is_known() const {
    return is_known_ && std::ranges::none_of(events_, [](const Event& e) { return e.kind == Event::Kind::other; });
  }
  const std::vector<Event>& events() const { return events_; }

  /// Whether a load may be saved only because the compiler knows that a store before it goes to another element.
  bool needs_distinct(std::size_t load) const {
    const auto straight = look_back(load, load, 0);
    if (straight.is_behind_store) return true;
    return std::ranges::any_of(loops_, [&](const Loop& loop) {  // a later iteration
      if (!loop.tokens.contains(events_[load].token) || changes_index(loop, events_[load])) return false;
      const auto in_loop = look_back(load, load, loop.tokens.begin);
      if (in_loop.ended) return false;
      std::size_t end = load;
      while (end < events_.size() && loop.tokens.contains(events_[end].token)) ++end;
      return look_back(load, end, events_[load].token, in_loop.saw_store).is_behind_store;
    });
  }

 private:
  struct Found {
    bool ended = false, is_behind_store = false, saw_store = false;
  };

  /// From before event `from` back to the token `until`: an access of the same index, or a barrier.
  Found look_back(std::size_t load, std::size_t from, std::size_t until, bool saw_store = false) const {
    Found found{.saw_store = saw_store};
    for (std::size_t e = from; e-- > 0 && events_[e].token >= until;) {
      const Event& event = events_[e];
      if (event.kind == Event::Kind::barrier) return {.ended = true};
      if (event.index == events_[load].index) return {.ended = true, .is_behind_store = found.saw_store};
      found.saw_store |= event.kind == Event::Kind::store;
    }
    return found;
  }

  /// Whether the header of a loop changes a variable of an index.
  bool changes_index(const Loop& loop, const Event& event) const {
    for (std::size_t i = loop.tokens.begin; i < loop.header_end; ++i) {
      if (!is_name(i)) continue;
      const bool is_changed = is_any(i + 1, "=+-") || is(i + 2, "=") || is(i + 3, "=") || is_any(i - 1, "+-");
      if (is_changed && has_token(event.index, text(i))) return true;
    }
    return false;
  }

  Loop loop_at(std::size_t i) const {
    const std::size_t header_end = is(i, "do") ? i + 1 : past_bracket(i + 1);
    return {{i, statement_end(*this, header_end)}, header_end};
  }

  /// Any function that may be one: a barrier of a warp too, and all methods and functions of this kind of name.
  bool is_barrier(std::size_t i) const {
    if (!is_name(i) || !is(i + 1, "(")) return false;
    return support::has_word(
        "__syncthreads __syncwarp __syncthreads_or __syncthreads_and __syncthreads_count sync "
        "__threadfence_block __threadfence arrive_and_wait",
        text(i));
  }

  void add(const Use& use) {
    const std::size_t i = at_offset(use.begin);  // the first bracket, or a pointer
    std::size_t last = i;
    while (last + 1 < tokens.size() && tokens[last].end < use.end) ++last;
    const std::size_t body = function_body(i);
    const Part function{body, past_bracket(body)};
    is_known_ = is_known_ && body > 0 && (events_.empty() || function.begin == function_.begin);
    function_ = function;
    const std::size_t name = is(i, "[") && i > 0 ? i - 1 : i;
    Event event{.token = name, .line = unsigned(line(name))};
    event.index = std::string(source.substr(use.begin, use.end - use.begin));
    std::erase_if(event.index, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
    place(event, name, last);
    const auto [loads, stores] = kinds(name, last);
    if (!loads && !stores) event.kind = Event::Kind::other;
    if (loads || !stores) events_.push_back(event);
    if (!stores) return;
    event.kind = Event::Kind::store;
    int depth = 0;
    std::size_t end = last + 1;
    for (; end < tokens.size() && depth >= 0 && !is(end, ";") && !(depth == 0 && is(end, ",")); ++end) {
      depth += int(is(end, "(")) - int(is(end, ")"));
    }
    event.token = end;
    events_.push_back(event);
  }

  /// Whether an element is loaded and stored there; neither if that is not known.
  std::pair<bool, bool> kinds(std::size_t name, std::size_t last) const {
    if (takes_address(name - 1) || is(last + 1, ".") || is(last + 1, "->")) return {false, false};
    if (is_pair(last + 1, "+-") || is_pair(name - 2, "+-")) return {true, true};
    std::size_t k = last + 1;
    if (is(k, "=")) return {is_pair(k, "="), !is_pair(k, "=")};
    while (k < last + 3 && is_any(k, "+-*/%&|^<>") && touches_next(k)) ++k;
    const bool compares = is_any(last + 1, "<>") && k == last + 2;
    const bool is_compound = k > last + 1 && is(k, "=") && !compares;
    return {true, is_compound};
  }

  /// Sets the group of an access.
  void place(Event& event, std::size_t name, std::size_t last) const {
    std::size_t begin = name;
    int depth = 0;
    for (; begin > 0; --begin) {  // to the begin of its statement, with the headers of loops and conditions before it
      depth += int(is(begin - 1, ")")) - int(is(begin - 1, "("));
      if (depth <= 0 && (is(begin - 1, "{") || is(begin - 1, "}"))) break;
      if (depth == 0 && is(begin - 1, ";") && !in_header(begin - 1)) break;
    }
    std::size_t end = last;
    while (end < tokens.size() && !is(end, ";") && !is(end, "{")) ++end;
    for (std::size_t k = begin; k < end; ++k) {
      event.is_certain = event.is_certain && !is_pair(k, "&|") && !is(k, "?");
    }
    std::size_t guard = 0;
    if (support::has_word("for while else do switch case", text(begin))) guard = begin;
    if (is(begin, "if") && past_bracket(begin + 1) <= name) guard = begin;
    std::size_t block = begin, jumps = 0;
    for (int level = 0; block > 0; --block) {
      level += int(is(block - 1, "}")) - int(is(block - 1, "{"));
      jumps += support::has_word("return break continue goto", text(block - 1)) ? 1 : 0;
      if (level < 0) break;
    }
    event.group = {block, jumps, guard};
  }

  /// Whether a semicolon is one of the two in the parentheses of a loop.
  bool in_header(std::size_t semicolon) const {
    int depth = 0;
    for (std::size_t k = semicolon; k-- > 0 && !is(k, "{") && !is(k, "}");) {
      depth += int(is(k, ")")) - int(is(k, "("));
      if (depth < 0) return k > 0 && is(k - 1, "for");
    }
    return false;
  }

  std::vector<Event> events_;
  std::vector<Loop> loops_;
  Part function_;
  bool is_known_ = true;
};

using Kind = Event::Kind;

/// What machine code has of a group, and what the source has.
struct GroupSums {
  std::uint64_t loads = 0, stores = 0;
  std::size_t load_events = 0, store_events = 0;
  /// Every load of the source is one of the machine code: there are as many for each store.
  bool is_complete() const { return store_events > 0 && stores > 0 && loads * store_events >= stores * load_events; }
};

/// Nothing if other statements stand in its lines, or not all accesses happen always.
std::optional<GroupSums> sums_of(const std::vector<Event>& events, const Group& group, const AccessesByLine& executed) {
  GroupSums sums;
  std::set<unsigned> lines;
  for (const Event& event : events) {
    if (event.kind == Kind::barrier || event.group != group) continue;
    if (!event.is_certain) return std::nullopt;
    lines.insert(event.line);
    ++(event.kind == Kind::store ? sums.store_events : sums.load_events);
  }
  const bool is_mixed = std::ranges::any_of(events, [&](const Event& event) {
    return event.kind != Kind::barrier && event.group != group && lines.contains(event.line);
  });
  if (is_mixed) return std::nullopt;
  for (const unsigned line : lines) {
    const auto found = executed.find(line);
    if (found == executed.end()) continue;
    sums.loads += found->second.loads;
    sums.stores += found->second.stores;
  }
  return sums;
}

/// A line that accesses the elements of a load by one other load or store.
std::optional<SavedLoads::Place> place_with_elements(const std::vector<Event>& events, const Event& load,
                                                     const GroupSums& sums, const AccessesByLine& executed) {
  for (const Event& event : events) {
    if (event.kind == Kind::barrier || event.group != load.group || event.index != load.index) continue;
    const auto is_alike = [&](const Event& other) { return other.kind == event.kind && other.line == event.line; };
    const auto line = executed.find(event.line);
    if (std::ranges::count_if(events, is_alike) > 1 || line == executed.end()) continue;
    const bool by_store = event.kind == Kind::store;
    const std::uint64_t count = by_store ? line->second.stores : line->second.loads;
    if (count * sums.store_events >= sums.stores && count > 0) return SavedLoads::Place{event.line, by_store};
  }
  return std::nullopt;
}

}  // namespace

SavedLoads saved_loads(std::string_view source, std::size_t at, const std::vector<Use>& uses,
                       const AccessesByLine& executed) {
  const EventFinder finder(source, at, uses);
  SavedLoads saved{.complete = finder.is_known()};
  const std::vector<Event>& events = finder.events();
  for (std::size_t e = 0; saved.complete && e < events.size(); ++e) {
    if (events[e].kind != Kind::load || !finder.needs_distinct(e)) continue;
    const auto sums = sums_of(events, events[e].group, executed);
    if (sums && (sums->is_complete() || sums->loads + sums->stores == 0)) continue;
    const auto place = sums ? place_with_elements(events, events[e], *sums, executed) : std::nullopt;
    saved.complete = place.has_value();
    if (place) saved.places.push_back(*place);
  }
  return saved;
}

bool is_one_of(const std::vector<std::uint32_t>& arrays, std::uint32_t array) {
  return std::ranges::find(arrays, array) != arrays.end();
}

bool are_plain(std::string_view source, const std::vector<Use>& uses) {
  const source::SourceTokens code(source);
  const auto is_plain = [&](const Use& use) {
    int depth = 0;
    for (std::size_t i = code.at_offset(use.begin), begin = statement_begin(code, i); i > begin; --i) {
      depth += int(code.is(i - 1, ")")) - int(code.is(i - 1, "("));
      if (depth >= 0) continue;
      depth = 0;
      const bool is_statement = i > 1 && support::has_word("if for while switch return", code.text(i - 2));
      if (i > 1 && (code.is_name(i - 2) || code.is(i - 2, ">")) && !is_statement) return false;
    }
    return true;
  };
  return std::ranges::all_of(uses, is_plain);
}

unsigned merged_bytes(const Change& change, const ArrayShape& shape, unsigned widest) {
  const auto form = form_of(change, shape);
  if (!form || *form == IndexForm::none) return widest;
  if (*form == IndexForm::order) return unsigned(std::min<std::uint64_t>(shape.row_bytes(), widest));
  if (*form != IndexForm::rows) return std::min(unsigned(shape.element), widest);
  std::uint64_t lengths = change.rows.to | change.pads[0].bytes | change.pads[1].bytes;
  lengths = lengths == 0 ? widest : std::uint64_t{1} << std::countr_zero(lengths);
  return unsigned(std::clamp<std::uint64_t>(lengths, shape.element, widest));
}

unsigned widest_merged(const trace::KernelTrace& trace, const std::vector<std::uint32_t>& arrays,
                       const ArrayShape& shape) {
  if (!shape.merges || !std::has_single_bit(shape.element)) return 0;
  unsigned widest = 0;
  for (const trace::Pattern& pattern : trace.patterns) {
    if (!is_one_of(arrays, pattern.array) || pattern.width <= shape.element) continue;
    if (!may_be_merged(pattern, shape)) return 0;
    widest = std::max(widest, pattern.width);
  }
  return widest;
}

bool may_be_merged(const trace::Pattern& pattern, const ArrayShape& shape) {
  const bool is_plain = pattern.operation == banks::Operation::load || pattern.operation == banks::Operation::store;
  return is_plain && pattern.lane_arrays.empty() && std::has_single_bit(pattern.width) &&
         std::has_single_bit(shape.element) && pattern.width > shape.element;
}

void add_parts(trace::Pattern pattern, unsigned bytes, std::vector<trace::Pattern>& patterns) {
  const unsigned parts = pattern.width > bytes ? pattern.width / bytes : 1;
  if (parts > 1) pattern.width = bytes;
  for (unsigned part = 0; part + 1 < parts; ++part) {
    patterns.push_back(pattern);
    banks::for_each_lane(pattern.mask, [&](unsigned lane) { pattern.addresses[lane] += bytes; });
  }
  patterns.push_back(std::move(pattern));
}

trace::KernelTrace split_accesses(trace::KernelTrace trace, const std::vector<std::uint32_t>& arrays, unsigned bytes) {
  std::vector<trace::Pattern> patterns;
  for (trace::Pattern& pattern : trace.patterns) {
    const unsigned width = is_one_of(arrays, pattern.array) ? bytes : pattern.width;
    add_parts(std::move(pattern), width, patterns);
  }
  trace.patterns = std::move(patterns);
  return trace;
}

}  // namespace bankwise::fit
