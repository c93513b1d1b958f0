// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The policy alone, without MPI: over a transport that writes down what it is asked for.

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/phyllo.hpp>
#include <phyllo/train/buckets.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

struct Call {
  std::string operation;
  void const* data = nullptr;
  long count = 0;
  bool operator==(Call const&) const = default;
};

// Rank 3 of 5.
class Recorder {
 public:
  static constexpr char const* name = "Recorder";
  explicit Recorder(std::vector<Call>& calls, int rank = 3) : calls_(&calls), rank_(rank) {}
  int rank() const { return rank_; }
  int size() const { return 5; }
  template <class Space> void reserve(Space const&, long bytes, long transfers) {
    calls_->push_back({"reserve " + std::to_string(transfers), nullptr, bytes});
  }
  template <class Space, class T> void sum(Space const&, T* data, long count) {
    calls_->push_back({"sum", data, count});
  }
  template <class Space, class T> void begin(Space const&, T* data, long count) {
    calls_->push_back({"begin", data, count});
  }
  template <class Space> void finish(Space const&) { calls_->push_back({"finish"}); }
  void progress() { calls_->push_back({"progress"}); }
  long exclusive_sum(long count) { return 3 * count; }

 private:
  std::vector<Call>* calls_;
  int rank_;
};

static_assert(phyllo::Transport<Recorder>);
static_assert(!phyllo::Transport<phyllo::Local>);  // reserve differs
static_assert(phyllo::Communication<phyllo::AllReduce<Recorder>>);
static_assert(phyllo::AllReduce<Recorder>::bucket_bytes == phyllo::default_bucket_bytes);
static_assert(phyllo::AllReduce<Recorder, 8>::bucket_bytes == 8);
static_assert(std::convertible_to<std::vector<Call>&, phyllo::AllReduce<Recorder>>);
static_assert(!std::constructible_from<phyllo::AllReduce<Recorder>, int>);

}  // namespace

TEST_CASE("AllReduce: is named after its transport") {
  CHECK(std::string(phyllo::AllReduce<Recorder>::name) == "AllReduce<Recorder>");
  CHECK(std::string(phyllo::AllReduce<Recorder, 0>::name) == "AllReduce<Recorder>");
}

TEST_CASE("AllReduce: every call reaches the transport, with the caller's data") {
  std::vector<Call> calls;
  phyllo::AllReduce<Recorder> communication = calls;
  Kokkos::DefaultExecutionSpace const exec;
  float single = 0;
  double twofold = 0;
  CHECK(communication.rank() == 3);
  CHECK(communication.size() == 5);
  CHECK(communication.exclusive_sum(7) == 21);
  communication.begin(exec, &single, 1);
  communication.sum(exec, &twofold, 1);
  communication.begin(exec, &twofold, 0);
  communication.progress();
  communication.finish(exec);
  std::vector<Call> const expected{{"begin", &single, 1},
                                   {"sum", &twofold, 1},
                                   {"begin", &twofold, 0},
                                   {"progress"},
                                   {"finish"}};
  CHECK(calls == expected);
}

TEST_CASE("AllReduce: asks for as many transfers as buckets can be under way") {
  std::vector<Call> calls;
  Kokkos::DefaultExecutionSpace const exec;
  phyllo::AllReduce<Recorder, 100> hundreds(calls);
  hundreds.reserve(exec, 99);
  hundreds.reserve(exec, 100);
  hundreds.reserve(exec, 1001);
  phyllo::AllReduce<Recorder, 0> one(calls);
  one.reserve(exec, 1L << 40);
  CHECK(calls[0] == Call{"reserve 1", nullptr, 99});
  CHECK(calls[1] == Call{"reserve 2", nullptr, 100});
  CHECK(calls[2] == Call{"reserve 11", nullptr, 1001});
  CHECK(calls[3] == Call{"reserve 1", nullptr, 1L << 40});
}

TEST_CASE("AllReduce: the only bucket of a network is summed at once") {
  struct Net : phyllo::Network<phyllo::Input<4>, phyllo::Linear<4>, phyllo::Linear<4>> {};
  std::vector<Call> calls;
  Kokkos::DefaultExecutionSpace const exec;
  phyllo::AllReduce<Recorder> communication(calls);
  float data[64] = {};
  using One = phyllo::Buckets<Net, 0, 4>;
  using Two = phyllo::Buckets<Net, 64, 4>;
  static_assert(One::count == 1 && Two::count == 2);
  phyllo::BucketSender<One, decltype(exec), float, decltype(communication)> one{exec, data, 64,
                                                                                communication};
  one(Two::table.begin[0]);
  one(0);
  phyllo::BucketSender<Two, decltype(exec), float, decltype(communication)> two{exec, data, 64,
                                                                                communication};
  two(Two::table.begin[0]);
  two(0);
  long const first = Two::table.begin[0];
  std::vector<Call> const expected{
      {"progress"}, {"sum", data, 64}, {"begin", data + first, 64 - first}, {"begin", data, first}};
  CHECK(calls == expected);
}

TEST_CASE("AllReduce: takes all arguments of its transport, or the transport itself") {
  std::vector<Call> calls;
  CHECK(phyllo::AllReduce<Recorder>(calls, 1).rank() == 1);
  CHECK(phyllo::AllReduce<Recorder>(Recorder(calls, 2)).rank() == 2);
  phyllo::AllReduce<Recorder> first(calls, 4);
  phyllo::AllReduce<Recorder> const second = first;
  CHECK(second.rank() == 4);
}
