// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training that was resumed from a file has the bits of training that was never interrupted.

#include <fit/training_state.hpp>
#include <io/safetensors_file.hpp>
#include <phyllo/fit/checkpoints.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>
#include <sentence_of.hpp>

#include <filesystem>

namespace {

using namespace phyllo;
using namespace phyllo::test;
using phyllo_test::contains;
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

}  // namespace

TEST_CASE("checkpoint: 10 steps and 10 resumed ones are 20 steps, bit for bit") {
  SUBCASE("Adam with a schedule, fp16 with loss scaling") {
    check_resumed<Adam, Mixed<fp16, float>>(
        {.rate = 0.01, .schedule = cosine_schedule(25, 0.1, 4)});
  }
  SUBCASE("Lars, which keeps numbers of tensors") {
    check_resumed<Lars, Full<float>>({.rate = 0.1, .momentum = 0.9});
  }
  SUBCASE("NAdam, which keeps numbers of a step") {
    check_resumed<NAdam, Full<float>>({.rate = 0.01});
  }
#if defined(PHYLLO_ALL_CASES)
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
