// Internal to common/bankwise/emulator: which lanes have used each byte of shared memory since the last barrier, as far
// as it takes to see that no other lane has to do with an access; and which bytes the block has written.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

namespace bankwise::emulator {

/// atomic: what is there is read, and may be changed; atomic_store: it is not read.
enum class TouchKind { read, write, atomic, atomic_store };
constexpr bool is_atomic(TouchKind how) { return how == TouchKind::atomic || how == TouchKind::atomic_store; }

/// Zeros that take no memory until they are touched; most of the program's thread-local storage never is.
template <class Element>
class Zeros {
 public:
  /// Error: std::bad_alloc.
  explicit Zeros(std::size_t count)  // not with calloc(), which clears memory that it has used before
      : elements_(static_cast<Element*>(mmap(nullptr, count * sizeof(Element), PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        count_(count) {
    if (elements_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Zeros() { munmap(elements_, count_ * sizeof(Element)); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  Element& operator[](std::size_t i) const { return elements_[i]; }
  void clear() { std::fill_n(elements_, count_, Element{}); }

 private:
  Element* const elements_;
  const std::size_t count_;
};

/// The memory of one block at a time.
class Uses {
 public:
  explicit Uses(std::uint32_t bytes) : words_(bytes / 4 + 1), bytes_(bytes + 4) {}

  void begin_block();
  /// A barrier; or the uses since the last one are forgotten, but not which bytes are written.
  void forget() { ++now_; }

  /// Whether an access of a lane, by its number in the block, is no fault and has the same result whatever other lanes
  /// did since the last barrier, and the other way round. Then it counts.
  bool use(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how) {
    const std::uint32_t word = offset / 4;
    if (bytes != 4 || offset % 4 != 0 || words_[word].writer == by_bytes) return use_parts(lane, offset, bytes, how);
    return use(words_[word], std::uint16_t(lane + 1), how);
  }

  /// The same for the usual case, whole words. If false, it may be another, and use() tells more.
  template <unsigned bytes>
  bool use_words(std::uint32_t lane, std::uint32_t offset, TouchKind how) {
    if (bytes % 4 != 0 || offset % 4 != 0) return false;
    for (unsigned i = 0; i < bytes / 4; ++i) {
      Use& word = words_[offset / 4 + i];
      if (word.writer == by_bytes || !use(word, std::uint16_t(lane + 1), how)) return false;
    }
    return true;
  }

  /// The same for a read of a word that has been used, and not written, since the last barrier.
  bool use_again(std::uint32_t lane, std::uint32_t offset) {
    Use& word = words_[offset / 4];
    if (word.when != 2 * now_ + 1 || word.writer != 0) return false;
    const auto reader = std::uint16_t(lane + 1);
    if (word.reader != reader) word.reader = word.reader == 0 ? reader : several;
    return true;
  }

  bool is_written(std::uint32_t offset) const {
    const Use& word = words_[offset / 4];
    return is_written(word.writer == by_bytes && is_of_block(word) ? bytes_[offset] : word);
  }
  /// A lane writes these bytes, in the order of lock-step.
  void write(std::uint32_t offset, std::uint32_t bytes) {
    Use& word = words_[offset / 4];
    if (bytes != 4 || offset % 4 != 0 || word.writer == by_bytes) return write_parts(offset, bytes);
    renew(word);
    word.when |= 1;
  }

 private:
  /// Lanes from 1; 0: none.
  struct Use {
    std::uint32_t when = 0;                ///< twice the interval, + 1 if it is written
    std::uint16_t writer = 0, reader = 0;  ///< in that interval
  };
  static constexpr std::uint16_t several = 0xFFFF, atomics = 0xFFFE;
  static constexpr std::uint16_t by_bytes = 0xFFFD;  ///< a word whose bytes have been used separately in this block

  bool is_of_block(const Use& use) const { return use.when / 2 >= block_began_; }
  bool is_written(const Use& use) const { return use.when % 2 != 0 && is_of_block(use); }
  void renew(Use& use) const {
    if (use.when / 2 != now_) use = {2 * now_ + std::uint32_t{is_written(use)}, 0, 0};
  }
  bool use(Use& use, std::uint16_t lane, TouchKind how) const {
    renew(use);
    const bool is_mine = use.writer == lane;
    switch (how) {
      case TouchKind::read:
        if ((use.writer != 0 || use.when % 2 == 0) && !is_mine) return false;
        use.reader = use.reader == 0 || use.reader == lane ? lane : several;
        return true;
      case TouchKind::write:
        if ((use.writer != 0 && !is_mine) || (use.reader != 0 && use.reader != lane)) return false;
        use.writer = lane;
        return true;
      case TouchKind::atomic:
      case TouchKind::atomic_store:
        if ((use.writer != 0 && use.writer != atomics) || use.reader != 0 || use.when % 2 == 0) return false;
        use.writer = atomics;
        return true;
    }
    return false;
  }
  void write_parts(std::uint32_t offset, std::uint32_t bytes);
  bool use_parts(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes, TouchKind how);
  /// Calls part(use) for each word that is whole, and for each byte of all others. Ends when it returns false.
  template <class Part>
  bool for_each_part(std::uint32_t offset, std::uint32_t bytes, Part part);

  Zeros<Use> words_, bytes_;
  std::uint32_t now_ = 1, block_began_ = 1;  ///< numbers of intervals
};

}  // namespace bankwise::emulator
