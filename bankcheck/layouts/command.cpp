#include <CLI/CLI.hpp>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/table.hpp>
#include <bankwise/trace/report.hpp>
#include "bankcheck/layouts/layouts.hpp"

namespace bankwise::layouts {

LayoutReport layout_report(const LayoutOptions& options) {
  LayoutReport report;
  report.tile = read_tile(options.tile);
  for (const std::string& name : options.architectures) report.architectures.push_back(&architecture_named(name));
  for (const std::string& text : options.copies) {
    report.copies.push_back(read_copy(text, report.tile.element));
    report.costs.emplace_back();
    for (const banks::Architecture* architecture : report.architectures) {
      report.costs.back().push_back(cost_of(*architecture, report.tile, report.copies.back(), report.tile.offsets));
    }
  }
  report.best = best_layouts(report.architectures, report.tile, report.copies);
  for (const banks::Architecture* architecture : report.architectures)
    report.certificates.push_back(certificate(*architecture, report.tile, report.copies));
  return report;
}

void declare_layout(CLI::App& command, LayoutOptions& options) {
  command.footer(
      "Exit codes: 0 ok, 2 usage, 3 stdout cannot be written.\n"
      "Example: bankcheck layout 'Swizzle<3,3,3> o (8,64):(64,1)' --type half --copy ldmatrix.x4 --copy store.16");
  command.option_defaults()->group("Input");
  command
      .add_option("LAYOUT", options.tile.layout,
                  "Layout of a tile of shared memory: of CuTe, for example 'Swizzle<3,3,3> o (8,64):(64,1)', whose "
                  "first mode is the row and whose other modes are the column; or one of Triton's shared encodings, "
                  "for example '#ttg.swizzled_shared<{vec=8, perPhase=1, maxPhase=8, order=[1,0]}>', also "
                  "padded_shared and nvmma_shared")
      ->type_name("");
  command
      .add_option("--shape", options.tile.shape,
                  "Rows and columns of a Triton tensor in one block; or, without LAYOUT, the shape of a NumPy array")
      ->type_name("N,...");
  command
      .add_option("--strides", options.tile.strides, "Strides of a NumPy array in bytes (default: rows without a pad)")
      ->type_name("BYTES,...");
  command
      .add_option(
          "--type", options.tile.type,
          "Type of an element in C, CuTe, Triton or NumPy, for example half, half_t, f16 or float16; not needed "
          "if the layout says its bits, as smem_ptr[16b] does")
      ->type_name("TYPE");
  command.option_defaults()->group("Access");
  command
      .add_option("--copy", options.copies,
                  "How warps read or write the whole tile; may be repeated. OP is load, store, ldmatrix.x1, .x2, .x4 "
                  "or stmatrix.x1, .x2, .x4; BYTES per lane are by default those of an element. Lanes go by row (the "
                  "default), by column, or by a CuTe layout of the threads, for example 'store.8 by (8,4):(4,1)', "
                  "where thread 4*r+c has the c-th 8 bytes of row r, repeated over the tile")
      ->allow_extra_args(false)
      ->type_name("OP[.BYTES][ by ORDER]")
      ->capture_default_str();
  command
      .add_option("--arch", options.architectures, "Architectures or GPUs, separated by commas; see bankcheck archs")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ARCH,...")
      ->capture_default_str();
  command.option_defaults()->group("Output");
  command.add_flag("--json", options.json, "Print JSON");
}

int layout(LayoutOptions& options) {
  const LayoutReport report = layout_report(options);
  const std::string text = options.json ? json_of(report) : text_of(report, support::terminal_columns());
  const bool is_coloured = !options.json && support::terminal_has_colour();
  support::OutputFile("stdout", "-").write(is_coloured ? predict::coloured(text) : text);
  return support::exit_ok;
}

}  // namespace bankwise::layouts
