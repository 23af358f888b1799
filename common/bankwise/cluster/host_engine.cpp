#include <algorithm>
#include <vector>

#include <bankwise/cluster/engine.hpp>

namespace bankwise::cluster {
namespace {

using Words = std::vector<std::uint32_t>;

/// The end of the last piece, so the buffer's guard bytes stay where they are.
std::uint64_t end_of(std::span<const Piece> pieces) {
  std::uint64_t end = 0;
  for (const Piece& piece : pieces) end = std::max(end, piece.first + piece.words);
  return end;
}

class HostEngine : public Engine {
 public:
  HostEngine(gpu::Session& session, Communicator& communicator) : session_(session), communicator_(communicator) {}

  std::string name() const override { return Communicator::version() + " through host memory"; }
  bool on_device() const override { return false; }

  void all_reduce(gpu::Buffer& words, std::uint64_t count) override {
    write(words, communicator_.sum(read(words, count)));
  }

  void all_gather(const gpu::Buffer& from, gpu::Buffer& to, std::uint64_t count) override {
    const Words mine = read(from, count);
    const std::vector<std::byte> gathered = communicator_.gather(std::as_bytes(std::span(mine)));
    if (!gathered.empty()) session_.write(to, 0, gathered);
  }

  void all_to_all(const gpu::Buffer& from, std::span<const Piece> send, gpu::Buffer& to, std::span<const Piece> receive,
                  bool /*overlapped*/) override {
    const Words mine = read(from, end_of(send));
    Words theirs(end_of(receive));
    communicator_.all_to_all(mine, send, theirs, receive);
    for (const Piece& piece : receive) {  // words between the pieces stay as they are
      if (piece.words == 0) continue;
      const auto words = std::span(theirs).subspan(piece.first, piece.words);
      session_.write(to, piece.first * sizeof(std::uint32_t), std::as_bytes(words));
    }
  }
  void join() override {}  // every exchange has ended when its function returns

 private:
  Words read(const gpu::Buffer& from, std::uint64_t count) {
    Words words(count);
    if (count > 0) session_.read(from, 0, std::as_writable_bytes(std::span(words)));
    return words;
  }
  void write(gpu::Buffer& to, const Words& words) {
    if (!words.empty()) session_.write(to, 0, std::as_bytes(std::span(words)));
  }

  gpu::Session& session_;
  Communicator& communicator_;
};

}  // namespace

std::unique_ptr<Engine> open_host_engine(gpu::Session& session, Communicator& communicator) {
  return std::make_unique<HostEngine>(session, communicator);
}

}  // namespace bankwise::cluster
