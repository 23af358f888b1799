// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise {

/// A text as XML and SVG have it between tags.
std::string xml_text(std::string_view text);

}  // namespace bankwise
