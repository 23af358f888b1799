#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch_any.hpp"

/// Checks that an object has these members with these values, which are written as JSON. It may have others.
inline void check_members(const nlohmann::json& object, const std::string& members) {
  const auto expected = nlohmann::json::parse(members);
  for (const auto& [name, value] : expected.items()) {
    INFO(name);
    REQUIRE(object.contains(name));
    CHECK(object.at(name) == value);
  }
}
