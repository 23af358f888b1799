// The generators of kernels are the functions of a CUDA Toolkit's own header, with their numbers.
#pragma once

#include <curand.h>

#ifdef BANKWISE_TOOLKIT_CURAND
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#include BANKWISE_TOOLKIT_CURAND_KERNEL
#else
#error "device cuRAND is not emulated without the headers of a CUDA Toolkit; CUDA_HOME names one"
#endif
