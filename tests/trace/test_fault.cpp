// SPDX-License-Identifier: MIT
#include <bankwise/trace/fault.hpp>

#include <set>
#include <string>

#include "tests/catch_any.hpp"

using namespace bankwise::trace;

TEST_CASE("trace/fault/table") {
  std::set<std::string_view> ids, names;
  int next = 0;
  for (const FaultRow& row : faults()) {
    INFO(row.id);
    CHECK(int(row.fault) == next++);
    CHECK(&row_of(row.fault) == &row);
    CHECK(fault_named(row.id) == row.fault);
    CHECK(ids.insert(row.id).second);
    CHECK(names.insert(row.name).second);
    CHECK(row.meaning.ends_with('.'));
    CHECK(row.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    if (row.silenced_by.flag.starts_with("--allow")) {
      CHECK(row.silenced_by.flag == "--allow " + std::string(row.id));
    }
  }
  CHECK(int(Fault::barriers_differ) + 1 == next);
  CHECK_FALSE(fault_named("dance"));
}
