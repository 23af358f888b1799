// What a source for the host sees of CUDA in a whole program, if it includes one of CUDA's headers: the types and the
// runtime API, without the functions of kernels.
#pragma once

#include <bankwise/emulator/runtime/device.hpp>
#include <bankwise/emulator/runtime/graphs.hpp>
#include <bankwise/emulator/runtime/launching.hpp>
#include <bankwise/emulator/runtime/memory.hpp>
#include <bankwise/emulator/runtime/textures.hpp>
