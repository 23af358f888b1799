// The case studies on several ranks of an OpenCL device, which exchange through host memory: many sizes in one job, and
// faults that verification must find.
#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/error.hpp>
#include "broken_studies.hpp"
#include "rank_main.hpp"
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;

namespace {

/// Verifies the plan twice: with poisoned scratch memory, and with what the first run has left in it.
std::string verdict(const CaseStudy& study, const Variant& variant, Extent extent) {
  gpu::Session& session = opencl_device();
  const auto engine = cluster::open_host_engine(session, communicator());
  Workbench bench(study, extent, session, {&communicator(), engine.get()});
  const auto prepared = bench.prepare(variant);
  const std::string first = bench.verify(prepared), second = bench.verify(prepared, Workbench::Scratch::as_it_is);
  return first.empty() ? second : first;
}

/// A study whose output is its input: each rank sends its share to itself. Its variants hold consecutive words; blocks
/// of 16 words in turn; and such blocks, too, but expect consecutive words.
class CopyStudy {
 public:
  CopyStudy() : ranks_(*prefix_sum::case_study().ranks), study_(prefix_sum::case_study()) {
    ranks_.variants = variants;
    ranks_.sums = 0;
    ranks_.share = share;
    ranks_.plan = plan;
    ranks_.expected = [](const CaseStudy& study, const Variant& variant, Extent extent, Rank rank, const Words&,
                         const Words&, unsigned) -> Expected {
      const Share mine = share(variant.name == "mistaken" ? variants[0] : variant, extent, rank);
      return [&study, mine](std::uint64_t first, std::span<std::uint32_t> words) {
        for (std::size_t i = 0; i < words.size(); ++i) {
          words[i] = study.inputs[0].word(whole_index(mine, mine.output_first, first + i));
        }
      };
    };
    study_.ranks = &ranks_;
  }
  CopyStudy(const CopyStudy&) = delete;
  CopyStudy& operator=(const CopyStudy&) = delete;
  const CaseStudy& study() const { return study_; }

  static constexpr Variant variants[]{{"consecutive", {16, 1}, "consecutive words"},
                                      {"in_turn", {16, 1}, "blocks in turn"},
                                      {"mistaken", {16, 1}, "blocks in turn, but expects consecutive words"}};

 private:
  static Share share(const Variant& variant, Extent extent, Rank rank) {
    constexpr std::uint64_t block = 16;
    const std::uint64_t n = extent.count();
    if (variant.name == "consecutive") {
      const std::uint64_t first = first_item(n, rank.index, rank.ranks), words = items(n, rank.index, rank.ranks);
      return {first, words, first, words};
    }
    std::uint64_t words = 0;
    for (std::uint64_t i = 0; i < n; ++i) words += i / block % rank.ranks == rank.index;
    return {rank.index * block, words, rank.index * block, words, block, rank.ranks * block};
  }
  static Plan plan(const Variant& variant, Extent extent, Rank rank, unsigned) {
    AllToAll copy{input_slot, std::vector<cluster::Piece>(rank.ranks), output_slot,
                  std::vector<cluster::Piece>(rank.ranks)};
    copy.send[rank.index] = copy.receive[rank.index] = {0, share(variant, extent, rank).input_words};
    Plan result;
    result.steps.emplace_back(std::move(copy));
    return result;
  }

  RankStudy ranks_;
  CaseStudy study_;
};

std::vector<Extent> extents_of(const CaseStudy& study) {
  if (is_matrix(study))
    return {{1, 1}, {2, 3}, {3, 70}, {70, 3}, {64, 64}, {65, 130}, {131, 67}, {129, 66}, {193, 70}, {260, 264}};
  return {{1, 0}, {1, 1}, {1, 2}, {1, 5}, {1, 127}, {1, 8193}, {1, 100003}};
}

}  // namespace

TEST_CASE("cluster/exchanges/opencl_variants", "[exchanges]") {
  std::vector<std::string> unsupported;
  for (const CaseStudy* study : {&reduction::case_study(), &prefix_sum::case_study(), &transpose::case_study()}) {
    for (const Variant& variant : study->ranks->variants) {
      try {
        for (const Extent extent : extents_of(*study)) {
          INFO(study->name << " " << variant.name << " " << extent.height << " x " << extent.width);
          const std::string wrong = verdict(*study, variant, extent);
          CHECK(wrong == "");
        }
      } catch (const gpu::Unsupported& why) {
        CHECK(std::string(why.what()).find("rank 0: OpenCL ") == 0);
        unsupported.push_back(std::string(study->name) + " " + std::string(variant.name));
      }
    }
  }
  // They need the memory of other ranks' devices, or TMA.
  CHECK(unsupported == std::vector<std::string>{"reduction peers", "prefix_sum ring", "prefix_sum peers",
                                                "prefix_sum on_chip", "prefix_sum cyclic", "transpose direct"});
}

TEST_CASE("cluster/exchanges/mixed_variants", "[exchanges]") {
  gpu::Session& session = opencl_device();
  const auto engine = cluster::open_host_engine(session, communicator());
  const CopyStudy copy;
  const auto& [consecutive, in_turn, mistaken] = CopyStudy::variants;
  for (const std::uint64_t n : {0, 5, 1000}) {
    Workbench bench(copy.study(), {1, n}, session, {&communicator(), engine.get()});
    const auto first = bench.prepare(consecutive), second = bench.prepare(in_turn), third = bench.prepare(mistaken);
    INFO(n << " words");
    for (const auto* plan : {&first, &second, &first, &second}) {
      const std::string wrong = bench.verify(*plan);
      CHECK(wrong == "");
    }
    const std::string wrong = bench.verify(third);
    CHECK((wrong.find("rank ") == 0) == (n == 1000));
  }
}

TEST_CASE("cluster/exchanges/missing_exchange", "[exchanges]") {
  for (const Fault& fault : all_faults()) {
    INFO(fault.name);
    const BrokenStudy broken(fault);
    // Ranks with equal shares, so nothing but the words differs.
    const Extent extent = is_matrix(*fault.sound) ? Extent{24, 24} : Extent{1, 24000};
    const Variant& variant = fault.sound->ranks->variants.front();
    CHECK(verdict(*fault.sound, variant, extent) == "");
    const std::string found = verdict(broken.study(), variant, extent);
    CHECK(found.find("rank ") == 0);
    CHECK_THAT(found, has("output word "));
    for (const std::string& text : communicator().gather(found)) CHECK(text == found);
  }
}
