// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The formula of every loss over one row: its value against the textbook's in plain loops, its
// gradient against central differences. generic/losses.cpp checks the steps around them.

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <phyllo/phyllo.hpp>
#include <rings.hpp>
#include <vector>

using namespace phyllo;

namespace {

using Numbers = std::vector<double>;

// The loss of one row, and its gradient where that is given.
template <class L> double evaluate(L const& loss, Numbers const& z, Numbers& t, double* gradient) {
  ExternalTensor targets;
  long long label = (long long)(t[0]);
  targets.data[0] = L::classes ? static_cast<void*>(&label) : static_cast<void*>(t.data());
  targets.type = L::classes ? ElementType::i64 : ElementType::f64;
  targets.channel_stride = 1;
  using Target = op::TargetRow<L, double>;
  Target const target(targets, 0, Shape(int(z.size())), 0);
  op::LossRow<L, double, double, op::SerialLoops, Target> const row({}, int(z.size()), z.data(),
                                                                    target, {gradient, 1, false});
  return loss(row);
}

// Rows of different sizes; t is a class index or as many numbers, by make(channel).
template <class L>
void check(L const& loss, std::function<double(int)> const& make,
           std::function<double(Numbers const&, Numbers const&)> const& formula) {
  INFO("loss ", std::string(L::name));
  constexpr int each = op::output_parts<L>();
  for (int const channels : {each, 2 * each, 7 * each}) {
    CAPTURE(channels);
    Numbers z(std::size_t(channels), 0.0), t(std::size_t(channels), 0.0), d(z), numeric(z);
    for (std::size_t c = 0; c < z.size(); ++c) {
      z[c] = 1.7 * std::sin(1.0 + 2.3 * double(c));
      if (each == 2) z[c] = 0.2 + std::fabs(z[c]);  // a variance
      t[c] = make(int(c));
    }
    if (L::classes) t[0] = double((channels * 5) / 7);
    double const value = evaluate(loss, z, t, d.data());
    CHECK(value == doctest::Approx(formula(z, t)).epsilon(1e-13));
    for (std::size_t c = 0; c < z.size(); ++c) {
      double const kept = z[c], step = 1e-6;
      z[c] = kept + step;
      double const above = evaluate(loss, z, t, nullptr);
      z[c] = kept - step;
      numeric[c] = (above - evaluate(loss, z, t, nullptr)) / (2 * step);
      z[c] = kept;
      CHECK(std::fabs(numeric[c] - d[c]) <= 2e-9);
    }
  }
  if (L::classes) {  // a class that does not exist makes the loss not a number
    Numbers z(3, 0.5), t(3, 3.0);
    CHECK(std::isnan(evaluate(loss, z, t, nullptr)));
    t[0] = -1;
    CHECK(std::isnan(evaluate(loss, z, t, nullptr)));
  }
}

// Mean over the channels.
auto mean(std::function<double(double, double)> const& of_channel) {
  return [of_channel](Numbers const& z, Numbers const& t) {
    double sum = 0;
    for (std::size_t c = 0; c < z.size(); ++c) sum += of_channel(z[c], t[c]);
    return sum / double(z.size());
  };
}
double wave(int c) { return 1.3 * std::cos(0.4 + 1.9 * c); }
double share(int c) { return 0.1 + 0.3 * (c % 3); }
double sign(int c) { return c % 2 == 0 ? 1 : -1; }
double none(int) { return 0; }
double log_softmax(Numbers const& z, std::size_t c) {
  double sum = 0;
  for (double const x : z) sum += std::exp(x);
  return z[c] - std::log(sum);
}

}  // namespace

TEST_CASE("generic: formulas of losses of numbers") {
  check(MeanSquaredError{}, wave, mean([](double y, double t) { return (y - t) * (y - t); }));
  check(MeanAbsoluteError{}, wave, mean([](double y, double t) { return std::fabs(y - t); }));
  check(Huber{.delta = 0.7}, wave, mean([](double y, double t) {
          double const d = std::fabs(y - t);
          return d <= 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
        }));
  check(SmoothL1{.beta = 0.7}, wave, mean([](double y, double t) {
          double const d = std::fabs(y - t);
          return d < 0.7 ? d * d / 1.4 : d - 0.35;
        }));
  check(LogCosh{}, wave, mean([](double y, double t) { return std::log(std::cosh(y - t)); }));
  check(Quantile{.quantile = 0.2}, wave,
        mean([](double y, double t) { return t > y ? 0.2 * (t - y) : 0.8 * (y - t); }));
  check(BinaryCrossEntropy{}, share, mean([](double z, double t) {
          double const p = 1 / (1 + std::exp(-z));
          return -t * std::log(p) - (1 - t) * std::log(1 - p);
        }));
  check(PoissonLikelihood{}, share, mean([](double y, double t) { return std::exp(y) - t * y; }));
  check(Hinge{}, sign, mean([](double y, double t) { return std::fmax(0, 1 - t * y); }));
  check(KullbackLeibler{}, share, [](Numbers const& y, Numbers const& t) {
    double sum = 0;
    for (std::size_t c = 0; c < y.size(); ++c) sum += t[c] * (std::log(t[c]) - y[c]);
    return sum;
  });
  check(CosineDistance{}, wave, [](Numbers const& y, Numbers const& t) {
    double product = 0, of_y = 0, of_t = 0;
    for (std::size_t c = 0; c < y.size(); ++c) {
      product += y[c] * t[c];
      of_y += y[c] * y[c];
      of_t += t[c] * t[c];
    }
    return 1 - product / std::sqrt(of_y * of_t);
  });
  // torch.nn.GaussianNLLLoss and, with `full`, its constant.
  for (bool const full : {false, true})
    check(GaussianLikelihood{.full = full}, wave, [full](Numbers const& y, Numbers const& t) {
      std::size_t const half = y.size() / 2;
      double sum = 0;
      for (std::size_t c = 0; c < half; ++c)
        sum += 0.5 * (std::log(y[half + c]) + (y[c] - t[c]) * (y[c] - t[c]) / y[half + c]);
      return sum / double(half) + (full ? 0.5 * std::log(2 * std::acos(-1.0)) : 0);
    });
  check(UnitGaussianDivergence{}, none, [](Numbers const& y, Numbers const&) {
    std::size_t const half = y.size() / 2;
    double sum = 0;
    for (std::size_t c = 0; c < half; ++c) {
      double const mean = y[c], variance = std::exp(y[half + c]);
      sum += 0.5 * (variance + mean * mean - 1 - std::log(variance));
    }
    return sum;
  });
  for (double const margin : {0.3, 4.0})
    check(TripletMargin{.margin = margin}, none, [margin](Numbers const& y, Numbers const&) {
      std::size_t const size = y.size() / 3;
      double to[2] = {};
      for (std::size_t k = 0; k < 2; ++k)
        for (std::size_t c = 0; c < size; ++c)
          to[k] += std::pow(y[c] - y[(k + 1) * size + c] + 1e-6, 2);
      return std::fmax(0, std::sqrt(to[0]) - std::sqrt(to[1]) + margin);
    });
  for (double const smoothing : {1.0, 0.01})
    check(Dice{.smoothing = smoothing}, share, [smoothing](Numbers const& z, Numbers const& t) {
      double both = 0, of_z = 0, of_t = 0;
      for (std::size_t c = 0; c < z.size(); ++c) {
        double const p = 1 / (1 + std::exp(-z[c]));
        both += p * t[c];
        of_z += p;
        of_t += t[c];
      }
      return 1 - (2 * both + smoothing) / (of_z + of_t + smoothing);
    });
  check(SoftCrossEntropy{}, share, [](Numbers const& z, Numbers const& t) {
    double sum = 0;
    for (std::size_t c = 0; c < z.size(); ++c) sum -= t[c] * log_softmax(z, c);
    return sum;
  });
}

TEST_CASE("generic: formulas of losses of classes") {
  check(CrossEntropy{}, none,
        [](Numbers const& z, Numbers const& t) { return -log_softmax(z, std::size_t(t[0])); });
  check(MaskedCrossEntropy<>{}, none,
        [](Numbers const& z, Numbers const& t) { return -log_softmax(z, std::size_t(t[0])); });
  check(SmoothedCrossEntropy{.smoothing = 0.3}, none, [](Numbers const& z, Numbers const& t) {
    double sum = -0.7 * log_softmax(z, std::size_t(t[0]));
    for (std::size_t c = 0; c < z.size(); ++c) sum -= 0.3 / double(z.size()) * log_softmax(z, c);
    return sum;
  });
  for (double const gamma : {0.0, 0.5, 2.0})
    check(FocalLoss{.gamma = gamma}, none, [gamma](Numbers const& z, Numbers const& t) {
      double const logarithm = log_softmax(z, std::size_t(t[0]));
      return -std::pow(1 - std::exp(logarithm), gamma) * logarithm;
    });
  check(MultiMargin{.margin = 0.8}, none, [](Numbers const& z, Numbers const& t) {
    double sum = 0;
    for (std::size_t c = 0; c < z.size(); ++c)
      if (double(c) != t[0]) sum += std::fmax(0, 0.8 - z[std::size_t(t[0])] + z[c]);
    return sum / double(z.size());
  });
}

TEST_CASE("losses at their limits") {
  Numbers d(2), zero{0, 0}, some{1, 2};
  // A variance below epsilon: torch clamps a copy, and passes the gradient there.
  Numbers narrow{0.5, -3}, one{0.75};
  CHECK(evaluate(GaussianLikelihood{.epsilon = 0.25}, narrow, one, d.data()) ==
        doctest::Approx(0.5 * (std::log(0.25) + 0.25)));
  CHECK(d[0] == doctest::Approx(-1));
  CHECK(d[1] == doctest::Approx(0.5 * (4 - 1)));
  Numbers undefined{0.5, std::nan("")};
  CHECK(std::isnan(evaluate(GaussianLikelihood{}, undefined, one, nullptr)));
  // Of an ignored class index nothing counts, also where it is one of the classes.
  Numbers ignored{-100}, first{0}, second{1};
  CHECK(evaluate(MaskedCrossEntropy<>{}, some, ignored, d.data()) == 0);
  CHECK(d == zero);
  CHECK(evaluate(MaskedCrossEntropy<0>{}, some, first, d.data()) == 0);
  CHECK(d == zero);
  CHECK(evaluate(MaskedCrossEntropy<0>{}, some, second, d.data()) ==
        doctest::Approx(std::log(1 + std::exp(-1.0))));
  CHECK(evaluate(CosineDistance{}, zero, some, d.data()) == 1);
  CHECK(d == zero);
  Numbers certain{0, 1};
  CHECK(std::isfinite(evaluate(KullbackLeibler{}, some, certain, d.data())));
  Numbers far{1e4, -1e4}, label{0, 0};
  CHECK(evaluate(FocalLoss{}, far, label, d.data()) == 0);
  CHECK(d == zero);
  CHECK(evaluate(BinaryCrossEntropy{}, far, certain, d.data()) == doctest::Approx(1e4));
  CHECK(evaluate(LogCosh{}, far, zero, d.data()) == doctest::Approx(1e4 - std::log(2.0)));
  Numbers tiny{1e-9, 0};
  CHECK(evaluate(LogCosh{}, tiny, zero, d.data()) == doctest::Approx(0.25e-18).epsilon(1e-12));
}
