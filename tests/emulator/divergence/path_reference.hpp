// The kernels of this folder without the emulator: each lane runs alone, on a stack of its own. By definition lanes
// of a warp execute a statement together if they have come to it on the same path: through the same calls, in the same
// iterations of the same loops. They reconverge after a branch or a loop, because it is no part of the path from there
// on. Requests have the order of their paths in the source. There are no masks and no program counters here, so the
// errors of the emulator are impossible.
//
// Include it after all other headers, and before the kernels: it defines what they need of CUDA, and of fill.cuh.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "requests.hpp"

namespace lockstep {

inline constexpr unsigned words = 256;

/// The level; then each loop that a lane is in, with its iteration, and each call; at last the statement. All by their
/// lines, because they have different ones.
using Path = std::vector<std::pair<unsigned, std::uint32_t>>;

class Words;
struct Access {
  Path path;
  const Words* array;
  bool store;
  unsigned index;
};

struct Lane {
  Path path{{0, 0}};
  std::vector<Access> accesses = {};
};
inline Lane* lane = nullptr;  ///< the one that runs
struct Dim {
  unsigned x;
};
inline Dim threadIdx, blockDim;

/// An index, and the line of the statement that has it.
struct Index {
  Index(unsigned value_, unsigned line_ = __builtin_LINE()) : value(value_), line(line_) {}
  unsigned value, line;
};

/// An array in shared memory that records its accesses.
class Words {
 public:
  struct Word {
    const Words& array;
    Index at;
    operator unsigned() const { return array.word(at, false); }
    Word& operator=(unsigned value) {
      array.word(at, true) = value;
      return *this;
    }
  };
  Word operator[](Index at) const { return {*this, at}; }

 private:
  unsigned& word(Index at, bool store) const {
    lane->accesses.push_back({lane->path, this, store, at.value});
    lane->accesses.back().path.emplace_back(at.line, 0);
    return content_.at(at.value);
  }
  mutable std::array<unsigned, words> content_{};
};

/// Part of the path while it exists.
struct Inside {
  explicit Inside(unsigned line, std::uint32_t turn = 0) { lane->path.emplace_back(line, turn); }
  ~Inside() { lane->path.pop_back(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};
inline bool next_iteration() { return ++lane->path.back().second != 0; }

/// A call comes after what else is in its line.
auto called(unsigned line, const auto& call) {
  const Inside inside(line, ~0U);
  return call();
}

/// Waits for all lanes of the block that have not returned, which is more than a warp needs.
void wait_for_others();
inline void __syncthreads() {
  wait_for_others();
  ++lane->path.front().first;
}
inline void __syncwarp(unsigned /*mask*/) { wait_for_others(); }
inline unsigned __activemask() { return 0; }                          // only passed to __syncwarp()
inline unsigned __ballot_sync(unsigned /*mask*/, bool) { return 0; }  // likewise

/// Fills the arrays, one after the other, and waits for all. `names`: "first, second"
void fill_shared(const std::string& names, const std::vector<const Words*>& arrays, const unsigned* in);

std::vector<const Words*> addresses(const auto&... arrays) { return {&arrays...}; }

inline unsigned own(unsigned row) { return row % 4 * 64 + threadIdx.x; }

}  // namespace lockstep

#define __global__
#define __device__
#define __noinline__
#define __shared__ static
#define LOOP const Inside inside(__LINE__)
#define ITERATION next_iteration()
#define FOR(first, condition, next) \
  if (LOOP; true)                   \
    for (first; ITERATION && (condition); next)
#define WHILE(condition) FOR(, condition, )
#define CALL(call) called(__LINE__, [&] { return call; })
#define FILL(...) fill_shared(#__VA_ARGS__, addresses(__VA_ARGS__), in)
#pragma GCC diagnostic ignored "-Wshadow"  // loops in loops
