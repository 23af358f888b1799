// What a time must exclude: the host's pauses between two launches, and samples during which a GPU throttles.
#if BANKWISE_HAVE_CUDA
#include <bankwise/gpu/cuda_api.hpp>
#endif

#include <chrono>
#include <thread>

#include <bankwise/bench/program.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/error.hpp>
#include "bare_launch.hpp"
#include "devices_under_test.hpp"
#include "tests/case_studies.hpp"

using namespace bankwise;
using namespace bankwise::study;
using namespace bankwise::bench;
using namespace std::chrono_literals;

namespace {

const CaseStudy& reduce = reduction::case_study();
constexpr Extent small_job{1, 100};

/// Launches a plan of one short kernel.
class ShortKernel {
 public:
  explicit ShortKernel(gpu::Session& session)
      : session_(session),
        plan_(reduce.plan(variant_of(reduce, "packed"), small_job, session.info().compute_units)),
        memory_(memory_for(session, reduce, small_job, plan_)) {
    REQUIRE(plan_.launches().size() == 1);
    prepare(session, reduce, plan_);
    (*this)(1);  // loads its code, for which CUDA may wait for the device
    session.wait();
  }
  void operator()(int times) const {
    for (int i = 0; i < times; ++i) launch(session_, reduce, plan_, memory_);
  }

 private:
  gpu::Session& session_;
  Plan plan_;
  Memory memory_;
};

bool is_cuda(const gpu::Session& session) { return session.info().api == gpu::Api::cuda; }

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void nothing() {}

/// Reports throttling for the first `times` queries.
struct Scripted : gpu::Throttle {
  explicit Scripted(std::size_t times) : left(times) {}
  gpu::ClockReasons reasons() override {
    constexpr gpu::ClockReasons idle = 1, power_cap = 4;
    return left == 0 ? idle : (--left, power_cap);
  }
  std::size_t left;
};

std::vector<Result> measured(gpu::Session& session, const CaseStudy& of, const char* variant, gpu::Throttle* throttle,
                             Cache cache = Cache::hot) {  // a flush takes long on a CPU
  Options options;
  options.variants = {variant};
  options.levels = false;
  options.cache = cache;
  options.limits.min_time = 0.01;
  options.limits.timeout = 1;
  return measure(of, options, small_job, session, {.throttle = throttle});
}

}  // namespace

TEST_CASE("device/measuring/pauses_excluded", "[measuring]") {
  on_each_device([](gpu::Session& session) {
    const ShortKernel run(session);
    const auto with_pauses = [&] {
      for (int i = 0; i < 5; ++i) {
        run(1);
        std::this_thread::sleep_for(20ms);
      }
    };
    const gpu::Timed timed = session.time(nothing, with_pauses);
    CHECK(timed.launch_overhead == "");
    CHECK(timed.seconds > 0);
    CHECK(timed.seconds < 0.04);
    if (!is_cuda(session)) return;
    // The negative control: without the gate the time includes the pauses.
    CHECK(session.time(nothing, with_pauses, gpu::Enqueueing::immediate).seconds > 0.08);
  });
}

TEST_CASE("device/measuring/held_back_from_first", "[measuring]") {
  for (const auto& device : devices_under_test()) {
    for (const Cache cache : {Cache::cold, Cache::hot}) {
      const auto session = gpu::open(device);  // a new one, which has not yet loaded the code of a flush
      for (const Result& result : measured(*session, reduce, "packed", nullptr, cache)) {
        INFO(device.name << " " << to_string(cache) << " " << result.variant << " " << result.reason);
        CHECK(result.status == Status::ok);
        CHECK(!result.timing.samples.empty());
        CHECK(result.timing.launch_overhead == "");
      }
    }
  }
}

TEST_CASE("device/measuring/gate_equals_busy", "[measuring]") {
  on_each_device([](gpu::Session& session) {
    if (!is_cuda(session)) return;
    const ShortKernel run(session);
    const auto flush = [&] { session.flush_caches(); };
    const auto four = [&] { run(4); };
    const auto least_of_50 = [&](gpu::Enqueueing how) {
      double least = 1;
      for (int i = 0; i < 50; ++i) least = std::min(least, session.time(flush, four, how).seconds);
      return least;
    };
    least_of_50(gpu::Enqueueing::immediate);
    const double held = least_of_50(gpu::Enqueueing::held_back), immediate = least_of_50(gpu::Enqueueing::immediate);
    INFO("held back " << held << " s, immediately " << immediate << " s");
    CHECK(held > 0.5 * immediate);
    CHECK(held < 1.2 * immediate + 2e-6);
  });
}

TEST_CASE("device/measuring/waiting_work", "[measuring]") {
  on_each_device([](gpu::Session& session) {
    const ShortKernel run(session);
    const auto waits = [&] {
      run(1);
      session.wait();
      run(1);
    };
    for (int sample = 0; sample < 2; ++sample) {
      const auto begin = std::chrono::steady_clock::now();
      const gpu::Timed timed = session.time(nothing, waits);
      CHECK(std::chrono::steady_clock::now() - begin < 5s);
      CHECK(timed.seconds > 0);
      CHECK(says(timed.launch_overhead, "waits for the device") == is_cuda(session));
    }
    const gpu::Timed immediately = session.time(nothing, waits, gpu::Enqueueing::immediate);
    CHECK(immediately.launch_overhead == "");
    CHECK(immediately.seconds < 0.1);
    CHECK(session.time(nothing, [&] { run(1); }).launch_overhead == "");  // nothing of it remains
  });
}

TEST_CASE("device/measuring/session_after_exception", "[measuring]") {
  on_each_device([](gpu::Session& session) {
    const ShortKernel run(session);
    const auto throws = [&] {
      run(1);
      throw gpu::Unsupported("on purpose");
    };
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(session.time(nothing, throws), gpu::Unsupported);
    session.wait();
    CHECK(std::chrono::steady_clock::now() - begin < 300ms);  // before any deadline
    CHECK(session.time(nothing, [&] { run(1); }).launch_overhead == "");
  });
}

TEST_CASE("device/measuring/more_than_the_queue", "[measuring]") {
  on_each_device([](gpu::Session& session) {
    const ShortKernel run(session);
    const auto begin = std::chrono::steady_clock::now();
    const gpu::Timed many = session.time(nothing, [&] { run(3000); });
    if (is_cuda(session)) CHECK(std::chrono::steady_clock::now() - begin < 450ms);  // not by the deadline
    CHECK(many.seconds > 0);
    CHECK(says(many.launch_overhead, "more than the 512 commands") == is_cuda(session));
    const gpu::Timed fewer = session.time(nothing, [&] { run(500); });
    CHECK(fewer.launch_overhead == "");
    if (is_cuda(session)) CHECK(fewer.seconds < many.seconds);  // the time of its own launches
  });
}

TEST_CASE("device/measuring/nvml", "[measuring]") {
  for (const auto& device : devices_under_test()) {
    INFO(device.name << ": PCI bus id '" << device.pci_bus_id << "', throttling " << device.throttling);
    if (says(device.throttling, "NVML is missing")) {
      WARN("NVML is missing; not tested");
    } else if (gpu::compute_capability(device)) {
      CHECK(device.throttling == "watched");
      CHECK_NOTHROW(gpu::open_throttle(device)->reasons());
    } else {
      CHECK(device.throttling.starts_with("unknown: "));
    }
  }
}

TEST_CASE("device/measuring/throttled_samples", "[measuring]") {
  on_each_device([](gpu::Session& session) {
    // The first query is before the first sample; each drop takes two more: one after the sample, one after the rest.
    Scripted source(5);
    const auto results = measured(session, reduce, "packed", &source);
    REQUIRE(results.size() == 2);
    std::size_t dropped = 0;
    for (const Result& result : results) {
      INFO(result.variant << " " << result.reason << " " << result.timing.stop);
      CHECK(result.status == Status::ok);
      CHECK(result.timing.samples.size() >= 10);
      CHECK(result.dropped_because == (result.timing.dropped == 0 ? "" : "SW power cap"));
      dropped += result.timing.dropped;
    }
    CHECK(dropped == 3);
  });
}

TEST_CASE("device/measuring/always_throttled", "[measuring]") {
  on_each_device([](gpu::Session& session) {
    Scripted source(~std::size_t{0});
    for (const Result& result : measured(session, reduce, "packed", &source)) {
      INFO(result.variant);
      CHECK(result.status == Status::ok);
      CHECK(result.timing.stop == "throttled");
      CHECK(result.timing.dropped > 0);
      CHECK(result.timing.samples.empty());
      CHECK(!result.timing.median);
    }
  });
}

#if BANKWISE_HAVE_CUDA
TEST_CASE("device/measuring/waiting_library", "[measuring]") {
  if (reduce.kernels->library == nullptr) return;
  static const gpu::Library& library = *reduce.kernels->library;
  const gpu::Library waiting{library.name, library.workspace_bytes,
                             [](void* stream, const void* in, void* out, void* workspace, std::uint64_t bytes,
                                std::uint64_t height, std::uint64_t width) {
                               library.enqueue(stream, in, out, workspace, bytes, height, width);
                               BANKWISE_CUDA(cudaDeviceSynchronize());
                             }};
  const gpu::KernelSet kernels{reduce.kernels->images, &waiting};
  CaseStudy synchronizing = reduce;
  synchronizing.kernels = &kernels;
  const auto name =
      std::find_if(reduce.variants.begin(), reduce.variants.end(), [](auto& v) { return v.library; })->name;
  for (const auto& device : devices_under_test()) {
    const auto session = gpu::open(device);
    if (!is_cuda(*session)) continue;
    for (const Result& result : measured(*session, synchronizing, std::string(name).c_str(), nullptr)) {
      INFO(device.name << " " << result.variant << " " << result.reason);
      CHECK(result.status == Status::ok);
      CHECK(result.timing.samples.size() >= 10);
      CHECK(says(result.timing.launch_overhead, "waits for the device") == (result.variant == name));
    }
  }
}
#endif
