// SPDX-License-Identifier: MIT
//
// Writes the table of claims as a Markdown page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "claims.hpp"

namespace bankwise::claims {
namespace {

constexpr std::size_t max_named = 5;  ///< points that a cell lists by name
constexpr std::size_t max_groups = 6;

struct Article {
  std::string_view key, title, about;
  std::vector<Claim> (*claims)();
};

constexpr Article articles[]{
    {"a1", "Bank conflict (compute capability 1.x)",
     "The article is in Chinese. We compare it with `sm_13`, which serves one half-warp at a time. The unit is *steps "
     "per half-warp*. An access with 1 step has no bank conflicts.",
     claims_a1},
    {"a2", "Shared memory conflicts (compute capability 2.x)",
     "The article is a translation and describes compute capabilities 1.x and 2.0. We compare it with `sm_13` in "
     "*steps per half-warp*, and with `sm_20` in *ways* of a whole warp, the unit of NVIDIA's guide. An access with 1 "
     "step or 1 way has no bank conflicts.",
     claims_a2},
    {"a3", "Bank conflicts and vectorized memory access in CUDA",
     "The article is in Chinese. It names no GPU; its cases were measured on an A100. We compare it with `sm_80` and "
     "`sm_90`, which agree in every number here. A *transaction* is a pass of the model. *Conflicts* are passes beyond "
     "those that the access needs without bank conflicts. Where the article shows only a picture, we took the index "
     "from its [kernels](https://github.com/NgCafai/gpu-programming-samples).",
     claims_a3},
    {"a4", "Bank conflicts in reduction and prefix sum (Radeon HD 5870)",
     "The article is a translation of an article by fsword73. We compare it with `hd5870`. *Conflicts* are the passes "
     "of one instruction of a wavefront (64 threads) beyond those that the instruction needs without bank conflicts. A "
     "one-word access needs one pass per half-wavefront. Strides are in words.",
     claims_a4},
};

/// Broken at blanks into lines of at most 120 bytes; each line after the first begins with `indent`.
std::string wrapped(std::string_view text, std::string_view indent = "") {
  constexpr std::size_t max_width = 120;
  std::string lines;
  std::size_t width = 0;  // of the current line
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    const std::string_view word = text.substr(from, to - from);
    if (width > 0 && width + 1 + word.size() > max_width) {
      lines += '\n';
      lines += indent;
      width = indent.size();
    } else if (width > 0) {
      lines += ' ';
      ++width;
    }
    lines += word;
    width += word.size();
    from = to + 1;
  }
  return lines;
}

/// "stride 2, stride 6", or "i = 0 … i = 127 (128 of them)".
std::string places(const std::vector<std::string>& named) {
  if (named.size() > max_named) {
    return fmt::format("{} … {} ({} of them)", named.front(), named.back(), named.size());
  }
  return fmt::format("{}", fmt::join(named, ", "));
}

/// "2 steps", "1 step", "bank 0", with `mark` before and after the number.
std::string with_unit(const std::string& pattern, Range range, std::string_view mark = "") {
  std::string text = pattern;
  const std::size_t place = text.find("{}");
  if (range == Range(1) && place == 0) {
    const std::size_t end = std::min(text.find(' ', 3), text.size());  // of the word after the number
    if (text[end - 1] == 's') text.erase(end - 1, 1);
  }
  return text.replace(place, 2, fmt::format("{0}{1}{0}", mark, to_string(range)));
}

/// Points of the same number, in the order of their first appearance.
struct Group {
  Range number;
  std::vector<std::string> named;
};

std::vector<Group> by_number(const std::vector<Point>& points) {
  std::vector<Group> groups;
  for (const Point& point : points) {
    auto group = std::ranges::find(groups, point.model, &Group::number);
    if (group == groups.end()) group = groups.insert(group, {point.model, {}});
    group->named.push_back(point.at);
  }
  return groups;
}

std::vector<std::string> agreeing_texts(const Claim& claim, const std::vector<Point>& points) {
  std::vector<std::string> texts;
  const std::vector<Group> groups = by_number(points);
  const bool by_the_article =
      std::ranges::all_of(points, [](const Point& point) { return point.article == point.model; });
  if (by_the_article && (claim.listed || groups.size() > max_groups)) {
    std::vector<std::string> named;
    named.reserve(points.size());
    for (const Point& point : points) named.push_back(point.at);
    return {"same as the article for " + places(named)};
  }
  for (const Group& group : groups) {
    const std::string number = with_unit(claim.unit, group.number);
    texts.push_back(group.named.front().empty() ? number : number + " for " + places(group.named));
  }
  return texts;
}

std::vector<std::string> differing_texts(const Claim& claim, const std::vector<Point>& points) {
  std::vector<std::string> texts;
  for (const Point& point : points) {
    if (texts.size() == max_named && points.size() > max_named + 1) {
      texts.push_back(fmt::format("and {} more", points.size() - max_named));
      break;
    }
    texts.push_back(fmt::format("{}, not {}{}{}", with_unit(claim.unit, point.model, "**"), to_string(point.article),
                                point.at.empty() ? "" : ", for ", point.at));
  }
  return texts;
}

/// Without a unit: "16 banks", each number with its own unit.
std::vector<std::string> plain_texts(const std::vector<Point>& points) {
  std::vector<std::string> texts;
  texts.reserve(points.size());
  for (const Point& point : points) {
    texts.push_back(agrees(point) ? with_unit("{} " + point.at, point.model)
                                  : fmt::format("{}, not {}", with_unit("{} " + point.at, point.model, "**"),
                                                to_string(point.article)));
  }
  return texts;
}

std::string model_cell(const Claim& claim) {
  if (claim.points.empty()) return "–";
  if (claim.unit.empty()) return fmt::format("{}", fmt::join(plain_texts(claim.points), "; "));
  std::vector<Point> agreeing, differing;
  for (const Point& point : claim.points) (agrees(point) ? agreeing : differing).push_back(point);
  std::vector<std::string> texts = agreeing_texts(claim, agreeing);
  for (std::string& text : differing_texts(claim, differing)) texts.push_back(std::move(text));
  return fmt::format("{}{}", fmt::join(texts, "; "), claim.listed ? " (full list below)" : "");
}

std::string verdict_cell(const Claim& claim) {
  if (claim.verdict == Verdict::fails) return "**fails**";
  if (claim.verdict == Verdict::holds_with_a_condition) return "holds " + claim.condition;
  return std::string(to_string(claim.verdict));
}

std::string claim_table(const std::vector<Claim>& claims) {
  std::string table = "| claim about | the article | the model | verdict | why |\n| --- | --- | --- | --- | --- |\n";
  for (const Claim& claim : claims) {
    table += fmt::format("| {} | {} | {} | {} | {} |\n", claim.subject, claim.says, model_cell(claim),
                         verdict_cell(claim), claim.why);
  }
  return table;
}

/// All points of a claim, grouped by the model's number.
std::string listing(const Claim& claim) {
  std::map<double, std::array<std::vector<std::string>, 2>> groups;  // [0]: agreeing
  for (const Point& point : claim.points) {
    const std::string at = agrees(point) ? point.at : fmt::format("{} ({})", point.at, to_string(point.article));
    groups[point.model.least][agrees(point) ? 0 : 1].push_back(at);
  }
  std::string table = fmt::format(
      "\nAll points of \"{}\":\n\n| the model | the article has the same number at | the article has a different "
      "number (in parentheses) at |\n| ---: | --- | --- |\n",
      claim.subject);
  for (const auto& [number, group] : groups) {
    table += fmt::format("| {} | {} | {} |\n", with_unit(claim.unit, number), fmt::join(group[0], ", "),
                         fmt::join(group[1], ", "));
  }
  return table;
}

std::string section(const Article& article) {
  const std::vector<Claim> claims = article.claims();
  std::string text =
      fmt::format("\n## {}: {}\n\n{}\n\n{}", article.key, article.title, wrapped(article.about), claim_table(claims));
  for (const Claim& claim : claims) {
    if (claim.listed) text += listing(claim);
  }
  if (article.key == "a4") {
    text +=
        "\nThe steps of the prefix sum of 512 elements. In step d, d threads are active. The last four columns have "
        "the conflicts\nof the loads at the indices `ai` and `bi`, over all wavefronts:\n\n" +
        scan_table();
  }
  return text;
}

std::string summary(const std::vector<Claim>& claims) {
  const auto count = [&](Verdict verdict) { return std::ranges::count(claims, verdict, &Claim::verdict); };
  std::string text =
      wrapped(fmt::format("Of {} claims, {} hold, {} hold only under a condition that the article does not state, {} "
                          "fail, and {} cannot be checked with a bank model. These claims fail:",
                          claims.size(), count(Verdict::holds), count(Verdict::holds_with_a_condition),
                          count(Verdict::fails), count(Verdict::not_checkable))) +
      "\n\n";
  for (const Claim& claim : claims) {
    if (claim.verdict != Verdict::fails) continue;
    text += wrapped(fmt::format("- **{}**, {}. The article: {}. The model: {}. {}", claim.key.substr(0, 2),
                                claim.subject, claim.says, model_cell(claim), claim.why),
                    "  ") +
            '\n';
  }
  return text;
}

}  // namespace

std::string page() {
  std::string text = R"(<!-- Written by write_claims, from tests/docs/claims; a test compares. Do not edit. -->
# Claims of four articles about bank conflicts, checked with the bank model

This project began with four articles about bank conflicts. This page lists their claims, in our words, next to the
numbers that the [bank model](../common/bankwise/banks/architectures.cpp) computes for the same accesses. If a claim is
not about an access, arithmetic gives the number. A program computes the numbers and writes this page. A test compares
each number with one that we computed by hand, and checks the verdicts.

)";
  text += summary(all_claims());
  text += R"(
In the column *the model*, a number is bold if the article has a different one. The verdict *holds* without a condition
means that all numbers are the same. With a condition, such as *holds if …*, they are the same in all cases that meet
the condition; the bold numbers are from cases that do not. `tid` is the thread index.
)";
  for (const Article& article : articles) text += section(article);
  return text;
}

}  // namespace bankwise::claims
