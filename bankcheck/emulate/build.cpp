// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>

#include <bankwise/support/files.hpp>
#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/emulate/cache.hpp"
#include "bankcheck/emulate/rewrite.hpp"

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using driver::Ran;
using driver::run_quietly;

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

/// The folder of Thrust in a CUDA Toolkit 13 or newer, whose algorithms run on the host; empty if there is none.
fs::path find_thrust() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char* toolkit = *variable == '\0' ? "/usr/local/cuda" : std::getenv(variable);
    if (toolkit == nullptr) continue;
    fs::path folder = fs::path(toolkit) / "include" / "cccl";
    std::error_code ignored;
    if (fs::exists(folder / "thrust", ignored)) return folder;
  }
  return {};
}

/// The algorithms of Thrust for the device run on the host here, so the emulator must not take their accesses for
/// faults.
constexpr const char* thrust_marker =
    "\nextern \"C\" { __attribute__((weak, used)) extern const char bankwise_uses_thrust = 1; }\n";

bool includes_thrust(std::string_view expanded) {
  for (auto at = expanded.find("/thrust/"); at != std::string_view::npos; at = expanded.find("/thrust/", at + 1)) {
    const auto line = expanded.rfind('\n', at) + 1;  // npos + 1: the first line
    if (expanded.substr(line, 2) == "# ") return true;
  }
  return false;
}

class Builder {
 public:
  Builder(const Program& program, const Toolchain& toolchain, const fs::path& cache)
      : program_(program), tools_(toolchain), cache_(cache) {
    for (const char* kind : {"headers", "objects", "programs"}) fs::create_directories(cache / kind);
    clean(cache);
  }

  fs::path run() {
    prepare_header();
    std::vector<fs::path> objects(program_.sources.size());
    std::vector<std::exception_ptr> failures(objects.size());
    const auto compile_one = [&](std::size_t i) {
      try {
        objects[i] = compile_object(program_.sources[i]);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < objects.size(); ++i) threads.emplace_back(compile_one, i);
      compile_one(0);
    }
    for (const auto& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
    return linked(objects);
  }

  void object(const fs::path& to) {
    prepare_header();
    const fs::path made = compile_object(program_.sources.front());
    if (to.has_parent_path()) fs::create_directories(to.parent_path());
    fs::copy_file(made, to, fs::copy_options::overwrite_existing);
    const std::string rule = read_file(made.parent_path() / "rule").value_or("");
    std::ofstream(to.string() + ".d") << to.string() << rule.substr(std::min(rule.find(": "), rule.size()));
  }

 private:
  Words options() const {
    Words words = tools_.compile;
    words.push_back(fmt::format("-std=gnu++{}", program_.standard.substr(3)));
    words.push_back(fmt::format("-D__CUDA_ARCH__={}", program_.capability * 10));
    append(words, program_.options);
    return words;
  }

  /// CUDA's headers, compiled in advance: they are most of a small program's time.
  void prepare_header() {
    Hash hash;
    hash.add(tools_.identity);
    for (const std::string& word : options()) hash.add(word);
    const fs::path folder = cache_ / "headers" / hash.text();
    fs::create_directories(folder);
    header_ = folder / "program.hpp";
    const fs::path compiled = header_.string() + ".gch";
    const FolderLock lock(folder);
    touch(folder);
    if (fs::exists(compiled)) return;
    std::ofstream(header_) << fmt::format("#include <{}>\n", tools_.header);
    Words command{tools_.compiler};
    append(command, options());
    for (const std::string& include_folder : tools_.include) append(command, {"-I", include_folder});
    const fs::path part = folder / "part";
    append(command, {"-x", "c++-header", header_.string(), "-o", part.string()});
    const Ran ran = run_quietly(command);
    if (ran.status != 0) throw BuildFailed("g++ does not compile the emulator's own header", ran.output);
    fs::rename(part, compiled);
  }

  /// Options before the preprocessor's input.
  Words preprocessing(bool is_cuda) const {
    Words command{tools_.compiler, "-E", "-fpch-preprocess"};
    append(command, options());
    append(command, {"-include", header_.string()});
    for (const std::string& definition : program_.definitions) command.push_back("-D" + definition);
    for (const std::string& include_folder : program_.include) append(command, {"-I", include_folder});
    for (const std::string& include_folder : tools_.include) append(command, {"-I", include_folder});
    if (const fs::path thrust = find_thrust(); !thrust.empty()) append(command, {"-idirafter", thrust.string()});
    if (is_cuda) append(command, {"-x", "c++"});
    return command;
  }

  /// A source in C, which nvcc leaves to the host's compiler.
  Words c_compiler() const {
    Words command{tools_.compiler, "-x", "c", "-O2", "-g", "-w", "-c"};
    append(command, program_.options);
    for (const std::string& definition : program_.definitions) command.push_back("-D" + definition);
    for (const std::string& include_folder : program_.include) append(command, {"-I", include_folder});
    return command;
  }

  fs::path compile_object(const std::string& source) {
    const fs::path path = fs::absolute(source);
    const bool is_c = path.extension() == ".c";
    Words preprocess = is_c ? c_compiler() : preprocessing(true);
    Hash hash;
    hash.add(tools_.identity);
    for (const std::string& word : preprocess) hash.add(word);
    hash.add(source);
    hash.add(fs::current_path().string());  // relative paths in messages and line information
    const fs::path folder = cache_ / "objects" / hash.text();
    fs::create_directories(folder);
    const FolderLock lock(folder);
    touch(folder);
    fs::path object = folder / (path.filename().string() + ".o");
    const fs::path manifest = folder / "manifest";
    if (fs::exists(object) && is_current(manifest)) return object;
    fs::remove(manifest);

    if (is_c) {
      const fs::path c_rule = folder / "rule";
      append(preprocess, {source, "-MD", "-MF", c_rule.string(), "-o", object.string()});
      check(run_quietly(preprocess), source);
      write_manifest(manifest, files_in_rule(read_file(c_rule).value_or("")));
      return object;
    }
    const fs::path expanded = folder / "expanded.ii", rewritten_file = folder / "rewritten.ii", rule = folder / "rule";
    append(preprocess, {source, "-MD", "-MF", rule.string(), "-o", expanded.string()});
    check(run_quietly(preprocess), source);
    const std::string text = read_file(expanded).value_or("");
    try {
      std::ofstream(rewritten_file, std::ios::binary)
          << rewritten(text) << (includes_thrust(text) ? thrust_marker : "");
    } catch (const BadLaunch& bad) {
      throw BuildFailed(fmt::format("{}: {}", place_in(text, bad.offset, source), bad.what()), "");
    }
    Words compile{tools_.compiler, "-c", "-fpreprocessed", "-fpch-preprocess", "-w"};
    append(compile, options());
    append(compile, {"-x", "c++-cpp-output", rewritten_file.string(), "-o", object.string()});
    check(run_quietly(compile), source);
    write_manifest(manifest, files_in_rule(read_file(rule).value_or("")));
    fs::remove(expanded);
    return object;
  }

  fs::path linked(const std::vector<fs::path>& objects) {
    Hash hash;
    hash.add(tools_.identity);
    for (const std::string& library : program_.libraries) hash.add("-l" + library);
    for (const std::string& option : program_.options) hash.add(option);
    for (const fs::path& object : objects) {
      hash.add(object.string());
      hash.add_content(object);
    }
    const fs::path folder = cache_ / "programs" / hash.text();
    fs::create_directories(folder);
    const FolderLock lock(folder);
    touch(folder);
    fs::path file = folder / fs::path(program_.sources.front()).stem();
    if (fs::exists(file)) return file;

    const Words names = [&] {
      Words object_names;
      for (const fs::path& object : objects) object_names.push_back(object.string());
      return object_names;
    }();
    Words sources;
    for (const std::string& source : program_.sources) sources.push_back(fs::path(source).filename().string());
    const fs::path dynamic = folder / "dynamic_shared";
    check(run_quietly({tools_.cmake, "-D", "READELF=" + tools_.readelf, "-D", "CXX=" + tools_.compiler, "-D",
                       fmt::format("OBJECTS={}", fmt::join(names, ";")), "-D",
                       fmt::format("SOURCES={}", fmt::join(sources, ";")), "-D", "OUTPUT=" + dynamic.string(), "-P",
                       tools_.script}),
          "extern __shared__ arrays");
    const fs::path part = folder / "part";
    Words link{tools_.compiler, "-o", part.string()};
    append(link, program_.options);
    append(link, names);
    link.push_back(dynamic.string() + ".o");
    append(link, tools_.link);
    for (const std::string& library : program_.libraries) link.push_back("-l" + library);
    const Ran ran = run_quietly(link);
    if (ran.status != 0) throw BuildFailed(link_sentence(ran.output), ran.output);
    fs::rename(part, file);
    return file;
  }

  static std::string link_sentence(const std::string& messages) {
    constexpr std::string_view undefined = "undefined reference to ";
    if (const auto at = messages.find(undefined); at != std::string::npos) {
      const auto end = std::min(messages.find('\n', at), messages.size());
      return fmt::format("no source and no library defines {}",
                         messages.substr(at + undefined.size(), end - at - undefined.size()));
    }
    return "the program cannot be linked";
  }

  static void check(const Ran& ran, const std::string& subject) {
    if (ran.status == 0) return;
    const Words missing = missing_in(ran.output);
    if (missing.size() == 1) throw BuildFailed(missing.front(), ran.output);
    if (!missing.empty()) {
      throw BuildFailed(fmt::format("{} (and {} more below)", missing.front(), missing.size() - 1), ran.output);
    }
    const std::string first = first_error_in(ran.output);
    throw BuildFailed(first.empty() ? fmt::format("{} does not compile", subject)
                                    : fmt::format("{} does not compile: {}", subject, first),
                      ran.output);
  }

  const Program& program_;
  const Toolchain& tools_;
  const fs::path& cache_;
  fs::path header_;
};

}  // namespace

fs::path build(const Program& program, const Toolchain& toolchain, const fs::path& cache) {
  return Builder(program, toolchain, cache).run();
}

void build_object(const Program& program, const Toolchain& toolchain, const fs::path& cache, const fs::path& object) {
  Builder(program, toolchain, cache).object(object);
}

}  // namespace bankwise::emulate
