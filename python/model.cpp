// The module bankwise._model: the bank model for the package's Python, which checks and documents the arguments.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <bankwise/support/text.hpp>
#include "bankcheck/predict/predict.hpp"

namespace nb = nanobind;

namespace {

using namespace bankwise;

using Addresses = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Masks = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// What all accesses of a call have in common.
struct Kind {
  const banks::Architecture* architecture;
  banks::Operation operation;
  unsigned width;
  predict::Space space;
};

Kind kind_of(const std::string& arch, const std::string& op, unsigned width, const std::string& space) {
  const banks::Architecture* architecture = banks::find_architecture(arch);
  if (architecture == nullptr) {
    throw std::invalid_argument(
        fmt::format("no architecture is named {}; bankwise.architectures() lists them", support::in_quotes(arch)));
  }
  const auto operation = banks::operation_named(op);
  if (!operation) throw std::invalid_argument(fmt::format("no operation is named {}", support::in_quotes(op)));
  if (space != "shared" && space != "global") {
    throw std::invalid_argument(fmt::format("space is 'shared' or 'global', not {}", support::in_quotes(space)));
  }
  return {architecture, *operation, width, space == "global" ? predict::Space::global : predict::Space::shared};
}

constexpr std::size_t shared_columns = 5, global_columns = 4;

/// Writes the numbers of one access, in the order of the Python classes Cost and SectorCost. Returns why it has none.
std::optional<std::string> write_cost(const Kind& kind, const banks::Access& access, std::uint32_t* numbers) {
  if (kind.space == predict::Space::global) {
    const auto outcome = predict::sectors_or_refusal(*kind.architecture, access);
    if (const auto* sentence = std::get_if<std::string>(&outcome)) return *sentence;
    const auto& cost = std::get<banks::SectorCost>(outcome);
    for (const unsigned number : {cost.sectors, cost.ideal, cost.lines, cost.bytes}) *numbers++ = number;
    return std::nullopt;
  }
  const auto outcome = banks::cost(*kind.architecture, access);
  if (const auto* refusal = std::get_if<banks::Refusal>(&outcome))
    return banks::sentence(*kind.architecture, access, *refusal);
  const auto& cost = std::get<banks::Cost>(outcome);
  for (const unsigned number : {cost.passes, cost.ideal, cost.conflicts, cost.passes_max, cost.conflicts_max})
    *numbers++ = number;
  return std::nullopt;
}

/// One row of numbers for each row of addresses.
nb::ndarray<nb::numpy, std::uint32_t> costs(const Addresses& addresses, const Masks& masks,
                                            const std::optional<Addresses>& sources, const std::string& arch,
                                            const std::string& op, unsigned width, const std::string& space) {
  const Kind kind = kind_of(arch, op, width, space);
  const std::size_t accesses = addresses.shape(0), lanes = addresses.shape(1);
  const std::size_t columns = kind.space == predict::Space::global ? global_columns : shared_columns;
  auto numbers = std::make_unique<std::uint32_t[]>(accesses * columns);
  std::optional<std::string> refused;
  std::size_t at = 0;
  {
    const nb::gil_scoped_release release;
    for (; at < accesses && !refused; ++at) {
      banks::Access access{kind.operation, width, masks.data()[at], {addresses.data() + at * lanes, lanes}};
      if (sources) access.sources = {sources->data() + at * lanes, lanes};
      refused = write_cost(kind, access, numbers.get() + at * columns);
    }
  }
  if (refused) {
    throw std::invalid_argument(accesses == 1 ? *refused : fmt::format("access {}: {}", at - 1, *refused));
  }
  std::uint32_t* data = numbers.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::uint32_t*>(p); });
  return nb::ndarray<nb::numpy, std::uint32_t>(data, {accesses, columns}, owner);
}

std::vector<std::uint32_t> cost(const std::vector<std::uint32_t>& addresses, std::uint64_t mask,
                                const std::vector<std::uint32_t>& sources, const std::string& arch,
                                const std::string& op, unsigned width, const std::string& space) {
  const Kind kind = kind_of(arch, op, width, space);
  std::vector<std::uint32_t> numbers(kind.space == predict::Space::global ? global_columns : shared_columns);
  if (const auto refused = write_cost(kind, {kind.operation, width, mask, addresses, sources}, numbers.data()))
    throw std::invalid_argument(*refused);
  return numbers;
}

predict::Prediction explained(const std::vector<std::uint32_t>& addresses, std::uint64_t mask, const std::string& arch,
                              const std::string& op, unsigned width, const std::string& space) {
  const Kind kind = kind_of(arch, op, width, space);
  predict::Prediction prediction{kind.architecture, "as given", kind.operation, width, mask, addresses};
  predict::find_cost(prediction, kind.space);
  return prediction;
}

predict::Prediction explained_index(const std::string& index, const std::optional<std::string>& array,
                                    const std::array<unsigned, 3>& block, std::map<std::string, std::int64_t> values,
                                    std::optional<std::uint64_t> mask, const std::string& arch, const std::string& op,
                                    std::optional<unsigned> width, const std::string& space) {
  const Kind kind = kind_of(arch, op, width.value_or(0), space);
  const predict::IndexNames names{block, {values.begin(), values.end()}, true};
  std::optional<predict::ArrayDeclaration> declared;
  if (array) declared = predict::array_declared(*array, names);
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  const std::uint64_t lanes =
      threads == 0 ? kind.architecture->warp : std::min<std::uint64_t>(threads, kind.architecture->warp);
  return predict::predict_index(*kind.architecture, kind.operation,
                                width.value_or(banks::matrix_rows(kind.operation) > 0 ? 16
                                               : declared                             ? declared->bytes
                                                                                      : 4),
                                mask.value_or(~std::uint64_t{0} >> (banks::max_lanes - lanes)), index, names, declared,
                                kind.space);
}

}  // namespace

NB_MODULE(_model, module) {  // NOLINT(misc-use-internal-linkage): Python calls it
  module.def("architectures", [] {
    std::vector<std::string> names;
    for (const banks::Architecture& architecture : banks::architectures()) names.emplace_back(architecture.name);
    return names;
  });
  module.def("costs", &costs);
  module.def("cost", &cost);
  module.def("explained", &explained);
  module.def("explained_index", &explained_index);
  nb::class_<predict::Prediction>(module, "Prediction")
      .def("text", &predict::text_of)
      .def("json", &predict::json_of)
      .def("svg", &predict::svg_of);
  nb::register_exception_translator([](const std::exception_ptr& exception, void*) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::runtime_error& error) {  // sentences on what the user has given: UsageError, ExpressionError
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
}
