// The programs as a user runs them: exit codes, one clear sentence for bad input, no incomplete files.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include <bankwise/bench/program.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/run.hpp>
#include "devices_under_test.hpp"
#include "tests/bankcheck/started_program.hpp"
#include "tests/case_studies.hpp"
#include "tests/case_studies/mutations.hpp"
#include "tests/json_members.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
using namespace bankwise::bench;
using namespace bankwise::study;
namespace fs = std::filesystem;

namespace {

// For tests that are not about the measurement.
const std::string short_times = " --min-time 0 --timeout 0.01";
const std::string brief = " --cache hot" + short_times;  // clearing a CPU's caches takes most of the time
const std::string small = "--n 100 --variant packed" + brief;

fs::path kernels_of(const std::string& sample) { return fs::path(SOURCE_DIRECTORY) / sample; }

}  // namespace

TEST_CASE("device/command_line/missing_devices_and_files", "[command_line]") {
  check_refused("reduction", "--device 9999", 2, "there is no device '9999'");
  check_refused("reduction", "--device no-such-name", 2, "there is no device 'no-such-name'");
  check_refused("prefix_sum", "--compare /no/such/file", 2, "cannot read /no/such/file");
  check_refused("prefix_sum", "--compare /dev/null", 2, "/dev/null: it is neither a file nor a pipe");
  check_refused("prefix_sum", "--compare '" SOURCE_DIRECTORY "/LICENSE'", 2, "is not a JSON report");
}

TEST_CASE("device/command_line/unwritable_file", "[command_line]") {
  const ScratchDirectory scratch;
  check_refused("reduction", "--json /no/such/directory/x", 2, "No such file or directory");
  check_refused("reduction", "--csv " + scratch.path().string(), 2, "it is a directory");
  check_refused("reduction", "--json " + (scratch.path() / "a").string() + " --csv /no/such/directory/x", 2, "--csv");
  check_refused("reduction", "--json " + std::string(300, 'x'), 2, "File name too long");
  CHECK(files_in(scratch.path()) == 0);
}

TEST_CASE("device/command_line/killed", "[command_line]") {
  const ScratchDirectory scratch;
  const std::string json = (scratch.path() / "report.json").string(), arguments = small + " --json " + json;
  kill_at_random_moments(
      scratch.path(), [&](unsigned) { return "'" SAMPLES_DIRECTORY "/reduction' " + arguments; },
      [&](unsigned) {
        CHECK(run("reduction", arguments).code == 0);
        CHECK(nlohmann::json::parse(text_of(json)).at("case") == "reduction");
      });
}

TEST_CASE("device/command_line/links_and_pipes", "[command_line]") {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "file", link = scratch.path() / "link", pipe = scratch.path() / "pipe";
  std::ofstream(file) << "old";
  fs::permissions(file, fs::perms(0640));
  fs::create_symlink(file, link);
  CHECK(run("reduction", small + " --json " + link.string()).code == 0);
  CHECK(fs::is_symlink(link));
  CHECK(nlohmann::json::parse(text_of(file)).at("case") == "reduction");
  CHECK(fs::status(file).permissions() == fs::perms(0640));

  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto read = scratch.path() / "read";
  const std::string reader = "cat " + pipe.string() + " >" + read.string() + " & ";
  CHECK(run("reduction", small + " --csv " + pipe.string() + "; code=$?; wait; exit $code", reader).code == 0);
  CHECK(text_of(read).find("case,api") == 0);
  CHECK(fs::is_fifo(pipe));

  CHECK(run("reduction", small + " --json '" + (scratch.path() / "x\xff.json").string() + "'").code == 0);
  CHECK(nlohmann::json::parse(text_of(scratch.path() / "x\xff.json")).at("case") == "reduction");
  CHECK(files_in(scratch.path()) == 5);
}

TEST_CASE("device/command_line/broken_output", "[command_line]") {
  for (const std::string& flags : {small, small + " --json -", std::string("--list"), std::string("--devices")}) {
    INFO(flags);
    CHECK(run("reduction", flags + " >/dev/full").code == 3);
    CHECK(run("reduction", flags + " 2>&-").code == 0);
  }
  CHECK(run("reduction", "--no-such-flag 2>&-").code == 2);
}

TEST_CASE("device/command_line/too_large", "[command_line]") {
  const ScratchDirectory scratch;
  const std::string json = " --device 0 --json " + (scratch.path() / "a").string();
  check_refused("reduction", "--n 60Gi" + json, 3, "choose a smaller --n");
  check_refused("prefix_sum", "--n 1Ti" + json, 3, "choose a smaller --n");
  check_refused("transpose", "--width 1Mi --height 1Mi" + json, 3, "choose a smaller --width");
  CHECK(files_in(scratch.path()) == 0);
}

TEST_CASE("device/command_line/api_without_devices", "[command_line]") {
  const auto found = gpu::devices();
  for (const gpu::Api api : {gpu::Api::cuda, gpu::Api::opencl}) {
    const auto has_api = [&](const auto& device) { return device.api == api; };
    if (std::any_of(found.list.begin(), found.list.end(), has_api)) continue;
    const Outcome outcome = ended(77, run("transpose", "--json - --api " + std::string(to_string(api))));
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, has("install"));
  }
}

TEST_CASE("device/command_line/no_devices", "[command_line]") {
  // Two ICD loaders are common, and each has a different variable for the directory of drivers. Drivers may also be
  // named one by one.
  const ScratchDirectory empty;
  const std::string hide = "OCL_ICD_VENDORS=" + empty.path().string() + " OPENCL_VENDOR_PATH=" + empty.path().string() +
                           " OCL_ICD_FILENAMES= CUDA_VISIBLE_DEVICES= ";
  for (const std::string flags : {"", "--json -", "--devices"}) {
    const Outcome outcome = run("transpose", flags, hide);
    INFO(flags << outcome.out << outcome.err);
    CHECK(outcome.code == 77);
    const std::string& said = flags == "--devices" ? outcome.out : outcome.err;
    CHECK_THAT(said, has("no OpenCL platform: install"));
    CHECK_THAT(said, has("no NVIDIA"));
  }
}

TEST_CASE("device/command_line/kernel_dir", "[command_line]") {
  const ScratchDirectory scratch;
  const std::string flag = "--api opencl --n 1000" + brief + " --kernel-dir " + scratch.path().string();
  for (const auto& entry : fs::directory_iterator(kernels_of("reduction"))) {
    if (entry.path().extension() == ".cl") fs::copy(entry, scratch.path());
  }
  CHECK(run("reduction", flag).code == 0);

  std::ofstream(scratch.path() / "packed.cl") << "this is not OpenCL\n";
  const Outcome outcome = ended(3, run("reduction", flag + " --json -"));
  const auto rows = nlohmann::json::parse(outcome.out).at("results");
  for (const auto& row : rows) {
    INFO(row);
    CHECK(row.at("status") == (row.at("variant") == "packed" ? "error" : "ok"));
    if (row.at("variant") == "packed") CHECK_THAT(std::string(row.at("reason")), has("packed.cl:1:"));
  }
}

TEST_CASE("device/command_line/wrong_kernel", "[command_line]") {
  const ScratchDirectory scratch;
  fs::copy(kernels_of("reduction"), scratch.path());
  std::string source = text_of(scratch.path() / "naive.cl");
  const std::string line = "part[tid].z += part[tid + stride].z;";
  source.replace(source.find(line), line.size(), "");
  std::ofstream(scratch.path() / "naive.cl") << source;
  const Outcome outcome =
      ended(1, run("reduction", "--api opencl --n 1000 --json -" + brief + " --kernel-dir " + scratch.path().string()));
  const auto json = nlohmann::json::parse(outcome.out);
  for (const auto& row : json.at("results")) {
    CHECK(row.at("status") == (row.at("variant") == "naive" ? "wrong" : "ok"));
    if (row.at("variant") == "naive") CHECK(std::string(row.at("reason")).find("output word 2 is") == 0);
  }
}

namespace {

/// Whether a row's variant exists for OpenCL; the copy does.
bool has_port(const CaseStudy& study, const nlohmann::json& row) {
  const auto found = std::find_if(study.variants.begin(), study.variants.end(),
                                  [&](const Variant& variant) { return row.at("variant") == variant.name; });
  if (found == study.variants.end()) return true;
  return !find_image(study, study.plan(*found, {1, 1}, 1).launches().front().kernel)->opencl_file.empty();
}

}  // namespace

TEST_CASE("device/command_line/wrong_after_measuring", "[command_line]") {
  const ScratchDirectory scratch;
  fs::copy(kernels_of("prefix_sum"), scratch.path());
  const auto file = scratch.path() / "naive.cl";
  const std::string source = mutate(text_of(file), mutation("prefix_sum", "counts_on_fresh_scratch"));
  std::ofstream(file) << source;
  const Outcome outcome =
      ended(1, run("prefix_sum", "--api opencl --n 300 --json -" + brief + " --kernel-dir " + scratch.path().string()));
  const auto json = nlohmann::json::parse(outcome.out);
  for (const auto& row : json.at("results")) {
    const bool broken = row.at("variant") == "naive";
    CHECK(row.at("status") == (broken ? "wrong" : has_port(prefix_sum::case_study(), row) ? "ok" : "unsupported"));
    CHECK((std::string(row.at("reason")).find("but only after measuring") != std::string::npos) == broken);
  }
}

TEST_CASE("device/command_line/json_to_stdout", "[command_line]") {
  for (const CaseStudy* study : all_case_studies) {
    if (facts(*study).contains("cuda_only")) continue;
    const bool accesses = fs::exists(kernels_of(folder_of(*study)) / "main.cpp");  // it measures clocks, and no copy
    const Outcome outcome =
        ended(0, run(std::string(study->name), flags(*study, example_extent(*study)) +
                                                   (accesses ? short_times : brief) + " --api opencl --json -"));
    CHECK(outcome.err.empty());
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json.at("schema_version") == 1);
    std::vector<std::string> names;
    for (const auto& row : json.at("results")) {
      INFO(row);
      if (!has_port(*study, row)) {
        CHECK(row.at("status") == "unsupported");
        CHECK(row.at("reason") != "");
        names.push_back(row.at("variant"));
        continue;
      }
      CHECK(row.at("status") == "ok");
      const bool measured = !accesses || row.at("access").at("clocks_from") != "a CPU has no banks to measure";
      CHECK((row.at("time_median_s") > 0) == measured);
      CHECK((row.at("samples_s").size() > 0) == measured);
      names.push_back(row.at("variant"));
    }
    std::vector<std::string> expected;
    if (!accesses) expected.emplace_back("copy");
    for (const Variant& variant : study->variants) {
      if (!variant.library) expected.emplace_back(variant.name);
    }
    CHECK(names == expected);
  }
}

TEST_CASE("device/command_line/other_flags", "[command_line]") {
  const ScratchDirectory scratch;
  const std::string json = (scratch.path() / "a.json").string(), csv = (scratch.path() / "a.csv").string();
  const std::string two = "--variant naive,padded --n ";  // other tests run all variants
  const Outcome first = ended(0, run("prefix_sum", two + "3000" + brief + " --json " + json + " --csv " + csv));
  CHECK_THAT(first.out, has("padded"));
  CHECK(nlohmann::json::parse(text_of(json)).at("case") == "prefix_sum");
  CHECK_THAT(text_of(csv), has("prefix_sum,"));
  const Outcome second = ended(0, run("prefix_sum", two + "3000" + brief + " --compare " + json));
  CHECK_THAT(second.out, has("0 only before, 0 only now"));
  CHECK_THAT(run("prefix_sum", "--list").out, has("naive"));
  CHECK(run("prefix_sum", "--devices").code == 0);
  CHECK_THAT(run("prefix_sum", "--help").out, has("Exit codes"));
  CHECK(run("prefix_sum", "--version").code == 0);
  CHECK(run("prefix_sum", two + "3000 --profile --cache hot").code == 0);
  CHECK(run("prefix_sum", two + "0" + brief).code == 0);
  for (const std::string scope : {"block", "l2"})
    CHECK(run("transpose", "--width 64 --height 48 --variant naive,padded" + brief + " --scope " + scope).code == 0);
}

TEST_CASE("device/command_line/library_on_opencl", "[command_line]") {
  const Outcome outcome = ended(77, run("reduction", "--api opencl --n 1000 --variant library --json -"));
  const auto rows = nlohmann::json::parse(outcome.out).at("results");
  check_members(rows.at(1), R"({"status": "unsupported", "reason": "the library exists only for CUDA"})");
}

// More than one device: PoCL has several if POCL_DEVICES names several.
TEST_CASE("device/several_devices/one_fails", "[.several_devices]") {
  std::vector<gpu::DeviceInfo> devices = gpu::devices().list;
  std::erase_if(devices, [](const auto& device) { return device.api != gpu::Api::opencl || device.is_gpu; });
  REQUIRE(devices.size() >= 2);
  const ScratchDirectory scratch;
  const std::string json = (scratch.path() / "results.json").string(), name = devices.back().name;
  const char* const arguments[]{"reduction", "--n",        "1000",   "--api",      "opencl",
                                "--device",  name.c_str(), "--json", json.c_str(), "--variant",
                                "packed",    "--min-time", "0",      "--timeout",  "0.1"};
  for (const std::size_t failing : {std::size_t{0}, std::size_t{1}}) {
    std::size_t opened = 0;
    MainProgram program = case_study_program();
    program.open = [&](const gpu::DeviceInfo& device) {
      if (opened++ == failing) throw std::runtime_error("it fell off the bus");
      return gpu::open(device);
    };
    CHECK(run_program(reduction::case_study(), int(std::size(arguments)), arguments, program) == 3);
    CHECK(opened > 1);
    const auto results = nlohmann::json::parse(text_of(json)).at("results");
    CHECK(results.size() == 2 * (opened - 1));  // copy and packed on each of the others
    for (const auto& row : results) CHECK(row.at("status") == "ok");
  }
}

// Hardware counters if a device allows reading them, otherwise a reason; rows keep their results in any case.
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
