#include "bankcheck/predict/predict.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::predict {
namespace {

Space space_of(const PredictOptions& options) { return options.space == "global" ? Space::global : Space::shared; }

int predict_file(const banks::Architecture& architecture, const PredictOptions& options) {
  std::ios::sync_with_stdio(false);
  std::ifstream file;
  const auto bad = predict_csv(architecture, support::open_input(options.accesses, file), std::cout,
                               options.json ? CostFormat::json : CostFormat::csv, space_of(options));
  if (!std::cout) throw std::runtime_error("cannot write stdout");
  if (!bad) return support::exit_ok;
  const std::string name = options.accesses == "-" ? "stdin" : options.accesses;
  throw support::UsageError(fmt::format("{}:{}: {}", name, bad->line, bad->sentence));
}

/// The lanes of --mask or --lanes; by default a whole warp, or the threads of a smaller block.
std::uint64_t mask_of(const banks::Architecture& architecture, const PredictOptions& options, const IndexNames& names) {
  if (options.mask.empty()) {
    const std::uint64_t threads = std::uint64_t{names.block[0]} * names.block[1] * names.block[2];
    const unsigned whole =
        threads == 0 ? architecture.warp : unsigned(std::min<std::uint64_t>(threads, architecture.warp));
    const unsigned lanes = options.lanes == 0 ? whole : options.lanes;
    return ~std::uint64_t{0} >> (banks::max_lanes - lanes);
  }
  const bool has_prefix = options.mask.starts_with("0x") || options.mask.starts_with("0X");
  std::uint64_t mask = 0;
  if (!support::parse_number(std::string_view(options.mask).substr(has_prefix ? 2 : 0), mask, 16)) {
    throw support::UsageError(
        fmt::format("--mask {} is not a hexadecimal number of at most 64 bits", support::in_quotes(options.mask)));
  }
  return mask;
}

/// The names that --block and --let define. Error: UsageError.
IndexNames names_of(const PredictOptions& options) {
  IndexNames names{.any_lane_name = true};
  if (!options.block.empty()) {
    names.block = {1, 1, 1};
    std::string_view rest = options.block;
    for (std::size_t axis = 0; axis < 3 && !rest.empty(); ++axis) {
      const auto end = std::min(rest.find('x'), rest.size());
      std::uint64_t threads = 0;
      const bool fits =
          support::parse_number(std::string(rest.substr(0, end)), threads) && threads > 0 && threads <= 1024;
      if (!fits) break;
      names.block[axis] = unsigned(threads);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!rest.empty() || options.block.ends_with('x')) {
      throw support::UsageError(fmt::format("--block {} is no shape of a block, for example 256, 32x8 or 8x8x4",
                                            support::in_quotes(options.block)));
    }
  }
  for (const std::string& given : options.values) {
    const auto end = std::min(given.find('='), given.size());
    std::uint64_t value = 0;
    const std::string digits = given.substr(std::min(end + 1, given.size()));
    const bool is_negative = digits.starts_with('-');
    if (end == 0 || !support::parse_number(digits.substr(is_negative ? 1 : 0), value) || value > INT64_MAX) {
      throw support::UsageError(fmt::format("--let {} is not NAME=NUMBER", support::in_quotes(given)));
    }
    names.values[given.substr(0, end)] = is_negative ? -std::int64_t(value) : std::int64_t(value);
  }
  return names;
}

std::vector<Prediction> predictions_of(const std::vector<const banks::Architecture*>& architectures,
                                       const PredictOptions& options) {
  const auto operation = *banks::operation_named(options.operation);
  const IndexNames names = names_of(options);
  std::optional<ArrayDeclaration> array;
  if (!options.array.empty()) array = array_declared(options.array, names);
  const unsigned usual_width = banks::matrix_rows(operation) > 0 ? 16 : array ? array->bytes : 4;
  std::vector<Prediction> predictions;
  for (const banks::Architecture* architecture : architectures) {
    predictions.push_back(predict_index(*architecture, operation, options.width == 0 ? usual_width : options.width,
                                        mask_of(*architecture, options, names), options.index, names, array,
                                        space_of(options), options.base));
  }
  return predictions;
}

int predict_formula(const std::vector<const banks::Architecture*>& architectures, const PredictOptions& options) {
  const support::OutputFile svg("--svg", options.svg);
  const std::vector<Prediction> predictions = predictions_of(architectures, options);
  if (svg) svg.write(svg_of(predictions.front()));
  int code = support::exit_ok;
  std::string text;
  for (const Prediction& prediction : predictions) {
    if (!text.empty()) text += options.json ? "," : "\n";
    text += options.json ? json_of(prediction) : text_of(prediction, support::terminal_columns());
    const bool is_global = prediction.sectors.has_value();
    const std::uint64_t reached = is_global ? prediction.sectors->sectors : prediction.cost.conflicts_max;
    const auto& limit = is_global ? options.max_sectors : options.max_conflicts;
    if (reached <= limit.value_or(UINT64_MAX)) continue;
    const std::string reached_text =
        is_global ? support::plural(reached, "sector", "sectors") : support::plural(reached, "conflict", "conflicts");
    const std::string sentence = fmt::format("bankcheck: {}: {} exceed {} {}\n", prediction.architecture->name,
                                             reached_text, is_global ? "--max-sectors" : "--max-conflicts", *limit);
    std::fputs(sentence.c_str(), stderr);
    code = support::exit_wrong;
  }
  if (options.json && predictions.size() > 1) text = fmt::format("[{}]\n", text);
  if (options.svg != "-") {
    const bool is_coloured = !options.json && support::terminal_has_colour();
    support::OutputFile("stdout", "-").write(is_coloured ? coloured(text) : text);
  }
  return code;
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
  command.footer(
      "Exit codes: 0 ok, 1 more conflicts or sectors than allowed, 2 usage or a file that cannot be opened, 3 an "
      "output cannot be written.\n"
      "Example: bankcheck predict --index 'tile[threadIdx.x][3]' --array 'float tile[32][33]' --block 32x8");
  command.option_defaults()->group("Input");
  command
      .add_option(
          "--index", options.index,
          "Index of the element that each lane accesses, in CUDA or OpenCL C, for example '17*tid', "
          "'(tid ^ (tid>>3)) * 4' or 'tile[ty][tx]'. The lane number is tid, lane or laneid (int), "
          "get_sub_group_local_id() (unsigned), or any one other name; the thread's position in its block tx, "
          "ty, tz (int), threadIdx.x to .z (unsigned), get_local_id(0) to (2) (64-bit); the block's size "
          "blockDim.x to .z and get_local_size(0) to (2). Functions: min, max, abs. Or a CuTe layout that gives "
          "each lane its offset, for example 'Swizzle<3,3,3> o (8,64):(64,1)'")
      ->type_name("INDEX");
  command
      .add_option("--array", options.array,
                  "Declaration of the array of --index, for example 'float tile[32][33]' (default: one dimension, "
                  "elements of --width bytes)")
      ->type_name("DECLARATION");
  command
      .add_option("--block", options.block,
                  "Threads of a block, for example 32x8; the lanes are the first of them, x first (default: one "
                  "dimension)")
      ->type_name("X[xY[xZ]]");
  command.add_option("--let", options.values, "Value of another name in --index or --array; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME=NUMBER,...");
  command.add_option("FILE", options.accesses,
                     "CSV file with the columns id,op,width,mask,a0,...; - reads stdin. op: as for --op; width: bytes "
                     "per lane; mask: active lanes, in hexadecimal; a0 to a31 or a63: byte offset of each lane. "
                     "Copies (cp.async) also need s0 to s31, the offsets in global memory");
  command
      .add_option("--base", options.base,
                  "Byte at which the array of --index begins. In global memory it counts from the beginning of a cache "
                  "line")
      ->type_name("BYTES")
      ->capture_default_str();
  command.option_defaults()->group("Access");
  command
      .add_option("--arch", options.architectures,
                  "Architectures or GPUs, separated by commas; see bankcheck archs. A CSV file takes one")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ARCH,...")
      ->capture_default_str();
  command
      .add_option("--space", options.space,
                  "Memory that is accessed: shared, whose cost is passes, or global, whose cost is sectors")
      ->type_name("shared|global")
      ->check(CLI::IsMember({"shared", "global"}))
      ->capture_default_str();
  command.add_option("--op", options.operation, "Operation; atomics are on 32-bit integers")
      ->type_name("OP")
      ->check(CLI::IsMember(operations))
      ->capture_default_str();
  command
      .add_option("--width", options.width,
                  "Bytes per lane (default: those of an element of --array, otherwise 4; for matrix operations 16, "
                  "which is one row)")
      ->type_name("BYTES")
      ->check(CLI::IsMember({1, 2, 4, 8, 12, 16}));
  command
      .add_option("--lanes", options.lanes,
                  "Number of active lanes (default: a whole warp, or the block if it is less)")
      ->type_name("N")
      ->check(CLI::Range(1U, banks::max_lanes));
  command.add_option("--mask", options.mask, "Mask of the active lanes, in hexadecimal")
      ->type_name("MASK")
      ->excludes("--lanes");
  command.option_defaults()->group("Output");
  command.add_option("--max-conflicts", options.max_conflicts, "Fail if the access has more conflicts than this")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 16));
  command
      .add_option("--max-sectors", options.max_sectors,
                  "Fail if the access to global memory moves more sectors than this")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 16));
  command
      .add_option("--svg", options.svg,
                  "Write the picture as SVG to this file; - writes it to stdout and prints nothing else")
      ->type_name("FILE");
  command.add_flag("--json", options.json, "Print JSON; for several architectures, a list");
}

int predict(PredictOptions& options) {
  const auto given = [&](const char* name) { return options.command->count(name) > 0; };
  std::vector<const banks::Architecture*> architectures;
  for (const std::string& name : options.architectures) architectures.push_back(&architecture_named(name));
  if (given("--index") == given("FILE")) {
    throw support::UsageError("predict needs either a CSV file of accesses or --index; see bankcheck predict --help");
  }
  for (const auto& [name, value] : {std::pair{"--mask", &options.mask}, std::pair{"--svg", &options.svg},
                                    std::pair{"--array", &options.array}, std::pair{"--block", &options.block}}) {
    if (given(name) && value->empty()) throw support::UsageError(fmt::format("{} needs a value", name));
  }
  const char* needs_one = !given("--index") ? "a CSV file" : given("--svg") ? "--svg" : nullptr;
  if (needs_one != nullptr && architectures.size() > 1) {
    throw support::UsageError(
        fmt::format("{} needs one architecture; --arch names {}", needs_one, architectures.size()));
  }
  for (const char* name : {"--max-conflicts", "--svg", "--max-sectors"}) {
    const char* space = std::string_view(name) == "--max-sectors" ? "global" : "shared";
    if (given(name) && options.space != space)
      throw support::UsageError(fmt::format("{} needs --space {}", name, space));
  }
  if (given("--index")) return predict_formula(architectures, options);
  for (const char* name : {"--array", "--base", "--block", "--let", "--max-conflicts", "--max-sectors", "--op",
                           "--width", "--lanes", "--mask", "--svg"}) {
    if (given(name))
      throw support::UsageError(fmt::format("{} needs --index; each row of a CSV file has its own value", name));
  }
  return predict_file(*architectures.front(), options);
}

}  // namespace bankwise::predict
