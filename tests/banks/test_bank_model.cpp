// The model against a second implementation, written independently from the texts: random accesses of every
// architecture, and every state of a half-warp of compute capability 1.x.
#include <functional>
#include <sstream>

#include "random_accesses.hpp"
#include "slow_banks.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using banks::Operation;

namespace {

constexpr unsigned accesses_per_architecture = 50'000;

std::string to_text(const slow::SlowCost& cost) {
  if (cost.refused) return "refused";
  std::ostringstream text;
  text << cost.passes << ".." << cost.passes_max << " passes, ideal " << cost.ideal << ", " << cost.conflicts << ".."
       << cost.conflicts_max << " conflicts, floor " << cost.floor;
  return text.str();
}

slow::SlowCost by_model(const banks::Architecture& architecture, const banks::RandomAccess& random) {
  const auto outcome = banks::cost(architecture, random.access());
  const auto* cost = std::get_if<banks::Cost>(&outcome);
  if (cost == nullptr) return {0, 0, 0, 0, 0, 0, true};
  return {cost->passes, cost->ideal, cost->conflicts, cost->passes_max, cost->conflicts_max, cost->floor, false};
}

/// Sometimes makes the access invalid, because both implementations must agree on these, too.
void spoil(banks::RandomAccess& random, banks::RandomAccesses& more) {
  const unsigned lane = more.below(banks::max_lanes);
  switch (more.below(50)) {
    case 3:
      if (!random.sources.empty()) random.sources.resize(lane);
      break;
    case 0: random.addresses[lane] += 1 + more.below(15); break;
    case 1: random.mask |= std::uint64_t{1} << lane; break;
    case 2: random.addresses.resize(lane); break;
    default: break;
  }
}

/// Calls `body` with random accesses of an architecture, good and bad, until it returns false.
void for_each_random(const banks::Architecture& architecture, unsigned seed,
                     const std::function<bool(const banks::RandomAccess&)>& body) {
  banks::RandomAccesses accesses(seed);
  for (unsigned i = 0; i < accesses_per_architecture; ++i) {
    auto random = accesses.next(accesses.below(2) == 0 ? architecture.lanes : architecture.warp);
    spoil(random, accesses);
    if (!body(random)) return;
  }
}

slow::SlowCost by_rules(const banks::Architecture& architecture, const banks::RandomAccess& random) {
  return slow::cost(architecture.name, random.operation, random.width, random.mask, random.addresses, random.sources);
}

/// Whether the random accesses tell a broken architecture from the rules, while the intact one agrees with them.
bool noticed(const banks::Architecture& whole, const banks::Architecture& broken) {
  bool found = false;
  for_each_random(whole, 99, [&](const banks::RandomAccess& random) {
    const slow::SlowCost rules = by_rules(whole, random);
    found = by_model(broken, random) != rules && by_model(whole, random) == rules;
    return !found;
  });
  return found;
}

void check_random_accesses(const std::vector<std::string_view>& names) {
  unsigned seed = 1;
  for (const std::string_view name : names) {
    const banks::Architecture* architecture = banks::find_architecture(name);
    CAPTURE(std::string(name));
    REQUIRE(architecture != nullptr);
    std::string first_few;
    unsigned wrong = 0;
    for_each_random(*architecture, seed++, [&](const banks::RandomAccess& random) {
      const slow::SlowCost fast = by_model(*architecture, random), slow = by_rules(*architecture, random);
      if (fast != slow && ++wrong <= 3) {
        first_few += to_text(random);
        first_few += "\n  model " + to_text(fast) + "\n  rules " + to_text(slow) + "\n";
      }
      return true;
    });
    INFO(first_few);
    CHECK(wrong == 0);
  }
}

const std::vector<std::vector<std::string_view>> random_parts{
    {"sm_13"},
    {"sm_20", "sm_30", "sm_30_eight_byte"},
    {"sm_50", "sm_60", "sm_70", "sm_75", "sm_80"},
    {"sm_89", "sm_90", "sm_100", "sm_120"},
    {"hd5870", "gcn", "gfx908"},
    {"gfx90a", "gfx942", "gfx950"},
    {"gfx1030", "gfx1100", "gfx1201"},
    {"gfx1250", "intel_xe"},
};

bool has(const banks::Rule& rule, Operation operation, unsigned width) {
  return (rule.operations >> unsigned(operation) & 1) == 1 && (rule.widths >> width & 1) == 1;
}

/// All ways to write the numbers up to `largest` as sums: the lanes that wait for each word of a bank.
std::vector<std::vector<unsigned>> partitions(unsigned largest) {
  std::vector<std::vector<std::vector<unsigned>>> of{{{}}};
  std::vector<std::vector<unsigned>> all;
  for (unsigned total = 1; total <= largest; ++total) {
    of.emplace_back();
    for (unsigned last = 1; last <= total; ++last) {
      for (auto parts : of[total - last]) {
        if (!parts.empty() && parts.back() < last) continue;  // in falling order
        parts.push_back(last);
        of[total].push_back(parts);
      }
    }
    all.insert(all.end(), of[total].begin(), of[total].end());
  }
  return all;
}

/// Every list of such banks with at most `lanes` lanes in total, regardless of the order of the banks.
std::vector<slow::HalfWarp> half_warps(unsigned lanes) {
  struct State {
    slow::HalfWarp banks;
    std::size_t last;  // index of the last bank's state; later banks have no smaller one
    unsigned left;
  };
  const auto bank_states = partitions(lanes);
  std::vector<unsigned> lanes_of;  // of each bank state
  for (const auto& state : bank_states) lanes_of.push_back(std::accumulate(state.begin(), state.end(), 0U));
  std::vector<State> grown{{{}, 0, lanes}};
  std::vector<slow::HalfWarp> all;
  while (!grown.empty()) {
    const State state = grown.back();
    grown.pop_back();
    all.push_back(state.banks);
    for (std::size_t i = state.last; i < bank_states.size(); ++i) {
      if (lanes_of[i] > state.left) continue;
      grown.push_back({state.banks, i, state.left - lanes_of[i]});
      grown.back().banks.push_back(bank_states[i]);
    }
  }
  return all;
}

/// A load that puts a half-warp into a state: bank b's word w is word 16 w + b. Neighbouring lanes want different
/// banks.
banks::RandomAccess load_of(const slow::HalfWarp& state) {
  banks::RandomAccess load;
  for (unsigned bank = 0; bank < state.size(); ++bank) {
    for (unsigned word = 0; word < state[bank].size(); ++word) {
      load.addresses.insert(load.addresses.end(), state[bank][word], 4 * (16 * word + bank));
    }
  }
  const auto lanes = unsigned(load.addresses.size());
  load.mask = banks::first_lanes(lanes);
  std::vector<std::uint32_t> dealt;
  for (unsigned i = 0; i < lanes; ++i) dealt.push_back(load.addresses[lanes % 7 == 0 ? i : i * 7 % lanes]);
  load.addresses = dealt;
  return load;
}

}  // namespace

TEST_CASE("banks/bank_model/random_0") { check_random_accesses(random_parts[0]); }
TEST_CASE("banks/bank_model/random_1") { check_random_accesses(random_parts[1]); }
TEST_CASE("banks/bank_model/random_2") { check_random_accesses(random_parts[2]); }
TEST_CASE("banks/bank_model/random_3") { check_random_accesses(random_parts[3]); }
TEST_CASE("banks/bank_model/random_4") { check_random_accesses(random_parts[4]); }
TEST_CASE("banks/bank_model/random_5") { check_random_accesses(random_parts[5]); }
TEST_CASE("banks/bank_model/random_6") { check_random_accesses(random_parts[6]); }

TEST_CASE("banks/bank_model/random_covers_all") {
  for (const auto& architecture : banks::architectures()) {
    unsigned parts = 0;
    for (const auto& names : random_parts) parts += unsigned(std::count(names.begin(), names.end(), architecture.name));
    INFO(architecture.name);
    CHECK(parts == 1);
  }
}

TEST_CASE("banks/bank_model/detects_broken_rule") {
  struct Breakage {
    const char *what, *architecture;
    std::function<void(banks::Rule&)> apply;
  };
  const auto in_runs = [](Operation operation, unsigned width, unsigned run) {
    return [=](banks::Rule& rule) {
      if (has(rule, operation, width)) rule.lane_groups = banks::consecutive(run);
    };
  };
  const Breakage breakages[]{
      {"loads never merge", "sm_90", [](auto& rule) { rule.merges = false; }},
      {"stores merge", "sm_90",
       [](auto& rule) { rule.operations |= rule.merges ? 1U << unsigned(Operation::store) : 0; }},
      {"16-byte loads in runs of 16 lanes", "gfx942", in_runs(Operation::load, 16, 16)},
      {"16-byte loads as RDNA 4 serves them", "gfx1100", in_runs(Operation::load, 16, 8)},
      {"8-byte stores whole", "sm_80", in_runs(Operation::store, 8, 32)},
      {"16-byte loads in runs of 8 lanes", "gfx1250", in_runs(Operation::load, 16, 8)},
      {"32 banks for wide loads", "gfx950", [](auto& rule) { rule.banks = {}; }},
      {"rows of one word a bank", "sm_30", [](auto& rule) { rule.banks = {}; }},
      {"four-byte banks", "sm_30_eight_byte", [](auto& rule) { rule.banks = {}; }},
      {"stores broadcast", "intel_xe", [](auto& rule) { rule.serving = banks::Serving::words; }},
      {"atomics combine", "sm_90",
       [](auto& rule) {
         if (has(rule, Operation::atomic, 4)) rule.serving = banks::Serving::words;
       }},
      {"compare-and-swap in one round", "sm_90", [](auto& rule) { rule.rounds = 1; }},
      {"copies wait for their destinations only", "sm_90",
       [](auto& rule) {
         if (rule.serving == banks::Serving::copies) rule.serving = banks::Serving::lanes;
       }},
      {"16-byte copies in runs of 16 lanes", "sm_80", in_runs(Operation::cp_async, 16, 16)},
      {"any number of words broadcast", "sm_13", [](auto& rule) { rule.serving = banks::Serving::words; }},
      {"the worst lane group is not one more", "sm_20",
       [](auto& rule) {
         if (rule.total == banks::Total::worst_plus_one) rule.total = banks::Total::worst;
       }},
      {"16-byte loads are one request", "hd5870", [](auto& rule) { rule.request_bytes = 0; }},
      {"12-byte accesses are one request", "sm_70", [](auto& rule) { rule.request_bytes = 0; }},
  };
  for (const auto& breakage : breakages) {
    const banks::Architecture& whole = *banks::find_architecture(breakage.architecture);
    std::vector<banks::Rule> rules(whole.rules.begin(), whole.rules.end());
    for (auto& rule : rules) breakage.apply(rule);
    banks::Architecture broken = whole;
    broken.rules = rules;
    INFO(breakage.architecture << ": " << breakage.what);
    CHECK(noticed(whole, broken));
  }
}

TEST_CASE("banks/bank_model/half_warp_choices") {
  const banks::Architecture* architecture = banks::find_architecture("sm_13");
  REQUIRE(architecture != nullptr);
  const auto states = half_warps(16);
  CHECK(states.size() == 70570);
  unsigned wrong = 0, undecided = 0;
  std::string first_few;
  for (const slow::HalfWarp& state : states) {
    const auto load = load_of(state);
    const auto fast = by_model(*architecture, load);
    const auto slow = slow::steps(state);
    if (slow.least != slow.most) ++undecided;
    if ((fast.passes == slow.least && fast.passes_max == slow.most) || ++wrong > 3) continue;
    first_few += to_text(load) + ": model " + to_text(fast) + ", search " + std::to_string(slow.least) + ".." +
                 std::to_string(slow.most) + "\n";
  }
  INFO(first_few);
  CHECK(undecided > 50000);
  CHECK(wrong == 0);
}
