// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise::driver {

/// The build options of an OpenCL program without those that depend on where it is installed: include paths, and
/// options that name a folder by `/`, `./`, `../` or `~/`. The others are separated by single spaces.
std::string without_folders(std::string_view options);

}  // namespace bankwise::driver
