// SPDX-License-Identifier: MIT
#include <bankwise/support/text.hpp>
#include "tests/catch_any.hpp"

using bankwise::xml_text;

TEST_CASE("support/xml/escaped") {
  CHECK(xml_text("<a b=\"c\" d='e'>&amp;") == "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;");
  const std::string plain = "tile[ty][tx]\t= \xC3\xA9 \xE2\x89\xA5 \xF0\x9F\x98\x80;\n";
  CHECK(xml_text(plain) == plain);
  CHECK(xml_text("").empty());
}

TEST_CASE("support/xml/invalid_utf8") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(xml_text("a\xFFz") == "a" + bad + "z");
  CHECK(xml_text("\xC3<") == bad + "&lt;");            // a truncated character does not hide the markup after it
  CHECK(xml_text("\xE2\x89") == bad + bad);            // at the end of the text
  CHECK(xml_text("\xC0\xBC") == bad + bad);            // the long form of '<'
  CHECK(xml_text("\xED\xA0\x80") == bad + bad + bad);  // a surrogate
  CHECK(xml_text("\xF4\x90\x80\x80") == bad + bad + bad + bad);  // past the last character
  CHECK(xml_text("\x80") == bad);
}

TEST_CASE("support/xml/hidden_characters") {
  CHECK(xml_text(std::string_view("a\0b\x1B[31m\x7F", 9)) == "a[U+0000]b[U+001B][31m[U+007F]");
  // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what is tested
  CHECK(xml_text("x\xE2\x80\xAEy\xE2\x81\xA6z") == "x[U+202E]y[U+2066]z");
  CHECK(xml_text("\xC2\x85") == "[U+0085]");
  CHECK(xml_text("\xEF\xBF\xBE") == "[U+FFFE]");
}
