#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/command_line.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/cuda/recorder.hpp"
#include "bankcheck/driver/recorder.hpp"
#include "bankcheck/driver/reporting.hpp"
#include "bankcheck/emulate/commands.hpp"
#include "bankcheck/layouts/layouts.hpp"
#include "bankcheck/opencl/recorder.hpp"
#include "bankcheck/predict/predict.hpp"

namespace {

using namespace bankwise;

/// Whose options a command takes: its own only, or also those of nvcc and hipcc, to run a program or to make files.
enum class Spelling { own, of_program, of_files };

struct Command {
  const char* name;
  const char* description;
  std::function<void(CLI::App&)> declare;       ///< adds its options
  std::function<int()> run;                     ///< returns the exit code
  std::vector<std::string>* program = nullptr;  ///< for a program and its arguments
  bool is_named_first = false;                  ///< the first word that belongs to no option begins them; else only --
  Spelling spelling = Spelling::own;
};

/// A command that consists of two functions and the options that they share.
template <class Options>
Command command(const char* name, const char* description, void (*declare)(CLI::App&, Options&), int (*run)(Options&),
                Spelling spelling = Spelling::own) {
  const auto options = std::make_shared<Options>();
  return {name,  description, [=](CLI::App& app) { declare(app, *options); }, [=] { return run(*options); }, nullptr,
          false, spelling};
}

template <class Recorder>
Command recording(const char* name, const char* description, bool program_first, Spelling spelling = Spelling::own) {
  const auto recorder = std::make_shared<Recorder>();
  return {name,
          description,
          [=](CLI::App& app) { declare_check(app, *recorder); },
          [=] { return check(*recorder); },
          &recorder->options.program,
          program_first,
          spelling};
}

std::vector<Command> commands() {
  return {
      command("archs", "List the architectures, or their bank rules with the evidence for each", predict::declare_archs,
              predict::archs),
      command("predict",
              "Predict the bank conflicts of shared-memory accesses, or the sectors of global ones: a CSV file of "
              "accesses, or an index formula",
              predict::declare_predict, predict::predict),
      command("layout",
              "Predict the bank conflicts of reading and writing a tile whose layout is given in the notation of CuTe, "
              "Triton or NumPy, and find its best swizzle",
              layouts::declare_layout, layouts::layout),
      recording<opencl::Recorder>(
          "opencl",
          "Run an OpenCL program on the CPU, under Oclgrind, and report its kernels' bank conflicts by source line",
          true),
      recording<cuda::Recorder>(
          "cuda", "Run a CUDA program on an NVIDIA GPU, and report its kernels' bank conflicts by source line", true),
      recording<emulate::Recorder>("emulate",
                                   "Build a CUDA or HIP program with g++, run it on the CPU, and report its kernels' "
                                   "bank conflicts by source line",
                                   false, Spelling::of_program),
      command("nvcc", "Compile CUDA sources for the CPU as nvcc does for a GPU, for make NVCC=\"bankcheck nvcc\"",
              emulate::declare_nvcc, emulate::compile, Spelling::of_files),
      command("hipcc", "Compile HIP sources for the CPU as hipcc does for a GPU, for make HIPCC=\"bankcheck hipcc\"",
              emulate::declare_hipcc, emulate::compile, Spelling::of_files),
      command("report", "Report the bank conflicts of a trace file that was written with --trace",
              driver::declare_report, driver::report_file),
      command("fit", "Find the padding or swizzle that removes the bank conflicts of a trace file", driver::declare_fit,
              driver::report_file),
  };
}

/// Takes the program of a command, with its arguments, from the end of the command line: CLI11 would parse the
/// program's options as bankcheck's.
void take_program(const CLI::App& app, const Command& command, int& argc, const char* const* argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_option = word.size() > 1 && word.front() == '-', is_end = word == "--";
    if (is_end || (!is_option && command.is_named_first)) {
      command.program->assign(argv + i + (is_end ? 1 : 0), argv + argc);
      argc = i;
      return;
    }
    if (!is_option || word.find('=') != std::string::npos) continue;
    const CLI::Option* option = app.get_option_no_throw(word);
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;  // its value
  }
}

/// The words of a command line, in the spelling of the command's own options.
std::vector<std::string> own_words(const CLI::App& app, const Command& command, std::vector<std::string> words) {
  if (command.spelling == Spelling::own) return words;
  const std::string name = words.front();
  words.erase(words.begin());
  words = emulate::without_compiler_spelling(
      words,
      [&](const std::string& word) {
        const CLI::Option* option = app.get_option_no_throw(word);
        if (option == nullptr) return emulate::OwnOption::none;
        return option->get_items_expected_max() > 0 ? emulate::OwnOption::with_value : emulate::OwnOption::flag;
      },
      command.spelling == Spelling::of_files);
  words.insert(words.begin(), name);
  return words;
}

int run(int argc, const char* const* argv) {
  CLI::App app("Find bank conflicts in GPU shared memory (OpenCL: local memory)", "bankcheck");
  app.footer(
      "Exit codes: 0 ok, 1 more conflicts than allowed, 2 usage or a file that cannot be opened, 3 an output cannot be "
      "written, or the checked program failed, 77 nothing to run here.\n"
      "bankcheck COMMAND --help shows the options of a command.");
  app.set_version_flag("--version", std::string(support::revision()));
  app.formatter(std::make_shared<support::HelpText>());
  app.require_subcommand(1);
  const std::vector<Command> known_commands = commands();
  for (const Command& command : known_commands) command.declare(*app.add_subcommand(command.name, command.description));
  if (argc < 2) {
    support::OutputFile("stdout", "-").write(app.help());
    return support::exit_usage;  // so that a script whose variable is empty fails
  }
  std::vector<std::string> words(argv + 1, argv + argc);
  for (const Command& command : known_commands) {
    if (argv[1] != std::string_view(command.name)) continue;
    const CLI::App& chosen = *app.get_subcommand(command.name);
    if (command.program != nullptr) take_program(chosen, command, argc, argv);
    words = own_words(chosen, command, {argv + 1, argv + argc});
  }
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw support::UsageError(support::sentence_for(app, error));
    app.exit(error);
    if (!std::cout.flush()) throw std::runtime_error("cannot write stdout");
    return support::exit_ok;
  }
  const std::string name = app.get_subcommands().front()->get_name();
  return std::find_if(known_commands.begin(), known_commands.end(),
                      [&](const Command& command) { return command.name == name; })
      ->run();
}

int fail(int code, const char* sentence) {
  driver::tell(sentence);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const support::UsageError& error) {
    return fail(support::exit_usage, error.what());
  } catch (const driver::CommandFailed& failed) {
    std::fputs(support::visible(failed.details).c_str(), stderr);
    return fail(failed.exit_code, failed.what());
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = support::in_quotes(error.path1().string(), 200);
    return fail(support::exit_device, fmt::format("cannot use {}: {}", path, error.code().message()).c_str());
  } catch (const std::exception& error) {
    return fail(support::exit_device, error.what());
  }
}
