// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <bankwise/trace/trace.hpp>

namespace bankwise::trace {

/// "race: lane 3 of block (0, 0, 0) of k reads ...; 12 times", without the place.
std::string sentence_of(const Diagnosis& diagnosis);

/// The same after its place: "k.cu:12: race: ...".
std::string placed_sentence_of(const Diagnosis& diagnosis, const KernelTrace& kernel);

}  // namespace bankwise::trace
