// For test programs that have nothing to test on some machines: link test_skipping_main instead of Catch2's main().
#pragma once

#include <string>

/// Defined by the program. A sentence ends the program with exit code 77, which CTest counts as skipped; "" runs the
/// tests.
std::string reason_to_skip();
