#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include <bankwise/emulator/core/emulate.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/report/report.hpp>
#include <bankwise/study/case_study.hpp>
#include "tests/bankcheck/predict/well_formed.hpp"
#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::report;

// The case studies without a device: plans, references, sizes.

namespace {

const CaseStudy& reduce = reduction::case_study();
const CaseStudy& scan = prefix_sum::case_study();
const CaseStudy& flip = transpose::case_study();

}  // namespace

TEST_CASE("study/case_studies/tiles") {
  CHECK(round_up(0, 4) == 0);
  CHECK(round_up(1, 4) == 4);
  CHECK(round_up(4, 4) == 4);
  CHECK(round_up(5, 4) == 8);
  CHECK(tiles(0, 256) == 0);
  CHECK(tiles(0, 256, 1) == 1);
  CHECK(tiles(1, 256) == 1);
  CHECK(tiles(256, 256) == 1);
  CHECK(tiles(257, 256) == 2);
  CHECK(tiles(~std::uint64_t{0}, 256) == std::uint64_t{1} << 56);
}

TEST_CASE("study/case_studies/hash") {
  std::set<std::uint32_t> seen;
  std::uint32_t all = 0, common = ~0U;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    seen.insert(hashed_word(i));
    all |= hashed_word(i);
    common &= hashed_word(i);
  }
  CHECK(seen.size() > 9980);
  CHECK(all == ~0U);
  CHECK(common == 0);
  CHECK(hashed_word(0) == 0x7B1DCDAF);  // as splitmix64 itself, so recorded results can be repeated
}

TEST_CASE("study/case_studies/reduction_reference") {
  for (const std::uint64_t n : {0, 1, 2, 255, 1000}) {
    const Words input = hashed_words(4 * n);
    std::uint64_t sum[4] = {};
    for (std::uint64_t i = 0; i < input.size(); ++i) sum[i % 4] += input[i];
    const Words got = reference_output(reduce, {1, n}, input);
    REQUIRE(got.size() == 4);
    for (int c = 0; c < 4; ++c) CHECK(got[std::size_t(c)] == std::uint32_t(sum[c]));
  }
}

TEST_CASE("study/case_studies/scan_reference") {
  for (const std::uint64_t n : {0, 1, 2, 300}) {
    const Words input = hashed_words(n);
    const Words got = reference_output(scan, {1, n}, input);
    REQUIRE(got.size() == n);
    for (std::uint64_t i = 0; i < n; ++i) {
      std::uint64_t before = 0;
      for (std::uint64_t k = 0; k < i; ++k) before += input[k];
      REQUIRE(got[i] == std::uint32_t(before));
    }
  }
}

TEST_CASE("study/case_studies/transpose_reference") {
  for (const Extent extent : {Extent{1, 1}, {1, 50}, {50, 1}, {17, 33}, {40, 16}}) {
    const Words input = hashed_words(extent.count());
    const Words got = reference_output(flip, extent, input);
    REQUIRE(got.size() == input.size());
    for (std::uint64_t y = 0; y < extent.height; ++y) {
      for (std::uint64_t x = 0; x < extent.width; ++x)
        REQUIRE(got[x * extent.height + y] == input[y * extent.width + x]);
    }
  }
}

TEST_CASE("study/case_studies/reduction_launches") {
  const Variant& naive = variant_of(reduce, "naive");
  for (const auto& [n, launches] : {std::pair<std::uint64_t, std::size_t>{0, 1},
                                    {1, 1},
                                    {256, 1},
                                    {257, 2},
                                    {65536, 2},
                                    {65537, 3},
                                    {std::uint64_t{1} << 32, 4}}) {
    INFO(n);
    const Plan plan = reduce.plan(naive, {1, n}, 1);
    REQUIRE(plan.launches().size() == launches);
    CHECK(plan.launches().back().groups == 1);
    CHECK(plan.scratch_bytes.size() == std::min<std::size_t>(2, launches - 1));
    for (std::size_t i = 0; i < launches; ++i) {
      const KernelLaunch launch = plan.launches()[i];
      const auto in = std::get<Slot>(launch.arguments[0]), out = std::get<Slot>(launch.arguments[1]);
      CHECK_FALSE(in == out);
      CHECK((i == 0) == (in == input_slot));
      CHECK((i + 1 == launches) == (out == output_slot));
      if (out.memory == Slot::Memory::scratch) CHECK(launch.groups * 16 <= plan.scratch_bytes[out.index]);
      if (i > 0) CHECK(std::get<std::uint64_t>(launch.arguments[2]) == plan.launches()[i - 1].groups);
    }
  }
}

TEST_CASE("study/case_studies/persistent_reduction") {
  const Variant& streaming = variant_of(reduce, "streaming");
  REQUIRE(streaming.blocks_per_unit == 2);
  for (const auto& [n, units, groups] : {std::tuple<std::uint64_t, unsigned, std::vector<std::uint64_t>>{0, 132, {1}},
                                         {512, 132, {1}},
                                         {513, 132, {2, 1}},
                                         {std::uint64_t{1} << 16, 132, {128, 1}},
                                         {std::uint64_t{1} << 30, 132, {264, 1}},
                                         {std::uint64_t{1} << 30, 1000, {2000, 4, 1}}}) {
    INFO(n << " on " << units);
    const Plan plan = reduce.plan(streaming, {1, n}, units);
    REQUIRE(plan.launches().size() == groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) CHECK(plan.launches()[i].groups == groups[i]);
    CHECK(plan.scratch_bytes.size() == std::min<std::size_t>(2, groups.size() - 1));
    if (groups.size() > 1) CHECK(plan.scratch_bytes[0] == groups[0] * 16);
    CHECK(plan.state_bytes == 0);

    const Plan at_once = reduce.plan(variant_of(reduce, "single_pass"), {1, n}, units);
    REQUIRE(at_once.launches().size() == 1);
    CHECK(at_once.launches()[0].groups == groups[0]);
    CHECK(at_once.scratch_bytes.empty());
    CHECK(at_once.state_bytes == 32);
    CHECK(std::get<Slot>(at_once.launches()[0].arguments[2]) == state_slot);
  }
}

TEST_CASE("study/case_studies/cpu_reduction") {
  const Variant& chunked = variant_of(reduce, "chunked");
  for (const auto& [n, groups] :
       {std::pair<std::uint64_t, std::uint64_t>{0, 1}, {4096, 1}, {4097, 2}, {std::uint64_t{1} << 30, 8}}) {
    const Plan plan = reduce.plan(chunked, {1, n}, 2);
    CHECK(plan.launches().size() == (groups == 1 ? 1 : 2));
    CHECK(plan.launches().front().groups == groups);
    CHECK(plan.launches().back().groups == 1);
  }
}

TEST_CASE("study/case_studies/scan_levels") {
  const Variant& naive = variant_of(scan, "naive");
  for (const auto& [n, levels] :
       {std::pair<std::uint64_t, std::size_t>{0, 1}, {512, 1}, {513, 2}, {512 * 512, 2}, {512 * 512 + 1, 3}}) {
    INFO(n);
    const Plan plan = scan.plan(naive, {1, n}, 1);
    REQUIRE(plan.launches().size() == 2 * levels - 1);
    CHECK(plan.scratch_bytes.size() == levels);
    for (std::size_t i = 0; i < plan.launches().size(); ++i) {
      CHECK(plan.launches()[i].kernel == (i < levels ? "scan_naive" : "scan_add_offsets"));
    }
    CHECK(std::get<Slot>(plan.launches().back().arguments[levels == 1 ? 1 : 0]) == output_slot);
  }
}

TEST_CASE("study/case_studies/wide_scan") {
  for (const char* name : {"padded_twice", "warp_scan"}) {
    const Plan plan = scan.plan(variant_of(scan, name), {1, 2048 * 2048 + 1}, 1);
    REQUIRE(plan.launches().size() == 5);
    CHECK(plan.launches()[0].groups == 2049);
    CHECK(plan.launches()[1].groups == 2);
    for (const std::size_t i : {3, 4}) {
      CHECK(plan.launches()[i].kernel == "scan_add_offsets_wide");
      CHECK(plan.launches()[i].group.size() == 256);
      CHECK(plan.launches()[i].groups == plan.launches()[4 - i].groups);
    }
  }
}

TEST_CASE("study/case_studies/single_pass_scan") {
  const Variant &look_back = variant_of(scan, "look_back"), &ring = variant_of(scan, "ring");
  for (const auto& [n, count] : {std::pair<std::uint64_t, std::uint64_t>{0, 1},
                                 {8192, 1},
                                 {8193, 2},
                                 {16385, 3},
                                 {max_elements, max_elements / 8192}}) {
    INFO(n);
    const Plan back = scan.plan(look_back, {1, n}, 132), round = scan.plan(ring, {1, n}, 132);
    for (const Plan* plan : {&back, &round}) {
      REQUIRE(plan->launches().size() == 1);
      CHECK(plan->scratch_bytes.empty());
      CHECK(plan->state_bytes == 8 * (32 + count));
      CHECK(std::get<Slot>(plan->launches()[0].arguments[2]) == state_slot);
    }
    CHECK(back.launches()[0].groups == count);
    CHECK(round.launches()[0].groups == std::min<std::uint64_t>(2 * 132, count));
    CHECK(round.launches()[0].group.dynamic_shared == 3 * 8192 * 4);
  }
  const std::uint64_t most = (std::uint64_t{1} << 31) - 1;
  for (const Variant* variant : {&look_back, &ring}) {
    CHECK_NOTHROW(scan.plan(*variant, {1, most * variant->tile}, 132));
    CHECK_THROWS_AS(scan.plan(*variant, {1, most * variant->tile + 1}, 132), gpu::Unsupported);
  }
}

TEST_CASE("study/case_studies/cpu_scan") {
  for (const auto& [n, groups] :
       {std::pair<std::uint64_t, std::uint64_t>{0, 1}, {4096, 1}, {4097, 2}, {std::uint64_t{1} << 30, 8}}) {
    const Plan plan = scan.plan(variant_of(scan, "chunked"), {1, n}, 2);
    REQUIRE(plan.launches().size() == 2);
    CHECK(plan.launches()[0].kernel == "scan_chunk_sums");
    CHECK(plan.launches()[1].kernel == "scan_chunked");
    for (const KernelLaunch& launch : plan.launches()) CHECK(launch.groups == groups);
    CHECK(plan.scratch_bytes == std::vector<std::uint64_t>{4 * groups});
  }
}

TEST_CASE("study/case_studies/transpose_groups") {
  const Variant& naive = variant_of(flip, "naive");
  CHECK(flip.plan(naive, {0, 5}, 1).launches().empty());
  CHECK(flip.plan(naive, {5, 0}, 1).launches().empty());
  CHECK(flip.plan(naive, {1, 1}, 1).launches().front().groups == 1);
  CHECK(flip.plan(naive, {16, 17}, 1).launches().front().groups == 2);
  CHECK(flip.plan(naive, {33, 17}, 1).launches().front().groups == 6);
  for (const char* name : {"vectorized", "output_order", "persisting", "tma"}) {  // tiles wider than a row of threads
    CHECK(flip.plan(variant_of(flip, name), {64, 128}, 1).launches().front().groups == 2);
    CHECK(flip.plan(variant_of(flip, name), {65, 129}, 1).launches().front().groups == 6);
  }
  CHECK(flip.plan(variant_of(flip, "blocked"), {513, 512}, 1).launches().front().groups == 2);
}

TEST_CASE("study/case_studies/compute_capability") {
  CHECK(find_image(flip, "transpose_persisting")->cuda_capability == 0);  // it has a fallback for older GPUs
  CHECK(find_image(flip, "transpose_tma")->cuda_capability == 90);
  CHECK(find_image(flip, "transpose_naive")->opencl_capability == 0);
  const gpu::KernelImage& product = *find_image(matrix_product::case_study(), "product_padded");
  CHECK(product.cuda_capability == 0);
  CHECK(product.opencl_capability == 70);
}

TEST_CASE("study/case_studies/transpose_input") {
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const std::uint32_t exponent = flip.inputs[0].word(i) >> 23 & 0xFF;
    REQUIRE(exponent >= 64);
    REQUIRE(exponent < 128);
  }
}

TEST_CASE("study/case_studies/extents") {
  for (const CaseStudy* study : all_case_studies) {
    if (study->baseline.empty()) continue;  // the traffic is not the problem
    INFO(study->name);
    for (const std::uint64_t bytes : {65536, 1 << 20, 1 << 26}) {
      const Extent extent = study->extent_for(bytes);
      CHECK(compulsory_bytes(*study, extent) <= bytes + 16);
      CHECK(compulsory_bytes(*study, extent) >= bytes / 2);
    }
  }
}

TEST_CASE("study/case_studies/kernels_and_ports") {
  for (const CaseStudy* study : all_case_studies) {
    INFO(study->name);
    const bool cuda_only = facts(*study).contains("cuda_only");
    CHECK(facts(*study).at("kernel_prefix") == study->kernel_prefix);
    for (const char* list : {"device", "emulated", "exact"}) CHECK(!extents(*study, list).empty());
    CHECK(extents(*study, "ports").empty() == cuda_only);
    for (const auto& kernel : kernel_facts(*study).items()) {
      CHECK(find_image(*study, std::string(study->kernel_prefix) + kernel.key()) != nullptr);
    }
    for (const Variant& variant : study->variants) {
      if (variant.library) continue;
      const gpu::KernelImage* image = find_image(*study, study->plan(variant, {1, 1}, 1).launches().front().kernel);
      REQUIRE(image != nullptr);
      const bool port = image->opencl_source.find("__kernel") != std::string_view::npos;
      CHECK((port || cuda_only || !image->why_not_ported.empty()));
    }
    for (const auto& image : study->kernels->images) {
      CHECK(image.opencl_file.empty() == (cuda_only || !image.why_not_ported.empty()));
#if BANKWISE_HAVE_CUDA
      CHECK(image.cuda != nullptr);
      CHECK((image.cuda_repeated != nullptr) == (image.has_section && BANKWISE_CUDA_REPEATED));
#endif
    }
  }
}

// Kernels that cannot be emulated: every report has the reason of each.

namespace {

// A case study whose kernels are fake.
trace::KernelTrace out_of_order(const emulator::Launch&, std::span<const emulator::Argument>) {
  throw std::runtime_error("lane 7 is out of order");
}
constexpr emulator::NamedKernel broken{"made_up_broken", out_of_order, ""};
constexpr emulator::NamedKernel untranslatable{"made_up_tma", nullptr, "a CPU has no tensor memory accelerator."};
constexpr const emulator::NamedKernel* made_up_kernels[]{&broken, &untranslatable};
constexpr emulator::NamedKernels made_up_set{made_up_kernels};

CaseStudy made_up() {
  CaseStudy study = reduction::case_study();
  study.emulated = &made_up_set;
  study.plan = [](const Variant& variant, Extent, unsigned) {
    return Plan{{}, {KernelLaunch{"made_up_" + std::string(variant.name), 1, {32, 1}, {input_slot}}}};
  };
  return study;
}

}  // namespace

TEST_CASE("study/no_levels/reason") {
  const CaseStudy study = made_up();
  static constexpr Variant variants[]{
      {"broken", {32, 1}, ""}, {"tma", {32, 1}, ""}, {"absent", {32, 1}, ""}, {"library", {}, "", {.library = true}}};
  constexpr const char* reasons[]{"lane 7 is out of order", "a CPU has no tensor memory accelerator.",
                                  "there is no kernel made_up_absent for the emulator",
                                  "a library has no kernel here to emulate"};
  std::vector<const Variant*> wanted;
  for (const Variant& variant : variants) wanted.push_back(&variant);
  const auto levels = levels_of(study, wanted, Extent{1, 1000}, *banks::find_architecture("sm_90"));
  REQUIRE(levels.size() == 4);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    CHECK(levels[i].variant == variants[i].name);
    CHECK(levels[i].reason == reasons[i]);
    CHECK(levels[i].kernels.empty());
    CHECK_FALSE(levels[i].costs);
    CHECK_FALSE(levels[i].alu_utilization);
    CHECK_FALSE(levels[i].simt_efficiency);
  }
}

TEST_CASE("study/no_levels/special_characters") {
  RunResults report{&reduction::case_study(), {}, {}, {}, {}};
  VariantLevels levels;
  levels.variant = "naive";
  levels.architecture = banks::find_architecture("sm_90");
  levels.reason = "expected a < b && c, and not a word" + std::string(300, 'x') + " that goes on & on";
  report.levels.push_back(levels);
  CHECK(what_is_malformed(levels_svg(report)) == "");
  CHECK(nlohmann::json::parse(json_report(report)).at("totals").at(0).at("reason") == levels.reason);
  CHECK_THAT(levels_text(report), has(levels.reason));
}
