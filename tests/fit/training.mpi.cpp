// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checkpoints of several ranks: one file, the same bits on the same ranks, and under Reproducible
// on fewer. fit on several ranks: the loop by hand bit for bit, one log, and all end at the same
// step. An error of one rank is one sentence on all.

#include <comm/ranks.hpp>
#include <fit/shared_folder.hpp>
#include <fit/training_state.hpp>
#include <phyllo/comm/mpi.hpp>
#include <phyllo/fit/checkpoints.hpp>
#include <phyllo/fit/fit.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include <sys/resource.h>

namespace {

using namespace phyllo;
using namespace phyllo::test;

constexpr BatchOptions options{.batch = 24, .seed = 5, .lanes = 12, .prefetch = 2};

// Numbers of the policy that cannot be its own are refused before anything changes.
template <class T> void check_damaged(T& trainer, RowBatches& batches, std::string const& path) {
  auto const before = state_of(trainer);
  std::string const name = "phyllo.own.rank0";
  for (double const number : {-1.0, 0.5, 1e300, std::nan("")})
    for (std::size_t const at : {0, 1, 2}) {
      if (rank_of() == 0) {
        TensorFile file = read_safetensors(path);
        for (StoredTensor& tensor : file.tensors)
          if (tensor.name == name)
            std::memcpy(&tensor.bytes[at * sizeof(double)], &number, sizeof(double));
        write_safetensors(path + ".damaged", file);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      std::string const sentence =
          sentence_of([&] { load_training(trainer, batches, path + ".damaged"); });
      CHECK(phyllo_test::contains(sentence, "expected \"" + name + "\" of "));
      MPI_Barrier(MPI_COMM_WORLD);
    }
  if (rank_of() == 0) std::filesystem::remove(path + ".damaged");
  CHECK((state_of(trainer) == before));
}

template <class C, class P> void check_resumed() {
  using T = Trainer<Noisy, MeanSquaredError, Adam, P, C>;
  SharedFolder const folder;
  std::string const path = folder / "training.safetensors";
  Adam const rule{.rate = 0.01, .schedule = cosine_schedule(25)};
  T whole(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 3});
  RowBatches all(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(whole, all, 20);
  T first(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 3});
  RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(first, batches, 10);
  save_training(first, batches, path);
  train_to(first, batches, 20);
  // Ranks have stale unrounded weights of the shares of others.
  auto const finished = [](T& trainer) {
    if constexpr (SharesParameters<C>) trainer.synchronize();
    return state_of(trainer);
  };
  auto const expected = finished(whole);
  CHECK((finished(first) == expected));  // to save has changed nothing
  T second(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 4});
  train_to(second, batches, 3);
  load_training(second, batches, path);
  train_to(second, batches, 20);
  CHECK((finished(second) == expected));
  if constexpr (has_own_state<C>) check_damaged(second, batches, path);
}
constexpr BatchOptions in_order{.batch = 24, .shuffle = false, .lanes = 12};

template <class C> struct Subject {
  Trainer<Noisy, MeanSquaredError, Adam, Mixed<fp16, float>, C> trainer;
  RowBatches batches{Space{}, points(100), options, rank_of(), ranks_of()};
  RowBatches held_out{Space{}, points(60), in_order, rank_of(), ranks_of()};
  explicit Subject(std::uint64_t seed = 3)
      : trainer(Space{}, MPI_COMM_WORLD, Adam{.rate = 0.01}, {.batch = 24, .seed = seed}) {}
};

struct Plain : Network<Input<6>, Linear<8>, Tanh, Linear<3>> {};

// A policy with numbers of its own that no file contains.
struct Forgets : LocalSgd<2, Mpi> {
  using LocalSgd::LocalSgd;
  void own_state() = delete;
};

long same_on_all(long number) {
  long both[2] = {number, -number};
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  return both[0] == -both[1];
}

}  // namespace

TEST_CASE_TEMPLATE("checkpoint: on the same ranks the same bits", C, AllReduce<Mpi>,
                   Sharded<AllReduce<Mpi>>,
                   LocalSgd<3, Mpi> PHYLLO_IN_VERIFY(, Hierarchical<Mpi>, Lag<1, AllReduce<Mpi>>,
                                                     Asynchronous<3, AllReduce<Mpi>>)) {
  check_resumed<C, Mixed<fp16, float>>();
}
#ifdef PHYLLO_ALL_CASES
TEST_CASE("checkpoint: of groups") {
  using C = Groups<2, AllReduce<Mpi>, Asynchronous<3, AllReduce<Mpi>>>;
  if (ranks_of() > 1) check_resumed<C, Full<double>>();
}
#endif

TEST_CASE("checkpoint: constants are no part of an exchange that is under way") {
  struct Scaled : Network<Input<6>, Normalise<PerElement>, BatchNorm<>, Linear<3>> {};
  using T = Trainer<Scaled, MeanSquaredError, Sgd, Full<float>, Asynchronous<4, AllReduce<Mpi>>>;
  SharedFolder const folder;
  std::string const path = folder / "training.safetensors";
  auto const trained = [&](bool interrupted) {
    auto trainer = std::make_unique<T>(Space{}, MPI_COMM_WORLD, Sgd{.rate = 0.01},
                                       ModelOptions{.batch = 24, .seed = 3});
    RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
    train_to(*trainer, batches, 6);
    if (interrupted) {
      save_training(*trainer, batches, path);
      trainer = std::make_unique<T>(Space{}, MPI_COMM_WORLD, Sgd{.rate = 0.01},
                                    ModelOptions{.batch = 24, .seed = 4});
      load_training(*trainer, batches, path);
    }
    train_to(*trainer, batches, 12);
    trainer->synchronize();
    return state_of(*trainer);
  };
  CHECK((trained(true) == trained(false)));
}

#ifdef PHYLLO_ALL_CASES
TEST_CASE("fit: groups of different sizes count each sample once") {
  if (ranks_of() == 1) return;
  auto const loss = [&]<class C>() {
    Trainer<Plain, MeanSquaredError, Sgd, Full<double>, C> trainer(
        Space{}, MPI_COMM_WORLD, Sgd{.rate = 0}, {.batch = 24, .seed = 3});
    RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
    return fit(trainer, batches, {.epochs = 1}).epochs[0].loss;
  };
  using Halves = Groups<2, AllReduce<Mpi>, LocalSgd<3, Mpi>>;
  CHECK(loss.operator()<Halves>() ==
        doctest::Approx(loss.operator()<AllReduce<Mpi>>()).epsilon(1e-12));
  // A class index out of its range of one rank: one, and an error of all.
  Trainer<Plain, CrossEntropy, Sgd, Full<double>, Halves> trainer(
      Space{}, MPI_COMM_WORLD, Sgd{.rate = 0.1}, {.batch = 4, .seed = 3});
  Rows const x("x", 4, 6);
  Kokkos::View<int*, Space> const labels("labels", 4);
  if (rank_of() == 0) labels(2) = 7;
  trainer.step(x, labels);
  labels(2) = 0;
  CHECK(phyllo_test::contains(sentence_of([&] { trainer.evaluate(x, labels); }), "got 1 outside"));
}
#endif

TEST_CASE("fit: the first step with late gradients may be a whole epoch") {
  using T = Trainer<Noisy, MeanSquaredError, Adam, Full<double>, Lag<1, AllReduce<Mpi>>>;
  T trainer(Space{}, MPI_COMM_WORLD, Adam{.rate = 0.01}, {.batch = 24, .seed = 3});
  RowBatches batches(Space{}, points(24), options, rank_of(), ranks_of());
  auto const history = fit(trainer, batches, {.epochs = 3});
  REQUIRE(history.epochs.size() == 3);
  CHECK(history.epochs[0].steps == 0);
  CHECK(std::isnan(history.epochs[0].loss));
  for (std::size_t e = 0; e < 3; ++e) CHECK(history.epochs[e].skipped == 0);
  for (std::size_t e = 1; e < 3; ++e) {
    CHECK(history.epochs[e].steps == 1);
    CHECK(std::isfinite(history.epochs[e].loss));
  }
}

TEST_CASE("checkpoint: under Reproducible fewer ranks go on to the same bits") {
  using Exact = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<12>>;
  using T = Trainer<Noisy, MeanSquaredError, Adam, Full<float>, TreeReduce<Mpi>, Exact>;
  SharedFolder const folder;
  Checkpoints const checkpoints(folder / "run");
  Adam const rule{.rate = 0.01};
  T all(Space{}, MPI_COMM_WORLD, rule, {.batch = 24, .seed = 3});
  RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(all, batches, 10);
  checkpoints.save(all, batches);
  train_to(all, batches, 20);
  auto const learned = state_of(all);
  MPI_Comm fewer = MPI_COMM_NULL;
  int const rest = ranks_of() > 1 ? ranks_of() - 1 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of() < rest ? 0 : MPI_UNDEFINED, rank_of(), &fewer);
  if (fewer != MPI_COMM_NULL) {
    {
      T second(Space{}, fewer, rule, {.batch = 24, .seed = 4});
      RowBatches again(Space{}, points(100), options, rank_of(), rest);
      CHECK(checkpoints.resume(second, again));
      CHECK(again.position() == Position{2, 0});
      train_to(second, again, 20);
      CHECK((state_of(second) == learned));
    }
    MPI_Comm_free(&fewer);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) {
    ::unlink(checkpoints.path_of(10).c_str());
    ::rmdir((folder / "run").c_str());
  }
}

TEST_CASE("checkpoint: errors of one rank are the same sentence on all") {
  using T = Trainer<Noisy, MeanSquaredError, Adam, Mixed<fp16, float>, AllReduce<Mpi>>;
  SharedFolder const folder;
  T trainer(Space{}, MPI_COMM_WORLD, Adam{}, {.batch = 24});
  RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
  train_to(trainer, batches, 2);
  auto const before = state_of(trainer);
  // Only rank 0 writes, into a folder that is not there.
  std::string sentence =
      sentence_of([&] { save_training(trainer, folder / "absent/training.safetensors"); });
  CHECK(phyllo_test::contains(sentence, "create the directory first"));
  std::string const path = folder / "training.safetensors";
  // Only rank 0's disk is full.
  ::rlimit unlimited = {};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  if (rank_of() == 0) {
    ::rlimit const limit = {1000, unlimited.rlim_max};  // bytes
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  sentence = sentence_of([&] { save_training(trainer, batches, path); });
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  CHECK(phyllo_test::contains(sentence, "raise the file size limit"));
  CHECK((state_of(trainer) == before));
  save_training(trainer, batches, path);
  // Only the last rank names another file.
  bool const is_last = rank_of() == ranks_of() - 1;
  sentence =
      sentence_of([&] { load_training(trainer, batches, is_last ? path + ".other" : path); });
  CHECK(phyllo_test::contains(sentence, "training.safetensors.other\": expected a file"));
  CHECK((state_of(trainer) == before));
  load_training(trainer, batches, path);
  train_to(trainer, batches, 3);
}

TEST_CASE("checkpoint: files of the ranks belong to the checkpoint of their step") {
  SharedFolder const folder;
  Subject<AllReduce<Mpi>> subject;
  auto& trainer = subject.trainer;
  Checkpoints const checkpoints(folder / "run", 2);
  TensorFile got;
  CHECK(!checkpoints.resume_with_ranks(got, trainer));
  // The file of a later step, as a process leaves it that is killed before the checkpoint.
  auto const own = [](int step) {
    TensorFile file;
    file.metadata.emplace_back("mine", std::to_string(100 * rank_of() + step));
    return file;
  };
  for (int const step : {2, 4, 6}) {
    train_to(trainer, subject.batches, step);
    checkpoints.save_with_ranks(trainer, own(step));
    if (step == 2) write_safetensors(checkpoints.path_of(5, rank_of()), own(5));
    if (step == 4) write_safetensors(checkpoints.path_of(7, rank_of()), own(7));
  }
  auto const exists = [&](long step) {
    return std::filesystem::exists(checkpoints.path_of(step, rank_of()));
  };
  CHECK((!exists(2) && exists(4) && !exists(5) && exists(6) && !exists(7)));
  auto const expected = state_of(trainer);
  train_to(trainer, subject.batches, 8);
  CHECK(checkpoints.resume_with_ranks(got, trainer));
  CHECK(*got.find_metadata("mine") == std::to_string(100 * rank_of() + 6));
  CHECK((state_of(trainer) == expected));

  auto const refused = [&](char const* part) {
    train_to(trainer, subject.batches, 8);
    auto const before = state_of(trainer);
    std::string sentence;
    try {
      checkpoints.resume_with_ranks(got, trainer);
    } catch (Error const& error) {
      sentence = error.what();
    }
    CAPTURE(sentence);
    CHECK(sentence.find(part) != std::string::npos);
    CHECK((state_of(trainer) == before));
    CHECK(*got.find_metadata("mine") == std::to_string(100 * rank_of() + 6));
  };
  int const last = ranks_of() - 1;
  if (rank_of() == last) {
    TensorFile other = own(6);
    other.metadata.emplace_back("phyllo.ranks", std::to_string(ranks_of() + 1));
    write_safetensors(checkpoints.path_of(6, last), other);
  }
  refused("Resume on the number of ranks that wrote it.");
  if (rank_of() == last) std::filesystem::remove(checkpoints.path_of(6, last));
  refused("rank-00000");
}

TEST_CASE("fit: the loop by hand, and interrupted at other steps by a clock, bit for bit") {
  SharedFolder const folder;
  using S = Subject<AllReduce<Mpi>>;
  S by_hand, fitted;
  double loss = 0;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    for (auto const& batch : by_hand.batches.epoch(epoch))
      by_hand.trainer.step(batch.inputs, batch.targets);
    loss = evaluate(by_hand.trainer, by_hand.held_out).loss;
  }
  FitOptions with{.epochs = 4, .profile = folder / "profile.jsonl"};
  auto const whole = fit(fitted.trainer, fitted.batches, fitted.held_out, with);
  with.profile = "";
  if (rank_of() == 0) {
    std::string const text = phyllo_test::contents(folder / "profile.jsonl");
    CHECK(std::count(text.begin(), text.end(), '\n') == 4 * ranks_of());
    std::string const last =
        "{\"epoch\": 3, \"rank\": " + std::to_string(ranks_of() - 1) +
        ", \"parts\": {\"next batch\": {\"count\": " + std::to_string(fitted.batches.steps()) +
        ", ";
    CHECK(phyllo_test::contains(text, last));
  }
  CHECK((state_of(fitted.trainer) == state_of(by_hand.trainer)));
  CHECK(whole.epochs.back().held_out.loss == loss);
  CHECK(whole.epochs.back().held_out.samples == 60);

  with.log = folder / "run.csv";
  with.checkpoint = {.folder = folder / "run", .keep = 1};
  with.stop_after = std::chrono::duration<double>(1e-4);
  FitHistory history;
  for (int calls = 0; calls < 50; ++calls) {
    S part(calls == 0 ? 3 : std::uint64_t(8 + calls));
    // Ranks reach the limit at different times; rank 0's clock decides.
    std::this_thread::sleep_for(std::chrono::milliseconds(rank_of()));
    history = fit(part.trainer, part.batches, part.held_out, with);
    CHECK(same_on_all(part.trainer.steps()));
    CHECK(same_on_all(long(history.end)));
    if (history.end == FitEnd::epochs) {
      CHECK((state_of(part.trainer) == state_of(fitted.trainer)));
      break;
    }
  }
  CHECK(history.end == FitEnd::epochs);
  REQUIRE(history.epochs.size() == 4);
  for (std::size_t e = 0; e < 4; ++e) {
    CHECK(history.epochs[e].loss == whole.epochs[e].loss);
    CHECK(history.epochs[e].held_out.loss == whole.epochs[e].held_out.loss);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) {
    std::string const text = phyllo_test::contents(folder / "run.csv");
    CHECK(std::count(text.begin(), text.end(), '\n') == 5);
    std::filesystem::remove_all(folder / "run");
  }
}

TEST_CASE("measure: R2 of targets far from zero, whose ranks have other means") {
  using Numbers = Kokkos::View<double**, Kokkos::LayoutRight>;
  struct Line : Network<Input<1>, Linear<1>> {};
  Trainer<Line, MeanSquaredError, Sgd, Full<double>, AllReduce<Mpi>> trainer(
      Space{}, MPI_COMM_WORLD, Sgd{}, {.batch = 64});
  // Rank 0 has no samples. A batch of all ranks' numbers tells what is expected.
  auto const target = [](int rank, int n) { return -1e4 + 1e-3 * (rank + std::sin(1.7 * n)); };
  int const samples = rank_of() == 0 && ranks_of() > 1 ? 0 : 40;
  Numbers const probe("probe", 2, 1), at("at", 2, 1);
  auto const points = Kokkos::create_mirror_view(probe);
  points(1, 0) = 1;
  Kokkos::deep_copy(probe, points);
  trainer.model().infer(Space{}, probe, at);
  Kokkos::fence();
  auto const line = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, at);
  double const slope = line(1, 0) - line(0, 0);
  Numbers const x("x", std::size_t(samples), 1), t("t", std::size_t(samples), 1);
  auto const hx = Kokkos::create_mirror_view(x);
  auto const ht = Kokkos::create_mirror_view(t);
  for (int n = 0; n < samples; ++n) {
    ht(n, 0) = target(rank_of(), n);
    hx(n, 0) = (ht(n, 0) + 1e-4 - line(0, 0)) / slope;
  }
  Kokkos::deep_copy(x, hx);
  Kokkos::deep_copy(t, ht);
  double count = 0, mean = 0, total = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int rank = ranks_of() > 1 ? 1 : 0; rank < ranks_of(); ++rank)
      for (int n = 0; n < 40; ++n) {
        double const number = target(rank, n) + 1e4;
        if (pass == 0)
          count += 1, mean += number;
        else
          total += std::pow(number - mean / count, 2);
      }
  double const r2 = measure(trainer, x, t, Metrics<R2>{}).get<R2>();
  CHECK(r2 == doctest::Approx(1 - 1e-8 * count / total).epsilon(1e-6));
  CHECK(same_on_all(long(1e15 * r2)));
}

TEST_CASE("fit: a signal to one rank ends all at the same step") {
  Subject<AllReduce<Mpi>> subject;
  bool const is_last = rank_of() == ranks_of() - 1;
  auto const history =
      fit(subject.trainer, subject.batches, {.epochs = 1'000'000, .stop_on_signal = SIGTERM},
          [&](EpochReport const& report) {
            if (is_last && report.epoch == 3) std::raise(SIGTERM);
          });
  CHECK(history.end == FitEnd::signal);
  CHECK(history.epochs.size() >= 4);
  CHECK(same_on_all(subject.trainer.steps()));
}

TEST_CASE("fit: a callback of one rank ends all; an error of one rank is that of all") {
  SharedFolder const folder;
  Subject<AllReduce<Mpi>> subject;
  bool const is_last = rank_of() == ranks_of() - 1;
  auto const history = fit(subject.trainer, subject.batches, {.epochs = 9},
                           [&](EpochReport const& report) { return !is_last || report.epoch < 1; });
  CHECK(history.end == FitEnd::callback);
  CHECK(history.epochs.size() == 2);
  CHECK(phyllo_test::contains(sentence_of([&] {
                                fit(subject.trainer, subject.batches,
                                    {.epochs = 9, .log = folder / "absent/run.csv"});
                              }),
                              "to be written, got an error"));
  // An exception of the caller's own stays what it is; the others have its sentence.
  std::string sentence;
  auto const throws = [&](EpochReport const&) {
    if (is_last) throw std::domain_error("no room for results");
  };
  try {
    fit(subject.trainer, subject.batches, {.epochs = 9}, throws);
  } catch (std::domain_error const& error) {
    CHECK(is_last);
    sentence = error.what();
  } catch (Error const& error) {
    CHECK(!is_last);
    sentence = error.what();
  }
  CHECK(sentence == "no room for results");
}

TEST_CASE("fit: checkpoints by steps, where a step of one rank was refused before") {
  SharedFolder const folder;
  Subject<AllReduce<Mpi>> subject;
  if (rank_of() == 0) {
    Rows const x("x", 2, 5), y("y", 2, 3);
    CHECK_THROWS_AS(subject.trainer.step(x, y), Error);
  }
  FitOptions with{.epochs = 2};
  with.checkpoint.folder = folder / "run";
  with.checkpoint.steps = 3;
  CHECK(fit(subject.trainer, subject.batches, with).epochs.size() == 2);
}

TEST_CASE("fit: ranks whose batches differ are refused on all of them") {
  if (ranks_of() == 1) return;
  using C = AllReduce<Mpi>;
  Subject<C> subject;
  auto const refused = [&](RowBatches& batches, RowBatches& held_out, char const* expected) {
    std::string const sentence =
        sentence_of([&] { fit(subject.trainer, batches, held_out, {.epochs = 1}); });
    CAPTURE(sentence);
    CHECK(phyllo_test::contains(sentence, expected));
    CHECK(phyllo_test::contains(sentence, "Make the Batches of one source and one set of"));
  };
  int const rank = rank_of(), ranks = ranks_of();
  auto with = options;
  with.seed = std::uint64_t(rank);
  RowBatches seeds(Space{}, points(100), with, rank, ranks);
  refused(seeds, subject.held_out, "got \"seed: 0\" on rank 0 and \"seed: 1\" on rank 1");
  RowBatches lengths(Space{}, points(100 + 50 * rank), options, rank, ranks);
  refused(lengths, subject.held_out,
          "got \"samples: 100\" on rank 0 and \"samples: 150\" on rank 1");
  refused(subject.batches, lengths, "fit: held-out batches of test::Noisy: expected");
  RowBatches behind(Space{}, points(100), options, rank, ranks);
  behind.seek({0, rank});
  refused(behind, subject.held_out, "got \"position: step: 0\" on rank 0");
  CHECK(subject.trainer.steps() == 0);
  // Sources of the ranks' own: as many steps are enough.
  with.batch = 20;
  RowBatches other_steps(Space{}, points(80 + 20 * rank), with);
  refused(other_steps, subject.held_out, "got \"steps of an epoch: 4\" on rank 0");
  RowBatches own(Space{}, points(70 + rank), with), own_held_out(Space{}, points(50 + rank), with);
  fit(subject.trainer, own, own_held_out, {.epochs = 1});
  CHECK(subject.trainer.steps() == 4);
}

TEST_CASE("fit: ranks with weights of their own report what all have learned") {
  Subject<Forgets> subject;
  auto const history = fit(subject.trainer, subject.batches, subject.held_out, {.epochs = 2});
  CHECK(history.epochs.size() == 2);
  CHECK(same_on_all(long(1e9 * history.epochs.back().loss)));
  FitOptions with{.epochs = 3};
  with.checkpoint.folder = "run";
  CHECK(phyllo_test::contains(
      sentence_of([&] { fit(subject.trainer, subject.batches, with); }),
      "fit: expected a communication policy whose state a file contains, got LocalSgd"));
}

TEST_CASE("fit: ranks with weights of their own, interrupted: the same losses of all") {
  SharedFolder const folder;
  using S = Subject<LocalSgd<3, Mpi>>;
  S whole;
  auto const expected = fit(whole.trainer, whole.batches, {.epochs = 2});
  FitOptions with{.epochs = 2, .stop_after = std::chrono::duration<double>(1e-4)};
  with.checkpoint = {.folder = folder / "run", .keep = 1};
  FitHistory history;
  for (int calls = 0; calls < 50; ++calls) {
    S part(std::uint64_t(3 + calls));
    history = fit(part.trainer, part.batches, with);
    if (history.end != FitEnd::epochs) continue;
    CHECK((state_of(part.trainer) == state_of(whole.trainer)));
    break;
  }
  REQUIRE(history.epochs.size() == 2);
  for (std::size_t e = 0; e < 2; ++e) CHECK(history.epochs[e].loss == expected.epochs[e].loss);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) std::filesystem::remove_all(folder / "run");

  // A target of one rank whose loss is infinite is an error of all, before a checkpoint too.
  Trainer<Plain, MeanSquaredError, Sgd, Full<float>, LocalSgd<3, Mpi>> trainer(
      Space{}, MPI_COMM_WORLD, Sgd{.rate = 1e-30}, {.batch = 8});
  Rows const x("x", 8, 6), y("y", 8, 3);
  if (rank_of() == ranks_of() - 1) y(3, 1) = 1e25f;
  RowBatches batches(Space{}, ViewSource(x, y), {.batch = 4});
  with = {.epochs = 1};
  with.checkpoint = {.folder = folder / "infinite", .steps = 1};
  CHECK(phyllo_test::contains(sentence_of([&] { fit(trainer, batches, with); }),
                              "expected a finite loss in epoch 0"));
}

TEST_CASE("checkpoint: a frozen tensor has missed steps of its own rank") {
  SharedFolder const folder;
  using T = Trainer<Plain, MeanSquaredError, Adam, Full<double>, LocalSgd<0, Mpi>>;
  Rows const x("x", 4, 6), y("y", 4, 3), none("none", 0, 6), no_y("none", 0, 3);
  Kokkos::deep_copy(x, 0.5f);
  Kokkos::deep_copy(y, 1.0f);
  auto const trained = [&](bool reloads) {
    std::string const path = folder / "frozen.safetensors";
    T trainer(Space{}, MPI_COMM_WORLD, Adam{.rate = 0.01}, {.batch = 4, .seed = 2});
    if (rank_of() == 1)
      trainer.step(none, no_y);
    else
      trainer.step(x, y);
    trainer.step(x, y);
    trainer.set_frozen(ParameterSelection::named("2.weight"));
    trainer.step(x, y);
    if (reloads) {
      save_training(trainer, path);
      MPI_Barrier(MPI_COMM_WORLD);
      load_training(trainer, path);
    }
    trainer.set_frozen(ParameterSelection::named("2.weight"), false);
    trainer.step(x, y);
    return state_of(trainer);
  };
  CHECK((trained(true) == trained(false)));
}

TEST_CASE("broadcast: the unrounded weights of all shares, between two steps") {
  using T = Trainer<Plain, MeanSquaredError, Adam, Mixed<bf16, float>, Sharded<AllReduce<Mpi>>>;
  Rows const x("x", 4, 6), y("y", 4, 3);
  Kokkos::deep_copy(x, 0.5f);
  Kokkos::deep_copy(y, 1.0f);
  auto const trained = [&](bool sends) {
    T trainer(Space{}, MPI_COMM_WORLD, Adam{.rate = 1e-4}, {.batch = 4, .seed = 2});
    for (int k = 0; k < 5; ++k) {
      trainer.step(x, y);
      if (sends) trainer.broadcast(ranks_of() - 1);
    }
    trainer.synchronize();
    return state_of(trainer);
  };
  CHECK((trained(true) == trained(false)));
  T trainer(Space{}, MPI_COMM_WORLD, Adam{.rate = 1e-4}, {.batch = 4, .seed = 2});
  trainer.accumulate_gradients(x, y);
  CHECK(phyllo_test::contains(sentence_of([&] { trainer.broadcast(); }),
                              "broadcast: expected a trainer between two steps, got one with 1"));
  MemoryCheckpoint<T> checkpoint(trainer);
  checkpoint.store(trainer);
  CHECK(phyllo_test::contains(sentence_of([&] { checkpoint.restore(trainer); }),
                              "restore: expected a trainer between two steps, got one with 1"));
}

TEST_CASE("MemoryCheckpoint: late gradients are not those of steps that are undone") {
  using T = Trainer<Plain, MeanSquaredError, Sgd, Full<double>, Lag<1, AllReduce<Mpi>>>;
  auto const trainer_of = [](std::uint64_t seed) {
    return std::make_unique<T>(Space{}, MPI_COMM_WORLD, Sgd{.rate = 0.1},
                               ModelOptions{.batch = 24, .seed = seed});
  };
  RowBatches batches(Space{}, points(100), options, rank_of(), ranks_of());
  auto const first = trainer_of(3), other = trainer_of(4);
  train_to(*first, batches, 3);
  MemoryCheckpoint<T> checkpoint(*first);
  checkpoint.store(*first);
  train_to(*first, batches, 8);
  auto const again = [&](T& trainer) {
    checkpoint.restore(trainer);
    batches.seek({0, 3});
    train_to(trainer, batches, 6);
    return state_of(trainer);
  };
  CHECK((again(*first) == again(*other)));
}
