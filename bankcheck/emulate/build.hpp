// Builds a CUDA program for the CPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/driver/recorder.hpp"

namespace bankwise::emulate {

/// Of a command line.
using Words = std::vector<std::string>;
inline void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

struct Toolchain {
  std::string compiler, readelf;
  std::string script;                ///< define_dynamic_shared.sh
  std::vector<std::string> compile;  ///< g++'s options that instrument kernels
  std::vector<std::string> include;  ///< folders
  std::vector<std::string> link;     ///< options and libraries
  std::string header;                ///< that each source sees first
  std::string identity;              ///< changes with the emulator and the compiler
};

/// Reads a file of lines "key value"; paths that begin with @/ are relative to its folder. Error: std::runtime_error.
Toolchain read_toolchain(const std::filesystem::path& file);

/// The one next to bankcheck. Error: std::runtime_error if this bankcheck has none.
Toolchain find_toolchain();

/// What the emulator makes of a file: a source with kernels, one of C++ or C for the host, an object file or library.
enum class Language { kernels, host, c, object };

/// A program as the user gives it.
struct Program {
  std::vector<std::string> sources;               ///< and object files and libraries to link
  std::string language;                           ///< -x, for all sources: "cu", "hip", "c++"; empty: by their names
  bool hip = false;                               ///< its kernels are of HIP, not of CUDA
  std::string gpu;                                ///< of AMD, for HIP: "gfx942"; empty for those of NVIDIA
  unsigned wave = 0;                              ///< its lanes
  std::vector<std::string> include, definitions;  ///< the values of -I and -D
  std::string standard = "c++17";
  unsigned capability = 90;            ///< compute capability, times ten: for __CUDA_ARCH__
  std::vector<std::string> libraries;  ///< the values of -l: host libraries
  std::vector<std::string> options;    ///< for g++, to compile and to link
};

// --- Options as nvcc and hipcc have them ---

enum class OwnOption { none, flag, with_value };
using IsOwnOption = std::function<OwnOption(const std::string& name)>;

/// Options of bankcheck for those of nvcc and hipcc in a command line; what changes nothing here is dropped. Options
/// that begin with -- and that bankcheck has are its own. `makes_files`: for bankcheck nvcc and hipcc. Error:
/// UsageError for an option that asks for what the command does not make.
std::vector<std::string> without_compiler_spelling(const std::vector<std::string>& words, const IsOwnOption& is_own,
                                                   bool makes_files = false);

/// By -x, or by the file's extension; kernels for an unknown one. In a program of HIP a .cpp that includes HIP has
/// kernels, too.
Language language_of(const std::filesystem::path& file, const Program& program, const Toolchain& toolchain);
/// Whether a source is of HIP: by -x, by its extension, or because it includes HIP's headers.
bool is_hip(const Program& program, const Toolchain& toolchain);
/// The macros that nvcc or hipcc define when they compile kernels, as options of g++.
std::vector<std::string> compiler_macros(const Program& program);

/// The options -D and -I of a program, and -I for further folders.
std::vector<std::string> header_options(const Program& program, const std::vector<std::string>& further = {});

/// A program that does not compile. what() is a sentence; `details` are g++'s messages.
struct BuildFailed : driver::CommandFailed {
  BuildFailed(const std::string& sentence, std::string messages)
      : CommandFailed(support::exit_device, sentence, std::move(messages)) {}
};

/// The executable, from the cache if nothing has changed. Errors: BuildFailed; std::runtime_error.
std::filesystem::path build(const Program& program, const Toolchain& toolchain, const std::filesystem::path& cache);

/// Copies a file; whoever reads `to` meanwhile sees the old or the new one. Error: std::filesystem::filesystem_error.
void keep_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Compiles the only source of a program to an object file. Returns the rule of its headers, for make, without the
/// target: ": main.cu x.h". Errors: as build().
std::string build_object(const Program& program, const Toolchain& toolchain, const std::filesystem::path& cache,
                         const std::filesystem::path& object);

/// A file or folder of the CUDA Toolkit that CUDA_HOME or CUDA_PATH names, or of that in /usr/local/cuda; empty if
/// there is none.
std::filesystem::path find_in_toolkit(std::string_view name);
/// nvcc on the PATH, or in a toolkit.
std::filesystem::path find_nvcc();

/// Compiles each .cu of a program for its compute capability, with its source lines; from the cache if nothing has
/// changed. Errors: BuildFailed; std::runtime_error.
std::vector<std::filesystem::path> compile_cubins(const Program& program, const std::filesystem::path& nvcc,
                                                  const std::filesystem::path& cache);

/// Sentences such as "main.cu:12: cudaGraphLaunch is not emulated", each once, in the order of the messages. Empty if
/// the errors have other causes.
std::vector<std::string> missing_in(std::string_view messages);

/// The first error: "main.cu:12: expected ';' before ...". Empty if there is none.
std::string first_error_in(std::string_view messages);

// --- The cache: a second run with unchanged files compiles nothing ---

/// A hash of texts, for names in a cache: equal texts in equal order have equal hashes.
class Hash {
 public:
  explicit Hash(const auto&... parts) { (add(parts), ...); }
  void add(std::string_view text);
  void add(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(text);
  }
  std::string text() const;  ///< 32 hexadecimal digits

 private:
  std::uint64_t low_ = 0xCBF29CE484222325, high_ = 0x84222325CBF29CE4;
};

/// The folder of --cache, or bankwise in $XDG_CACHE_HOME or ~/.cache. Error: std::runtime_error if it cannot be made.
std::filesystem::path cache_folder(const std::string& wanted);

/// A line for each file, with a hash of its content as it is now; sizes_of() has its size, for files that are too large
/// to be read in every run.
std::string hashes_of(const std::vector<std::string>& files);
std::string sizes_of(const std::vector<std::string>& files);

/// Whether all files of a manifest, inputs and results, are there and as its lines say.
bool is_current(const std::filesystem::path& manifest);
/// `lines`: of hashes_of() and sizes_of().
void write_manifest(const std::filesystem::path& manifest, std::string_view lines);

/// The files that a rule of g++ -MD names after its target.
std::vector<std::string> files_in_rule(std::string_view rule);

/// The folder of what is made of some inputs. One process at a time uses it, until the end of the object.
class CacheEntry {
 public:
  CacheEntry(const std::filesystem::path& cache, std::string_view kind, const Hash& inputs);
  CacheEntry(const CacheEntry&) = delete;
  CacheEntry& operator=(const CacheEntry&) = delete;
  ~CacheEntry();
  std::filesystem::path operator/(const std::filesystem::path& name) const { return folder / name; }

  const std::filesystem::path folder, manifest;

 private:
  int lock_;
};

/// Removes entries that no run has used for a month.
void clean(const std::filesystem::path& cache);

// --- Sources: the syntax that only nvcc has becomes C++ ---

// Launches of kernels.
//
//   kernel<a, b><<<grid, block, bytes, stream>>>(x, y);
//   ::bankwise::emulator::runtime::launching([&](auto&&... bankwise_a) ... { kernel<a, b>(bankwise_a...); })
//       .at(grid, block, bytes, stream)(x, y);
//
// Everything stays on its line. The arguments are evaluated once, before the launch, and the lambda calls the kernel
// for each lane: so overloads, deduced template arguments and default arguments are those of a call.
//
// Inline PTX becomes calls of the emulator (common/bankwise/emulator/cuda/ptx.hpp):
//
//   asm volatile("bfe.u32 %0, %1, 4, 8;" : "=r"(x) : "r"(y) : "memory")
//   ::bankwise::emulator::device::ptx<true>([] { return "bfe.u32 %0, %1, 4, 8;"; },
//       ::bankwise::emulator::device::ptx_out(x), ::bankwise::emulator::device::ptx_in(y))

/// A launch that is not understood.
struct BadLaunch : std::runtime_error {
  BadLaunch(std::size_t offset_, const std::string& sentence) : std::runtime_error(sentence), offset(offset_) {}
  std::size_t offset;  ///< in the source
};

/// Rewrites a source: the whole of it after the preprocessor, or one that has not seen it. Inline assembler of a source
/// for the host is no PTX. Error: BadLaunch.
std::string rewritten(std::string_view source, Language language = Language::kernels);
/// How the call begins that a launch becomes.
inline constexpr std::string_view launch_in_rewritten = "::bankwise::emulator::runtime::launching";

/// "file.cu:12" for a place in a source that the preprocessor has written, by its line markers.
std::string place_in(std::string_view source, std::size_t offset, std::string_view name);

}  // namespace bankwise::emulate
