// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products of matrices by oneDNN against plain loops, whatever is faster; and which of them run
// where nobody says.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <backend/portable/contraction.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace phyllo::test {

struct Always {
  template <class> static bool takes(onednn::Pass, long, long, long) { return true; }
};
template <class Op, class P> struct ByOneDnn;
template <class Chain, class P>
struct ByOneDnn<op::Contraction<Chain>, P> : onednn::Contraction<Chain, P, Always> {};
template <> inline constexpr bool same_bits_on_any_threads<ByOneDnn> = false;
template <> inline constexpr bool same_bits_on_any_threads<onednn::Kernels> = false;

}  // namespace phyllo::test

using namespace phyllo;
using namespace phyllo::test;

#define PHYLLO_TEST_ONEDNN_PRECISIONS Full<float>, Mixed<bf16, float>

namespace {

Window window_of(int depth, int height, int width) {
  Window w;
  w.size[0] = depth;
  w.size[1] = height;
  w.size[2] = width;
  return w;
}

template <class P, class... Chain> void compare_epilogues() {
  for (int i = 0; i < 16; ++i) {
    Epilogue const with{i % 2 == 1, i / 2 % 2 == 1, i / 4 % 2 == 1, i / 8 == 1};
    (compare_epilogue<Chain, P, ByOneDnn>(49, Shape{100}, 33, with), ...);
    (compare_epilogue<Chain, P, ByOneDnn>(7, Shape{17, 3, 5}, 34, with), ...);
  }
}

struct OwnTanh : Pointwise {
  [[maybe_unused]] static constexpr char const* name = "own_tanh";
  static constexpr Activation activation = Activation::hyperbolic_tangent;
};

}  // namespace

TEST_CASE("onednn: a chain of one function that oneDNN has, in a user's code as well") {
  CHECK(onednn::activation<op::Chain<OwnTanh>> == dnnl::algorithm::eltwise_tanh);
  CHECK(onednn::activation<op::Chain<Tanh>> == dnnl::algorithm::eltwise_tanh);
  CHECK(onednn::activation<op::Chain<Sigmoid>> == dnnl::algorithm::eltwise_logistic);
  CHECK(onednn::activation<op::Chain<GELU>> == dnnl::algorithm::eltwise_gelu_erf);
  CHECK(onednn::activation<op::Chain<ReLU>> == dnnl::algorithm::undef);
  CHECK(onednn::activation<op::Chain<Tanh, OwnTanh>> == dnnl::algorithm::undef);
}

TEST_CASE_TEMPLATE("onednn: products of odd extents", P, PHYLLO_TEST_ONEDNN_PRECISIONS) {
  int const extents[] = {1, 3, 17, 33, 100, 130, 1000};
  int const batches[] = {0, 1, 5, 49, 300};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j)
      compare_contraction<P, ByOneDnn>(
          {batches[i], Shape{extents[j]}, extents[(2 * i + j) % 7], {}}, (i + j) % 2 == 0);
}

TEST_CASE_TEMPLATE("onednn: convolutions", P, PHYLLO_TEST_ONEDNN_PRECISIONS) {
  compare_contraction<P, ByOneDnn>({3, Shape{17, 5, 7}, 33, {}}, true);
  compare_contraction<P, ByOneDnn>({49, Shape{16, 5, 5}, 34, window_of(1, 5, 5)}, true);
  compare_contraction<P, ByOneDnn>({2, Shape{3, 8, 8}, 5, window_of(1, 3, 3)}, true);
}

TEST_CASE_TEMPLATE("onednn: products with an epilogue", P, PHYLLO_TEST_ONEDNN_PRECISIONS) {
  compare_epilogues<P, op::Chain<ReLU>, op::Chain<GELU>, op::Chain<Dropout<0.5>>>();
  if constexpr (test::all_cases)
    compare_epilogues<P, op::Chain<Tanh>, op::Chain<Sigmoid>,
                      op::Chain<GELU, Dropout<0.25>, Tanh>>();
}

TEST_CASE_TEMPLATE("onednn: a number that is none is not hidden by an activation", P,
                   PHYLLO_TEST_ONEDNN_PRECISIONS) {
  using S = typename P::storage;
  constexpr int width = 64, batch = 32;
  auto x = numbers<S>(batch * width, 1);
  x.data()[3 * width + 5] = S(std::numeric_limits<float>::quiet_NaN());
  auto const weight = numbers<S>(width * width, 2);
  Guarded<S> y(batch * width);
  auto const check = [&]<class Function>() {
    using Op = op::Contraction<op::Chain<Function>>;
    typename Op::template Forward<P> work;
    work.batch = batch;
    work.input = work.output = Shape{width};
    work.x = x.data();
    work.weight = weight.data();
    work.y = y.data();
    work.memory = work_memory(kernel_traits<ByOneDnn<Op, P>>.thread_bytes, Space().concurrency());
    ByOneDnn<Op, P>::run(Space(), "test", work);
    Space().fence("test");
    INFO(Function::name);
    for (int r = 0; r < batch; ++r)
      for (int c = 0; c < width; ++c) CHECK(std::isnan(float(y.data()[r * width + c])) == (r == 3));
  };
  check.template operator()<ReLU>();
  check.template operator()<Tanh>();
  check.template operator()<Sigmoid>();
  check.template operator()<GELU>();
}

TEST_CASE_TEMPLATE("onednn: the faster of two, on both sides of the border", P,
                   PHYLLO_TEST_ONEDNN_PRECISIONS) {
  bool const narrow = std::is_same_v<P, Full<float>>;
  using S = typename P::storage;
  CHECK(onednn::Faster::takes<S>(onednn::Pass::backward_input, 512, 256, 256));
  CHECK(onednn::Faster::takes<S>(onednn::Pass::backward_input, 512, 256, 2048) != narrow);
  CHECK_FALSE(onednn::Faster::takes<S>(onednn::Pass::backward_input, 512, 256, 4096));
  CHECK_FALSE(onednn::Faster::takes<S>(onednn::Pass::backward_input, 8192, 256, 256));
  CHECK_FALSE(onednn::Faster::takes<S>(onednn::Pass::backward_input, 3, 256, 256));
  for (int const batch : {3, 64, 512})
    compare_contraction<P, onednn::Kernels>({batch, Shape{256}, 256, {}}, true);
}

namespace {

// clang-format off
struct Wide : Network<Input<300>, Linear<512>, GELU, Linear<512>, ReLU, Linear<10>> {};
struct Normalized : Network<Input<300>, Linear<512>, BatchNorm<>, GELU, Linear<512>, Dropout<0.25>, Linear<10>> {};
// clang-format on

using Same = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;

}  // namespace

TEST_CASE("onednn: the component runs wide layers, and nothing that must be reproducible") {
  static_assert(std::is_same_v<Execution<Space>::backends,
                               Backends<OneDnnBackend, HostBackend, PortableBackend>>);
  static_assert(std::is_same_v<Same::backends, Backends<HostBackend, PortableBackend>>);
  CHECK(std::string(explain<Wide>()).find("onednn") != std::string::npos);
  CHECK(std::string(explain<Wide, Full<float>, Same>()).find("onednn") == std::string::npos);
  CHECK(std::string(explain<Wide, Full<double>>()).find("onednn") == std::string::npos);
}

TEST_CASE_TEMPLATE("onednn: training agrees with the backend openmp", P,
                   PHYLLO_TEST_ONEDNN_PRECISIONS) {
  auto const train = [&]<class Net, class Exec>() {
    constexpr int batch = 128;
    Space const exec;
    Trainer<Net, MeanSquaredError, Sgd, P, Local, Exec> trainer(exec, Sgd{.rate = 0.05f},
                                                                {.batch = batch, .seed = 1});
    Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", batch, 300),
        t("t", batch, 10);
    for (std::size_t i = 0; i < x.size(); ++i)
      x.data()[i] = float(2 * random_uniform(3, 0, 0, i, 0) - 1);
    for (std::size_t i = 0; i < t.size(); ++i)
      t.data()[i] = float(2 * random_uniform(4, 0, 0, i, 0) - 1);
    for (int step = 0; step < 4; ++step) trainer.step(x, t);
    exec.fence("test");
    auto const gradients = trainer.model().gradients();
    Guarded<float> copy(long(gradients.size()));
    for (std::size_t i = 0; i < gradients.size(); ++i) copy.data()[i] = float(gradients(i));
    return copy;
  };
  double const bound = std::is_same_v<P, Full<float>> ? 1e-4 : 0.1;
  using Own = Execution<Space, Backends<HostBackend, PortableBackend>>;
  CHECK(distance(train.template operator()<Wide, Own>(),
                 train.template operator()<Wide, Execution<Space>>()) <= bound);
  if constexpr (test::all_cases)
    CHECK(distance(train.template operator()<Normalized, Own>(),
                   train.template operator()<Normalized, Execution<Space>>()) <= bound);
}
