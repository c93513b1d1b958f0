// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/checkpoints.hpp>
#include <train/drawn_rules.hpp>
#include <train/reference_training.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::test {

/// Steps in one pass over the batch, and by segments.
struct Perceptron : Network<Input<4>, Linear<7>, Tanh, Linear<3>> {};
struct Normalized
    : Network<Input<4>, BatchNorm<>, Linear<6>, ReLU, BatchNorm<>, Linear<5>, Sigmoid, Linear<3>> {
};

/// One training: the same calls of a Trainer, on one rank or more, and of the reference, which has
/// the samples of all ranks. Every rank draws the same.
template <class Net, class Rule, bool Classes, class Exec, class C> class RandomTraining {
  using Loss = std::conditional_t<Classes, CrossEntropy, MeanSquaredError>;
  using Subject = Trainer<Net, Loss, Rule, Full<double>, C, Exec>;
  using M = typename Subject::ModelType;
  using Reference = ReferenceTraining<Net, Rule, Classes>;

 public:
  /// path: of a file that all ranks know; communicator: what C is made from, or nothing.
  template <class... Communicator>
  RandomTraining(unsigned seed, std::string path, Communicator const&... communicator)
      : random_(seed),
        rule_(drawn_rule<Rule>(random_)),
        clipping_(drawn_clipping(random_)),
        reference_(rule_, clipping_, capacity),
        path_(std::move(path)) {
    make_ = [=, this](unsigned of_weights) {
      return std::make_unique<Subject>(exec_, communicator..., rule_,
                                       ModelOptions{.batch = capacity, .seed = of_weights},
                                       OptimizerOptions{.clipping = clipping_});
    };
    build(seed);
    reference_.begin(numbers(trainer_->model().parameters()), numbers(trainer_->model().buffers()));
  }

  /// Empty, or what differs and after which calls.
  std::string run(int calls) {
    for (int k = 0; k < calls; ++k) {
      std::string const wrong = call();
      if (!wrong.empty()) return said_ + ": " + wrong;
    }
    return "";
  }

 private:
  static constexpr int capacity = 9;

  void build(unsigned seed) {
    trainer_ = make_(seed);
    memory_ = std::make_unique<MemoryCheckpoint<Subject>>(*trainer_);
    exec_.fence("training");
  }
  template <class V> static Numbers numbers(V const& view) {
    return {view.data(), view.data() + view.size()};
  }

  Samples drawn_batch(int samples) {
    std::uniform_real_distribution<double> number(-1, 1);
    Samples b{Matrix("x", std::size_t(samples), 4), Matrix("t", std::size_t(samples), 3),
              Labels("label", std::size_t(samples))};
    for (std::size_t i = 0; i < b.x.size(); ++i) b.x.data()[i] = number(random_);
    for (std::size_t i = 0; i < b.t.size(); ++i) b.t.data()[i] = number(random_);
    for (int n = 0; n < samples; ++n) b.label(n) = below(random_, 3);
    return b;
  }
  // The samples of this rank, any number of all, and their targets.
  template <class Call> void with_own(Samples const& b, Call const& call) {
    int const ranks = trainer_->sums().size(), rank = trainer_->sums().rank();
    std::vector<int> cut{0, b.size()};
    for (int r = 1; r < ranks; ++r) cut.push_back(below(random_, b.size() + 1));
    std::sort(cut.begin(), cut.end());
    auto const own = std::pair(cut[std::size_t(rank)], cut[std::size_t(rank + 1)]);
    auto const x = Kokkos::subview(b.x, own, Kokkos::ALL);
    if constexpr (Classes)
      call(x, Kokkos::subview(b.label, own));
    else
      call(x, Kokkos::subview(b.t, own, Kokkos::ALL));
  }

  // One number; both not a number are equal.
  static bool is_near(double got, double wanted) {
    double const apart = std::fabs(got - wanted);
    return got == wanted || apart <= 1e-8 * (1e-3 + std::fabs(wanted)) ||
           (std::isnan(got) && std::isnan(wanted));
  }
  static std::string compared(char const* what, Numbers const& got, Numbers const& wanted,
                              double bound) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!(std::fabs(got[i] - wanted[i]) <= bound * (0.1 + std::fabs(wanted[i]))))
        return std::string(what) + " " + std::to_string(i) + " is " + std::to_string(got[i]) +
               ", expected " + std::to_string(wanted[i]);
    return "";
  }
  // Everything that is kept.
  std::string compare() {
    exec_.fence("training");
    auto const& model = trainer_->model();
    StepState const s = model.state()();
    auto const& wanted = reference_.state;
    if (s.step != wanted.steps)
      return "steps: " + std::to_string(s.step) + ", expected " + std::to_string(wanted.steps);
    if (s.skipped != wanted.skipped)
      return "skipped steps: " + std::to_string(s.skipped) + ", expected " +
             std::to_string(wanted.skipped);
    std::string const weights =
        compared("weight", numbers(model.parameters()), wanted.weights, 1e-9);
    if (!weights.empty()) return weights;
    return compared("statistic", numbers(model.buffers()), wanted.buffers, 1e-5);
  }
  std::string compare_loss(double wanted) {
    if (!is_near(trainer_->learning_rate(), reference_.state.last_rate)) return "another rate";
    if (!is_near(trainer_->loss(), wanted))
      return "loss " + std::to_string(trainer_->loss()) + ", expected " + std::to_string(wanted);
    return "";
  }

  std::string step(Samples const& b) {
    said_ += ", step(" + std::to_string(b.size()) + ")";
    with_own(b, [&](auto const& x, auto const& t) { trainer_->step(x, t); });
    bool const is_refused = has_wrong_label_ || has_wrong_label(b);
    has_wrong_label_ = false;
    double const loss = reference_.step(b);
    std::string const wrong = compare();
    if (!wrong.empty()) return wrong;
    if (is_refused) {
      try {
        static_cast<void>(trainer_->loss());
        return "a wrong label is accepted";
      } catch (Error const&) {
        return "";
      }
    }
    return compare_loss(loss);
  }
  static bool has_wrong_label(Samples const& b) {
    for (int n = 0; Classes && n < b.size(); ++n)
      if (b.label(n) < 0 || b.label(n) > 2) return true;
    return false;
  }
  void accumulate(Samples const& b) {
    said_ += ", accumulate(" + std::to_string(b.size()) + ")";
    with_own(b, [&](auto const& x, auto const& t) { trainer_->accumulate_gradients(x, t); });
    has_wrong_label_ = has_wrong_label_ || has_wrong_label(b);
    reference_.accumulate(b);
  }
  void set_frozen(int t, bool frozen) {
    said_ += std::string(frozen ? ", freeze " : ", thaw ") + std::to_string(t);
    trainer_->optimizer().set_frozen(exec_, t, frozen);
    reference_.frozen[std::size_t(t)] = frozen;
  }
  void set_group(ParameterSelection const& which, char const* name) {
    ParameterGroup group;
    group.rate_factor = one_of(random_, {0.0, 0.1, 1.0, 2.0});
    if (below(random_, 2) == 0) group.weight_decay = one_of(random_, {0.0, 0.2});
    said_ += std::string(", group of ") + name;
    trainer_->set_group(which, group);
    auto const chosen = which.template among<Net>("training");
    for (std::size_t t = 0; t < chosen.size(); ++t)
      if (chosen[t]) reference_.groups[t] = group;
  }

  std::string call() {
    int const samples = one_of(random_, {1, 2, 3, 8, 9});
    switch (below(random_, 22)) {
      case 0:
      case 1:
        accumulate(drawn_batch(samples));
        return "";
      case 2: {
        double const rate = rule_.rate * one_of(random_, {0.0, 0.5, 2.0});
        said_ += ", set_rate";
        trainer_->set_rate(rate);
        reference_.state.rate = rate;
        return compare();
      }
      case 3:
        if (below(random_, 2) == 0)
          set_group(ParameterSelection::biases_and_norms(), "vectors");
        else
          set_group(ParameterSelection::weights(), "weights");
        return compare();
      case 4:
      case 5:
        set_frozen(below(random_, Reference::table.size), true);
        return compare();
      case 6:
      case 7:
        set_frozen(below(random_, Reference::table.size), false);
        return compare();
      case 8: {
        Samples const b = drawn_batch(samples);
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        said_ += ", bad number";
        b.x(0, 2) = one_of(random_, {none, std::numeric_limits<double>::infinity()});
        return step(b);
      }
      case 9: {
        Samples const b = drawn_batch(samples);
        b.label(below(random_, samples)) = one_of(random_, {-1, 3});
        said_ += ", labels";
        return step(b);
      }
      case 10: {
        Samples const b = drawn_batch(samples);
        said_ += ", evaluate";
        double loss = 0;
        with_own(b, [&](auto const& x, auto const& t) { loss = trainer_->evaluate(x, t).loss; });
        auto const& s = reference_.state;
        double const wanted = reference_.evaluate(b, s.weights, s.buffers);
        if (!is_near(loss, wanted) && std::fabs(loss - wanted) > 1e-5 * wanted)
          return "loss " + std::to_string(loss) + ", expected " + std::to_string(wanted);
        return compare();
      }
      case 11:
        said_ += ", store";
        if (trainer_->accumulated() > 0) return "";
        memory_->store(*trainer_);
        stored_ = reference_.state;
        return compare();
      case 12:
        if (!stored_ || trainer_->accumulated() > 0) return "";
        said_ += ", restore";
        memory_->restore(*trainer_);
        reference_.state = *stored_;
        return compare();
      case 13: {
        if (trainer_->accumulated() > 0) return "";
        said_ += ", file and a new trainer";
        save_training(*trainer_, path_);
        stored_.reset();
        build(99);
        bool const later = below(random_, 2) == 0;
        if (later) load_training(*trainer_, path_);
        for (int t = 0; t < Reference::table.size; ++t) {
          auto const& group = reference_.groups[std::size_t(t)];
          if (!group.changes_nothing())
            trainer_->set_group(ParameterSelection::named(parameter_name(t)), group);
          if (reference_.frozen[std::size_t(t)]) trainer_->optimizer().set_frozen(exec_, t);
        }
        if (!later) load_training(*trainer_, path_);
        return compare();
      }
      case 14: {
        if (reference_.state.steps == 0 || trainer_->accumulated() > 0) return "";
        Samples const b = drawn_batch(samples);
        std::string wrong;
        with_own(b, [&](auto const& x, auto const& t) {
          auto captured = trainer_->capture(x, t);
          for (int k = 0; k < 2 && wrong.empty(); ++k) {
            said_ += ", replay";
            b.x(0, 1) += 0.5;
            captured.replay();
            double const loss = reference_.step(copy_of(b));
            wrong = compare();
            if (wrong.empty()) wrong = compare_loss(loss);
          }
        });
        return wrong;
      }
      case 15:
        said_ += ", empty";
        return step(drawn_batch(0));
      case 16: {
        said_ += ", average";
        if (!average_) average_.emplace(exec_, trainer_->model(), average_options_);
        average_->update(exec_, trainer_->model());
        auto const& s = reference_.state;
        double const n = double(average_->count());
        double const share = n == 1                   ? 1
                             : average_options_.equal ? 1 / n
                                                      : 1 - average_options_.decay;
        mean_weights_.resize(s.weights.size());
        mean_buffers_.resize(s.buffers.size());
        for (std::size_t i = 0; i < s.weights.size(); ++i)
          mean_weights_[i] += share * (s.weights[i] - mean_weights_[i]);
        for (std::size_t i = 0; i < s.buffers.size(); ++i)
          mean_buffers_[i] += share * (s.buffers[i] - mean_buffers_[i]);
        M other = trainer_->model().clone(exec_);
        average_->copy_to(exec_, other);
        exec_.fence("training");
        std::string const wrong =
            compared("mean weight", numbers(other.parameters()), mean_weights_, 1e-9);
        return wrong.empty() ? compare() : wrong;
      }
      case 17: {
        int const ranks = trainer_->sums().size(), root = below(random_, ranks);
        if (ranks == 1 || trainer_->accumulated() > 0) return "";
        said_ += ", broadcast " + std::to_string(root);
        if (trainer_->sums().rank() != root)
          trainer_->model().initialize(exec_, KaimingUniform{}, 77);
        trainer_->broadcast(root);
        return compare();
      }
      default:
        return step(drawn_batch(samples));
    }
  }
  static std::string parameter_name(int t) {
    int k = 0;
    for (ParameterEntry const& entry : parameter_table<Net>())
      if (!entry.is_buffer && k++ == t) return entry.name;
    return "";
  }
  static Samples copy_of(Samples const& b) {
    Samples c{Matrix("x", b.x.layout()), Matrix("t", b.t.layout()),
              Labels("label", b.label.layout())};
    Kokkos::deep_copy(c.x, b.x);
    Kokkos::deep_copy(c.t, b.t);
    Kokkos::deep_copy(c.label, b.label);
    return c;
  }

  Space exec_;
  Random random_;
  Rule rule_;
  Clipping clipping_;
  Reference reference_;
  std::function<std::unique_ptr<Subject>(unsigned)> make_;
  std::unique_ptr<Subject> trainer_;
  std::unique_ptr<MemoryCheckpoint<Subject>> memory_;
  std::optional<typename Reference::State> stored_;
  WeightAverageOptions average_options_{.decay = 0.7, .equal = below(random_, 2) == 0};
  std::optional<WeightAverage<M>> average_;
  Numbers mean_weights_, mean_buffers_;
  bool has_wrong_label_ = false;  // in an accumulated micro-batch
  std::string path_, said_;
};

inline unsigned from_environment(char const* name, unsigned otherwise) {
  char const* const text = std::getenv(name);
  return text == nullptr ? otherwise : unsigned(std::strtoul(text, nullptr, 10));
}

/// PHYLLO_TRAININGS_SEED and PHYLLO_TRAININGS: where to begin, and how many of each rule.
template <class Net, class Rule, bool Classes, class C = Local, class Exec = Execution<Space>,
          class... Communicator>
void check_trainings(std::string const& path, Communicator const&... communicator) {
#if defined(PHYLLO_ALL_CASES)
  constexpr unsigned usual = 400;
#else
  constexpr unsigned usual = 20;
#endif
  unsigned const first = from_environment("PHYLLO_TRAININGS_SEED", 1);
  unsigned const count = from_environment("PHYLLO_TRAININGS", usual);
  for (unsigned seed = first; seed < first + count; ++seed) {
    RandomTraining<Net, Rule, Classes, Exec, C> training(seed, path, communicator...);
    std::string const wrong = training.run(30);
    CHECK_MESSAGE(wrong.empty(), Rule::name << ", seed " << seed << wrong);
    if (!wrong.empty()) break;
  }
  std::remove(path.c_str());
}
inline std::string file_of_training(unsigned number) {
  std::string const name = "phyllo-training-" + std::to_string(number) + ".safetensors";
  return (std::filesystem::temp_directory_path() / name).string();
}

}  // namespace phyllo::test
