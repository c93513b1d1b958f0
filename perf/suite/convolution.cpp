// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The convolutions of ResNet-18 one by one, each pass by the kernel that a Trainer selects.

#include "cases.hpp"
#include "pass_numbers.hpp"

namespace {

using namespace perf;
using Op = op::Contraction<op::Chain<>>;
template <class P> using Selected = SelectedKernels<Op, P, typename Execution<Space>::backends>;

struct ResNetLayer {
  Shape input;
  int outputs, size, stride;

  Window window() const {
    Window w;
    for (int d = 1; d < 3; ++d) {
      w.size[d] = size;
      w.stride[d] = stride;
      w.padding[d] = size / 2;
    }
    return w;
  }
  Shape output() const { return window().output(input, outputs); }
  std::string name() const {
    std::string text;
    for (int i = 1; i < 3; ++i) text += std::to_string(input.extent(i)) + "x";
    text +=
        std::to_string(input.channels) + " " + std::to_string(size) + "x" + std::to_string(size);
    return text + (stride > 1 ? "s" + std::to_string(stride) : "");
  }
};
ResNetLayer const layers[] = {
    {{3, 224, 224}, 64, 7, 2},  {{64, 56, 56}, 64, 3, 1},   {{64, 56, 56}, 128, 3, 2},
    {{64, 56, 56}, 128, 1, 2},  {{128, 28, 28}, 128, 3, 1}, {{128, 28, 28}, 256, 3, 2},
    {{128, 28, 28}, 256, 1, 2}, {{256, 14, 14}, 256, 3, 1}, {{256, 14, 14}, 512, 3, 2},
    {{256, 14, 14}, 512, 1, 2}, {{512, 7, 7}, 512, 3, 1}};

/// What the three passes of a layer read and write; the numbers are those of storage type S.
template <class P, class S> struct Tensors {
  using T = typename P::storage;
  ResNetLayer layer;
  int batch;
  Numbers<T> x, weight, d_z, y, d_x;
  Numbers<typename P::accumulate> d_weight;

  Tensors(ResNetLayer const& l, int n) : layer(l), batch(n) {
    long const inputs = long(n) * l.input.size(), results = long(n) * l.output().size();
    long const weights = long(l.window().taps()) * l.input.channels * l.outputs;
    x = numbers<T, S>(inputs, 1);
    weight = numbers<T, S>(weights, 2);
    d_z = numbers<T, S>(results, 3);
    y = Numbers<T>("y", std::size_t(results));
    d_x = Numbers<T>("d_x", std::size_t(inputs));
    d_weight = Numbers<typename P::accumulate>("d_weight", std::size_t(weights));
  }

  template <class Kernels>
  void run(Space const& exec, int pass, op::WorkMemory const& memory = {}) {
    Shape const output = layer.output();
    Window const w = layer.window();
    if (pass == 0) {
      typename Op::template Forward<P> work;
      work.batch = batch;
      work.input = layer.input;
      work.output = output;
      work.window = w;
      work.x = x.data();
      work.weight = weight.data();
      work.y = y.data();
      work.memory = memory;
      Kernels::run(exec, "convolution", work);
    } else if (pass == 1) {
      typename Op::template BackwardInput<P> work{batch,      layer.input,   output,    w,
                                                  d_z.data(), weight.data(), d_x.data()};
      work.memory = memory;
      Kernels::run(exec, "convolution", work);
    } else {
      typename Op::template BackwardParameters<P> work{batch,    layer.input, output,         w,
                                                       x.data(), d_z.data(),  d_weight.data()};
      work.memory = memory;
      Kernels::run(exec, "convolution", work);
    }
    exec.fence("perf");
  }
};

template <class P>
void add_cases(Ceilings const& c, ResNetLayer const& layer, std::vector<Case>& cases) {
  using S = typename P::storage;
  constexpr char const* passes[] = {"forward", "input gradient", "weight gradient"};
  Space const exec;
  auto const threads = std::make_shared<ThreadMemory<Space>>(
      exec, "work memory", exec.concurrency(), kernel_traits<Selected<P>>.thread_bytes);
  // One sample against the same in float64.
  Tensors<P, S> one(layer, 1);
  Tensors<Full<double>, S> truth(layer, 1);
  for (int pass = 0; pass < 3; ++pass) {
    if (pass == 1 && layer.input.channels == 3) continue;  // nothing is trained before it
    one.template run<Selected<P>>(exec, pass, threads->memory());
    truth.template run<reference::Kernels<Op, Full<double>>>(exec, pass);
    for (int const batch : {2, 16}) {
      auto const all = std::make_shared<Tensors<P, S>>(layer, batch);
      Case k;
      k.name = layer.name() + " " + passes[pass];
      k.phase = pass == 0 ? "inference" : "training";
      k.batch = batch;
      k.flops_per_sample = 2.0 * layer.output().positions() * double(all->weight.size());
      k.relative_error = pass == 0   ? error_of(truth.y, one.y)
                         : pass == 1 ? error_of(truth.d_x, one.d_x)
                                     : error_of(truth.d_weight, one.d_weight);
      Ceiling const unit = c.template peak<P>();
      k.floor_seconds = double(batch) * k.flops_per_sample / unit.rate;
      k.ceiling = unit.name;
      k.call = [all, pass, exec, threads] {
        all->template run<Selected<P>>(exec, pass, threads->memory());
      };
      cases.push_back(std::move(k));
    }
  }
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    for (ResNetLayer const& layer : layers) add_cases<P>(c, layer, cases);
    using Backend = SelectedBackend<Op, P, Execution<Space>::backends>;
    return serve("convolution", Backend::name, dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}
