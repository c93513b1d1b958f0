// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every activation that has no test of its own: errors against long double, limits, not-a-numbers.

#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <layer/pointwise_error.hpp>
#include <limits>
#include <phyllo/layer/elu.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/hard_sigmoid.hpp>
#include <phyllo/layer/hard_tanh.hpp>
#include <phyllo/layer/leaky_relu.hpp>
#include <phyllo/layer/mish.hpp>
#include <phyllo/layer/silu.hpp>
#include <phyllo/layer/softplus.hpp>
#include <phyllo/layer/softsign.hpp>
#include <string>

using namespace phyllo;
using phyllo::test::pointwise_error;

namespace {

using Exact = long double;
Exact sigmoid(Exact x) { return 1 / (1 + std::exp(-x)); }
Exact soft(Exact x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
Exact flat(Exact) { return 1; }
Exact expelled(Exact x, Exact alpha) { return x > 0 ? x : alpha * std::expm1(x); }
Exact tanh_gelu_argument(Exact x) {
  return std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
}

// Bounds: of the value, relative, in epsilons times scale(x); of the derivative, absolute.
template <class Layer, class T, class Value, class Slope, class Scale>
void check(double low, double high, Value value, Slope slope, double value_bound,
           double slope_bound, Scale scale) {
  INFO("layer ", std::string(Layer::name));
  auto const error = pointwise_error<Layer, T>(low, high, value, slope, scale);
  CHECK(error.value <= value_bound);
  CHECK(error.derivative <= slope_bound);
}
template <class Layer, class T> bool keeps_nan() {
  return std::isnan(Layer::value(std::numeric_limits<T>::quiet_NaN()));
}
template <class T, class Layer> int raised_by() {
  int flags = 0;
  for (double const x :
       {-1e4, -700.0, -90.0, -20.0, -1.0, 0.0, 1.0, 17.0, 20.0, 90.0, 700.0, 1e4}) {
    T const volatile given = T(x);
    std::feclearexcept(FE_ALL_EXCEPT);
    T const volatile value = Layer::value(T(given));
    T const volatile kept = Layer::derivative_of == Derivative::output ? value : given;
    T const volatile slope = Layer::derivative(T(kept));
    flags |= std::fetestexcept(FE_DIVBYZERO | FE_INVALID);
    CHECK(std::isfinite(T(slope)));
  }
  return flags;
}
template <class T, class... Layer> int raised() { return (raised_by<T, Layer>() | ...); }
template <class T, class... Layer> bool all_keep_nan() { return (keeps_nan<Layer, T>() && ...); }

}  // namespace

TEST_CASE_TEMPLATE("activations keep their stated error bounds", T, float, double) {
  check<SiLU, T>(
      -60, 60, [](Exact x) { return x * sigmoid(x); },
      [](Exact x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }, 4, 4, flat);
  check<Mish, T>(
      -60, 60, [](Exact x) { return x * std::tanh(soft(x)); },
      [](Exact x) {
        Exact const t = std::tanh(soft(x));
        return t + x * (1 - t * t) * sigmoid(x);
      },
      8, 6, flat);
  check<Softplus<>, T>(-60, 60, soft, sigmoid, 6, 4, flat);
  check<Softplus<4.0>, T>(
      -15, 15, [](Exact x) { return soft(4 * x) / 4; }, [](Exact x) { return sigmoid(4 * x); }, 6,
      4, flat);
  check<LogSigmoid, T>(
      -60, 60, [](Exact x) { return -soft(-x); }, [](Exact x) { return sigmoid(-x); }, 6, 4, flat);
  check<Softsign, T>(
      -50, 50, [](Exact x) { return x / (1 + std::fabs(x)); },
      [](Exact x) { return 1 / ((1 + std::fabs(x)) * (1 + std::fabs(x))); }, 2, 3, flat);
  check<ELU<0.75>, T>(
      -60, 9, [](Exact x) { return expelled(x, 0.75L); },
      [](Exact x) { return x > 0 ? 1 : 0.75L * std::exp(x); }, 7, 4, flat);
  check<CELU<1.5>, T>(
      -60, 9, [](Exact x) { return x > 0 ? x : 1.5L * std::expm1(x / 1.5L); },
      [](Exact x) { return x > 0 ? 1 : std::exp(x / 1.5L); }, 8, 4, flat);
  Exact const scale = 1.0507009873554804934193349852946L,
              alpha = 1.6732632423543772848170429916717L;
  check<SELU, T>(
      -60, 9, [=](Exact x) { return scale * expelled(x, alpha); },
      [=](Exact x) { return scale * (x > 0 ? 1 : alpha * std::exp(x)); }, 8, 6, flat);
  check<TanhGELU, T>(
      -8, 8, [](Exact x) { return x * sigmoid(2 * tanh_gelu_argument(x)); },
      [](Exact x) {
        Exact const s = sigmoid(2 * tanh_gelu_argument(x));
        Exact const slope = std::sqrt(2 / std::acos(-1.0L)) * (1 + 3 * 0.044715L * x * x);
        return s + x * s * (1 - s) * 2 * slope;
      },
      1, 8, [](Exact x) { return 8 + x * x + 4 * std::fabs(tanh_gelu_argument(x)); });
  check<LeakyReLU<0.125>, T>(
      -5, 5, [](Exact x) { return x > 0 ? x : x / 8; }, [](Exact x) { return x > 0 ? 1 : 0.125L; },
      1, 0, flat);
  check<HardSigmoid, T>(
      -4, 4, [](Exact x) { return std::fmin(std::fmax(x / 6 + 0.5L, 0), 1); },
      [](Exact x) { return x > -3 && x < 3 ? 1 / 6.0L : 0; }, 1, 1,
      [](Exact x) { return x < 0 ? 3 / (3 + std::fmax(x, -3)) + 2 : 2; });
  check<HardSwish, T>(
      -4, 4, [](Exact x) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; },
      [](Exact x) { return x <= -3  ? 0
                           : x >= 3 ? 1
                                    : (2 * x + 3) / 6; }, 1, 2,
      [](Exact x) { return x < 0 ? 3 / (3 + std::fmax(x, -3)) + 2 : 2; });
  check<HardTanh<-0.5, 0.25>, T>(
      -1, 1, [](Exact x) { return std::fmin(std::fmax(x, -0.5L), 0.25L); },
      [](Exact x) { return x > -0.5L && x < 0.25L ? 1 : 0; }, 0, 0, flat);
}

// A program may trap divisions by zero and invalid operations, of what is not chosen too.
TEST_CASE_TEMPLATE("activations of finite numbers raise no exceptions", T, float, double) {
  CHECK(raised<T, LeakyReLU<>, ELU<>, CELU<0.5>, SELU, SiLU, Mish, Softplus<>, LogSigmoid, Softsign,
               HardTanh<>, ReLU6, HardSigmoid, HardSwish, TanhGELU, GELU>() == 0);
}

TEST_CASE_TEMPLATE("activations at limits are those of torch", T, float, double) {
  CHECK(LeakyReLU<>::derivative(T(0)) == T(0.01));
  CHECK(ELU<2.0>::derivative(ELU<2.0>::value(T(0))) == T(2));
  CHECK(HardSigmoid::derivative(HardSigmoid::value(T(-3))) == T(0));
  CHECK(HardSigmoid::derivative(HardSigmoid::value(T(3))) == T(0));
  CHECK(HardSwish::derivative(T(-3)) == T(0));
  CHECK(HardSwish::derivative(T(3)) == T(1));
  CHECK(HardTanh<>::derivative(HardTanh<>::value(T(1))) == T(0));
  CHECK(ReLU6::value(T(7)) == T(6));
  CHECK(ReLU6::derivative(T(6)) == T(0));
  T const large = std::numeric_limits<T>::max();
  CHECK(Softplus<>::value(large) == large);
  CHECK(LogSigmoid::value(-large) == -large);
  CHECK(Softplus<>::value(-large) == T(0));
  CHECK(Mish::value(large) == large);
  CHECK(Mish::derivative(large) == doctest::Approx(1));
  CHECK(SiLU::derivative(large) == T(1));
  CHECK(TanhGELU::value(large) == large);
  CHECK(TanhGELU::derivative(large) == T(1));
  CHECK(std::fabs(TanhGELU::derivative(-large)) <= T(1e-30));
  CHECK(ELU<>::value(-large) == T(-1));
  CHECK(all_keep_nan<T, LeakyReLU<>, ELU<>, CELU<>, SELU, SiLU, Mish, Softplus<>, LogSigmoid,
                     Softsign, HardTanh<>, ReLU6, HardSigmoid, HardSwish, TanhGELU>());
}
