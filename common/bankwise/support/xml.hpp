// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise {

/// Escapes a text for XML, SVG and HTML, as content between tags or in a quoted attribute. What is not UTF-8 becomes
/// U+FFFD. Control characters, and those that change the direction of the text around them, become visible: [U+202E].
std::string xml_text(std::string_view text);

}  // namespace bankwise
