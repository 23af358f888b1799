// SPDX-License-Identifier: MIT
//
// The table of claims as a page.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "claims.hpp"

namespace bankwise::claims {
namespace {

constexpr std::size_t max_named = 5;  ///< points that a cell names one by one
constexpr std::size_t max_groups = 6;

struct Article {
  std::string_view key, title, about;
  std::vector<Claim> (*claims)();
};

constexpr Article articles[]{
    {"a1", "bank conflict",
     "In Chinese, about compute capability 1.x. Held against `sm_13`, which serves a half-warp at a time: the unit is "
     "*steps "
     "per half-warp*, and 1 is free of conflicts.",
     claims_a1},
    {"a2", "Shared memory conflicts",
     "Translated, about compute capabilities 1.x and 2.0. Held against `sm_13`, in *steps per half-warp*, and `sm_20`, "
     "in *ways* of a whole warp, as NVIDIA's guide counts there; 1 is free of conflicts.",
     claims_a2},
    {"a3", "CUDA bank conflict and vectorized access",
     "In Chinese. It names no GPU; its cases were measured on an A100. Held against `sm_80` and `sm_90`, which agree "
     "in "
     "every number here. A *transaction* is what the model calls a pass, and NVIDIA's counters a wavefront; "
     "*conflicts* "
     "are passes beyond those that the access needs anyway. Where the article shows a picture, the index is that of "
     "[the kernel it links to](https://github.com/NgCafai/gpu-programming-samples).",
     claims_a3},
    {"a4", "fsword73's reduction and prefix sum on the Radeon HD 5870",
     "Translated. Held against `hd5870`. *Conflicts* are of one instruction of a wavefront of 64 threads: passes "
     "beyond those "
     "that it needs anyway, which for words is one for each half-wavefront. A stride is in words.",
     claims_a4},
};

/// "stride 2, stride 6", or "i = 0 … i = 127 (128 of them)".
std::string places(const std::vector<std::string>& named) {
  if (named.size() > max_named) {
    return fmt::format("{} … {} ({} of them)", named.front(), named.back(), named.size());
  }
  return fmt::format("{}", fmt::join(named, ", "));
}

/// "2 steps", "1 step", "bank 0", with the number between `mark`s.
std::string with_unit(const std::string& pattern, Range range, std::string_view mark = "") {
  std::string text = pattern;
  const std::size_t place = text.find("{}");
  if (range == Range(1) && place == 0) {
    const std::size_t end = std::min(text.find(' ', 3), text.size());  // of the word behind the number
    if (text[end - 1] == 's') text.erase(end - 1, 1);
  }
  return text.replace(place, 2, fmt::format("{0}{1}{0}", mark, to_string(range)));
}

/// Points of the same number, in the order in which the first of each appears.
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
    return {"the article's number for " + places(named)};
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

/// Without a unit: "16 banks", each number with what it is of.
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
  return fmt::format("{}{}", fmt::join(texts, "; "), claim.listed ? " (all below)" : "");
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
      "\nPoint by point, {}:\n\n| the model | the article has the same at | the article has another number, in "
      "parentheses, at |\n| ---: | --- | --- |\n",
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
      fmt::format("\n## {}: {}\n\n{}\n\n{}", article.key, article.title, article.about, claim_table(claims));
  for (const Claim& claim : claims) {
    if (claim.listed) text += listing(claim);
  }
  if (article.key == "a4") {
    text +=
        "\nThe prefix sum of 512 elements, step by step: conflicts of the read of each index, all wavefronts together, "
        "without padding and with it:\n\n" +
        scan_table();
  }
  return text;
}

std::string summary(const std::vector<Claim>& claims) {
  const auto count = [&](Verdict verdict) { return std::ranges::count(claims, verdict, &Claim::verdict); };
  std::string text = fmt::format(
      "Of {} claims, {} hold, {} hold with a condition that the article leaves out, {} fail, and {} are not for a bank "
      "model to check. These fail:\n\n",
      claims.size(), count(Verdict::holds), count(Verdict::holds_with_a_condition), count(Verdict::fails),
      count(Verdict::not_checkable));
  for (const Claim& claim : claims) {
    if (claim.verdict != Verdict::fails) continue;
    text += fmt::format("- **{}**, {}: {}. The model: {}. {}\n", claim.key.substr(0, 2), claim.subject, claim.says,
                        model_cell(claim), claim.why);
  }
  return text;
}

}  // namespace

std::string page() {
  std::string text = R"(<!-- Written by write_claims, from tests/docs/claims; a test compares. Do not edit. -->
# What four articles say, and what the model says

This project began with four articles about bank conflicts. Here is every number that they state, in our words, beside the
number that the [bank model](../common/bankwise/banks/architectures.cpp) computes for the same access, or plain arithmetic where no access
is meant. A program computes them and writes this page; a test compares each with what we reckoned by hand, and asserts that the
verdict follows.

)";
  text += summary(all_claims());
  text += R"(
How to read a row: the model's number in bold is one that the article does not have. *Holds* alone says that all numbers are the
same; *holds if …* or the like names a condition under which they are, and the bold numbers are from beyond it. `tid` is the thread.
)";
  for (const Article& article : articles) text += section(article);
  return text;
}

}  // namespace bankwise::claims
