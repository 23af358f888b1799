// SPDX-License-Identifier: MIT
#include "requests.hpp"

#include <algorithm>
#include <bit>
#include <iomanip>
#include <iterator>
#include <map>
#include <sstream>
#include <tuple>

namespace lockstep {
namespace {

auto statement(const Request& request) { return std::tuple(request.level, request.array, request.store); }

std::string line(const Request& request) {
  std::ostringstream text;
  text << request.level << (request.store ? " store " : " load ") << request.array << ' ' << std::hex
       << std::setfill('0') << std::setw(16) << request.mask << std::dec << ':';
  for (const auto address : request.addresses) text << ' ' << address;
  return text.str();
}

}  // namespace

std::vector<std::string> lines(const Requests& requests, Order order) {
  Requests sorted = requests;
  if (order == Order::of_statement) {
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Request& a, const Request& b) { return statement(a) < statement(b); });
  }
  std::vector<std::string> result;
  result.reserve(sorted.size());
  for (const Request& request : sorted) result.push_back(line(request));
  if (order == Order::none) std::sort(result.begin(), result.end());
  return result;
}

std::uint64_t lanes(const Requests& requests) {
  std::uint64_t sum = 0;
  for (const Request& request : requests) sum += unsigned(std::popcount(request.mask));
  return sum;
}

Requests of(const Requests& requests, const std::string& array, bool store) {
  Requests result;
  std::copy_if(requests.begin(), requests.end(), std::back_inserter(result),
               [&](const Request& request) { return request.array == array && request.store == store; });
  return result;
}

Requests matched_by_count(const Requests& requests) {
  struct Matched {
    Request pattern;
    std::map<unsigned, std::vector<std::uint32_t>> of_lane;
  };
  std::vector<Matched> statements;
  for (const Request& request : requests) {
    auto found = std::find_if(statements.begin(), statements.end(),
                              [&](const Matched& matched) { return statement(matched.pattern) == statement(request); });
    if (found == statements.end()) found = statements.insert(found, {request, {}});
    std::size_t active = 0;
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((request.mask >> lane & 1) == 1) found->of_lane[lane].push_back(request.addresses.at(active++));
    }
  }
  Requests result;
  for (const auto& [pattern, of_lane] : statements) {
    for (std::size_t n = 0;; ++n) {
      Request request{pattern.array, pattern.store, pattern.level, 0, {}};
      for (const auto& [lane, addresses] : of_lane) {
        if (n >= addresses.size()) continue;
        request.mask |= std::uint64_t{1} << lane;
        request.addresses.push_back(addresses[n]);
      }
      if (request.mask == 0) break;
      result.push_back(request);
    }
  }
  return result;
}

}  // namespace lockstep
