#include "bankcheck/emulate/commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/text.hpp>

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;

/// Fills in what depends on the architecture. Error: UsageError.
void choose_architecture(CompileOptions& options) {
  std::string name = options.architecture.substr(0, options.architecture.find(','));
  if (name.empty()) name = options.program.hip ? "gfx942" : "sm_90";
  const banks::Architecture* const architecture = banks::find_architecture(name);
  if (architecture == nullptr) {
    throw support::UsageError(
        fmt::format("there is no architecture {}; bankcheck archs shows all", support::in_quotes(name)));
  }
  choose_architecture(options.program, *architecture);
}

std::string without_extension(const std::string& file) { return fs::path(file).stem().string(); }

/// Compiles a source, with the rule that the options ask for.
void compile_source(const CompileOptions& options, const std::string& source, const std::string& object) {
  Program program = options.program;
  program.sources = {source};
  const std::string rule = build_object(program, find_toolchain(), cache_folder(options.cache), object);
  if (!options.rule && !options.only_rule) return;
  const std::string target = !options.rule_target.empty() ? options.rule_target : object;
  std::string file = options.rule_file;
  if (file.empty()) file = options.only_rule ? "-" : fs::path(object).replace_extension(".d").string();
  support::OutputFile("the rule's file", file).write(target + rule);
}

void run_tool(const std::vector<std::string>& command) {
  const driver::Ran ran = driver::run_quietly(command);
  if (ran.status != 0) throw BuildFailed(fmt::format("{} failed", command.front()), ran.output);
}

bool is_source(const CompileOptions& options, const std::string& file) {
  return language_of(file, options.program, find_toolchain()) != Language::object;
}

/// The object files of the sources, in a folder, and the files that are no sources.
std::vector<std::string> objects_of(const CompileOptions& options, const driver::TemporaryFolder& folder) {
  std::vector<std::string> objects;
  for (const std::string& file : options.program.sources) {
    objects.push_back(file);
    if (!is_source(options, file)) continue;
    objects.back() = (folder / fmt::format("{}/{}.o", objects.size(), without_extension(file))).string();
    compile_source(options, file, objects.back());
  }
  return objects;
}

void compile_sources(CompileOptions& options, const driver::TemporaryFolder& folder) {
  const std::vector<std::string> files = options.program.sources;
  if (!options.output.empty() && files.size() > 1) throw support::UsageError("-c with -o needs exactly one source");
  for (const std::string& file : files) {
    if (!is_source(options, file)) continue;
    const std::string object = options.output.empty() ? without_extension(file) + ".o" : options.output;
    compile_source(options, file, options.only_rule ? (folder / object).string() : object);
  }
}

}  // namespace

bool is_link_loop(std::error_code error) { return error == std::errc::too_many_symbolic_link_levels; }

void check_sources(const Program& program) {
  for (const std::string& source : program.sources) {
    std::error_code error;
    if (std::filesystem::is_regular_file(source, error)) continue;
    throw support::UsageError(fmt::format("cannot read {}: {}", support::in_quotes(source),
                                          is_link_loop(error)                            ? link_loop
                                          : std::filesystem::is_directory(source, error) ? "it is a directory"
                                                                                         : "there is no such file"));
  }
}

unsigned capability_of(const banks::Architecture& architecture) {
  constexpr std::string_view prefix = "sm_";
  if (!architecture.name.starts_with(prefix)) return 0;
  return unsigned(std::strtoul(std::string(architecture.name.substr(prefix.size())).c_str(), nullptr, 10));
}

void choose_architecture(Program& program, const banks::Architecture& architecture) {
  const unsigned capability = capability_of(architecture);
  if (capability != 0) program.capability = capability;
  program.gpu = program.hip && capability == 0 ? architecture.name : "";
  program.wave = architecture.warp;
}

void declare_build_options(CLI::App& command, Program& program) {
  command.add_option("-x", program.language, "Language of all sources (default: by their names)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cu", "hip", "c++"}));
  command.add_option("-I", program.include, "Directory to search for headers; may be repeated")
      ->allow_extra_args(false)
      ->type_name("DIR");
  command.add_option("-D", program.definitions, "Macro to define, with a value or without; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command.add_option("-l", program.libraries, "Host library to link; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      .add_option("--compiler-options", program.options,
                  "Options for g++ when it compiles and links, separated by commas, for example -fopenmp")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("OPTION,...");
  command.add_option("--std", program.standard, "The C++ standard of the sources")
      ->type_name("NAME")
      ->check(CLI::IsMember({"c++17", "c++20", "c++23"}))
      ->capture_default_str();
}

void declare_nvcc(CLI::App& command, CompileOptions& options) {
  command.footer(
      "Takes the options of the compiler, and drops those that change nothing in the emulator. Programs run on the "
      "CPU; bankcheck emulate -- ./program reports their bank conflicts.\n"
      "Exit codes: 0 ok, 2 usage, 3 a source does not compile.");
  Program& program = options.program;
  command.option_defaults()->group("Input");
  command.add_option("FILE", program.sources, "Sources, object files and libraries");
  command.option_defaults()->group("Output");
  command.add_flag("-c,--compile", options.compile, "Make an object file of each source");
  command.add_option("-o", options.output, "The file to make (default: a.out, or the source's name with .o)")
      ->type_name("FILE");
  command.add_flag("--archive", options.archive, "Make a static library (nvcc: -lib)");
  command.add_flag("--device-link", options.device_link,
                   "Make an empty object file, as nothing is to be done (-dlink)");
  command.add_flag("--rule", options.rule, "Also write a rule for make (-MD, -MMD)");
  command.add_flag("--only-rule", options.only_rule, "Print only a rule for make (-M, -MM)");
  command.add_option("--rule-file", options.rule_file, "The file of the rule (-MF)")->type_name("FILE");
  command.add_option("--rule-target", options.rule_target, "The target of the rule (-MT, -MQ)")->type_name("NAME");
  command.add_flag("--compiler-version,--version", options.version,
                   "Print the version of the compiler that this stands for (-V)");
  command.option_defaults()->group("Build");
  command
      .add_option("--arch", options.architecture, "The architecture that the program is built for (-arch, -gencode)")
      ->type_name("ARCH");
  declare_build_options(command, program);
  command
      .add_option("--cache", options.cache,
                  "Directory for compiled files (default: bankwise in $XDG_CACHE_HOME or ~/.cache)")
      ->type_name("DIR");
}

void declare_hipcc(CLI::App& command, CompileOptions& options) {
  options.program.hip = true;
  declare_nvcc(command, options);
}

int compile(CompileOptions& options) {
  driver::start_guard();
  if (options.version) {
    std::puts(options.program.hip
                  ? "HIP version: 6.2.0 (bankcheck hipcc)"
                  : "nvcc: NVIDIA (R) Cuda compiler driver (bankcheck nvcc)\nCuda compilation tools, release 12.8, "
                    "V12.8.93");
    return support::exit_ok;
  }
  if (options.program.sources.empty()) throw support::UsageError("no input: name sources, object files or libraries");
  check_sources(options.program);
  choose_architecture(options);
  const driver::TemporaryFolder folder;
  const auto output = [&](const char* usual) { return options.output.empty() ? usual : options.output; };
  if (options.compile || options.only_rule) {
    compile_sources(options, folder);
  } else if (options.device_link) {
    const std::ofstream empty(folder / "empty.c");
    run_tool({find_toolchain().compiler, "-c", folder / "empty.c", "-o", output("a_dlink.o")});
  } else if (options.archive) {
    std::vector<std::string> command{"ar", "rcs", output("a.a")};
    for (const std::string& object : objects_of(options, folder)) command.push_back(object);
    run_tool(command);
  } else {
    keep_file(build(options.program, find_toolchain(), cache_folder(options.cache)), output("a.out"));
  }
  return support::exit_ok;
}

}  // namespace bankwise::emulate
