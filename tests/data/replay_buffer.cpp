// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Samples of a running simulation: which are kept, which are drawn, and the same bits after a
// resume.

#include <phyllo/data/replay_buffer.hpp>
#include <phyllo/io/safetensors.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Images = Kokkos::View<float***, Kokkos::LayoutRight>;
using Labels = Kokkos::View<int*, Kokkos::LayoutRight>;
using Buffer = ReplayBuffer<Images, Labels>;

// Sample k has label k, and numbers from which its label and place follow.
double number(long k, long i, long j) { return 100 * double(k) + 10 * double(i) + double(j); }

// Samples [first, first + count), in another layout and element type than the buffer's.
void push(Buffer& buffer, long first, long count) {
  Kokkos::View<double***, Kokkos::LayoutLeft, Kokkos::HostSpace> const all(
      "all", std::size_t(count), 4, 3);
  Kokkos::View<long long*, Kokkos::HostSpace> const labels("labels", std::size_t(count));
  for (long k = 0; k < count; ++k) {
    labels(k) = first + k;
    for (long i = 0; i < 4; ++i)
      for (long j = 0; j < 3; ++j) all(k, i, j) = number(first + k, i - 1, j);
  }
  // A part, so that samples are not contiguous.
  buffer.push(Kokkos::subview(all, Kokkos::ALL, std::pair(1, 3), Kokkos::ALL), labels);
}

// Labels in the slots; the numbers of each must be its own.
std::vector<int> contents(Buffer const& buffer) {
  TensorFile file;
  buffer.save(file);
  StoredTensor const& labels = *file.find("replay.targets");
  StoredTensor const& images = *file.find("replay.inputs");
  std::vector<int> kept(labels.bytes.size() / sizeof(int));
  std::vector<float> numbers(images.bytes.size() / sizeof(float));
  REQUIRE(numbers.size() == 6 * kept.size());
  std::memcpy(kept.data(), labels.bytes.data(), labels.bytes.size());
  std::memcpy(numbers.data(), images.bytes.data(), images.bytes.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    long const i = long(n / 3 % 2), j = long(n % 3);
    CHECK(numbers[n] == float(number(kept[n / 6], i, j)));
  }
  return kept;
}

std::vector<int> draw(Buffer& buffer) {
  auto const& batch = buffer.draw();
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.inputs);
  auto const t = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.targets);
  std::vector<int> labels;
  for (std::size_t n = 0; n < t.extent(0); ++n) {
    labels.push_back(t(n));
    CHECK(x(n, 1, 2) == float(number(t(n), 1, 2)));
  }
  return labels;
}

template <class Call> std::string sentence(Call const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("replay buffer: the last samples are kept, however they are divided into pushes") {
  for (std::vector<long> const& pushes :
       std::vector<std::vector<long>>{{3, 2}, {5, 2, 0, 3}, {23}, {1, 22, 7}, {10, 10, 10}}) {
    Buffer buffer(Space{}, {.capacity = 10, .batch = 4}, {2, 3}, {});
    std::vector<int> expected;
    long pushed = 0;
    for (long const count : pushes) {
      push(buffer, pushed, count);
      for (long k = pushed; k < pushed + count; ++k) {
        if (k < 10) expected.push_back(0);
        expected[std::size_t(k % 10)] = int(k);
      }
      pushed += count;
    }
    CHECK(buffer.pushed() == pushed);
    CHECK(buffer.size() == long(expected.size()));
    CHECK(contents(buffer) == expected);
  }
}

TEST_CASE("replay buffer: a reservoir keeps each sample with the same probability") {
  constexpr int trials = 400, samples = 60, capacity = 12;
  std::vector<int> kept(samples, 0);
  for (int seed = 0; seed < trials; ++seed) {
    ReplayOptions const options{.capacity = capacity,
                                .batch = 4,
                                .seed = std::uint64_t(seed),
                                .replacement = Replacement::reservoir};
    Buffer whole(Space{}, options, {2, 3}, {}), parts(Space{}, options, {2, 3}, {});
    push(whole, 0, samples);
    for (long first = 0; first < samples; first += 20) push(parts, first, 20);
    auto const labels = contents(whole);
    CHECK(contents(parts) == labels);
    for (int const k : labels) ++kept[std::size_t(k)];
  }
  // Each count is binomial with mean 80 and deviation 8. The sum of squared deviations has
  // chi-squared's distribution with about 59 degrees of freedom: mean 59, deviation 11.
  double const p = double(capacity) / samples;
  double sum = 0;
  for (int const count : kept)
    sum += (count - p * trials) * (count - p * trials) / (p * (1 - p) * trials);
  CHECK(sum > 59 - 4 * 11);
  CHECK(sum < 59 + 4 * 11);
}

TEST_CASE("replay buffer: draws are uniform, and differ between steps, seeds and ranks") {
  auto const filled = [](ReplayOptions const& options) {
    Buffer buffer(Space{}, options, {2, 3}, {});
    push(buffer, 0, 15);  // of 20 slots
    return buffer;
  };
  Buffer buffer = filled({.capacity = 20, .batch = 1500, .seed = 3});
  auto const first = draw(buffer), second = draw(buffer);
  CHECK(buffer.draws() == 2);
  std::vector<int> count(15, 0);
  for (int const k : first) ++count[std::size_t(k)];
  double sum = 0;  // chi-squared with 14 degrees of freedom: mean 14, deviation 5.3
  for (int const c : count) sum += (c - 100) * (c - 100) / 100.0;
  CHECK(sum < 14 + 4 * 5.3);
  CHECK(first != second);
  Buffer seed = filled({.capacity = 20, .batch = 1500, .seed = 4});
  Buffer rank = filled({.capacity = 20, .batch = 1500, .seed = 3, .rank = 1});
  Buffer same = filled({.capacity = 20, .batch = 1500, .seed = 3});
  CHECK(draw(seed) != first);
  CHECK(draw(rank) != first);
  CHECK(draw(same) == first);
}

TEST_CASE("replay buffer: pushes and draws go on with the same bits from a file") {
  for (Replacement const replacement : {Replacement::oldest, Replacement::reservoir})
    for (long const before : {7L, 50L}) {  // partly filled, and full
      ReplayOptions const options{
          .capacity = 20, .batch = 9, .seed = 5, .replacement = replacement};
      Buffer one(Space{}, options, {2, 3}, {}), other(Space{}, options, {2, 3}, {});
      push(one, 0, before);
      draw(one);
      TensorFile file;
      one.save(file);
      push(other, 1000, 33);  // forgotten
      other.load(parse_safetensors(serialize_safetensors(file)));
      for (int step = 0; step < 3; ++step) {
        push(one, before + 30 * step, 30);
        push(other, before + 30 * step, 30);
        CHECK(draw(one) == draw(other));
      }
      CHECK(contents(one) == contents(other));
    }
}

TEST_CASE("replay buffer: its memory, and what it refuses") {
  ReplayOptions const options{.capacity = 20, .batch = 9};
  Buffer buffer(Space{}, options, {2, 3}, {});
  CHECK(buffer.bytes() == 29 * (6 * 4 + 4) + 20 * 8);
  CHECK(sentence([&] { buffer.draw(); }) ==
        "ReplayBuffer: expected samples to draw from, got none. Call push first.");
  push(buffer, 0, 30);
  CHECK(buffer.bytes() == 29 * (6 * 4 + 4) + 20 * 8 + 30 * 8);
  Labels const labels("labels", 5);
  CHECK(
      sentence([&] { buffer.push(Images("x", 5, 2, 4), labels); }) ==
      "ReplayBuffer: expected inputs of extents [5,2,3], got [5,2,4]. Push Views with the extents "
      "of the constructor.");
  CHECK(sentence([&] {
          buffer.push(Images("x", 6, 2, 3), labels);
        }).find("targets of extents [6]") != std::string::npos);
  using Bytes = Kokkos::View<unsigned char*, Kokkos::LayoutRight>;
  Kokkos::View<long long*, Kokkos::HostSpace> const large("large", 5);
  Kokkos::View<int*, Kokkos::HostSpace> const negative("negative", 5);
  large(1) = 1LL << 32;
  large(4) = -3'000'000'000;
  negative(2) = -1;
  auto const before = contents(buffer);
  CHECK(sentence([&] { buffer.push(Images("x", 5, 2, 3), large); }) ==
        "ReplayBuffer: expected targets that are i32, got 2 integers that do not fit. Use wider "
        "integers for the batches.");
  CHECK(contents(buffer) == before);
  ReplayBuffer<Images, Bytes> bytes(Space{}, options, {2, 3}, {});
  CHECK(sentence([&] {
          bytes.push(Images("x", 5, 2, 3), negative);
        }).find("targets that are u8, got 1 integers") != std::string::npos);
  negative(2) = 255;
  bytes.push(Images("x", 5, 2, 3), negative);
  CHECK(bytes.pushed() == 5);
  CHECK(buffer.pushed() == 30);
  CHECK(sentence([] { Buffer(Space{}, {}, {2, 3}, {}); }).find("capacity") != std::string::npos);
  CHECK(sentence([&] { Buffer(Space{}, options, {2}, {}); }).find("2 positive extents") !=
        std::string::npos);
  CHECK(sentence([&] { Buffer(Space{}, options, {2, 0}, {}); }).find("got [2,0]") !=
        std::string::npos);

  TensorFile file;
  buffer.save(file);
  auto const kept = contents(buffer);
  Buffer smaller(Space{}, {.capacity = 19, .batch = 9}, {2, 3}, {});
  CHECK(sentence([&] { smaller.load(file); }).find("expected capacity 20 as in the file, got 19") !=
        std::string::npos);
  Buffer wider(Space{}, options, {2, 4}, {});
  CHECK(sentence([&] { wider.load(file); }).find("\"replay.inputs\" of f32 [20,2,4]") !=
        std::string::npos);
  CHECK(sentence([&] { buffer.load(file, "other"); }).find("\"other.counters\"") !=
        std::string::npos);
  CHECK(contents(buffer) == kept);
}
