// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Augmented batches against loops over the same random numbers, on any number of ranks and after a
// seek; batches that kernels read from copies.

#include <phyllo/data/augmentations.hpp>
#include <phyllo/data/batches.hpp>
#include <phyllo/data/view_source.hpp>

#include <doctest/doctest.h>
#include <sentence_of.hpp>

#include <cmath>
#include <map>
#include <thread>
#include <vector>

using namespace phyllo;
using phyllo::test::sentence_of;

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Images = Kokkos::View<float****, Kokkos::LayoutRight>;
using Labels = Kokkos::View<int*, Kokkos::LayoutLeft>;  // as a device has it
using ImageBatches = Batches<Images, Labels>;
using Copied = Batches<Images, Labels, Space, true>;

constexpr int channels = 2, height = 3, width = 5, elements = channels * height * width;

// Image n has the numbers 1000 n + 1, 1000 n + 2, ... and label n.
ViewSource numbered(int samples) {
  Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", std::size_t(samples),
                                                                    channels, height, width);
  Kokkos::View<int*, Kokkos::HostSpace> t("t", std::size_t(samples));
  for (int n = 0; n < samples; ++n) {
    for (int i = 0; i < elements; ++i) x.data()[n * elements + i] = float(1000 * n + i + 1);
    t(n) = n;
  }
  return ViewSource(x, t);
}

using Image = std::vector<float>;

Image original(int label) {
  Image image;
  for (int i = 0; i < elements; ++i) image.push_back(float(1000 * label + i + 1));
  return image;
}

// All images of epochs, by {step since the first epoch, label}, and the labels in order.
struct Seen {
  std::map<std::pair<long, int>, Image> images;
  std::map<long, std::vector<int>> order;
  bool operator==(Seen const&) const = default;
};

template <class B> void add(Seen& seen, B const& batch, long steps) {
  Kokkos::fence();
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.inputs);
  auto const t = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, batch.targets);
  long const step = long(batch.position.epoch) * steps + batch.position.step;
  for (std::size_t n = 0; n < x.extent(0); ++n) {
    float const* const from = x.data() + n * elements;
    seen.images[{step, t(n)}] = Image(from, from + elements);
    seen.order[step].push_back(t(n));
  }
}

constexpr BatchOptions options{.batch = 30, .seed = 4, .lanes = 6, .prefetch = 2};

template <class B, class... Augmentations>
Seen seen_of(int samples, int epochs, int ranks, Augmentations const&... augmentations) {
  Seen seen;
  for (int rank = 0; rank < ranks; ++rank) {
    B batches(Space{}, numbered(samples), options, rank, ranks);
    (batches.augment(augmentations), ...);
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (auto const& batch : batches.epoch(std::uint64_t(epoch)))
        add(seen, batch, batches.steps());
  }
  return seen;
}

Image flipped(Image image) {
  for (int row = 0; row < channels * height; ++row)
    std::reverse(image.begin() + row * width, image.begin() + (row + 1) * width);
  return image;
}
Image moved(Image const& image, int down, int right) {
  Image to(image.size(), 0.0f);
  for (int c = 0; c < channels; ++c)
    for (int h = 0; h < height; ++h)
      for (int w = 0; w < width; ++w)
        if (h - down >= 0 && h - down < height && w - right >= 0 && w - right < width)
          to[std::size_t((c * height + h) * width + w)] =
              image[std::size_t((c * height + h - down) * width + w - right)];
  return to;
}

}  // namespace

TEST_CASE("augmentations: about half of the samples are reversed, others in each epoch") {
  Seen const seen = seen_of<ImageBatches>(300, 4, 1, RandomFlip{});
  long reversed = 0, changes = 0;
  for (auto const& [key, image] : seen.images) {
    bool const is_reversed = image == flipped(original(key.second));
    CHECK((is_reversed || image == original(key.second)));
    reversed += is_reversed;
  }
  CHECK(seen.images.size() == 1200);
  CHECK(reversed > 520);  // the deviation is 17
  CHECK(reversed < 680);
  for (auto const& [key, image] : seen.images)
    for (auto const& [other, second] : seen.images)
      if (key.second == other.second && key.first < other.first) changes += image != second;
  CHECK(changes > 700);  // of 1800, each with a chance of a half
  CHECK(changes < 1100);
}

TEST_CASE("augmentations: images move by all distances equally often, and zeros come in") {
  Seen const seen = seen_of<ImageBatches>(600, 2, 1, RandomCrop{.padding = 1});
  std::map<std::pair<int, int>, int> counts;
  for (auto const& [key, image] : seen.images)
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right)
        counts[{down, right}] += image == moved(original(key.second), down, right);
  int all = 0;
  for (auto const& [distance, count] : counts) {
    CHECK(count > 80);  // of a mean of 133 and a deviation of 11
    CHECK(count < 190);
    all += count;
  }
  CHECK(all == 1200);
  // By more than the image, too: nothing outside is read or written.
  for (auto const& [key, image] :
       seen_of<ImageBatches>(60, 1, 1, RandomCrop{.padding = 9}).images) {
    bool found = false;
    for (int down = -9; down <= 9; ++down)
      for (int right = -9; right <= 9; ++right)
        found = found || image == moved(original(key.second), down, right);
    CHECK(found);
  }
}

TEST_CASE("augmentations: noise has the mean and the deviation that were asked for") {
  Seen const seen = seen_of<ImageBatches>(300, 4, 1, GaussianNoise{0.5f});
  double sum = 0, squares = 0, fourth = 0, neighbours = 0, before = 0;
  long count = 0;
  for (auto const& [key, image] : seen.images)
    for (std::size_t i = 0; i < image.size(); ++i) {
      if (key.second > 15) continue;  // float has the digits of the noise for the first images
      double const noise = double(image[i]) - double(original(key.second)[i]);
      sum += noise;
      squares += noise * noise;
      fourth += noise * noise * noise * noise;
      neighbours += noise * before;
      before = noise;
      ++count;
    }
  double const n = double(count), variance = squares / n;
  CHECK(count == 16 * 4 * elements);
  CHECK(std::abs(sum / n) < 4 * 0.5 / std::sqrt(n));
  CHECK(variance == doctest::Approx(0.25).epsilon(0.15));
  CHECK(fourth / n / (variance * variance) == doctest::Approx(3).epsilon(0.2));
  CHECK(std::abs(neighbours / n) < 4 * 0.25 / std::sqrt(n));
}

TEST_CASE("augmentations: the same on any number of ranks, from copies, and after a seek") {
  auto const with = [](auto& batches) {
    batches.augment(RandomCrop{});
    batches.augment(RandomFlip{});
    batches.augment(RandomFlip{});
    batches.augment(GaussianNoise{});
  };
  Seen const one =
      seen_of<ImageBatches>(100, 3, 1, RandomCrop{}, RandomFlip{}, RandomFlip{}, GaussianNoise{});
  for (int const ranks : {2, 3})
    CHECK((seen_of<ImageBatches>(100, 3, ranks, RandomCrop{}, RandomFlip{}, RandomFlip{},
                                 GaussianNoise{}) == one));
  CHECK((seen_of<Copied>(100, 3, 2, RandomCrop{}, RandomFlip{}, RandomFlip{}, GaussianNoise{}) ==
         one));
  // Two of one kind draw their own numbers, else the second would undo the first.
  CHECK(!(seen_of<ImageBatches>(100, 3, 1, RandomFlip{}, RandomFlip{}) ==
          seen_of<ImageBatches>(100, 3, 1)));
  ImageBatches batches(Space{}, numbered(100), options);
  with(batches);
  batches.seek({1, 2});
  Seen rest;
  for (auto const& batch : batches.epoch(1)) add(rest, batch, batches.steps());
  CHECK(rest.images.size() == 40);
  for (auto const& [key, image] : rest.images) CHECK((image == one.images.at(key)));
}

TEST_CASE("augmentations: options out of their range are refused") {
  ImageBatches batches(Space{}, numbered(60), options);
  CHECK(sentence_of([&] { batches.augment(RandomCrop{.padding = -2}); }) ==
        "RandomCrop: expected a padding from 0 to 2^20 elements, got -2. Set RandomCrop::padding.");
  for (float const probability : {-0.1f, 50.0f, NAN})
    CHECK(sentence_of([&] {
            batches.augment(RandomFlip{.probability = probability});
          }).find("RandomFlip: expected a probability from 0 to 1, got ") == 0);
  for (float const deviation : {-0.1f, INFINITY, NAN})
    CHECK(sentence_of([&] {
            batches.augment(GaussianNoise{.deviation = deviation});
          }).find("GaussianNoise: expected a finite deviation of 0 or more, got ") == 0);
  // One that another one calls.
  batches.augment([](auto const& exec, auto const& batch, AugmentationDraw const& draw) {
    RandomFlip{.probability = 2}(exec, batch, draw);
  });
  CHECK(sentence_of([&] { batches.next(); }).find("got 2.0") != std::string::npos);
}

TEST_CASE("batches: kernels that read copies see the batches of those that do not") {
  for (int const prefetch : {0, 1, 4})
    for (bool const waits : {false, true}) {
      CAPTURE(prefetch);
      BatchOptions with = options;
      with.prefetch = prefetch;
      ImageBatches plain(Space{}, numbered(100), with);
      Copied copied(Space{}, numbered(100), with);
      auto const check = [&] {
        CHECK(copied.position() == plain.position());
        if (waits) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a batch is ready
        auto const& a = plain.next();
        auto const& b = copied.next();
        CHECK(a.position == b.position);
        CHECK(a.inputs.data() != b.inputs.data());
        Seen x, y;
        add(x, a, plain.steps());
        add(y, b, copied.steps());
        CHECK((x == y));
      };
      for (int k = 0; k < 9; ++k) check();
      for (Position const& to :
           {Position{0, 3}, Position{5, 1}, copied.position(), Position{5, 2}}) {
        plain.seek(to);
        copied.seek(to);
        for (int k = 0; k < 3; ++k) check();
      }
    }
}
