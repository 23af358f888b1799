#include "bankcheck/emulate/build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <thread>

#include <bankwise/support/files.hpp>

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using driver::Ran;
using driver::run_quietly;
using driver::TemporaryFolder;

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

/// The algorithms of Thrust for the device run on the host here, so the emulator must not take their accesses for
/// faults.
constexpr const char* thrust_marker =
    "\nextern \"C\" { __attribute__((weak, used)) extern const char bankwise_uses_thrust = 1; }\n";
constexpr const char* library_marker =
    "[[maybe_unused]] static const bool bankwise_has_library = (bankwise::emulator::runtime::LibraryCall(), true);\n";

constexpr std::string_view kernel_in_host_source =
    "this source is built for the host, as nvcc builds a .cpp; -x cu makes it a CUDA source";
constexpr std::string_view hip_header = "bankwise/emulator/hip/program.hpp";

/// Whether a file in a folder, "/thrust/", is part of an expanded source.
bool includes_from(std::string_view expanded, std::string_view folder) {
  for (auto at = expanded.find(folder); at != std::string_view::npos; at = expanded.find(folder, at + 1)) {
    const auto line = expanded.rfind('\n', at) + 1;  // npos + 1: the first line
    if (expanded.substr(line, 2) == "# ") return true;
  }
  return false;
}

/// The text between the first pair of quotes, as g++ writes them in any locale.
std::string_view quoted(std::string_view text) {
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"\u2018", "\u2019"}, {"'", "'"}}) {
    const auto begin = text.find(open);
    if (begin == std::string_view::npos) continue;
    const auto end = text.find(close, begin + open.size());
    if (end == std::string_view::npos) continue;
    return text.substr(begin + open.size(), end - begin - open.size());
  }
  return "";
}

/// One build: what it compiles comes from the cache, or goes there.
class CachedBuild {
 public:
  CachedBuild(const Program& program, const Toolchain& toolchain, const fs::path& cache)
      : program_(program), tools_(toolchain), cache_(cache) {
    clean(cache);
  }

  fs::path run() {
    prepare_headers();
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

  std::string object(const fs::path& to) {
    prepare_headers();
    const fs::path made = compile_object(program_.sources.front());
    keep_file(made, to);
    const std::string rule = support::read_file(made.parent_path() / "rule").value_or("");
    return rule.substr(std::min(rule.find(": "), rule.size()));
  }

 private:
  Language language(const std::string& source) const { return language_of(source, program_, tools_); }

  /// For a source with kernels, or one for the host.
  Words options(Language language) const {
    Words words = tools_.compile;
    words.push_back(fmt::format("-std=gnu++{}", program_.standard.substr(3)));
    if (language == Language::kernels) append(words, compiler_macros(program_));
    append(words, program_.options);
    for (const std::string& word : tools_.compile) {  // of two options, the last counts: none turns these off
      if (word.starts_with("-fsanitize") || word == "-fno-lto") words.push_back(word);
    }
    words.emplace_back("--param=tsan-instrument-func-entry-exit=1");
    return words;
  }

  /// CUDA's headers, compiled in advance if a source has them: they are most of a small program's time.
  void prepare_headers() {
    const auto has_kernels = [&](const std::string& source) { return language(source) == Language::kernels; };
    if (std::none_of(program_.sources.begin(), program_.sources.end(), has_kernels)) return;
    Hash hash;
    hash.add(tools_.identity);
    hash.add(options(Language::kernels));
    const CacheEntry entry(cache_, "headers", hash);
    header_ = entry / "program.hpp";
    const fs::path compiled = header_.string() + ".gch";
    if (is_current(entry.manifest)) return;
    std::ofstream(header_) << fmt::format("#include <{}>\n", program_.hip ? hip_header : tools_.header);
    const TemporaryFolder work(entry.folder);  // results leave it by rename
    Words command{tools_.compiler};
    append(command, options(Language::kernels));
    for (const std::string& include_folder : tools_.include) append(command, {"-I", include_folder});
    append(command, {"-x", "c++-header", header_.string(), "-o", work / "part"});
    const Ran ran = run_quietly(command);
    if (ran.status != 0) throw failure(ran, "g++ does not compile the emulator's own header");
    fs::rename(work / "part", compiled);
    write_manifest(entry.manifest, sizes_of({compiled}));
  }

  /// Options before the preprocessor's input.
  Words preprocessing(Language language) const {
    if (language == Language::c) return c_preprocessing();
    Words command{tools_.compiler, "-E", "-fpch-preprocess"};
    append(command, options(language));
    if (language == Language::kernels) append(command, {"-include", header_.string()});
    append(command, header_options(program_));
    for (const std::string& include_folder : tools_.include) append(command, {"-I", include_folder});
    // From CUDA 13 on, Thrust is there; its algorithms run on the host.
    const fs::path thrust = find_in_toolkit("include/cccl/thrust");
    if (!thrust.empty()) append(command, {"-idirafter", thrust.parent_path().string()});
    if (const fs::path curand = find_in_toolkit("include/curand_kernel.h"); !curand.empty() && !program_.hip) {
      append(command, {fmt::format("-DBANKWISE_TOOLKIT_CURAND_KERNEL=\"{}\"", curand.string()),
                       fmt::format("-DBANKWISE_TOOLKIT_CURAND=\"{}\"", (curand.parent_path() / "curand.h").string())});
    }
    append(command, {"-x", "c++"});
    return command;
  }

  /// For a source in C, which nvcc leaves to the host's compiler.
  Words c_preprocessing() const {
    Words command{tools_.compiler, "-E", "-x", "c", "-O2"};
    append(command, program_.options);
    append(command, header_options(program_));
    return command;
  }

  fs::path compile_object(const std::string& source) {
    const Language kind = language(source);
    if (kind == Language::object) return fs::absolute(source);
    Words preprocess = preprocessing(kind);
    Hash hash;
    hash.add(tools_.identity);
    hash.add(preprocess);
    hash.add(source);
    hash.add(fs::current_path().string());  // relative paths in messages and line information
    const CacheEntry entry(cache_, "objects", hash);
    fs::path object = entry / "source.o";
    const fs::path rule = entry / "rule";
    if (is_current(entry.manifest)) return object;
    fs::remove(entry.manifest);
    const TemporaryFolder work(entry.folder);  // results leave it by rename
    append(preprocess, {source, "-MD", "-MF", rule.string(), "-o", work / "expanded.ii"});
    const auto expand = [&] {
      check(run_quietly(preprocess), source, kind);
      return support::read_file(work / "expanded.ii").value_or("");
    };
    const std::string text = expand();
    const std::string hashes = hashes_of(files_in_rule(support::read_file(rule).value_or("")));
    Words compile{tools_.compiler, "-c", "-fpreprocessed", "-w"};
    if (kind == Language::c) {
      append(compile, {"-O2", "-g"});
      append(compile, program_.options);
      append(compile, {"-x", "cpp-output", work / "expanded.ii"});
    } else {
      try {
        const std::string changed = rewritten(text, kind);
        if (kind == Language::host && changed.find(launch_in_rewritten) != std::string::npos)
          throw BadLaunch(text.find("<<<"), std::string(kernel_in_host_source));
        const bool uses_thrust = includes_from(text, "/thrust/");
        std::ofstream(work / "rewritten.ii", std::ios::binary)
            << changed << (uses_thrust ? thrust_marker : "")
            << (uses_thrust && kind == Language::kernels ? library_marker : "");
      } catch (const BadLaunch& bad) {
        throw BuildFailed(fmt::format("{}: {}", place_in(text, bad.offset, source), bad.what()), "");
      }
      append(compile, {"-fpch-preprocess"});
      append(compile, options(kind));
      // CUB's classes name members as the templates that they are made of, which g++ would refuse.
      if (includes_from(text, "/cub/block/")) compile.emplace_back("-fpermissive");
      append(compile, {"-x", "c++-cpp-output", work / "rewritten.ii"});
    }
    append(compile, {"-o", work / "part"});
    check(run_quietly(compile), source, kind);
    fs::rename(work / "part", object);
    // A file that was saved meanwhile may have another hash than what was compiled; then the next run compiles again.
    if (expand() == text) write_manifest(entry.manifest, hashes + hashes_of({object.string()}));
    return object;
  }

  fs::path linked(const std::vector<fs::path>& objects) {
    Hash hash;
    hash.add(tools_.identity);
    for (const std::string& library : program_.libraries) add_library(hash, library);
    hash.add(program_.options);
    Words names;
    for (const fs::path& object : objects) {
      names.push_back(object.string());
      hash.add(names.back());
      hash.add(support::read_file(object).value_or(""));
    }
    const CacheEntry entry(cache_, "programs", hash);
    fs::path file = entry / fs::path(program_.sources.front()).stem();
    if (is_current(entry.manifest)) return file;

    const TemporaryFolder work(entry.folder);  // results leave it by rename
    Words define{"sh", tools_.script, tools_.readelf, tools_.compiler, work / "dynamic_shared"};
    append(define, names);
    check(run_quietly(define), "extern __shared__ arrays", Language::object);
    Words link{tools_.compiler, "-o", work / "part"};
    append(link, program_.options);
    append(link, names);
    link.push_back(work / "dynamic_shared.o");
    append(link, tools_.link);
    for (const std::string& library : program_.libraries) link.push_back("-l" + library);
    const Ran ran = run_quietly(link);
    if (ran.status != 0) throw failure(ran, link_sentence(ran.output));
    fs::rename(work / "part", file);
    write_manifest(entry.manifest, hashes_of({file.string()}));
    return file;
  }

  /// The name of a library and, where -L leads to it, its content.
  void add_library(Hash& hash, const std::string& library) const {
    hash.add("-l" + library);
    for (const std::string& option : program_.options) {
      if (!option.starts_with("-L")) continue;
      for (const char* const extension : {".so", ".a"}) {
        const fs::path file = fs::path(option.substr(2)) / ("lib" + library + extension);
        hash.add(support::read_file(file).value_or(""));
      }
    }
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

  static BuildFailed failure(const Ran& ran, const std::string& sentence) {
    const bool is_full = ran.output.find("No space left on device") != std::string::npos;
    return {is_full ? "no space is left on the device of the cache or of temporary files" : sentence, ran.output};
  }

  /// g++ suggests another function of CUDA for one that is not emulated: in the message, and below its caret.
  static std::string without_suggestions(const std::string& messages) {
    std::string kept;
    std::string_view suggested;
    for (std::size_t at = 0; at < messages.size();) {
      const auto end = std::min(messages.find('\n', at), messages.size());
      std::string_view line = std::string_view(messages).substr(at, end - at);
      at = end + 1;
      if (const auto mark = line.find("; did you mean "); mark != std::string_view::npos) {
        suggested = quoted(line.substr(mark));
        line = line.substr(0, mark);
      }
      const bool is_correction = !suggested.empty() && line.ends_with(suggested) &&
                                 line.substr(0, line.size() - suggested.size()).find_first_not_of(" |") == line.npos;
      if (!is_correction) kept.append(line).push_back('\n');
    }
    return kept;
  }

  void check(const Ran& ran, const std::string& subject, Language language) const {
    if (ran.status == 0) return;
    Words missing = missing_in(ran.output);
    if (!missing.empty() && !program_.hip && missing.front().find(": hip") != std::string::npos)
      missing.front() += " in CUDA sources; with --hip they are of HIP";
    if (!missing.empty() && language == Language::host) {
      throw BuildFailed(fmt::format("{}: {}", first_error_in(ran.output), kernel_in_host_source), ran.output);
    }
    if (missing.size() == 1) throw BuildFailed(missing.front(), without_suggestions(ran.output));
    if (!missing.empty()) {
      throw BuildFailed(fmt::format("{} (and {} more above)", missing.front(), missing.size() - 1),
                        without_suggestions(ran.output));
    }
    const std::string first = first_error_in(ran.output);
    throw failure(ran, first.empty() ? fmt::format("{} does not compile", subject)
                                     : fmt::format("{} does not compile: {}", subject, first));
  }

  const Program& program_;
  const Toolchain& tools_;
  const fs::path& cache_;
  fs::path header_;
};

// --- Messages of compilers ---

struct Message {
  std::string_view place;  ///< "main.cu:12"
  std::string_view text;
};

/// "main.cu:12:5<mark>text".
std::optional<Message> parse_message(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view place = line.substr(0, at);
  const auto column = place.rfind(':');
  const bool has_column = column != std::string_view::npos && column + 1 < place.size() &&
                          place.find_first_not_of("0123456789", column + 1) == std::string_view::npos;
  if (has_column && place.find(':') != column) place = place.substr(0, column);
  return Message{place, line.substr(at + mark.size())};
}

std::optional<Message> parse_error(std::string_view line) {
  const auto error = parse_message(line, ": error: ");
  return error ? error : parse_message(line, ": fatal error: ");
}

/// Names that CUDA and its libraries use.
bool is_of_cuda(std::string_view name) {
  constexpr std::array prefixes{"hip",    "HIP",    "roc",     "rccl",  "cuda",     "CUDA",     "cublas",   "CUBLAS",
                                "curand", "CURAND", "cufft",   "CUFFT", "cusparse", "CUSPARSE", "cusolver", "CUSOLVER",
                                "cudnn",  "CUDNN",  "nvtx",    "nvml",  "nvrtc",    "nccl",     "thrust",   "cub",
                                "nvcuda", "cute",   "cutlass", "tex",   "surf",     "__"};
  const bool library =
      std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
  const bool driver =
      name.size() > 2 && (name.starts_with("cu") || name.starts_with("CU")) && name[2] >= 'A' && name[2] <= 'Z';
  return library || driver;
}

std::string sentence_for(const Message& message) {
  constexpr std::string_view attribute = "declared with attribute error: ";
  if (const auto at = message.text.find(attribute); at != std::string_view::npos) {
    return std::string(message.text.substr(at + attribute.size()));
  }
  constexpr std::string_view absent = ": No such file or directory";
  if (message.text.ends_with(absent)) {
    return fmt::format("there is no file {}", message.text.substr(0, message.text.size() - absent.size()));
  }
  if (message.text.find("is not emulated") != std::string_view::npos) {
    constexpr std::string_view assertion = "static assertion failed: ";
    return std::string(message.text.substr(message.text.starts_with(assertion) ? assertion.size() : 0));
  }
  constexpr std::array unknown{"was not declared",   "has not been declared", "does not name a type",
                               "is not a member of", "has no member named",   "is not a type",
                               "undeclared"};
  const bool is_unknown = std::any_of(unknown.begin(), unknown.end(), [&](std::string_view phrase) {
    return message.text.find(phrase) != std::string_view::npos;
  });
  const std::string_view name = quoted(message.text);
  if (is_unknown && is_of_cuda(name)) return fmt::format("{} is not emulated", name);
  return "";
}

template <class Visit>
void for_each_error(std::string_view messages, Visit visit) {
  std::optional<Message> user;  // the innermost use of a template, which a shim refuses
  for (std::size_t at = 0; at < messages.size();) {
    const auto end = std::min(messages.find('\n', at), messages.size());
    const std::string_view line = messages.substr(at, end - at);
    if (!user) user = parse_message(line, ":   required from ");
    if (auto error = parse_error(line)) {
      if (user && error->text.find("is not emulated") != std::string_view::npos) error->place = user->place;
      user.reset();
      if (!visit(*error)) return;
    }
    at = end + 1;
  }
}

}  // namespace

std::vector<std::string> missing_in(std::string_view messages) {
  std::vector<std::string> sentences, seen;
  for_each_error(messages, [&](const Message& message) {
    const std::string sentence = sentence_for(message);
    if (!sentence.empty() && std::find(seen.begin(), seen.end(), sentence) == seen.end()) {
      seen.push_back(sentence);
      sentences.push_back(fmt::format("{}: {}", message.place, sentence));
    }
    return true;
  });
  return sentences;
}

std::string first_error_in(std::string_view messages) {
  std::string first;
  for_each_error(messages, [&](const Message& message) {
    first = fmt::format("{}: {}", message.place, message.text);
    return false;
  });
  return first;
}

void keep_file(const fs::path& from, const fs::path& to) {
  if (to.has_parent_path()) fs::create_directories(to.parent_path());
  const fs::path part = to.string() + ".part";
  fs::copy_file(from, part, fs::copy_options::overwrite_existing);
  fs::rename(part, to);
}

fs::path build(const Program& program, const Toolchain& toolchain, const fs::path& cache) {
  const driver::EndsWithSentence signals("building the program");
  return CachedBuild(program, toolchain, cache).run();
}

std::string build_object(const Program& program, const Toolchain& toolchain, const fs::path& cache,
                         const fs::path& object) {
  const driver::EndsWithSentence signals("compiling");
  return CachedBuild(program, toolchain, cache).object(object);
}

}  // namespace bankwise::emulate
