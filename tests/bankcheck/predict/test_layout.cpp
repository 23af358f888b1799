// The layout of random accesses on every architecture: which bank serves which lane in which pass adds up to the cost.
#include <string>

#include "layout_agrees.hpp"
#include "tests/banks/random_accesses.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise::banks;

namespace {

struct Seen {
  unsigned checked = 0, wrong = 0, several_turns = 0, broadcasts = 0, split = 0;
  std::string first_few;
};

void look(const Architecture& architecture, const RandomAccess& random, Seen& seen) {
  const Access access = random.access();
  const auto outcome = cost(architecture, access);
  const auto* access_cost = std::get_if<Cost>(&outcome);
  if (access_cost == nullptr) return;
  const auto touches = layout(architecture, access, *access_cost);
  const std::string wrong = what_is_wrong(architecture, access, *access_cost, touches);
  if (!wrong.empty() && ++seen.wrong <= 3) {
    seen.first_few += std::string(architecture.name) + ", " + to_text(random) + ": " + wrong + '\n';
  }
  ++seen.checked;
  seen.several_turns += access_cost->passes > access_cost->ideal ? 1 : 0;
  seen.broadcasts += access_cost->passes_max > access_cost->passes ? 1 : 0;
  const unsigned groups = access_cost->lane_group_count;
  seen.split += groups > 0 && access_cost->lane_groups[groups - 1].first_byte > 0 ? 1 : 0;
}

/// An access whose layout and cost agree, for the tests to modify.
struct Sound {
  const Architecture& architecture;
  std::vector<std::uint32_t> addresses;
  Access access;
  Cost cost;
  std::vector<Touch> touches;

  Sound(const char* name, std::vector<std::uint32_t> bytes)
      : architecture(*find_architecture(name)),
        addresses(std::move(bytes)),
        access{Operation::load, 4, first_lanes(unsigned(addresses.size())), addresses},
        cost(std::get<Cost>(bankwise::banks::cost(architecture, access))),
        touches(layout(architecture, access, cost)) {}
  std::string wrong() const { return what_is_wrong(architecture, access, cost, touches); }
};

}  // namespace

TEST_CASE("predict/layout/adds_up") {
  Seen seen;
  for (const Architecture& architecture : architectures()) {
    RandomAccesses accesses(29);
    for (int i = 0; i < 1000; ++i) look(architecture, accesses.next(architecture.lanes), seen);
  }
  INFO(seen.first_few);
  CHECK(seen.wrong == 0);
  CHECK(seen.checked > 13000);
  CHECK(seen.several_turns > 3000);
  CHECK(seen.broadcasts > 30);
  CHECK(seen.split > 300);
}

TEST_CASE("predict/layout/control") {
  const std::vector<std::uint32_t> strided{0, 128, 256, 4, 8, 12};
  CHECK(Sound("sm_90", strided).wrong() == "");
  const std::pair<const char*, void (*)(Sound&)> spoils[]{
      {"one turn less",
       [](Sound& sound) {
         for (Touch& touch : sound.touches) touch.turn = std::min(touch.turn, 1U);
       }},
      {"a lost lane", [](Sound& sound) { sound.touches.pop_back(); }},
      {"too dear", [](Sound& sound) { ++sound.cost.lane_groups[0].passes; }},
      {"a stray bank", [](Sound& sound) { sound.touches[0].bank = 32; }},
  };
  for (const auto& [name, spoil] : spoils) {
    INFO(name);
    Sound sound("sm_90", strided);
    spoil(sound);
    CHECK(sound.wrong() != "");
  }
  const std::vector<std::uint32_t> two_words{0, 0, 4, 4};
  CHECK(Sound("sm_13", two_words).wrong() == "");
  Sound two_broadcasts("sm_13", two_words);
  for (Touch& touch : two_broadcasts.touches) touch.turn = 0;
  two_broadcasts.cost.lane_groups[0].passes = 1;
  CHECK_THAT(two_broadcasts.wrong(), has("two broadcasts"));
}

TEST_CASE("predict/layout/empty") {
  const Architecture& architecture = *find_architecture("sm_90");
  CHECK(layout(architecture, {Operation::load, 3, 1, {}}, Cost{}).empty());
  CHECK(layout(architecture, {Operation::load, 4, 0, {}}, Cost{}).empty());
}
