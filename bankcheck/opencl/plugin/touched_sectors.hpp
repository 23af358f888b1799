#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace bankwise::opencl {

/// The different sectors (32 bytes) of global memory that a launch reads and writes: one bit each, in pages of 128 KiB
/// that are made when they are touched. Several threads may touch sectors at the same time.
class TouchedSectors {
 public:
  static constexpr unsigned sector_bytes = 32;

 private:
  static constexpr unsigned sectors_of_page = 4096;
  using Bits = std::array<std::atomic<std::uint64_t>, sectors_of_page / 64>;
  struct Page {
    Bits read{}, written{};
  };

 public:
  struct Counts {
    std::uint64_t read = 0, written = 0;
  };

  Counts counts() const {
    const std::lock_guard lock(mutex_);
    Counts sum;
    for (const auto& [number, page] : pages_) {
      for (const auto& bits : page->read) sum.read += unsigned(std::popcount(bits.load(std::memory_order_relaxed)));
      for (const auto& bits : page->written)
        sum.written += unsigned(std::popcount(bits.load(std::memory_order_relaxed)));
    }
    return sum;
  }

  /// A thread's way to them: it remembers the pages.
  class Toucher {
   public:
    explicit Toucher(TouchedSectors& sectors) : sectors_(&sectors) {}

    void touch(std::uint64_t address, std::uint64_t bytes, bool is_store) {
      const std::uint64_t end = (address + bytes - 1) / sector_bytes + 1;
      for (std::uint64_t sector = address / sector_bytes; sector < end; ++sector) {
        Page& page = page_of(sector / sectors_of_page);
        auto& bits = (is_store ? page.written : page.read)[sector % sectors_of_page / 64];
        const std::uint64_t bit = std::uint64_t{1} << sector % 64;
        if ((bits.load(std::memory_order_relaxed) & bit) == 0) bits.fetch_or(bit, std::memory_order_relaxed);
      }
    }

   private:
    Page& page_of(std::uint64_t number) {
      auto& [known, page] = last_[number % last_.size()];
      if (page == nullptr || known != number) {
        known = number;
        page = sectors_->page(number);
      }
      return *page;
    }

    TouchedSectors* sectors_;
    std::array<std::pair<std::uint64_t, Page*>, 256> last_{};  // each at its number modulo the size
  };

 private:
  Page* page(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    auto& page = pages_[number];
    if (page == nullptr) page = std::make_unique<Page>();
    return page.get();
  }

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace bankwise::opencl
