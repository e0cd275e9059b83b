#include "experiments/kit/ranks/mpi_ranks.hpp"

#if BOLTZMARK_MPI
#include <fmt/format.h>
#include <mpi.h>

#include <limits>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

/// Elements of so many bytes, so that counts of them fit into an int.
class Element {
 public:
  explicit Element(std::size_t bytes) {
    MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~Element() { MPI_Type_free(&type_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

int as_int(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(fmt::format("elements of a message = {} (must be fewer than 2^31)", count));
  return static_cast<int>(count);
}

/// Counts and starts of runs that lie one after the other, as MPI wants them.
struct Runs {
  explicit Runs(const Ranks::Counts& of) {
    std::size_t whole = 0;
    for (const std::size_t count : of) {
      counts.push_back(as_int(count));
      starts.push_back(count == 0 ? 0 : as_int(whole));
      whole += count;
    }
  }
  std::vector<int> counts, starts;
};

class CollectiveRanks final : public Ranks {
 public:
  CollectiveRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &number_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  int number() const override { return number_; }
  int count() const override { return count_; }

 protected:
  void exchange(const void* send, const Counts& sent, void* receive, const Counts& received,
                std::size_t element_bytes) const override {
    const Element element(element_bytes);
    const Runs out(sent), in(received);
    MPI_Alltoallv(send, out.counts.data(), out.starts.data(), element.type(), receive,
                  in.counts.data(), in.starts.data(), element.type(), MPI_COMM_WORLD);
  }
  void collect(const void* own, const Counts& counts, void* all,
               std::size_t element_bytes) const override {
    const Element element(element_bytes);
    const Runs runs(counts);
    MPI_Allgatherv(own, runs.counts[static_cast<std::size_t>(number_)], element.type(), all,
                   runs.counts.data(), runs.starts.data(), element.type(), MPI_COMM_WORLD);
  }
  void spread(void* data, std::size_t bytes, int from) const override {
    MPI_Bcast(data, as_int(bytes), MPI_BYTE, from, MPI_COMM_WORLD);
  }

 private:
  int number_ = 0, count_ = 1;
};

}  // namespace

std::unique_ptr<Ranks> mpi_ranks() { return std::make_unique<CollectiveRanks>(); }

}  // namespace boltzmark::experiments

#else

namespace boltzmark::experiments {

std::unique_ptr<Ranks> mpi_ranks() { return nullptr; }

}  // namespace boltzmark::experiments

#endif
