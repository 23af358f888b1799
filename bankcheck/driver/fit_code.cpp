#include "bankcheck/driver/fit_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <bankwise/support/numbers.hpp>

namespace bankwise::driver {
namespace {

using fit::ArrayFit;
using fit::ArrayShape;
using fit::IndexForm;
using fit::PricedOption;
using support::grouped;

std::string in_brackets(const std::vector<std::string>& indices) {
  return fmt::format("[{}]", fmt::join(indices, "]["));
}

std::string without_brackets(const std::string& text) { return text.substr(1, text.size() - 2); }

/// Of an array whose declaration is not known; "" if they are the old ones.
std::string new_lengths(const WrittenArray& code, const std::vector<std::uint64_t>& lengths) {
  if (lengths == code.shape.lengths) return "";
  const bool only_rows = std::equal(lengths.begin(), lengths.end() - 1, code.shape.lengths.begin());
  return only_rows ? fmt::format("rows of {} elements", lengths.back())
                   : fmt::format("{}[{}]", code.name, fmt::join(lengths, "]["));
}

/// Of an array whose indices have rows.
LayoutCode row_code(const WrittenArray& code, const ArrayShape& plane, const fit::Change& change) {
  std::vector<std::string> lengths = code.dimensions, names = fit::subscript_names(lengths.size() + 1);
  lengths.back() = rows_text(change, plane, lengths.back(), code.pitch);
  names.resize(names.size() - 2);
  const std::string planes = names.empty() ? "" : in_brackets(names);
  return {.declaration = lengths == code.dimensions ? "" : code.name + in_brackets(lengths),
          .old_index = code.name + planes + row_index_text({}, plane, "y", "x", code.pitch),
          .index = code.name + planes + row_index_text(change, plane, "y", "x", code.pitch),
          .number = ""};
}

/// The declaration with the option, or the part of it that changes; "" if nothing does.
std::string new_declaration(const ArrayFit& array, const WrittenArray& code, const PricedOption& option,
                            IndexForm form) {
  const fit::Change& change = option.option.change;
  const bool longer = option.option.bytes > array.facts.extent;
  auto after = code.dimensions.empty() ? code.dimensions : dimension_texts(change, code.shape, form, code.operands);
  for (std::size_t d = 0; after.size() == code.dimensions.size() && d < after.size(); ++d) {
    if (after[d] == code.operands[d]) after[d] = code.dimensions[d];
  }
  if (after != code.dimensions) return code.name + in_brackets(after);
  if (longer && code.dynamic) return fmt::format("{} bytes at the launch", grouped(option.option.bytes));
  if (form != IndexForm::flat) return new_lengths(code, *lengths_after(change, code.shape));
  if (longer) return fmt::format("{} elements", grouped(option.option.bytes / code.shape.element));
  return change.sequential ? to_text(change) : "";
}

}  // namespace

bool is_dynamic(std::string_view name, const std::optional<ArraySource>& source, bool is_opencl) {
  if (source) return source->declaration.dimensions.front().empty();
  // Every array in local memory is declared in OpenCL, so this one is an argument of the kernel.
  return is_opencl || name == "dynamic shared memory";
}

WrittenArray ChangedArray::written() const {
  const bool named = array.name.find(' ') == std::string::npos;
  WrittenArray code{
      .name = named ? array.name : "array", .shape = array.shape, .dynamic = is_dynamic(array.name, source, is_opencl)};
  if (source) {
    const fit::Declaration& declared = source->declaration;
    code.name = declared.name;
    const bool has_rows = fit::has_rows(declared, array.shape);
    if (has_rows) code.pitch = text_of_pitch(declared);
    code.by_number = !code.dynamic && !has_rows && declared.dimensions.size() != array.shape.lengths.size();
    if (!code.by_number && !code.dynamic) {
      code.head = fmt::format("{} {} ", declared.qualifier, declared.type);
      code.dimensions = code.operands = declared.dimensions;
      for (std::string& operand : code.operands) operand = with_parentheses(declared, operand);
    }
  }
  if (code.by_number || code.dynamic) code.shape.lengths = {array.facts.extent / array.shape.element};
  return code;
}

std::vector<ChangedArray> changed_arrays(const KernelFitReport& report) {
  std::vector<ChangedArray> changed;
  for (std::size_t i = 0; i < report.fit.arrays.size(); ++i) {
    const ArrayFit& array = report.fit.arrays[i];
    if (array.chosen > 0) changed.push_back({array, report.sources[i], report.is_opencl});
  }
  return changed;
}

LayoutCode layout_code(const ArrayFit& array, const WrittenArray& code, const PricedOption& option) {
  const fit::Change& change = option.option.change;
  if (!code.pitch.empty()) {
    const auto form = form_of(change, code.shape);
    const auto plane =
        form == IndexForm::rows || form == IndexForm::columns ? shape_of_plane(change, code.shape) : std::nullopt;
    if (plane) return row_code(code, *plane, change);
    WrittenArray line = code;
    line.pitch.clear();
    const std::uint64_t pitch = line.shape.lengths.back();
    line.shape.lengths.pop_back();
    line.shape.lengths.back() *= pitch;
    return layout_code(array, line, option);
  }
  const auto form = form_of(change, code.shape);
  LayoutCode layout;
  if (!form || change.sequential) layout.declaration = to_text(change);
  if (!form || *form == IndexForm::none) return layout;
  if (*form == IndexForm::elements) {
    layout.declaration = fmt::format("elements of {} bytes", code.shape.element + change.pads[0].bytes);
    return layout;
  }
  layout.declaration = new_declaration(array, code, option, *form);
  if (*form == IndexForm::rows) return layout;
  const auto names = fit::subscript_names(code.shape.lengths.size());
  if (code.by_number) {
    layout.number = "the number of the element from the start of " + code.name;
    layout.old_index = "i";
    layout.index = without_brackets(index_text(change, code.shape, *form, {"i"}));
    return layout;
  }
  layout.old_index = code.name + in_brackets(names);
  if (*form == IndexForm::flat && names.size() > 1) {
    layout.number = without_brackets(index_text({}, code.shape, *form, names));
    layout.index = code.name + index_text(change, {code.shape.element, {1}}, *form, {"i"});
  } else {
    layout.index = code.name + index_text(change, code.shape, *form, names);
  }
  return layout;
}

std::string code_of(const LayoutCode& layout) {
  const char* separator = layout.declaration.empty() || layout.index.empty() ? "" : ", ";
  return layout.declaration + separator + layout.index;
}

std::string chosen_text(const ChangedArray& changed) {
  const ArrayFit& array = changed.array;
  const WrittenArray code = changed.written();
  const LayoutCode layout = layout_code(array, code, array.after());
  if (layout.index.empty() && !code.dimensions.empty() && layout.declaration.starts_with(code.name)) {
    return fmt::format("{}{} -> {}", code.name, in_brackets(code.dimensions), layout.declaration);
  }
  if (layout.index.empty()) return fmt::format("{}: {}", code.name, layout.declaration);
  const bool has_other_rows = array.after().option.change.rows.from > 0 && !layout.declaration.empty();
  const std::string text = fmt::format("{}{}{} -> {}", has_other_rows ? layout.declaration : "",
                                       has_other_rows ? ", " : "", layout.old_index, layout.index);
  return layout.number.empty() ? text : fmt::format("{} with i = {}", text, layout.number);
}

}  // namespace bankwise::driver
