// SPDX-License-Identifier: MIT
//
// What a warp asks of shared memory, in words that do not depend on who has watched it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

/// One access of one warp. A statement is known by its array, its direction and its level.
struct Request {
  std::string array;
  bool store = false;
  unsigned level = 0;  ///< barriers before it
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses;  ///< of the active lanes, lowest first: bytes from the array's start
};

/// In the order in which they were made.
using Requests = std::vector<Request>;

/// Which requests of a warp have to come in the order of the source.
enum class Order {
  all,           ///< each after the one before
  of_statement,  ///< those of one statement
  none,
};

/// A line for each request, "1 load inner 000000000000000f: 0 4 8 12"; put into an order of its own as far as the order
/// in which they were made does not count.
std::vector<std::string> lines(const Requests& requests, Order order);

/// Lanes of all requests.
std::uint64_t lanes(const Requests& requests);

/// The requests of `statement`, an array and a direction.
Requests of(const Requests& requests, const std::string& array, bool store);

/// What comes out if lanes are matched by "the n-th time that the lane executes this statement since the barrier": wrong
/// under divergence. The order is that of the statements' first requests.
Requests matched_by_count(const Requests& requests);

}  // namespace lockstep
