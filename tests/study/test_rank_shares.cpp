// How several ranks divide a problem, and what each expects as its output. No device, no MPI.
#include <stdexcept>
#include <variant>

#include <bankwise/study/case_study.hpp>
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

const CaseStudy* const rank_studies[]{&reduction::case_study(), &prefix_sum::case_study(), &transpose::case_study()};

std::vector<Extent> extents_of(const CaseStudy& study) {
  if (is_matrix(study)) return {{1, 1}, {2, 3}, {3, 2}, {1, 70}, {70, 1}, {31, 37}, {64, 64}, {131, 130}};
  return {{1, 0}, {1, 1}, {1, 2}, {1, 4}, {1, 5}, {1, 127}, {1, 1000}, {1, 30000}};
}

/// The sums of the words i, i + sums, i + 2 * sums, ... of a part of the input.
Words sums_of(const Words& input, std::uint64_t first, std::uint64_t last, std::size_t sums) {
  Words result(sums);
  for (std::uint64_t i = first; sums > 0 && i < last; ++i) result[(i - first) % sums] += input[i];
  return result;
}

}  // namespace

TEST_CASE("study/rank_shares/consecutive") {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7},
                                std::uint64_t{8}, std::uint64_t{1000003}, max_elements, most - 1, most}) {
    for (const unsigned ranks : {1U, 2U, 3U, 5U, 8U, 512U, 4099U}) {
      INFO(n << " on " << ranks);
      REQUIRE(first_item(n, 0, ranks) == 0);
      REQUIRE(first_item(n, ranks, ranks) == n);
      std::uint64_t sum = 0;
      for (unsigned rank = 0; rank < ranks; ++rank) {
        REQUIRE(items(n, rank, ranks) == n / ranks + (rank < n % ranks));
        sum += items(n, rank, ranks);
      }
      REQUIRE(sum == n);
    }
  }
}

TEST_CASE("study/rank_shares/whole_input") {
  for (const CaseStudy* study : rank_studies) {
    for (const Variant& variant : study->ranks->variants) {
      for (const Extent extent : extents_of(*study)) {
        for (const unsigned ranks : {1U, 2U, 3U, 5U, 11U}) {
          INFO(study->name << " " << variant.name << " " << extent.height << " x " << extent.width << " on " << ranks);
          std::vector<unsigned> input(study->inputs[0].words(extent)), output(study->outputs[0].words(extent));
          for (unsigned rank = 0; rank < ranks; ++rank) {
            const Share share = study->ranks->share(variant, extent, {rank, ranks});
            for (std::uint64_t i = 0; i < share.input_words; ++i) ++input.at(whole_index(share, share.input_first, i));
            for (std::uint64_t i = 0; i < share.output_words; ++i)
              ++output.at(whole_index(share, share.output_first, i));
          }
          CHECK(std::ranges::count(input, 1U) == std::ptrdiff_t(input.size()));
          const unsigned holders = study->name == "reduction" ? ranks : 1;  // of each word of the output
          CHECK(std::ranges::count(output, holders) == std::ptrdiff_t(output.size()));
        }
      }
    }
  }
}

TEST_CASE("study/rank_shares/first_variant") {
  for (const CaseStudy* study : rank_studies) {
    for (const Extent extent : extents_of(*study)) {
      for (const unsigned ranks : {1U, 2U, 5U}) {
        INFO(study->name << " " << extent.height << " x " << extent.width << " on " << ranks);
        std::uint64_t next = 0;
        for (unsigned rank = 0; rank < ranks; ++rank) {
          const Share share = study->ranks->share(study->ranks->variants.front(), extent, {rank, ranks});
          CHECK(share.block == 0);
          CHECK(share.input_first == next);
          CHECK(study->inputs[0].words(study->ranks->alone_extent(extent, {rank, ranks})) == share.input_words);
          next += share.input_words;
        }
      }
    }
  }
}

namespace {

/// What a rank expects is its share of the reference's output. Asks for ever longer parts.
void check_expected(const CaseStudy& study, const Variant& variant, Extent extent, unsigned ranks, unsigned threads) {
  const Words input = all_inputs(study, extent).front();
  const Words output = reference_output(study, extent, input);
  const Words all = sums_of(input, 0, input.size(), study.ranks->sums);
  for (unsigned rank = 0; rank < ranks; ++rank) {
    INFO(study.name << " " << variant.name << " " << extent.height << " x " << extent.width << ", rank " << rank
                    << " of " << ranks);
    const Share usual = study.ranks->share(study.ranks->variants.front(), extent, {rank, ranks});
    const Words before = sums_of(input, 0, usual.input_first, study.ranks->sums);
    const Share share = study.ranks->share(variant, extent, {rank, ranks});
    const Expected expected = study.ranks->expected(study, variant, extent, {rank, ranks}, before, all, threads);
    Words got(share.output_words), wanted(share.output_words);
    for (std::uint64_t first = 0, length = 1; first < got.size(); first += length, length *= 3) {
      expected(first, std::span(got).subspan(first, std::min<std::uint64_t>(length, got.size() - first)));
    }
    for (std::uint64_t i = 0; i < wanted.size(); ++i) wanted[i] = output[whole_index(share, share.output_first, i)];
    CHECK(bool(got == wanted));
  }
}

}  // namespace

TEST_CASE("study/rank_shares/reference") {
  for (const CaseStudy* study : rank_studies) {
    for (const Extent extent : extents_of(*study)) {
      for (const Variant& variant : study->ranks->variants) {
        for (const unsigned ranks : {1U, 2U, 3U, 5U})
          check_expected(*study, variant, extent, ranks, ranks == 1 ? 3 : 1);
      }
    }
  }
}

TEST_CASE("study/rank_shares/block_cyclic") {
  const CaseStudy& scan = prefix_sum::case_study();
  const auto cyclic = std::ranges::find(scan.ranks->variants, "cyclic", &Variant::name);
  REQUIRE(cyclic != scan.ranks->variants.end());
  constexpr std::uint64_t block = 1 << 20;
  const Share second = scan.ranks->share(*cyclic, {1, 5 * block + 7}, {1, 2});
  CHECK(second == Share{block, 2 * block + 7, block, 2 * block + 7, block, 2 * block});
  CHECK(whole_index(second, second.input_first, 2 * block + 6) == 5 * block + 6);
  for (const unsigned ranks : {2U, 3U}) check_expected(scan, *cyclic, {1, 5 * block + 7}, ranks, 3);
}

TEST_CASE("study/rank_shares/launches_and_exchanges") {
  for (const CaseStudy* study : rank_studies) {
    for (const Variant& variant : study->ranks->variants) {
      for (const Extent extent : {Extent{1, 1}, Extent{300, 700}}) {
        for (const unsigned ranks : {1U, 2U, 5U, 8U}) {
          INFO(study->name << " " << variant.name << " on " << ranks);
          std::vector<Plan> plans;
          for (unsigned rank = 0; rank < ranks; ++rank) {
            plans.push_back(study->ranks->plan(variant, extent, {rank, ranks}, 3));
            std::vector<std::size_t> kinds, kinds_of_rank_0;
            for (const Step& step : plans.back().steps) kinds.push_back(step.index());
            for (const Step& step : plans.front().steps) kinds_of_rank_0.push_back(step.index());
            CHECK(kinds == kinds_of_rank_0);
            for (const Step& step : plans.back().steps) {
              const auto* launch = std::get_if<KernelLaunch>(&step);
              if (launch != nullptr) CHECK(find_image(*study, launch->kernel) != nullptr);
            }
          }
          for (std::size_t i = 0; i < plans.front().steps.size(); ++i) {
            if (!std::holds_alternative<AllToAll>(plans.front().steps[i])) continue;
            for (unsigned from = 0; from < ranks; ++from) {
              for (unsigned to = 0; to < ranks; ++to) {
                CHECK(std::get<AllToAll>(plans[from].steps[i]).send.at(to).words ==
                      std::get<AllToAll>(plans[to].steps[i]).receive.at(from).words);
              }
            }
          }
        }
      }
    }
    for (const std::string_view name : study->ranks->alone) {
      CHECK(std::any_of(study->variants.begin(), study->variants.end(), [&](auto& each) { return each.name == name; }));
    }
  }
}

TEST_CASE("study/rank_shares/overlapped_transpose") {
  const CaseStudy& flip = transpose::case_study();
  const auto overlapped = std::ranges::find(flip.ranks->variants, "overlapped", &Variant::name);
  REQUIRE(overlapped != flip.ranks->variants.end());
  const auto parts = [&](std::uint64_t rows_per_rank) {
    const Plan plan = flip.ranks->plan(*overlapped, {2 * rows_per_rank, 5}, {1, 2}, 3);
    const auto exchanges =
        std::ranges::count_if(plan.steps, [](auto& step) { return std::holds_alternative<AllToAll>(step); });
    const auto joins = std::ranges::count_if(plan.steps, [](auto& step) { return std::holds_alternative<Join>(step); });
    CHECK(joins == (exchanges > 1 ? exchanges : 0));
    return exchanges;
  };
  CHECK(parts(0) == 1);
  CHECK(parts(64) == 1);
  CHECK(parts(65) == 2);
  CHECK(parts(512) == 8);
  CHECK(parts(513) == 5);
  CHECK(parts(1024) == 8);
}

TEST_CASE("study/rank_shares/links") {
  const RankStudy& flip = *transpose::case_study().ranks;
  // Each of 4 ranks keeps a block of 25 x 50 words of its 25 x 200, and sends the rest.
  CHECK(flip.link_bytes({100, 200}, {0, 4}) == 25 * 150 * 4);
  CHECK(flip.link_bytes({100, 200}, {0, 1}) == 0);
  CHECK(flip.memory_bytes(flip.variants.front(), {100, 200}, {0, 4}) == 2 * 25 * 200 * 4);
  const RankStudy& scan = *prefix_sum::case_study().ranks;
  CHECK(scan.memory_bytes(scan.variants.front(), {1, 1000}, {0, 4}) == 3 * 250 * 4);
  CHECK(scan.link_bytes({1, 1000}, {0, 4}) == 3 * 4);
  const RankStudy& reduce = *reduction::case_study().ranks;
  CHECK(reduce.memory_bytes(reduce.variants.front(), {1, 1000}, {0, 4}) == 250 * 16);
  CHECK(reduce.link_bytes({1, 1000}, {0, 4}) == 3 * 16);
}

TEST_CASE("study/rank_shares/no_exchange_on_one_device") {
  const RankStudy& reduce = *reduction::case_study().ranks;
  const Plan exchanging = reduce.plan(reduce.variants[0], {1, 1000}, {0, 2}, 3);
  const Plan only_launching = reduce.plan(reduce.variants[1], {1, 1000}, {0, 2}, 3);
  CHECK(exchanging.steps.size() == 2);
  CHECK_THROWS_AS(exchanging.launches(), std::runtime_error);
  REQUIRE(only_launching.launches().size() == 1);
  CHECK(only_launching.launches()[0].kernel == "reduce_ranks_peers");
}
