// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Batches of a source: every sample once an epoch, an order that ranks do not change, contiguous
// reads, bounded memory, positions, and a reader thread.

#include <data/bytes_read.hpp>
#include <data/npy_text.hpp>
#include <phyllo/core/bf16.hpp>
#include <phyllo/data/batches.hpp>
#include <phyllo/data/npy_source.hpp>
#include <phyllo/data/view_source.hpp>
#include <phyllo/policy/determinism.hpp>

#include <doctest/doctest.h>
#include <sentence_of.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace phyllo;
using phyllo::test::sentence_of;

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Numbers = Kokkos::View<std::int64_t*, Kokkos::LayoutRight>;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight>;

// What the test knows about reads.
struct Log {
  std::atomic<long> samples{0}, reads{0};
  std::atomic<long> fails_at{-1};  // a sample
  std::atomic<int> microseconds{0};
};

// The whole source of a caller: two arrays, the number of the sample and its double.
struct Counting {
  long count = 0, together = 1;
  Log* log = nullptr;

  long samples() const { return count; }
  long block() const { return together; }
  std::vector<SampleArray> arrays() const {
    return {{"number", ElementType::i64, {}}, {"double", ElementType::f32, {2}}};
  }
  void read(long first, long n, std::byte* const* to) const {
    log->samples += n;
    ++log->reads;
    if (log->microseconds > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(log->microseconds * n));
    for (long i = 0; i < n; ++i) {
      std::int64_t const number = first + i;
      float const row[2] = {float(number), float(2 * number)};
      if (number == log->fails_at)
        throw Error("Counting: sample " + std::to_string(number) + " is gone. Restore it.");
      std::memcpy(to[0] + i * 8, &number, 8);
      std::memcpy(to[1] + i * 8, row, 8);
    }
  }
};
static_assert(SampleSource<Counting>);
using Counted = Batches<Numbers, Rows>;

std::vector<long> numbers_of(Counted::BatchType const& batch) {
  Kokkos::fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.inputs);
  auto const rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.targets);
  REQUIRE(long(host.extent(0)) == batch.samples);
  REQUIRE(rows.extent(0) == host.extent(0));
  std::vector<long> numbers;
  for (std::size_t n = 0; n < host.extent(0); ++n) {
    numbers.push_back(host(n));
    CHECK(rows(n, 0) == float(host(n)));
    CHECK(rows(n, 1) == float(2 * host(n)));
  }
  return numbers;
}

// The order of an epoch, batch by batch, put together from the parts of all ranks.
std::vector<std::vector<long>> order_of(Counting const& source, BatchOptions const& options,
                                        int ranks, std::uint64_t epoch) {
  std::vector<std::vector<long>> order;
  for (int rank = 0; rank < ranks; ++rank) {
    Counted batches(Space{}, source, options, rank, ranks);
    order.resize(std::size_t(batches.steps()));
    for (auto const& batch : batches.epoch(epoch)) {
      auto const part = numbers_of(batch);
      CHECK(long(part.size()) <= batches.largest_part());
      CHECK(batch.position.epoch == epoch);
      auto& whole = order[std::size_t(batch.position.step)];
      whole.insert(whole.end(), part.begin(), part.end());
    }
  }
  return order;
}

std::vector<long> all_of(std::vector<std::vector<long>> const& order) {
  std::vector<long> all;
  for (auto const& batch : order) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

bool has_each_once(std::vector<long> all, long samples) {
  std::sort(all.begin(), all.end());
  for (long i = 0; i < long(all.size()); ++i)
    if (all[std::size_t(i)] != i) return false;
  return long(all.size()) == samples;
}

}  // namespace

TEST_CASE("batches: every sample once an epoch, in an order that ranks do not change") {
  Log log;
  for (long const samples : {1L, 7L, 100L, 1000L})
    for (long const batch : {1L, 24L, 37L, 2000L})
      for (long const block : {1L, 9L})
        for (long const window : {0L, 40L}) {
          if (samples == 1000 && batch == 1) continue;
          CAPTURE(samples);
          CAPTURE(batch);
          CAPTURE(block);
          CAPTURE(window);
          Counting const source{samples, block, &log};
          BatchOptions const options{.batch = batch, .seed = 7, .lanes = 12, .window = window};
          auto const one = order_of(source, options, 1, 3);
          CHECK(has_each_once(all_of(one), samples));
          for (std::size_t k = 0; k + 1 < one.size(); ++k) CHECK(long(one[k].size()) == batch);
          for (int const ranks : {2, 3, 8}) CHECK(order_of(source, options, ranks, 3) == one);
          if (samples >= 100) {
            CHECK(order_of(source, options, 1, 4) != one);
            auto other = options;
            other.seed = 8;
            CHECK(order_of(source, other, 1, 3) != one);
          }
        }
}

TEST_CASE("batches: parts are those of reproducible_range where lanes are shards") {
  Log log;
  BatchOptions const options{.batch = 37, .lanes = 12};
  for (int const ranks : {1, 2, 5, 12})
    for (int rank = 0; rank < ranks; ++rank)
      for (bool const shuffle : {true, false}) {
        auto same = options;
        same.shuffle = shuffle;
        Counted batches(Space{}, Counting{100, 1, &log}, same, rank, ranks);
        for (auto const& batch : batches.epoch(0)) {
          long const count = batch.position.step < 2 ? 37 : 26;
          auto const [first, last] = reproducible_range(count, rank, ranks);
          CHECK(batch.samples == last - first);
        }
      }
}

TEST_CASE("batches: without shuffle in the order of the source; the last batch by its rule") {
  Log log;
  BatchOptions options{.batch = 30, .shuffle = false, .lanes = 7};
  Counting const source{100, 8, &log};
  auto const all = all_of(order_of(source, options, 3, 5));
  CHECK(all.size() == 100);
  CHECK(std::is_sorted(all.begin(), all.end()));
  options.last_batch = LastBatch::left_out;
  CHECK(all_of(order_of(source, options, 2, 0)).size() == 90);
  options.shuffle = true;
  std::set<long> seen;
  for (std::uint64_t epoch = 0; epoch < 30; ++epoch) {
    auto const part = all_of(order_of(source, options, 1, epoch));
    CHECK(std::set<long>(part.begin(), part.end()).size() == 90);
    seen.insert(part.begin(), part.end());
  }
  CHECK(seen.size() == 100);
}

TEST_CASE("batches: a rank without samples has room for one, as a trainer requires") {
  Log log;
  long samples = 0;
  for (int rank = 0; rank < 3; ++rank) {
    Batches<Numbers, Rows> batches(Space{}, Counting{1, 1, &log}, {.batch = 20}, rank, 3);
    CHECK(batches.largest_part() == 1);
    samples += batches.next().samples;
  }
  CHECK(samples == 1);
}

TEST_CASE("batches: without blocks and windows the first place of each sample is uniform") {
  Log log;
  constexpr long samples = 20, epochs = 4000;
  std::vector<long> first(samples, 0);
  long neighbours = 0;
  Counted batches(Space{}, Counting{samples, 1, &log}, {.batch = 5, .seed = 1, .lanes = 1});
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    auto const numbers = numbers_of(batches.next());
    ++first[std::size_t(numbers[0])];
    neighbours += numbers[1] == numbers[0] + 1;
    batches.seek({epoch + 1, 0});
  }
  double chi = 0;
  for (long const count : first) chi += std::pow(double(count) - 200.0, 2) / 200.0;
  CHECK(chi < 43.8);  // 19 degrees of freedom, 0.1 %
  // 19 of 380 pairs are of neighbours.
  CHECK(std::abs(double(neighbours) - 200) < 4 * std::sqrt(200 * 0.95));
}

TEST_CASE("batches: reads are contiguous, each sample is read once, windows keep to the budget") {
  Log log;
  constexpr long samples = 40000, block = 500;
  BatchOptions options{
      .batch = 256, .seed = 3, .lanes = 8, .window = 0, .block = block, .host_bytes = 16000 * 20};
  for (int const ranks : {1, 2, 8}) {
    log.samples = log.reads = 0;
    std::vector<std::unique_ptr<Counted>> all;
    long windows = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(
          std::make_unique<Counted>(Space{}, Counting{samples, block, &log}, options, rank, ranks));
      windows += all.back()->host_bytes();
      windows -= 2 * (all.back()->largest_part() * 16 + 128) + 64;  // two batches
    }
    CHECK(windows <= options.host_bytes);
    CHECK(windows > options.host_bytes / 2);
    std::vector<long> order;
    for (auto& batches : all)
      for (auto const& batch : batches->epoch(1)) {
        auto const part = numbers_of(batch);
        order.insert(order.end(), part.begin(), part.end());
      }
    CHECK(has_each_once(order, samples));
    CHECK(log.samples == samples);
    // 80 blocks; each window and each lane may cut one more.
    CHECK(log.reads < 3 * samples / block);
  }
  options.window = 20000;
  CHECK(sentence_of(
            [&] { Counted const batches(Space{}, Counting{samples, block, &log}, options); }) ==
        "Batches: expected windows of at most 320000 bytes, got 720000 for 2500 samples in each of "
        "8 lanes. Use a smaller window, fewer lanes or more BatchOptions::host_bytes.");
}

TEST_CASE("batches: a position is enough to go on, on other ranks too, with and without a thread") {
  Log log;
  Counting const source{1000, 16, &log};
  BatchOptions options{.batch = 64, .seed = 9, .lanes = 6, .window = 300};
  auto const whole = order_of(source, options, 1, 2);
  for (int const prefetch : {0, 3})
    for (int const ranks : {1, 2})
      for (long const step : {0L, 1L, 7L, 15L}) {
        options.prefetch = prefetch;
        std::vector<std::vector<long>> rest(whole.begin(), whole.begin() + step);
        rest.resize(whole.size());
        for (int rank = 0; rank < ranks; ++rank) {
          Counted batches(Space{}, source, options, rank, ranks);
          batches.next();  // elsewhere
          batches.seek({2, step});
          CHECK(batches.position() == Position{2, step});
          for (auto const& batch : batches.epoch(2)) {
            auto const part = numbers_of(batch);
            auto& to = rest[std::size_t(batch.position.step)];
            to.insert(to.end(), part.begin(), part.end());
          }
          CHECK(batches.position() == Position{3, 0});
        }
        CHECK(rest == whole);
      }
  Counted batches(Space{}, source, options);
  CHECK(sentence_of([&] { batches.seek({0, 16}); }) ==
        "Batches: expected a step from 0 to 15, got 16.");
}

TEST_CASE("batches: an error of the source comes at its batch, is the source's, and is not final") {
  Log log;
  for (int const prefetch : {0, 1, 4}) {
    BatchOptions const options{.batch = 10, .shuffle = false, .lanes = 1, .prefetch = prefetch};
    Counted batches(Space{}, Counting{100, 1, &log}, options);
    log.fails_at = 35;
    for (int k = 0; k < 3; ++k) CHECK(numbers_of(batches.next())[0] == 10 * k);
    for (int again = 0; again < 2; ++again)
      CHECK(sentence_of([&] { batches.next(); }) == "Counting: sample 35 is gone. Restore it.");
    log.fails_at = -1;
    CHECK(batches.position() == Position{0, 3});
    CHECK(numbers_of(batches.next())[5] == 35);
  }
}

TEST_CASE("batches: blocks are whole chunks of a source that has them") {
  Log log;
  for (long const chunk : {1L, 7L, 100L, 4000L}) {
    CAPTURE(chunk);
    BatchOptions const options{.batch = 64, .lanes = 4};
    BatchOrder const order(100'000, 10'000, 8, options, chunk);
    CHECK(order.block() % chunk == 0);
    CHECK(order.block() <= std::max(chunk, 100'000L / 64));
    CHECK(order.block() + chunk > 100'000 / 64);
    BatchOrder const large(100'000'000'000, 1, 8, options, chunk);
    CHECK(large.block() % chunk == 0);
    CHECK((large.samples() - 1) / large.block() < BatchOrder::most_blocks);
  }
  struct Chunked : Counting {
    long chunk() const { return 30; }
  };
  Counted batches(Space{}, Chunked{{3000, 300, &log}}, {.batch = 50, .lanes = 10});
  CHECK(batches.order().block() == 30);
  std::vector<long> all;
  for (auto const& batch : batches.epoch(0))
    for (long const number : numbers_of(batch)) all.push_back(number);
  CHECK(has_each_once(all, 3000));
}

TEST_CASE("batches: an epoch of all ranks reads a file of numpy.save once") {
  if (phyllo_test::bytes_read() < 0) return;
  phyllo_test::TemporaryDirectory const folder;
  std::string const x = folder / "x.npy", y = folder / "y.npy";
  phyllo_test::set_contents(
      x, phyllo_test::npy_text("<f4", "(40000, 2)", std::string(40000 * 8, 'a')));
  for (bool const is_c_order : {true, false}) {
    std::string const header = std::string("{'descr': '<i8', 'fortran_order': ") +
                               (is_c_order ? "False" : "True") + ", 'shape': (40000, 3)}";
    phyllo_test::set_contents(
        y, phyllo_test::npy_with_header(header, std::string(40000 * 24, '\0'), 1));
    double const size = 40000 * 32;
    for (int const ranks : {1, 3}) {
      BatchOptions const options{.batch = 256, .seed = 1, .lanes = 12, .window = 3000};
      using Labels = Kokkos::View<std::int64_t**, Kokkos::LayoutRight>;
      std::vector<std::unique_ptr<Batches<Rows, Labels>>> all;
      for (int rank = 0; rank < ranks; ++rank)
        all.push_back(std::make_unique<Batches<Rows, Labels>>(Space{}, NpySource({x, y}), options,
                                                              rank, ranks));
      long const before = phyllo_test::bytes_read();
      long seen = 0;
      for (auto& batches : all)
        for (auto const& batch : batches->epoch(2)) seen += batch.samples;
      double const share = double(phyllo_test::bytes_read() - before) / size;
      CHECK(seen == 40000);
      CHECK(share >= 1);
      CHECK(share <= 1.05);
    }
  }
}

TEST_CASE("batches: the order of 10^9 samples takes less than 16 MB") {
  Log log;
  Counting const source{1'000'000'000, 4096, &log};
  Counted batches(Space{}, source, {.batch = 64, .seed = 1, .lanes = 64, .host_bytes = 1L << 20});
  CHECK(batches.order().block() == 4096);
  CHECK(batches.host_bytes() < (2L << 20));
  for (long const step : {0L, 7'812'500L, 15'624'999L}) {
    batches.seek({5, step});
    auto const numbers = numbers_of(batches.next());
    CHECK(std::set<long>(numbers.begin(), numbers.end()).size() == 64);
    CHECK(*std::max_element(numbers.begin(), numbers.end()) < 1'000'000'000);
  }
  // 4 bytes a block, and at most this many blocks, also without any in the source.
  CHECK(4 * BatchOrder::most_blocks <= 16L << 20);
  BatchOrder const finest(1'000'000'000, 1, 20, {.batch = 64});
  CHECK(finest.samples() / finest.block() <= BatchOrder::most_blocks);
}

TEST_CASE("batches: with a reader thread an epoch takes the time of reading or that of computing") {
  using Clock = std::chrono::steady_clock;
  Log log;
  log.microseconds = 50;
  auto const seconds = [&](int prefetch) {
    BatchOptions const options{
        .batch = 40, .lanes = 4, .window = 160, .block = 20, .prefetch = prefetch};
    Counted batches(Space{}, Counting{4000, 20, &log}, options);
    auto const start = Clock::now();
    for (auto const& batch : batches.epoch(0)) {
      static_cast<void>(batch);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the training step
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  double const alone = seconds(0), together = seconds(4);
  MESSAGE("without a thread ", alone, " s, with one ", together, " s; reading alone 0.2 s");
  CHECK(alone > 0.4);
  CHECK(together < 0.8 * alone);  // 0.25 to 0.3 s on an idle machine
}

TEST_CASE("batches: elements become those of the Views, and what does not fit is a sentence") {
  static_assert(detail::fits<std::int8_t>(std::uint16_t(127)) &&
                !detail::fits<std::int8_t>(std::uint16_t(128)) &&
                !detail::fits<std::int8_t>(std::int64_t(-129)) &&
                detail::fits<std::int64_t>(std::int64_t(-1)) &&
                !detail::fits<std::uint64_t>(std::int8_t(-1)) &&
                detail::fits<std::uint64_t>(std::uint64_t(-1)) &&
                !detail::fits<std::int64_t>(std::uint64_t{1} << 63));
  phyllo_test::TemporaryDirectory const folder;
  std::string const x = folder / "x.npy", y = folder / "y.npy";
  double const values[6] = {0.1, -1e30, 3, 4, 5, 1e-3};
  std::int64_t labels[3] = {2, 300, -1};
  auto const text = [](auto const& array) {
    return std::string_view(reinterpret_cast<char const*>(array), sizeof array);
  };
  phyllo_test::set_contents(x, phyllo_test::npy_text("<f8", "(3, 2)", text(values)));
  phyllo_test::set_contents(y, phyllo_test::npy_text("<i8", "(3,)", text(labels)));
  BatchOptions const options{.batch = 3, .shuffle = false};
  NpySource const source({x, y});
  using Labels = Kokkos::View<int*, Kokkos::LayoutRight>;
  {
    Batches<Rows, Labels> batches(Space{}, source, options);
    auto const& batch = batches.next();
    Kokkos::fence();
    auto const in = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.inputs);
    auto const out = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.targets);
    for (std::size_t i = 0; i < 6; ++i) CHECK(in(i / 2, i % 2) == float(values[i]));
    for (std::size_t i = 0; i < 3; ++i) CHECK(out(i) == int(labels[i]));
    CHECK(reinterpret_cast<std::uintptr_t>(batch.inputs.data()) % 64 == 0);
  }
  using Bytes = Kokkos::View<std::uint8_t*, Kokkos::LayoutRight>;
  Batches<Rows, Bytes> narrow(Space{}, source, options);
  CHECK(sentence_of([&] { narrow.next(); }) ==
        "Batches: \"" + y +
            "\": expected integers that fit into 1 bytes, got one that does not. Use a View of a "
            "wider type.");
  using Integers = Kokkos::View<int**, Kokkos::LayoutRight>;
  CHECK(sentence_of([&] { Batches<Integers, Labels> b(Space{}, source, options); }) ==
        "Batches: \"" + x +
            "\": expected elements that become i32, got f64. Use a View of another element type, "
            "or convert the source.");
  using Images = Kokkos::View<bf16****, Kokkos::LayoutRight>;
  CHECK(sentence_of([&] { Batches<Images, Labels> b(Space{}, source, options); }) ==
        "Batches: \"" + x +
            "\": expected samples with 3 extents as in the View, got extents [2]. Use a View of "
            "that rank.");
  CHECK(sentence_of([&] { Batches<Rows, Labels> b(Space{}, NpySource({x}), options); }) ==
        "Batches: expected a source with one array for each of the 2 Views of inputs and targets, "
        "got 1 arrays.");
  CHECK(sentence_of([&] { Batches<Rows, Labels> b(Space{}, source, options, 64, 65); }) ==
        "Batches: expected a rank below the number of ranks, and at least one lane for each of "
        "them, got rank 64 of 65 and 64 lanes. Set BatchOptions::lanes.");
}

TEST_CASE("batches: named Views, and Views in memory as the source") {
  struct wind;
  struct heat;
  Kokkos::View<double**, Kokkos::LayoutLeft> const x("x", 10, 3);
  Kokkos::View<float*> const y("y", 10), z("z", 10);
  auto const hx = Kokkos::create_mirror_view(x);
  auto const hy = Kokkos::create_mirror_view(y), hz = Kokkos::create_mirror_view(z);
  for (int n = 0; n < 10; ++n) {
    for (int i = 0; i < 3; ++i) hx(n, i) = 10 * n + i;
    hy(n) = float(n);
    hz(n) = float(-n);
  }
  Kokkos::deep_copy(x, hx);
  Kokkos::deep_copy(y, hy);
  Kokkos::deep_copy(z, hz);
  using Column = Kokkos::View<float*, Kokkos::LayoutRight>;
  using Targets = Tensors<Named<wind, Column>, Named<heat, Column>>;
  Batches<Rows, Targets> batches(Space{}, ViewSource(x, y, z), {.batch = 4, .seed = 2});
  std::set<float> seen;
  for (auto const& batch : batches.epoch(0)) {
    Kokkos::fence();
    auto const a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.inputs);
    auto const b =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.targets.first.view);
    auto const c =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.targets.rest.first.view);
    for (std::size_t n = 0; n < a.extent(0); ++n) {
      for (std::size_t i = 0; i < 3; ++i) CHECK(a(n, i) == 10 * b(n) + float(i));
      CHECK(c(n) == -b(n));
      seen.insert(b(n));
    }
  }
  CHECK(seen.size() == 10);
  Kokkos::View<float*> const shorter("shorter", 9);
  CHECK(sentence_of([&] { ViewSource const source(y, shorter); }) ==
        "ViewSource: expected 10 samples in View 1 (shorter) as in the first View, got 9.");
}
