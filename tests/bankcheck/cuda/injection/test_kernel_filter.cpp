// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/selection.hpp"
#include "tests/catch_any.hpp"

using bankwise::cuda::bare_name;
using bankwise::cuda::KernelFilter;

namespace {

// void ns::transpose<float, 32>(float*)
const std::string TRANSPOSE = "_ZN2ns9transposeIfLi32EEEvPT_";

std::string cubin_with(const std::vector<std::string>& kernels) {
  std::string bytes(
      "\x7f"
      "ELF\0",
      5);
  for (const std::string& kernel : kernels) bytes += ".text." + kernel + '\0';
  return bytes + ".nv.info";
}

}  // namespace

TEST_CASE("cuda/injection/kernel_filter/bare_name") {
  CHECK(bare_name("void ns::transpose<float, 32>(float*)") == "ns::transpose");
  CHECK(bare_name("kernel") == "kernel");
  CHECK(bare_name("kernel(int, float (*)(int))") == "kernel");
  CHECK(bare_name("void outer<int>::inner<Pair<A, B<C> > >(A)") == "outer<int>::inner");
  CHECK(bare_name("void (anonymous namespace)::kernel(float*)") == "(anonymous namespace)::kernel");
  CHECK(bare_name("void run<void (*)(int)>(int)") == "run");
  CHECK(bare_name("") == "");
}

TEST_CASE("cuda/injection/kernel_filter/accepted_names") {
  CHECK(KernelFilter().accepts(TRANSPOSE));
  for (const char* glob : {"ns::transpose", "*transpose*", "_ZN2ns9trans*", "void ns::transpose<float, 32>(float?)"}) {
    INFO(glob);
    CHECK(KernelFilter({"nothing", glob}).accepts(TRANSPOSE));
  }
  for (const char* glob : {"transpose", "ns::transpos", "reduce*", ""}) {
    INFO(glob);
    CHECK_FALSE(KernelFilter({glob}).accepts(TRANSPOSE));
  }
}

TEST_CASE("cuda/injection/kernel_filter/no_accepted_kernel") {
  const std::string cubin = cubin_with({"_Z5otherv", TRANSPOSE});
  CHECK(KernelFilter().accepts_some_kernel(cubin));
  CHECK(KernelFilter({"ns::*"}).accepts_some_kernel(cubin));
  CHECK(KernelFilter({"other"}).accepts_some_kernel(cubin));
  CHECK_FALSE(KernelFilter({"reduce*"}).accepts_some_kernel(cubin));
}

TEST_CASE("cuda/injection/kernel_filter/unknown_kernels") {
  const KernelFilter filter({"ns::*"});
  CHECK(filter.accepts_some_kernel(""));
  CHECK(filter.accepts_some_kernel("no cubin"));
  CHECK(filter.accepts_some_kernel("cut short: .text.abc"));
}
