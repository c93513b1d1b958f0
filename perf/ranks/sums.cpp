// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums over the ranks of MPI_COMM_WORLD by the transport Mpi, without any training: by size, and of
// the gradients of each network by tensor and by buckets; for perf/communication.

#include "rank_samples.hpp"
#include "schedule.hpp"
#include "tensors.hpp"

#include <phyllo/comm/mpi.hpp>
#include <phyllo/comm/mpi_halving_sum.hpp>

#include <limits>
#include <memory>

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Gradients = Kokkos::View<float*, Kokkos::HostSpace>;
using perf::Tensor;

std::string facts(char const* network, std::string const& name, long bytes, std::size_t transfers) {
  return "{\"workload\": \"sums\", \"network\": \"" + std::string(network) + "\", \"case\": \"" +
         name + "\", \"batch\": " + std::to_string(bytes) +
         ", \"transfers\": " + std::to_string(transfers) + "}";
}

/// All buckets under way at once by the library's own messages.
class Halving {
 public:
  Halving(MPI_Comm communicator, std::vector<Tensor> buckets) : buckets_(std::move(buckets)) {
    MPI_Comm_dup(communicator, &communicator_);
    MPI_Comm_rank(communicator, &rank_);
    MPI_Comm_size(communicator, &size_);
    long all = 0;
    for (Tensor const& b : buckets_) all += Sum::room_size(b.size, size_);
    room_ = Gradients("room", std::size_t(all));
  }
  void run(float* gradients) const {
    std::vector<Sum> sums;
    sums.reserve(buckets_.size());
    float* room = room_.data();
    for (Tensor const& b : buckets_) {
      sums.emplace_back(communicator_, rank_, size_, int(sums.size()), gradients + b.offset, b.size,
                        room);
      room += Sum::room_size(b.size, size_);
      for (Sum& sum : sums) sum.advance();
    }
    for (Sum& sum : sums) sum.wait();
  }

 private:
  using Sum = phyllo::MpiHalvingSum<float>;

  std::vector<Tensor> buckets_;
  MPI_Comm communicator_ = MPI_COMM_NULL;  // for the life of the program
  int rank_ = 0, size_ = 1;
  Gradients room_;
};

/// Neighbouring tensors until `bytes` are full, as the trainer's buckets.
std::vector<Tensor> merged(std::vector<Tensor> const& tensors, long bytes) {
  std::vector<Tensor> buckets;
  Tensor open;
  for (Tensor const& t : tensors) {
    open.size = open.size == 0 ? t.size : open.offset + open.size - t.offset;
    open.offset = t.offset;
    if (open.size * long(sizeof(float)) < bytes) continue;
    buckets.push_back(open);
    open = {};
  }
  if (open.size > 0) buckets.push_back(open);
  return buckets;
}

template <class Net>
void add_network(perf::RankSamples& samples, phyllo::Mpi& mpi, char const* name) {
  Space const exec;
  auto const tensors = perf::tensors_of<Net>();
  long const all = tensors.front().offset + tensors.front().size;
  Gradients const gradients("gradients", std::size_t(all));
  samples.add(facts(name, "by tensor", 0, tensors.size()), [=, &mpi] {
    for (Tensor const& t : tensors) mpi.sum(exec, gradients.data() + t.offset, t.size);
  });
  for (int power = 16; power <= 28; power += 2) {
    long const bytes = power == 28 ? std::numeric_limits<long>::max() : 1L << power;
    if (power < 28 && bytes / 4 > all * long(sizeof(float))) continue;
    auto const buckets = merged(tensors, bytes);
    samples.add(facts(name, "buckets", power == 28 ? 0 : bytes, buckets.size()), [=, &mpi] {
      // As the trainer does with an only bucket.
      if (buckets.size() == 1) return mpi.sum(exec, gradients.data(), buckets.front().size);
      for (Tensor const& b : buckets) mpi.begin(exec, gradients.data() + b.offset, b.size);
      mpi.finish(exec);
    });
    auto const halving = std::make_shared<Halving>(MPI_COMM_WORLD, buckets);
    samples.add(facts(name, "own messages, buckets", power == 28 ? 0 : bytes, buckets.size()),
                [=] { halving->run(gradients.data()); });
  }
}

int run() {
  Space const exec;
  phyllo::Mpi mpi(MPI_COMM_WORLD);
  perf::RankSamples samples(MPI_COMM_WORLD);
  for (int power = 2; power <= 26; power += 2) {
    long const count = (1L << power) / long(sizeof(float));
    Gradients const data("data", std::size_t(count));
    samples.add(facts("", "sum", 1L << power, 1), [=, &mpi] { mpi.sum(exec, data.data(), count); });
    samples.add(facts("", "begin and finish", 1L << power, 1), [=, &mpi] {
      mpi.begin(exec, data.data(), count);
      mpi.finish(exec);
    });
    auto const halving = std::make_shared<Halving>(MPI_COMM_WORLD, std::vector<Tensor>{{0, count}});
    samples.add(facts("", "own messages", 1L << power, 1), [=] { halving->run(data.data()); });
  }
  add_network<perf::Mlp>(samples, mpi, "mlp");
  add_network<perf::LeNet>(samples, mpi, "lenet");
  add_network<perf::WideMlp>(samples, mpi, "wide-mlp");
  add_network<networks::ResNet18>(samples, mpi, "resnet18");
  return samples.answer();
}

}  // namespace

int main(int argc, char* argv[]) {
  int thread_support = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &thread_support);
  int result = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    result = run();
  }
  MPI_Finalize();
  return result;
}
