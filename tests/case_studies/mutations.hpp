// Faults that are put into the real kernels, so a test can show which layer catches each: the key "mutations" of
// study.json.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct Mutation {
  std::string name;  ///< also of the namespace of the broken kernel, where it is compiled next to the intact one
  std::filesystem::path file;  ///< relative to the root of the repository: "reduction/packed.cl"
  std::vector<std::pair<std::string, std::string>> changes;  ///< text that occurs once, and its replacement
  bool is_survived = false;  ///< not an error: adverse conditions in which the results must be right on any device
};

/// The mutations of the kernels in a folder.
inline std::vector<Mutation> mutations_in(const std::string& folder) {
  std::vector<Mutation> mutations;
  const auto facts = nlohmann::json::parse(std::ifstream(SOURCE_DIRECTORY "/" + folder + "/study.json"));
  if (!facts.contains("mutations")) return {};
  for (const auto& [name, mutation] : facts.at("mutations").items()) {
    Mutation& read = mutations.emplace_back();
    read.name = name;
    read.file = folder + '/' + mutation.at("file").get<std::string>();
    for (const auto& [from, to] : mutation.at("changes").items()) read.changes.emplace_back(from, to);
    read.is_survived = mutation.value("is_survived", false);
  }
  return mutations;
}

/// The broken source. Error: std::runtime_error unless the kernel contains the text to replace exactly once.
inline std::string mutate(std::string source, const Mutation& mutation) {
  for (const auto& [from, to] : mutation.changes) {
    const auto at = source.find(from);
    if (at == std::string::npos || source.find(from, at + 1) != std::string::npos) {
      throw std::runtime_error(mutation.file.string() + " does not hold this exactly once: " + from);
    }
    source.replace(at, from.size(), to);
  }
  return source;
}

/// Error: std::invalid_argument if the kernels in the folder have no such mutation.
inline Mutation mutation(const std::string& folder, std::string_view name) {
  for (Mutation& mutation : mutations_in(folder)) {
    if (mutation.name == name) return mutation;
  }
  throw std::invalid_argument(folder + " has no mutation " + std::string(name));
}
