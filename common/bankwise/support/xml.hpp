// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise {

/// Escapes a text for XML and SVG, as content between tags.
std::string xml_text(std::string_view text);

}  // namespace bankwise
