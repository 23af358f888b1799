// Command lines as people type them, for main programs with CLI11: help that fits a terminal, and errors that name what
// was meant. Not part of a library, because programs that only link support need no CLI11.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/text.hpp>

namespace bankwise::support {

/// The text of --help, in lines of at most 100 columns. All versions of CLI11 show the same.
class HelpText : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string text = wrapped(app->get_description(), columns, 0) + wrapped("Usage: " + usage(*app, name), columns, 2);
    std::vector<std::string> groups{"Input"};  // and the others in the order of their first option
    const auto options = app->get_options();
    for (const CLI::Option* option : options) {
      const bool is_new = std::ranges::find(groups, option->get_group()) == groups.end();
      if (is_new && !is_help(*app, option)) groups.push_back(option->get_group());
    }
    groups.emplace_back(help_group);
    for (const std::string& group : groups) {
      std::string entries;
      for (const CLI::Option* option : options) {
        if ((is_help(*app, option) ? help_group : option->get_group()) == group)
          entries += entry(names_of(*option), description_of(*option));
      }
      if (!entries.empty()) text += fmt::format("\n{}:\n{}", group, entries);
    }
    const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
    if (!commands.empty()) text += "\nCommands:\n";
    for (const CLI::App* command : commands) text += entry(command->get_name(), command->get_description());
    return text + '\n' + lines_of(app->get_footer());
  }

 private:
  static constexpr std::size_t columns = 100, column = 28;
  static constexpr std::string_view help_group = "Help";

  static bool is_help(const CLI::App& app, const CLI::Option* option) {
    return option == app.get_help_ptr() || option->get_name() == "--version";
  }

  static std::string usage(const CLI::App& app, const std::string& name) {
    std::string text = name + " [OPTIONS]";
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional()) continue;
      const std::string word = option->get_name() + (option->get_items_expected_max() > 1 ? "..." : "");
      text += option->get_required() ? " " + word : fmt::format(" [{}]", word);
    }
    const bool has_commands = !app.get_subcommands([](const CLI::App*) { return true; }).empty();
    return text + (has_commands ? " COMMAND" : "");
  }

  /// "-h, --help", "--arch ARCH,...", "FILE".
  static std::string names_of(const CLI::Option& option) {
    if (option.get_positional()) return option.get_name();
    std::string names;
    for (const char c : option.get_name(false, true)) names += c == ',' ? std::string(", ") : std::string(1, c);
    if (const auto value = names.find("{false}"); value != std::string::npos) names.erase(value);
    if (option.get_items_expected_max() == 0) return names;
    const std::string type = option.get_type_name();
    return names + ' ' + type.substr(0, type.find(':'));
  }

  /// The description, followed by what CLI11 knows: the values, their range, the default.
  static std::string description_of(const CLI::Option& option) {
    std::string text = option.get_description(), notes;
    const auto note = [&](const std::string& sentence) { notes += (notes.empty() ? "" : "; ") + sentence; };
    const std::string type = option.get_type_name();
    if (const auto set = type.find('{'); set != std::string::npos && option.get_items_expected_max() > 0) {
      std::string values = type.substr(set + 1, type.find('}') - set - 1);
      for (auto at = values.find(','); at != std::string::npos; at = values.find(',', at + 2))
        values.insert(at + 1, " ");
      text.insert(std::min(text.find(" (default: "), text.size()), ": " + values);
    }
    const auto range = type.find(" in [");
    if (range != std::string::npos && type.find("e+", range) == std::string::npos) {  // not up to 1e+09
      const std::string bounds = type.substr(range + 5, type.find(']', range) - range - 5);
      const auto dash = bounds.find(" - ");
      note(bounds.substr(0, dash) + " to " + bounds.substr(dash + 3));
    }
    std::string value = option.get_default_str();
    if (value.starts_with('[')) value = value.substr(1, value.size() - 2);  // a list
    if (!value.empty()) note("default: " + value);
    if (notes.empty()) return text;
    const bool has_notes = text.ends_with(')') && text.find("(default: ") != std::string::npos;
    return has_notes ? fmt::format("{}; {})", text.substr(0, text.size() - 1), notes)
                     : fmt::format("{} ({})", text, notes);
  }

  static std::string entry(const std::string& left, const std::string& right) {
    const bool fits = left.size() + 2 < column - 1;
    const std::string first = fits ? fmt::format("  {:<{}}", left, column - 2) : std::string(column, ' ');
    return (fits ? "" : fmt::format("  {}\n", left)) + wrapped(first + right, columns, column);
  }

  static std::string lines_of(std::string_view text) {
    std::string lines;
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      lines += wrapped(text.substr(0, end), columns, 2);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
  }
};

/// The parts of a list "a,b".
inline std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts{""};
  for (const char c : list) c == ',' ? (void)parts.emplace_back() : parts.back().push_back(c);
  return parts;
}

/// " did you mean '--json'?", with `before` in front of the name; "" if no known name is near.
inline std::string question_for(std::string_view name, const std::vector<std::string>& known, const char* before = "") {
  const std::string_view near = nearest(name, {known.begin(), known.end()});
  return near.empty() ? "" : fmt::format(" did you mean '{}{}'?", before, near);
}

/// One sentence for a command line that CLI11 has refused: what was meant, and whose --help tells more.
inline std::string sentence_for(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  for (const CLI::App* parsed : app.get_subcommands()) {
    command = parsed;
    name += ' ' + parsed->get_name();
  }
  const std::vector<std::string> surplus = app.remaining(true);
  if (surplus.empty()) {  // "--op: lod not in {load,store}"
    std::string text = error.what();
    if (const auto missing = text.find(": 1 required "); missing != std::string::npos) {
      text = text.substr(0, missing) + " needs a value";
    }
    const auto colon = text.find(": "), set = text.find(" not in {");
    const std::string question = set == std::string::npos || colon > set
                                     ? ""
                                     : question_for(text.substr(colon + 2, set - colon - 2),
                                                    parts_of(text.substr(set + 9, text.rfind('}') - set - 9)));
    return fmt::format("{};{} see {} --help", text, question, name);
  }

  const std::string word = surplus.front().substr(0, surplus.front().find('='));
  if (word.starts_with('-')) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& each : option->get_lnames()) names.push_back(each);
    }
    const std::string plain = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    if (command != &app && command->get_option_no_throw(word) != nullptr)
      return fmt::format("{} comes after {}; see {} --help", word, name, name);
    return fmt::format("there is no option {};{} {} --help shows all", in_quotes(word),
                       question_for(plain, names, "--"), name);
  }
  std::vector<std::string> names;
  for (const CLI::App* each : command->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  if (!names.empty())
    return fmt::format("there is no command {};{} {} --help shows all", in_quotes(word), question_for(word, names),
                       name);
  std::string words;
  for (const std::string& each : surplus) words += (words.empty() ? "" : " ") + in_quotes(each);
  return fmt::format("{} {} not expected; see {} --help", words, surplus.size() == 1 ? "is" : "are", name);
}

}  // namespace bankwise::support
