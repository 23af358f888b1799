// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/command_line.hpp"

int main(int argc, char** argv) {
  const auto fail = [](int code, const char* sentence) {
    std::fputs(fmt::format("bankcheck: {}\n", sentence).c_str(), stderr);
    return code;
  };
  try {
    return bankwise::run_bankcheck(argc, argv);
  } catch (const bankwise::UsageError& error) {
    return fail(bankwise::exit_usage, error.what());
  } catch (const std::exception& error) {
    return fail(bankwise::exit_device, error.what());
  }
}
