// Shared by the fuzz targets: a violated requirement aborts the program, which libFuzzer reports.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <bankwise/banks/architecture.hpp>

namespace fuzz {

inline void require(bool promise, const char* words, const std::string& detail = "") {
  if (promise) return;
  std::fprintf(stderr, "broken: %s\n%s\n", words, detail.c_str());
  std::abort();
}

/// Whether the text is one message for a terminal: a line of ASCII.
inline bool is_sentence(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Takes bytes from the front of an input; yields zeros after its end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::uint64_t next(unsigned count) {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < count; ++i) number |= std::uint64_t{next()} << 8 * i;
    return number;
  }
  std::string rest() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

inline const bankwise::banks::Architecture& architecture(unsigned number) {
  const auto all = bankwise::banks::architectures();
  return all[number % all.size()];
}

}  // namespace fuzz
