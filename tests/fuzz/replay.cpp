// Runs the fuzzers' corpus through the fuzz targets, with any compiler and without a fuzzer.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fs = std::filesystem;

// CMake lists the targets: X(trace) X(cubin) ...
#define X(name) int fuzz_##name(const std::uint8_t* data, std::size_t size);
extern "C" {
FUZZ_TARGETS
}
#undef X

namespace {

struct Target {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};
#define X(name) {#name, fuzz_##name},
constexpr Target targets[]{FUZZ_TARGETS};
#undef X

/// The number of files of the directory that were run.
std::size_t replay(const Target& target, const fs::path& directory) {
  std::size_t files = 0;
  if (!fs::is_directory(directory)) return 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    // If the program crashes, the last printed name is that of the cause.
    std::fprintf(stderr, "\r%s", entry.path().c_str());
    target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  std::fprintf(stderr, "\n");
  return files;
}

}  // namespace

int main(int argc, char** argv) try {
  const fs::path corpus = argc > 1 ? argv[1] : "tests/fuzz/corpus";
  for (const Target& target : targets) {
    const std::size_t files = replay(target, corpus / target.name);
    std::printf("%s: %zu files\n", target.name, files);
    if (files == 0) {
      std::printf("the corpus %s is empty\n", (corpus / target.name).c_str());
      return 1;
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "\n%s\n", error.what());
  return 1;
}
