// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reproducible: ranks that split a global batch hold, after every step, the bits of one rank and of
// any number of threads that train on all of it.

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <mpi.h>
#include <rings.hpp>

#if defined(KOKKOS_ENABLE_OPENMP)

#include <comm/ranks.hpp>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::OpenMP;
using Backend = DefaultBackends<Space>::type;
template <class Bits> using Exec = Execution<Space, Backend, FusionLevel::tile, Bits>;
using Inputs = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Labels = Kokkos::View<int*, Kokkos::HostSpace>;

struct Perceptron : Network<Input<7>, Linear<33>, Tanh, Dropout<0.2>, Linear<16>, GELU, Linear<3>> {
};
// One pass over tiles of images.
struct Images
    : Network<Input<1, 12, 10>, Conv2d<4, KernelSize<3>, Padding<1>>, ReLU, MaxPool2d<2>,
              Conv2d<6, KernelSize<3>>, ReLU, MaxPool2d<2>, Flatten, Linear<12>, ReLU, Linear<3>> {
};
// Kernels layer by layer.
struct Normalized : Network<Input<2, 6, 5>, Conv2d<8, Padding<1>>, BatchNorm<>, ReLU, MaxPool2d<2>,
                            Flatten, Dropout<0.3>, Linear<130>, BatchNorm<>, Tanh, Linear<3>> {};
struct Wide : Network<Input<9>, Linear<150>, Dropout<0.5>, ReLU, Linear<140>, Tanh, Linear<3>> {};
struct Refined : Network<Input<1, 8, 8>, Conv2d<4>, BatchNorm<>, Tanh,
                         Residual<Conv2d<4, Padding<1>>, BatchNorm<>, ReLU>, GlobalAveragePool,
                         Flatten, Linear<3>> {};

template <class Net> Inputs inputs_of(int samples, int step) {
  Inputs x("x", std::size_t(samples), std::size_t(Net::input.size()));
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = float(2 * random_uniform(1, std::uint64_t(step), 0, i, 0) - 1);
  return x;
}
Labels labels_of(int samples, int step) {
  Labels t("t", std::size_t(samples));
  for (int n = 0; n < samples; ++n) t(n) = (n * 7 + step) % 3;
  return t;
}

// What a training leaves, bit by bit.
struct Record {
  struct Entry {
    std::string name;
    std::vector<unsigned char> bytes;
  };
  std::vector<Entry> entries;

  void add(std::string const& name, void const* data, std::size_t bytes) {
    auto const* const from = static_cast<unsigned char const*>(data);
    entries.push_back({name, {from, from + bytes}});
  }
  template <class View> void add(std::string const& name, View const& v) {
    add(name, v.data(), v.size() * sizeof(typename View::value_type));
  }
  // The first entry that differs; "" where none does.
  std::string difference(Record const& other) const {
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (i >= other.entries.size() || entries[i].bytes != other.entries[i].bytes)
        return entries[i].name;
    return "";
  }
};

// Global batches of the steps: no multiples of 12, and fewer samples than shards.
constexpr int batches[] = {37, 5, 100, 1, 64};
constexpr int evaluated = 71;

// Parameters, running statistics, state of the rule, losses and evaluations.
template <class Net, class P, class Rule, class C, class Reproducible, class Communicator>
Record trained(Space const& exec, Communicator const& communicator, int rank, int ranks,
               int capacity, Rule const& rule) {
  Trainer<Net, CrossEntropy, Rule, P, C, Exec<Reproducible>> trainer(
      exec, communicator, rule, {.batch = capacity, .seed = 2});
  Record record;
  auto const part = [&](int samples, auto const& x, auto const& t, auto const& action) {
    auto const range = reproducible_range<Reproducible>(samples, rank, ranks);
    return action(Kokkos::subview(x, range, Kokkos::ALL), Kokkos::subview(t, range));
  };
  int number = 0;
  for (int const batch : batches) {
    for (int micro = 0; micro < number / 2; ++micro)  // of steps 2 to 4
      part(20 + micro, inputs_of<Net>(20 + micro, 30 + number), labels_of(20 + micro, number),
           [&](auto const& x, auto const& t) { trainer.accumulate_gradients(x, t); });
    part(batch, inputs_of<Net>(batch, number), labels_of(batch, number),
         [&](auto const& x, auto const& t) { trainer.step(x, t); });
    double const loss = trainer.loss();
    std::string const when = " after step " + std::to_string(number++);
    record.add("loss" + when, &loss, sizeof loss);
    record.add("buffers" + when, trainer.model().buffers());
    record.add("parameters" + when, trainer.model().master());
  }
  record.add("state of the rule", trainer.optimizer().state());
  Evaluation const e = part(evaluated, inputs_of<Net>(evaluated, 9), labels_of(evaluated, 9),
                            [&](auto const& x, auto const& t) { return trainer.evaluate(x, t); });
  CHECK(e.samples == evaluated);
  record.add("evaluated loss", &e.loss, sizeof e.loss);
  record.add("accuracy", &e.accuracy, sizeof e.accuracy);
  record.add("buffers after the evaluation", trainer.model().buffers());
  return record;
}

template <class Net, class P, class Reproducible, class Rule> void check(Rule const& rule) {
  CAPTURE(type_name<Net>());
  Record const alone =
      trained<Net, P, Rule, Local, Reproducible>(Space(1), Local{}, 0, 1, 100, rule);
  for (int const threads : {2, 3}) {
    CAPTURE(threads);
    CHECK(alone.difference(trained<Net, P, Rule, Local, Reproducible>(Space(threads), Local{}, 0, 1,
                                                                      100, rule)) == "");
  }
  // As few samples as each rank needs: evaluations come in other batches then.
  auto const most = reproducible_range<Reproducible>(100, ranks_of() - 1, ranks_of());
  int const capacity = int(most.second - most.first) + 9;
  for (int const threads : {1, 2}) {
    CAPTURE(threads);
    CHECK(alone.difference(trained<Net, P, Rule, TreeReduce<Mpi>, Reproducible>(
              Space(threads), MPI_COMM_WORLD, rank_of(), ranks_of(), capacity, rule)) == "");
  }
}

// In the gate float alone.
template <class P> void check_all() {
  constexpr bool all = test::all_cases || std::is_same_v<P, Full<float>>;
  Sgd const sgd{.rate = 0.05f, .momentum = 0.9f};
  Adam const adam{.rate = 0.01f};
  check<Perceptron, P, Reproducible<>>(sgd);
  if constexpr (all) {
    check<Normalized, P, Reproducible<>>(adam);
    check<Images, P, Reproducible<>>(adam);
  }
  if constexpr (test::all_cases) {
    check<Refined, P, Reproducible<>>(sgd);
    check<Normalized, P, Reproducible<>>(sgd);
    check<Wide, P, Reproducible<>>(adam);
  }
}

}  // namespace

TEST_CASE("reproducible: several ranks have the bits of one, in float") {
  check_all<Full<float>>();
}
#if defined(PHYLLO_ALL_CASES)
TEST_CASE("reproducible: several ranks have the bits of one, in bfloat16") {
  check_all<Mixed<bf16, float>>();
}
TEST_CASE("reproducible: several ranks have the bits of one, in double") {
  check_all<Full<double>>();
}
TEST_CASE("reproducible: several ranks have the bits of one, in float16") {
  check_all<Mixed<fp16, float>>();
}
#endif

TEST_CASE("reproducible: any number of shards, and fewer of them than ranks") {
  Sgd const sgd{.rate = 0.05f, .momentum = 0.9f};
  check<Perceptron, Full<float>, Reproducible<1>>(sgd);
  check<Normalized, Full<float>, Reproducible<7>>(sgd);
  if constexpr (test::all_cases) {
    check<Perceptron, Full<float>, Reproducible<2>>(sgd);
    check<Normalized, Full<float>, Reproducible<2>>(sgd);
    check<Images, Full<float>, Reproducible<13>>(sgd);
  }
}

TEST_CASE("reproducible: the bits are those of the shards") {
  Sgd const sgd{.rate = 0.05f, .momentum = 0.9f};
  auto const with = [&]<class Bits>(Bits) {
    return trained<Perceptron, Full<float>, Sgd, Local, Bits>(Space(1), Local{}, 0, 1, 100, sgd);
  };
  CHECK(with(Reproducible<12>{}).difference(with(Reproducible<7>{})) != "");
}

TEST_CASE("reproducible: another split is refused on all ranks") {
  if (ranks_of() == 1) return;
  Trainer<Perceptron, CrossEntropy, Sgd, Full<float>, TreeReduce<Mpi>, Exec<Reproducible<>>>
      trainer(Space(1), MPI_COMM_WORLD, Sgd{}, {.batch = 64, .seed = 2});
  int const range = int(reproducible_range(24, rank_of(), ranks_of()).second -
                        reproducible_range(24, rank_of(), ranks_of()).first);
  int const samples = range + (rank_of() == 0 ? 1 : rank_of() == 1 ? -1 : 0);
  auto const x = inputs_of<Perceptron>(samples, 0);
  auto const t = labels_of(samples, 0);
  std::string const expected = std::to_string(24 / ranks_of());
  std::string const sentence = "Perceptron: Reproducible<12> expected rank 0 of " +
                               std::to_string(ranks_of()) + " to have " + expected +
                               " of the 24 samples, got " + std::to_string(24 / ranks_of() + 1) +
                               ". Pass each rank the samples of reproducible_range(24, rank, " +
                               std::to_string(ranks_of()) + ").";
  CHECK(sentence_of([&] { trainer.step(x, t); }).ends_with(sentence.substr(10)));
  CHECK(sentence_of([&] { trainer.evaluate(x, t); }).ends_with(sentence.substr(10)));
}

#endif
