// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <networks/lenet.hpp>
#include <networks/resnet.hpp>
#include <phyllo/network/check.hpp>

#include <type_traits>

using namespace phyllo;

// The verdict of a wrong program is only named here, never completed: it does not speak.
template <class... Parts> using VerdictOf = Verdict<Program<Parts...>>;

TEST_CASE("a correct program is accepted") {
  static_assert(std::is_same_v<Verdict<networks::LeNet::program>, detail::Accepted>);
  CHECK(std::is_same_v<Verdict<networks::ResNet18::program>, detail::Accepted>);
}

TEST_CASE("the first mistake is the one that speaks") {
  using Both = VerdictOf<Input<1, 8, 8>, Linear<3>, Conv2d<2, Stride<0>>>;
  static_assert(std::is_same_v<Both, Linear<3>::Refused<Layer<1>, Given<1, 8, 8>, Expected<64>>>);
  using NoInputFirst = VerdictOf<Linear<3>, Conv2d<2>>;
  CHECK(std::is_same_v<NoInputFirst, NoInput<Linear<3>, Layer<0>>>);
}

TEST_CASE("given is the shape before an alias is followed") {
  using Rank = VerdictOf<Input<2, 8, 8>, Flatten, Conv2d<4>>;
  static_assert(
      std::is_same_v<Rank, Conv2d<4>::Refused<Layer<2>, Given<128>, Expected<128, 3, 3>>>);
  struct image;
  using Sum = VerdictOf<Input<1, 8, 8>, Save<image>, Flatten, AddFrom<image>>;
  CHECK(std::is_same_v<Sum, Add::Refused<Layer<2>, Given<1, 8, 8>, Expected<64>>>);
}

TEST_CASE("of several paths the first that differs is given") {
  using Half = Path<MaxPool2d<2>>;
  using Paths = VerdictOf<Input<1, 8, 8>, Branch<Path<>, Path<ReLU>, Half, Path<ReLU>>>;
  CHECK(std::is_same_v<Paths, Concat::Refused<Layer<4>, Given<1, 4, 4>, Expected<1, 8, 8>>>);
}

TEST_CASE("a mistake with a tag speaks before what follows from it") {
  struct missing;
  using Tag = VerdictOf<Input<1, 8, 8>, AddFrom<missing>, Linear<3>>;
  static_assert(std::is_same_v<Tag, UnknownTag<tag_id<missing>, Layer<1>>>);
  using Shape = VerdictOf<Input<1, 8, 8>, Linear<3>, AddFrom<missing>>;
  CHECK(std::is_same_v<Shape, Linear<3>::Refused<Layer<1>, Given<1, 8, 8>, Expected<64>>>);
}

TEST_CASE("what does not fit 32 bits is refused where it arises") {
  static_assert(std::is_same_v<VerdictOf<Input<46'341, 46'341>>,
                               TooLarge<Input<46'341, 46'341>, Layer<0>, Given<>>>);
  static_assert(std::is_same_v<VerdictOf<Input<46'340, 46'340>>, detail::Accepted>);
  CHECK(std::is_same_v<VerdictOf<Input<46'341>, Linear<46'341>>,
                       TooLarge<Linear<46'341>, Layer<1>, Given<46'341>>>);
}
