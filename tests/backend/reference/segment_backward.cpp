// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The backward pass of a segment against central differences of the product of d_y and its result.

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <backend/segment_backward.hpp>
#include <finite_difference.hpp>

using namespace phyllo;
using namespace phyllo::test::segments;
using phyllo::op::Chain;
using phyllo::op::RowNorm;

namespace {

using UserMish = Chain<test::UserMish>;

using Plain = op::Segment<Dense<4, 5, true, Tanh>, Dense<5, 3, false, test::UserMish>,
                          Dense<3, 2, true, Tanh, Dropout<0.3>>>;
using Single = op::Segment<Dense<3, 2, true, Dropout<0.5>>>;
// The input again behind the first layer and behind the last, and one value twice.
using Sums = op::Segment<Dense<4, 4, true, Tanh>, phyllo::op::Sum<4, 0, UserMish>,
                         Dense<4, 4, false, Dropout<0.2>>, phyllo::op::Sum<4, 2, Chain<>>,
                         phyllo::op::Sum<4, 0, Chain<Tanh>>>;
using Normalised =
    op::Segment<Dense<4, 5, true>, RowNorm<5, true, true, true, UserMish>, Dense<5, 4, false>,
                phyllo::op::Sum<4, 0, Chain<>>,
                RowNorm<4, false, true, false, Chain<Tanh, Dropout<0.2>>>,
                phyllo::op::Sum<4, 4, Chain<>>, RowNorm<4, true, false, false, Chain<>>>;
constexpr op::ImageExtents image{2, 2, 1, 5, 4}, inner{3, 2, 1, 3, 4}, pooled{3, 2, 1, 2, 2};
using Images = op::Segment<
    op::Convolution<image, inner, Window{{1, 3, 3}, {1, 2, 1}, {0, 1, 1}}, true, UserMish>,
    op::WindowPooling<op::PoolingKind::average, inner, pooled,
                      Window{{1, 2, 2}, {1, 2, 2}, {0, 1, 0}}, Chain<Tanh>>,
    Dense<12, 3, true, Tanh>, Dense<3, 3, true>, phyllo::op::Sum<3, 3, Chain<>>>;
using PoolFirst = op::Segment<
    op::WindowPooling<op::PoolingKind::maximum, inner, pooled,
                      Window{{1, 2, 2}, {1, 2, 2}, {0, 1, 0}}, Chain<Tanh, Dropout<0.2>>>,
    Dense<12, 2, true>>;

using Double = Full<double>;
using Numbers = std::vector<double>;

// The result of a segment, one op at a time.
template <class Segment> struct Result;
template <class... D> struct Result<op::Segment<D...>> {
  using Given = Problem<op::Segment<D...>, Double>;
  Given const& given;
  op::Segment<D...>::template Forward<Double> work = given.forward();
  std::vector<Numbers> value{given.x};

  Numbers last() {
    int l = 0;
    (layer<D>(l++), ...);
    return value.back();
  }
  template <class Layer> void layer(int l) {
    using C = typename Layer::chain;
    Randomness const random{work.random.state, work.random.position + work.position[l]};
    constexpr Shape in = input_of<Layer>(), out = output_of<Layer>();
    Numbers y(std::size_t(given.batch * out.size()));
    Numbers const& x = value.back();
    if constexpr (op::is_sum<Layer>) {
      test::run<op::Add<C>, Double>(typename op::Add<C>::template Forward<Double>{
          given.batch, out.size(), x.data(), value[Layer::earlier].data(), y.data(), nullptr,
          random});
    } else if constexpr (op::is_row_norm<Layer>) {
      typename op::RowNormalization<C>::template Forward<Double> w;
      w.batch = given.batch;
      w.positions = 1;
      w.channels = Layer::outputs;
      w.centered = Layer::centered;
      w.x = x.data();
      if (Layer::scale) w.scale = given.parameters.data() + work.weight[l];
      if (Layer::bias) w.shift = given.parameters.data() + work.bias[l];
      w.epsilon = work.statistics[l].epsilon;
      w.y = y.data();
      w.random = random;
      test::run<op::RowNormalization<C>, Double>(w);
    } else if constexpr (requires { Layer::kind; }) {
      using Op = op::Pooling<Layer::kind>;
      test::run<Op, Double>(typename Op::template Forward<Double>{
          given.batch, in, out, Layer::window, x.data(), y.data()});
      test::run<op::Pointwise<C>, Double>(typename op::Pointwise<C>::template Forward<Double>{
          given.batch, out.size(), y.data(), y.data(), random});
    } else {
      typename op::Contraction<C>::template Forward<Double> w;
      w.batch = given.batch;
      w.input = in;
      w.output = out;
      if constexpr (!op::is_on_rows<Layer>) w.window = Layer::window;
      w.x = x.data();
      w.weight = given.parameters.data() + work.weight[l];
      w.bias = Layer::bias ? given.parameters.data() + work.bias[l] : nullptr;
      w.y = y.data();
      w.random = random;
      test::run<op::Contraction<C>, Double>(w);
    }
    value.push_back(y);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("reference segment backward: gradients are central differences", Segment, Plain,
                   Single, Sums, Normalised, Images, PoolFirst) {
  Problem<Segment, Double> p(3);
  auto const of_parameters = p.template run<reference::Kernels>(InputGradient::none);
  auto const written = p.template run<reference::Kernels>(InputGradient::written);
  auto const added = p.template run<reference::Kernels>(InputGradient::added);
  auto const value = [&] { return test::dot(p.d_y, Result<Segment>{p}.last()); };
  auto const differences =
      test::central_differences(p.parameters.data() + p.first, std::size_t(p.count), value);
  CHECK(test::relative_error(of_parameters.parameters, differences) <= 1e-6);
  CHECK(written.parameters == of_parameters.parameters);
  CHECK(added.parameters == of_parameters.parameters);
  CHECK(test::relative_error(written.x, test::central_differences(p.x.data(), p.x.size(), value)) <=
        1e-6);
  CHECK(test::largest_difference(added.x, test::sum(written.x, p.d_x_before)) <= 1e-15);
}

TEST_CASE("reference segment backward: a batch of nothing gives gradients of zero") {
  Problem<Sums, Double> p(0);
  CHECK(p.run<reference::Kernels>(InputGradient::written).parameters ==
        std::vector<double>(std::size_t(p.count), 0.0));
}
