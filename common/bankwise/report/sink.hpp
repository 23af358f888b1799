// The formats of a report, for checkers and case studies alike: each program has a table of sinks. A new format is a
// file with its writer, and a row of the table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/files.hpp>

namespace bankwise::report {

/// A format, and how a report of type `Input` is written in it.
template <class Input>
struct Sink {
  const char* option;  ///< it names the file: "--json"; null: this is the text for stdout, unless another sink has it
  const char* help;
  std::string (*write)(const Input& input);
  std::string (*remark)(const Input& input) = nullptr;  ///< what to tell about the file; "" for nothing
};

/// A file that a command line may ask for.
struct Output {
  const char* option;
  const char* help;
  std::string path;  ///< "-" is stdout; empty: it is not asked for
};

/// The options of a table, in the same order.
template <class Input>
std::vector<Output> outputs_of(std::span<const Sink<Input>> sinks) {
  std::vector<Output> outputs;
  for (const Sink<Input>& sink : sinks) outputs.push_back({sink.option, sink.help, {}});
  return outputs;
}

/// The file of an option; empty if it is not asked for.
std::string_view path_of(std::span<const Output> outputs, std::string_view option);

/// Whether one of them is stdout, which then has no text.
bool take_stdout(std::span<const Output> outputs);

/// Opens the files, in the same order, before the run. Error: UsageError if one cannot be written, or two are the same.
std::vector<support::OutputFile> open_files(std::span<const Output> outputs);

/// Writes the report in each format that is asked for, and passes remarks to `tell`. Error: std::runtime_error.
template <class Input, class Tell>
void write_files(std::span<const Sink<Input>> sinks, std::span<const support::OutputFile> files, const Input& input,
                 const Tell& tell) {
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    if (!files[i]) continue;
    files[i].write(sinks[i].write(input));
    if (const std::string remark = sinks[i].remark == nullptr ? "" : sinks[i].remark(input); !remark.empty()) {
      tell(remark);
    }
  }
}

}  // namespace bankwise::report
