// The functions that CUDA's headers declare for device code (device_functions.h, math_functions.h, the intrinsics of
// each compute capability), without CUDA's internal helpers: each is declared here, too. Calls of those that are not
// emulated do not compile.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace cuda_function_names {

// clang-format off
using ::__activemask; using ::__all_sync; using ::__any_sync; using ::__ballot_sync; using ::__barrier_sync;
using ::__barrier_sync_count; using ::__brev; using ::__brevll; using ::__brkpt; using ::__byte_perm;
using ::__clusterDimIsSpecified; using ::__clusterRelativeBlockRank; using ::__clusterSizeInBlocks;
using ::__cluster_barrier_arrive; using ::__cluster_barrier_arrive_relaxed; using ::__cluster_barrier_wait;
using ::__cluster_map_shared_rank; using ::__cluster_query_shared_rank; using ::__clz; using ::__clzll;
using ::__cosf; using ::__cvta_generic_to_global; using ::__cvta_generic_to_shared; using ::__cvta_global_to_generic;
using ::__cvta_shared_to_generic; using ::__dadd_rd; using ::__dadd_rn; using ::__dadd_ru; using ::__dadd_rz;
using ::__ddiv_rd; using ::__ddiv_rn; using ::__ddiv_ru; using ::__ddiv_rz; using ::__dmul_rd; using ::__dmul_rn;
using ::__dmul_ru; using ::__dmul_rz; using ::__double2float_rd; using ::__double2float_rn;
using ::__double2float_ru; using ::__double2float_rz; using ::__double2hiint; using ::__double2int_rd;
using ::__double2int_rn; using ::__double2int_ru; using ::__double2int_rz; using ::__double2ll_rd;
using ::__double2ll_rn; using ::__double2ll_ru; using ::__double2ll_rz; using ::__double2loint;
using ::__double2uint_rd; using ::__double2uint_rn; using ::__double2uint_ru; using ::__double2uint_rz;
using ::__double2ull_rd; using ::__double2ull_rn; using ::__double2ull_ru; using ::__double2ull_rz;
using ::__double_as_longlong; using ::__dp2a_hi; using ::__dp2a_lo; using ::__dp4a; using ::__drcp_rd;
using ::__drcp_rn; using ::__drcp_ru; using ::__drcp_rz; using ::__dsqrt_rd; using ::__dsqrt_rn; using ::__dsqrt_ru;
using ::__dsqrt_rz; using ::__dsub_rd; using ::__dsub_rn; using ::__dsub_ru; using ::__dsub_rz; using ::__exp10f;
using ::__expf; using ::__fadd2_rd; using ::__fadd2_rn; using ::__fadd2_ru; using ::__fadd2_rz; using ::__fadd_rd;
using ::__fadd_rn; using ::__fadd_ru; using ::__fadd_rz; using ::__fdiv_rd; using ::__fdiv_rn; using ::__fdiv_ru;
using ::__fdiv_rz; using ::__fdividef; using ::__ffma2_rd; using ::__ffma2_rn; using ::__ffma2_ru;
using ::__ffma2_rz; using ::__ffs; using ::__ffsll; using ::__finite; using ::__finitef; using ::__finitel;
using ::__float2int_rd; using ::__float2int_rn; using ::__float2int_ru; using ::__float2int_rz;
using ::__float2ll_rd; using ::__float2ll_rn; using ::__float2ll_ru; using ::__float2ll_rz; using ::__float2uint_rd;
using ::__float2uint_rn; using ::__float2uint_ru; using ::__float2uint_rz; using ::__float2ull_rd;
using ::__float2ull_rn; using ::__float2ull_ru; using ::__float2ull_rz; using ::__float_as_int;
using ::__float_as_uint; using ::__fma_rd; using ::__fma_rn; using ::__fma_ru; using ::__fma_rz;
using ::__fmaf_ieee_rd; using ::__fmaf_ieee_rn; using ::__fmaf_ieee_ru; using ::__fmaf_ieee_rz; using ::__fmaf_rd;
using ::__fmaf_rn; using ::__fmaf_ru; using ::__fmaf_rz; using ::__fmul2_rd; using ::__fmul2_rn; using ::__fmul2_ru;
using ::__fmul2_rz; using ::__fmul_rd; using ::__fmul_rn; using ::__fmul_ru; using ::__fmul_rz; using ::__fns;
using ::__frcp_rd; using ::__frcp_rn; using ::__frcp_ru; using ::__frcp_rz; using ::__frsqrt_rn; using ::__fsqrt_rd;
using ::__fsqrt_rn; using ::__fsqrt_ru; using ::__fsqrt_rz; using ::__fsub_rd; using ::__fsub_rn; using ::__fsub_ru;
using ::__fsub_rz; using ::__funnelshift_l; using ::__funnelshift_lc; using ::__funnelshift_r;
using ::__funnelshift_rc; using ::__hadd; using ::__hiloint2double; using ::__int2double_rn; using ::__int2float_rd;
using ::__int2float_rn; using ::__int2float_ru; using ::__int2float_rz; using ::__int_as_float;
using ::__isClusterShared; using ::__isConstant; using ::__isGlobal; using ::__isGridConstant; using ::__isLocal;
using ::__isShared; using ::__isinf; using ::__isinff; using ::__isinfl; using ::__isnan; using ::__isnanf;
using ::__isnanl; using ::__ldca; using ::__ldcg; using ::__ldcs; using ::__ldcv; using ::__ldg; using ::__ldlu;
using ::__ll2double_rd; using ::__ll2double_rn; using ::__ll2double_ru; using ::__ll2double_rz;
using ::__ll2float_rd; using ::__ll2float_rn; using ::__ll2float_ru; using ::__ll2float_rz; using ::__log10f;
using ::__log2f; using ::__logf; using ::__longlong_as_double; using ::__match_all_sync; using ::__match_any_sync;
using ::__mul24; using ::__mul64hi; using ::__mulhi; using ::__nanosleep; using ::__popc; using ::__popcll;
using ::__powf; using ::__prof_trigger; using ::__reduce_add_sync; using ::__reduce_and_sync;
using ::__reduce_max_sync; using ::__reduce_min_sync; using ::__reduce_or_sync; using ::__reduce_xor_sync;
using ::__rhadd; using ::__sad; using ::__saturatef; using ::__shfl_down_sync; using ::__shfl_sync;
using ::__shfl_up_sync; using ::__shfl_xor_sync; using ::__signbit; using ::__signbitf; using ::__signbitl;
using ::__sincosf; using ::__sinf; using ::__stcg; using ::__stcs; using ::__stwb; using ::__stwt;
using ::__syncthreads; using ::__syncthreads_and; using ::__syncthreads_count; using ::__syncthreads_or;
using ::__syncwarp; using ::__tanf; using ::__tanhf; using ::__threadfence; using ::__threadfence_block;
using ::__threadfence_cluster; using ::__threadfence_system; using ::__u128AtomicCAS; using ::__u128AtomicExch;
using ::__uhadd; using ::__uint2double_rn; using ::__uint2float_rd; using ::__uint2float_rn; using ::__uint2float_ru;
using ::__uint2float_rz; using ::__uint_as_float; using ::__ull2double_rd; using ::__ull2double_rn;
using ::__ull2double_ru; using ::__ull2double_rz; using ::__ull2float_rd; using ::__ull2float_rn;
using ::__ull2float_ru; using ::__ull2float_rz; using ::__umul24; using ::__umul64hi; using ::__umulhi;
using ::__uni_sync; using ::__urhadd; using ::__usad; using ::__vabs2; using ::__vabs4; using ::__vabsdiffs2;
using ::__vabsdiffs4; using ::__vabsdiffu2; using ::__vabsdiffu4; using ::__vabsss2; using ::__vabsss4;
using ::__vadd2; using ::__vadd4; using ::__vaddss2; using ::__vaddss4; using ::__vaddus2; using ::__vaddus4;
using ::__vavgs2; using ::__vavgs4; using ::__vavgu2; using ::__vavgu4; using ::__vcmpeq2; using ::__vcmpeq4;
using ::__vcmpges2; using ::__vcmpges4; using ::__vcmpgeu2; using ::__vcmpgeu4; using ::__vcmpgts2;
using ::__vcmpgts4; using ::__vcmpgtu2; using ::__vcmpgtu4; using ::__vcmples2; using ::__vcmples4;
using ::__vcmpleu2; using ::__vcmpleu4; using ::__vcmplts2; using ::__vcmplts4; using ::__vcmpltu2;
using ::__vcmpltu4; using ::__vcmpne2; using ::__vcmpne4; using ::__vhaddu2; using ::__vhaddu4; using ::__vmaxs2;
using ::__vmaxs4; using ::__vmaxu2; using ::__vmaxu4; using ::__vmins2; using ::__vmins4; using ::__vminu2;
using ::__vminu4; using ::__vneg2; using ::__vneg4; using ::__vnegss2; using ::__vnegss4; using ::__vsads2;
using ::__vsads4; using ::__vsadu2; using ::__vsadu4; using ::__vseteq2; using ::__vseteq4; using ::__vsetges2;
using ::__vsetges4; using ::__vsetgeu2; using ::__vsetgeu4; using ::__vsetgts2; using ::__vsetgts4;
using ::__vsetgtu2; using ::__vsetgtu4; using ::__vsetles2; using ::__vsetles4; using ::__vsetleu2;
using ::__vsetleu4; using ::__vsetlts2; using ::__vsetlts4; using ::__vsetltu2; using ::__vsetltu4;
using ::__vsetne2; using ::__vsetne4; using ::__vsub2; using ::__vsub4; using ::__vsubss2; using ::__vsubss4;
using ::__vsubus2; using ::__vsubus4; using ::abs; using ::acos; using ::acosf; using ::acosh; using ::acoshf;
using ::asin; using ::asinf; using ::asinh; using ::asinhf; using ::atan; using ::atan2; using ::atan2f;
using ::atanf; using ::atanh; using ::atanhf; using ::atomicAdd; using ::atomicAdd_block; using ::atomicAdd_system;
using ::atomicAnd; using ::atomicAnd_block; using ::atomicAnd_system; using ::atomicCAS; using ::atomicCAS_block;
using ::atomicCAS_system; using ::atomicDec; using ::atomicDec_block; using ::atomicDec_system; using ::atomicExch;
using ::atomicExch_block; using ::atomicExch_system; using ::atomicInc; using ::atomicInc_block;
using ::atomicInc_system; using ::atomicMax; using ::atomicMax_block; using ::atomicMax_system; using ::atomicMin;
using ::atomicMin_block; using ::atomicMin_system; using ::atomicOr; using ::atomicOr_block; using ::atomicOr_system;
using ::atomicSub; using ::atomicSub_block; using ::atomicSub_system; using ::atomicXor; using ::atomicXor_block;
using ::atomicXor_system; using ::cbrt; using ::cbrtf; using ::ceil; using ::ceilf; using ::clock64;
using ::copysign; using ::copysignf; using ::cos; using ::cosf; using ::cosh; using ::coshf; using ::cospi;
using ::cospif; using ::cyl_bessel_i0; using ::cyl_bessel_i0f; using ::cyl_bessel_i1; using ::cyl_bessel_i1f;
using ::erf; using ::erfc; using ::erfcf; using ::erfcinv; using ::erfcinvf; using ::erfcx; using ::erfcxf;
using ::erff; using ::erfinv; using ::erfinvf; using ::exp; using ::exp10; using ::exp10f; using ::exp2;
using ::exp2f; using ::expf; using ::expm1; using ::expm1f; using ::fabs; using ::fabsf; using ::fdim; using ::fdimf;
using ::fdividef; using ::floor; using ::floorf; using ::fma; using ::fmaf; using ::fmax; using ::fmaxf;
using ::fmin; using ::fminf; using ::fmod; using ::fmodf; using ::frexp; using ::frexpf; using ::hypot;
using ::hypotf; using ::ilogb; using ::ilogbf; using ::isfinite; using ::isinf; using ::isnan; using ::j0;
using ::j0f; using ::j1; using ::j1f; using ::jn; using ::jnf; using ::labs; using ::ldexp; using ::ldexpf;
using ::lgamma; using ::lgammaf; using ::llabs; using ::llmax; using ::llmin; using ::llrint; using ::llrintf;
using ::llround; using ::llroundf; using ::log; using ::log10; using ::log10f; using ::log1p; using ::log1pf;
using ::log2; using ::log2f; using ::logb; using ::logbf; using ::logf; using ::lrint; using ::lrintf;
using ::lround; using ::lroundf; using ::max; using ::min; using ::modf; using ::modff; using ::nan; using ::nanf;
using ::nearbyint; using ::nearbyintf; using ::nextafter; using ::nextafterf; using ::norm; using ::norm3d;
using ::norm3df; using ::norm4d; using ::norm4df; using ::normcdf; using ::normcdff; using ::normcdfinv;
using ::normcdfinvf; using ::normf; using ::pow; using ::powf; using ::rcbrt; using ::rcbrtf; using ::remainder;
using ::remainderf; using ::remquo; using ::remquof; using ::rhypot; using ::rhypotf; using ::rint; using ::rintf;
using ::rnorm; using ::rnorm3d; using ::rnorm3df; using ::rnorm4d; using ::rnorm4df; using ::rnormf; using ::round;
using ::roundf; using ::rsqrt; using ::rsqrtf; using ::scalbln; using ::scalblnf; using ::scalbn; using ::scalbnf;
using ::signbit; using ::sin; using ::sincos; using ::sincosf; using ::sincospi; using ::sincospif; using ::sinf;
using ::sinh; using ::sinhf; using ::sinpi; using ::sinpif; using ::sqrt; using ::sqrtf; using ::tan; using ::tanf;
using ::tanh; using ::tanhf; using ::tgamma; using ::tgammaf; using ::trunc; using ::truncf; using ::ullmax;
using ::ullmin; using ::umax; using ::umin; using ::y0; using ::y0f; using ::y1; using ::y1f; using ::yn;
using ::ynf;
// clang-format on

}  // namespace cuda_function_names
