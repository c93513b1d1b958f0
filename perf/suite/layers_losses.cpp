// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Losses one by one: values and gradients of outputs that are there, by the kernel that a Trainer
// selects.

#include "cases.hpp"

namespace {

using namespace perf;

/// Outputs and targets of a loss, in the types of P; the numbers are those of storage type From.
/// Targets of images are (N, C, H, W), as a caller has them.
template <class L, class P, class From> struct LossPass {
  using S = typename P::storage;
  using A = typename P::accumulate;
  using Op = op::Loss<L>;
  static constexpr int each = op::outputs_per_target<L>();
  Space exec;
  Vector<S> outputs, d_outputs;
  Vector<A> values;
  Vector<S> targets;
  Vector<int> classes;
  typename Op::template Evaluate<P> work;

  LossPass(long samples, Shape const& shape) {
    long const positions = shape.positions(), rows = samples * positions;
    int const channels = shape.channels;
    auto const size = std::size_t(rows * channels);
    auto const between = [](unsigned seed, std::size_t i, float low, float high) {
      return float(From(low + (high - low) * random_uniform(seed, 0, 0, i, 0)));
    };
    outputs =
        filled<Vector<S>>("outputs", [&](std::size_t i) { return between(2, i, -2, 2); }, size);
    d_outputs = Vector<S>("gradients", size);
    values = Vector<A>("values", std::size_t(samples));
    work.batch = int(samples);
    work.shape = shape;
    work.outputs = outputs.data();
    work.d_outputs = d_outputs.data();
    work.values = values.data();
    if constexpr (L::classes) {
      classes = filled<Vector<int>>(
          "classes",
          [channels](std::size_t n) { return float(channels) * random_uniform(3, 0, 0, n, 0); },
          rows);
      work.targets.data[0] = classes.data();
      work.targets.type = ElementType::i32;
      set_strides(1);
    } else if constexpr (each > 0) {
      int const wanted = channels / each;
      targets = filled<Vector<S>>(
          "targets", [&](std::size_t i) { return between(4, i, 0.1f, 0.9f); },
          std::size_t(rows * wanted));
      work.targets.data[0] = targets.data();
      work.targets.type = phyllo::detail::element_type_of<S>();
      set_strides(wanted);
    }
  }
  // Of row-major targets (N, wanted, H, W).
  void set_strides(int wanted) {
    Shape const& s = work.shape;
    work.targets.spatial_stride[2] = 1;
    work.targets.spatial_stride[1] = s.spatial[2];
    work.targets.channel_stride = s.positions();
    work.targets.sample_stride = std::ptrdiff_t(s.positions()) * wanted;
  }
  template <class Kernels> void run() {
    Kernels::run(exec, "loss", work);
    exec.fence("perf");
  }
};

template <class P, class L>
void add_loss(Ceilings const& c, std::vector<Case>& cases, char const* name, long samples = 8192,
              Shape const& shape = {120}) {
  using S = typename P::storage;
  using Op = op::Loss<L>;
  using Selected = SelectedKernels<Op, P, typename Execution<Space>::backends>;
  auto const pass = std::make_shared<LossPass<L, P, S>>(samples, shape);
  long const compared = shape.positions() > 1 ? 2 : 64;
  LossPass<L, P, S> few(compared, shape);
  LossPass<L, Full<double>, S> truth(compared, shape);
  few.template run<Selected>();
  truth.template run<reference::Kernels<Op, Full<double>>>();
  Case k;
  k.name = name;
  k.phase = "training";
  k.batch = samples;
  k.bytes_per_sample =
      double(sizeof(S)) * (2 * shape.size() + double(few.targets.size()) / double(compared));
  k.relative_error = relative_error(truth.d_outputs, few.d_outputs);
  set_memory_floor(k, c, double(samples) * k.bytes_per_sample < cache_bytes);
  k.call = [pass] { pass->template run<Selected>(); };
  cases.push_back(std::move(k));
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_loss<P, MeanSquaredError>(c, cases, "MeanSquaredError");
    add_loss<P, MeanAbsoluteError>(c, cases, "MeanAbsoluteError");
    add_loss<P, Huber>(c, cases, "Huber");
    add_loss<P, SmoothL1>(c, cases, "SmoothL1");
    add_loss<P, LogCosh>(c, cases, "LogCosh");
    add_loss<P, Quantile>(c, cases, "Quantile");
    add_loss<P, PoissonLikelihood>(c, cases, "PoissonLikelihood");
    add_loss<P, GaussianLikelihood>(c, cases, "GaussianLikelihood");
    add_loss<P, BinaryCrossEntropy>(c, cases, "BinaryCrossEntropy");
    add_loss<P, CrossEntropy>(c, cases, "CrossEntropy");
    add_loss<P, SmoothedCrossEntropy>(c, cases, "SmoothedCrossEntropy");
    add_loss<P, SoftCrossEntropy>(c, cases, "SoftCrossEntropy");
    add_loss<P, KullbackLeibler>(c, cases, "KullbackLeibler");
    add_loss<P, Dice>(c, cases, "Dice");
    add_loss<P, CosineDistance>(c, cases, "CosineDistance");
    add_loss<P, Hinge>(c, cases, "Hinge");
    add_loss<P, MultiMargin>(c, cases, "MultiMargin");
    add_loss<P, BinaryCrossEntropy>(c, cases, "BinaryCrossEntropy of masks", 64, {1, 128, 128});
    add_loss<P, MeanSquaredError>(c, cases, "MeanSquaredError of images", 64, {3, 64, 64});
    add_loss<P, CrossEntropy>(c, cases, "CrossEntropy of images", 16, {21, 64, 64});
    return serve("layers-losses", "selected", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}
