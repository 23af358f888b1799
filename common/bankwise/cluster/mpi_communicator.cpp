#include <bankwise/cluster/communicator.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <climits>

#include <bankwise/gpu/error.hpp>

namespace bankwise::cluster {
namespace {

/// "MPI_Barrier" of "MPI_Barrier(MPI_COMM_WORLD)".
constexpr std::string_view name_of(std::string_view call) { return call.substr(0, call.find('(')); }

void check_mpi(int code, std::string_view call, gpu::CallSite where = gpu::CallSite::here()) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw gpu::Error(name_of(call), std::string(text, std::size_t(length)), where);
}

/// Counts in MPI calls are of type int.
int count_of(std::uint64_t words) {
  if (words > INT_MAX) {
    throw gpu::Unsupported(fmt::format("{} words in one message are more than the {} of an MPI call", words, INT_MAX));
  }
  return int(words);
}

}  // namespace

/// Throws gpu::Error unless the call succeeds in time. A macro because only a macro can quote the call.
#define BANKWISE_MPI(call)                                    \
  do {                                                        \
    const Deadline limit(name_, std::string(name_of(#call))); \
    check_mpi((call), #call);                                 \
  } while (false)

Communicator::Communicator(const std::string& program) : name_(program) {
  int provided = 0, rank = 0, ranks = 1;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  rank_ = unsigned(rank);
  ranks_ = unsigned(ranks);
  name_ = fmt::format("{}: rank {}", program, rank_);
  MPI_Comm node = MPI_COMM_NULL;
  BANKWISE_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  check_mpi(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(node, &ranks), "MPI_Comm_size");
  rank_on_node_ = unsigned(rank);
  ranks_on_node_ = unsigned(ranks);
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
}

Communicator::~Communicator() {
  const Deadline limit(name_, "MPI_Finalize");
  MPI_Finalize();
}

std::string Communicator::version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, std::size_t(length));
  return version.substr(0, version.find_first_of(",\n"));
}

void Communicator::barrier() { BANKWISE_MPI(MPI_Barrier(MPI_COMM_WORLD)); }

double Communicator::max(double value) {
  double largest = value;
  BANKWISE_MPI(MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  return largest;
}

std::vector<std::uint32_t> Communicator::sum(std::span<const std::uint32_t> words) {
  std::vector<std::uint32_t> sums(words.size());
  BANKWISE_MPI(MPI_Allreduce(words.data(), sums.data(), count_of(words.size()), MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD));
  return sums;
}

std::vector<std::uint32_t> Communicator::sum_of_lower(std::span<const std::uint32_t> words) {
  std::vector<std::uint32_t> sums(words.size());
  BANKWISE_MPI(MPI_Exscan(words.data(), sums.data(), count_of(words.size()), MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD));
  if (rank_ == 0) sums.assign(words.size(), 0);  // MPI leaves them undefined
  return sums;
}

std::vector<std::byte> Communicator::gather(std::span<const std::byte> bytes) {
  std::vector<std::byte> gathered(bytes.size() * ranks_);
  const int count = count_of(bytes.size());
  BANKWISE_MPI(MPI_Allgather(bytes.data(), count, MPI_BYTE, gathered.data(), count, MPI_BYTE, MPI_COMM_WORLD));
  return gathered;
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  const auto longest = std::size_t(max(double(text.size())));
  std::string padded = text;
  padded.resize(longest + 1, '\0');  // so each text ends with at least one zero byte
  const std::vector<std::byte> gathered = gather(std::as_bytes(std::span(padded)));
  std::vector<std::string> texts;
  for (unsigned rank = 0; rank < ranks_; ++rank) {
    texts.emplace_back(reinterpret_cast<const char*>(gathered.data()) + rank * padded.size());
  }
  return texts;
}

void Communicator::broadcast(std::span<std::byte> bytes) {
  BANKWISE_MPI(MPI_Bcast(bytes.data(), count_of(bytes.size()), MPI_BYTE, 0, MPI_COMM_WORLD));
}

void Communicator::all_to_all(std::span<const std::uint32_t> from, std::span<const Piece> send,
                              std::span<std::uint32_t> to, std::span<const Piece> receive) {
  // Point to point instead of MPI_Alltoallv, whose displacements are of type int.
  std::vector<MPI_Request> requests;
  for (unsigned step = 0; step < ranks_; ++step) {
    const unsigned source = (rank_ + ranks_ - step) % ranks_;
    const Piece piece = receive[source];
    check_mpi(MPI_Irecv(to.subspan(piece.first, piece.words).data(), count_of(piece.words), MPI_UINT32_T, int(source),
                        0, MPI_COMM_WORLD, &requests.emplace_back()),
              "MPI_Irecv");
  }
  for (unsigned step = 0; step < ranks_; ++step) {
    const unsigned target = (rank_ + step) % ranks_;
    const Piece piece = send[target];
    check_mpi(MPI_Isend(from.subspan(piece.first, piece.words).data(), count_of(piece.words), MPI_UINT32_T, int(target),
                        0, MPI_COMM_WORLD, &requests.emplace_back()),
              "MPI_Isend");
  }
  BANKWISE_MPI(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

void Communicator::end(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace bankwise::cluster
