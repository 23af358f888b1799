// Every .cuh together with all others, as PTX that the build has compiled. Shared-memory accesses are those of
// study.json: a compiler that merges or splits them would change the bank conflicts. A kernel that an architecture
// cannot run traps.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"
#include "tests/shared_accesses.hpp"

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

}  // namespace

TEST_CASE("case_studies/ptx/pinned_accesses") {
  const auto kernels = kernels_in("compute_90.ptx");
  for (const bankwise::study::CaseStudy* study : all_case_studies) {
    if (!facts(*study).contains("kernels")) continue;
    CHECK(facts(*study).at("kernels").size() == study->kernels->images.size());
    for (const auto& image : study->kernels->images) {
      INFO(image.name);
      const AccessCounts pinned = kernel_facts(*study, image.name).at("ptx");
      const AccessCounts counts = shared_accesses(kernels.at(std::string(image.name)));
      for (const auto& [access, count] : counts) UNSCOPED_INFO(access << " " << count);
#if NVCC_IS_PINNED
      CHECK(counts == pinned);
#else
      CHECK(widths(counts) == widths(pinned));
#endif
    }
  }
}

TEST_CASE("case_studies/ptx/traps") {
  for (const auto& [file, capability] : {std::pair("compute_80.ptx", 80U), {"compute_90.ptx", 90U}}) {
    const auto kernels = kernels_in(file);
    unsigned traps = 0;
    for (const bankwise::study::CaseStudy* study : all_case_studies) {
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
