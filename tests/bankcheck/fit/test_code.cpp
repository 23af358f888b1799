#include "bankcheck/fit/index.hpp"
#include "bankcheck/predict/predict.hpp"
#include "tests/catch_any.hpp"

#include <random>

namespace {

using namespace bankwise;
using namespace bankwise::fit;

Change with_pad(std::uint32_t every, std::uint32_t bytes) { return {{}, {Pad{every, bytes}, Pad{}}}; }

TEST_CASE("fit/code/changes", "[fit]") {
  const ArrayShape square{4, {32, 32}}, small{4, {16, 16}}, line{4, {512}}, records{16, {256}};
  const Change swizzle{{128, 5, 2}, {}};
  CHECK(form_of(swizzle, square) == IndexForm::columns);
  CHECK(index_text(swizzle, square, IndexForm::columns, {"y", "x"}) == "[y][x ^ y]");
  CHECK(index_text({{128, 3, 4}, {}}, square, IndexForm::columns, {"y + 1", "x + 2"}) ==
        "[y + 1][(x + 2) ^ ((y + 1) & 7) * 4]");
  CHECK(index_text({{128, 3, 3}, {}}, small, IndexForm::columns, {"y", "x"}) == "[y][x ^ (y & 14)]");
  CHECK(index_text(swizzle, square, IndexForm::columns, {"y", "0"}) == "[y][y]");
  CHECK(index_text({{128, 3, 4}, {}}, square, IndexForm::columns, {"y", "0"}) == "[y][(y & 7) * 4]");
  CHECK(form_of(with_pad(128, 4), square) == IndexForm::rows);
  CHECK(dimension_texts(with_pad(128, 4), square, IndexForm::rows, {"TILE", "TILE"}) ==
        std::vector<std::string>{"TILE", "TILE + 1"});
  CHECK(form_of(with_pad(128, 4), line) == IndexForm::flat);
  CHECK(index_text(with_pad(128, 4), line, IndexForm::flat, {"i"}) == "[i + (i >> 5)]");
  CHECK(dimension_texts(with_pad(128, 4), line, IndexForm::flat, {"N"}) == std::vector<std::string>{"N + N / 32"});
  CHECK(index_text(with_pad(128, 8), small, IndexForm::flat, {"y", "x"}) == "[y * 16 + x + ((y * 16 + x) >> 5) * 2]");
  CHECK(index_text({{}, {Pad{128, 4}, Pad{4096, 4}}}, line, IndexForm::flat, {"i"}) == "[i + (i >> 5) + (i >> 10)]");
  CHECK(form_of(with_pad(16, 4), records) == IndexForm::elements);
  CHECK_FALSE(form_of(with_pad(32, 4), records).has_value());
  CHECK_FALSE(form_of(swizzle, records).has_value());
  CHECK(cute_name(swizzle, 4) == "Swizzle<5, 0, 5>");
  CHECK(cute_name(swizzle, 1) == "Swizzle<5, 2, 5>");
  CHECK(cute_name(with_pad(128, 4), 4).empty());
  CHECK(cute_name({{8, 5, 2}, {}}, 4).empty());  // CuTe's bits do not overlap
}

TEST_CASE("fit/code/inside_rows", "[fit]") {
  const ArrayShape tiles{4, {2, 8, 128}}, narrow{4, {2, 8, 48}};
  const Change swizzle{{128, 1, 4}, {}};
  CHECK(form_of(swizzle, tiles) == IndexForm::columns);
  CHECK(index_text(swizzle, tiles, IndexForm::columns, {"z", "y", "x"}) == "[z][y][x ^ ((x >> 3) & 4)]");
  CHECK(dimension_texts(swizzle, tiles, IndexForm::columns, {"2", "K", "N"}) ==
        std::vector<std::string>{"2", "K", "N"});
  CHECK(form_of(with_pad(128, 16), tiles) == IndexForm::columns);
  CHECK(index_text(with_pad(128, 16), tiles, IndexForm::columns, {"z", "y", "x + 1"}) ==
        "[z][y][x + 1 + ((x + 1) >> 5) * 4]");
  CHECK(dimension_texts(with_pad(128, 16), tiles, IndexForm::columns, {"2", "K", "N"}) ==
        std::vector<std::string>{"2", "K", "N + N / 32 * 4"});
  CHECK(form_of(swizzle, narrow) == IndexForm::flat);
  CHECK(form_of(with_pad(128, 16), narrow) == IndexForm::flat);
  CHECK(index_instructions(swizzle, tiles) == index_instructions(swizzle, {4, {2048}}));
}

TEST_CASE("fit/code/other_rows_and_planes", "[fit]") {
  const ArrayShape narrow{4, {16, 17}}, deep{4, {4, 6, 32}}, deeper{4, {3, 4, 6, 32}};
  using Texts = std::vector<std::string>;
  const auto dimensions = [](const Change& change, const ArrayShape& shape, const Texts& texts) {
    return dimension_texts(change, shape, *form_of(change, shape), texts);
  };
  const auto index = [](const Change& change, const ArrayShape& shape) {
    return index_text(change, shape, *form_of(change, shape), subscript_names(shape.lengths.size()));
  };
  const Change shorter{{}, {}, {68, 64}}, swizzled{{128, 3, 3}, {}, {68, 64}};
  CHECK(form_of(shorter, narrow) == IndexForm::rows);
  CHECK(dimensions(shorter, narrow, {"16", "17"}) == Texts{"16", "16"});
  CHECK(dimensions(shorter, narrow, {"TILE", "TILE+1"}) == Texts{"TILE", "TILE"});
  CHECK(dimensions(shorter, narrow, {"TILE", "TILE + 3"}) == Texts{"TILE", "TILE + 2"});
  CHECK(dimensions(shorter, narrow, {"TILE", "WIDTH"}) == Texts{"TILE", "WIDTH - 1"});
  CHECK(dimensions(shorter, narrow, {"TILE", "2 * TILE + 1"}) == Texts{"TILE", "2 * TILE"});
  CHECK(dimensions(shorter, narrow, {"TILE", "WIDE ? 33 : 16 + 1"}) == Texts{"TILE", "(WIDE ? 33 : 16 + 1) - 1"});
  CHECK(dimensions(with_pad(68, 12), narrow, {"TILE", "TILE + 1"}) == Texts{"TILE", "TILE + 4"});
  CHECK(dimensions(swizzled, narrow, {"16", "17"}) == Texts{"16", "16"});
  CHECK(index(swizzled, narrow) == "[y][x ^ (y & 14)]");
  CHECK(dimensions({{64, 4, 2}, {Pad{64, 4}, {}}, {68, 64}}, narrow, {"16", "17"}) == Texts{"16", "17"});
  CHECK_FALSE(form_of({{}, {}, {64, 60}}, narrow).has_value());  // rows of another length
  CHECK_FALSE(form_of({{}, {}, {68, 66}}, narrow).has_value());  // half an element
  CHECK_FALSE(form_of({{}, {Pad{32, 4}, {}}, {68, 64}}, narrow).has_value());
  CHECK_FALSE(form_of(shorter, {4, {272}}).has_value());

  CHECK(index({{768, 1, 2}, {}}, deep) == "[z][y][x ^ (z & 1)]");
  CHECK(index({{768, 2, 2}, {}}, deep) == "[z][y][x ^ z]");
  CHECK(index({{128, 2, 2, 768}, {}}, deep) == "[z][y][x ^ (y & 3)]");
  CHECK(index({{256, 2, 3, 768}, {}}, deep) == "[z][y][x ^ (y & 6)]");
  CHECK(index({{128, 2, 2}, {}}, deep) == "[z][y][x ^ ((z * 6 + y) & 3)]");
  CHECK(index({{128, 1, 2}, {}}, deep) == "[z][y][x ^ (y & 1)]");  // 6 is even
  CHECK(index({{768, 2, 2, 3072}, {}}, deeper) == "[w3][z][y][x ^ z]");
  CHECK_FALSE(form_of({{128, 2, 2, 1536}, {}}, deep).has_value());  // two planes
  CHECK(dimensions({{}, {Pad{768, 256}, {}}}, deep, {"D", "H", "W"}) == Texts{"D", "H + 2", "W"});
  CHECK(dimensions({{}, {Pad{128, 4}, Pad{768, 132}}}, deep, {"D", "H", "W"}) == Texts{"D", "H + 1", "W + 1"});
  CHECK(form_of({{}, {Pad{768, 4}, {}}}, deep) == IndexForm::flat);
}

TEST_CASE("fit/code/index_equals_change", "[fit]") {
  std::mt19937 random(5);
  const auto below = [&](std::size_t limit) { return std::size_t(random() % limit); };
  std::size_t compared = 0, other_rows = 0, planes = 0;
  for (int i = 0; i < 800; ++i) {
    const std::uint64_t element = std::uint64_t{1} << below(5);
    const ArrayShape shape{element, i % 2 == 0 ? std::vector<std::uint64_t>{256}
                                    : i % 4 == 1
                                        ? std::vector<std::uint64_t>{2, 8, std::uint64_t{8} << below(4)}
                                        : std::vector<std::uint64_t>{1 + below(3), 2 + below(7), 4 + below(30)}};
    std::uint64_t elements = 1;
    for (const std::uint64_t length : shape.lengths) elements *= length;
    FamilyBounds bounds;
    bounds.extent = elements * element;
    bounds.granule = bounds.alignment = std::max<std::uint32_t>(std::uint32_t(element), 4);
    bounds.strides = {96};
    const std::uint64_t columns = shape.lengths.size() == 1 ? elements : shape.lengths.back() - below(4);
    std::uint64_t pitch = element;
    for (std::size_t d = shape.lengths.size(); d-- > 1;) bounds.pitches.push_back(pitch *= shape.lengths[d]);
    bounds.used_row = std::uint32_t(columns * element);
    const Family changes = family(bounds);
    const auto& list = i % 3 == 0 ? changes.combinations : changes.singles;
    const Change change = list[below(list.size())];
    const auto form = form_of(change, shape);
    if (!form || *form == IndexForm::none || *form == IndexForm::elements) continue;
    const auto dimensions = dimension_texts(change, shape, *form, [&] {
      std::vector<std::string> texts;
      for (const std::uint64_t length : shape.lengths) texts.push_back(std::to_string(length));
      return texts;
    }());
    for (int k = 0; k < 8; ++k) {
      std::uint64_t index = below(elements);
      if (index % shape.lengths.back() >= columns) index -= index % shape.lengths.back();
      std::vector<std::string> subscripts;
      std::uint64_t rest = index;
      for (std::size_t d = shape.lengths.size(); d-- > 0; rest /= shape.lengths[d]) {
        subscripts.insert(subscripts.begin(), std::to_string(rest % shape.lengths[d]));
      }
      const std::string text = index_text(change, shape, *form, subscripts);
      std::uint64_t flat = 0;
      std::size_t d = 0;
      for (std::size_t at = 0; at < text.size(); ++d) {
        const std::size_t end = text.find(']', at);
        const predict::IndexExpression value(text.substr(at + 1, end - at - 1)), length(dimensions.at(d));
        flat = flat * std::uint64_t(length(0)) + std::uint64_t(value(0));
        at = end + 1;
      }
      INFO(to_text(change) << ": " << text);
      REQUIRE(flat * element == change(index * element));
      ++compared;
      other_rows += change.rows.from > 0 ? 1 : 0;
      planes += change.swizzle.plane > 0 ? 1 : 0;
    }
  }
  CHECK(compared > 2000);
  CHECK(other_rows > 100);
  CHECK(planes > 50);
}

}  // namespace
