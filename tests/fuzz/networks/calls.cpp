// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random legal orders of calls on one trainer, against the same calls done plainly: each on a new
// trainer that is given the state which the calls before it left. Every number has to have the same
// bits. PHYLLO_CALLS_SEED and PHYLLO_CALLS: where to begin, and how many orders.

#include "subject.hpp"

#include <phyllo/fit/checkpoints.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>

namespace {

using namespace networks;
using phyllo::Sgd, phyllo::Adam;

/// Everything that the next call depends on, the activations of a forward pass excepted.
struct State {
  Numbers parameters, master, buffers, optimizer;
  std::vector<unsigned char> step;
  int frozen = 0;  // of Caller::freeze
  long steps = 0;
  Numbers missed = {};  // steps of frozen tensors
  bool operator==(State const&) const = default;
};

template <class Net, class InTags, class OutTags, class S>
class Caller : public Subject<Net, InTags, OutTags, S> {
  using Base = Subject<Net, InTags, OutTags, S>;

 public:
  static constexpr int capacity = 17;
  Caller() : Base(capacity, 5, typename S::rule{}) {}

  State state() {
    State s{this->parameters(),  this->master(), this->buffers(), {}, {}, frozen_,
            this->held().steps()};
    auto const& numbers = this->held().optimizer().state();
    for (std::size_t i = 0; i < numbers.size(); ++i) s.optimizer.push_back(double(numbers(i)));
    auto const* const bytes = reinterpret_cast<unsigned char const*>(this->model().state().data());
    s.step.assign(bytes, bytes + sizeof(phyllo::StepState));
    s.missed = this->held().optimizer().missed_steps(this->exec());
    return s;
  }
  void restore(State const& s) {
    this->set(s.master, s.buffers, 0);
    auto const& numbers = this->held().optimizer().state();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers(i) = typename std::decay_t<decltype(numbers)>::non_const_value_type(s.optimizer[i]);
    std::memcpy(static_cast<void*>(this->model().state().data()), s.step.data(), s.step.size());
    freeze(s.frozen);
    this->held().optimizer().set_missed_steps(this->exec(), s.missed);
    this->held().count_steps_from(s.steps);
  }
  /// Which tensors steps leave as they are. 0: none.
  void freeze(int which) {
    using Choice = phyllo::ParameterSelection;
    auto& trainer = this->held();
    trainer.set_frozen(Choice::all(), false);
    if (which == 1) trainer.set_frozen(Choice::biases_and_norms());
    if (which == 2) trainer.set_frozen(~Choice::named("0.*"));
    if (which == 3) trainer.set_frozen(Choice::named("0.weight"));
    frozen_ = which;
  }
  void save_training(std::string const& path) { phyllo::save_training(this->held(), path); }
  void load_training(std::string const& path) { phyllo::load_training(this->held(), path); }
  void accumulate(Tensors const& x, Tensors const& t, int batch) {
    typename Base::Ports in(this->inputs, batch);
    in.write(x);
    this->with_targets(t, batch, [&](auto const& targets) {
      this->held().accumulate_gradients(Base::template input_views<true>(in), targets);
      this->exec().fence();
    });
  }
  Trained replay(Tensors const& x, Tensors const& t, int batch, int count) {
    typename Base::Ports in(this->inputs, batch);
    in.write(x);
    this->with_targets(t, batch, [&](auto const& targets) {
      auto captured = this->held().capture(Base::template input_views<true>(in), targets);
      for (int k = 0; k < count; ++k) captured.replay();
      this->exec().fence();
    });
    return {this->held().loss(), false};
  }
  void initialize(unsigned seed) {
    this->model().initialize(this->exec(), phyllo::KaimingUniform{}, seed);
    this->exec().fence();
  }

 private:
  int frozen_ = 0;
};

/// What calls return, one after the other.
struct Returned {
  std::vector<Numbers> numbers;
  void add(Tensors const& t) { numbers.insert(numbers.end(), t.begin(), t.end()); }
  void add(double x) { numbers.push_back({x}); }
};

bool same_bits(Numbers const& a, Numbers const& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

std::string contents(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// One order of calls.
template <class Case> class Order {
  using Trainer = typename Case::caller;

 public:
  explicit Order(unsigned seed)
      : random_(seed),
        path_((std::filesystem::temp_directory_path() /
               ("phyllo-calls-" + std::to_string(::getpid()) + ".safetensors"))
                  .string()) {}
  ~Order() {
    std::remove(path_.c_str());
    std::remove(training_path().c_str());
  }

  /// Empty, or what differs and after which calls.
  std::string run(int calls) {
    state_ = trainer_.state();
    for (int k = 0; k < calls; ++k) {
      std::string const wrong = call();
      if (!wrong.empty()) return said_ + ": " + wrong;
    }
    return "";
  }

 private:
  struct Forward {
    State before;
    Tensors x;
    int batch = 0;
  };

  std::string training_path() const { return path_ + ".training"; }
  int below(int n) { return int(random_() % unsigned(n)); }
  Tensors numbers(std::vector<Port> const& ports, int batch) {
    Tensors all;
    for (Port const& p : ports) {
      Numbers v(std::size_t(batch) * std::size_t(p.size()));
      for (double& x : v) x = double(int(random_() % 257u) - 128) / 128;
      all.push_back(v);
    }
    return all;
  }
  Tensors targets(int batch) {
    Tensors all = numbers(trainer_.outputs, batch);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (Case::classes) {
        Port const& p = trainer_.outputs[k];
        all[k].resize(std::size_t(batch) * std::size_t(p.positions()));
        for (double& t : all[k]) t = double(below(p.extents[0]));
      }
    return all;
  }

  // Does a call on the trainer and plainly, and compares what is returned and what is left.
  template <class Call> std::string compare(std::string const& name, Call const& call) {
    return compare_from(name, state_, call, call);
  }
  template <class Call, class Plainly>
  std::string compare_from(std::string const& name, State const& from, Call const& call,
                           Plainly const& plainly) {
    said_ += (said_.empty() ? "" : ", ") + name;
    Trainer plain;
    plain.restore(from);
    Returned got, expected;
    plainly(plain, expected);
    try {
      call(trainer_, got);
    } catch (std::exception const& error) {
      return std::string("refused: ") + error.what();
    }
    for (std::size_t i = 0; i < expected.numbers.size(); ++i)
      if (!same_bits(got.numbers[i], expected.numbers[i]))
        return "result " + std::to_string(i) + " differs from the call done plainly";
    State const left = trainer_.state();
    if (left.parameters != plain.state().parameters) return "other parameters are left";
    if (left.master != plain.state().master) return "other master parameters are left";
    if (left.buffers != plain.state().buffers) return "other running statistics are left";
    if (left.optimizer != plain.state().optimizer) return "another state of the optimizer is left";
    if (left.steps != plain.state().steps) return "another number of steps is left";
    if (left.frozen != plain.state().frozen) return "other tensors are frozen";
    if (left.step != plain.state().step) return "another StepState is left";
    state_ = left;
    return "";
  }

  // Without a forward pass whose activations are still there, there is nothing to pass back.
  std::string refused(int batch) {
    said_ += (said_.empty() ? "" : ", ") + std::string("backward alone");
    Tensors const d_y = numbers(trainer_.outputs, batch);
    try {
      trainer_.backward(d_y, batch);
    } catch (phyllo::Error const&) {
      return "";
    }
    return "not refused";
  }

  std::string call() {
    static constexpr int sizes[] = {1, 3, 16, 17};
    int const batch = sizes[below(4)];
    Tensors const x = numbers(trainer_.inputs, batch);
    std::string const of = "(" + std::to_string(batch) + ")";
    switch (below(17)) {
      case 0:
      case 1: {
        Forward const forward{state_, x, batch};
        auto const wrong =
            compare("forward" + of, [&](Trainer& t, Returned& r) { r.add(t.forward(x, batch)); });
        forward_ = forward;
        return wrong;
      }
      case 2: {
        // More than the capacity as well.
        int const many = below(3) == 0 ? 40 : batch;
        Tensors const wide = numbers(trainer_.inputs, many);
        return compare("infer(" + std::to_string(many) + ")",
                       [&](Trainer& t, Returned& r) { r.add(t.infer(wide, many)); });
      }
      case 3:
      case 4:
      case 5: {
        if (!forward_) return refused(batch);
        Forward const f = *forward_;
        forward_.reset();  // the pass back writes into its activations
        Tensors const d_y = numbers(trainer_.outputs, f.batch);
        auto const backward = [&](Trainer& t, Returned& r) {
          r.add(t.backward(d_y, f.batch));
          Numbers const g = t.gradients();
          for (Tensor const& tensor : t.tensors)
            r.numbers.emplace_back(g.begin() + tensor.first,
                                   g.begin() + tensor.first + tensor.count);
        };
        State const now = state_;
        return compare_from("backward", f.before, backward, [&](Trainer& t, Returned& r) {
          t.forward(f.x, f.batch);
          backward(t, r);
          t.restore(now);
        });
      }
      case 6: {
        Tensors const t = targets(batch);
        forward_.reset();
        return compare("step" + of, [&](Trainer& trainer, Returned& r) {
          r.add(trainer.step(x, t, batch).loss);
        });
      }
      case 7: {
        Tensors const t = targets(batch);
        return compare("evaluate" + of, [&](Trainer& trainer, Returned& r) {
          r.add(trainer.evaluate(x, t, batch).loss);
        });
      }
      case 8:
        return compare("in_kernel" + of, [&](Trainer& t, Returned& r) {
          for (Tensors const& y : t.in_kernel(x, batch)) r.add(y);
        });
      case 9: {
        std::string first;
        auto const wrong = compare("save", [&](Trainer& t, Returned&) {
          t.save(path_);
          if (first.empty()) first = contents(path_);
        });
        saved_ = true;
        return wrong.empty() && first != contents(path_) ? "another file" : wrong;
      }
      case 10: {
        if (!saved_) return "";
        forward_.reset();
        return compare("load", [&](Trainer& t, Returned&) { t.load(path_); });
      }
      case 11: {
        int const which = below(4);
        return compare("freeze " + std::to_string(which),
                       [&](Trainer& t, Returned&) { t.freeze(which); });
      }
      case 12: {
        std::string first;
        auto const wrong = compare("save_training", [&](Trainer& t, Returned&) {
          t.save_training(training_path());
          if (first.empty()) first = contents(training_path());
        });
        checkpoint_ = state_;
        return wrong.empty() && first != contents(training_path()) ? "another file" : wrong;
      }
      case 13: {
        if (!checkpoint_) return "";
        forward_.reset();
        State const now = state_;
        State expected = *checkpoint_;
        expected.frozen = now.frozen;  // which the program sets
        return compare_from(
            "load_training", now, [&](Trainer& t, Returned&) { t.load_training(training_path()); },
            [&](Trainer& t, Returned&) { t.restore(expected); });
      }
      case 14: {
        // What comes between does not count.
        Tensors const t = targets(batch), more = numbers(trainer_.inputs, 3), u = targets(3);
        bool const between = below(2) == 0;
        forward_.reset();
        return compare("accumulate(3), step" + of, [&](Trainer& trainer, Returned& r) {
          trainer.accumulate(more, u, 3);
          if (between && &trainer == &trainer_) {
            trainer.infer(x, batch);
            trainer.evaluate(x, t, batch);
          }
          r.add(trainer.step(x, t, batch).loss);
        });
      }
      default: {
        Tensors const t = targets(batch);
        forward_.reset();
        if (below(3) == 0) {
          unsigned const seed = random_();
          return compare("initialize",
                         [&](Trainer& trainer, Returned&) { trainer.initialize(seed); });
        }
        // Once before, as capture asks for.
        said_ += ", step, capture";
        return compare("replay twice" + of, [&](Trainer& trainer, Returned& r) {
          trainer.step(x, t, batch);
          if (&trainer == &trainer_) {
            r.add(trainer.replay(x, t, batch, 2).loss);
          } else {
            trainer.step(x, t, batch);
            r.add(trainer.step(x, t, batch).loss);
          }
        });
      }
    }
  }

  std::mt19937 random_;
  std::string path_;
  Trainer trainer_;
  State state_;
  std::optional<Forward> forward_;  // the last one, while its activations and parameters are there
  std::optional<State> checkpoint_;
  bool saved_ = false;
  std::string said_;
};

struct a;
struct b;
using None = phyllo::TypeList<>;

template <class Net, class P, class Loss, class Rule, int Call, class Out = None> struct CaseOf {
  static constexpr bool classes = std::is_same_v<Loss, phyllo::CrossEntropy>;
  using caller = Caller<
      Net, None, Out,
      Setting<P, phyllo::Execution<Space>, double, int, false, Layout::right, Call, Loss, Rule>>;
};

// clang-format off
struct Perceptron : phyllo::Network<phyllo::Input<5>, phyllo::Linear<9>, phyllo::Tanh, phyllo::Linear<17>, phyllo::ReLU, phyllo::Linear<3>> {};
struct Images : phyllo::Network<phyllo::Input<1, 6, 6>, phyllo::Conv2d<3>, phyllo::ReLU, phyllo::MaxPool2d<2>, phyllo::Flatten, phyllo::Linear<4>> {};
struct Normalized : phyllo::Network<phyllo::Input<2, 5, 4>, phyllo::Conv2d<3, phyllo::Padding<1>>, phyllo::BatchNorm<>, phyllo::GELU, phyllo::Dropout<0.25>,
    phyllo::Residual<phyllo::Conv2d<3, phyllo::Padding<1>>, phyllo::BatchNorm<>>, phyllo::AveragePool2d<2>, phyllo::Flatten, phyllo::Linear<7>, phyllo::Softmax> {};
struct Heads : phyllo::Network<phyllo::Input<6>, phyllo::Linear<8>, phyllo::Tanh, phyllo::Output<a>, phyllo::Save<b>, phyllo::Linear<8>, phyllo::Sigmoid,
    phyllo::AddFrom<b>, phyllo::ConcatFrom<b>, phyllo::Linear<2>, phyllo::Output<b>> {};
// clang-format on

struct Momentum : Sgd {
  Momentum() : Sgd{.rate = 0.0625f, .momentum = 0.5f} {}
};
struct Moments : Adam {
  Moments() : Adam{.rate = 0.0078125f, .epsilon = 0.03125f} {}
};

using Cases = phyllo::TypeList<
    CaseOf<Perceptron, phyllo::Full<float>, phyllo::CrossEntropy, Momentum, call_by_thread>,
    CaseOf<Images, phyllo::Mixed<phyllo::bf16, float>, phyllo::CrossEntropy, Momentum,
           call_by_team>,
    CaseOf<Normalized, phyllo::Full<double>, phyllo::MeanSquaredError, Moments, call_by_team>,
    CaseOf<Heads, phyllo::Full<double>,
           phyllo::Losses<phyllo::On<a, phyllo::MeanSquaredError>,
                          phyllo::On<b, phyllo::MeanSquaredError, 0.5>>,
           Moments, call_by_thread, phyllo::TypeList<a, b>>>;

unsigned from_environment(char const* name, unsigned otherwise) {
  char const* const text = std::getenv(name);
  return text == nullptr ? otherwise : unsigned(std::strtoul(text, nullptr, 10));
}

template <class Case> void check(char const* name) {
  unsigned const first = from_environment("PHYLLO_CALLS_SEED", 1);
  unsigned const orders = from_environment("PHYLLO_CALLS", 12);
  for (unsigned seed = first; seed < first + orders; ++seed) {
    // The shortest order of this seed that is wrong is printed: calls stop at the first difference.
    std::string const wrong = Order<Case>(seed).run(30);
    CHECK_MESSAGE(wrong.empty(), name << ", seed " << seed << ": " << wrong);
    if (!wrong.empty()) return;
  }
}

}  // namespace

TEST_CASE("calls: a perceptron") { check<phyllo::At<Cases, 0>>("Perceptron"); }
TEST_CASE("calls: images in bfloat16") { check<phyllo::At<Cases, 1>>("Images"); }
TEST_CASE("calls: normalisations and masks") { check<phyllo::At<Cases, 2>>("Normalized"); }
TEST_CASE("calls: two outputs") { check<phyllo::At<Cases, 3>>("Heads"); }
