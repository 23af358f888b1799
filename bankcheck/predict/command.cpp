#include "bankcheck/predict/predict.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::predict {
namespace {

int predict_file(const banks::Architecture& architecture, const PredictOptions& options) {
  std::ios::sync_with_stdio(false);
  std::ifstream file;
  const auto bad = predict_csv(architecture, support::open_input(options.accesses, file), std::cout,
                               options.json ? CostFormat::json : CostFormat::csv);
  if (!std::cout) throw std::runtime_error("cannot write stdout");
  if (!bad) return support::exit_ok;
  const std::string name = options.accesses == "-" ? "stdin" : options.accesses;
  throw support::UsageError(fmt::format("{}:{}: {}", name, bad->line, bad->sentence));
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
    throw support::UsageError(
        fmt::format("--mask {} is not a hexadecimal number of at most 64 bits", support::in_quotes(options.mask)));
  }
  return mask;
}

int predict_formula(const banks::Architecture& architecture, const PredictOptions& options) {
  const support::OutputFile svg("--svg", options.svg);
  const auto operation = *banks::operation_named(options.operation);
  const unsigned usual_width = banks::matrix_rows(operation) > 0 ? 16 : 4;
  const auto prediction = predict_index(architecture, operation, options.width == 0 ? usual_width : options.width,
                                        mask_of(architecture, options), options.index);
  if (svg) svg.write(svg_of(prediction));
  if (options.svg == "-") return support::exit_ok;
  const std::string text = options.json ? json_of(prediction) : text_of(prediction, support::terminal_columns());
  support::OutputFile("stdout", "-").write(!options.json && support::terminal_has_colour() ? coloured(text) : text);
  return support::exit_ok;
}

}  // namespace

void declare_archs(CLI::App& command, ArchsOptions& options) {
  command.footer(
      "Exit codes: 0 ok, 2 usage, 3 stdout cannot be written.\n"
      "Example: bankcheck archs h100 mi300x");
  command.option_defaults()->group("Input");
  command.add_option("ARCH", options.architectures, "Architectures or GPUs whose rules are printed (default: a table)");
  command.option_defaults()->group("Output");
  command.add_flag("--rules", options.rules, "Print the rules of all architectures");
  command.add_flag("--json", options.json, "Print JSON");
}

void declare_predict(CLI::App& command, PredictOptions& options) {
  options.command = &command;
  std::vector<std::string> operations;
  operations.reserve(banks::operation_count);
  for (int i = 0; i < banks::operation_count; ++i) operations.emplace_back(to_string(banks::Operation(i)));
  command.footer("Exit codes: 0 ok, 2 usage or an input that cannot be read, 3 an output cannot be written.");
  command.option_defaults()->group("Input");
  command.add_option("--arch", options.architecture, "Architecture or GPU, see bankcheck archs")
      ->type_name("ARCH")
      ->capture_default_str();
  command.add_option("FILE", options.accesses,
                     "CSV file with the columns id,op,width,mask,a0,...; - reads stdin. op: as for --op; width: bytes "
                     "per lane; mask: active lanes, in hexadecimal; a0 to a31 or a63: byte offset of each lane. "
                     "Copies (cp.async) also need s0 to s31, the offsets in global memory");
  command
      .add_option(
          "--index", options.index,
          "Expression for the index of the element that each lane accesses, for example '17*tid' or '(tid ^ (tid>>3)) "
          "* "
          "4'. Elements have --width bytes. The expression is CUDA or OpenCL C, with min, max and abs. Names of the "
          "lane "
          "number: tid, lane, laneid (int); threadIdx.x, get_sub_group_local_id() (unsigned); get_local_id(0) (64-bit)")
      ->type_name("INDEX");
  command.add_option("--op", options.operation, "Operation; atomics are on 32-bit integers")
      ->type_name("OP")
      ->check(CLI::IsMember(operations))
      ->capture_default_str();
  command
      .add_option("--width", options.width, "Bytes per lane (default: 4; for matrix operations 16, which is one row)")
      ->type_name("BYTES")
      ->check(CLI::IsMember({1, 2, 4, 8, 12, 16}));
  command.add_option("--lanes", options.lanes, "Number of active lanes (default: a whole warp)")
      ->type_name("N")
      ->check(CLI::Range(1U, banks::max_lanes));
  command.add_option("--mask", options.mask, "Mask of the active lanes, in hexadecimal")
      ->type_name("MASK")
      ->excludes("--lanes");
  command.option_defaults()->group("Output");
  command
      .add_option("--svg", options.svg,
                  "Write the picture as SVG to this file; - writes it to stdout and prints nothing else")
      ->type_name("FILE");
  command.add_flag("--json", options.json, "Print JSON");
}

int predict(PredictOptions& options) {
  const auto given = [&](const char* name) { return options.command->count(name) > 0; };
  const banks::Architecture& architecture = architecture_named(options.architecture);
  if (given("--index") == given("FILE")) {
    throw support::UsageError("predict needs either a CSV file of accesses or --index; see bankcheck predict --help");
  }
  for (const auto& [name, value] : {std::pair{"--mask", &options.mask}, std::pair{"--svg", &options.svg}}) {
    if (given(name) && value->empty()) throw support::UsageError(fmt::format("{} needs a value", name));
  }
  if (given("--index")) return predict_formula(architecture, options);
  for (const char* name : {"--op", "--width", "--lanes", "--mask", "--svg"}) {
    if (given(name))
      throw support::UsageError(fmt::format("{} needs --index; each row of a CSV file has its own value", name));
  }
  return predict_file(architecture, options);
}

}  // namespace bankwise::predict
