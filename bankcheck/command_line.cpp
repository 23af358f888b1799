// SPDX-License-Identifier: MIT
#include "bankcheck/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>
#include <system_error>
#include <utility>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/in_quotes.hpp>
#include <bankwise/support/output_file.hpp>
#include <bankwise/support/revision.hpp>
#include <bankwise/support/terminal.hpp>
#include <bankwise/trace/architecture_named.hpp>
#include "bankcheck/cuda/command.hpp"
#include "bankcheck/cuda/machine_code.hpp"
#include "bankcheck/driver/fit_command.hpp"
#include "bankcheck/driver/report_command.hpp"
#include "bankcheck/emulate/command.hpp"
#include "bankcheck/opencl/command.hpp"
#include "bankcheck/predict/archs.hpp"
#include "bankcheck/predict/predict_csv.hpp"
#include "bankcheck/predict/predict_index.hpp"

namespace bankwise {
namespace {

constexpr const char* footer =
    "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage or an input that cannot be read, 3 an output cannot be "
    "written, or the checked program failed.";

struct PredictOptions {
  std::string architecture = "sm_90", accesses, index, operation = "load", mask, svg;
  unsigned width = 0, lanes = 0;  // 0: the default
  bool json = false;
};

void show(const std::string& text) {
  OutputFile("stdout", "-").write(text);
}

int predict_file(const banks::Architecture& architecture, const PredictOptions& options) {
  std::ios::sync_with_stdio(false);
  std::ifstream file;
  const bool from_stdin = options.accesses == "-";
  if (!from_stdin) {
    errno = 0;
    file.open(options.accesses, std::ios::binary);
    if (!file || (file.peek(), errno == EISDIR)) {
      throw UsageError(fmt::format("cannot read {}: {}", options.accesses, std::generic_category().message(errno)));
    }
    file.clear();
  }
  const auto bad =
      predict_csv(architecture, from_stdin ? std::cin : file, std::cout, options.json ? Format::json : Format::csv);
  if (!std::cout) throw std::runtime_error("cannot write stdout");
  if (bad)
    throw UsageError(fmt::format("{}:{}: {}", from_stdin ? "stdin" : options.accesses, bad->line, bad->sentence));
  return exit_ok;
}

/// The lanes of --mask or --lanes; a whole warp by default.
std::uint64_t mask_of(const banks::Architecture& architecture, const PredictOptions& options) {
  if (options.mask.empty()) {
    const unsigned lanes = options.lanes == 0 ? architecture.warp : options.lanes;
    return ~std::uint64_t{0} >> (banks::max_lanes - lanes);
  }
  char* end = nullptr;
  errno = 0;
  const auto mask = std::strtoull(options.mask.c_str(), &end, 16);
  if (errno != 0 || *end != '\0' || options.mask.find_first_not_of("0123456789abcdefABCDEFxX") != std::string::npos) {
    throw UsageError(fmt::format("--mask {} is not a hexadecimal number of at most 64 bits", in_quotes(options.mask)));
  }
  return mask;
}

int predict_formula(const banks::Architecture& architecture, const PredictOptions& options) {
  const OutputFile svg("--svg", options.svg);
  const auto operation = *banks::operation_named(options.operation);
  const unsigned usual_width = banks::matrix_rows(operation) > 0 ? 16 : 4;
  const auto prediction = predict_index(architecture, operation, options.width == 0 ? usual_width : options.width,
                                        mask_of(architecture, options), options.index);
  if (svg) svg.write(svg_of(prediction));
  if (options.svg == "-") return exit_ok;
  show(options.json ? json_of(prediction) : text_of(prediction, terminal_columns(), terminal_has_colour()));
  return exit_ok;
}

int predict(const CLI::App& command, const PredictOptions& options) {
  const auto given = [&](const char* name) { return command.count(name) > 0; };
  const banks::Architecture& architecture = architecture_named(options.architecture);
  if (given("--index") == given("accesses")) {
    throw UsageError("predict needs either a CSV file of accesses or --index; see bankcheck predict --help");
  }
  for (const auto& [name, value] : {std::pair{"--mask", &options.mask}, std::pair{"--svg", &options.svg}}) {
    if (given(name) && value->empty()) throw UsageError(fmt::format("{} needs a value", name));
  }
  if (given("--index")) return predict_formula(architecture, options);
  for (const char* name : {"--op", "--width", "--lanes", "--mask", "--svg"}) {
    if (given(name)) throw UsageError(fmt::format("{} needs --index; each row of a CSV file has its own value", name));
  }
  return predict_file(architecture, options);
}

CLI::App* declare_predict(CLI::App& app, PredictOptions& options) {
  CLI::App* command = app.add_subcommand(
      "predict", "Predict the bank conflicts of shared-memory accesses: a CSV file of accesses, or an index formula");
  std::vector<std::string> operations;
  operations.reserve(banks::operation_count);
  for (int i = 0; i < banks::operation_count; ++i) operations.emplace_back(to_string(banks::Operation(i)));
  command->add_option("--arch", options.architecture, "Architecture, see bankcheck archs")->capture_default_str();
  command->add_option("accesses", options.accesses,
                      "CSV file with the columns id,op,width,mask,a0,...; - reads stdin. op: as for --op; width: bytes "
                      "per lane; mask: active lanes, in hexadecimal; a0 to a31 or a63: byte offset of each lane. "
                      "Copies (cp.async) also need s0 to s31, the offsets in global memory");
  command->add_option(
      "--index", options.index,
      "Expression for the index of the element that each lane accesses, for example '17*tid' or '(tid ^ (tid>>3)) * "
      "4'. Elements have --width bytes. The expression is CUDA or OpenCL C, with min, max and abs. Names of the lane "
      "number: tid, lane, laneid (int); threadIdx.x, get_sub_group_local_id() (unsigned); get_local_id(0) (64-bit)");
  command->add_option("--op", options.operation, "Operation; atomics are on 32-bit integers")
      ->check(CLI::IsMember(operations))
      ->capture_default_str();
  command
      ->add_option("--width", options.width, "Bytes per lane (default: 4; for matrix operations 16, which is one row)")
      ->check(CLI::IsMember({1, 2, 4, 8, 12, 16}));
  command->add_option("--lanes", options.lanes, "Number of active lanes (default: a whole warp)")
      ->check(CLI::Range(1U, banks::max_lanes));
  command->add_option("--mask", options.mask, "Mask of the active lanes, in hexadecimal")->excludes("--lanes");
  command->add_option("--svg", options.svg,
                      "Write the picture as SVG to this file; - writes it to stdout and prints nothing else");
  command->add_flag("--json", options.json, "Print JSON");
  return command;
}

}  // namespace

int run_bankcheck(int argc, const char* const* argv) {
  CLI::App app("Find bank conflicts in GPU shared memory (OpenCL: local memory)", "bankcheck");
  app.footer(footer);
  app.set_version_flag("--version", std::string(revision()));
  app.require_subcommand(1);
  bool archs_json = false;
  CLI::App* archs =
      app.add_subcommand("archs", "List the architectures, their bank rules, and the evidence for each rule");
  archs->add_flag("--json", archs_json, "Print JSON");
  PredictOptions options;
  CLI::App* predicting = declare_predict(app, options);
  opencl::CheckOptions check_options;
  CLI::App* checking = opencl::declare_check(app, check_options);
  cuda::CheckOptions cuda_options;
  CLI::App* checking_cuda = cuda::declare_check(app, cuda_options);
  emulate::CheckOptions emulate_options;
  CLI::App* checking_emulated = emulate::declare_check(app, emulate_options);
  driver::ReportCommand report_options;
  CLI::App* reporting = driver::declare_report(app, report_options);
  driver::ReportCommand fit_options;
  CLI::App* fitting = driver::declare_fit(app, fit_options);
  // The command line of the checked program follows --.
  const auto* dashes = std::find(argv, argv + argc, std::string_view("--"));
  for (const auto& [name, command] : {std::pair{std::string_view("opencl"), &check_options.command},
                                      {"cuda", &cuda_options.command},
                                      {"emulate", &emulate_options.arguments}}) {
    if (argc < 2 || argv[1] != name || dashes == argv + argc) continue;
    command->assign(dashes + 1, argv + argc);
    argc = int(dashes - argv);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw UsageError(fmt::format("{}; see bankcheck --help", error.what()));
    app.exit(error);
    if (!std::cout.flush()) throw std::runtime_error("cannot write stdout");
    return exit_ok;
  }
  if (predicting->parsed()) return predict(*predicting, options);
  if (checking->parsed()) return opencl::check(check_options);
  if (checking_cuda->parsed()) return cuda::check(cuda_options);
  if (checking_emulated->parsed()) {
    emulate_options.read_cubin = cuda::emitted_lines;
    return emulate::check(emulate_options);
  }
  if (reporting->parsed()) {
    report_options.report.emitted = cuda::emitted_lines(report_options.cubin);
    return driver::report_file(report_options);
  }
  if (fitting->parsed()) return driver::report_file(fit_options);
  show(archs_json ? architectures_json() : architectures_text());
  return exit_ok;
}

}  // namespace bankwise
