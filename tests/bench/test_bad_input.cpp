// SPDX-License-Identifier: MIT
//
// Bad input that a program refuses before it looks for a device: one clear sentence, exit code 2.
#include "tests/programs.hpp"

TEST_CASE("bench/bad_input/values") {
  check_refused("reduction", "--no-such-flag", 2, "--no-such-flag");
  check_refused("reduction", "surplus", 2, "surplus");
  check_refused("reduction", "--n 12Q", 2, "--n 12Q is not a count");
  check_refused("reduction", "--n ''", 2, "is not a count");
  check_refused("reduction", "--n -3", 2, "is not a count");
  check_refused("reduction", "--n 99999999999999999999", 2, "is too large");
  check_refused("reduction", "--width 5", 2, "--width");
  check_refused("transpose", "--width 0 --height 5", 2, "--width must be at least 1");
  check_refused("transpose", "--width 1Ti --height 1Ti", 2, "is too large");
  check_refused("transpose", "--n 5", 2, "--n");
  check_refused("reduction", "--api metal", 2, "metal");
  check_refused("reduction", "--variant pakced", 2, "did you mean 'packed'?");
  check_refused("transpose", "--variant naive,tile33", 2, "did you mean 'tile32'?");
  check_refused("prefix_sum", "--scope l2 --cache cold", 2, "--cache cold");
  check_refused("prefix_sum", "--scope disk", 2, "disk");
  check_refused("prefix_sum", "--arch sm_91", 2, "did you mean 'sm_90'?");
  check_refused("access_patterns", "--arch sm_91", 2, "did you mean 'sm_90'?");
  check_refused("access_patterns", "--scope l2", 2, "--scope");
  check_refused("prefix_sum", "--timeout soon", 2, "soon");
  check_refused("prefix_sum", "--timeout nan", 2, "must be numbers");
  check_refused("prefix_sum", "--min-time 3", 2, "more than --timeout");
  check_refused("prefix_sum", "--json - --csv -", 2, "stdout");
  check_refused("prefix_sum", "--json a --csv a", 2, "both write a");
  check_refused("prefix_sum", "--json ''", 2, "--json needs a value");
  check_refused("prefix_sum", "--levels-svg ''", 2, "--levels-svg needs a value");
  check_refused("prefix_sum", "--json - --levels-svg -", 2, "stdout");
  check_refused("prefix_sum", "--csv a --levels-svg a", 2, "both write a");
  check_refused("prefix_sum", "--no-levels --levels-svg a", 2, "leave out --no-levels");
  check_refused("prefix_sum", "--profile --levels", 2, "leave out --profile");
  check_refused("prefix_sum", "--kernel-dir / --levels-svg a", 2, "leave out --kernel-dir");
  check_refused("prefix_sum", "--device ''", 2, "--device needs a value");
}

TEST_CASE("bench/bad_input/kernel_directory") {
  const ScratchDirectory scratch;
  check_refused("reduction", "--kernel-dir /no/such/directory", 2, "no such directory");
  check_refused("reduction", "--kernel-dir " + std::string(300, 'x'), 2, "no such directory");
  check_refused("reduction", "--kernel-dir " + scratch.path().string(), 2, "there is no");
  check_refused("reduction", "--api cuda --kernel-dir /", 2, "leave out --api cuda");
}
