// SPDX-License-Identifier: MIT
#include <bankwise/trace/diagnosis_text.hpp>

#include <fmt/format.h>

namespace bankwise::trace {

std::string sentence_of(const Diagnosis& diagnosis) {
  const FaultRow& row = row_of(diagnosis.fault);
  std::string text = fmt::format("{}{}: {}", row.is_remark ? "remark: " : "", row.name, diagnosis.text);
  if (diagnosis.count > 1) text += fmt::format("; {} times", diagnosis.count);
  if (diagnosis.ended) text += "; this ended the launch";
  return text;
}

std::string placed_sentence_of(const Diagnosis& diagnosis, const KernelTrace& kernel) {
  const Site& site = kernel.sites[diagnosis.site];
  const std::string place = site.line == 0 ? "?" : fmt::format("{}:{}", site.file, site.line);
  return fmt::format("{}: {}", place, sentence_of(diagnosis));
}

}  // namespace bankwise::trace
