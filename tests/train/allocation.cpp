// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// After the first steps nothing is allocated, nothing is freed and nothing grows, over 10^5 steps,
// in the gate 2 10^4.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <counted_allocations.hpp>
#include <rings.hpp>

#include <fstream>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Space::memory_space>;
using Images = Kokkos::View<float***, Kokkos::LayoutRight, Space::memory_space>;
using Labels = Kokkos::View<int*, Space::memory_space>;

// Names longer than what a std::string keeps without memory.
struct NarrowPerceptron : Network<Input<4>, Linear<8>, Tanh, Linear<8>, ReLU, Linear<2>> {};
struct NormalisedConvolution
    : Network<Input<1, 4>, Conv1d<2>, BatchNorm<>, ReLU, Flatten, Linear<2>> {};

constexpr int batch = 4;
long views = 0;  // allocated in any memory, and freed, that Kokkos told us of

using test::Counts;
using test::counts;

// Pages of this process that are in memory; 0 where the system does not say. AddressSanitizer keeps
// what is freed, and libgomp allocates and frees a team of its own for every region of one thread.
long resident_pages() {
#if defined(__SANITIZE_ADDRESS__)
  return 0;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return 0;
#endif
#endif
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

// One thread: its steps are short enough for 10^5 of them.
Space one_thread() {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) return Space(1);
#endif
  return Space();
}

void count_view(Kokkos::Profiling::SpaceHandle, char const*, void const*, std::uint64_t) {
  ++views;
}

// A tool's callbacks see device memory too; with a tool, labels of launches are made, so that this
// is a run of its own.
template <class Step> long views_of(int steps, Step const& step) {
  namespace Tools = Kokkos::Tools::Experimental;
  Tools::set_allocate_data_callback(count_view);
  Tools::set_deallocate_data_callback(count_view);
  views = 0;
  for (int i = 0; i < steps; ++i) step();
  Tools::set_allocate_data_callback(nullptr);
  Tools::set_deallocate_data_callback(nullptr);
  return views;
}

template <class Step> void check(Space const& exec, int steps, Step const& step) {
  for (int i = 0; i < 200; ++i) step();
  exec.fence("warm");
  long const pages = resident_pages();
  Counts const before = counts();
  for (int i = 0; i < steps; ++i) step();
  exec.fence("done");
  Counts const after = counts();
  CHECK(after.allocated - before.allocated == 0);
  CHECK(after.freed - before.freed == 0);
  CHECK(resident_pages() - pages <= 16);  // 4 bytes a step would be more
  CHECK(views_of(10, step) == 0);
}

template <class Run> void with_all_threads_and_with_one(Run const& run) {
  run(Space(), 1000);
  run(one_thread(), test::all_cases ? 100'000 : 20'000);
}

Kokkos::View<int*, Space::memory_space> labels() {
  Labels l("labels", batch);
  Kokkos::deep_copy(l, 1);
  return l;
}

}  // namespace

TEST_CASE("allocation: the counters count") {
  Counts const before = counts();
  {
    Matrix const view("counted", 3, 5);
  }
  Counts const after = counts();
  CHECK(after.allocated > before.allocated);
  CHECK(after.freed > before.freed);
  CHECK(views_of(1, [] { Matrix const view("counted", 3, 5); }) == 2);
}

TEST_CASE("allocation: training in one pass") {
  with_all_threads_and_with_one([](Space const& exec, int steps) {
    using Training = Trainer<NarrowPerceptron, MeanSquaredError, Sgd>;
    static_assert(Training::whole_step);
    Training trainer(exec, {.rate = 0.01f, .momentum = 0.9f}, {.batch = batch});
    Matrix const x("x", batch, 4), y("y", batch, 2);
    check(exec, steps, [&] { trainer.step(x, y); });
    check(exec, steps / 100, [&] { trainer.loss(); });
    check(exec, steps / 100, [&] { trainer.evaluate(x, y); });
  });
}

TEST_CASE("allocation: training layer by layer, in float and in 16 bits") {
  with_all_threads_and_with_one([](Space const& exec, int steps) {
    Images const x("x", batch, 1, 4);
    Labels const y = labels();
    Trainer<NormalisedConvolution, CrossEntropy, Adam> single(exec, {.rate = 0.01f},
                                                              {.batch = batch});
    check(exec, steps, [&] { single.step(x, y); });
    Trainer<NormalisedConvolution, CrossEntropy, Sgd, Mixed<fp16, float>> half(
        exec, {.rate = 0.01f}, {.batch = batch});
    check(exec, steps / 10, [&] { half.step(x, y); });
  });
}

TEST_CASE("allocation: inference, whole and layer by layer, in batches that are split") {
  with_all_threads_and_with_one([](Space const& exec, int steps) {
    Matrix const x("x", 3 * batch, 4), y("y", 3 * batch, 2);
    Images const images("images", batch, 1, 4);
    Matrix const scores("scores", batch, 2);
    Model<NarrowPerceptron> const narrow(exec, {.batch = batch});
    check(exec, steps, [&] { narrow.infer(exec, x, y); });
    Model<NormalisedConvolution> const normed(exec, {.batch = batch});
    check(exec, steps, [&] { normed.infer(exec, images, scores); });
  });
}

TEST_CASE("allocation: the loop by hand") {
  with_all_threads_and_with_one([](Space const& exec, int steps) {
    Images const x("x", batch, 1, 4);
    Matrix const y("y", batch, 2), d_y("d_y", batch, 2);
    Model<NormalisedConvolution> model(exec, {.batch = batch});
    Optimizer optimizer(exec, model, Sgd{.rate = 0.01f});
    check(exec, steps / 10, [&] {
      model.forward(exec, x, y);
      model.backward(exec, d_y);
      optimizer.step(exec, model);
    });
  });
}
