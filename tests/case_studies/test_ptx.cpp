// SPDX-License-Identifier: MIT
//
// Every .cuh together with all others, as PTX that the build has compiled. Shared-memory accesses are the pinned ones,
// and a kernel that an architecture cannot run traps there.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"
#include "tests/pinned_accesses.hpp"

namespace {

/// The text of each kernel in a file of PTX, by the kernel's name.
std::map<std::string, std::string> kernels_in(const std::string& file) {
  std::ifstream stream(std::filesystem::path(PTX_DIRECTORY) / file);
  const std::string ptx{std::istreambuf_iterator<char>(stream), {}};
  std::map<std::string, std::string> kernels;
  const std::regex entry(R"(\.entry _Z(\d+)(\w+))");  // mangled: the name's length, and the name
  for (std::sregex_iterator match(ptx.begin(), ptx.end(), entry), end; match != end; ++match) {
    const std::size_t begin = match->position(), past = ptx.find(".entry", begin + 1);
    kernels[(*match)[2].str().substr(0, std::stoul((*match)[1]))] = ptx.substr(begin, past - begin);
  }
  return kernels;
}

/// "transpose_tma", of "transpose/tma".
std::string kernel_of(const std::string& file) {
  const std::size_t slash = file.find('/');
  const auto* const* const study = std::find_if(std::begin(all_case_studies), std::end(all_case_studies),
                                                [&](const auto* each) { return each->name == file.substr(0, slash); });
  if (study == std::end(all_case_studies)) throw std::runtime_error("no case study has the kernel " + file);
  return std::string((*study)->kernel_prefix) + file.substr(slash + 1);
}

}  // namespace

TEST_CASE("case_studies/ptx/pinned_accesses") {
  const auto kernels = kernels_in("compute_90.ptx");
  CHECK(kernels.size() >= pinned_accesses.size());
  for (const auto& [file, pinned] : pinned_accesses) {
    INFO(file);
    REQUIRE(kernels.count(kernel_of(file)) == 1);
    const AccessCounts counts = shared_accesses(kernels.at(kernel_of(file)));
    for (const auto& [access, count] : counts) UNSCOPED_INFO(access << " " << count);
#if NVCC_IS_PINNED
    CHECK(counts == pinned);
#else
    CHECK(widths(counts) == widths(pinned));
#endif
  }
}

TEST_CASE("case_studies/ptx/traps") {
  for (const auto& [file, capability] : {std::pair("compute_80.ptx", 80U), {"compute_90.ptx", 90U}}) {
    const auto kernels = kernels_in(file);
    unsigned traps = 0;
    for (const bankwise::CaseStudy* study : all_case_studies) {
      for (const auto& image : study->kernels->images) {
        INFO(file << " " << image.name);
        REQUIRE(kernels.count(std::string(image.name)) == 1);
        const bool does = kernels.at(std::string(image.name)).find("trap;") != std::string::npos;
        CHECK(does == (image.cuda_capability > capability));
        traps += does;
      }
    }
    CHECK((traps > 0) == (capability < 90));
  }
}
