// SPDX-License-Identifier: MIT
//
// For programs of tests that have nothing to test on some machines: link test_skipping_main instead of Catch2's own main().
#pragma once

#include <string>

/// The program defines it. A sentence ends the program with 77, which CTest counts as skipped; "" runs the tests.
std::string reason_to_skip();
