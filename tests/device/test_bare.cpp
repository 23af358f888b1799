// Every variant on buffers of exactly the contract's size. Alone, this finds what verification finds; under
// compute-sanitizer (script/sanitize) it lets the tools report every access beyond a buffer.
#include <iostream>

#include "bare_launch.hpp"
#include "devices_under_test.hpp"
#include "mutated_study.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;

namespace {

// Small extents around the borders of tiles, and one with several tiles per persistent block on a GPU.
constexpr std::uint64_t max_for_all = 300000;

/// The difference between a result and its expected value; empty if there is none.
std::string difference(const Words& got, const Words& right) {
  const auto [wrong, expected] = std::mismatch(got.begin(), got.end(), right.begin());
  if (wrong == got.end()) return {};
  return "word " + std::to_string(wrong - got.begin()) + " is " + std::to_string(*wrong) + ", not " +
         std::to_string(*expected);
}

std::string run(gpu::Session& session, const CaseStudy& study, const Variant& variant, Extent extent,
                const std::vector<Words>& inputs, gpu::Form form) {
  const Plan plan = study.plan(variant, extent, session.info().compute_units);
  prepare(session, study, plan, form);
  const Memory memory = memory_for(session, study, extent, plan);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].empty()) session.write(memory.at(input_slot_at(i)), 0, std::as_bytes(std::span(inputs[i])));
  }
  for (std::size_t i = 0; i < study.outputs.size(); ++i) {  // so that results of another variant do not count
    const Words poison(study.outputs[i].words(extent), 0xCDCDCDCD);
    if (!poison.empty()) session.write(memory.at(output_slot_at(i)), 0, std::as_bytes(std::span(poison)));
  }
  launch(session, study, plan, memory, form);
  session.wait();
  const std::vector<Words> expected = study.reference(extent, inputs, variant);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Words output(expected[i].size());
    if (!output.empty()) session.read(memory.at(output_slot_at(i)), 0, std::as_writable_bytes(std::span(output)));
    if (auto wrong = difference(output, expected[i]); !wrong.empty()) return wrong;
  }
  return {};
}

void run_each(gpu::Session& session, const CaseStudy& study, const std::vector<Extent>& extents, gpu::Form form) {
  const gpu::DeviceInfo& device = session.info();
  for (const Extent extent : extents) {
    const std::vector<Words> inputs = all_inputs(study, extent);
    for (const Variant& variant : study.variants) {
      const bool stays = variant.blocks_per_unit > 0 && device.is_gpu;
      if (!runs_on(session, study, variant) || (extent.count() > max_for_all && !stays)) continue;
      const Plan plan = study.plan(variant, extent, device.compute_units);
      if (form == gpu::Form::repeated && !find_image(study, plan.launches().front().kernel)->has_section) continue;
      INFO(variant.name << " " << text(extent) << (form == gpu::Form::repeated ? ", repeated" : ""));
      CHECK(run(session, study, variant, extent, inputs, form) == "");
    }
  }
}

void run_all(const CaseStudy& study) {
  on_each_device([&](gpu::Session& session) {
    run_each(session, study, extents(study, "exact"), gpu::Form::once);
    run_each(session, study, extents(study, "exact_repeated"), gpu::Form::repeated);
  });
}

}  // namespace

#define RUN_ALL(name, folder) \
  TEST_CASE("device/bare/" #name, "[bare_" #name "]") { run_all(name::case_study()); }
FOR_EACH_CASE_STUDY(RUN_ALL)

namespace {

/// Kernels for script/sanitize --control, which checks the tool's report and not the results.
void run_broken(std::string_view mutation, Extent extent) {
  const MutatedStudy broken(mutation);
  const auto inputs = all_inputs(broken.study(), extent);
  on_each_device([&](gpu::Session& session) {
    std::cout << run(session, broken.study(), broken.variant(), extent, inputs, gpu::Form::once) << '\n';
  });
}

}  // namespace

TEST_CASE("device/bare/stray_store", "[.broken_memcheck]") { run_broken("stores_past_the_end", {1, 511}); }
TEST_CASE("device/bare/missing_barrier", "[.broken_racecheck]") { run_broken("barrier_removed", {1, 1000}); }
TEST_CASE("device/bare/uninitialized", "[.broken_initcheck]") { run_broken("total_forgotten", {1, 2000}); }
TEST_CASE("device/bare/half_barrier", "[.broken_synccheck]") { run_broken("barrier_for_half", {1, 1000}); }
