#include <bankwise/report/sink.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::report {

std::string_view path_of(std::span<const Output> outputs, std::string_view option) {
  for (const Output& output : outputs) {
    if (output.option != nullptr && output.option == option) return output.path;
  }
  return "";
}

bool take_stdout(std::span<const Output> outputs) {
  return std::ranges::find(outputs, "-", &Output::path) != outputs.end();
}

std::vector<support::OutputFile> open_files(std::span<const Output> outputs) {
  if (std::ranges::count(outputs, "-", &Output::path) > 1) {
    std::string options;
    for (const Output& output : outputs) {
      if (output.option == nullptr) continue;
      options += options.empty() ? "" : &output == &outputs.back() ? " and " : ", ";
      options += output.option;
    }
    throw support::UsageError(fmt::format("only one of {} can be stdout", options));
  }
  const std::string text = take_stdout(outputs) ? "" : "-";
  std::vector<support::OutputFile> files;
  for (const auto& [option, help, path] : outputs) {
    const support::OutputFile file =
        option == nullptr ? support::OutputFile("stdout", text) : support::OutputFile(option, path);
    for (const support::OutputFile& earlier : files) file.require_apart_from(earlier);
    files.push_back(file);
  }
  return files;
}

}  // namespace bankwise::report
