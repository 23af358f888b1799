#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/support/exit_code.hpp>
#include "rank_main.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using cluster::Piece;

// The communicator, on any number of ranks.

using Words = std::vector<std::uint32_t>;

TEST_CASE("cluster/communicator/numbers", "[communicator]") {
  const unsigned rank = communicator().rank(), ranks = communicator().ranks();
  REQUIRE(rank < ranks);
  CHECK(cluster::started_by_launcher());
  CHECK(communicator().one_node());
  CHECK(communicator().ranks_on_node() == ranks);
  CHECK(communicator().rank_on_node() == rank);
  CHECK_FALSE(cluster::Communicator::version().empty());
  Words all_ranks(ranks);
  std::iota(all_ranks.begin(), all_ranks.end(), 0);
  const auto gathered = communicator().gather(std::as_bytes(std::span(&rank, 1)));
  REQUIRE(gathered.size() == ranks * sizeof rank);
  CHECK(std::memcmp(gathered.data(), all_ranks.data(), gathered.size()) == 0);
}

TEST_CASE("cluster/communicator/sums", "[communicator]") {
  const unsigned rank = communicator().rank(), ranks = communicator().ranks();
  const Words mine{rank + 1, ~0U, 0};
  CHECK(communicator().sum(mine) == Words{ranks * (ranks + 1) / 2, 0 - ranks, 0});
  CHECK(communicator().sum_of_lower(mine) == Words{rank * (rank + 1) / 2, 0 - rank, 0});
  CHECK(communicator().sum({}).empty());
  CHECK(communicator().sum_of_lower({}).empty());
}

TEST_CASE("cluster/communicator/maximum", "[communicator]") {
  const double rank = communicator().rank(), ranks = communicator().ranks();
  CHECK(communicator().max(rank) == ranks - 1);
  CHECK(communicator().max(-rank - 1) == -1);
  CHECK(communicator().max(0.25) == 0.25);
}

TEST_CASE("cluster/communicator/texts", "[communicator]") {
  const unsigned rank = communicator().rank(), ranks = communicator().ranks();
  const auto text_of = [](unsigned r) { return std::string(r * 1000, char('a' + r)); };  // rank 0's is empty
  const std::vector<std::string> texts = communicator().gather(text_of(rank));
  REQUIRE(texts.size() == ranks);
  for (unsigned r = 0; r < ranks; ++r) CHECK(texts[r] == text_of(r));
  CHECK(communicator().gather(std::string()) == std::vector<std::string>(ranks));
  const std::vector<std::string> one = communicator().gather(std::string(rank == 0 ? "only rank 0" : ""));
  for (unsigned r = 0; r < ranks; ++r) CHECK(one[r] == (r == 0 ? "only rank 0" : ""));
}

TEST_CASE("cluster/communicator/broadcast", "[communicator]") {
  Words words(5, communicator().rank());
  words[2] += 7;
  communicator().broadcast(std::as_writable_bytes(std::span(words)));
  CHECK(words == Words{0, 0, 7, 0, 0});
  CHECK(communicator().gather(std::span<const std::byte>()).empty());
  communicator().barrier();
}

TEST_CASE("cluster/communicator/pieces", "[communicator]") {
  const unsigned rank = communicator().rank(), ranks = communicator().ranks();
  const auto length = [](unsigned from, unsigned to) { return std::uint64_t{(from + 2 * to) % 3}; };
  const auto word = [](unsigned from, unsigned to, std::uint64_t i) {
    return std::uint32_t(10000 * from + 100 * to + i + 1);
  };
  // Sent from the end of a buffer to its beginning, received in order with a word in between.
  Words from(3 * ranks), to;
  std::vector<Piece> send, receive;
  std::uint64_t end = from.size();
  for (unsigned r = 0; r < ranks; ++r) {
    end -= length(rank, r);
    send.push_back({end, length(rank, r)});
    for (std::uint64_t i = 0; i < length(rank, r); ++i) from[end + i] = word(rank, r, i);
    receive.push_back({to.size(), length(r, rank)});
    to.resize(to.size() + length(r, rank) + 1);
  }
  communicator().all_to_all(from, send, to, receive);
  Words wanted;
  for (unsigned r = 0; r < ranks; ++r) {
    for (std::uint64_t i = 0; i < length(r, rank); ++i) wanted.push_back(word(r, rank, i));
    wanted.push_back(0);
  }
  CHECK(to == wanted);

  const std::vector<Piece> nothing(ranks);
  communicator().all_to_all({}, nothing, {}, nothing);
}

TEST_CASE("cluster/communicator/unsupported", "[communicator]") {
  const unsigned rank = communicator().rank(), ranks = communicator().ranks();
  int steps = 0;
  CHECK_NOTHROW(cluster::agree(communicator(), [&] { ++steps; }));
  CHECK(steps == 1);
  for (unsigned lowest = 0; lowest < ranks; ++lowest) {
    const auto step = [&] {
      if (rank >= lowest) throw gpu::Unsupported("rank " + std::to_string(rank) + " has no device");
    };
    const std::string number = std::to_string(lowest);
    CHECK_THROWS_WITH(cluster::agree(communicator(), step), "rank " + number + ": rank " + number + " has no device");
  }
  const auto last = [&] {
    if (rank == ranks - 1) throw gpu::Unsupported("too small");
  };
  CHECK_THROWS_AS(cluster::agree(communicator(), last), gpu::Unsupported);
}

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
    CHECK_THROWS_AS(cluster::deadline_s(), support::UsageError);
  }
}
