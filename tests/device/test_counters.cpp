// SPDX-License-Identifier: MIT
//
// Hardware counters if a device allows reading them, otherwise a reason; rows keep their results in any case.
#include <nlohmann/json.hpp>

#include "devices_under_test.hpp"
#include "tests/case_studies.hpp"
#include "tests/programs.hpp"

using namespace bankwise;

TEST_CASE("device/counters/flag", "[counters]") {
  for (const auto& device : devices_under_test()) {
    for (const std::string scope : {"memory", "block"}) {
      const std::string side = device.is_gpu ? "1024" : "64";  // a CPU has a reason to give, and no counters
      const Outcome outcome = run("transpose", "--width " + side + " --height " + side +
                                                   " --variant tile32,tile32_padded,swizzled "
                                                   "--counters --json - --scope " +
                                                   scope + " --device " + std::to_string(device.index));
      INFO(device.name << " " << scope << " " << outcome.err);
      REQUIRE(outcome.code == 0);
      const auto results = nlohmann::json::parse(outcome.out).at("results");
      CHECK(results.size() == 4);  // copy, too
      for (const auto& row : results) {
        INFO(row);
        if (row.at("variant") == "copy") continue;
        CHECK(row.at("status") == "ok");
        const auto& counters = row.at("counters");
        CHECK(counters.at("shared_load_passes").is_number() == counters.at("reason").get<std::string>().empty());
        if (counters.at("shared_load_passes").is_null() || counters.at("model").is_null()) continue;
        // Other traffic of a multiprocessor may add a few passes, but removes none.
        for (const char* key : {"shared_load_passes", "shared_load_conflicts", "shared_store_passes"}) {
          const double difference = counters.at("difference").at(key), model = counters.at("model").at(key);
          INFO(key);
          CHECK(difference >= 0);
          CHECK(difference <= 0.001 * model + 1000);
        }
      }
    }
  }
}
