// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks that differ are refused when a trainer is made, by one sentence on all of them.

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

struct Narrow : Network<Input<6>, Linear<20>, Tanh, Linear<3>> {};
struct Wide : Network<Input<6>, Linear<21>, Tanh, Linear<3>> {};

bool is_last() { return rank_of() == ranks_of() - 1; }

template <class Bits>
using Exec = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Bits>;

// What making a trainer says.
template <class Net, class P = Full<float>, class C = AllReduce<Mpi>, class Rule = Sgd,
          class L = MeanSquaredError, class E = Execution<>>
std::string made(Rule const& rule = {}, ModelOptions const& options = {.batch = 4}) {
  return sentence_of([&] {
    Trainer<Net, L, Rule, P, C, E> const trainer(Space{}, MPI_COMM_WORLD, rule, options);
  });
}

// The same under Reproducible<Shards>.
template <class Net, int Shards = 12, class Rule = Sgd>
std::string made_reproducible(Rule const& rule = {}, ModelOptions const& options = {.batch = 4}) {
  return made<Net, Full<float>, TreeReduce<Mpi>, Rule, MeanSquaredError,
              Exec<Reproducible<Shards>>>(rule, options);
}

// The last rank differs from the others, in that and in nothing before it.
std::string refusal(std::string const& network, std::string const& others,
                    std::string const& last) {
  if (ranks_of() == 1) return "";
  return network + ": expected the same training on all " + std::to_string(ranks_of()) +
         " ranks, got \"" + others + "\" on rank 0 and \"" + last + "\" on rank " +
         std::to_string(ranks_of() - 1) +
         ". Start one program with one set of options on all ranks.";
}

}  // namespace

TEST_CASE("Agreement: ranks that are alike train together") {
  CHECK(made<Narrow>() == "");
  CHECK(made<Wide, Mixed<bf16, float>, AllReduce<Mpi, 64>, Adam>() == "");
  // Their room for samples is their own affair.
  CHECK(made<Narrow>(Sgd{}, {.batch = rank_of() + 1}) == "");
}

TEST_CASE("Agreement: another network, precision, policy, rule, loss, rate or seed is refused") {
  CHECK((is_last() ? made<Wide>() : made<Narrow>()) ==
        refusal(is_last() ? "Wide" : "Narrow", "network: Narrow", "network: Wide"));
  CHECK((is_last() ? made<Narrow, Mixed<bf16, float>>() : made<Narrow>()) ==
        refusal("Narrow", "precision: Full<float>", "precision: Mixed<bf16, float>"));
  CHECK((is_last() ? made<Narrow, Full<double>>() : made<Narrow>()) ==
        refusal("Narrow", "precision: Full<float>", "precision: Full<double>"));
  CHECK((is_last() ? made<Narrow, Full<float>, AllReduce<Mpi, 64>>() : made<Narrow>()) ==
        refusal("Narrow", "communication: " + type_name<AllReduce<Mpi>>(),
                "communication: " + type_name<AllReduce<Mpi, 64>>()));
  CHECK((is_last() ? made<Narrow, Full<float>, AllReduce<Mpi>, Adam>() : made<Narrow>()) ==
        refusal("Narrow", "rule: sgd", "rule: adam"));
  CHECK((is_last() ? made<Narrow, Full<float>, AllReduce<Mpi>, Sgd, CrossEntropy>()
                   : made<Narrow>()) ==
        refusal("Narrow", "loss: MeanSquaredError", "loss: CrossEntropy"));
  CHECK(made<Narrow>(Sgd{.rate = is_last() ? 0.25f : 0.5f}) ==
        refusal("Narrow", "rate: 0.5", "rate: 0.25"));
  CHECK(made<Narrow>(Sgd{}, {.batch = 4, .seed = is_last() ? 1u : 2u}) ==
        refusal("Narrow", "seed: 2", "seed: 1"));
}

TEST_CASE("Agreement: options of a rule, its schedule and clipping as well") {
  auto const refused = [](std::string const& sentence, char const* what) {
    return ranks_of() == 1 ? sentence.empty() : sentence.find(what) != std::string::npos;
  };
  double const number = is_last() ? 0.5 : 0.25;
  CHECK(refused(made<Narrow>(Sgd{.momentum = number}), "momentum 0.25"));
  CHECK(refused(made<Narrow, Full<float>, AllReduce<Mpi>, Adam>(Adam{.epsilon = number * 1e-9}),
                "options of the rule"));
  CHECK(
      refused(made<Narrow>(Sgd{.schedule = exponential_schedule(number)}), "options of the rule"));
  CHECK(refused(sentence_of([&] {
                  Trainer<Narrow, MeanSquaredError, Sgd, Full<float>, AllReduce<Mpi>> const trainer(
                      Space{}, MPI_COMM_WORLD, Sgd{}, {.batch = 4},
                      {.clipping = {.largest_norm = number}});
                }),
                "largest norm: 0.25"));
}

// To make these takes calls that AllReduce does not make.
TEST_CASE_TEMPLATE("Agreement: policies that differ are refused before they are made", C,
                   Hierarchical<Mpi>, Lag<1, AllReduce<Mpi>>, Sharded<AllReduce<Mpi>>,
                   LocalSgd<2, Mpi>, AllReduce<Wire<bf16, Mpi>>,
                   Groups<1, AllReduce<Mpi>, Asynchronous<2, AllReduce<Mpi>>>) {
  CHECK(made<Narrow, Full<float>, C>() == "");
  CHECK((is_last() ? made<Narrow, Full<float>, C>() : made<Narrow>()) ==
        refusal("Narrow", "communication: " + type_name<AllReduce<Mpi>>(),
                "communication: " + type_name<C>()));
}

TEST_CASE("Agreement: reproducible trainers refuse ranks that differ, in shards as well") {
  CHECK(made_reproducible<Narrow>() == "");
  CHECK((is_last() ? made_reproducible<Wide>() : made_reproducible<Narrow>()) ==
        refusal(is_last() ? "Wide" : "Narrow", "network: Narrow", "network: Wide"));
  CHECK((is_last() ? made_reproducible<Narrow, 8>() : made_reproducible<Narrow>()) ==
        refusal("Narrow", "shards: 12", "shards: 8"));
  CHECK((is_last() ? made_reproducible<Narrow, 12, Adam>() : made_reproducible<Narrow>()) ==
        refusal("Narrow", "rule: sgd", "rule: adam"));
}

TEST_CASE("Agreement: of several that differ the first is named, on every rank") {
  AllReduce<Mpi> communication = MPI_COMM_WORLD;
  Agreement mine;
  mine.add("colour", "blue");
  mine.add("place", rank_of() == 0 ? "first" : rank_of() == 1 ? "second" : "third");
  std::string const sentence = sentence_of([&] { agree(Space{}, communication, "Test", mine); });
  if (ranks_of() == 1)
    CHECK(sentence == "");
  else
    CHECK(sentence == "Test: expected the same training on all " + std::to_string(ranks_of()) +
                          " ranks, got \"place: first\" on rank 0 and \"place: second\" on rank 1. "
                          "Start one program with one set of options on all ranks.");
}

TEST_CASE("Agreement: one text that goes on where the other ends") {
  if (ranks_of() == 1) return;
  AllReduce<Mpi> communication = MPI_COMM_WORLD;
  Agreement mine;
  mine.add("colour", "blue");
  if (rank_of() != 0) mine.add("place", "here");
  CHECK(sentence_of([&] {
          agree(Space{}, communication, "Test", mine);
        }).find("got \"nothing more\" on rank 0 and \"place: here\" on rank 1.") !=
        std::string::npos);
}

TEST_CASE("Agreement: a long value is cut, and still differs by what was cut off") {
  std::string const same(500, 'x');
  Agreement one, other, third;
  one.add("layers", same + "a");
  other.add("layers", same + "b");
  third.add("layers", same + "a");
  CHECK(one.text() != other.text());
  CHECK(one.text() == third.text());
  CHECK(one.text().size() < 2 * Agreement::longest_value);
  // FNV-1a's published values for "" and "a".
  CHECK(Agreement::hash("") == "cbf29ce484222325");
  CHECK(Agreement::hash("a") == "af63dc4c8601ec8c");
  std::string const refused = sentence_of([&] {
    for (int k = 0; k < 40; ++k) one.add("line", same);
  });
  CHECK(refused.starts_with("Agreement: expected at most 2032 bytes of what ranks agree on, got"));
}
