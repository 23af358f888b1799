// SPDX-License-Identifier: MIT
//
// What `bankcheck cuda` needs, asked for before a program is started that would only fail.
#pragma once

#include <filesystem>
#include <string>

namespace bankwise::cuda {

/// NVIDIA's libsanitizer-public.so in a directory, or where it usually is. Error: std::runtime_error if there is none.
std::filesystem::path find_sanitizer(const std::string& folder);

/// The library for the CUDA driver to load into the program. Error: std::runtime_error if bankcheck has none.
std::filesystem::path find_injection();

/// Returns if the CUDA driver (libcuda.so.1) has a device; CUDA_VISIBLE_DEVICES may hide all of them. A child process
/// asks, so this one keeps no CUDA state. Errors: driver::CommandFailed with exit_nothing if the machine has no NVIDIA
/// GPU, or no driver for one; std::runtime_error if the driver fails in another way.
void check_gpu_present();

}  // namespace bankwise::cuda
