#include "bankcheck/emulate/build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <future>
#include <set>

#include <bankwise/support/files.hpp>
#include <bankwise/support/numbers.hpp>
#include "bankcheck/driver/source_finder.hpp"

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;
using driver::Ran;
using driver::run_quietly;
using driver::TemporaryFolder;

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
std::string_view quoted_name(std::string_view text) {
  for (const auto& [open, close] : {std::pair<std::string_view, std::string_view>{"\u2018", "\u2019"}, {"'", "'"}}) {
    const auto begin = std::min(text.find(open), text.size()) + open.size(), end = text.find(close, begin);
    if (end != std::string_view::npos) return text.substr(begin, end - begin);
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
    std::vector<std::future<fs::path>> compiled;
    for (const std::string& source : program_.sources) {
      const auto when = compiled.empty() ? std::launch::deferred : std::launch::async;  // the first in this thread
      compiled.push_back(std::async(when, [&] { return compile_object(source); }));
    }
    std::vector<fs::path> objects;
    for (auto& object : compiled) objects.push_back(object.get());
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

  Words options(Language language) const {
    if (language == Language::c) {  // which nvcc leaves to the host's compiler
      Words words{"-O2", "-g"};
      append(words, program_.options);
      return words;
    }
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
    const CacheEntry entry(cache_, "headers", Hash(tools_.identity, options(Language::kernels)));
    header_ = entry / "program.hpp";
    const fs::path compiled = header_.string() + ".gch";
    if (is_current(entry.manifest)) return;
    std::ofstream(header_) << fmt::format("#include <{}>\n", program_.hip ? hip_header : tools_.header);
    const TemporaryFolder work(entry.folder);  // results leave it by rename
    Words command{tools_.compiler};
    append(command, options(Language::kernels));
    append(command, header_options({}, tools_.include));
    append(command, {"-x", "c++-header", header_.string(), "-o", work / "part"});
    const Ran ran = run_quietly(command);
    if (ran.status != 0) throw failure(ran, "g++ does not compile the emulator's own header");
    fs::rename(work / "part", compiled);
    write_manifest(entry.manifest, sizes_of({compiled}));
  }

  /// Options before the preprocessor's input.
  Words preprocessing(Language language) const {
    Words command{tools_.compiler, "-E"};
    append(command, options(language));
    if (language == Language::c) {
      append(command, header_options(program_));
      append(command, {"-x", "c"});
      return command;
    }
    command.emplace_back("-fpch-preprocess");
    if (language == Language::kernels) append(command, {"-include", header_.string()});
    append(command, header_options(program_, tools_.include));
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

  /// Writes what to compile in place of an expanded source.
  static void write_rewritten(const std::string& text, Language kind, const std::string& source, const fs::path& file) {
    try {
      const std::string changed = rewritten(text, kind);
      if (kind == Language::host && changed.find(launch_in_rewritten) != std::string::npos)
        throw BadLaunch(text.find("<<<"), std::string(kernel_in_host_source));
      const bool uses_thrust = includes_from(text, "/thrust/");
      std::ofstream(file, std::ios::binary) << changed << (uses_thrust ? thrust_marker : "")
                                            << (uses_thrust && kind == Language::kernels ? library_marker : "");
    } catch (const BadLaunch& bad) {
      throw BuildFailed(fmt::format("{}: {}", place_in(text, bad.offset, source), bad.what()), "");
    }
  }

  fs::path compile_object(const std::string& source) {
    const Language kind = language(source);
    if (kind == Language::object) return fs::absolute(source);
    Words preprocess = preprocessing(kind);
    const std::string folder = fs::current_path().string();  // of relative paths in messages and line information
    const CacheEntry entry(cache_, "objects", Hash(tools_.identity, preprocess, source, folder));
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
    append(compile, options(kind));
    if (kind == Language::c) {
      append(compile, {"-x", "cpp-output", work / "expanded.ii"});
    } else {
      write_rewritten(text, kind, source, work / "rewritten.ii");
      // CUB's classes name members as the templates that they are made of, which g++ would refuse.
      if (includes_from(text, "/cub/block/")) compile.emplace_back("-fpermissive");
      append(compile, {"-fpch-preprocess", "-x", "c++-cpp-output", work / "rewritten.ii"});
    }
    append(compile, {"-o", work / "part"});
    Ran ran = run_quietly(compile);
    if (ran.status != 0 && kind == Language::kernels && refuses_only_names(ran.output)) {
      compile.emplace_back("-fpermissive");
      ran = run_quietly(compile);
    }
    check(ran, source, kind);
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
    // Device compilers find what kernels call in static libraries whatever their order.
    link.push_back("-Wl,--start-group");
    append(link, names);
    link.push_back("-Wl,--end-group");
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

  /// Whether all errors are of members that are named as the types that they are made of, which nvcc and Clang accept.
  static bool refuses_only_names(const std::string& messages) {
    constexpr std::string_view refusal = " changes meaning of ";
    const auto is_other = [&](const std::string& line) {
      return line.find("error: ") != std::string::npos && line.find(refusal) == std::string::npos;
    };
    const Words lines = driver::lines_of(messages);
    return messages.find(refusal) != std::string::npos && std::none_of(lines.begin(), lines.end(), is_other);
  }

  /// g++ suggests another function of CUDA for one that is not emulated: in the message, and below its caret.
  static std::string without_suggestions(const std::string& messages) {
    std::string kept, suggested;
    for (std::string& line : driver::lines_of(messages)) {
      if (const auto mark = line.find("; did you mean "); mark != std::string::npos) {
        suggested = quoted_name(std::string_view(line).substr(mark));
        line.resize(mark);
      }
      const bool is_correction = !suggested.empty() && line.ends_with(suggested) &&
                                 line.find_first_not_of(" |") >= line.size() - suggested.size();
      if (!is_correction) kept += line + '\n';
    }
    return kept;
  }

  void check(const Ran& ran, const std::string& subject, Language language) const {
    if (ran.status == 0) return;
    const Words missing = missing_in(ran.output);
    const std::string first = first_error_in(ran.output);
    if (missing.empty()) {
      throw failure(ran, fmt::format("{} does not compile{}{}", subject, first.empty() ? "" : ": ", first));
    }
    if (language == Language::host) throw BuildFailed(fmt::format("{}: {}", first, kernel_in_host_source), ran.output);
    std::string sentence = missing.front();
    if (!program_.hip && sentence.find(": hip") != std::string::npos)
      sentence += " in CUDA sources; with --hip they are of HIP";
    if (missing.size() > 1) sentence += fmt::format(" (and {} more above)", missing.size() - 1);
    throw BuildFailed(sentence, without_suggestions(ran.output));
  }

  const Program& program_;
  const Toolchain& tools_;
  const fs::path& cache_;
  fs::path header_;
};

// --- Messages of compilers ---

struct Message {
  std::string place;  ///< "main.cu:12"
  std::string text;
};

/// "main.cu:12:5<mark>text".
std::optional<Message> parse_message(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view place = line.substr(0, at);
  const auto last = place.rfind(':');
  std::uint64_t column = 0;
  if (place.find(':') != last && support::parse_number(place.substr(last + 1), column)) place = place.substr(0, last);
  return Message{std::string(place), std::string(line.substr(at + mark.size()))};
}

/// Names that CUDA and its libraries use.
bool is_of_cuda(std::string_view name) {
  constexpr std::array prefixes{"hip",    "HIP",    "roc",     "rccl",  "cuda",     "CUDA",     "cublas",   "CUBLAS",
                                "curand", "CURAND", "cufft",   "CUFFT", "cusparse", "CUSPARSE", "cusolver", "CUSOLVER",
                                "cudnn",  "CUDNN",  "nvtx",    "nvml",  "nvrtc",    "nccl",     "thrust",   "cub",
                                "nvcuda", "cute",   "cutlass", "tex",   "surf",     "__"};
  const bool library = std::ranges::any_of(prefixes, [&](const char* prefix) { return name.starts_with(prefix); });
  const bool driver =
      name.size() > 2 && (name.starts_with("cu") || name.starts_with("CU")) && name[2] >= 'A' && name[2] <= 'Z';
  return library || driver;
}

std::string sentence_for(const Message& message) {
  constexpr std::string_view attribute = "declared with attribute error: ";
  if (const auto at = message.text.find(attribute); at != std::string::npos) {
    return message.text.substr(at + attribute.size());
  }
  constexpr std::string_view absent = ": No such file or directory";
  if (message.text.ends_with(absent)) {
    return fmt::format("there is no file {}", message.text.substr(0, message.text.size() - absent.size()));
  }
  if (message.text.find("is not emulated") != std::string::npos) {
    constexpr std::string_view assertion = "static assertion failed: ";
    return message.text.substr(message.text.starts_with(assertion) ? assertion.size() : 0);
  }
  constexpr std::string_view instruction = "no such instruction: `";
  if (message.text.starts_with(instruction)) {
    const std::string name = message.text.substr(instruction.size());
    return fmt::format("the instruction {} is not emulated", name.substr(0, name.find_first_of(" '")));
  }
  constexpr std::array unknown{"was not declared",   "has not been declared", "does not name a type",
                               "is not a member of", "has no member named",   "is not a type",
                               "undeclared"};
  const bool is_unknown =
      std::ranges::any_of(unknown, [&](const char* phrase) { return message.text.find(phrase) != std::string::npos; });
  const std::string_view name = quoted_name(message.text);
  if (is_unknown && is_of_cuda(name)) return fmt::format("{} is not emulated", name);
  return "";
}

std::vector<Message> errors_in(std::string_view messages) {
  std::vector<Message> errors;
  std::optional<Message> user;  // the innermost use of a template, which a shim refuses
  for (const std::string& line : driver::lines_of(messages)) {
    if (!user) user = parse_message(line, ":   required from ");
    auto error = parse_message(line, ": error: ");
    if (!error) error = parse_message(line, ": fatal error: ");
    if (!error) error = parse_message(line, ": Error: ");  // of the assembler
    if (!error) continue;
    if (user && error->text.find("is not emulated") != std::string::npos) error->place = user->place;
    user.reset();
    errors.push_back(*std::move(error));
  }
  return errors;
}

}  // namespace

std::vector<std::string> missing_in(std::string_view messages) {
  std::vector<std::string> sentences;
  std::set<std::string> seen;
  for (const Message& message : errors_in(messages)) {
    const std::string sentence = sentence_for(message);
    if (!sentence.empty() && seen.insert(sentence).second)
      sentences.push_back(fmt::format("{}: {}", message.place, sentence));
  }
  return sentences;
}

std::string first_error_in(std::string_view messages) {
  const std::vector<Message> errors = errors_in(messages);
  return errors.empty() ? "" : fmt::format("{}: {}", errors.front().place, errors.front().text);
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
