#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bankwise/banks/sectors.hpp>
#include <bankwise/trace/builder.hpp>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: accesses to global memory, of any number of blocks. Sites are program
/// counters.
///
/// At most so many patterns are kept; further ones are costed at once. Those with the least hashes are kept, so the
/// result depends on the set of all accesses only, and not on their order or on the thread that has them.
class GlobalPatterns {
 public:
  /// `sectors_of`: Launch::sectors_of.
  GlobalPatterns(std::size_t max_patterns, std::string_view sectors_of)
      : max_patterns_(max_patterns), architecture_(banks::find_architecture(sectors_of)) {}
  bool are_of_amd() const { return architecture_ != nullptr && architecture_->name.starts_with("gfx"); }

  struct Access {
    std::uintptr_t pc = 0;
    std::uint64_t mask = 0;
    banks::Operation operation = banks::Operation::load;
    std::uint8_t width = 4;
    bool operator==(const Access&) const = default;
  };
  static constexpr std::uint64_t line = 128;  ///< bytes
  /// One access, with the address of each lane up to the last active one; those of inactive lanes mean nothing.
  void add(const Access& access, const std::uint64_t* addresses, const trace::Occurrence& when);
  /// The same, if its pattern is one that the instruction has had lately; otherwise false. Addresses are given by
  /// offsets, below 2^31, from a multiple of `line`.
  bool add_again(const Access& access, std::uint64_t begin, const std::uint32_t* offsets,
                 const trace::Occurrence& when);
  void add(const GlobalPatterns& other);
  /// Adds all to a trace. `site_of`: the trace's number for the site of an instruction.
  void put_into(trace::Builder& builder, const std::function<std::uint32_t(std::uintptr_t pc)>& site_of) const;

 private:
  using Addresses = std::array<std::uint32_t, banks::max_lanes>;
  struct Kept {
    std::uint64_t hash = 0, count = 0;
    std::uint32_t dense_end = 0;  ///< the lanes touch all sectors up to there from the first lane's on; 0: maybe not
    Access access;
    trace::Occurrence first;
    Addresses addresses;  ///< as trace::relative_to_line() gives them; 0 for inactive lanes
  };
  /// Different sectors, one bit each, of 64 KiB of memory.
  struct Sectors {
    std::array<std::uint64_t, 32> read{}, written{};
  };
  static constexpr unsigned region_bits = 16;

  static bool is_same(const Kept& a, const Kept& b, unsigned lanes);
  static void count(Kept& known, const Kept& pattern);
  std::uint32_t add(const Kept& pattern);  ///< 1 + its number; 0: it is not kept
  void cost(const Kept& pattern);
  void raise_level();
  template <class AddressOf>
  void touch(const Access& access, AddressOf address_of);
  void touch_sectors(const Access& access, std::uint64_t first, std::uint64_t last);
  std::uint32_t& latest_kept(const Access& access, std::uint64_t address) {
    return latest_kept_[(access.pc * 16 + address % line) % latest_kept_.size()];
  }
  Sectors& sectors_at(std::uint64_t number);

  std::size_t max_patterns_;
  const banks::Architecture* architecture_;  ///< null: there is none of this name
  unsigned level_ = 0;                       ///< patterns are kept whose hashes begin with so many zeros
  std::vector<Kept> kept_;
  std::vector<std::uint32_t> slots_;               ///< 1 + number of a pattern, by hash; 0: none
  std::array<std::uint32_t, 1024> latest_kept_{};  ///< the same, by instruction and first address
  std::map<std::tuple<std::uintptr_t, banks::Operation, unsigned>, banks::SectorTally> excess_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Sectors>> sectors_;  ///< by region
  std::array<std::pair<std::uint64_t, Sectors*>, 1024> latest_{};        ///< of these, by number % 1024
};

}  // namespace bankwise::emulator
