// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The training curve of a conditional variational autoencoder against PyTorch's: several inputs,
// two losses. The noise is an input, because two libraries draw other numbers.

#include <curves/curve.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

struct image;
struct condition;
struct noise;
struct code;
struct image_again;
constexpr int pixels = 16, conditions = 3, latent = 2;

// z = mean + exp(log_variance / 2) noise, as Reparameterise.
struct SampleWith : Map {
  static constexpr char const* name = "sample_with";
  static constexpr MapOperand operands[] = {
      {.part = 0, .parts = 2}, {.part = 1, .parts = 2}, {.source = 1}};
  template <class T> KOKKOS_FUNCTION static T value(T mean, T log_variance, T e) {
    return mean + Kokkos::exp(log_variance / 2) * e;
  }
  template <class T> KOKKOS_FUNCTION static Partials<T, 3> derivatives(T, T log_variance, T e) {
    T const deviation = Kokkos::exp(log_variance / 2);
    return {T(1), deviation * e / 2, deviation};
  }
};

// The divergence of the code's distribution from the standard normal one: Kingma and Welling, ICLR
// 2014, appendix B.
struct CodeDivergence {
  [[maybe_unused]] static constexpr char const* name = "code_divergence";
  static constexpr bool classes = false;
  static constexpr int outputs_per_target = 0;
  template <class Row> KOKKOS_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    int const half = y.channels() / 2;
    y.gradient([&](int c) { return c < half ? y(c) : (Kokkos::exp(y(c)) - T(1)) / 2; });
    return y.sum(
        [&](int c) { return (c < half ? y(c) * y(c) : Kokkos::exp(y(c)) - T(1) - y(c)) / 2; });
  }
};

// clang-format off
struct Cvae : Network<NamedInput<image, pixels>, NamedInput<condition, conditions>, NamedInput<noise, latent>,
                      From<image>, ConcatFrom<condition>, Linear<12>, Tanh, Linear<2 * latent>, Output<code>,
                      Combine<SampleWith, noise>, ConcatFrom<condition>, Linear<12>, Tanh, Linear<pixels>, Output<image_again>> {};
// clang-format on

struct Autoencoder {
  using network = Cvae;
  using loss = Losses<On<image_again, BinaryCrossEntropy, 16>, On<code, CodeDivergence, 0.5>>;
  NAdam rule;

  template <class T> auto inputs(int k) const {
    return tensors(named<image>(draw<T>(inputs_from, k, pixels, true)),
                   named<condition>(draw<T>(inputs_from + 1, k, conditions)),
                   named<noise>(draw<T>(inputs_from + 2, k, latent)));
  }
  template <class T> auto targets(int k) const {
    return tensors(named<image_again>(draw<T>(inputs_from, k, pixels, true)),
                   named<code>(no_targets));
  }
  template <class T, class M> std::vector<double> output(Space const& exec, M& model, int k) const {
    Rows<T> const c("code", samples, 2 * latent), y("image", samples, pixels);
    model.infer(exec, inputs<T>(k), tensors(named<code>(c), named<image_again>(y)));
    exec.fence("curves");
    std::vector<double> all;
    for (int n = 0; n < samples; ++n) {
      for (int i = 0; i < 2 * latent; ++i) all.push_back(double(c(n, i)));
      for (int i = 0; i < pixels; ++i) all.push_back(double(y(n, i)));
    }
    return all;
  }
};

}  // namespace

TEST_CASE("curves: conditional variational autoencoder") {
  check_curve("cvae", Autoencoder{{.rate = 5e-3}});
}
