// Where the arrays of a trace are declared.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bankcheck/driver/fit_report.hpp"

namespace bankwise::driver {

/// The lines that use an array, in each file; those of the kernel's own text, as its compiler knew them, under "".
using UsedLines = std::map<std::string, std::set<unsigned>>;

/// Those of each array of a kernel.
std::vector<UsedLines> used_lines(const KernelReport& kernel, const trace::KernelTrace& kernel_trace);

/// Looks for declarations in the files that `finder` may read, then in the texts of OpenCL programs.
class ArraySources {
 public:
  ArraySources(const trace::Trace& trace, const SourceFinder& finder) : trace_(trace), finder_(finder) {}

  std::optional<ArraySource> find(const trace::KernelTrace& kernel_trace, const trace::Array& used_array,
                                  const UsedLines& files);

 private:
  void note_launches(ArraySource& source);
  const std::string& text_of(const std::string& path);
  const std::vector<std::string_view>& headers_of(const std::string& path);
  void add_includers(const std::string& path, std::vector<std::string_view>& headers);
  void add_headers(const std::string& path, std::string_view text, std::vector<std::string_view>& headers);

  const trace::Trace& trace_;
  const SourceFinder& finder_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::string_view>> headers_;  // of texts_, by path
  std::map<std::string, std::vector<std::string>> naming_;        // the files that name a function
};

/// Only in the text that the program gives to its OpenCL driver.
std::optional<ArraySource> find_in_own_text(const trace::Trace& trace, const trace::KernelTrace& kernel_trace,
                                            const trace::Array& used_array, const UsedLines& files);

/// Which loads of the source the machine code of a kernel saves.
fit::CompiledLoads compiled_loads(const KernelReport& kernel, const trace::KernelTrace& kernel_trace,
                                  const trace::Array& array, const ArraySource& source);

/// As far as the code says it. Nothing: what the accesses suggest.
std::optional<fit::ArrayShape> shape_of(const trace::Array& array, const std::optional<ArraySource>& source,
                                        bool is_opencl);

}  // namespace bankwise::driver
