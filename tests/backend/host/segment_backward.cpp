// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Segments backwards tile by tile against single layers: widths at and around vectors and panels,
// sums that read the segment's input, images of every kind, batches around tiles.

#include <phyllo/backend/select.hpp>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/segment_backward.hpp>

using namespace phyllo;
using namespace phyllo::test::segments;
using phyllo::op::Chain;
using phyllo::op::Convolution;
using phyllo::op::ImageExtents;
using phyllo::op::PoolingKind;
using phyllo::op::RowNorm;
using phyllo::op::WindowPooling;

namespace {

using Odd = op::Segment<Dense<7, 17, true, Tanh>, Dense<17, 16, false>,
                        Dense<16, 33, true, GELU, Dropout<0.2>>, Dense<33, 3, true, Tanh>>;
using Panels = op::Segment<Dense<31, 100, true, Tanh>, Dense<100, 128, true, GELU>,
                           Dense<128, 65, false, Dropout<0.3>>>;
using Narrow = op::Segment<Dense<1, 2, true, Tanh>, Dense<2, 1, true>, Dense<1, 8, false, GELU>,
                           Dense<8, 15, true, Tanh>>;
// Rows that are lines of a tile, which are read and written where they are.
using Lines = op::Segment<Dense<16, 32, true, Tanh>, Dense<32, 16, true>>;
using Lone = op::Segment<Dense<32, 32, true>>;
using LoneWithout = op::Segment<Dense<16, 48, false>>;
// The input again behind the first layer and behind the last, and one value twice.
using Sums = op::Segment<Dense<19, 19, true, GELU>, phyllo::op::Sum<19, 0, Chain<Tanh>>,
                         Dense<19, 19, false, Dropout<0.2>>, phyllo::op::Sum<19, 2, Chain<>>,
                         Dense<19, 19, true>, phyllo::op::Sum<19, 2, Chain<GELU>>,
                         phyllo::op::Sum<19, 0, Chain<Dropout<0.3>>>>;
using OnceMore =
    op::Segment<Dense<6, 20, true, Tanh>, Dense<20, 4, true>, phyllo::op::Sum<4, 2, Chain<Tanh>>>;

// Both kinds, with all parameters and without; rows wider and narrower than vectors; sums in front
// of a normalisation and of the same value behind it.
using Normalised = op::Segment<Dense<19, 67, true>, RowNorm<67, true, true, true, Chain<GELU>>,
                               Dense<67, 33, false, Tanh>, RowNorm<33, false, true, false, Chain<>>,
                               RowNorm<33, true, false, false, Chain<Tanh, Dropout<0.2>>>,
                               Dense<33, 3, true>, RowNorm<3, false, false, false, Chain<>>>;
using NormalisedSums =
    op::Segment<Dense<21, 21, true, Tanh>, phyllo::op::Sum<21, 0, Chain<>>,
                RowNorm<21, true, true, true, Chain<>>, Dense<21, 21, true, GELU>,
                phyllo::op::Sum<21, 2, Chain<>>, RowNorm<21, false, true, false, Chain<Tanh>>,
                phyllo::op::Sum<21, 5, Chain<>>>;

constexpr ImageExtents picture{2, 2, 1, 9, 8}, filtered{5, 2, 1, 9, 8}, halved{5, 2, 1, 4, 4},
    patched{17, 2, 1, 3, 3};
using Padded = op::Segment<
    Convolution<picture, filtered, Window{{1, 3, 3}, {1, 1, 1}, {0, 1, 1}}, true, Chain<Tanh>>,
    WindowPooling<PoolingKind::maximum, filtered, halved, Window{{1, 2, 2}, {1, 2, 2}, {0, 0, 0}},
                  Chain<>>,
    Convolution<halved, patched, Window{{1, 2, 2}, {1, 1, 1}, {0, 0, 0}}, true,
                Chain<GELU, Dropout<0.2>>>,
    Dense<153, 19, true, Tanh>, RowNorm<19, true, true, true, Chain<Tanh>>, Dense<19, 3, true>,
    phyllo::op::Sum<3, 6, Chain<>>>;
// Not every number of the picture is read.
constexpr ImageExtents wide{3, 2, 1, 8, 6}, strided{4, 2, 1, 4, 3}, averaged{4, 2, 1, 5, 4};
using Strided = op::Segment<
    Convolution<wide, strided, Window{{1, 2, 3}, {1, 2, 2}, {0, 0, 1}}, false, Chain<Tanh>>,
    WindowPooling<PoolingKind::average, strided, averaged, Window{{1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
                  Chain<>>,
    Dense<80, 5, true>>;
constexpr ImageExtents line{2, 1, 1, 1, 31}, filtered_line{3, 1, 1, 1, 15};
using Line = op::Segment<
    Convolution<line, filtered_line, Window{{1, 1, 4}, {1, 1, 2}, {0, 0, 1}}, true, Chain<GELU>>,
    Dense<45, 2, true>>;
constexpr ImageExtents solid{1, 3, 4, 5, 4}, filtered_solid{3, 3, 3, 3, 5};
using Solid = op::Segment<
    Convolution<solid, filtered_solid, Window{{2, 3, 2}, {1, 2, 1}, {0, 1, 1}}, true, Chain<Tanh>>,
    Dense<135, 4, true, Tanh>>;
constexpr ImageExtents raw{3, 2, 1, 8, 8}, pooled{3, 2, 1, 3, 3};
using PoolFirst =
    op::Segment<WindowPooling<PoolingKind::maximum, raw, pooled,
                              Window{{1, 3, 3}, {1, 2, 2}, {0, 0, 0}}, Chain<Tanh, Dropout<0.3>>>,
                Dense<27, 2, true, GELU>>;

template <class Segment, class P> void compare_all() {
  for (int const batch : {0, 1, 3, 17, 49, 331}) compare<Segment, P, host::Kernels>(batch);
}

}  // namespace

TEST_CASE_TEMPLATE("openmp: segments backwards, of odd widths", P, Full<float>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<double>)) {
  compare_all<Odd, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, of several panels", P,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>, Full<double>)) {
  compare_all<Panels, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, narrower than a vector", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>, Mixed<bf16, float>)) {
  compare_all<Narrow, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, of whole vectors", P, Full<float>,
                   Full<double> PHYLLO_IN_VERIFY(, Mixed<bf16, float>)) {
  compare_all<Lines, P>();
  compare_all<Lone, P>();
  compare_all<LoneWithout, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, with sums", P, Full<double>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare_all<Sums, P>();
  compare_all<OnceMore, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, with row normalisations", P, Full<double>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare_all<Normalised, P>();
  compare_all<NormalisedSums, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, of padded images", P, Full<float>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<double>)) {
  compare_all<Padded, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, of strided images", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare_all<Strided, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, pooling in front", P,
                   Full<float> PHYLLO_IN_VERIFY(, Full<double>, Mixed<bf16, float>)) {
  compare_all<PoolFirst, P>();
}
TEST_CASE_TEMPLATE("openmp: segments backwards, of one and three dimensions", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>)) {
  compare_all<Line, P>();
  if constexpr (phyllo::test::all_cases) compare_all<Solid, P>();
}

TEST_CASE("openmp: segments backwards, shards have the same bits on any number of threads") {
  Space const all;
  Space const single = Kokkos::Experimental::partition_space(
      all, std::vector<int>(std::size_t(all.concurrency()), 1))[0];
  Problem<OnceMore, Full<float>> const p(331);
  for (int const shards : {5, 8}) {
    auto const a = p.run<host::Kernels>(InputGradient::added, shards, all);
    auto const b = p.run<host::Kernels>(InputGradient::added, shards, single);
    CHECK(a.parameters == b.parameters);
    CHECK(a.x == b.x);
  }
}

#endif
