// All case studies, those of the tests included, and what the study.json in the folder of each says of it.
#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "all_case_studies.hpp"  // made by CMake from the two lists: their functions, and FOR_EACH_CASE_STUDY

#define BANKWISE_ADDRESS(name, folder) &bankwise::name::case_study(),
inline const bankwise::study::CaseStudy* const all_case_studies[]{FOR_EACH_CASE_STUDY(BANKWISE_ADDRESS)};
#undef BANKWISE_ADDRESS

/// Error: std::runtime_error if there is none.
inline const bankwise::study::CaseStudy& case_study_named(std::string_view name) {
  for (const bankwise::study::CaseStudy* study : all_case_studies) {
    if (study->name == name) return *study;
  }
  throw std::runtime_error("no case study " + std::string(name));
}

/// Relative to the root of the repository: "tests/case_studies/more_kernels". Empty for a study of no list.
inline std::string folder_of(const bankwise::study::CaseStudy& study) {
#define BANKWISE_FOLDER(id, folder) \
  if (study.name == #id) return folder;
  FOR_EACH_CASE_STUDY(BANKWISE_FOLDER)
#undef BANKWISE_FOLDER
  return {};
}

/// The study.json of a case study; docs/adding_a_variant.md describes the keys. Empty for a study of no list.
inline const nlohmann::json& facts(const bankwise::study::CaseStudy& study) {
  static std::map<std::string, nlohmann::json> read{{"", nlohmann::json::object()}};
  const std::string folder = folder_of(study);
  nlohmann::json& facts = read[folder];
  if (facts.is_null()) facts = nlohmann::json::parse(std::ifstream(SOURCE_DIRECTORY "/" + folder + "/study.json"));
  return facts;
}

/// An extent in study.json: a number of elements, [height, width] or [height, width, depth].
inline bankwise::study::Extent extent(const nlohmann::json& lengths) {
  if (lengths.is_number()) return {1, lengths};
  return {lengths.at(0), lengths.at(1), lengths.size() > 2 ? lengths.at(2).get<std::uint64_t>() : 1};
}

/// The extents under a key; none if the key is missing.
inline std::vector<bankwise::study::Extent> extents(const nlohmann::json& lists, std::string_view key) {
  std::vector<bankwise::study::Extent> extents;
  for (const auto& lengths : lists.value(key, nlohmann::json::array())) extents.push_back(extent(lengths));
  return extents;
}
inline std::vector<bankwise::study::Extent> extents(const bankwise::study::CaseStudy& study, std::string_view key) {
  return extents(facts(study).at("extents"), key);
}

/// Any extent of ordinary size.
inline bankwise::study::Extent example_extent(const bankwise::study::CaseStudy& study) {
  return extent(facts(study).at("extents").at("example"));
}

/// "--width 3 --height 2"
inline std::string flags(const bankwise::study::CaseStudy& study, bankwise::study::Extent extent) {
  std::string flags;
  for (const auto& side : study.sides) {
    flags += "--" + std::string(side.name) + ' ' + std::to_string(extent.*side.length) + ' ';
  }
  return flags;
}

inline std::string text(bankwise::study::Extent extent) {
  return std::to_string(extent.height) + " x " + std::to_string(extent.width) + " x " + std::to_string(extent.depth);
}

/// What study.json says of the kernels, by the stem of their files.
inline const nlohmann::json& kernel_facts(const bankwise::study::CaseStudy& study) {
  static const nlohmann::json none = nlohmann::json::object();
  return facts(study).contains("kernels") ? facts(study).at("kernels") : none;
}

/// What study.json says of a kernel, by the name of its function; empty if it says nothing.
inline nlohmann::json kernel_facts(const bankwise::study::CaseStudy& study, std::string_view kernel) {
  return kernel_facts(study).value(std::string(kernel.substr(study.kernel_prefix.size())), nlohmann::json::object());
}

/// Whether an extent has two sides.
inline bool is_matrix(const bankwise::study::CaseStudy& study) { return study.sides.size() == 2; }

/// Error: std::runtime_error if there is none.
inline const bankwise::study::Variant& variant_of(const bankwise::study::CaseStudy& study, std::string_view name) {
  for (const bankwise::study::Variant& variant : study.variants) {
    if (variant.name == name) return variant;
  }
  throw std::runtime_error(std::string(study.name) + " has no variant " + std::string(name));
}

inline bankwise::study::Words hashed_words(std::uint64_t count) {
  bankwise::study::Words words(count);
  for (std::uint64_t i = 0; i < count; ++i) words[i] = bankwise::study::hashed_word(i);
  return words;
}

/// The words of a study's only output.
inline bankwise::study::Words reference_output(const bankwise::study::CaseStudy& study, bankwise::study::Extent extent,
                                               const bankwise::study::Words& input) {
  return study.reference(extent, {&input, 1}, study.variants.front()).front();
}
