#include "bankcheck/predict/predict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include <bankwise/support/csv.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::predict {
namespace {

constexpr std::size_t longest_line = 1 << 16;

template <class Number>
bool parse(std::string_view text, int base, Number& number) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  return support::parse_number(text, number, base);
}

/// The position of each column in the header.
struct Columns {
  std::size_t id = 0, op = 0, width = 0, mask = 0;
  std::vector<std::size_t> lanes;    ///< a0 and following
  std::vector<std::size_t> sources;  ///< s0 and following, as many; empty: there are none
};

/// A sentence on what is wrong with the header, if anything is.
std::optional<std::string> read_header(const std::vector<std::string_view>& names, Columns& columns) {
  const auto find = [&](std::string_view name, std::size_t& column) {
    const auto field = std::ranges::find(names, name);
    column = std::size_t(field - names.begin());
    return field != names.end();
  };
  const std::pair<std::string_view, std::size_t*> needed[]{
      {"id", &columns.id}, {"op", &columns.op}, {"width", &columns.width}, {"mask", &columns.mask}};
  for (const auto& [name, column] : needed) {
    if (!find(name, *column))
      return fmt::format("the header has no column '{}'; it must be id,op,width,mask,a0,...", name);
    if (std::ranges::count(names, name) > 1) return fmt::format("the header has two columns '{}'", name);
  }
  for (const auto& [letter, list] : {std::pair{'a', &columns.lanes}, {'s', &columns.sources}}) {
    for (std::size_t column = 0; find(fmt::format("{}{}", letter, list->size()), column);) {
      if (std::ranges::count(names, names[column]) > 1) {
        return fmt::format("the header has two columns '{}'", names[column]);
      }
      list->push_back(column);
    }
  }
  if (columns.lanes.size() != 32 && columns.lanes.size() != 64) {
    return fmt::format("the header has {} columns for lanes, a0 and following; it must have 32 or 64",
                       columns.lanes.size());
  }
  columns.sources.resize(columns.sources.size() < columns.lanes.size() ? 0 : columns.lanes.size());
  return std::nullopt;
}

/// One access that was read from a row. Owns the addresses.
class AccessRow {
 public:
  /// A sentence on what is wrong with the fields, if anything is.
  std::optional<std::string> read(const std::vector<std::string_view>& fields, const Columns& columns) {
    const auto operation = banks::operation_named(fields[columns.op]);
    if (!operation) {
      return fmt::format(
          "{} is not an operation; there are load, store, atomic, atomic.inc, atomic.cas, ldmatrix.x1 to .x4, "
          "stmatrix.x1 to .x4, cp.async and cp.async.cg",
          support::in_quotes(fields[columns.op]));
    }
    access.operation = *operation;
    if (!parse(fields[columns.width], 10, access.width)) {
      return fmt::format("the width {} is not a number of bytes", support::in_quotes(fields[columns.width]));
    }
    if (!parse(fields[columns.mask], 16, access.mask)) {
      return fmt::format("the mask {} is not a hexadecimal number of at most 64 bits",
                         support::in_quotes(fields[columns.mask]));
    }
    const bool has_sources = banks::is_copy(access.operation) && !columns.sources.empty();
    access.addresses = {addresses_.data(), columns.lanes.size()};
    access.sources = {sources_.data(), has_sources ? columns.sources.size() : 0};
    if (auto sentence = read_lanes("address", fields, columns.lanes, addresses_)) return sentence;
    return has_sources ? read_lanes("source", fields, columns.sources, sources_) : std::nullopt;
  }
  banks::Access access;

 private:
  using Offsets = std::array<std::uint32_t, banks::max_lanes>;

  /// One number for each active lane.
  std::optional<std::string> read_lanes(const char* offset_name, const std::vector<std::string_view>& fields,
                                        const std::vector<std::size_t>& columns, Offsets& offsets) const {
    for (std::size_t lane = 0; lane < columns.size(); ++lane) {
      offsets[lane] = 0;
      const bool active = (access.mask >> lane & 1) != 0;
      if (active && !parse(fields[columns[lane]], 10, offsets[lane])) {
        return fmt::format("the {} of lane {}, {}, is not a byte offset below 4 GiB", offset_name, lane,
                           support::in_quotes(fields[columns[lane]]));
      }
    }
    return std::nullopt;
  }

  Offsets addresses_{}, sources_{};
};

/// Writes the results in the requested format, row by row.
class CostWriter {
 public:
  CostWriter(std::ostream& out, CostFormat format, const banks::Architecture& architecture, Space space)
      : out_(out), format_(format) {
    const bool has_choice = std::ranges::any_of(
        architecture.rules, [](const banks::Rule& rule) { return rule.serving == banks::Serving::one_broadcast; });
    if (space == Space::global) {
      columns_ = {"sectors", "ideal", "lines", "bytes"};
    } else {
      columns_ = {"passes", "ideal", "conflicts"};
      if (has_choice) columns_.insert(columns_.end(), {"passes_max", "conflicts_max"});
    }
    if (format_ == CostFormat::csv) {
      out_ << fmt::format("id,{}\n", fmt::join(columns_, ","));
    } else {
      out_ << fmt::format(R"({{"schema_version":1,"architecture":"{}","results":[)", architecture.name);
    }
  }
  /// False if the row cannot be written.
  bool add(std::string_view id, const banks::Cost& cost) {
    return add_row(id, {cost.passes, cost.ideal, cost.conflicts, cost.passes_max, cost.conflicts_max});
  }
  bool add(std::string_view id, const banks::SectorCost& cost) {
    return add_row(id, {cost.sectors, cost.ideal, cost.lines, cost.bytes});
  }
  void end(const std::optional<BadRow>& bad) {
    if (format_ == CostFormat::json) {
      out_ << ']';
      if (bad) out_ << fmt::format(R"(,"error":{{"line":{},"sentence":{}}})", bad->line, json_text(bad->sentence));
      out_ << "}\n";
    }
    out_.flush();
  }

 private:
  bool add_row(std::string_view id, std::initializer_list<std::uint64_t> numbers) {
    const bool is_csv = format_ == CostFormat::csv;
    line_ = is_csv ? support::csv_field(id) : fmt::format(R"({}{{"id":{})", any_ ? "," : "", json_text(id));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (is_csv) {
        fmt::format_to(std::back_inserter(line_), ",{}", numbers.begin()[i]);
      } else {
        fmt::format_to(std::back_inserter(line_), R"(,"{}":{})", columns_[i], numbers.begin()[i]);
      }
    }
    line_ += is_csv ? "\n" : "}\n";
    any_ = true;
    return bool(out_ << line_);
  }
  static std::string json_text(std::string_view text) {
    return nlohmann::ordered_json(text).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  std::ostream& out_;
  CostFormat format_;
  std::vector<std::string_view> columns_;  // of the numbers of a row
  bool any_ = false;
  std::string line_;
};

/// Writes the cost of a row; otherwise, a sentence on why it has none. `open`: whether the output takes more.
std::optional<std::string> write_cost(const banks::Architecture& architecture, banks::Access access, Space space,
                                      std::string_view id, CostWriter& writer, bool& open) {
  if (space == Space::global) {
    if (banks::is_copy(access.operation)) access.addresses = access.sources;
    auto outcome = sectors_or_refusal(architecture, access);
    if (auto* sentence = std::get_if<std::string>(&outcome)) return std::move(*sentence);
    open = writer.add(id, std::get<banks::SectorCost>(outcome));
    return std::nullopt;
  }
  const auto outcome = banks::cost(architecture, access);
  if (const auto* refusal = std::get_if<banks::Refusal>(&outcome))
    return banks::sentence(architecture, access, *refusal);
  open = writer.add(id, std::get<banks::Cost>(outcome));
  return std::nullopt;
}

std::optional<BadRow> predict_rows(const banks::Architecture& architecture, std::istream& in, Space space,
                                   CostWriter& writer) {
  support::LineReader lines(in, longest_line - 1);
  std::vector<std::string_view> fields;
  std::vector<std::string> unquoted;
  std::optional<Columns> columns;
  std::size_t column_count = 0;
  AccessRow row;
  const auto bad = [&](std::string sentence) { return BadRow{lines.number, std::move(sentence)}; };
  while (lines.next()) {
    if (lines.too_long) return bad(fmt::format("the line is longer than {} bytes", longest_line - 1));
    std::string_view line = lines.number == 1 ? support::without_mark(lines.line) : lines.line;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (!support::split_csv(line, fields, unquoted))
      return bad("a field in quotes does not end with them, or a quote in a field is not doubled");
    if (!columns) {
      column_count = fields.size();
      if (const auto sentence = read_header(fields, columns.emplace())) return bad(*sentence);
      continue;
    }
    if (fields.size() != column_count) {
      return bad(fmt::format("the row has {} fields, the header {}", fields.size(), column_count));
    }
    if (const auto sentence = row.read(fields, *columns)) return bad(*sentence);
    bool open = true;
    if (auto sentence = write_cost(architecture, row.access, space, fields[columns->id], writer, open))
      return bad(std::move(*sentence));
    if (!open) return std::nullopt;  // the output is closed
  }
  if (lines.is_broken) return BadRow{lines.number, "the file cannot be read any further"};
  if (!columns) return BadRow{1, "the file is empty; its first line must be id,op,width,mask,a0,..."};
  return std::nullopt;
}

}  // namespace

std::optional<BadRow> predict_csv(const banks::Architecture& architecture, std::istream& in, std::ostream& out,
                                  CostFormat format, Space space) {
  CostWriter writer(out, format, architecture, space);
  auto bad = predict_rows(architecture, in, space, writer);
  writer.end(bad);
  return bad;
}

}  // namespace bankwise::predict
