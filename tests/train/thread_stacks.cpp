// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Work memory comes from the model, not from the stack of the thread that works: deep and wide
// networks run on a thread with a stack of 256 KiB. A stack that is too small ends the program.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <pthread.h>

#include <cmath>
#include <cstddef>
#include <type_traits>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;

// AddressSanitizer surrounds every local variable with room of its own.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t stack_bytes = 1024 * 1024;
#else
constexpr std::size_t stack_bytes = 256 * 1024;
#endif

// An instance of one thread: its work runs on the stack of the caller.
Space one_thread() {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) return Space(1);
#endif
  return Space();
}

template <class Call> void* on_this_thread(void* call) {
  (*static_cast<Call*>(call))();
  return nullptr;
}
template <class Call> void on_small_stack(Call call) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, stack_bytes) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, on_this_thread<Call>, &call) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

struct Deep : Network<Input<128>, Repeat<9, Linear<128>, ReLU>, Linear<10>> {};
struct Sums : Network<Input<128>, Repeat<4, Residual<Linear<128>, GELU>>, Linear<10>> {};
struct Wide : Network<Input<300>, Linear<400>, ReLU, Linear<10>> {};
struct Images : Network<Input<2, 8, 56>, Conv2d<6, Padding<1>>, ReLU, Conv2d<8, Padding<1>>, GELU,
                        MaxPool2d<4>, Flatten, Linear<64>, ReLU, Linear<10>> {};

template <class Net, class P, int batch = 16, class List = DefaultBackends<Space>::type>
void run() {
  using Exec = Execution<Space, List>;
  using A = typename P::accumulate;
  constexpr Shape in = Net::input;
  on_small_stack([] {
    Space const exec = one_thread();
    Trainer<Net, MeanSquaredError, Sgd, P, Local, Exec> trainer(exec, {.rate = 0.01f},
                                                                {.batch = batch, .seed = 1});
    using Inputs = std::conditional_t<in.rank == 0, Kokkos::View<A**, Kokkos::LayoutRight, Space>,
                                      Kokkos::View<A****, Kokkos::LayoutRight, Space>>;
    Inputs x;
    if constexpr (in.rank == 0)
      x = Inputs("x", batch, in.channels);
    else
      x = Inputs("x", batch, in.channels, in.spatial[1], in.spatial[2]);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = A(std::sin(0.7 * double(i)));
    Kokkos::View<A**, Kokkos::LayoutRight, Space> const y("y", batch, 10);
    trainer.step(x, y);
    CHECK(std::isfinite(trainer.loss()));
    CHECK(std::isfinite(trainer.evaluate(x, y).loss));
    trainer.model().infer(exec, x, y);
    trainer.model().forward(exec, x, y);
    trainer.model().backward(exec, y);
  });
}

}  // namespace

TEST_CASE_TEMPLATE("thread stacks: deep and wide networks", P, Full<double>, Mixed<bf16, float>) {
  run<Deep, P, 50>();  // a whole tile: weights of 16 bits are converted
  if constexpr (test::all_cases || std::is_same_v<P, Full<double>>) {
    run<Sums, P>();
    run<Wide, P>();
    run<Images, P>();
  }
}
TEST_CASE("thread stacks: portable kernels") {
  run<Deep, Full<double>, 2, Backends<PortableBackend>>();
  run<Wide, Full<double>, 2, Backends<PortableBackend>>();
}
