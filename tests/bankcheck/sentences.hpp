// What bankcheck says of input that it refuses: one sentence.
#pragma once

#include <string>

#include <bankwise/support/exit_code.hpp>
#include "tests/catch_any.hpp"

/// The sentence of the exception that `call` throws; "" if it throws none.
template <class Error = bankwise::support::UsageError, class Call>
std::string sentence_of(Call call) {
  try {
    call();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Requires one sentence that contains `words`.
inline void check_sentence(const std::string& sentence, const std::string& words) {
  CHECK_THAT(sentence, has(words));
  CHECK_THAT(sentence, !has("\n"));
}
