#include "bankcheck/driver/html/parts.hpp"

#include <fmt/format.h>

#include <numeric>

#include <bankwise/report/metrics.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::driver::html {

bool KernelPart::has_conflicts() const {
  return std::ranges::any_of(reports(), [](const trace::Report& report) {
    return std::ranges::any_of(report.lines,
                               [](const trace::LineReport& line) { return report::most_conflicts(line.costs) > 0; });
  });
}

std::string names_of(const std::vector<trace::Report>& reports, const std::vector<std::size_t>& architectures,
                     bool with_gpus) {
  std::string names;
  for (const std::size_t a : architectures) {
    const banks::Architecture& architecture = *reports[a].architecture;
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", xml_text(architecture.name),
                         with_gpus ? fmt::format(" ({})", xml_text(architecture.gpus)) : "");
  }
  return names;
}

std::string passes_sentence(const banks::Tally& costs, bool at_least) {
  if (costs.unknown > 0) return "the cost is not known";
  const std::string passes = (at_least ? "≥" : "") + report::passes_number(costs);
  const std::string_view unit = costs.passes == 1 && costs.more_passes == 0 ? "pass" : "passes";
  if (report::most_conflicts(costs) == 0)
    return fmt::format("{} {}, no conflict{}", passes, unit, at_least ? " in what was watched" : "");
  return fmt::format("{} {} where {} would do", passes, unit, report::ideal_number(costs));
}

std::string conflict_name(const banks::Architecture& architecture, const trace::LineReport& line, bool at_least) {
  const auto known = ways(architecture, line);
  return known ? fmt::format("{}{}-way conflict", at_least ? "at least " : "", *known) : "conflicts";
}

std::vector<std::size_t> shown_lines(const KernelPart& part) {
  std::vector<std::vector<std::uint64_t>> numbers(part.lines().size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const auto& report : part.reports())
      numbers[i].push_back(report::most_conflicts(line_on(report, part.lines()[i]).costs));
    for (const auto& report : part.reports()) numbers[i].push_back(line_on(report, part.lines()[i]).costs.passes);
  }
  std::vector<std::size_t> lines(numbers.size());
  std::iota(lines.begin(), lines.end(), 0);
  std::ranges::stable_sort(lines, [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
  lines.resize(std::min(lines.size(), max_lines));
  return lines;
}

std::string id_of(const KernelPart& part, std::size_t line) { return fmt::format("k{}a{}", part.number, line); }

std::string_view heat(std::uint64_t number, std::uint64_t whole) {
  if (number == 0 || whole == 0) return "h0";
  const double share = double(number) / double(whole);
  return share < 0.01 ? "h1" : share < 0.05 ? "h2" : share < 0.2 ? "h3" : share < 0.5 ? "h4" : "h5";
}

void append_number(std::string& html, const std::string& number, bool at_least, std::string_view heat_class) {
  html += heat_class.empty() ? "<td>" : fmt::format("<td class={}>", heat_class);
  html += (at_least && number != "?" ? "≥" : "") + number;
}

void append_tally(std::string& html, const banks::Tally& costs, bool at_least, bool conflicts,
                  std::string_view heat_class) {
  append_number(html, report::passes_number(costs), at_least);
  if (!conflicts) return;
  append_number(html, report::ideal_number(costs), at_least);
  append_number(html, report::conflicts_number(costs), at_least, heat_class);
}

void append_share(std::string& html, const std::string& percent) {
  html += percent.empty() || percent == "0"
              ? std::string("<td>")
              : fmt::format("<td class=bar style=\"--share:{}%\">{}&nbsp;%", percent, percent);
}

void begin_table(std::string& html, std::string_view label, std::string_view css_class) {
  html += fmt::format("<div class=scroll role=region tabindex=0 aria-label=\"{}\"><table class={}>", label, css_class);
}

void end_row(std::string& html, const std::vector<Columns>& columns, std::size_t row, std::string_view source,
             std::string_view wanted) {
  constexpr std::size_t longest = 120;
  for (const Columns& column : columns) html += column.value[row];
  html += fmt::format("<td class=\"t excerpt\"><code>{}</code>", xml_text(cut(source, longest, wanted)));
}

void end_table(std::string& html, std::size_t rows, std::size_t max_rows, std::string_view name) {
  html += "</table></div>";
  append_rest(html, rows, max_rows, name);
}

void append_rest(std::string& html, std::size_t rows, std::size_t max_rows, std::string_view name) {
  if (rows <= max_rows) return;
  html += fmt::format("<p class=more>and {} more {}: --json lists all of them</p>", rows - max_rows, name);
}

std::string kernel_link(const KernelPart& part) {
  return fmt::format("<a href=\"#k{}\">{}</a>", part.number, xml_text(shortened_name(part.kernel.name)));
}

void append_answer_source(std::string& html, const KernelPart& part, const trace::Site& site) {
  constexpr std::size_t longest = 160;
  const std::string source = part.kernel.placed(site).text;
  if (!source.empty()) html += fmt::format("<pre><code>{}</code></pre>", xml_text(cut(source, longest)));
}

}  // namespace bankwise::driver::html
