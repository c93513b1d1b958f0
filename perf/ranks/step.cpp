// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training steps of one network on the ranks of MPI_COMM_WORLD, one way of communication after the
// other, for perf/communication. PHYLLO_NETWORK, PHYLLO_LOSS and PHYLLO_SWEEP come from CMake.

#include "counted_mpi.hpp"
#include "on_ranks.hpp"
#include "rank_samples.hpp"
#include "rebucketed.hpp"
#include "sums_of_step.hpp"

#include <cstdlib>
#include <cstring>

namespace {

using perf::Rebucketed;
using Space = Kokkos::DefaultHostExecutionSpace;
using Net = PHYLLO_NETWORK;
using Loss = PHYLLO_LOSS;
template <class C>
using TrainerOf =
    phyllo::Trainer<Net, Loss, phyllo::Sgd, phyllo::Full<float>, C, phyllo::Execution<Space>>;
using When = Rebucketed::When;

struct Way {
  char const* name;
  When when;
  long bytes;  // of a bucket; 0: all gradients in one
};

template <class T>
Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> random(long rows, int columns) {
  Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> m("random", std::size_t(rows),
                                                              std::size_t(columns));
  for (std::size_t i = 0; i < m.size(); ++i)
    m.data()[i] = T(2 * phyllo::random_uniform(7, 0, 0, i, 0) - 1);
  return m;
}

auto targets_of(long batch) {
  if constexpr (Loss::classes) {
    Kokkos::View<int*, Kokkos::HostSpace> labels("labels", std::size_t(batch));
    for (int n = 0; n < batch; ++n) labels(n) = n * 7 % Net::output.size();
    return labels;
  } else {
    return random<float>(batch, Net::output.size());
  }
}

/// The messages, blocking sums and bytes that a rank gives to MPI in one step, which have to be
/// those of the network's type: on two ranks each sum by messages is half of its numbers there and
/// half of them back.
std::string counted(Way const& way, int ranks, std::function<void()> const& step) {
  auto const before = perf::counted_mpi;
  step();
  long const messages = perf::counted_mpi.messages - before.messages;
  long const calls = perf::counted_mpi.calls - before.calls;
  long const bytes = perf::counted_mpi.bytes - before.bytes;
  constexpr perf::Schedule<Net> schedule;
  perf::CountedMpi expected{2 * long(perf::sums_of_step<Net>().size()), 0, schedule.total};
  if (way.when == When::by_tensor) {
    expected = {};
    for (perf::Tensor const& t : perf::tensors_of<Net>()) {
      ++expected.calls;
      expected.bytes += t.size * long(sizeof(float));
    }
  }
  bool const is_known = way.when == When::by_tensor ||
                        (way.when != When::never && way.bytes == phyllo::default_bucket_bytes);
  if (ranks == 2 && is_known &&
      (messages != expected.messages || calls != expected.calls || bytes != expected.bytes)) {
    std::fprintf(
        stderr,
        "perf: expected %ld messages and %ld blocking sums of %ld bytes in a step, got %ld "
        "and %ld of %ld.\n",
        expected.messages, expected.calls, expected.bytes, messages, calls, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return "\"messages\": " + std::to_string(messages) + ", \"calls\": " + std::to_string(calls) +
         ", \"bytes\": " + std::to_string(bytes);
}

int run(long batch) {
  Space const exec;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  phyllo::Sgd const rule{.rate = 1e-3f, .momentum = 0.9f};
  TrainerOf<Rebucketed> trainer(exec, MPI_COMM_WORLD, rule, {.batch = int(batch), .seed = 1});
  Rebucketed& communication = trainer.communication();
  communication.tensors = perf::tensors_of<Net>();
  auto const x = random<float>(batch, Net::input.size());
  auto const targets = targets_of(batch);
  perf::RankSamples samples(MPI_COMM_WORLD);
  auto const add = [&](Way const& way) {
    auto const step = [&, way] {
      communication.when = way.when;
      communication.bytes = way.bytes == 0 ? std::numeric_limits<long>::max() : way.bytes;
      trainer.step(x, targets);
      exec.fence("perf");
    };
    samples.add("{\"workload\": \"step\", \"case\": \"" + std::string(way.name) +
                    "\", \"bucket_bytes\": " + std::to_string(way.bytes) + ", \"batch\": " +
                    std::to_string(batch) + ", \"ranks\": " + std::to_string(size) + ", " +
                    (step(), counted(way, size, step)) + "}",
                step);
  };
  add({"alone", When::never, 0});
  if (size > 1) {
    add({"no overlap", When::at_the_end, phyllo::default_bucket_bytes});
    add({"overlap", When::at_once, phyllo::default_bucket_bytes});
    add({"by tensor", When::by_tensor, 0});
    if (PHYLLO_SWEEP)
      for (int power = 16; power <= 26; power += 2) add({"overlap", When::at_once, 1L << power});
    if (PHYLLO_SWEEP) add({"overlap", When::at_once, 0});
  }
  return samples.answer();
}

}  // namespace

int main(int argc, char* argv[]) {
  return perf::on_ranks(argc, argv, [](int count, char** arguments) {
    long batch = 1;
    for (int i = 1; i + 1 < count; ++i)
      if (std::strcmp(arguments[i], "--batch") == 0) batch = std::atol(arguments[i + 1]);
    return run(batch);
  });
}
