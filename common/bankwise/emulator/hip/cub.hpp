// hipCUB is CUB under another name.
#pragma once

#ifdef BANKWISE_HIP
#include <cub/cub.cuh>
namespace hipcub = cub;
#endif
