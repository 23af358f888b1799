// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <optional>

#include <bankwise/cluster/deadline.hpp>
#include <bankwise/support/exit_code.hpp>
#include "tests/catch_any.hpp"

using namespace bankwise;

namespace {

/// BANKWISE_DEADLINE_S while this object lives.
class DeadlineVariable {
 public:
  explicit DeadlineVariable(const char* value) {
    if (const char* before = std::getenv(name)) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~DeadlineVariable() { before_ ? setenv(name, before_->c_str(), 1) : unsetenv(name); }
  DeadlineVariable(const DeadlineVariable&) = delete;
  DeadlineVariable& operator=(const DeadlineVariable&) = delete;

 private:
  static constexpr const char* name = "BANKWISE_DEADLINE_S";
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("cluster/deadline/positive", "[communicator]") {
  for (const auto& [text, seconds] : {std::pair<const char*, double>{nullptr, 120}, {"2", 2}, {"0.5", 0.5}}) {
    const DeadlineVariable variable(text);
    CHECK(cluster::deadline_s() == seconds);
  }
  for (const char* bad : {"", "0", "-1", "two", "3s", "inf", "nan", "1e7"}) {
    const DeadlineVariable variable(bad);
    CHECK_THROWS_WITH(cluster::deadline_s(),
                      "BANKWISE_DEADLINE_S is '" + std::string(bad) + "', not a number of seconds");
    CHECK_THROWS_AS(cluster::deadline_s(), UsageError);
  }
}
