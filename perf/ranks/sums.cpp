// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums over the ranks of MPI_COMM_WORLD by the transport Mpi, without any training: by size, and of
// the gradients of each network by tensor and by buckets; for perf/communication.

#include "all_reduce.hpp"
#include "on_ranks.hpp"
#include "persistent_sum.hpp"
#include "rank_samples.hpp"
#include "schedule.hpp"
#include "tensors.hpp"

#include <phyllo/comm/mpi.hpp>

#include <limits>
#include <memory>

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Gradients = Kokkos::View<float*, Kokkos::HostSpace>;
using perf::all_reduce;
using perf::Tensor;

std::string facts(char const* network, std::string const& name, long bytes, std::size_t transfers) {
  return "{\"workload\": \"sums\", \"network\": \"" + std::string(network) + "\", \"case\": \"" +
         name + "\", \"batch\": " + std::to_string(bytes) +
         ", \"transfers\": " + std::to_string(transfers) + "}";
}

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
void add_network(perf::RankSamples& samples, phyllo::Mpi& mpi, phyllo::Mpi& library,
                 char const* name) {
  Space const exec;
  auto const tensors = perf::tensors_of<Net>();
  long const all = tensors.front().offset + tensors.front().size;
  Gradients const gradients("gradients", std::size_t(all));
  samples.add(facts(name, "by tensor", 0, tensors.size()), [=] {
    for (Tensor const& t : tensors) all_reduce(gradients.data() + t.offset, t.size);
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
    samples.add(facts(name, "library, buckets", power == 28 ? 0 : bytes, buckets.size()),
                [=, &library] {
                  for (Tensor const& b : buckets)
                    library.begin(exec, gradients.data() + b.offset, b.size);
                  library.finish(exec);
                });
  }
}

int run() {
  Space const exec;
  phyllo::Mpi mpi(MPI_COMM_WORLD), library(MPI_COMM_WORLD, {.library_sums = true});
  perf::RankSamples samples(MPI_COMM_WORLD);
  for (int power = 2; power <= 26; power += 2) {
    long const count = (1L << power) / long(sizeof(float));
    Gradients const data("data", std::size_t(count));
    samples.add(facts("", "sum", 1L << power, 1), [=, &mpi] { mpi.sum(exec, data.data(), count); });
    samples.add(facts("", "begin and finish", 1L << power, 1), [=, &mpi] {
      mpi.begin(exec, data.data(), count);
      mpi.finish(exec);
    });
    samples.add(facts("", "library, begin and finish", 1L << power, 1), [=, &library] {
      library.begin(exec, data.data(), count);
      library.finish(exec);
    });
    samples.add(facts("", "MPI_Allreduce", 1L << power, 1),
                [=] { all_reduce(data.data(), count); });
    samples.add(facts("", "MPI_Iallreduce", 1L << power, 1), [=] {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(MPI_IN_PLACE, data.data(), int(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                     &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
#if MPI_VERSION >= 4
    auto const persistent = std::make_shared<perf::PersistentSum>(data.data(), count);
    samples.add(facts("", "MPI_Allreduce_init", 1L << power, 1), [=] { persistent->run(); });
#endif
  }
  add_network<perf::Mlp>(samples, mpi, library, "mlp");
  add_network<perf::LeNet>(samples, mpi, library, "lenet");
  add_network<perf::WideMlp>(samples, mpi, library, "wide-mlp");
  add_network<networks::ResNet18>(samples, mpi, library, "resnet18");
  return samples.answer();
}

}  // namespace

int main(int argc, char* argv[]) {
  return perf::on_ranks(argc, argv, [](int, char**) { return run(); });
}
