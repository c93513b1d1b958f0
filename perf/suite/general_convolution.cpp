// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Convolutions with dilated taps or groups of channels, and transposed ones, each pass by the
// kernel that a Trainer selects.

#include "cases.hpp"
#include "pass_numbers.hpp"

namespace {

using namespace perf;
using Op = op::GeneralConvolution<op::Chain<>>;
template <class P> using Selected = SelectedKernels<Op, P, typename Execution<Space>::backends>;

struct ConvolutionLayer {
  char const* name;
  int channels, extent, outputs, size, stride, padding, dilation, groups, batch;
  bool transposed = false;

  /// What the windows lie on is the layer's input, of a transposed one its output.
  ConvolutionShape shape() const {
    int const reach = dilation * (size - 1);
    int const other = transposed ? (extent - 1) * stride - 2 * padding + reach + 1
                                 : (extent + 2 * padding - reach - 1) / stride + 1;
    Shape const input = {channels, extent, extent}, output = {outputs, other, other};
    ConvolutionShape s;
    s.image = transposed ? output : input;
    s.grid = transposed ? input : output;
    for (int d = 1; d < 3; ++d) {
      s.size[d] = size;
      s.stride[d] = stride;
      s.before[d] = padding;
      s.dilation[d] = dilation;
    }
    s.groups = groups;
    return s;
  }
};

// MobileNetV2's and ConvNeXt's depthwise windows, ResNeXt-50's groups of four channels, the rates
// of DeepLabv3+ at a sixteenth of 513 pixels, the decoder of a convolutional autoencoder.
ConvolutionLayer const layers[] = {
    {"depthwise 3x3, 56x56x144", 144, 56, 144, 3, 1, 1, 1, 144, 8},
    {"depthwise 3x3s2, 56x56x144", 144, 56, 144, 3, 2, 1, 1, 144, 8},
    {"depthwise 3x3, 14x14x576", 576, 14, 576, 3, 1, 1, 1, 576, 16},
    {"depthwise 7x7, 28x28x192", 192, 28, 192, 7, 1, 3, 1, 192, 8},
    {"depthwise 3x3 rate 2, 33x33x728", 728, 33, 728, 3, 1, 2, 2, 728, 2},
    {"32 groups 3x3, 56x56x128", 128, 56, 128, 3, 1, 1, 1, 32, 4},
    {"32 groups 3x3, 14x14x512", 512, 14, 512, 3, 1, 1, 1, 32, 8},
    {"3x3 rate 6, 33x33x2048 to 256", 2048, 33, 256, 3, 1, 6, 6, 1, 1},
    {"3x3 rate 12, 33x33x2048 to 256", 2048, 33, 256, 3, 1, 12, 12, 1, 1},
    {"3x3 rate 18, 33x33x2048 to 256", 2048, 33, 256, 3, 1, 18, 18, 1, 1},
    {"transposed 4x4s2, 7x7x128 to 64", 128, 7, 64, 4, 2, 1, 1, 1, 64, true},
    {"transposed 4x4s2, 14x14x64 to 32", 64, 14, 32, 4, 2, 1, 1, 1, 64, true},
    {"transposed 3x3, 28x28x32 to 32", 32, 28, 32, 3, 1, 1, 1, 1, 64, true}};

/// What the three passes of a layer read and write; the numbers are those of storage type S.
template <class P, class S> struct Tensors {
  using T = typename P::storage;
  ConvolutionLayer layer;
  ConvolutionShape shape;
  int batch;
  Numbers<T> x, weight, d_y, y, d_x;
  Numbers<typename P::accumulate> d_weight, partial;

  Tensors(ConvolutionLayer const& l, int n) : layer(l), shape(l.shape()), batch(n) {
    long const inputs = n * long(input().size()), results = n * long(output().size());
    x = numbers<T, S>(inputs, 1);
    weight = numbers<T, S>(shape.weights(), 2);
    d_y = numbers<T, S>(results, 3);
    y = Numbers<T>("y", std::size_t(results));
    d_x = Numbers<T>("d_x", std::size_t(inputs));
    d_weight = Numbers<typename P::accumulate>("d_weight", std::size_t(shape.weights()));
    partial = Numbers<typename P::accumulate>("partial", std::size_t(Op::work_count(shape)));
  }
  Shape const& input() const { return layer.transposed ? shape.grid : shape.image; }
  Shape const& output() const { return layer.transposed ? shape.image : shape.grid; }
  double flops() const { return 2.0 * shape.grid.positions() * double(shape.weights()); }

  template <class Kernels>
  void run(Space const& exec, int pass, op::WorkMemory const& memory = {}) {
    if (pass == 2) {
      typename Op::template BackwardParameters<P> work;
      work.batch = batch;
      work.shape = shape;
      work.image = layer.transposed ? d_y.data() : x.data();
      work.grid = layer.transposed ? x.data() : d_y.data();
      work.d_weight = d_weight.data();
      work.transposed = layer.transposed;
      work.partial = partial.data();
      work.memory = memory;
      Kernels::run(exec, "convolution", work);
    } else if ((pass == 0) != layer.transposed) {
      run_one<Kernels, typename Op::template Gather<P>>(exec, pass, memory);
    } else {
      run_one<Kernels, typename Op::template Spread<P>>(exec, pass, memory);
    }
    exec.fence("perf");
  }

 private:
  template <class Kernels, class Work>
  void run_one(Space const& exec, int pass, op::WorkMemory const& memory) {
    Work work;
    work.batch = batch;
    work.shape = shape;
    work.x = pass == 0 ? x.data() : d_y.data();
    work.weight = weight.data();
    work.result.y = pass == 0 ? y.data() : d_x.data();
    work.memory = memory;
    Kernels::run(exec, "convolution", work);
  }
};

template <class P>
void add_cases(Ceilings const& c, ConvolutionLayer const& layer, std::vector<Case>& cases) {
  using S = typename P::storage;
  constexpr char const* passes[] = {"forward", "input gradient", "weight gradient"};
  Space const exec;
  auto const threads = std::make_shared<ThreadMemory<Space>>(
      exec, "work memory", exec.concurrency(), kernel_traits<Selected<P>>.thread_bytes);
  auto const all = std::make_shared<Tensors<P, S>>(layer, layer.batch);
  // One sample against the same in float64.
  Tensors<P, S> one(layer, 1);
  Tensors<Full<double>, S> truth(layer, 1);
  for (int pass = 0; pass < 3; ++pass) {
    one.template run<Selected<P>>(exec, pass, threads->memory());
    truth.template run<reference::Kernels<Op, Full<double>>>(exec, pass);
    Case k;
    k.name = std::string(layer.name) + " " + passes[pass];
    k.phase = pass == 0 ? "inference" : "training";
    k.batch = layer.batch;
    k.flops_per_sample = all->flops();
    k.relative_error = pass == 0   ? error_of(truth.y, one.y)
                       : pass == 1 ? error_of(truth.d_x, one.d_x)
                                   : error_of(truth.d_weight, one.d_weight);
    k.bytes_per_sample = double(sizeof(S)) * (all->input().size() + all->output().size());
    set_floor(k, c.template peak<P>(), c.memory());
    k.call = [all, pass, exec, threads] {
      all->template run<Selected<P>>(exec, pass, threads->memory());
    };
    cases.push_back(std::move(k));
  }
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    for (ConvolutionLayer const& layer : layers) add_cases<P>(c, layer, cases);
    using Backend = SelectedBackend<Op, P, Execution<Space>::backends>;
    return serve("general-convolution", Backend::name, dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}
