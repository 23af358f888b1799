// The shared-memory requests of a warp, in a form that does not depend on the recorder; and those of lanes that run
// alone, path_reference.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

/// One access of one warp. Array, direction and level identify the statement.
struct Request {
  std::string array;
  bool store = false;
  unsigned level = 0;  ///< barriers before it
  std::uint64_t mask = 0;
  std::vector<std::uint32_t> addresses;  ///< of the active lanes, lowest first: bytes from the array's start
};

/// In the order in which they were made.
using Requests = std::vector<Request>;

/// Which requests of a warp must have the order of the source.
enum class Order {
  all,           ///< all requests
  of_statement,  ///< requests of the same statement
  none,
};

/// One line per request, "1 load inner 000000000000000f: 0 4 8 12"; sorted as far as the order of execution does not
/// matter.
std::vector<std::string> lines(const Requests& requests, Order order);

struct Outcome {
  std::vector<Requests> warps;
  std::vector<unsigned> output;  ///< as many words as threads
};
using Kernel = void (*)(const unsigned* in, unsigned* out);

/// Runs one block. Error: std::runtime_error if a lane makes two accesses on one path: a loop or a call is not marked.
Outcome run_alone(Kernel kernel, unsigned threads, unsigned warp, const std::vector<unsigned>& input);

/// The kernel of this name, without its prefix, to be run alone.
Kernel kernel_alone(const std::string& name);

}  // namespace lockstep
