// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take of data and the training loop: batches that are copied to the
// device, and changed there; sums of an epoch, checkpoints.

#include <phyllo/data/augmentations.hpp>
#include <phyllo/data/npy_source.hpp>
#include <phyllo/data/view_source.hpp>
#include <phyllo/fit/fit.hpp>
#include <phyllo/phyllo.hpp>

namespace phyllo_gpu {

using namespace phyllo;
struct Fitted : Network<Input<16>, Linear<64>, ReLU, Linear<16>> {};

using Rows = Kokkos::View<float**, Kokkos::LayoutRight>;

FitHistory gpu_fit(Kokkos::View<float**> x, Kokkos::View<float**> t) {
  Kokkos::DefaultExecutionSpace const exec;
  Trainer<Fitted, MeanSquaredError, Adam> trainer(exec, Adam{.rate = 0.01}, {.batch = 64});
  Batches<Rows, Rows> batches(exec, NpySource({"x.npy", "t.npy"}), {.batch = 64, .prefetch = 2});
  Batches<Rows, Rows> held_out(exec, ViewSource(x, t), {.batch = 64, .shuffle = false});
  return fit(trainer, batches, held_out, {.epochs = 3, .checkpoint = {.folder = "run"}});
}

using Images = Kokkos::View<float****, Kokkos::LayoutRight>;

Kokkos::View<float****, Kokkos::LayoutRight> gpu_augment(Images x, Kokkos::View<int*> t) {
  Batches<Images, Kokkos::View<int*>> batches(Kokkos::DefaultExecutionSpace(), ViewSource(x, t),
                                              {.batch = 64, .prefetch = 2});
  batches.augment(RandomCrop{.padding = 4});
  batches.augment(RandomFlip{});
  batches.augment(GaussianNoise{});
  return batches.next().inputs;
}

}  // namespace phyllo_gpu
