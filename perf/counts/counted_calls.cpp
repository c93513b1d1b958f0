// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// usage: counts_<workload> f32|bf16 CALLS
//
// Infers or trains CALLS times and ends; prints the batch, and FLOPs and bytes of one sample as
// perf/suite counts them. perf/gpu-counts takes what one call executes.

#include "workloads.hpp"

#include "../suite/cases.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace counts {

template <class W, class P> void infer(int calls) {
  using Net = typename W::network;
  using S = typename P::storage;
  auto const exec = perf::new_instance();
  phyllo::Model<Net, P> const model(exec, {.batch = W::batch, .seed = 1});
  auto const x = perf::random_matrix<S>("x", W::batch, Net::input.size(), 2);
  perf::Matrix<S> const y("y", std::size_t(W::batch), std::size_t(Net::output.size()));
  for (int i = 0; i < calls; ++i) model.infer(exec, x, y);
  exec.fence("counts");
}

template <class W, class P> void train(int calls) {
  using Net = typename W::network;
  using Loss = typename W::loss;
  auto const exec = perf::new_instance();
  phyllo::Trainer<Net, Loss, phyllo::Sgd, P> trainer(exec, {.rate = 1e-3f, .momentum = 0.9f},
                                                     {.batch = W::batch, .seed = 1});
  auto const x = perf::random_matrix<float>("x", W::batch, Net::input.size(), 2);
  auto const targets = [] {
    if constexpr (Loss::classes)
      return perf::filled<perf::Vector<int>>(
          "labels", [](std::size_t n) { return n * 7 % 10; }, W::batch);
    else
      return perf::random_matrix<float>("targets", W::batch, Net::output.size(), 3);
  }();
  for (int i = 0; i < calls; ++i) trainer.step(x, targets);
  exec.fence("counts");
}

template <class W, class P> void call(int calls) {
  using Net = typename W::network;
  double flops = double(Net::flops), bytes = 0;
  if constexpr (std::is_void_v<typename W::loss>) {
    infer<W, P>(calls);
    bytes = sizeof(typename P::storage) * double(Net::input.size() + Net::output.size());
  } else {
    train<W, P>(calls);
    flops = perf::training_flops<Net>();
    bytes = sizeof(float) * double(Net::input.size() + (W::loss::classes ? 1 : Net::output.size()));
  }
  std::printf("%d %.0f %.0f\n", W::batch, flops, bytes);
}

}  // namespace counts

int main(int argc, char* argv[]) {
  using W = counts::PHYLLO_WORKLOAD;
  std::string const dtype = argc == 3 ? argv[1] : "";
  int const calls = argc == 3 ? std::atoi(argv[2]) : 0;
  Kokkos::ScopeGuard const kokkos(argc, argv);
  if (dtype == "f32")
    counts::call<W, phyllo::Full<float>>(calls);
  else if (dtype == "bf16")
    counts::call<W, phyllo::Mixed<phyllo::bf16, float>>(calls);
  else {
    std::fprintf(stderr, "usage: %s f32|bf16 CALLS\n", argv[0]);
    return 2;
  }
  return 0;
}
