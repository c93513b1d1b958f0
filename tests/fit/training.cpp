// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training that was resumed from a file has the bits of training that was never interrupted, and
// fit those of the loop by hand; what fit writes, and when it ends.

#include <fit/training_state.hpp>
#include <io/safetensors_file.hpp>
#include <phyllo/fit/checkpoints.hpp>
#include <phyllo/fit/fit.hpp>

#include <doctest/doctest.h>
#include <sentence_of.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

namespace {

using namespace phyllo;
using namespace phyllo::test;
using phyllo_test::contains;
using phyllo_test::contents;
using phyllo_test::TemporaryDirectory;

template <class Rule, class P> using Training = Trainer<Noisy, MeanSquaredError, Rule, P>;

constexpr BatchOptions options{.batch = 16, .seed = 5, .lanes = 4, .prefetch = 2};

// Trains 20 steps, and 10 steps in one trainer and 10 in another one, of another seed.
template <class Rule, class P> void check_resumed(Rule const& rule) {
  TemporaryDirectory const folder;
  // Overflows at first, and grows again: both are state.
  OptimizerOptions const scaling{.scaling = {.initial = 16777216, .interval = 3}};
  Training<Rule, P> whole(Space{}, rule, {.batch = 16, .seed = 3}, scaling);
  RowBatches all(Space{}, points(100), options);
  train_to(whole, all, 20);
  std::string const path = folder / "training.safetensors";
  std::vector<double> saved;
  {
    Training<Rule, P> first(Space{}, rule, {.batch = 16, .seed = 3}, scaling);
    RowBatches batches(Space{}, points(100), options);
    train_to(first, batches, 10);
    saved = state_of(first);
    save_training(first, batches, path);
    CHECK((state_of(first) == saved));
    train_to(first, batches, 20);
    CHECK((state_of(first) == state_of(whole)));
  }
  Training<Rule, P> second(Space{}, rule, {.batch = 16, .seed = 4}, scaling);
  RowBatches batches(Space{}, points(100), options);
  train_to(second, batches, 3);
  CHECK((state_of(second) != saved));
  load_training(second, batches, path);
  CHECK((state_of(second) == saved));
  CHECK(batches.position() == Position{1, 3});
  train_to(second, batches, 20);
  CHECK((state_of(second) == state_of(whole)));
  if constexpr (P::scales_loss) {
    StepState const s =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, whole.model().state())();
    CHECK(s.skipped > 0);
    CHECK(s.loss_scale < 16777216);
  }
}

using Fitted = Training<Adam, Mixed<fp16, float>>;
constexpr BatchOptions in_order{.batch = 32, .shuffle = false, .lanes = 1};
Adam const rule{.rate = 0.02, .schedule = cosine_schedule(30, 0.1, 3)};

// What a tool that is loaded sees.
std::vector<std::string> regions;
int regions_ended = 0;

struct Subject {
  Fitted trainer;
  RowBatches batches{Space{}, points(100), options};
  RowBatches held_out{Space{}, points(60), in_order};
  explicit Subject(std::uint64_t seed = 3)
      : trainer(Space{}, rule, {.batch = 32, .seed = seed}, {.scaling = {.initial = 262144}}) {}
};

bool same(EpochReport const& a, EpochReport const& b) {
  return a.epoch == b.epoch && a.steps == b.steps && a.skipped == b.skipped && a.loss == b.loss &&
         a.accuracy == b.accuracy && a.held_out.loss == b.held_out.loss &&
         std::equal(a.metrics.begin(), a.metrics.end(), b.metrics.begin(), b.metrics.end(),
                    [](MetricValue const& x, MetricValue const& y) {
                      return x.name == y.name && x.value == y.value;
                    }) &&
         a.held_out.samples == b.held_out.samples && a.learning_rate == b.learning_rate &&
         a.is_best == b.is_best;
}
bool same(FitHistory const& a, FitHistory const& b) {
  return std::equal(a.epochs.begin(), a.epochs.end(), b.epochs.begin(), b.epochs.end(),
                    [](auto const& x, auto const& y) { return same(x, y); }) &&
         a.best_loss == b.best_loss && a.epochs_without_progress == b.epochs_without_progress;
}

}  // namespace

TEST_CASE("checkpoint: 10 steps and 10 resumed ones are 20 steps, bit for bit") {
  SUBCASE("Adam with a schedule, fp16 with loss scaling") {
    check_resumed<Adam, Mixed<fp16, float>>(
        {.rate = 0.01, .schedule = cosine_schedule(25, 0.1, 4)});
  }
  SUBCASE("NAdam, which keeps numbers of a step") {
    check_resumed<NAdam, Full<float>>({.rate = 0.01});
  }
#if defined(PHYLLO_ALL_CASES)
  SUBCASE("Lars, which keeps numbers of tensors") {
    check_resumed<Lars, Full<float>>({.rate = 0.1, .momentum = 0.9});
  }
  SUBCASE("Sgd in double") { check_resumed<Sgd, Full<double>>({.rate = 0.1f, .momentum = 0.9f}); }
  SUBCASE("AmsGrad in bf16") { check_resumed<AmsGrad, Mixed<bf16, float>>({.rate = 0.01}); }
#endif
}

TEST_CASE("checkpoint: a rate that was set, and the weights under the names of save") {
  TemporaryDirectory const folder;
  using T = Training<NAdam, Full<float>>;
  T trainer(Space{}, NAdam{.rate = 0.01}, {.batch = 16});
  RowBatches batches(Space{}, points(100), options);
  train_to(trainer, batches, 2);
  trainer.set_rate(0.003);
  train_to(trainer, batches, 3);
  std::string const path = folder / "a.safetensors", weights = folder / "b.safetensors";
  save_training(trainer, path);
  save(trainer.exec(), trainer.model(), weights);
  TensorFile const file = read_safetensors(path);
  for (StoredTensor const& tensor : read_safetensors(weights).tensors) {
    REQUIRE(file.find(tensor.name) != nullptr);
    CHECK(*file.find(tensor.name) == tensor);
  }
  CHECK(file.find("nadam.1.0.weight")->shape == std::vector<std::int64_t>{20, 6});
  T other(Space{}, NAdam{.rate = 0.01}, {.batch = 16});
  TensorFile const loaded = load_training(other, path);
  CHECK(loaded.tensors.size() == file.tensors.size());
  train_to(trainer, batches, 4);
  batches.seek({0, 3});
  train_to(other, batches, 4);
  CHECK((state_of(other) == state_of(trainer)));
  CHECK(other.learning_rate() == trainer.learning_rate());
}

TEST_CASE("checkpoint: what does not fit is refused, and the trainer keeps its state") {
  TemporaryDirectory const folder;
  std::string const path = folder / "a.safetensors", damaged = folder / "b.safetensors";
  using T = Training<NAdam, Full<float>>;
  T trainer(Space{}, NAdam{}, {.batch = 16});
  RowBatches batches(Space{}, points(100), options);
  train_to(trainer, batches, 2);
  save_training(trainer, batches, path);
  train_to(trainer, batches, 3);
  auto const before = state_of(trainer);
  auto const refusal = [&](std::string const& name) {
    std::string const sentence = sentence_of([&] { load_training(trainer, batches, name); });
    CHECK((state_of(trainer) == before));
    CHECK(batches.position() == Position{0, 3});
    return sentence;
  };
  std::string const whole = phyllo_test::contents(path);
  for (std::size_t const size :
       {std::size_t(0), std::size_t(7), std::size_t(100), whole.size() / 2, whole.size() - 1}) {
    phyllo_test::set_contents(damaged, whole.substr(0, size));
    CHECK(phyllo_test::is_one_sentence(refusal(damaged)));
  }
  CHECK(contains(refusal(folder / "absent"), "absent"));
  // One tensor or number less, each by itself.
  TensorFile const file = read_safetensors(path);
  for (std::size_t k = 0; k < file.tensors.size(); ++k) {
    TensorFile less = file;
    less.tensors.erase(less.tensors.begin() + std::ptrdiff_t(k));
    write_safetensors(damaged, less);
    CHECK(contains(refusal(damaged), file.tensors[k].name));
  }
  auto const with = [&](char const* key, char const* text) {
    TensorFile other = file;
    for (auto& [name, value] : other.metadata)
      if (name == key) value = text;
    write_safetensors(damaged, other);
    return refusal(damaged);
  };
  CHECK(with("phyllo.rule", "adam") ==
        "reading \"" + damaged +
            "\": expected a checkpoint of training with phyllo.rule nadam, got \"adam\". Resume "
            "with the network, rule and precision that wrote it.");
  CHECK(contains(with("phyllo.precision", "Full<double>"), "phyllo.precision Full<float>"));
  CHECK(contains(with("phyllo.layers", "0"), "phyllo.layers"));
  CHECK(contains(with("phyllo.checkpoint", "2"), "phyllo.checkpoint 1"));
  // Weights alone are no checkpoint.
  save(trainer.exec(), trainer.model(), damaged);
  CHECK(contains(refusal(damaged), "phyllo.checkpoint 1, got none"));
  auto other_order = options;
  other_order.seed = 6;
  RowBatches others(Space{}, points(100), other_order);
  CHECK(sentence_of([&] { load_training(trainer, others, path); }) ==
        "reading \"" + path +
            "\": expected batches with seed 5 as in the checkpoint, got 6. Resume with the source "
            "and the BatchOptions that wrote it.");
  CHECK((state_of(trainer) == before));
  // Sums of micro-batches are in no file.
  Rows const x("x", 4, 6), y("y", 4, 3);
  trainer.accumulate_gradients(x, y);
  std::string const between =
      ": expected a trainer between two steps, got one with 1 accumulated micro-batches, which no "
      "checkpoint and no broadcast contains. Call step first.";
  CHECK(sentence_of([&] { save_training(trainer, batches, path); }) == "save_training" + between);
  CHECK(contents(path) == whole);
  CHECK(sentence_of([&] { load_training(trainer, batches, path); }) == "load_training" + between);
}

TEST_CASE("checkpoints: the last ones are kept, the newest is resumed, leftovers are removed") {
  TemporaryDirectory const root;
  std::string const folder = root / "run";
  using T = Training<NAdam, Full<float>>;
  T trainer(Space{}, NAdam{}, {.batch = 16});
  RowBatches batches(Space{}, points(100), options);
  Checkpoints const checkpoints(folder, 2);
  CHECK(!checkpoints.resume(trainer, batches));
  for (long const step : {2, 5, 9, 11}) {
    train_to(trainer, batches, step);
    if (step == 9)
      phyllo_test::set_contents(folder + "/step-000000000009.safetensors.1-0.tmp", "x");
    checkpoints.save(trainer, batches);
  }
  auto const last = state_of(trainer);
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  CHECK(names ==
        std::vector<std::string>{"step-000000000009.safetensors", "step-000000000011.safetensors"});
  T other(Space{}, NAdam{}, {.batch = 16, .seed = 8});
  RowBatches again(Space{}, points(100), options);
  CHECK(checkpoints.resume(other, again));
  CHECK((state_of(other) == last));
  CHECK(again.position() == batches.position());
  T fresh(Space{}, NAdam{}, {.batch = 16});
  train_to(fresh, again, 1);
  CHECK(sentence_of([&] { checkpoints.save(fresh, again); }) ==
        "Checkpoints: expected no checkpoint later than step-000000000001.safetensors in \"" +
            folder +
            "\", got step-000000000011.safetensors. Resume from it, or choose another folder.");
  CHECK(contains(sentence_of([&] { Checkpoints const none(""); }), "at least one file to keep"));
  phyllo_test::set_contents(root / "file", "");
  CHECK(contains(sentence_of([&] { Checkpoints(root / "file").resume(other); }),
                 "a folder \"" + (root / "file") + "\" that can be read"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("fit: the bits, the losses and the accuracies of the loop by hand") {
  Subject by_hand, fitted;
  std::vector<double> losses, held_out;
  std::vector<long> skipped;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    double loss = 0, samples = 0;
    skipped.push_back(0);
    for (auto const& batch : by_hand.batches.epoch(epoch)) {
      by_hand.trainer.step(batch.inputs, batch.targets);
      auto const state =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, by_hand.trainer.model().state());
      if (state().finite == 0) {
        ++skipped.back();
        continue;
      }
      loss += by_hand.trainer.loss() * double(batch.samples);
      samples += double(batch.samples);
    }
    losses.push_back(loss / samples);
    held_out.push_back(evaluate(by_hand.trainer, by_hand.held_out).loss);
  }
  FitHistory const history = fit(fitted.trainer, fitted.batches, fitted.held_out, {.epochs = 4});
  CHECK((state_of(fitted.trainer) == state_of(by_hand.trainer)));
  CHECK(history.end == FitEnd::epochs);
  REQUIRE(history.epochs.size() == 4);
  for (std::size_t e = 0; e < 4; ++e) {
    CHECK(history.epochs[e].epoch == e);
    CHECK(history.epochs[e].loss == doctest::Approx(losses[e]).epsilon(1e-6));
    CHECK(history.epochs[e].held_out.loss == held_out[e]);
    CHECK(history.epochs[e].held_out.samples == 60);
    CHECK(history.epochs[e].skipped == skipped[e]);
    CHECK(history.epochs[e].steps + history.epochs[e].skipped == 7);
  }
  CHECK(skipped[0] > 0);
  CHECK(history.best_loss == *std::min_element(held_out.begin(), held_out.end()));
}

TEST_CASE("fit: interrupted after every step and resumed, the same bits, history and log") {
  TemporaryDirectory const root;
  FitOptions with{.epochs = 5};
  Subject whole;
  with.log = root / "whole.csv";
  Metrics<RootMeanSquareError, R2> const metrics;
  FitHistory const expected = fit(whole.trainer, whole.batches, whole.held_out, metrics, with);
  for (EpochReport const& report : expected.epochs) {
    REQUIRE(report.metrics.size() == 2);
    CHECK(report.metrics[0].name == "root_mean_square_error");
    CHECK(report.metrics[0].value * report.metrics[0].value ==
          doctest::Approx(report.held_out.loss).epsilon(1e-3));  // outputs in fp16
  }
  CHECK(expected.epochs.back().metrics[1].value ==
        measure(whole.trainer, whole.held_out, metrics).get<R2>());
  with.log = root / "parts.csv";
  with.checkpoint = {.folder = root / "run", .keep = 1};
  with.stop_after = std::chrono::duration<double>(1e-9);
  FitHistory history;
  int calls = 0;
  do {
    Subject part(calls == 0 ? 3 : std::uint64_t(7 + calls));  // others draw other weights
    history = fit(part.trainer, part.batches, part.held_out, metrics, with);
    ++calls;
    if (history.end == FitEnd::epochs) {
      CHECK((state_of(part.trainer) == state_of(whole.trainer)));
      CHECK(part.batches.position() == Position{5, 0});
    }
  } while (history.end == FitEnd::time && calls < 100);
  CHECK(calls == 35);
  CHECK(same(history, expected));
  // Finished: the same call once more does nothing.
  Subject again(99);
  CHECK(same(fit(again.trainer, again.batches, again.held_out, metrics, with), expected));
  CHECK((state_of(again.trainer) == state_of(whole.trainer)));
  // But for the seconds, the last column.
  auto const columns = [](std::string const& path) {
    std::string text, line;
    for (std::istringstream lines(contents(path)); std::getline(lines, line);)
      text += line.substr(0, line.rfind(',')) + "\n";
    return text;
  };
  CHECK(columns(root / "parts.csv") == columns(root / "whole.csv"));
  CHECK(contains(contents(root / "parts.csv"),
                 ",held_out_accuracy,root_mean_square_error,r2,learning_rate,seconds\n"));
  // Another metric after a resume: epochs before it have none.
  with.epochs = 6;
  with.stop_after = {};
  std::ostringstream text;
  with.progress = &text;
  history = fit(again.trainer, again.batches, again.held_out, Metrics<AbsoluteError>{}, with);
  REQUIRE(history.epochs.size() == 6);
  CHECK(history.epochs[4].metrics.size() == 2);
  REQUIRE(history.epochs[5].metrics.size() == 1);
  CHECK(contains(text.str(), "  absolute_error 0."));
  std::string const log = contents(root / "parts.csv");
  CHECK(contains(log, ",held_out_accuracy,absolute_error,learning_rate,seconds\n"));
  CHECK(contains(log.substr(log.find("\n4,")), ",,"));
  CHECK(!contains(log.substr(log.find("\n5,")), ",,"));
  std::filesystem::remove_all(root / "run");
}

namespace {
std::sig_atomic_t volatile own_signals = 0;
}

TEST_CASE("fit: a signal ends it with a checkpoint, and the program's own handler is back") {
  TemporaryDirectory const root;
  Subject whole;
  fit(whole.trainer, whole.batches, {.epochs = 4});
  struct sigaction own = {}, before = {};
  own.sa_handler = [](int) { own_signals = own_signals + 1; };
  sigaction(SIGTERM, &own, &before);
  FitOptions const with{
      .epochs = 4, .checkpoint = {.folder = root / "run"}, .stop_on_signal = SIGTERM};
  Subject first;
  FitHistory history = fit(first.trainer, first.batches, with, [](EpochReport const& report) {
    if (report.epoch == 1) std::raise(SIGTERM);
  });
  CHECK(history.end == FitEnd::signal);
  CHECK(first.batches.position() == Position{2, 0});
  CHECK(own_signals == 0);
  std::raise(SIGTERM);
  CHECK(own_signals == 1);
  Subject second(9);
  history = fit(second.trainer, second.batches, with);
  CHECK(history.end == FitEnd::epochs);
  CHECK(history.epochs.size() == 4);
  CHECK((state_of(second.trainer) == state_of(whole.trainer)));
  std::raise(SIGTERM);
  CHECK(own_signals == 2);
  sigaction(SIGTERM, &before, nullptr);
  std::string const refused = sentence_of(
      [&] { fit(second.trainer, second.batches, {.epochs = 5, .stop_on_signal = SIGKILL}); });
  CHECK(contains(refused, "expected a signal that a program can handle"));
}

TEST_CASE("fit: checkpoints by steps, at the end too; a folder that is not resumed is refused") {
  TemporaryDirectory const root;
  FitOptions const with{.epochs = 2, .checkpoint = {.folder = root / "run", .steps = 4, .keep = 9}};
  Subject subject;
  fit(subject.trainer, subject.batches, with);
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(root / "run"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  CHECK(names ==
        std::vector<std::string>{"step-000000000004.safetensors", "step-000000000008.safetensors",
                                 "step-000000000012.safetensors", "step-000000000014.safetensors"});
  // Steps by hand after the last checkpoint are kept.
  train_to(subject.trainer, subject.batches, 16);
  auto const by_hand = state_of(subject.trainer);
  auto same_call = with;
  same_call.epochs = 1;  // complete: no step
  fit(subject.trainer, subject.batches, same_call);
  CHECK((state_of(subject.trainer) == by_hand));
  auto anew = with;
  anew.checkpoint.resume = false;
  Subject other;
  CHECK(contains(sentence_of([&] { fit(other.trainer, other.batches, anew); }),
                 "expected no checkpoint later than step-000000000004.safetensors"));
  std::filesystem::remove_all(root / "run");
}

TEST_CASE("fit: patience, the best weights, progress and callback") {
  TemporaryDirectory const root;
  Subject subject;
  std::ostringstream text;
  std::vector<double> seen;
  FitOptions with{
      .epochs = 200, .progress = &text, .best = root / "best.safetensors", .patience = 3};
  FitHistory const history =
      fit(subject.trainer, subject.batches, subject.held_out, with,
          [&](EpochReport const& report) { seen.push_back(report.held_out.loss); });
  CHECK(history.end == FitEnd::patience);
  REQUIRE(history.epochs.size() > 3);
  CHECK(seen.size() == history.epochs.size());
  auto const best = std::min_element(seen.begin(), seen.end());
  CHECK(best == seen.end() - 4);
  CHECK(history.epochs[std::size_t(best - seen.begin())].is_best);
  CHECK(history.best_loss == *best);
  CHECK(history.epochs_without_progress == 3);
  // Patience and the best loss survive the end of the process after every epoch.
  FitOptions const in_parts{
      .epochs = 200, .patience = 3, .checkpoint = {.folder = root / "run", .keep = 1}};
  FitHistory last;
  std::size_t parts = 0;
  do {
    Subject part(parts == 0 ? 3 : 7 + parts);
    last = fit(part.trainer, part.batches, part.held_out, in_parts,
               [](EpochReport const&) { return false; });
  } while (last.end == FitEnd::callback && ++parts < 200);
  CHECK(last.epochs.size() == history.epochs.size());
  CHECK(same(last, history));
  Subject after(5);
  CHECK(fit(after.trainer, after.batches, after.held_out, in_parts).end == FitEnd::patience);
  CHECK(after.trainer.steps() == subject.trainer.steps());
  std::filesystem::remove_all(root / "run");
  Subject of_best(8);
  load(Space{}, of_best.trainer.model(), root / "best.safetensors");
  CHECK(evaluate(of_best.trainer, of_best.held_out).loss == *best);
  std::string first = text.str();
  CHECK(std::count(first.begin(), first.end(), '\n') == long(seen.size()));
  first = first.substr(0, first.find('\n'));
  CHECK(contains(first, "epoch    1/200  loss "));
  CHECK(contains(first, "held-out loss 0."));
  CHECK(contains(first, " samples/s  "));
  CHECK(contains(first, " steps skipped"));

  Subject short_one;
  int calls = 0;
  FitHistory const ended =
      fit(short_one.trainer, short_one.batches, {.epochs = 10}, [&](EpochReport const& report) {
        ++calls;
        return report.epoch < 2;
      });
  CHECK(ended.end == FitEnd::callback);
  CHECK(calls == 3);
  CHECK(ended.epochs.back().held_out.samples == 0);
}

TEST_CASE("fit: the training batches may be evaluated in between, and be the held-out ones") {
  TemporaryDirectory const root;
  Subject plain, called, both;
  FitOptions const with{.epochs = 3, .checkpoint = {.folder = root / "run"}};
  fit(plain.trainer, plain.batches, {.epochs = 3});
  int calls = 0;
  FitHistory history = fit(called.trainer, called.batches, with, [&](EpochReport const&) {
    evaluate(called.trainer, called.batches);
    return ++calls < 9;
  });
  CHECK(history.epochs.size() == 3);
  CHECK((state_of(called.trainer) == state_of(plain.trainer)));
  Subject resumed(8);
  history = fit(resumed.trainer, resumed.batches, with);
  CHECK(resumed.batches.position() == Position{3, 0});
  CHECK((state_of(resumed.trainer) == state_of(plain.trainer)));
  std::filesystem::remove_all(root / "run");
  history = fit(both.trainer, both.batches, both.batches, {.epochs = 3},
                [&](EpochReport const& report) { return report.epoch < 9 && ++calls < 9; });
  CHECK(history.epochs.size() == 3);
  CHECK(history.epochs.back().held_out.samples == 100);
  CHECK((state_of(both.trainer) == state_of(plain.trainer)));
}

TEST_CASE("fit: class indices give accuracies, and wrong ones are the trainer's sentence") {
  struct Classes : Network<Input<6>, Linear<3>> {};
  using Labels = Kokkos::View<int*, Kokkos::LayoutRight>;
  Rows const x("x", 90, 6);
  Labels const t("t", 90);
  auto const hx = Kokkos::create_mirror_view(x);
  auto const ht = Kokkos::create_mirror_view(t);
  for (int n = 0; n < 90; ++n) {
    ht(n) = n % 3;
    for (int i = 0; i < 6; ++i) hx(n, i) = float(i == n % 3) + 0.1f * float(std::sin(n * 5 + i));
  }
  Kokkos::deep_copy(x, hx);
  Kokkos::deep_copy(t, ht);
  Trainer<Classes, CrossEntropy, Adam> trainer(Space{}, Adam{.rate = 0.1}, {.batch = 30});
  Batches<Rows, Labels> batches(Space{}, ViewSource(x, t), {.batch = 30, .lanes = 1});
  auto const history = fit(trainer, batches, HeldOut{x, t}, {.epochs = 8});
  CHECK(history.epochs.front().accuracy < 1);
  CHECK(history.epochs.back().accuracy == 1);
  CHECK(history.epochs.back().held_out.accuracy == 1);
  CHECK(history.epochs.back().held_out.loss == trainer.evaluate(x, t).loss);
  ht(7) = 3;
  Kokkos::deep_copy(t, ht);
  CHECK(contains(sentence_of([&] { fit(trainer, batches, {.epochs = 9}); }),
                 "expected class indices from 0 to 2, got 1 outside of them"));
}

TEST_CASE("fit: a loss that is not finite, and options that do not fit, are sentences") {
  TemporaryDirectory const root;
  Rows const x("x", 40, 6), y("y", 40, 3);
  Kokkos::deep_copy(y, std::numeric_limits<float>::quiet_NaN());
  Subject subject;
  RowBatches bad(Space{}, ViewSource(x, y), options);
  FitOptions with{.epochs = 30};
  with.checkpoint.folder = root / "run";
  // A loss scale comes down first: 18 steps of three an epoch.
  std::string const sentence = sentence_of([&] { fit(subject.trainer, bad, with); });
  CHECK(sentence ==
        "fit: test::Noisy: expected a finite loss in epoch 5, got none in any step: all were "
        "skipped. "
        "Check the samples for NaN, and that the loss does not ignore all labels; lower the "
        "learning rate or clip the gradient.");
  CHECK(!std::filesystem::exists(root / "run"));
  CHECK(contains(
      sentence_of([&] { fit(subject.trainer, subject.batches, HeldOut{x, y}, {.epochs = 1}); }),
      "expected a finite loss in epoch 0, got none on held-out samples"));
  CHECK(contains(sentence_of([&] { fit(subject.trainer, subject.batches, {.patience = 2}); }),
                 "expected held-out samples for patience"));
  CHECK(contains(
      sentence_of([&] { fit(subject.trainer, subject.batches, {.checkpoint = {.steps = 2}}); }),
      "expected a folder for checkpoints"));
  CHECK(contains(sentence_of([&] {
                   fit(subject.trainer, subject.batches,
                       {.epochs = 9, .log = root / "absent/run.csv"});
                 }),
                 "to be written, got an error"));
}

TEST_CASE("fit: a profile counts and times the parts of the steps, and a tool still sees them") {
  using namespace Kokkos::Tools::Experimental;
  set_push_region_callback([](char const* name) { regions.emplace_back(name); });
  set_pop_region_callback([] { ++regions_ended; });
  Subject plain, measured;
  for (auto const& batch : plain.batches.epoch(0)) plain.trainer.step(batch.inputs, batch.targets);
  auto const seen = std::exchange(regions, {});
  for (char const* const name : {"next batch", "forward pass", "backward pass", "update"})
    CHECK(std::count(seen.begin(), seen.end(), name) == 7);
  CHECK(std::exchange(regions_ended, 0) == int(seen.size()));
  {
    StepProfile profile;
    CHECK(contains(sentence_of([] { StepProfile another; }),
                   "expected one profile at a time in a process"));
    for (auto const& batch : measured.batches.epoch(0))
      measured.trainer.step(batch.inputs, batch.targets);
    auto const parts = profile.take();
    REQUIRE(int(parts.size()) == step_part_count);
    for (StepPart const part :
         {StepPart::input, StepPart::forward, StepPart::backward, StepPart::update}) {
      PartTimes const& t = parts[std::size_t(part)];
      CHECK(t.count == 7);
      CHECK((0 < t.minimum && t.minimum <= t.median && t.median <= t.maximum));
      CHECK((t.maximum < t.sum && t.sum <= 7 * t.maximum));
    }
    for (StepPart const part : {StepPart::whole, StepPart::shards, StepPart::exchange})
      CHECK(parts[std::size_t(part)].count == 0);
    CHECK(profile.take()[std::size_t(StepPart::update)].count == 0);
  }
  CHECK((state_of(measured.trainer) == state_of(plain.trainer)));
  CHECK((regions == seen));
  CHECK(get_callbacks().push_region != nullptr);
  set_push_region_callback(nullptr);
  set_pop_region_callback(nullptr);

  // One epoch more, and another one behind a resume: one line for each.
  TemporaryDirectory const root;
  FitOptions with{.epochs = 2, .profile = root / "profile.jsonl", .checkpoint = {root / "run"}};
  std::ostringstream text;
  with.progress = &text;
  fit(measured.trainer, measured.batches, with);
  CHECK(contains(text.str(), "  rank 0: next batch "));
  with.epochs = 3;
  Subject resumed;
  fit(resumed.trainer, resumed.batches, with);
  std::string const lines = contents(root / "profile.jsonl");
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
  CHECK(contains(lines, "{\"epoch\": 2, \"rank\": 0, \"parts\": {\"next batch\": {\"count\": 7, "));
  with.profile = root / "absent/profile.jsonl";
  with.epochs = 4;
  CHECK(contains(sentence_of([&] { fit(resumed.trainer, resumed.batches, with); }),
                 "expected the profile \"" + with.profile + "\" to be written, got an error"));
}
