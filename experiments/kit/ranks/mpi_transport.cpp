#include "experiments/kit/ranks/mpi_transport.hpp"

#if BOLTZMARK_MPI
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <numeric>
#include <thread>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/ranks/launcher.hpp"

namespace boltzmark::experiments {
namespace {

enum Tag { kMessage = 1, kEnd = 2, kLeave = 3, kPiece = 4 };
constexpr double kLeaveSeconds = 5;  // that rank 0 waits for the others

/// Every peer over TCP takes an open file: 10,000 of them do not fit into the usual 1,024.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(500)); }

class MpiRanks final : public RankLink {
 public:
  explicit MpiRanks(std::int64_t most_bytes) : most_bytes_(most_bytes) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &on_host_);
    MPI_Comm_free(&host);
  }
  /// Whatever was thrown here, the other ranks are told to end.
  ~MpiRanks() override {
    if (!finished_) finish(1, true, {});
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  int ranks_on_host() const override { return on_host_; }
  bool ended() const override { return ended_; }

  std::vector<std::string> gather(const std::string& text) override {
    const auto size = static_cast<std::int64_t>(text.size());
    std::vector<std::int64_t> sizes(rank_ == 0 ? ranks_ : 0);
    MPI_Gather(&size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    std::int64_t whole = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    MPI_Bcast(&whole, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return whole <= most_bytes_ ? gather_at_once(text, sizes) : gather_in_turn(text, sizes);
  }

  std::string broadcast(const std::string& text) override {
    auto size = static_cast<std::int64_t>(text.size());
    MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    std::string all = rank_ == 0 ? text : std::string(static_cast<std::size_t>(size), '\0');
    for_pieces(size, [&](std::int64_t at, int count) {
      MPI_Bcast(all.data() + at, count, MPI_BYTE, 0, MPI_COMM_WORLD);
    });
    return all;
  }

  void send(int to, std::string bytes) override { send_tagged(to, std::move(bytes), kMessage); }

  std::optional<RankMessage> receive() override {
    drop_sent();
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    RankMessage message{.from = status.MPI_SOURCE,
                        .bytes = std::string(static_cast<std::size_t>(size), '\0')};
    MPI_Recv(message.bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (status.MPI_TAG == kMessage) return message;
    if (status.MPI_TAG == kEnd) ended_ = true;
    if (status.MPI_TAG == kLeave) ++left_;
    return std::nullopt;
  }

  void finish(int exit_code, bool all_heard, const std::string& farewell) override {
    say_goodbye();
    const bool all_left = all_heard && waits_for([this] { return rank_ != 0 || all_left_here(); });
    end(all_left, exit_code, farewell);
  }

  void fail(int exit_code, const std::string& farewell) override {
    if (rank_ == 0) return finish(exit_code, true, farewell);
    say_goodbye();
    end(waits_for([this] { return ended_; }), exit_code, farewell);
  }

 private:
  std::vector<std::string> gather_at_once(const std::string& text,
                                          const std::vector<std::int64_t>& sizes) const {
    const std::vector<int> counts(sizes.begin(), sizes.end());
    std::vector<int> starts(counts.size());
    int whole = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) whole = (starts[i] = whole) + counts[i];
    std::string all(static_cast<std::size_t>(whole), '\0');
    MPI_Gatherv(text.data(), static_cast<int>(text.size()), MPI_BYTE, all.data(), counts.data(),
                starts.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < counts.size(); ++i)
      texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), counts[i]));
    return texts;
  }

  /// What a single message cannot hold.
  std::vector<std::string> gather_in_turn(const std::string& text,
                                          const std::vector<std::int64_t>& sizes) const {
    if (rank_ != 0)
      for_pieces(static_cast<std::int64_t>(text.size()), [&](std::int64_t at, int count) {
        MPI_Send(text.data() + at, count, MPI_BYTE, 0, kPiece, MPI_COMM_WORLD);
      });
    std::vector<std::string> texts;
    if (rank_ == 0) texts.push_back(text);
    for (int from = 1; rank_ == 0 && from < ranks_; ++from) {
      std::string& theirs = texts.emplace_back(static_cast<std::size_t>(sizes[from]), '\0');
      for_pieces(sizes[from], [&](std::int64_t at, int count) {
        MPI_Recv(theirs.data() + at, count, MPI_BYTE, from, kPiece, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      });
    }
    return texts;
  }

  template <class Body>
  void for_pieces(std::int64_t bytes, const Body& body) const {
    for (std::int64_t at = 0; at < bytes; at += most_bytes_)
      body(at, static_cast<int>(std::min(most_bytes_, bytes - at)));
  }

  bool all_left_here() const { return left_ == ranks_ - 1; }

  void say_goodbye() {
    finished_ = true;
    if (rank_ != 0) send_tagged(0, {}, kLeave);
    for (int to = 1; rank_ == 0 && to < ranks_; ++to) send_tagged(to, {}, kEnd);
  }

  /// Takes what still comes until something holds and nothing is on its way from here.
  template <class Condition>
  bool waits_for(const Condition& holds) {
    const double start = now_seconds();
    while (!holds() || !sent_.empty()) {
      if (now_seconds() - start > kLeaveSeconds) return false;
      receive();
      nap();
    }
    return true;
  }

  static void end(bool in_peace, int exit_code, const std::string& farewell) {
    if (!in_peace) {
      std::fflush(stderr);
      say_aloud(farewell);
      MPI_Abort(MPI_COMM_WORLD, exit_code);
    }
    MPI_Finalize();
  }

  void send_tagged(int to, std::string bytes, int tag) {
    sent_.push_back({MPI_REQUEST_NULL, std::move(bytes)});
    auto& [request, kept] = sent_.back();
    MPI_Isend(kept.data(), static_cast<int>(kept.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD,
              &request);
  }

  void drop_sent() {
    for (auto it = sent_.begin(); it != sent_.end();) {
      int done = 0;
      MPI_Test(&it->first, &done, MPI_STATUS_IGNORE);
      it = done ? sent_.erase(it) : std::next(it);
    }
  }

  std::int64_t most_bytes_;
  int rank_ = 0, ranks_ = 1, on_host_ = 1, left_ = 0;
  bool ended_ = false, finished_ = false;
  std::list<std::pair<MPI_Request, std::string>> sent_;  ///< bytes stay until they are gone
};

}  // namespace

std::string mpi_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int size = 0;
  MPI_Get_library_version(text, &size);
  const std::string name(text, static_cast<std::size_t>(size));
  return name.substr(0, name.find_first_of(",\n"));
}

std::unique_ptr<RankLink> start_mpi(std::int64_t most_bytes, int start_seconds) {
  raise_file_limit();
  int given = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
      given < MPI_THREAD_FUNNELED)
    throw Error("MPI cannot start with threads (must have MPI_THREAD_FUNNELED)");
  limit_start(start_seconds);
  // Under srun Open MPI 4.1 lets a rank out of MPI_Init before another can receive: its first
  // message would crash that one.
  if (std::getenv("SLURM_STEP_ID") != nullptr)
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  return std::make_unique<MpiRanks>(most_bytes);
}

}  // namespace boltzmark::experiments

#else

namespace boltzmark::experiments {

std::string mpi_name() { return {}; }
std::unique_ptr<RankLink> start_mpi(std::int64_t, int) { return nullptr; }

}  // namespace boltzmark::experiments

#endif
