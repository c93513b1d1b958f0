// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training on several ranks equals training on one rank with the whole batch.

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <mpi.h>
#include <rings.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::View<double**, Kokkos::HostSpace>;

struct Perceptron : Network<Input<6>, Linear<20>, Tanh, Linear<3>> {};
struct Masked : Network<Input<6>, Linear<140>, ReLU, Dropout<0.5>, Linear<3>> {};
struct Convolutional : Network<Input<2, 5, 5>, Conv2d<5>, ReLU, Flatten, Linear<3>> {};
struct GlobalNorm
    : Network<Input<2, 4, 4>, Conv2d<4>, BatchNorm<Statistics::Global>, Tanh, Flatten, Linear<3>> {
};
struct LocalNorm : Network<Input<2, 4, 4>, Conv2d<4>, BatchNorm<>, Tanh, Flatten, Linear<3>> {};

int rank_of() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks_of() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

Host values(int rows, int columns, int step, double phase) {
  Host v("values", std::size_t(rows), std::size_t(columns));
  for (int n = 0; n < rows; ++n)
    for (int i = 0; i < columns; ++i)
      v(std::size_t(n), std::size_t(i)) =
          std::sin(phase + 0.7 * n + 1.3 * i + 0.11 * n * i + 2.9 * step);
  return v;
}

template <class V> auto on_device(V const& view) {
  return Kokkos::create_mirror_view_and_copy(Space{}, view);
}
template <class V> auto on_host(V const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
}

template <class M> std::vector<double> numbers(M const& model) {
  auto const master = on_host(model.master());
  auto const buffers = on_host(model.buffers());
  std::vector<double> all;
  for (std::size_t i = 0; i < master.extent(0); ++i) all.push_back(double(master(i)));
  for (std::size_t i = 0; i < buffers.extent(0); ++i) all.push_back(buffers(i));
  return all;
}

double distance(std::vector<double> const& a, std::vector<double> const& b) {
  double d = 0, s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d += (a[i] - b[i]) * (a[i] - b[i]), s += a[i] * a[i];
  return std::sqrt(d / s);
}

// Samples of each step; with three ranks the last one of the smallest batch is empty.
constexpr int batches[] = {12, 7, 2, 12, 5};

// micro: samples of a micro-batch; 0: each step is one pass.
template <class Net, class P, class C, class Communicator>
std::vector<double> train(Communicator const& communicator, bool split, double* loss = nullptr,
                          int micro = 0) {
  Space exec;
  Trainer<Net, MeanSquaredError, Sgd, P, C> trainer(
      exec, communicator, Sgd{.rate = 0.1f, .momentum = 0.9f, .weight_decay = 1e-3f},
      {.batch = 12, .seed = 7});
  int step = 0;
  for (int const batch : batches) {
    auto const x = on_device(values(batch, Net::input.size(), step, 0.3));
    auto const t = on_device(values(batch, Net::output.size(), step++, 1.9));
    std::pair<int, int> rows{0, batch};
    // Uneven on purpose: earlier ranks have more.
    if (split) {
      int const share = (batch + ranks_of() - 1) / ranks_of();
      rows = {std::min(batch, rank_of() * share), std::min(batch, (rank_of() + 1) * share)};
    }
    for (; micro > 0 && rows.second - rows.first > micro; rows.first += micro) {
      std::pair<int, int> const some{rows.first, rows.first + micro};
      trainer.accumulate_gradients(Kokkos::subview(x, some, Kokkos::ALL),
                                   Kokkos::subview(t, some, Kokkos::ALL));
    }
    trainer.step(Kokkos::subview(x, rows, Kokkos::ALL), Kokkos::subview(t, rows, Kokkos::ALL));
  }
  if (loss != nullptr) *loss = trainer.loss();
  exec.fence();
  return numbers(trainer.model());
}

template <class Net, class P> void equals_one_rank(double bound) {
  double one_loss = 0, loss = 0;
  auto const one = train<Net, P, Local>(Local{}, false, &one_loss);
  auto const all = train<Net, P, AllReduce<Mpi>>(MPI_COMM_WORLD, true, &loss);
  auto const small = train<Net, P, AllReduce<Mpi, 64>>(MPI_COMM_WORLD, true);
  CHECK(distance(one, all) < bound);
  CHECK(distance(one, small) < bound);
  CHECK(loss == doctest::Approx(one_loss).epsilon(1e-4));
  // Every rank holds the same bits.
  std::vector<double> first = all;
  MPI_Bcast(first.data(), int(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(first == all);
}

}  // namespace

TEST_CASE_TEMPLATE("data parallel: several ranks equal one rank on the whole batch", Net,
                   Perceptron, Masked, Convolutional, GlobalNorm) {
  equals_one_rank<Net, Full<double>>(1e-13);
  if constexpr (test::all_cases) equals_one_rank<Net, Full<float>>(1e-5);
}

// What sums by MPI's own calls: persistent ones, and those for a device's memory.
struct PersistentMpi : phyllo::Mpi {
  static inline int plans = 0;
  PersistentMpi(MPI_Comm communicator) : Mpi(communicator, {.library_sums = true}) {}
  template <class Exec, class T> void plan(Exec const& exec, T* data, long count) {
    ++plans;
    Mpi::plan(exec, data, count);
  }
};
// Counts messages that are as long as the gradients.
struct CountingMpi : phyllo::Mpi {
  static inline int sums = 0;
  CountingMpi(MPI_Comm communicator) : Mpi(communicator) {}
  template <class Exec, class T> void sum(Exec const& exec, T* data, long count) {
    sums += count > Convolutional::parameter_count;
    Mpi::sum(exec, data, count);
  }
  template <class Exec, class T> void begin(Exec const& exec, T* data, long count) {
    sums += count > Convolutional::parameter_count;
    Mpi::begin(exec, data, count);
  }
};
struct DeviceMpi : phyllo::Mpi {
  DeviceMpi(MPI_Comm communicator) : Mpi(communicator, {.device_memory = true}) {}
};
static_assert(phyllo::PlansBuckets<AllReduce<PersistentMpi, 64>>);
static_assert(!phyllo::PlansBuckets<Local>);

TEST_CASE("data parallel: buckets that MPI sums, in persistent operations or blocking ones") {
  using P = Full<double>;
  using Planning = Trainer<Convolutional, MeanSquaredError, Sgd, P, AllReduce<PersistentMpi, 64>>;
  auto const one = train<Convolutional, P, Local>(Local{}, false);
  PersistentMpi::plans = 0;
  CHECK(distance(one, train<Convolutional, P, AllReduce<PersistentMpi, 64>>(MPI_COMM_WORLD, true)) <
        1e-6);
  CHECK(Planning::AllBuckets::count > 1);
  CHECK(PersistentMpi::plans == Planning::AllBuckets::count);
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible)
    CHECK(distance(one, train<Convolutional, P, AllReduce<DeviceMpi, 64>>(MPI_COMM_WORLD, true)) <
          1e-6);
}

TEST_CASE("data parallel: micro-batches of several ranks are one step, with one sum of gradients") {
  using P = Full<double>;
  using Net = Convolutional;
  double one_loss = 0, loss = 0;
  auto const one = train<Net, P, Local>(Local{}, false, &one_loss);
  CountingMpi::sums = 0;
  auto const all = train<Net, P, AllReduce<CountingMpi>>(MPI_COMM_WORLD, true, &loss, 2);
  int const sums = CountingMpi::sums;
  CHECK(distance(all, train<Net, P, AllReduce<CountingMpi>>(MPI_COMM_WORLD, true)) < 1e-12);
  CHECK(CountingMpi::sums == 2 * sums);
  CHECK(distance(one, all) < 1e-12);
  CHECK(loss == doctest::Approx(one_loss).epsilon(1e-12));
  CHECK(distance(one, train<Net, P, AllReduce<Mpi, 64>>(MPI_COMM_WORLD, true, nullptr, 2)) < 1e-12);
  CHECK(distance(one, train<Net, P, Sharded<AllReduce<Mpi>>>(MPI_COMM_WORLD, true, nullptr, 3)) <
        1e-12);
}

TEST_CASE("data parallel: default statistics are each rank's own, running ones are averaged") {
  Space exec;
  using T = Trainer<LocalNorm, MeanSquaredError, Sgd, Full<double>, AllReduce<Mpi>>;
  T trainer(exec, MPI_COMM_WORLD, Sgd{.rate = 0.1f}, {.batch = 12, .seed = 7});
  int const share = 12 / ranks_of(), batch = share * ranks_of();
  Host const x = values(batch, LocalNorm::input.size(), 0, 0.3);
  Host const t = values(batch, LocalNorm::output.size(), 0, 1.9);
  std::pair<int, int> const rows{rank_of() * share, (rank_of() + 1) * share};
  trainer.step(Kokkos::subview(on_device(x), rows, Kokkos::ALL),
               Kokkos::subview(on_device(t), rows, Kokkos::ALL));
  trainer.synchronize();
  exec.fence();

  // One rank, on the host, that normalises the same shards: gradients of each, then their mean.
  using HostExec = Kokkos::DefaultHostExecutionSpace;
  using M = Model<LocalNorm, Full<double>, Execution<HostExec>>;
  HostExec const host;
  M model(host, {.batch = 12, .seed = 7});
  Optimizer optimizer(host, model, Sgd{.rate = 0.1f});
  std::vector<double> gradients(std::size_t(M::nodes.arena_size), 0.0);
  std::vector<double> buffers(std::size_t(M::nodes.buffer_size), 0.0);
  host.fence();
  auto const fresh = Kokkos::create_mirror(Kokkos::HostSpace{}, model.buffers());
  Kokkos::deep_copy(fresh, model.buffers());
  for (int r = 0; r < ranks_of(); ++r) {
    std::pair<int, int> const part{r * share, (r + 1) * share};
    auto const xs = Kokkos::subview(x, part, Kokkos::ALL);
    auto const ts = Kokkos::subview(t, part, Kokkos::ALL);
    Host y("y", std::size_t(share), 3), d_y("d_y", std::size_t(share), 3);
    Kokkos::deep_copy(model.buffers(), fresh);
    model.forward(host, xs, y);
    host.fence();
    for (std::size_t n = 0; n < y.extent(0); ++n)
      for (std::size_t i = 0; i < 3; ++i) d_y(n, i) = 2 * (y(n, i) - ts(n, i)) / 3 / batch;
    model.backward(host, d_y);
    host.fence();
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] += model.gradients()(i);
    for (std::size_t i = 0; i < buffers.size(); ++i)
      buffers[i] += model.buffers()(i) / double(ranks_of());
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) model.gradients()(i) = gradients[i];
  optimizer.step(host, model);
  host.fence();
  std::vector<double> expected;
  for (std::size_t i = 0; i < gradients.size(); ++i) expected.push_back(model.master()(i));
  expected.insert(expected.end(), buffers.begin(), buffers.end());
  CHECK(distance(expected, numbers(trainer.model())) < 1e-6);
}

TEST_CASE("data parallel: running statistics of a rank without samples do not count") {
  Space exec;
  using T = Trainer<LocalNorm, MeanSquaredError, Sgd, Full<double>, AllReduce<Mpi>>;
  using One = Trainer<LocalNorm, MeanSquaredError, Sgd, Full<double>>;
  T trainer(exec, MPI_COMM_WORLD, Sgd{.rate = 0.1f}, {.batch = 12, .seed = 7});
  One one(exec, Sgd{.rate = 0.1f}, {.batch = 12, .seed = 7});
  auto const x = on_device(values(6, LocalNorm::input.size(), 0, 0.3));
  auto const t = on_device(values(6, LocalNorm::output.size(), 0, 1.9));
  std::pair<int, int> const own{0, rank_of() == ranks_of() - 1 ? 6 : 0};
  for (int step = 0; step < 5; ++step) {
    trainer.step(Kokkos::subview(x, own, Kokkos::ALL), Kokkos::subview(t, own, Kokkos::ALL));
    one.step(x, t);
  }
  // A call that one rank is refused has sent nothing, and may be repeated.
  bool const wrong = rank_of() == 0 && ranks_of() > 1;
  if (wrong) CHECK_THROWS_AS(trainer.evaluate(t, t), Error);
  double const loss =
      trainer.evaluate(Kokkos::subview(x, own, Kokkos::ALL), Kokkos::subview(t, own, Kokkos::ALL))
          .loss;
  CHECK(loss == doctest::Approx(one.evaluate(x, t).loss).epsilon(1e-10));
  exec.fence();
  CHECK(distance(numbers(one.model()), numbers(trainer.model())) < 1e-10);
}

TEST_CASE("data parallel: an overflow on one rank skips the step on all") {
  Space exec;
  using T = Trainer<Convolutional, MeanSquaredError, Sgd, Mixed<fp16, float>, AllReduce<Mpi>>;
  T trainer(exec, MPI_COMM_WORLD, Sgd{.rate = 0.1f}, {.batch = 4, .seed = 7});
  Host const samples = values(4, Convolutional::input.size(), 0, 0.3);
  auto const x = on_device(samples);
  auto const t = on_device(values(4, Convolutional::output.size(), 0, 1.9));
  auto const state = [&] { return on_host(trainer.model().state())(); };
  trainer.step(x, t);
  exec.fence();
  auto const before = numbers(trainer.model());
  float const scale = state().loss_scale;
  auto const skipped = state().skipped;
  Host const bad("bad", 4, std::size_t(Convolutional::input.size()));
  Kokkos::deep_copy(bad, samples);
  if (rank_of() == ranks_of() - 1) bad(1, 1) = std::numeric_limits<double>::infinity();
  trainer.step(on_device(bad), t);
  exec.fence();
  CHECK(numbers(trainer.model()) == before);
  CHECK(state().skipped == skipped + 1);
  CHECK(state().loss_scale == scale / 2);
  trainer.step(x, t);
  exec.fence();
  CHECK(numbers(trainer.model()) != before);
}

TEST_CASE("data parallel: an evaluation does not depend on the split") {
  Space exec;
  using T = Trainer<Perceptron, CrossEntropy, Sgd, Full<double>, AllReduce<Mpi>>;
  T trainer(exec, MPI_COMM_WORLD, Sgd{.rate = 0.1f}, {.batch = 5, .seed = 3});
  int const samples = 31;
  auto const x = on_device(values(samples, 6, 0, 0.3));
  Kokkos::View<int*, Kokkos::HostSpace> classes("labels", samples);
  for (int n = 0; n < samples; ++n) classes(std::size_t(n)) = n * 7 % 3;
  auto const labels = on_device(classes);
  std::pair<int, int> const rows{samples * rank_of() / ranks_of(),
                                 samples * (rank_of() + 1) / ranks_of()};
  Evaluation const split =
      trainer.evaluate(Kokkos::subview(x, rows, Kokkos::ALL), Kokkos::subview(labels, rows));
  Trainer<Perceptron, CrossEntropy, Sgd, Full<double>> alone(exec, Sgd{}, {.batch = 7, .seed = 3});
  Evaluation const whole = alone.evaluate(x, labels);
  CHECK(split.samples == samples);
  CHECK(split.accuracy == whole.accuracy);
  CHECK(split.loss == doctest::Approx(whole.loss).epsilon(1e-12));
}

TEST_CASE("data parallel: the mean is over the positions of all ranks that are not ignored") {
  Space exec;
  using Alone = Trainer<Perceptron, MaskedCrossEntropy<>, Sgd, Full<double>>;
  using All = Trainer<Perceptron, MaskedCrossEntropy<>, Sgd, Full<double>, AllReduce<Mpi>>;
  Alone one(exec, Sgd{.rate = 0.5}, {.batch = 12, .seed = 3});
  All all(exec, MPI_COMM_WORLD, Sgd{.rate = 0.5}, {.batch = 12, .seed = 3});
  auto const x = on_device(values(12, 6, 0, 0.3));
  Kokkos::View<int*, Kokkos::HostSpace> classes("labels", 12);
  for (int n = 0; n < 12; ++n) classes(std::size_t(n)) = n < 5 || n == 9 ? -100 : n % 3;
  auto const labels = on_device(classes);
  std::pair<int, int> const rows{12 * rank_of() / ranks_of(), 12 * (rank_of() + 1) / ranks_of()};
  for (int step = 0; step < 3; ++step) {
    one.step(x, labels);
    all.step(Kokkos::subview(x, rows, Kokkos::ALL), Kokkos::subview(labels, rows));
  }
  CHECK(distance(numbers(one.model()), numbers(all.model())) < 1e-13);
  CHECK(all.loss() == doctest::Approx(one.loss()).epsilon(1e-13));
  Evaluation const e =
      all.evaluate(Kokkos::subview(x, rows, Kokkos::ALL), Kokkos::subview(labels, rows));
  CHECK(e.samples == 6);
  CHECK(e.loss == doctest::Approx(one.evaluate(x, labels).loss).epsilon(1e-13));
}

// A small network leaves in one transfer; small buckets are contiguous and end with the first
// layer.
static_assert(Buckets<Convolutional, default_bucket_bytes, 4>::count == 1);
static_assert(Buckets<Convolutional, 64, 4>::count == 2);
static_assert(Buckets<Convolutional, 64, 4>::table.begin[1] == 0);

TEST_CASE("WeightAverage: ranks that share parameters average what all have trained") {
  using P = Mixed<bf16, float>;
  auto const averaged = []<class C>() {
    Space const exec;
    Trainer<Perceptron, MeanSquaredError, Adam, P, C> trainer(exec, MPI_COMM_WORLD,
                                                              Adam{.rate = 0.05}, {.batch = 4});
    WeightAverage average(exec, trainer.model(), {.equal = true});
    auto const x = on_device(values(4, 6, rank_of(), 0.1));
    auto const t = on_device(values(4, 3, rank_of(), 0.4));
    for (int step = 0; step < 20; ++step) {
      trainer.step(x, t);
      average.update(exec, trainer.model());
    }
    average.copy_to(exec, trainer.model());
    return numbers(trainer.model());
  };
  auto const alike = averaged.operator()<AllReduce<Mpi>>();
  auto const shared = averaged.operator()<Sharded<AllReduce<Mpi>>>();
  for (std::size_t i = 0; i < alike.size(); ++i) CHECK(std::abs(shared[i] - alike[i]) < 0.01);
}
