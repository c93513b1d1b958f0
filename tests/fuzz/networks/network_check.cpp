// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What holds for every network: it computes what backend `reference` computes in float64 without
// fusion, from the same rounded numbers.
//
// The bound of each comparison is derived, not chosen. The reference runs again with inputs,
// parameters and gradients of the outputs perturbed by one rounding of the network's types: the
// largest change of a result is how far one rounding of everything moves it (`spread`). A kernel
// rounds inside its sums as well, in whatever order it adds: an error that grows with the square
// root of their length. Batch normalisation subtracts what samples have in common, which the
// perturbed runs move alike but kernels round sample by sample; behind many layers tanh and the
// logistic function meet numbers so large that their slope, 1 - y^2 or y (1 - y), is less than one
// rounding of y: there the spread is also the error of `reference` in float, scaled to the rounding
// in question. The gradient of a softmax near one is as small: that run adds one rounding to it,
// see softmax_rounding.hpp. Hence |difference| <= (8 + sqrt(terms)) (spread + rounding |result|).
// Where a derivative jumps (ReLU, maximum), one rounding may choose the other side, which the
// perturbed runs need not show: gradients of such networks must agree for one of several draws of
// the data, everything else for all of them.

#include "network_check.hpp"
#include "placement.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

namespace networks {

Placement::Placement(int batch, std::vector<int> const& extents, Layout layout) {
  extent.push_back(std::size_t(batch));
  for (int e : extents) extent.push_back(std::size_t(e));
  stride.resize(extent.size());
  std::size_t step = layout == Layout::strided ? 2 : 1;
  auto const place = [&](std::size_t i) {
    stride[i] = step;
    step *= extent[i] + (layout == Layout::strided ? 1 : 0);
  };
  if (layout == Layout::left || layout == Layout::gathered)
    for (std::size_t i = 0; i < extent.size(); ++i) place(i);
  else
    for (std::size_t i = extent.size(); i-- > 0;) place(i);
  size = step;
}

std::size_t Placement::offset(std::size_t number) const {
  std::size_t at = 0;
  for (std::size_t i = extent.size(); i-- > 0;) {
    at += number % extent[i] * stride[i];
    number /= extent[i];
  }
  return at;
}

namespace {

constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
// In [-1, 1), by seed, stream and element.
double draw(unsigned seed, unsigned stream, std::size_t i) {
  std::uint64_t const key = mixed((std::uint64_t(seed) << 32 | stream) + 0x9e3779b97f4a7c15u);
  return double(mixed(key + 0x9e3779b97f4a7c15u * (i + 1)) >> 11) * 0x1p-52 - 1;
}
// The nearest number with a significand of as many bits as the unit roundoff says.
double rounded(double x, double roundoff) {
  if (x == 0) return 0;
  int exponent = 0;
  double const significand = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(significand / roundoff) * roundoff, exponent);
}

double norm(Numbers const& v) {
  double sum = 0;
  for (double x : v) sum += x * x;
  return std::sqrt(sum);
}
double distance(Numbers const& a, Numbers const& b) {
  if (a.size() != b.size()) return INFINITY;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::isnan(sum) ? INFINITY : std::sqrt(sum);
}

// Named results, in a fixed order; scale: another norm that their rounding errors come from.
struct Result {
  std::string name;
  Numbers numbers;
  double scale = 0;
  double roundoff = 0;  // of the type that holds it, where that is coarser
  bool jumps = false;   // where a derivative does
};
using Results = std::vector<Result>;

struct Data {
  Numbers parameters, buffers;
  Tensors x, d_y, targets;
};

class Check {
 public:
  explicit Check(Entry const& entry)
      : entry_(entry),
        reference_(entry.reference(capacity(), entry.seed)),
        subject_(entry.subject(entry.capacity, entry.seed)) {
    if (entry.in_float != nullptr) in_float_ = entry.in_float(capacity(), entry.seed);
    if (entry.in_storage != nullptr) in_storage_ = entry.in_storage(capacity(), entry.seed);
  }

  std::vector<std::string> all() {
    int const attempts = !entry_.kinked ? 1 : entry_.storage > 0x1p-20 ? 6 : 3;
    std::vector<std::string> jumping;
    for (int a = 0; a < attempts; ++a) {
      seed_ = entry_.seed + 1000u * unsigned(a);
      // With the optimizer's state as it begins.
      if (a > 0) subject_ = entry_.subject(entry_.capacity, entry_.seed);
      for (int batch : {17, 1, 49, 3}) compare_batch(batch);
      if (subject_->trains()) compare_training();
      if (!found_.empty()) {
        found_.insert(found_.end(), jumping_.begin(), jumping_.end());
        return found_;
      }
      if (jumping_.empty()) return {};
      jumping = std::exchange(jumping_, {});
      if (std::getenv("PHYLLO_NETWORKS_VERBOSE") != nullptr)
        for (std::string const& sentence : jumping) std::printf("again: %s\n", sentence.c_str());
    }
    return jumping;
  }

  void dump(std::string const& path);

 private:
  int capacity() const { return std::max(entry_.capacity, 49); }

  Data make_data(int batch) const {
    Data d;
    double const roundoff = std::max(entry_.storage, entry_.element);
    d.parameters = initial_;
    d.buffers = reference_->buffers();
    for (std::size_t i = 0; i < d.buffers.size(); ++i)
      d.buffers[i] = double(float(0.75 + 0.5 * draw(seed_, 2, i)));
    for (Tensor const& t : reference_->tensors)
      for (int k = 0; k < t.count; ++k) {
        double& p = d.parameters[std::size_t(t.first + k)];
        double const r = 0.3 * draw(seed_, 1, std::size_t(t.first + k));
        p = rounded(p == 0 ? r : p * (1 + r), entry_.storage);
      }
    unsigned stream = 16 + 8 * unsigned(batch);
    auto const below = [](double t, int n) { return std::floor((t + 1) / 2 * 0.999 * double(n)); };
    auto const fill = [&](std::vector<Port> const& ports) {
      Tensors all;
      for (Port const& port : ports) {
        Numbers v(std::size_t(batch) * std::size_t(port.size()));
        for (std::size_t i = 0; i < v.size(); ++i) {
          double const t = draw(seed_, stream, i);
          v[i] = port.entries > 0 ? below(t, port.entries) : rounded(t, roundoff);
          if (port.is_mask && i % std::size_t(port.size()) == 0) v[i] = 0;
        }
        all.push_back(v);
        ++stream;
      }
      return all;
    };
    d.x = fill(reference_->inputs);
    d.d_y = fill(reference_->outputs);
    d.targets = fill(reference_->outputs);
    for (std::size_t k = 0; k < entry_.loss.size(); ++k)
      if (entry_.loss[k].classes) {
        Port const& port = reference_->outputs[k];
        d.targets[k].resize(std::size_t(batch) * std::size_t(port.positions()));
        for (double& t : d.targets[k]) t = below(t, port.extents[0]);
      }
    return d;
  }
  // By one rounding of the network's types.
  Data perturbed(Data d, unsigned run) const {
    double const roundoff = std::max(entry_.storage, entry_.element);
    unsigned stream = 1000 + 100 * run;
    auto const move = [&](Numbers& v, double by) {
      for (std::size_t i = 0; i < v.size(); ++i) v[i] *= 1 + 2 * by * draw(seed_, stream, i);
      ++stream;
    };
    move(d.parameters, entry_.storage);
    for (std::size_t k = 0; k < d.x.size(); ++k)
      if (reference_->inputs[k].entries == 0) move(d.x[k], roundoff);
    for (Numbers& v : d.d_y) move(v, roundoff);
    return d;
  }

  Results by_hand(Machine& m, Data const& d, int batch, bool trains) const {
    Results all;
    m.set(d.parameters, d.buffers, std::uint64_t(batch));
    Tensors y = m.infer(d.x, batch), in_place = m.infer_in_place(d.x, batch);
    // Those of the subject are compared with what others write elsewhere.
    if (&m != subject_.get() && !in_place.empty()) in_place = y;
    for (std::size_t k = 0; k < y.size(); ++k)
      all.push_back({"infer, output " + std::to_string(k), std::move(y[k]), 0, entry_.element});
    for (std::size_t k = 0; k < in_place.size(); ++k)
      all.push_back({"infer in place, output " + std::to_string(k), std::move(in_place[k]), 0,
                     entry_.element});
    if (!trains) return all;
    y = m.forward(d.x, batch);
    for (std::size_t k = 0; k < y.size(); ++k)
      all.push_back({"forward, output " + std::to_string(k), std::move(y[k]), 0, entry_.element});
    all.push_back({"running statistics", m.buffers(), 0, 0x1p-24});
    Tensors d_x = m.backward(d.d_y, batch);
    add_tensors(all, m, "gradient of parameters at ", m.gradients());
    for (std::size_t k = 0; k < d_x.size(); ++k) {
      if (m.inputs[k].entries > 0) continue;  // integers
      // No output depends on it: zero.
      if (&m != subject_.get() && !m.inputs[k].reaches)
        std::fill(d_x[k].begin(), d_x[k].end(), 0.0);
      all.push_back(
          {"gradient of input " + std::to_string(k), std::move(d_x[k]), 0, entry_.element, true});
    }
    double sum = 0;
    for (Result const& r : all)
      if (r.jumps) sum += norm(r.numbers) * norm(r.numbers);
    for (Result& r : all)
      if (r.jumps) r.scale = std::sqrt(sum);
    return all;
  }
  void add_tensors(Results& all, Machine const& m, char const* what, Numbers const& arena) const {
    for (Tensor const& t : m.tensors) {
      auto const first = arena.begin() + t.first;
      Numbers v(first, first + t.count);
      if (&m != subject_.get() && t.is_dead) std::fill(v.begin(), v.end(), 0.0);
      all.push_back({what + std::to_string(t.first), std::move(v), 0, 0, true});
    }
  }

  // The largest change by a perturbation, for each result.
  template <class Run>
  std::vector<double> spread(Results const& exact, Data const& d, Run const& run) {
    std::vector<double> largest(exact.size());
    auto const grow = [&](Results const& other, double factor) {
      for (std::size_t i = 0; i < exact.size(); ++i)
        largest[i] = std::max(largest[i], factor * distance(exact[i].numbers, other[i].numbers));
    };
    for (unsigned k = 0; k < 3; ++k) grow(run(*reference_, perturbed(d, k)), 1);
    if (in_float_ != nullptr)
      grow(run(*in_float_, d), std::max(entry_.storage, entry_.element) / 0x1p-24);
    return largest;
  }

  void compare(Results const& expected, Results const& got, std::vector<double> const& spread,
               int batch, char const* who = "") {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      Result const& e = expected[i];
      double const size = norm(e.numbers);
      double const roundoff = std::max(entry_.storage, e.roundoff);
      double const terms = entry_.longest_sum * (e.jumps ? batch : 1);
      double const error = distance(e.numbers, got[i].numbers);
      // Of rounding in double, where types are as wide: the reference's own sums.
      double const bound = (8 + std::sqrt(terms)) * (spread[i] + roundoff * (size + e.scale));
      if (std::isfinite(size) && error <= bound) continue;
      char text[200];
      std::snprintf(text, sizeof text, "%s%s, batch %d: error %.3g, allowed %.3g, size %.3g%s", who,
                    e.name.c_str(), batch, error, bound, size,
                    std::isfinite(size) ? "" : " (the reference itself)");
      (e.jumps && entry_.kinked && std::isfinite(error) ? jumping_ : found_).push_back(text);
    }
  }

  // Gradients that are not finite in fp16 because one on their way is too large for it: backend
  // reference, layer by layer in fp16, has none either. Elsewhere one is a mistake.
  void leave_out_overflows(Results const& expected, Results& got, Data const& d, int batch,
                           bool trains) const {
    auto const is_finite = [](Result const& r) { return std::isfinite(norm(r.numbers)); };
    if (std::all_of(got.begin(), got.end(), is_finite)) return;
    Results const by_layer = by_hand(*in_storage_, d, batch, trains);
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i].jumps && !is_finite(got[i]) && !is_finite(by_layer[i]))
        got[i].numbers = expected[i].numbers;
  }

  void compare_batch(int batch) {
    Data const d = make_data(batch);
    bool const trains = batch <= entry_.capacity;
    auto const run = [&](Machine& m, Data const& data) { return by_hand(m, data, batch, trains); };
    Results const expected = run(*reference_, d);
    auto const allowed = spread(expected, d, run);
    Results got = by_hand(*subject_, d, batch, trains);
    if (in_storage_ != nullptr) leave_out_overflows(expected, got, d, batch, trains);
    compare(expected, got, allowed, batch);
    if (batch != 3) return;
    if (!entry_.discontinuous) compare_slope(d, batch);
    subject_->set(d.parameters, d.buffers, 0);
    for (Tensors const& y : subject_->in_kernel(d.x, batch)) {
      Results called, inferred;
      for (std::size_t k = 0; k < y.size(); ++k) {
        called.push_back({"", y[k]});
        inferred.push_back({"output " + std::to_string(k), expected[k].numbers});
      }
      compare(inferred, called, allowed, batch, "in_kernel, ");
    }
  }

  // The gradients of the reference itself, which has its passes in common with every other backend:
  // along one random direction they are the slope of sum(d_y y).
  void compare_slope(Data const& d, int batch) {
    constexpr double step = 1e-5, allowed = 1e-3;
    Machine& m = *reference_;
    double size = 0;  // what the sums' roundings are relative to
    auto const moved = [&](double by) {
      Data other = d;
      unsigned stream = 5000;
      auto const move = [&](Numbers& v) {
        for (std::size_t i = 0; i < v.size(); ++i) v[i] += by * draw(seed_, stream, i);
        ++stream;
      };
      move(other.parameters);
      for (std::size_t k = 0; k < other.x.size(); ++k)
        if (m.inputs[k].entries == 0) move(other.x[k]);
      m.set(other.parameters, other.buffers, 1);
      Tensors const y = m.forward(other.x, batch);
      double sum = 0;
      for (std::size_t k = 0; k < y.size(); ++k)
        for (std::size_t i = 0; i < y[k].size(); ++i) {
          sum += d.d_y[k][i] * y[k][i];
          size += std::abs(d.d_y[k][i] * y[k][i]);
        }
      return sum;
    };
    double const slope = (moved(step) - moved(-step)) / (2 * step);
    moved(0);
    Tensors const d_x = m.backward(d.d_y, batch);
    double sum = 0, squares = 0;
    unsigned stream = 5000;
    auto const add = [&](Numbers const& g, std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) {
        double const product = g[i] * draw(seed_, stream, i);
        sum += product;
        squares += product * product;
      }
    };
    Numbers const gradients = m.gradients();
    for (Tensor const& t : m.tensors) add(gradients, std::size_t(t.first), std::size_t(t.count));
    for (std::size_t k = 0; k < d_x.size(); ++k) {
      if (m.inputs[k].entries > 0) continue;
      ++stream;
      add(d_x[k], 0, d_x[k].size());
    }
    double const error = std::abs(sum - slope);
    // Where nothing depends on the variables, as behind a normalisation of equal numbers, the slope
    // is what its two sums round.
    if (error <= allowed * (std::sqrt(squares) + std::abs(slope)) + 0x1p-52 * size / step) return;
    char text[120];
    std::snprintf(text, sizeof text, "backend reference: slope %.6g, its gradients say %.6g", slope,
                  sum);
    (entry_.kinked ? jumping_ : found_).push_back(text);
  }

  // Loss of a batch and its gradient (a sum over samples) in float64, from the losses' definitions.
  double loss_of(Tensors const& y, Data const& d, int batch, Tensors& d_y) const {
    // Of 10^5 terms, what a sum in double rounds is more than the bound of one loss.
    long double sum = 0;
    d_y = y;
    for (std::size_t k = 0; k < entry_.loss.size(); ++k) {
      Port const& port = reference_->outputs[k];
      auto const channels = std::size_t(port.extents[0]), positions = std::size_t(port.positions());
      double const share = entry_.loss[k].weight / double(positions);
      for (std::size_t n = 0; n < std::size_t(batch); ++n)
        for (std::size_t p = 0; p < positions; ++p) {
          auto const at = [&](std::size_t c) { return (n * channels + c) * positions + p; };
          if (entry_.loss[k].classes) {
            auto const label = std::size_t(d.targets[k][n * positions + p]);
            double largest = -INFINITY, total = 0;
            for (std::size_t c = 0; c < channels; ++c) largest = std::max(largest, y[k][at(c)]);
            for (std::size_t c = 0; c < channels; ++c) total += std::exp(y[k][at(c)] - largest);
            for (std::size_t c = 0; c < channels; ++c)
              d_y[k][at(c)] = share * (std::exp(y[k][at(c)] - largest) / total - (c == label));
            sum += share * (std::log(total) + largest - y[k][at(label)]);
          } else {
            for (std::size_t c = 0; c < channels; ++c) {
              double const e = y[k][at(c)] - d.targets[k][at(c)];
              d_y[k][at(c)] = share * 2 * e / double(channels);
              sum += share * e * e / double(channels);
            }
          }
        }
    }
    return double(sum / batch);
  }

  // Two steps of the rule in float64 around the reference's gradients, with the rounding of stored
  // parameters; then what the caller sees.
  Results reference_training(Machine& m, Data const& first, Data const& second) {
    Results all;
    Numbers w = first.parameters, buffers = first.buffers, velocity(w.size()), square(w.size());
    Data const* const data[] = {&first, &second};
    Tensors d_y;
    m.set(w, buffers, 0);
    double const evaluated = loss_of(m.infer(first.x, step_batch[0]), first, step_batch[0], d_y);
    all.push_back({"loss of evaluate", {evaluated}});
    for (int s = 0; s < 2; ++s) {
      int const batch = step_batch[s];
      Numbers stored = w;
      for (double& p : stored) p = entry_.storage > 0x1p-30 ? rounded(p, entry_.storage) : p;
      m.set(stored, buffers, std::uint64_t(s));
      double const loss = loss_of(m.forward(data[s]->x, batch), *data[s], batch, d_y);
      buffers = m.buffers();
      m.backward(d_y, batch);
      all.push_back({"loss of step " + std::to_string(s), {loss}});
      Numbers const g = m.gradients();
      for (Tensor const& t : m.tensors)
        for (int k = 0; k < t.count; ++k) {
          auto const i = std::size_t(t.first + k);
          update(w[i], t.is_dead ? 0 : g[i] / batch, velocity[i], square[i], s + 1);
        }
    }
    finish_training(all, m, first.parameters, w, buffers);
    return all;
  }
  // Steps that end nowhere say nothing about kernels.
  bool diverges(Results const& training) const {
    double sum = 0;
    for (Result const& r : training) sum += norm(r.numbers) * norm(r.numbers);
    return !(sum < 1e8);
  }
  void update(double& w, double g, double& v, double& q, int step) const {
    Rule const& r = entry_.rule;
    g += r.weight_decay * w;
    if (r.adam) {
      v = r.beta1 * v + (1 - r.beta1) * g;
      q = r.beta2 * q + (1 - r.beta2) * g * g;
      w -= r.rate * (v / (1 - std::pow(r.beta1, step))) /
           (std::sqrt(q / (1 - std::pow(r.beta2, step))) + r.epsilon);
    } else {
      v = r.momentum * v + g;
      w -= r.rate * (r.nesterov ? g + r.momentum * v : v);
    }
  }
  void finish_training(Results& all, Machine const& m, Numbers const& before, Numbers after,
                       Numbers const& buffers) const {
    double const size = norm(after);
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    add_update(all, m, after, size);
    all.push_back({"running statistics after steps", buffers, 0, 0x1p-24, true});
  }
  void add_update(Results& all, Machine const& m, Numbers const& change, double size) const {
    for (Tensor const& t : m.tensors) {
      auto const first = change.begin() + t.first;
      // The parameters themselves round in the accumulation type.
      all.push_back({"change of parameters at " + std::to_string(t.first),
                     Numbers(first, first + t.count), size, 0, true});
    }
  }

  void compare_training() {
    Data const first = make_data(step_batch[0]);
    Data second = make_data(step_batch[1]);
    second.parameters = first.parameters;
    unsigned run = 0;
    Results const expected = reference_training(*reference_, first, second);
    if (diverges(expected)) return;
    auto const allowed = spread(expected, first, [&](Machine& m, Data const& d) {
      return reference_training(m, d, &m == reference_.get() ? perturbed(second, run++) : second);
    });
    Machine& m = *subject_;
    Results got;
    m.set(first.parameters, first.buffers, 0);
    got.push_back({"", {m.evaluate(first.x, first.targets, step_batch[0]).loss}});
    Trained const a = m.step(first.x, first.targets, step_batch[0]);
    Trained const b = m.step(second.x, second.targets, step_batch[1]);
    got.push_back({"", {a.loss}});
    got.push_back({"", {b.loss}});
    if (a.skipped || b.skipped) {
      if (entry_.storage == 0x1p-11) return;  // an overflow of fp16, which skips a step
      found_.push_back("a step was skipped");
    }
    finish_training(got, m, first.parameters, m.master(), m.buffers());
    compare(expected, got, allowed, step_batch[0], "Trainer, ");
    compare_trained();
  }
  // Inference with the parameters that training left.
  void compare_trained() {
    Data d = make_data(3);
    d.parameters = subject_->parameters();
    d.buffers = subject_->buffers();
    auto const run = [&](Machine& m, Data const& data) { return by_hand(m, data, 3, false); };
    Results const expected = run(*reference_, d);
    auto const allowed = spread(expected, d, run);
    Results got;
    for (Tensors y : {subject_->infer(d.x, 3), subject_->infer_in_place(d.x, 3)})
      for (Numbers& v : y) got.push_back({"", std::move(v)});
    compare(expected, got, allowed, 3, "after training, ");
  }

  Entry const& entry_;
  int const step_batch[2] = {entry_.capacity < 49 ? 17 : 49, 3};
  std::unique_ptr<Machine> reference_, in_float_, in_storage_, subject_;
  Numbers initial_ = reference_->parameters();
  unsigned seed_ = 0;
  std::vector<std::string> found_, jumping_;
};

std::string json(Numbers const& v) {
  std::string text = "[";
  char number[40];
  for (std::size_t i = 0; i < v.size(); ++i) {
    std::snprintf(number, sizeof number, "%s%.17g", i > 0 ? ", " : "", v[i]);
    text += number;
  }
  return text + "]";
}
std::string json(Tensors const& all) {
  std::string text = "[";
  for (std::size_t i = 0; i < all.size(); ++i) text += (i > 0 ? ", " : "") + json(all[i]);
  return text + "]";
}

std::string json(std::vector<StoredTensor> const& tensors) {
  std::string text;
  for (StoredTensor const& t : tensors) {
    Numbers const shape(t.shape.begin(), t.shape.end());
    std::string const part = t.first > 0 ? "@" + std::to_string(t.first) : "";
    text += (text.empty() ? "" : ", ") + ("\"" + t.name + part + "\": {\"shape\": " + json(shape));
    text += std::string(", \"buffer\": ") + (t.is_buffer ? "true" : "false");
    text += ", \"at\": " + std::to_string(t.offset) + ", \"taps\": " + std::to_string(t.taps) +
            ", \"channels\": " + std::to_string(t.channels) +
            ", \"outputs\": " + std::to_string(t.outputs) + "}";
  }
  return "{" + text + "}";
}
std::string json(Plan const& plan) {
  static char const* const roles[] = {"input",         "contraction",
                                      "normalization", "pointwise",
                                      "pooling",       "add",
                                      "concatenation", "row",
                                      "lookup",        "convolution",
                                      "move",          "reduce",
                                      "map",           "product",
                                      "position",      "scan",
                                      "resample",      "local_response",
                                      "fourier",       "spectral_product",
                                      "unpooling",     "sparse_product"};
  static char const* const kinds[] = {"single",
                                      "folded_contraction",
                                      "contraction_epilogue",
                                      "normalization_epilogue",
                                      "normalization_add",
                                      "add_epilogue",
                                      "attention",
                                      "pointwise_chain",
                                      "segment"};
  auto const list = [](char const* what, auto const& names, std::vector<int> const& numbers) {
    std::string text;
    for (int n : numbers) text += (text.empty() ? "\"" : ", \"") + std::string(names[n]) + "\"";
    return std::string("\"") + what + "\": [" + text + "]";
  };
  return "{" + list("roles", roles, plan.roles) + ", " + list("inference", kinds, plan.inference) +
         ", " + list("training", kinds, plan.training) +
         ", \"whole_step\": " + (plan.whole_step ? "true" : "false") + "}";
}

// What `reference` computes of three samples, for compare_torch.py.
void Check::dump(std::string const& path) {
  seed_ = entry_.seed;
  constexpr int batch = 3;
  Data const d = make_data(batch);
  Machine& m = *reference_;
  std::string text =
      "{\"description\": " + std::string(entry_.description) +
      ", \"parameters\": " + json(entry_.parameters) + ", \"arena\": " + json(d.parameters) +
      ", \"buffers\": " + json(d.buffers) + ", \"seed\": " + std::to_string(entry_.seed) +
      ", \"pass\": " + std::to_string(batch + 1) +
      ", \"order\": " + json(Numbers(entry_.plan.order.begin(), entry_.plan.order.end())) +
      ", \"x\": " + json(d.x) + ", \"d_y\": " + json(d.d_y);
  m.set(d.parameters, d.buffers, batch);
  text += ", \"infer\": " + json(m.infer(d.x, batch));
  text += ", \"forward\": " + json(m.forward(d.x, batch));
  text += ", \"statistics\": " + json(m.buffers());
  text += ", \"d_x\": " + json(m.backward(d.d_y, batch));
  text += ", \"gradients\": " + json(m.gradients()) + "}\n";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + path);
  std::fputs(text.c_str(), file);
  std::fclose(file);
}

}  // namespace

void run(Entry const& entry) {
  // As small as stacks are on many clusters.
  rlimit stack{};
  getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = std::min<rlim_t>(stack.rlim_max, 2u << 20);
  setrlimit(RLIMIT_STACK, &stack);
  // Before anything that may end the program.
  std::printf("network %s %s\n", entry.name, json(entry.plan).c_str());
  std::fflush(stdout);
  std::vector<std::string> found;
  try {
    Check check(entry);
    if (char const* folder = std::getenv("PHYLLO_NETWORKS_DUMP"))
      check.dump(std::string(folder) + "/" + entry.name + ".json");
    found = check.all();
  } catch (std::exception const& error) {
    found.push_back(std::string("exception: ") + error.what());
  }
  for (std::string const& sentence : found)
    std::printf("wrong %s %s\n", entry.name, sentence.c_str());
  std::string const type = entry.type, description = entry.description;
  std::string const first = found.empty() ? "" : found.front();
  INFO(type);
  INFO(description);
  CHECK_MESSAGE(found.empty(), first);
}

}  // namespace networks
