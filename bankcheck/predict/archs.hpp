// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace bankwise::predict {

/// A table of the architectures with their aliases and GPUs, followed by the bank rules of each architecture: per
/// operation, which lanes are served together in which banks, with evidence and source.
std::string architectures_text();
std::string architectures_json();

}  // namespace bankwise::predict
