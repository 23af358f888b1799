// The options of nvcc and hipcc, as those of bankcheck emulate.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/emulate/build.hpp"

namespace bankwise::emulate {
namespace {

enum class Takes { nothing, value, rest };  ///< `rest`: of the word, as in -O3

/// What becomes of an option of a compiler. It is dropped if it changes nothing here: machine code, debug information,
/// warnings, and libraries that the emulator replaces. A `step` is for bankcheck nvcc and hipcc, which make files;
/// bankcheck emulate refuses it. They have `rule`, too, which bankcheck emulate drops.
enum class Becomes { nothing, own, macro, for_gpp, architecture, standard, library, step, rule, refusal };

struct CompilerOption {
  std::string_view names;  ///< separated by blanks, without their one or two dashes
  Takes takes;
  Becomes becomes;
  std::string_view text;  ///< bankcheck's option, or g++'s; of a refusal what the option does
};

constexpr std::string_view other_output = "makes no program to run";
constexpr CompilerOption compiler_options[]{
    {"G device-debug", Takes::nothing, Becomes::macro, "__CUDACC_DEBUG__"},
    {"dc device-c", Takes::nothing, Becomes::macro, "__CUDACC_RDC__"},  // and a step
    {"expt-relaxed-constexpr", Takes::nothing, Becomes::macro, "__CUDACC_RELAXED_CONSTEXPR__"},
    {"extended-lambda expt-extended-lambda", Takes::nothing, Becomes::macro, "__CUDACC_EXTENDED_LAMBDA__"},
    {"g debug lineinfo generate-line-info pg profile use_fast_math w disable-warnings v m64 restrict src-in-ptx keep "
     "save-temps res-usage resource-usage extra-device-vectorization dlto dlink-time-opt "
     "forward-unknown-to-host-compiler allow-unsupported-compiler fgpu-rdc fno-gpu-rdc munsafe-fp-atomics "
     "mno-unsafe-fp-atomics ffast-math fgpu-flush-denormals-to-zero MP",
     Takes::nothing, Becomes::nothing},
    {"rdc relocatable-device-code maxrregcount ftz prec-div prec-sqrt fmad Xptxas ptxas-options Xnvlink nvlink-options "
     "Xcudafe cudafe-options Xfatbin fatbin-options cudart cudadevrt ccbin compiler-bindir default-stream "
     "diag-suppress diag-warn diag-error t threads split-compile keep-dir odir optimize "
     "dopt gpu-max-threads-per-block ffp-contract rocm-path rocm-device-lib-path hip-path target-dir "
     "Rpass Rpass-missed Rpass-analysis",
     Takes::value, Becomes::nothing},
    {"O W g", Takes::rest, Becomes::nothing},
    {"std", Takes::value, Becomes::standard},
    {"arch gpu-architecture gpu-code code gencode generate-code offload-arch amdgpu-target", Takes::value,
     Becomes::architecture},
    {"x", Takes::value, Becomes::own, "-x"},
    {"o output-file", Takes::value, Becomes::own, "-o"},
    {"include-path system-include isystem", Takes::value, Becomes::own, "-I"},
    {"define-macro", Takes::value, Becomes::own, "-D"},
    {"library", Takes::value, Becomes::own, "-l"},
    {"l", Takes::rest, Becomes::library},
    {"Xcompiler compiler-options", Takes::value, Becomes::for_gpp},
    {"L library-path", Takes::value, Becomes::for_gpp, "-L"},
    {"L", Takes::rest, Becomes::for_gpp, "-L"},
    {"U undefine-macro", Takes::value, Becomes::for_gpp, "-U"},
    {"U", Takes::rest, Becomes::for_gpp, "-U"},
    {"include pre-include", Takes::value, Becomes::for_gpp, "-include,"},
    {"Xlinker linker-options", Takes::value, Becomes::for_gpp, "-Xlinker,"},
    {"fopenmp pthread fPIC fpic fPIE fpermissive fno-strict-aliasing", Takes::nothing, Becomes::for_gpp},
    {"march mtune", Takes::value, Becomes::nothing},
    {"c compile", Takes::nothing, Becomes::step, "--compile"},
    {"M MM generate-dependencies", Takes::nothing, Becomes::step, "--only-rule"},
    {"lib emit-static-lib", Takes::nothing, Becomes::step, "--archive"},
    {"dlink device-link", Takes::nothing, Becomes::step, "--device-link"},
    {"V", Takes::nothing, Becomes::step, "--compiler-version"},
    {"MD MMD generate-dependencies-with-compile generate-nonsystem-dependencies-with-compile", Takes::nothing,
     Becomes::rule, "--rule"},
    {"MF dependency-output", Takes::value, Becomes::rule, "--rule-file"},
    {"MT MQ dependency-target-name", Takes::value, Becomes::rule, "--rule-target"},
    {"E preprocess ptx cubin fatbin optix-ir S shared dryrun emit-llvm", Takes::nothing, Becomes::refusal,
     other_output},
    {"m32", Takes::nothing, Becomes::refusal, "makes a program of 32 bits"},
};

/// Libraries that the emulator replaces, or whose functions it does not have: those are errors when they are used.
constexpr std::array replaced_libraries{"cuda",      "cudart",     "cudart_static", "cudadevrt", "cublas",  "cublasLt",
                                        "cufft",     "curand",     "cusparse",      "cusolver",  "cudnn",   "nvrtc",
                                        "nvidia-ml", "nvToolsExt", "nccl",          "amdhip64",  "hip_hcc", "hipblas",
                                        "hipblaslt", "rocblas",    "hiprand",       "rocrand",   "hipfft",  "rocfft",
                                        "hipsparse", "rocsparse",  "hipsolver",     "rocsolver", "rccl",    "MIOpen",
                                        "hiprtc",    "roctx64",    "cublas_static"};

/// The name and the row of a word, as the table has it; nothing for options that no compiler has.
const CompilerOption* find_option(std::string_view word, std::string_view& name) {
  const bool has_two_dashes = word.starts_with("--");
  const std::string_view plain = word.substr(has_two_dashes ? 2 : 1);
  const std::string_view whole = plain.substr(0, plain.find('='));
  for (const CompilerOption& row : compiler_options) {
    if (row.takes != Takes::rest && support::has_word(row.names, whole)) return name = whole, &row;
  }
  for (const CompilerOption& row : compiler_options) {
    if (row.takes == Takes::rest && !has_two_dashes && support::has_word(row.names, plain.substr(0, 1)))
      return name = plain.substr(0, 1), &row;
  }
  return nullptr;
}

/// c++17 is the oldest standard that the emulator's headers allow.
std::string standard_of(std::string value) {
  if (value.starts_with("gnu++")) value.replace(0, 3, "c");
  if (value == "c++11" || value == "c++0x" || value == "c++14" || value == "c++1y" || value == "c++1z") return "c++17";
  return value == "c++2a" ? "c++20" : value == "c++2b" ? "c++23" : value;
}

/// Adds "sm_80" for compute_80, sm_80a and arch=compute_80,code=[sm_80,compute_80]; gfx90a:xnack- is gfx90a. Nothing
/// for native, all and so on.
void add_architectures(Words& architectures, const std::string& value) {
  for (std::size_t at = 0; at < value.size();) {
    const auto end = std::min(value.find_first_of(",=[]\"'", at), value.size());
    std::string name = value.substr(at, end - at);
    at = end + 1;
    if (name.starts_with("gfx")) architectures.push_back(name.substr(0, name.find(':')));
    for (const std::string_view prefix : {"compute_", "sm_", "lto_"}) {
      if (!name.starts_with(prefix)) continue;
      const auto digits = name.find_first_not_of("0123456789", prefix.size());
      architectures.push_back("sm_" + name.substr(prefix.size(), digits - prefix.size()));
    }
  }
}

/// The newest GPU of NVIDIA that is named, as such a program runs there; all of AMD's.
std::string chosen(const Words& architectures) {
  std::string newest, all;
  for (const std::string& name : architectures) {
    const auto is_newer = [&] { return name.size() != newest.size() ? name.size() > newest.size() : name > newest; };
    if (name.starts_with("sm_") && is_newer()) newest = name;
    const bool is_new = ("," + all + ",").find("," + name + ",") == std::string::npos;
    if (name.starts_with("gfx") && is_new) all += (all.empty() ? "" : ",") + name;
  }
  return all.empty() ? newest : all;
}

/// The parts of nvcc's -Xcompiler "-Wall,-O2 -fopenmp".
std::string list_of(std::string value) {
  std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
  std::replace(value.begin(), value.end(), ' ', ',');
  return value;
}

/// Turns the words of a compiler's command line into bankcheck's.
class Translation {
 public:
  Translation(const Words& words, const IsOwnOption& is_own, bool makes_files)
      : words_(words), is_own_(is_own), makes_files_(makes_files) {}

  Words operator()() {
    for (; i_ < words_.size(); ++i_) take(words_[i_]);
    const std::string architecture = chosen(architectures_);
    if (!architecture.empty() && !has_architecture_) own_.insert(own_.begin(), {"--arch", architecture});
    return std::move(own_);
  }

 private:
  void take(const std::string& word) {
    const auto equals = word.find('=');
    const bool is_short = word == "-I" || word == "-D" || word == "-l";
    std::string_view name;
    const bool is_option = word.size() > 1 && word.front() == '-';
    if (is_option && (is_short || (word.starts_with("--") && is_own_(word.substr(0, equals)) != OwnOption::none))) {
      take_own(word, is_short || (equals == std::string::npos && is_own_(word) == OwnOption::with_value));
    } else if (const CompilerOption* option = is_option ? find_option(word, name) : nullptr) {
      replace(word, name, *option, value_of(word, *option));
    } else {
      own_.push_back(word);  // a file, one of bankcheck's short options, or what CLI11 refuses
    }
  }

  void take_own(const std::string& word, bool needs_value) {
    has_architecture_ |= word.starts_with("--arch");
    own_.push_back(word);
    if (word.starts_with("--std=")) own_.back() = "--std=" + standard_of(word.substr(word.find('=') + 1));
    if (!needs_value || i_ + 1 == words_.size()) return;
    own_.push_back(words_[++i_]);
    if (word == "--std") own_.back() = standard_of(own_.back());
  }

  std::string value_of(const std::string& word, const CompilerOption& option) {
    const auto equals = word.find('=');
    if (option.takes == Takes::rest) return word.substr(2);
    if (equals != std::string::npos) return word.substr(equals + 1);
    if (option.takes == Takes::nothing) return "";
    if (i_ + 1 == words_.size()) throw support::UsageError(fmt::format("{} needs a value", support::in_quotes(word)));
    return words_[++i_];
  }

  void replace(const std::string& word, std::string_view name, const CompilerOption& option, const std::string& value) {
    const std::string text(option.text);
    switch (option.becomes) {
      case Becomes::nothing: break;
      case Becomes::macro:
        append(own_, {"-D", text});
        if (makes_files_ && name.starts_with('d')) own_.emplace_back("--compile");
        break;
      case Becomes::own: append(own_, {text, value}); break;
      case Becomes::standard: append(own_, {"--std", standard_of(value)}); break;
      case Becomes::architecture: add_architectures(architectures_, value); break;
      case Becomes::library:
        if (std::ranges::find(replaced_libraries, value) == replaced_libraries.end()) own_.push_back(word);
        break;
      case Becomes::for_gpp: {
        const std::string for_gpp = option.takes == Takes::nothing ? word : text + list_of(value);
        if (!for_gpp.empty()) own_.push_back("--compiler-options=" + for_gpp);
        break;
      }
      case Becomes::rule:
        if (makes_files_) add_step(option, value);
        break;
      case Becomes::step: makes_files_ ? add_step(option, value) : refuse(word, other_output); break;
      case Becomes::refusal: refuse(word, option.text);
    }
  }

  void add_step(const CompilerOption& option, const std::string& value) {
    own_.emplace_back(option.text);
    if (option.takes == Takes::value) own_.push_back(value);
  }

  [[noreturn]] void refuse(const std::string& word, std::string_view why) const {
    throw support::UsageError(
        fmt::format("{} {}: bankcheck {}", word, why,
                    makes_files_ ? "compiles for the CPU" : "emulate builds a program and runs it"));
  }

  const Words& words_;
  const IsOwnOption& is_own_;
  const bool makes_files_;
  std::size_t i_ = 0;
  Words own_, architectures_;
  bool has_architecture_ = false;
};

}  // namespace

std::vector<std::string> without_compiler_spelling(const std::vector<std::string>& words, const IsOwnOption& is_own,
                                                   bool makes_files) {
  return Translation(words, is_own, makes_files)();
}

}  // namespace bankwise::emulate
