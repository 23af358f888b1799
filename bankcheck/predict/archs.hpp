// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace bankwise {

/// Every architecture with its other names and its GPUs; below, of each, which lanes are served together in which banks,
/// operation by operation, with evidence and source.
std::string architectures_text();
std::string architectures_json();

}  // namespace bankwise
