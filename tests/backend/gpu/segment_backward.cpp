// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The backward pass of segments inside networks, GPUs' kernels executed on the host as in
// segment.cpp, against the layers one by one in backend reference, and against differences.

#include <backend/gpu/step_comparison.hpp>
#include <phyllo/backend/gpu/kernels.hpp>
#include <phyllo/backend/reference/contraction.hpp>
#include <phyllo/backend/reference/pointwise.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <rings.hpp>

#include <cstring>
#include <type_traits>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// Devices with so little scratch memory that nearly every layer is a stage.
template <class S> struct SmallMma : EmulatedMma<S> {
  static constexpr long scratch_budget = 6 * 1024 * long(sizeof(S)) / 2;
};
template <class S> struct SmallMfma : EmulatedMfma<S> {
  static constexpr long scratch_budget = 9 * 1024 * long(sizeof(S)) / 2;
};

enum class InputGradient { none, written, added };

// Elements of the arena before and behind the segment's own parameters.
constexpr int before = 96, behind = 32;

// The layers of a segment as ops of their own, a batch at a time.
template <class Segment, class P> struct LayerByLayer;
template <class... D, class P> struct LayerByLayer<op::Segment<D...>, P> {
  using S = typename P::storage;
  using Work = typename op::SegmentBackward<op::Segment<D...>>::template Run<P>;
  template <int L> using Layer = At<TypeList<D...>, L>;
  static constexpr int layers = sizeof...(D);

  Work const& work;
  std::vector<S> value[layers + 1], saved[layers], d_z;

  explicit LayerByLayer(Work const& w) : work(w) {
    value[0].assign(w.forward.x, w.forward.x + long(w.forward.batch) * Layer<0>::inputs);
    d_z.assign(w.d_y, w.d_y + long(w.forward.batch) * Layer<layers - 1>::outputs);
    all(std::make_index_sequence<layers>{});
  }

  template <std::size_t... I> void all(std::index_sequence<I...>) {
    (forward<int(I)>(), ...);
    (backward<layers - 1 - int(I)>(), ...);
  }
  template <int L> using Op = op::Contraction<typename Layer<L>::chain>;
  template <int L> Randomness random() const {
    Randomness of_layer = work.forward.random;
    of_layer.position += work.forward.position[L];
    return of_layer;
  }
  template <int L, class Of> Of with_extents() const {
    Of of;
    of.batch = work.forward.batch;
    of.input = Shape{Layer<L>::inputs};
    of.output = Shape{Layer<L>::outputs};
    return of;
  }
  template <int L> void forward() {
    value[L + 1].resize(std::size_t(work.forward.batch * Layer<L>::outputs));
    saved[L] = value[L + 1];
    auto of = with_extents<L, typename Op<L>::template Forward<P>>();
    of.x = value[L].data();
    of.weight = work.forward.parameters + work.forward.weight[L];
    if (Layer<L>::bias) of.bias = work.forward.parameters + work.forward.bias[L];
    of.y = value[L + 1].data();
    of.saved = saved[L].data();
    of.random = random<L>();
    reference::Kernels<Op<L>, P>::run(Space{}, "forward", of);
  }
  template <int L> void backward() {
    using Chain = typename Layer<L>::chain;
    if constexpr (Chain::length > 0) {
      typename op::Pointwise<Chain>::template Backward<P> of;
      of.batch = work.forward.batch;
      of.size = Layer<L>::outputs;
      of.saved = Chain::derivative_of == Derivative::output ? value[L + 1].data() : saved[L].data();
      of.d_y = of.d_x = d_z.data();
      of.random = random<L>();
      reference::Kernels<op::Pointwise<Chain>, P>::run(Space{}, "chain", of);
    }
    auto of = with_extents<L, typename Op<L>::template BackwardParameters<P>>();
    of.x = value[L].data();
    of.d_z = d_z.data();
    of.d_weight = work.gradients + work.forward.weight[L];
    if (Layer<L>::bias) of.d_bias = work.gradients + work.forward.bias[L];
    reference::Kernels<Op<L>, P>::run(Space{}, "parameters", of);
    std::vector<S> d_x(value[L].size());
    auto to = with_extents<L, typename Op<L>::template BackwardInput<P>>();
    to.d_z = d_z.data();
    to.weight = work.forward.parameters + work.forward.weight[L];
    to.d_x = L > 0 ? d_x.data() : work.d_x;
    to.accumulate = L == 0 && work.accumulate_gradient;
    if (to.d_x != nullptr) reference::Kernels<Op<L>, P>::run(Space{}, "input", to);
    d_z = d_x;
  }
};

// Numbers to add to; not-a-numbers where they shall be written.
template <class S> std::vector<S> d_x_before(int count, InputGradient wanted) {
  if (wanted == InputGradient::written) return std::vector<S>(std::size_t(count), S(std::nanf("")));
  return numbers<S>(count, 3);
}

template <class S> std::vector<float> floats(std::vector<S> const& from) {
  std::vector<float> to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = float(from[i]);
  return to;
}

template <class Kernels, class Segment, class S>
void compare(int batch, InputGradient wanted, Inputs inputs = Inputs::in_one_piece) {
  CAPTURE(batch);
  CAPTURE(int(wanted));
  static_assert(kernel_traits<Kernels>.takes_views);
  using P = typename PrecisionOf<S>::type;
  using A = Arena<Segment>;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11, .loss_scale = 64};
  auto const x = numbers<S>(long(batch) * A::first, 1);
  auto const d_y = numbers<S>(long(batch) * A::last, 2);
  int const stride = inputs == Inputs::apart ? 2 * A::first + 1 : A::first;
  std::vector<double> apart(std::size_t(batch * stride), std::nan(""));
  for (int n = 0; n < batch && inputs == Inputs::apart; ++n)
    for (int c = 0; c < A::first; ++c)
      apart[std::size_t(n * stride + 2 * c)] = double(float(x[std::size_t(n * A::first + c)]));
  ExternalTensor source;
  source.data[0] =
      inputs == Inputs::apart ? static_cast<void*>(apart.data()) : const_cast<S*>(x.data());
  source.type = inputs == Inputs::apart ? ElementType::f64 : type_of<S>;
  source.sample_stride = stride;
  source.channel_stride = inputs == Inputs::apart ? 2 : 1;

  typename op::SegmentBackward<Segment>::template Run<P> work;
  auto const own = A::template fill<S>(work.forward);
  std::vector<S> p(std::size_t(before), S(std::nanf("")));
  p.insert(p.end(), own.begin(), own.end());
  p.resize(p.size() + std::size_t(behind), S(std::nanf("")));
  for (int l = 0; l < A::layers; ++l) {
    work.forward.weight[l] += before;
    if (A::has_bias[l]) work.forward.bias[l] += before;
  }
  int const rows = Kernels::workspace_rows(Space{}), count = int(own.size());
  std::vector<float> partial(
      std::size_t(std::max(long(rows) * count, kernel_traits<Kernels>.partial_count)),
      std::nanf(""));
  std::vector<std::uint64_t> memory(
      std::size_t(kernel_traits<Kernels>.sample_bytes * ((batch + 63) / 64 * 64) / 8),
      ~std::uint64_t(0));
  work.forward.batch = batch;
  work.forward.x = x.data();
  work.forward.parameters = p.data();
  work.forward.random = {&state, 5};
  work.forward.memory.first = reinterpret_cast<std::byte*>(memory.data());
  work.d_y = d_y.data();
  work.accumulate_gradient = wanted == InputGradient::added;
  work.parameter_first = before;
  work.parameter_count = count;
  work.rows = rows;
  work.partial = partial.data();
  std::vector<float> gradients[2];
  std::vector<S> d_x[2];
  for (int k = 0; k < 2; ++k) {
    gradients[k].assign(p.size(), std::nanf(""));
    d_x[k] = d_x_before<S>(batch * A::first + 8, wanted);
    work.gradients = gradients[k].data();
    work.d_x = wanted == InputGradient::none ? nullptr : d_x[k].data();
    if (k == 0)
      LayerByLayer<Segment, P>{work};
    else
      Kernels::run(Space{}, "gpu", work, source);
  }

  double const bound = 1.5 * rounding<S>;
  for (int l = 0; l < A::layers; ++l) {
    CAPTURE(l);
    CHECK(distance(gradients[0], gradients[1], work.forward.weight[l],
                   A::inputs[l] * A::outputs[l]) <= bound);
    if (A::has_bias[l])
      CHECK(distance(gradients[0], gradients[1], work.forward.bias[l], A::outputs[l]) <= bound);
  }
  // What is not the segment's stays as it was; between its parameters there is nothing.
  long touched = 0, between = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    bool const is_own = int(i) >= before && int(i) < before + count;
    if (!is_own)
      touched += std::isnan(gradients[1][i]) ? 0 : 1;
    else if (std::isnan(float(p[i])))
      between += gradients[1][i] == 0 ? 0 : 1;
  }
  int const size = batch * A::first;
  auto const untouched = d_x_before<S>(size + 8, wanted);
  for (int i = wanted == InputGradient::none ? 0 : size; i < size + 8; ++i)
    touched += std::memcmp(&d_x[1][std::size_t(i)], &untouched[std::size_t(i)], sizeof(S)) ? 1 : 0;
  CHECK(touched == 0);
  CHECK(between == 0);
  if (wanted != InputGradient::none)
    CHECK(distance(floats(d_x[0]), floats(d_x[1]), 0, size) <= bound);
}

template <template <class> class Instruction, class Segment, class S>
using Whole = gpu::WholeStepKernels<HostDevice<Instruction>, Segment, gpu::GivenGradient,
                                    typename PrecisionOf<S>::type>;
template <template <class> class Instruction, class Segment, class S>
using Stored = gpu::StoredStepKernels<HostDevice<Instruction>, Segment, gpu::GivenGradient,
                                      typename PrecisionOf<S>::type>;
template <template <class> class Instruction, class Segment, class S>
using Chosen = gpu::Kernels<HostDevice<Instruction>, op::SegmentBackward<Segment>,
                            typename PrecisionOf<S>::type>;

template <class Kernels, class Segment, class S> void compare_batches() {
  for (int const batch : {0, 1, 17, 49, 331})
    for (auto const wanted : {InputGradient::none, InputGradient::written, InputGradient::added})
      compare<Kernels, Segment, S>(batch, wanted);
}

using Even = op::Segment<Dense<48, 48, ReLU>, Dense<48, 48, Tanh>, Dense<48, 16>>;
using Odd = op::Segment<Dense<7, 17, Tanh>, Bare<17, 30>, Dense<30, 33, GELU, Dropout<0.2>>,
                        Dense<33, 3, Tanh>>;
using Single = op::Segment<Dense<21, 6, Dropout<0.3>>>;
using Mlp = op::Segment<Dense<16, 64, ReLU>, Dense<64, 64, ReLU>, Dense<64, 64, ReLU>,
                        Dense<64, 64, ReLU>, Dense<64, 16>>;

}  // namespace

TEST_CASE("odd widths, random masks and what chains had before them, in one pass") {
  compare_batches<Whole<EmulatedMma, Odd, bf16>, Odd, bf16>();
  compare_batches<Whole<EmulatedMfma, Odd, float>, Odd, float>();
  if constexpr (all_cases) {
    compare_batches<Whole<EmulatedMma, Odd, float>, Odd, float>();
    compare_batches<Whole<EmulatedMfma, Odd, fp16>, Odd, fp16>();
  }
}
TEST_CASE("the same with values that are stored, in several stages") {
  using Kernels = Stored<SmallMma, Odd, bf16>;
  static_assert(Kernels::Kernel::Layout::stages() > 1 && kernel_traits<Kernels>.sample_bytes > 0);
  compare_batches<Kernels, Odd, bf16>();
  compare_batches<Stored<SmallMfma, Odd, float>, Odd, float>();
  if constexpr (all_cases) {
    compare_batches<Stored<EmulatedMma, Odd, float>, Odd, float>();
    compare_batches<Stored<SmallMfma, Odd, fp16>, Odd, fp16>();
  }
}
TEST_CASE("even widths, of inputs in one piece and of another type with gaps") {
  using Small = Stored<SmallMma, Even, float>;
  // The weights of the first layer are a stage that is left out where no input gradient is wanted.
  using Layout = Small::Kernel::Layout;
  static_assert(Layout::first_of(Layout::stages() - 1) == Layout::pieces - 1);
  for (auto const wanted : {InputGradient::none, InputGradient::written, InputGradient::added})
    for (auto const inputs : {Inputs::in_one_piece, Inputs::apart}) {
      compare<Whole<EmulatedMma, Even, float>, Even, float>(100, wanted, inputs);
      compare<Whole<EmulatedMfma, Even, bf16>, Even, bf16>(100, wanted, inputs);
      compare<Small, Even, float>(100, wanted, inputs);
    }
}
TEST_CASE("one layer alone") {
  compare_batches<Whole<EmulatedMma, Single, bf16>, Single, bf16>();
  compare_batches<Stored<EmulatedMma, Single, float>, Single, float>();
}
TEST_CASE("what a function makes of padding and of rows behind the batch reaches no gradient") {
  using Net = op::Segment<Bare<7, 17, BesideZero>, Dense<17, 30, BesideZero>, Dense<30, 3>>;
  for (int const batch : {1, 16, 100}) {
    compare<Whole<EmulatedMma, Net, bf16>, Net, bf16>(batch, InputGradient::written);
    compare<Stored<SmallMma, Net, float>, Net, float>(batch, InputGradient::written);
  }
}
TEST_CASE("input gradients are the differences of the forward pass in double") {
  using Segment = op::Segment<Dense<5, 19, Tanh>, Dense<19, 18, GELU, Dropout<0.2>>, Bare<18, 3>>;
  using Kernels = Whole<EmulatedMma, Segment, float>;
  using A = Arena<Segment>;
  constexpr int batch = 33, size = batch * A::first;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  auto x = numbers<float>(size, 1);
  auto const d_y = numbers<float>(long(batch) * A::last, 2);
  op::SegmentBackward<Segment>::Run<Full<float>> work;
  Segment::Forward<Full<double>> in_double;
  auto const p = A::fill<float>(work.forward);
  auto const p_in_double = A::fill<double>(in_double);
  work.rows = Kernels::workspace_rows(Space{});
  std::vector<float> partial(p.size() * std::size_t(work.rows)), gradients(p.size());
  std::vector<float> d_x(x.size(), std::nanf(""));
  work.forward.batch = in_double.batch = batch;
  work.forward.parameters = p.data();
  work.forward.random = in_double.random = {&state, 0};
  work.d_y = d_y.data();
  work.d_x = d_x.data();
  work.parameter_count = int(p.size());
  work.partial = partial.data();
  work.gradients = gradients.data();
  ExternalTensor source;
  source.data[0] = x.data();
  source.sample_stride = A::first;
  source.channel_stride = 1;
  Kernels::run(Space{}, "gpu", work, source);

  std::vector<double> at(x.begin(), x.end()), y(d_y.size()), slope(x.size());
  in_double.x = at.data();
  in_double.y = y.data();
  in_double.parameters = p_in_double.data();
  // A sample's outputs do not depend on other samples: channel c of all of them at a time.
  double const h = 1e-5;
  for (int c = 0; c < A::first; ++c)
    for (double const sign : {1.0, -1.0}) {
      for (int n = 0; n < batch; ++n) at[std::size_t(n * A::first + c)] += sign * h;
      reference::Kernels<Segment, Full<double>>::run(Space{}, "reference", in_double);
      for (int n = 0; n < batch; ++n) {
        auto const i = std::size_t(n * A::first + c);
        at[i] = double(x[i]);
        for (int o = 0; o < A::last; ++o)
          slope[i] += sign / (2 * h) * y[std::size_t(n * A::last + o)] *
                      double(d_y[std::size_t(n * A::last + o)]);
      }
    }
  CHECK(distance(floats(slope), d_x, 0, size) <= 0x1p-17);
}
TEST_CASE("segments stay on chip where a block has room, others are stored") {
  using OfMlp = Chosen<EmulatedMma, Mlp, bf16>;
  using OfAmd = Chosen<EmulatedMfma, Mlp, bf16>;
  static_assert(std::is_base_of_v<Whole<EmulatedMma, Mlp, bf16>, OfMlp>);
  static_assert(std::is_base_of_v<Stored<EmulatedMfma, Mlp, bf16>, OfAmd>);
  static_assert(kernel_traits<OfMlp>.sample_bytes == 0 && kernel_traits<OfAmd>.sample_bytes > 0);
  // Nothing is kept of outputs that no derivative reads, nor of their gradients.
  static_assert(
      kernel_traits<OfAmd>.sample_bytes ==
      kernel_traits<gpu::Kernels<HostDevice<EmulatedMfma>, op::WholeStep<Mlp, MeanSquaredError>,
                                 Mixed<bf16, float>>>.sample_bytes -
          2 * 16 * 2);
  compare<OfMlp, Mlp, bf16>(700, InputGradient::added);
  compare<OfAmd, Mlp, bf16>(700, InputGradient::added);
}
TEST_CASE("arguments of the longest segment are less than 512 bytes") {
  using D = Dense<16, 16, Tanh>;
  using Longest = op::Segment<D, D, D, D, D, D, D, D, D, D, D, D, D, D, D, D>;
  static_assert(Longest::length == Longest::max_length);
  CHECK(sizeof(Whole<EmulatedMma, Longest, bf16>::Kernel) < 512);
  CHECK(sizeof(Stored<EmulatedMma, Longest, bf16>::Kernel) < 512);
}
