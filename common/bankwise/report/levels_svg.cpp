#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <sstream>

#include <bankwise/banks/cost.hpp>
#include <bankwise/report/metrics.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::report {

using namespace study;

namespace {

// Pixels.
constexpr int margin = 24, gap = 28;
constexpr int narrowest_sheet = 860, widest_sheet = 1640;  // panels stand side by side as far as they fit
constexpr int heading_height = 118, title = 46, names = 66, body = 512, sums = 40,
              panel_height = title + names + body + sums;
constexpr int axis = 34, slanted = 40, narrowest_panel = 210;

constexpr const char *ink = "#1f2933", *muted = "#5f6b78", *empty = "#eef0f3", *paper = "#ffffff", *odd = "#b9a7d1";

constexpr int idle = -1, unknown = -2;  // in place of a lane's conflicts

struct Heat {
  const char *fill, *label;
};
/// By the number of bits of a conflict count: each colour stands for twice as many.
constexpr std::array<Heat, 7> heat{{{"#74a7d8", "none"},
                                    {"#fdcd82", "1"},
                                    {"#f0a45f", "2 or 3"},
                                    {"#e0704a", "4 to 7"},
                                    {"#cb3a2c", "8 to 15"},
                                    {"#9c1620", "16 to 31"},
                                    {"#540b1c", "32 or more"}}};

const char* fill_of(int conflicts) {
  return conflicts == unknown ? odd : heat[std::min<std::size_t>(std::bit_width(unsigned(conflicts)), 6)].fill;
}

std::string text_at(double x, double y, int size, const char* fill, const std::string& text,
                    const std::string& more = "") {
  return fmt::format("<text x=\"{:g}\" y=\"{:g}\" font-size=\"{}\" fill=\"{}\"{}>{}</text>\n", x, y, size, fill, more,
                     support::xml_text(text));
}

std::string rect(double x, double y, double width, double height, const char* fill, const std::string& tip = "") {
  return fmt::format("<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"{}\">{}</rect>\n", x, y, width,
                     height, fill, tip.empty() ? "" : "<title>" + support::xml_text(tip) + "</title>");
}

constexpr const char *bold = " font-weight=\"bold\"", *middle = " text-anchor=\"middle\"",
                     *end = " text-anchor=\"end\"";

/// A level: for each lane, the conflicts of the worst access that it takes part in.
struct Column {
  std::string name, passes, utilization;
  std::vector<int> lanes;
};

std::vector<Column> columns_of(const VariantLevels& variant) {
  std::vector<Column> columns;
  for (const KernelLevels& kernel : variant.kernels) {
    const trace::KernelTrace& trace = kernel.trace;
    const auto& [x, y, z] = trace.shapes.front().block;
    std::vector<std::size_t> column_of_level(kernel.report.level_count);
    for (const auto& level : kernel.report.levels) {
      if (level.costs.accesses == 0) continue;
      column_of_level[level.level] = columns.size();
      columns.push_back({kernel.level_names[level.level], passes_text(level.costs),
                         percent_text(alu_utilization(level.costs, kernel.report.warp)),
                         std::vector<int>(x * y * z, idle)});
    }
    for (const trace::OrderedAccess& step : trace.order) {
      const trace::Pattern& access = trace.patterns[step.pattern];
      const auto cost = banks::cost(*variant.architecture, access.of_model());
      const auto* known_cost = std::get_if<banks::Cost>(&cost);
      auto& lanes = columns[column_of_level[access.level]].lanes;
      banks::for_each_lane(access.mask, [&](unsigned i) {
        int& lane = lanes[step.warp * trace.warp + i];
        if (lane != unknown) lane = known_cost != nullptr ? std::max(lane, int(known_cost->conflicts)) : unknown;
      });
    }
  }
  return columns;
}

/// Neighbouring lanes of one colour are one rectangle.
std::string column_svg(const Column& column, double x, double y, double width) {
  const double lane_height = double(body) / double(column.lanes.size());
  std::string svg = rect(x, y, width, body, empty);
  const auto top = column.lanes.begin(), bottom = column.lanes.end();
  for (auto first = top, last = top; first != bottom; first = last) {
    last = std::find_if(first, bottom, [&](int conflicts) { return conflicts != *first; });
    if (*first == idle) continue;
    const std::string count = *first == unknown ? "cost unknown" : fmt::format("conflicts {}", *first);
    svg += rect(x, y + double(first - top) * lane_height, width, double(last - first) * lane_height, fill_of(*first),
                fmt::format("{}, lanes {} to {}: {}", column.name, first - top, last - top - 1, count));
  }
  return svg;
}

/// A variant, with one column per level that has accesses.
struct Panel {
  const VariantLevels* variant = nullptr;
  std::vector<Column> columns;
};

double width_of(const Panel& panel, double step) {
  if (panel.columns.empty()) return narrowest_panel;
  return std::max<double>(narrowest_panel, axis + step * double(panel.columns.size()) + slanted);
}

/// The distance between columns: wide enough for the labels below them, and the same in all panels.
double step_of(const std::vector<Panel>& panels) {
  std::size_t letters = 0, max_columns = 0;
  for (const Panel& panel : panels) {
    max_columns = std::max(max_columns, panel.columns.size());
    for (const Column& column : panel.columns) {
      letters = std::max({letters, column.passes.size(), column.utilization.size()});
    }
  }
  return std::max(6.0 * double(letters) + 4, max_columns <= 4 ? 54.0 : 0);
}

std::string subtitle(const VariantLevels& variant) {
  std::string text;
  if (variant.kernels.empty()) return text;
  if (variant.costs) text = fmt::format("passes {}, ideal {}, ", variant.costs->passes, variant.costs->ideal);
  return text + fmt::format("ALU {}{}", percent_text(variant.alu_utilization), variant.alu_utilization ? " %" : "");
}

/// The reason why there is nothing to draw.
std::string empty_svg(const VariantLevels& variant) {
  std::string svg = rect(0, title + names, narrowest_panel, body, empty);
  double y = title + names + 30;
  std::istringstream lines(support::wrapped(why_no_levels(variant), 30, 0));
  for (std::string line; std::getline(lines, line);) {
    svg += text_at(12, y, 12, muted, line);
    y += 18;
  }
  return svg;
}

std::string columns_svg(const Panel& panel, double step) {
  const double top = title + names, bottom = top + body, right = axis + step * double(panel.columns.size());
  std::string svg;
  double x = axis;
  std::size_t lanes = 1;
  for (const Column& column : panel.columns) {
    const double center = x + step / 2 - 1;
    svg += column_svg(column, x, top, step - 2);
    svg += text_at(center, top - 8, 11, ink, column.name,
                   fmt::format(" transform=\"rotate(-50 {:g} {:g})\"", center, top - 8));
    svg += text_at(center, bottom + 16, 10, ink, column.passes, middle);
    svg += text_at(center, bottom + 32, 10, ink, column.utilization, middle);
    lanes = std::max(lanes, column.lanes.size());
    x += step;
  }
  svg += text_at(axis - 6, top - 6, 10, muted, "lane", end);
  for (std::size_t lane = 0; lane < lanes; lane += panel.variant->kernels.front().report.warp) {
    const double y = top + double(body) * double(lane) / double(lanes);
    if (lane > 0) svg += rect(axis, y - 0.5, right - axis - 2, 1, paper);
    svg += text_at(axis - 6, y + 9, 10, muted, std::to_string(lane), end);
  }
  return svg + text_at(axis - 6, bottom + 16, 10, muted, "passes", end) +
         text_at(axis - 6, bottom + 32, 10, muted, "ALU %", end);
}

std::string panel_svg(const Panel& panel, double step) {
  return text_at(0, 16, 15, ink, std::string(panel.variant->variant), bold) +
         text_at(0, 36, 12, muted, subtitle(*panel.variant)) +
         (panel.columns.empty() ? empty_svg(*panel.variant) : columns_svg(panel, step));
}

std::string legend(bool with_unknown) {
  double x = margin;
  std::string svg = text_at(x, 62, 12, muted, "Conflicts of the worst access that a lane takes part in:");
  const auto entry = [&](const char* fill, const std::string& text) {
    svg += rect(x, 74, 16, 16, fill) + text_at(x + 22, 87, 12, muted, text);
    x += 40 + 7 * double(text.size());  // of wide letters, so that no label meets the next entry
  };
  for (const Heat& step : heat) entry(step.fill, step.label);
  entry(empty, "idle");
  if (with_unknown) entry(odd, "cost unknown");
  return svg;
}

}  // namespace

std::string levels_svg(const RunResults& run) {
  std::vector<Panel> panels;
  bool with_unknown = false;
  for (const VariantLevels& variant : run.levels) {
    if (variant.architecture != run.levels.front().architecture) continue;
    panels.push_back({&variant, columns_of(variant)});
    with_unknown = with_unknown || (!variant.kernels.empty() && !variant.costs);
  }
  const double step = step_of(panels);
  double x = margin, y = heading_height, width = narrowest_sheet;
  std::string body_svg;
  for (const Panel& panel : panels) {
    if (x > margin && x + width_of(panel, step) + margin > widest_sheet) {
      x = margin;
      y += panel_height + gap;
    }
    body_svg +=
        fmt::format("<g class=\"panel\" transform=\"translate({:g} {:g})\">\n{}</g>\n", x, y, panel_svg(panel, step));
    x += width_of(panel, step) + gap;
    width = std::max(width, x - gap + margin);
  }
  const double height = y + panel_height + margin;
  std::string name(run.study->name);
  if (!panels.empty()) name += fmt::format(" on {}", panels.front().variant->architecture->name);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
             "style=\"max-width:100%;height:auto\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
             "sans-serif\">\n<title>{2}</title>\n",
             width, height, support::xml_text(name)) +
         rect(0, 0, width, height, paper) +
         text_at(margin, 34, 18, ink, name + ": a block's lanes in shared memory, from barrier to barrier", bold) +
         legend(with_unknown) + body_svg + "</svg>\n";
}

}  // namespace bankwise::report
